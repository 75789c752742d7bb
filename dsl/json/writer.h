// Guard trees as JSON: the form, and writing it. Reading: reader.h.
// SPDX-License-Identifier: MIT
//
//   {"guardtree": 1, "nodes": [...], "relations": [...]}
//   a node      {"parent": -1, "step": "local", "operands": ["x"], "checks": [...]}
//   a check     {"kind": "type_match", "operands": [{"ref": ["builtins", "int"]}]}
//   a relation  {"relation": "same_object", "operands": [], "values": [0, 2]}
//
// Nodes come in preorder; "parent" and "values" are their numbers, from 0, and -1 is
// the parent of roots. A check or relation has a "note" where its note is a str; other
// notes belong to the process and are left out.
//
// Operands: null, true, false, strings and ints between -2**53 and 2**53 stand for
// themselves, other values are objects of one key:
//
//   {"int": "-0x20000000000000"}  {"bytes": "00ff"}  {"ellipsis": true}
//   {"float": "0x1.8000000000000p+0"}  as float.hex() has it
//   {"float_bits": "7ff8000000000000"}  a NaN, by its bits
//   {"complex": [{"float": "0x0.0p+0"}, {"float": "-inf"}]}
//   {"str": "eda080"}  UTF-8 of a str with surrogates, of which JSON would make pairs
//   {"tuple": [...]}  {"list": [...]}  {"set": [...]}  {"frozenset": [...]}
//   {"dict": [[key, value], ...]}  {"range": [start, stop, step]}
//   {"ref": ["collections", "OrderedDict"]}  an object by its name in a module, "" for
//     the module itself; only where a guard speaks of an object
//
// A kind inside a kind is written as a check, the facts of a tensor as an object by
// their names. Code, state and objects that no name leads to have no form.
//
// The canonical form is ASCII without blanks, keys sorted, sets and dicts sorted by the
// text of their elements: equal trees (the same nodes, checks and relations in the same
// order, with the same notes) are equal bytes in every process.
#pragma once
#include <Python.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../../guards/tree/tree.h"

namespace guardtree {

/// What the writer writes, and the reader reads.
inline constexpr int json_version = 1;

/// Ints from here on are written in hexadecimal: readers that compute in doubles would
/// round them.
inline constexpr long long json_int_limit = 1LL << 53;

struct JsonOptions {
    /// Leaves out what has no form, instead of refusing the tree.
    bool drop_unportable = false;
    bool with_notes = true;
};

/// Writes a tree in the canonical form. False with a ValueError in `problem` that names
/// the first guard that has no form. With drop_unportable such guards are left out, and
/// `dropped` gets their Python text (a step: its path and all that is at and below it);
/// what is left passes wherever the tree does. That text may run a `__repr__`, nothing
/// else does. A pending exception stays pending. Needs the GIL. O(n) but for sorting.
bool to_json(const Tree& tree, const JsonOptions& options, std::string& to,
             std::vector<std::string>& dropped, Diagnostic& problem);

/// FNV-1a of 64 bits: the same for equal trees in every process. Not for adversaries.
uint64_t json_hash(std::string_view canonical) noexcept;

}  // namespace guardtree
