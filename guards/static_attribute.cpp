// Attributes looked up without user code.
// SPDX-License-Identifier: MIT
#include "static_attribute.h"

#include <structmember.h>

#include "../framelocals/attributes.h"

namespace guardtree {
namespace {

PyTypeObject* as_type(PyObject* object) noexcept {
    return reinterpret_cast<PyTypeObject*>(object);
}

/// READ_RESTRICTED: reading raises an audit event, which user code may hear.
constexpr int audited = 2;

}  // namespace

Borrowed<> find_in_mro(PyTypeObject* type, PyObject* name) noexcept {
    PyObject* mro = type->tp_mro;
    if (!mro) return nullptr;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(mro); ++i) {
        const Owned<> dict = type_dict(as_type(PyTuple_GET_ITEM(mro, i)));
        const Borrowed<> found = find_name(dict.get(), name);
        if (found) return found;
    }
    return nullptr;
}

SlotContent slot_content(PyObject* descriptor, PyObject* value) noexcept {
    if (Py_TYPE(descriptor) != &PyMemberDescr_Type) return {};
    const auto* member = reinterpret_cast<const PyMemberDescrObject*>(descriptor);
    // A class may hold the descriptor of another one, of another layout.
    if (!PyObject_TypeCheck(value, member->d_common.d_type)) return {};
    const PyMemberDef& definition = *member->d_member;
    const bool is_optional = definition.type == T_OBJECT_EX;
    if (!is_optional && definition.type != T_OBJECT) return {};
    if (definition.flags & audited) return {};
    const char* place = reinterpret_cast<const char*>(value) + definition.offset;
    PyObject* content = *reinterpret_cast<PyObject* const*>(place);
    if (!content && !is_optional) content = Py_None;
    return {true, content};
}

bool has_static_attribute(PyObject* value, PyObject* name) noexcept {
    const bool is_type = PyType_Check(value);
    if (is_type && find_in_mro(as_type(value), name)) return true;
    const Borrowed<> found = find_in_mro(Py_TYPE(value), name);
    if (found) {
        const SlotContent slot = slot_content(found.get(), value);
        return !slot.is_slot || slot.content;
    }
    return !is_type && find_in_instance(value, name);
}

}  // namespace guardtree
