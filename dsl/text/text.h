// Guard trees as text: a subset of Python's expressions, read and written.
// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../guards/tree/tree.h"

#include "values.h"

namespace guardtree {

/// Replaces a tree by the guards that `text` claims. Names are the scope's locals and
/// free variables, then its globals, then builtins; its code must not be null. False
/// with `problem` saying where, what was expected and what to write, and the tree as it
/// was: SyntaxError, NameError for a name that nothing has, or what the operand of a
/// kind refuses. `where` hears the place of the problem, too. No user code runs. O(n).
bool parse_guards(std::string_view text, const TextNames& names, Tree& to,
                  Diagnostic& problem, TextPlace* where = nullptr);

/// A tree written down.
struct GuardText {
    std::string text;
    /// What objects without a name of their own are called in it: `_0`, `_1`, ...
    std::vector<std::pair<std::string, Owned<>>> names;
    std::string refusal;  ///< why the tree has no text; empty where it has one
};

/// The text that parse_guards reads as the same tree in the same scope, one claim in a
/// line; "True" for a tree without nodes. What Python means by it (eval) is what the
/// tree checks. Notes are not in it. A tree has no text where its paths nest deeper
/// than text is read. Cold.
GuardText text_of(const Tree& tree, const Scope& scope);

/// Equal nodes, checks and relations in the same order; notes do not count, and neither
/// do the names of values in expressions.
bool same_tree(const Tree& a, const Tree& b);

}  // namespace guardtree
