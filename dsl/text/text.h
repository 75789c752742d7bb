// Guard trees as text, in a subset of Python's expressions: parser and writer.
// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../guards/tree/tree.h"

#include "values.h"

namespace guardtree {

/// Replaces a tree by the guards in `text`. Names are looked up among the scope's
/// locals and free variables, then its globals, then builtins. The scope's code must
/// not be null. Returns false if the text is refused. `problem` then says where, what
/// was expected and what to write, and the tree is unchanged. The exception is a
/// SyntaxError, a NameError for an unknown name, or the one for a refused operand of a
/// kind. `where` also receives the position of the problem. Runs no user code. O(n).
bool parse_guards(std::string_view text, const TextNames& names, Tree& to,
                  Diagnostic& problem, TextPlace* where = nullptr);

/// A tree as text.
struct GuardText {
    std::string text;
    /// The names in the text of objects without a name of their own: `_0`, `_1`, ...
    std::vector<std::pair<std::string, Owned<>>> names;
    std::string refusal;  ///< why the tree has no text; empty if it has one
};

/// The text that parse_guards parses to the same tree in the same scope, with one
/// condition per line. "True" for a tree without nodes. Evaluated by Python (eval), it
/// means what the tree checks. It does not contain notes. A tree has no text if its
/// paths nest deeper than the parser allows. Slow.
GuardText text_of(const Tree& tree, const Scope& scope);

/// Whether two trees have equal nodes, checks and relations in the same order. Ignores
/// notes and the names of values in integer expressions.
bool same_tree(const Tree& a, const Tree& b);

}  // namespace guardtree
