// The texts of kinds, steps and relations, as patterns that recognise them.
// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <span>
#include <vector>

#include "../../guards/ops/named_op.h"

#include "syntax.h"

namespace guardtree {

/// The parsed Python text of a kind, step or relation (Info::python or
/// Info::shorthand). `value`, the operand names and `*values` are placeholders for
/// expressions of a text.
struct TextPattern {
    OpCode code{};
    bool is_shorthand = false;
    unsigned weight = 0;  ///< amount of fixed text in it
    TextSyntax syntax;
};

/// The expressions of a text at the placeholders of a pattern.
struct TextFit {
    static constexpr size_t max_operands = 3;

    SyntaxId value = no_syntax;
    std::array<SyntaxId, max_operands> operands = {no_syntax, no_syntax, no_syntax};
    std::array<std::string_view, max_operands> names = {};  ///< names of attributes
    std::vector<SyntaxId> values;  ///< the values of a relation
};

enum class OpGroup : uint8_t { kinds, steps, relations };

/// The patterns that an expression of this kind may match, the most specific ones
/// first. Among equally specific ones, Info::python comes before shorthands. Created on
/// first use, for the life of the process.
std::span<const TextPattern* const> patterns_of(OpGroup group, SyntaxKind kind);

/// Whether `text` matches the pattern. A placeholder that occurs twice must match the
/// same expression twice.
bool fits(const TextPattern& pattern, const TextSyntax& text, SyntaxId id, TextFit& to);

/// True for words that have the same meaning in every text, even if a scope has a
/// variable of that name: the words of patterns (`type`, `len`, `is_a`, `G`, ...). A
/// local with such a name is written L['type'].
bool is_reserved(std::string_view word);

/// All reserved words, sorted.
std::span<const std::string_view> reserved_words();

/// The word before the name of a kind, step or relation: guard.length(x, 3).
inline constexpr std::string_view explicit_word = "guard";

}  // namespace guardtree
