// Binds roots that name a slot to the slots of one code object.
// SPDX-License-Identifier: MIT
#include "closure.h"
#include "local.h"

namespace guardtree {
namespace {

std::string names_of(PyCodeObject* code, int from, int to) {
    std::string names;
    for (int slot = from; slot < to; ++slot) {
        if (is_hidden_slot(code, slot)) continue;
        if (!names.empty()) names += ", ";
        names += short_repr(PyTuple_GET_ITEM(code->co_localsplusnames, slot));
    }
    return names.empty() ? "none" : names;
}

/// The index of a free variable among the free variables, or -1. An argument may have
/// the same name, for example in Dynamo's resume functions.
int find_free(PyCodeObject* code, PyObject* name) noexcept {
    const int first = first_free_slot(code);
    for (int slot = first; slot < code->co_nlocalsplus; ++slot) {
        PyObject* candidate = PyTuple_GET_ITEM(code->co_localsplusnames, slot);
        if (PyUnicode_Compare(candidate, name) == 0) return slot - first;
    }
    return -1;
}

std::string subject(PyCodeObject* code) {
    const char* name = PyUnicode_AsUTF8(code->co_qualname);
    return std::string("'") + (name ? name : "?") + "'";
}

}  // namespace

bool Local::bind(PyCodeObject* code, std::string& problem) {
    const int first_free = first_free_slot(code);
    slot = find_slot(code, name.value);
    if (slot >= 0 && slot < first_free) return true;
    if (slot >= first_free) {
        problem = text_of(name) + " is a free variable of " + subject(code) +
                  "; use closure(" + short_repr(name.value) + ")";
    } else {
        problem = subject(code) + " has no local " + short_repr(name.value) +
                  "; its locals are " + names_of(code, 0, first_free) +
                  " (for other names use global_, builtin or closure)";
    }
    return false;
}

bool Closure::bind(PyCodeObject* code, std::string& problem) {
    index = find_free(code, name.value);
    if (index >= 0) return true;
    problem = subject(code) + " has no free variable " + short_repr(name.value) +
              "; its free variables are " +
              names_of(code, first_free_slot(code), code->co_nlocalsplus);
    return false;
}

}  // namespace guardtree
