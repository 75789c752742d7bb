// Lists the keys of values that have several, and finds their buckets.
// SPDX-License-Identifier: MIT
#include "answers.h"

#include "../../framelocals/attributes.h"
#include "../../framelocals/cpython/dict_layout.h"
#include "../../framelocals/set_entries.h"
#include "../objects/static_attribute.h"

#include "split.h"

namespace guardtree {
namespace {

/// A container that had more entries before is not read either.
constexpr Py_ssize_t max_entries = 4 * max_read_keys;

bool is_read(PyObject* dict) noexcept {
    return PyDict_GET_SIZE(dict) <= max_read_keys &&
           dict_keys(dict)->entry_count <= max_entries;
}

template <class Use>
bool each_item(PyObject* set, Use use) noexcept {
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    Py_hash_t hash = 0;
    for (Py_ssize_t left = PySet_GET_SIZE(set); left > 0; --left) {
        if (!next_set_entry(set, &position, &key, &hash)) break;
        if (!use(hash)) return false;
    }
    return true;
}

template <class Use>
bool each_class(PyTypeObject* type, Use use) noexcept {
    PyObject* const mro = type->tp_mro;
    if (!mro) return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(mro); ++i) {
        if (!use(PyTuple_GET_ITEM(mro, i))) return false;
    }
    return true;
}

/// The hashes of the names that a type and its bases have.
template <class Use>
bool each_static_name(PyTypeObject* type, Use use) noexcept {
    return each_class(type, [&](PyObject* each) {
        const Owned<> dict = type_dict(reinterpret_cast<PyTypeObject*>(each));
        return dict && each_hash(dict.get(), use);
    });
}

/// The hashes of the names in the value's own dict, which is not made.
template <class Use>
bool each_own_name(PyObject* value, Use use) noexcept {
    PyTypeObject* const type = Py_TYPE(value);
    PyObject* dict = nullptr;
    if (!has_managed_dict(type)) {
        dict = plain_instance_dict(value);
    } else if (PyObject* const* values = instance_values(value, type)) {
        return each_hash_of(*instance_keys(type), values, use);
    } else {
        dict = managed_dict(value);
    }
    if (!dict) return true;
    return PyDict_Check(dict) && is_read(dict) && each_hash(dict, use);
}

}  // namespace

const Answers* Split::answers_of_type(PyTypeObject* type,
                                      Answers& room) const noexcept {
    const auto add_all = [&](Answers& found) {
        if (question.of.kind == KeyKind::base) {
            return each_class(type, [&](PyObject* each) {
                return found.add(probe(address_key(each)), max_answers);
            });
        }
        return each_static_name(type, [&](Py_hash_t hash) {
            return found.add(probe(static_cast<uint64_t>(hash)), max_answers);
        });
    };
    const unsigned tag = version_tag(type);
    AnswersOfTypes::Known* const known = tag ? of_types.at(tag) : nullptr;
    if (!known) return add_all(room) ? &room : nullptr;
    if (known->tag != tag) [[unlikely]] {
        *known = {tag, false, {}};
        known->is_complete = add_all(known->answers);
    }
    return known->is_complete ? &known->answers : nullptr;
}

const Answers* Split::find_several(PyObject* value, Answers& room) const noexcept {
    const auto add = [&](Py_hash_t hash) {
        return room.add(probe(static_cast<uint64_t>(hash)), max_answers);
    };
    PyTypeObject* const type = Py_TYPE(value);
    bool are_known = true;
    switch (question.of.kind) {
    case KeyKind::dict_key:
        if (PyDict_Check(value)) are_known = is_read(value) && each_hash(value, add);
        break;
    case KeyKind::set_item:
        if (PyAnySet_Check(value)) {
            are_known = PyAnySet_CheckExact(value) &&
                        PySet_GET_SIZE(value) <= max_read_keys &&
                        reinterpret_cast<PySetObject*>(value)->mask < max_entries &&
                        each_item(value, add);
        }
        break;
    case KeyKind::base: return answers_of_type(type, room);
    case KeyKind::attribute: {
        const bool by_protocol = question.of.detail != 0;
        if (PyType_Check(value)) return nullptr;
        if (by_protocol && type->tp_getattro != PyObject_GenericGetAttr) return nullptr;
        const Answers* const of_type = answers_of_type(type, room);
        if (!of_type) return nullptr;
        if (of_type != &room) room = *of_type;
        are_known = each_own_name(value, add);
        break;
    }
    default: unreachable();
    }
    return are_known ? &room : nullptr;
}

}  // namespace guardtree
