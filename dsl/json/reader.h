// Reads guard trees from untrusted JSON. writer.h documents the format.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../../guards/tree/tree.h"
#include "../names/calls.h"

namespace guardtree {

/// Limits on a text. The defaults limit the time to seconds.
struct JsonLimits {
    size_t bytes = size_t{16} << 20;
    size_t nodes = size_t{1} << 20;
    unsigned depth = 100;  ///< of nested constants, and of kinds inside kinds
    /// Checks of one node are compared with each other, and so are the numbers and
    /// tuples among the keys of a dict or set. This limits the number of values in all
    /// such pairs.
    uint64_t comparisons = uint64_t{1} << 27;
};

/// Options of the reader. All pointers are borrowed.
struct JsonReading {
    JsonLimits limits = {};

    /// Accepts trees with steps that call the value they find (calls_what_it_finds).
    bool allow_calls = false;

    /// `resolver(module, path)` returns the object of a ref, or None if it does not
    /// know it. In that case, and without a resolver, the dicts of imported modules are
    /// searched.
    PyObject* resolver = nullptr;

    /// Locals and closures must belong to this code. Without it, they are checked when
    /// the tree is compiled.
    PyCodeObject* code = nullptr;
};

/// Replaces `to` by the tree in a text, in the canonical form or another. Refs are
/// looked up with the resolver, if there is one. Nothing is imported and only the
/// resolver is called. (A tensor type of torch loads guardtree's own plugin.)
///
/// Returns false, and leaves `to` unchanged, if the text is refused. `problem` then
/// says where and why (ValueError, or NameError for a variable that the code does not
/// have). If the resolver raises, its exception stays pending and `problem` is empty;
/// the same is true for KeyboardInterrupt and MemoryError. In all other cases an
/// exception that was pending stays pending. Needs the GIL.
bool from_json(std::string_view text, const JsonReading& reading, Tree& to,
               Diagnostic& problem);

}  // namespace guardtree
