// Writes repr() of objects part by part, until the room is used up. Internal.
// SPDX-License-Identifier: MIT
//
// A type is known by its slot, not by its name: a subclass of list that has no
// `__repr__` of its own is written as CPython writes it. Parts are taken before any of
// them is written, because their `__repr__` may change the container.
#pragma once
#include <utility>
#include <vector>

#include "../../framelocals/no_memory.h"

#include "bounded_text.h"
#include "text_call.h"

namespace guardtree {

class ReprWriter {
public:
    explicit ReprWriter(size_t room) : text_(room) {}

    std::string result() const { return text_.result(); }

    void write(PyObject* object);

    /// What `str` says.
    void write_str(PyObject* object);

private:
    using Parts = std::vector<Owned<>>;

    void add(std::string_view text) { text_.add(text); }

    /// A text that was made of the object, or that none could be made.
    void add_or_tell(PyObject* object, const Owned<>& made);

    void write_own(PyObject* object);

    // Each of these is false for objects that are not of its types.
    bool write_plain(PyObject* object);
    bool write_builtin(PyObject* object);
    bool write_library(PyObject* object);
    bool write_generated(PyObject* object);

    void write_int(PyObject* object);
    void write_bytes(PyObject* object, const char* from, Py_ssize_t size);
    void write_set(PyObject* object);
    void write_deque(PyObject* object);
    void write_namespace(PyObject* object);
    bool write_named_tuple(PyObject* object);
    bool write_dataclass(PyObject* object);

    /// Calls `write` unless the object is being written already.
    void once(PyObject* object, const std::string& if_inside, auto write) {
        if (Py_ReprEnter(object) != 0) {
            drop_exception();
            return add(if_inside);
        }
        const bool has_memory = allocating(write);
        Py_ReprLeave(object);
        if (!has_memory) drop_exception();
    }

    void enclose(PyObject* object, const std::string& open, const char* close,
                 auto write) {
        once(object, open + "..." + close, [&] {
            add(open);
            write();
            add(close);
        });
    }

    void write_items(const Parts& items);
    void write_pairs(const Parts& pairs);

    /// Name(name=value, ...)
    void write_fields(PyObject* object, const std::string& name, const Parts& fields);

    Parts items_of(PyObject* list_or_tuple) const;
    Parts elements_of(PyObject* set) const;
    Parts pairs_of(PyObject* dict) const;

    /// What its iterator gives.
    Parts first_of(PyObject* object) const;

    /// Keys in the mapping's own order, each with what it leads to.
    Parts mapped_by(PyObject* mapping) const;

    BoundedText text_;
};

inline bool writes_like(PyObject* object, const PyTypeObject& type) noexcept {
    return Py_TYPE(object)->tp_repr == type.tp_repr;
}

}  // namespace guardtree
