// Creates entries from guards and bound values, for Python.
// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include <pybind11/pybind11.h>

#include "../guards/lookup/lookup.h"

namespace guardtree {

namespace py = pybind11;

/// The bound values of an entry: names, and one node of its guards for each.
struct Bindings {
    Owned<> names;  ///< a tuple of str, or null where there are none, or of captures
    std::vector<NodeId> nodes;
};

/// Reads a `bindings` argument: None, or a dict of names to paths of `guards`, which
/// may be any handle on their tree. Throws TypeError and ValueError.
Bindings read_bindings(py::handle given, py::handle guards);

/// The same for `captures`: None, or a list or tuple of paths.
Bindings read_captures(py::handle given, py::handle guards);

/// The slots of the locals of `code` that have the names. Throws ValueError for what is
/// none, or is bound by others (bindings_problem).
std::vector<uint16_t> bindable_slots(const Bindings& bindings, PyCodeObject* code);

/// Compiles the current state of `tree` into an entry. Throws if it does not compile.
Shared<Entry> make_entry(const Tree& tree, PyCodeObject* code, Owned<> payload,
                         Owned<> source, const Bindings& bindings);

/// The bound values of the entry that a look-up found, as a dict by their names. Empty
/// if the entry has none. Throws.
py::dict take_bindings(Lookup& lookup, const Entry& entry);

}  // namespace guardtree
