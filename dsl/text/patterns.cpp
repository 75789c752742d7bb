// Parses the Python texts of kinds, steps and relations.
// SPDX-License-Identifier: MIT
#include "patterns.h"

#include <algorithm>
#include <deque>

#include "values.h"

namespace guardtree {
namespace {

using Kind = SyntaxKind;

constexpr size_t group_count = 3;
constexpr size_t syntax_count = static_cast<size_t>(Kind::dict) + 1;

OpGroup group_of(OpCode code) noexcept {
    if (is_kind(code)) return OpGroup::kinds;
    return is_step(code) ? OpGroup::steps : OpGroup::relations;
}

/// The index of the operand with that name, or -1.
int operand_number(OpCode code, std::string_view name) {
    const std::span<const NamedOperand> operands = operands_of(code);
    for (size_t i = 0; i < operands.size(); ++i) {
        if (operands[i].name == name) return static_cast<int>(i);
    }
    return -1;
}

bool is_place(const TextPattern& pattern, const Syntax& at) {
    return at.kind == Kind::name &&
           (at.word == "value" || operand_number(pattern.code, at.word) >= 0);
}

/// The patterns of each group, by the kind of their outermost expression.
class PatternTable {
public:
    PatternTable() {
        for (size_t i = 0; i < std::size(op_infos); ++i) {
            const auto code = static_cast<OpCode>(i);
            // A relation's text is only an example. Its pattern is the shorthand.
            if (!is_relation(code)) add(code, op_infos[i]->python, false);
            if (!op_infos[i]->shorthand.empty())
                add(code, op_infos[i]->shorthand, true);
        }
        for (auto& group : lists_) {
            for (auto& list : group) std::ranges::stable_sort(list, is_before);
        }
        static constexpr std::string_view others[] = {
            "Ellipsis", "TensorSpec", "builtin_len", "complex",     "frozenset",
            "inf",      "int64",      "nan",         "nan_of_bits", "range",
            "set",      "tensor",     explicit_word};
        words_.insert(words_.end(), std::begin(others), std::end(others));
        std::ranges::sort(words_);
        words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
    }

    std::span<const TextPattern* const> list(OpGroup group, Kind kind) const {
        return lists_[static_cast<size_t>(group)][static_cast<size_t>(kind)];
    }

    const std::vector<std::string_view>& words() const noexcept { return words_; }

private:
    static bool is_before(const TextPattern* a, const TextPattern* b) noexcept {
        if (a->weight != b->weight) return a->weight > b->weight;
        return a->is_shorthand < b->is_shorthand;
    }

    void add(OpCode code, std::string_view text, bool is_shorthand) {
        TextPattern& made = patterns_.emplace_back();
        made.code = code;
        made.is_shorthand = is_shorthand;
        TextProblem problem;
        // A text that does not parse is never recognised. The tests check every one of
        // them.
        if (!TextSyntax::parse(text, made.syntax, problem)) return;
        weigh(made, made.syntax.root());
        const Syntax& root = made.syntax[made.syntax.root()];
        if (is_place(made, root) && root.word != "value") return;  // local, any_of
        if (is_place(made, root)) {
            for (auto& list : lists_[static_cast<size_t>(group_of(code))]) {
                list.push_back(&made);
            }
            return;
        }
        lists_[static_cast<size_t>(group_of(code))][static_cast<size_t>(root.kind)]
            .push_back(&made);
    }

    /// Measures the fixed text, and records the names in it.
    void weigh(TextPattern& pattern, SyntaxId id, std::string_view bound = {}) {
        const Syntax& at = pattern.syntax[id];
        if (at.kind == Kind::each) bound = at.word;
        if (is_place(pattern, at) || at.kind == Kind::starred) return;
        ++pattern.weight;
        if (at.kind == Kind::name && at.word != bound && !is_literal_name(at.word)) {
            words_.push_back(at.word);
        }
        for (const SyntaxId part : at.parts) weigh(pattern, part, bound);
    }

    std::deque<TextPattern> patterns_;
    std::array<std::array<std::vector<const TextPattern*>, syntax_count>, group_count>
        lists_;
    std::vector<std::string_view> words_;
};

const PatternTable& table() {
    static const PatternTable made;
    return made;
}

class Fitting {
public:
    Fitting(const TextPattern& pattern, const TextSyntax& text, TextFit& to) noexcept
        : pattern_(pattern), text_(text), to_(to) {}

    bool fits(SyntaxId expected, SyntaxId found) {
        const Syntax& a = pattern_.syntax[expected];
        const Syntax& b = text_[found];
        if (a.kind == Kind::name) {
            if (a.word == "value") return place(to_.value, found);
            const int number = operand_number(pattern_.code, a.word);
            if (number >= 0) {
                return place(to_.operands[static_cast<size_t>(number)], found);
            }
        }
        if (a.kind != b.kind || a.keywords != b.keywords) return false;
        return fits_word(a, b) && fits_parts(a, b);
    }

private:
    bool place(SyntaxId& to, SyntaxId found) {
        if (to != no_syntax) return text_.same(to, text_, found);
        to = found;
        return true;
    }

    bool fits_word(const Syntax& a, const Syntax& b) {
        if (a.kind == Kind::string) return plain_string(a.word) == plain_string(b.word);
        if (a.kind == Kind::attribute) {
            const int number = operand_number(pattern_.code, a.word);
            if (number >= 0) {
                to_.names[static_cast<size_t>(number)] = b.word;
                return true;
            }
        }
        return a.word == b.word;
    }

    bool fits_parts(const Syntax& a, const Syntax& b) {
        for (size_t i = 0; i < a.parts.size(); ++i) {
            if (pattern_.syntax[a.parts[i]].kind == Kind::starred) {
                to_.values.assign(b.parts.begin() + static_cast<ptrdiff_t>(i),
                                  b.parts.end());
                return true;
            }
            if (i >= b.parts.size() || !fits(a.parts[i], b.parts[i])) return false;
        }
        return a.parts.size() == b.parts.size();
    }

    const TextPattern& pattern_;
    const TextSyntax& text_;
    TextFit& to_;
};

}  // namespace

std::span<const TextPattern* const> patterns_of(OpGroup group, SyntaxKind kind) {
    return table().list(group, kind);
}

bool fits(const TextPattern& pattern, const TextSyntax& text, SyntaxId id,
          TextFit& to) {
    to = {};
    return Fitting(pattern, text, to).fits(pattern.syntax.root(), id);
}

bool is_reserved(std::string_view word) {
    return std::ranges::binary_search(table().words(), word);
}

std::span<const std::string_view> reserved_words() {
    return table().words();
}

}  // namespace guardtree
