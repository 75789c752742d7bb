// Guard trees as JSON: the format, and the writer. The reader is in reader.h.
// SPDX-License-Identifier: MIT
//
//   {"guardtree": 1, "nodes": [...], "relations": [...]}
//   a node      {"parent": -1, "step": "local", "operands": ["x"], "checks": [...]}
//   a check     {"kind": "type_match", "operands": [{"ref": ["builtins", "int"]}]}
//   a relation  {"relation": "same_object", "operands": [], "values": [0, 2]}
//
// Nodes are in preorder. "parent" and "values" are node numbers, from 0; the parent of
// roots is -1. A check or relation has a "note" if its note is a str. Other notes
// belong to the process and are left out.
//
// Operands: null, true, false, strings and ints between -2**53 and 2**53 are written as
// JSON values. Other values are objects with one key:
//
//   {"int": "-0x20000000000000"}  {"bytes": "00ff"}  {"ellipsis": true}
//   {"float": "0x1.8000000000000p+0"}  the result of float.hex()
//   {"float_bits": "7ff8000000000000"}  the bits of a NaN
//   {"complex": [{"float": "0x0.0p+0"}, {"float": "-inf"}]}
//   {"str": "eda080"}  UTF-8 of a str with surrogates, which JSON would join
//   {"tuple": [...]}  {"list": [...]}  {"set": [...]}  {"frozenset": [...]}
//   {"dict": [[key, value], ...]}  {"range": [start, stop, step]}
//   {"ref": ["collections", "OrderedDict"]}  an object by its name in a module, "" for
//     the module itself; only where a guard refers to an object
//
// A kind inside a kind is written as a check. Tensor facts are written as an object
// with their names as keys. Code, state and objects without a name have no JSON form.
//
// The canonical form is ASCII without blanks. Keys are sorted, and sets and dicts are
// sorted by the text of their elements. Equal trees (the same nodes, checks and
// relations in the same order, with the same notes) have the same bytes in every
// process.
#pragma once
#include <Python.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../../guards/tree/tree.h"

namespace guardtree {

/// The version of the format that the writer writes and the reader reads.
inline constexpr int json_version = 1;

/// Ints with this magnitude or more are written in hexadecimal, because readers that
/// use doubles would round them.
inline constexpr long long json_int_limit = 1LL << 53;

struct JsonOptions {
    /// Leaves out guards without a JSON form, instead of refusing the tree.
    bool drop_unportable = false;
    bool with_notes = true;
};

/// Writes a tree in the canonical form. Returns false, with a ValueError in `problem`
/// that names the first guard without a JSON form. With drop_unportable such guards are
/// left out, and `dropped` receives their Python text (for a step, its path and
/// everything at and below it). The remaining guards pass whenever the tree does. Only
/// that text may run user code (a `__repr__`). A pending exception stays pending. Needs
/// the GIL. O(n) except for sorting.
bool to_json(const Tree& tree, const JsonOptions& options, std::string& to,
             std::vector<std::string>& dropped, Diagnostic& problem);

/// 64-bit FNV-1a hash: the same for equal trees in every process. Not safe against
/// adversaries.
uint64_t json_hash(std::string_view canonical) noexcept;

}  // namespace guardtree
