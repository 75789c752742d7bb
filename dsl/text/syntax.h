// The syntax tree of a text: a subset of Python's expressions, in one array.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace guardtree {

/// A range of a text, in bytes.
struct TextSpan {
    size_t begin = 0;
    size_t end = 0;
};

/// Why a text was refused, and at which position.
struct TextProblem {
    TextSpan span;
    std::string expected;
    std::string hint;     ///< what to write instead; may be empty
    std::string refusal;  ///< a complete message, instead of `expected`

    explicit operator bool() const noexcept {
        return !expected.empty() || !refusal.empty();
    }
};

/// Index of an expression in its TextSyntax.
using SyntaxId = uint32_t;

inline constexpr SyntaxId no_syntax = UINT32_MAX;

enum class SyntaxKind : uint8_t {
    name,
    number,  ///< as written
    string,  ///< one or more literals, as written
    ellipsis,
    attribute,  ///< parts: the value; the word is the name
    item,       ///< parts: the value, the key
    call,       ///< parts: the function, the arguments; keywords: names of the last
    starred,    ///< `*values` among arguments
    each,       ///< parts: a result, an iterable; the word is the name of a generator
    sign,       ///< parts: a number after `-` or `+`
    binary,     ///< parts: two numbers around `+ - * // % **`
    compare,    ///< parts: n + 1 values; keywords: the n operators between them
    all,        ///< parts around `and`
    any,        ///< parts around `or`
    negation,   ///< `not`
    tuple,
    list,
    set,
    dict,  ///< parts: key, value, key, value, ...
};

/// One expression. Its words are views of the text.
struct Syntax {
    SyntaxKind kind = SyntaxKind::name;
    bool is_parenthesised = false;
    uint16_t depth = 0;  ///< maximum depth of the expressions in it
    TextSpan span = {};
    std::string_view word = {};
    std::vector<SyntaxId> parts = {};
    std::vector<std::string_view> keywords = {};
};

/// The syntax tree of a text. The text must outlive it.
class TextSyntax {
public:
    /// Returns false, with `problem` filled, if `text` is not one expression of the
    /// language. Parentheses nest at most 200 deep and expressions 1000 (a path has one
    /// level per step). O(n).
    static bool parse(std::string_view text, TextSyntax& to, TextProblem& problem);

    SyntaxId root() const noexcept { return root_; }

    const Syntax& operator[](SyntaxId id) const noexcept { return all_[id]; }

    std::string_view text() const noexcept { return text_; }

    /// All expressions in it, in unspecified order.
    std::span<const Syntax> all() const noexcept { return all_; }

    /// Whether two expressions are the same, ignoring blanks and parentheses.
    bool same(SyntaxId a, const TextSyntax& other, SyntaxId b) const noexcept;

private:
    friend class TextParser;

    std::string_view text_;
    std::vector<Syntax> all_;
    SyntaxId root_ = no_syntax;
};

/// A problem and its position in characters. Lines and columns start at 1.
struct TextPlace {
    std::string sentence;  ///< what was expected and found
    std::string hint;
    size_t line = 0;
    size_t column = 0;
    size_t end_column = 0;  ///< column after the problem's last character in this line
    std::string text;       ///< the line
};

TextPlace place_of(std::string_view text, const TextProblem& problem);

/// The message about a problem, with its line and a mark below the position.
std::string problem_text(std::string_view text, const TextProblem& problem);

}  // namespace guardtree
