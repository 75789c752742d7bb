// Takes snapshots of constants. Parts that are shared in the original are shared in the
// copy, so a copy needs as much memory as its original. Finalizers may run in between
// and change the original, so parts are read from private containers.
// SPDX-License-Identifier: MIT
#include <cmath>

#include <algorithm>

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include "../../framelocals/no_memory.h"
#include "../../framelocals/set_entries.h"

#include "constant.h"
#include "references.h"

namespace guardtree {
namespace {

constexpr int max_constant_depth = 100;

bool is_leaf(PyObject* object) noexcept {
    return object == Py_None || object == Py_Ellipsis || PyBool_Check(object) ||
           PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
           PyComplex_CheckExact(object) || PyUnicode_CheckExact(object) ||
           PyBytes_CheckExact(object);
}

bool is_nan(PyObject* object) noexcept {
    if (PyFloat_CheckExact(object)) return std::isnan(PyFloat_AS_DOUBLE(object));
    if (!PyComplex_CheckExact(object)) return false;
    const Py_complex number = PyComplex_AsCComplex(object);
    return std::isnan(number.real) || std::isnan(number.imag);
}

class Copier {
public:
    explicit Copier(Diagnostic& problem) : problem_(problem) {}

    Owned<> copy(PyObject* object) { return copy(object, 0).object; }

private:
    struct Copy {
        Owned<> object;
        int height = 0;        ///< nesting depth
        bool has_nan = false;  ///< is a NaN, or a tuple that contains one
    };

    Copy copy(PyObject* object, int depth) {
        if (is_leaf(object)) return {Owned<>::share(object), 0, is_nan(object)};
        const auto known = known_.find(object);
        const int height = known == known_.end() ? 1 : known->second.height;
        if (depth + height > max_constant_depth) {
            problem_ = {
                PyExc_ValueError,
                "expected a constant nested at most 100 deep, found a deeper one or "
                "one that holds itself"};
            return {};
        }
        if (known != known_.end()) return known->second;
        Copy made = copy_parts(object, depth + 1);
        ++made.height;
        if (!made.object) return {};
        originals_.push_back(Owned<>::share(object));
        known_.insert({object, made});
        return made;
    }

    Copy copy_parts(PyObject* object, int depth) {
        if (PyTuple_CheckExact(object)) return copy_tuple(object, depth);
        if (PyList_CheckExact(object)) return copy_list(object, depth);
        if (PyDict_CheckExact(object)) return copy_dict(object, depth);
        if (PySet_CheckExact(object) || PyFrozenSet_CheckExact(object)) {
            return copy_set(object, depth);
        }
        refuse_operand(problem_, what_constants_are, object);
        problem_.message +=
            "; for other objects use id_match(object) or python(predicate)";
        return {};
    }

    /// Updates the whole from a part that was copied. False if the part was refused.
    static bool take(const Copy& part, Copy& whole) {
        whole.height = std::max(whole.height, part.height);
        whole.has_nan |= part.has_nan;
        return static_cast<bool>(part.object);
    }

    /// Returns the tuple itself if everything in it is immutable.
    Copy copy_tuple(PyObject* object, int depth) {
        Copy made;
        const Py_ssize_t size = PyTuple_GET_SIZE(object);
        auto items = Owned<>::steal(PyTuple_New(size));
        if (!items) return {};
        bool is_constant = true;
        for (Py_ssize_t i = 0; i < size; ++i) {
            Copy item = copy(PyTuple_GET_ITEM(object, i), depth);
            if (!take(item, made)) return {};
            is_constant &= item.object.get() == PyTuple_GET_ITEM(object, i);
            PyTuple_SET_ITEM(items.get(), i, item.object.release());
        }
        made.object = is_constant ? Owned<>::share(object) : std::move(items);
        return made;
    }

    Copy copy_list(PyObject* object, int depth) {
        Copy made;
        auto items = Owned<>::steal(PyList_GetSlice(object, 0, PY_SSIZE_T_MAX));
        for (Py_ssize_t i = 0; items && i < PyList_GET_SIZE(items.get()); ++i) {
            Copy item = copy(PyList_GET_ITEM(items.get(), i), depth);
            if (!take(item, made)) return {};
            PyList_SetItem(items.get(), i, item.object.release());
        }
        made.object = std::move(items);
        made.has_nan = false;
        return made;
    }

    /// Copies a key or an element. It is immutable, so the copy is the object itself.
    bool copy_key(PyObject* key, int depth, Copy& whole) {
        const Copy made = copy(key, depth);
        if (!take(made, whole)) return false;
        if (!made.has_nan) return true;
        problem_ = {
            PyExc_ValueError,
            "expected keys and elements that equal themselves, found a NaN among "
            "those of a dict or set; use python(predicate)"};
        return false;
    }

    Copy copy_dict(PyObject* object, int depth) {
        Copy made;
        auto items = Owned<>::steal(PyDict_Copy(object));
        Py_ssize_t position = 0;
        PyObject* key = nullptr;
        PyObject* value = nullptr;
        while (items && PyDict_Next(items.get(), &position, &key, &value)) {
            if (!copy_key(key, depth, made)) return {};
            const Copy item = copy(value, depth);
            if (!take(item, made)) return {};
            if (item.object.get() != value &&
                PyDict_SetItem(items.get(), key, item.object.get()) < 0) {
                return {};
            }
        }
        made.object = std::move(items);
        made.has_nan = false;
        return made;
    }

    /// A new set takes the hashes of its elements from the original set.
    Copy copy_set(PyObject* object, int depth) {
        Copy made;
        made.object = PyFrozenSet_CheckExact(object)
                          ? Owned<>::share(object)
                          : Owned<>::steal(PySet_New(object));
        Py_ssize_t position = 0;
        PyObject* key = nullptr;
        while (made.object && next_set_entry(made.object.get(), &position, &key)) {
            if (!copy_key(key, depth, made)) return {};
        }
        return made;
    }

    Diagnostic& problem_;
    tsl::robin_map<PyObject*, Copy> known_;
    References originals_;  ///< kept alive so that no address in known_ is reused
};

bool has_nan(PyObject* key, tsl::robin_set<PyObject*>& seen) {
    if (!PyTuple_CheckExact(key)) return is_nan(key);
    if (!seen.insert(key).second) return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i) {
        if (has_nan(PyTuple_GET_ITEM(key, i), seen)) return true;
    }
    return false;
}

}  // namespace

bool contains_nan(PyObject* key) {
    tsl::robin_set<PyObject*> seen;
    return has_nan(key, seen);
}

Owned<> snapshot_constant(PyObject* object, Diagnostic& problem) {
    Owned<> made = Copier(problem).copy(object);
    if (!made && !problem) {  // CPython had no memory
        drop_exception();
        problem = {PyExc_MemoryError, "no memory for a copy of a constant"};
    }
    return made;
}

}  // namespace guardtree
