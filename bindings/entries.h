// Creates entries from guards and captured values, for Python.
// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include <pybind11/pybind11.h>

#include "../guards/lookup/lookup.h"

namespace guardtree {

namespace py = pybind11;

/// The nodes whose values an entry captures.
struct Captures {
    Owned<> names;  ///< a tuple with a str for each node; null if they have no names
    std::vector<NodeId> nodes;

    /// The values are the only arguments of the target, by position.
    bool are_arguments() const noexcept { return !nodes.empty() && !names; }
};

/// Reads a `captures` argument that gives names: None, or a dict of names to paths of
/// `guards`, which may be any handle on their tree. Throws TypeError and ValueError.
Captures read_named_captures(py::handle given, py::handle guards);

/// The same where a list or tuple of paths is possible, too.
Captures read_captures(py::handle given, py::handle guards);

/// The slots of the locals of `code` that have the names of `captures`. Throws
/// ValueError for a name that is no local, or an argument or free variable
/// (captures_problem).
std::vector<uint16_t> capture_slots(const Captures& captures, PyCodeObject* code);

/// Compiles the current state of `tree` into an entry. Throws if it does not compile.
Shared<Entry> make_entry(const Tree& tree, PyCodeObject* code, Owned<> payload,
                         Owned<> source, const Captures& captures);

/// The captured values of the entry that a look-up found, as a dict by their names.
/// Empty if the entry has none. Throws.
py::dict take_captures(Lookup& lookup, const Entry& entry);

}  // namespace guardtree
