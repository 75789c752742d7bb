// Finds what a member descriptor reads in an object.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <structmember.h>

namespace guardtree {

/// Whether a member lies behind the items of an object, as slots in subclasses of tuple
/// do from 3.15 on (_Py_AFTER_ITEMS, Include/descrobject.h). No earlier version has a
/// flag of this value.
inline bool is_after_items(const PyMemberDef& member) noexcept {
    constexpr int after_items = 1 << 4;
    return member.flags & after_items;
}

/// The address of a member, as _PyMember_GetOffset computes it (Python/structmember.c).
inline const char* place_of_member(PyObject* object,
                                   const PyMemberDef& member) noexcept {
    const char* place = reinterpret_cast<const char*>(object) + member.offset;
    if (!is_after_items(member)) return place;
    constexpr auto word = static_cast<Py_ssize_t>(sizeof(void*));
    const Py_ssize_t bytes = Py_SIZE(object) * Py_TYPE(object)->tp_itemsize;
    return place + (bytes + word - 1) / word * word;
}

}  // namespace guardtree
