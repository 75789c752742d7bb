// Reading guard trees from JSON that may come from anywhere. The form: writer.h.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../../guards/tree/tree.h"
#include "../names/calls.h"

namespace guardtree {

/// What a text may ask for. The defaults bound the time to seconds.
struct JsonLimits {
    size_t bytes = size_t{16} << 20;
    size_t nodes = size_t{1} << 20;
    unsigned depth = 100;  ///< of constants, and of kinds in kinds
    /// Checks of one node are compared with each other, and so are the numbers and
    /// tuples among the keys of a dict or set: how many values in all such pairs.
    uint64_t comparisons = uint64_t{1} << 27;
};

/// How to read. All is borrowed.
struct JsonReading {
    JsonLimits limits = {};

    /// Takes trees with steps that call what they find (calls_what_it_finds).
    bool allow_calls = false;

    /// `resolver(module, path)` gives the object of a ref, or None where it knows none:
    /// then, and without one, the dicts of imported modules are looked into.
    PyObject* resolver = nullptr;

    /// Locals and closures have to be its own; without it compiling tells.
    PyCodeObject* code = nullptr;
};

/// Replaces `to` by the tree of a text, in the canonical form or another. Refs are
/// looked up, by the resolver if there is one; nothing is imported, and nothing but the
/// resolver called. (A tensor type of torch makes guardtree's own plugin ready.)
///
/// False, and `to` is as it was, when the text is refused: `problem` says where and why
/// (ValueError; NameError for a variable that the code has not). What the resolver
/// raises is left pending, with `problem` empty; so are KeyboardInterrupt and
/// MemoryError. Otherwise an exception that was pending stays so. Needs the GIL.
bool from_json(std::string_view text, const JsonReading& reading, Tree& to,
               Diagnostic& problem);

}  // namespace guardtree
