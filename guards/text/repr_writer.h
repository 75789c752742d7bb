// Writes the repr() of objects element by element, until the limit is reached.
// Internal.
// SPDX-License-Identifier: MIT
//
// Types are recognised by their tp_repr slot, not by name: a subclass of list without a
// `__repr__` of its own is written as CPython writes it. The elements of a container
// are collected before any of them is written, because their `__repr__` may change the
// container.
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

    /// Writes the str() of an object.
    void write_str(PyObject* object);

private:
    using Parts = std::vector<Owned<>>;

    void add(std::string_view text) { text_.add(text); }

    /// Adds the text `made` of the object, or a placeholder if it could not be made.
    void add_or_tell(PyObject* object, const Owned<>& made);

    void write_own(PyObject* object);

    // Each of these returns false for objects of other types.
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

    /// Calls `write`, or adds `if_inside` if the object is already being written.
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

    /// The first elements that its iterator returns.
    Parts first_of(PyObject* object) const;

    /// The keys in the mapping's own order, each with its value.
    Parts mapped_by(PyObject* mapping) const;

    BoundedText text_;
};

inline bool writes_like(PyObject* object, const PyTypeObject& type) noexcept {
    return Py_TYPE(object)->tp_repr == type.tp_repr;
}

}  // namespace guardtree
