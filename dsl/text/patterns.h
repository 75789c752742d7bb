// The texts of kinds, steps and relations, as patterns to recognise them by.
// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <span>
#include <vector>

#include "../../guards/ops/named_op.h"

#include "syntax.h"

namespace guardtree {

/// The Python text of a kind, step or relation from its own file (Info::python, or
/// Info::shorthand), parsed. `value`, the operands' names and `*values` stand for what
/// a text has there.
struct TextPattern {
    OpCode code{};
    bool is_shorthand = false;
    unsigned weight = 0;  ///< how much of it is fixed
    TextSyntax syntax;
};

/// What a text has at the places of a pattern.
struct TextFit {
    static constexpr size_t most_operands = 3;

    SyntaxId value = no_syntax;
    std::array<SyntaxId, most_operands> operands = {no_syntax, no_syntax, no_syntax};
    std::array<std::string_view, most_operands> names = {};  ///< of attributes
    std::vector<SyntaxId> values;                            ///< a relation's
};

enum class OpGroup : uint8_t { kinds, steps, relations };

/// The patterns that an expression of this kind may fit, the most telling ones first;
/// of equals the whole text comes before shorthands. Made at first use, for as long as
/// the process runs.
std::span<const TextPattern* const> patterns_of(OpGroup group, SyntaxKind kind);

/// Whether `text` has the pattern's shape; a place that comes twice has the same
/// expression twice.
bool fits(const TextPattern& pattern, const TextSyntax& text, SyntaxId id, TextFit& to);

/// True for words that mean the same in every text, whatever a scope calls by them:
/// what patterns speak of (`type`, `len`, `is_a`, `G`, ...). A local of such a name is
/// written L['type'].
bool is_reserved(std::string_view word);

/// Every reserved word, in order.
std::span<const std::string_view> reserved_words();

/// The word before a kind, step or relation that is called by its own name:
/// guard.length(x, 3).
inline constexpr std::string_view explicit_word = "guard";

}  // namespace guardtree
