// Entries made of guards and of what they are asked to hand over, for Python.
// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include <pybind11/pybind11.h>

#include "../guards/lookup/lookup.h"

namespace guardtree {

namespace py = pybind11;

/// What an entry hands over: names, and as many nodes of its guards.
struct Bindings {
    Owned<> names;  ///< a tuple of str, or null where there are none
    std::vector<NodeId> nodes;
};

/// Reads a `bindings` argument: None, or a dict of names to paths of `guards`, any
/// handle on their tree. Throws TypeError and ValueError.
Bindings read_bindings(py::handle given, py::handle guards);

/// The slots of the locals of `code` that have the names. Throws ValueError for what is
/// none, or is bound by others (bindings_problem).
std::vector<uint16_t> bindable_slots(const Bindings& bindings, PyCodeObject* code);

/// Compiles `tree`, as it is now, into an entry. Throws what does not compile.
Shared<Entry> make_entry(const Tree& tree, PyCodeObject* code, Owned<> payload,
                         Owned<> source, const Bindings& bindings);

/// The values that a look-up hands over with the entry it found, as a dict by their
/// names; empty for an entry that hands none over. Throws.
py::dict take_bindings(Lookup& lookup, const Entry& entry);

}  // namespace guardtree
