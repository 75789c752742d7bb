// Splits a text into tokens.
// SPDX-License-Identifier: MIT
#include "lexer.h"

#include <algorithm>
#include <array>

namespace guardtree {
namespace {

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

bool starts_word(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_word(char c) noexcept {
    return starts_word(c) || is_digit(c);
}

// Longest first.
constexpr std::array<std::string_view, 30> signs = {
    "...", "**", "//", "==", "!=", "<=", ">=", "<<", ">>", ":=",
    "(",   ")",  "[",  "]",  "{",  "}",  ",",  ":",  ".",  "+",
    "-",   "*",  "/",  "%",  "<",  ">",  "=",  "@",  "&",  "|"};

}  // namespace

void TextLexer::skip_blanks() noexcept {
    while (at_ < text_.size()) {
        const char c = text_[at_];
        if (c == '#') {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
            ++at_;
        } else {
            return;
        }
    }
}

Token TextLexer::take(Token::Kind kind, size_t size) noexcept {
    const Token token{kind, text_.substr(at_, size), at_};
    at_ += size;
    return token;
}

/// Digits, letters and dots, and a sign after the `e` of a float. Errors in it are
/// reported when the number is evaluated.
size_t TextLexer::number_size() const noexcept {
    const bool is_hexadecimal =
        text_.size() > at_ + 1 && text_[at_] == '0' && (text_[at_ + 1] | 0x20) == 'x';
    size_t end = at_;
    while (end < text_.size()) {
        const char c = text_[end];
        const bool is_exponent = !is_hexadecimal && (c | 0x20) == 'e' &&
                                 end + 1 < text_.size() &&
                                 (text_[end + 1] == '-' || text_[end + 1] == '+');
        if (is_exponent) {
            end += 2;
        } else if (is_word(c) || c == '.') {
            ++end;
        } else {
            break;
        }
    }
    return end - at_;
}

Token TextLexer::string(size_t prefix, TextProblem& problem) {
    const char quote = text_[at_ + prefix];
    const std::string_view three = text_.substr(at_ + prefix, 3);
    const bool is_long = three == "'''" || three == R"(""")";
    const size_t quotes = is_long ? 3 : 1;
    size_t end = at_ + prefix + quotes;
    for (; end < text_.size(); ++end) {
        if (text_[end] == '\\') {
            ++end;
        } else if (text_[end] == '\n' && !is_long) {
            break;
        } else if (text_[end] == quote && (!is_long || text_.substr(end, 3) == three)) {
            return take(Token::Kind::string, end + quotes - at_);
        }
    }
    problem = {{at_, at_ + prefix + quotes}, "a string that ends", {}, {}};
    return {};
}

Token TextLexer::next(TextProblem& problem) {
    skip_blanks();
    if (at_ == text_.size()) return {Token::Kind::end, {}, at_};
    const char c = text_[at_];
    if (starts_word(c)) {
        size_t end = at_;
        while (end < text_.size() && is_word(text_[end])) ++end;
        const bool is_prefix =
            end < text_.size() && (text_[end] == '\'' || text_[end] == '"');
        if (is_prefix) return string(end - at_, problem);
        return take(Token::Kind::word, end - at_);
    }
    if (c == '\'' || c == '"') return string(0, problem);
    const bool is_fraction =
        c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]);
    if (is_digit(c) || is_fraction) return take(Token::Kind::number, number_size());
    for (const std::string_view sign : signs) {
        if (text_.substr(at_).starts_with(sign))
            return take(Token::Kind::sign, sign.size());
    }
    size_t end = at_ + 1;
    while (end < text_.size() && (text_[end] & 0xC0) == 0x80) ++end;  // of UTF-8
    problem = {{at_, end}, "an expression", {}, {}};
    if (c & 0x80) {
        problem.hint =
            "names beyond ASCII are written as strings: L['...'] for a local, "
            "getattr(value, '...') for an attribute";
    }
    return {};
}

}  // namespace guardtree
