// Splits a text into words, numbers, strings and operators.
// SPDX-License-Identifier: MIT
#pragma once
#include "syntax.h"

namespace guardtree {

struct Token {
    enum class Kind : uint8_t { end, word, number, string, sign };

    Kind kind = Kind::end;
    std::string_view text = {};
    size_t begin = 0;

    bool is(std::string_view sign) const noexcept {
        return (kind == Kind::sign || kind == Kind::word) && text == sign;
    }

    TextSpan span() const noexcept { return {begin, begin + text.size()}; }
};

/// Reads a text token by token. It skips blanks, line ends and comments, because a text
/// is one expression.
class TextLexer {
public:
    explicit TextLexer(std::string_view text) noexcept : text_(text) {}

    /// The next token. If there is none, its kind is end and `problem` is filled.
    Token next(TextProblem& problem);

private:
    void skip_blanks() noexcept;
    Token take(Token::Kind kind, size_t size) noexcept;
    Token string(size_t prefix, TextProblem& problem);
    size_t number_size() const noexcept;

    std::string_view text_;
    size_t at_ = 0;
};

}  // namespace guardtree
