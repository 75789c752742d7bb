// Parsing integer expressions: recursive descent over Python's precedences.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "integer_compiler.h"

namespace guardtree {

/// Reads tokens and builds the syntax tree; a problem ends it (`problem_` is set).
class IntegerParser {
public:
    IntegerParser(std::string_view text, IntegerExpression& to)
        : rest_(text), to_(to) {}

    bool run(std::string& problem) {
        next();
        const int root = disjunction();
        if (root >= 0 && !token_.empty()) refuse("an operator or the end");
        if (root >= 0 && problem_.empty()) {
            demand_claim(root);
            if (problem_.empty() && !IntegerCompiler(syntax_, to_).compile(root)) {
                problem_ = "it is nested too deeply";
            }
        }
        if (!problem_.empty()) {
            problem = problem_;
            return false;
        }
        for (const auto& piece : to_.pieces_) to_.source_ += source_of(piece);
        return true;
    }

private:
    using Kind = IntegerSyntax::Kind;

    static constexpr int deepest = 64;
    static constexpr size_t most_parts = 4096;  // a sum is as deep as it is long

    static bool is_word(char c) noexcept {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80);
    }

    std::string source_of(const IntegerExpression::Piece& piece) const {
        if (piece.name < 0) return piece.text;
        const std::string& name = to_.names_[static_cast<size_t>(piece.name)];
        return piece.text + name + piece.after;
    }

    /// The next token into token_; empty at the end.
    void next() {
        while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0]))) {
            take(1);
        }
        size_t size = std::min<size_t>(rest_.size(), 1);
        if (!rest_.empty() && is_word(rest_[0])) {
            while (size < rest_.size() && is_word(rest_[size])) ++size;
        } else if (rest_.size() > 1) {
            constexpr std::array<std::string_view, 5> doubles = {
                "//", "==", "!=", "<=", ">="};
            if (std::ranges::find(doubles, rest_.substr(0, 2)) != doubles.end())
                size = 2;
        }
        column_ = position_ + 1;
        token_ = rest_.substr(0, size);
        take(size);
    }

    void take(size_t count) {
        rest_.remove_prefix(count);
        position_ += count;
    }

    int refuse(const std::string& expected) {
        if (problem_.empty()) {
            problem_ = "column " + std::to_string(column_) + ": expected " + expected +
                       ", found " +
                       (token_.empty() ? "the end" : "'" + std::string(token_) + "'");
        }
        return -1;
    }

    /// Appends the present token to the text, and goes on.
    void keep_token(std::string_view before = {}, std::string_view after = {}) {
        to_.pieces_.push_back(
            {std::string(before) + std::string(token_) + std::string(after)});
        next();
    }

    int add(IntegerSyntax node) {
        if (!problem_.empty()) return -1;
        if (syntax_.size() == most_parts) return refuse("a shorter expression");
        syntax_.push_back(std::move(node));
        return static_cast<int>(syntax_.size() - 1);
    }

    const IntegerSyntax& at(int index) const {
        return syntax_[static_cast<size_t>(index)];
    }

    void demand_number(int index) {
        if (index >= 0 && problem_.empty() && at(index).is_claim()) {
            problem_ = "column " + std::to_string(column_) +
                       ": a comparison is used as a number there; write it apart and "
                       "join the two with 'and'";
        }
    }

    void demand_claim(int index) {
        if (index >= 0 && problem_.empty() && !at(index).is_claim()) {
            problem_ = "column " + std::to_string(column_) +
                       ": a number is used as a claim there; compare it, "
                       "for example with '!= 0'";
        }
    }

    int joined(std::string_view word, int (IntegerParser::*part)()) {
        int left = (this->*part)();
        while (left >= 0 && token_ == word) {
            demand_claim(left);
            keep_token(" ", " ");
            const int right = (this->*part)();
            demand_claim(right);
            left = add({.kind = Kind::logic,
                        .word = std::string(word),
                        .left = left,
                        .right = right});
        }
        return left;
    }

    int disjunction() { return joined("or", &IntegerParser::conjunction); }

    int conjunction() { return joined("and", &IntegerParser::negation); }

    int negation() {
        if (token_ != "not") return comparison();
        if (++depth_ > deepest) return refuse("less nesting");
        keep_token("", " ");
        const int inner = negation();
        --depth_;
        demand_claim(inner);
        return add({.kind = Kind::logic, .word = "not", .left = inner});
    }

    /// A chain is the conjunction of its links.
    int comparison() {
        constexpr std::array<std::string_view, 6> words = {"==", "!=", "<",
                                                           "<=", ">",  ">="};
        int left = sum();
        int chain = -1;
        while (left >= 0 && std::ranges::find(words, token_) != words.end()) {
            const std::string word(token_);
            demand_number(left);
            keep_token(" ", " ");
            const int right = sum();
            demand_number(right);
            const int link = add(
                {.kind = Kind::compare, .word = word, .left = left, .right = right});
            chain = chain < 0 ? link
                              : add({.kind = Kind::logic,
                                     .word = "and",
                                     .left = chain,
                                     .right = link});
            left = right;
        }
        return chain < 0 ? left : chain;
    }

    int arithmetic(std::span<const std::string_view> words,
                   int (IntegerParser::*part)()) {
        int left = (this->*part)();
        while (left >= 0 && std::ranges::find(words, token_) != words.end()) {
            const std::string word(token_);
            demand_number(left);
            keep_token(" ", " ");
            const int right = (this->*part)();
            demand_number(right);
            left =
                add({.kind = Kind::binary, .word = word, .left = left, .right = right});
        }
        return left;
    }

    int sum() {
        constexpr std::array<std::string_view, 2> words = {"+", "-"};
        return arithmetic(words, &IntegerParser::product);
    }

    int product() {
        constexpr std::array<std::string_view, 3> words = {"*", "//", "%"};
        return arithmetic(words, &IntegerParser::factor);
    }

    int factor() {
        if (token_ == "-" || token_ == "+") {
            const bool negates = token_ == "-";
            if (++depth_ > deepest) return refuse("less nesting");
            keep_token();
            const int inner = factor();
            --depth_;
            demand_number(inner);
            return negates ? add({.kind = Kind::unary, .word = "-", .left = inner})
                           : inner;
        }
        if (token_ == "(") {
            if (++depth_ > deepest) return refuse("less nesting");
            keep_token();
            const int inner = disjunction();
            --depth_;
            if (token_ != ")") return refuse("')'");
            keep_token();
            return inner;
        }
        return atom();
    }

    int atom() {
        constexpr std::array<std::string_view, 3> reserved = {"and", "or", "not"};
        if (token_.empty() || !is_word(token_[0]) ||
            std::ranges::find(reserved, token_) != reserved.end()) {
            return refuse(
                "a number, a name, len(name), name.shape[0], name.ndim or '('");
        }
        if (std::isdigit(static_cast<unsigned char>(token_[0]))) return literal();
        const bool is_length = token_ == "len" && rest_.starts_with("(");
        if (is_length) {
            next();
            next();
            if (token_.empty() || !is_word(token_[0])) return refuse("a name");
        }
        const int name = name_number(token_);
        next();
        if (is_length) {
            if (token_ != ")") return refuse("')'");
            next();
            to_.pieces_.push_back({.text = "len(", .name = name, .after = ")"});
            return add({.kind = Kind::length, .name = name});
        }
        if (token_ == ".") return tensor_part(name);
        to_.pieces_.push_back({.text = {}, .name = name});
        return add({.kind = Kind::name, .name = name});
    }

    /// `.ndim` or `.shape[<int>]` after a name.
    int tensor_part(int name) {
        next();
        if (token_ == "ndim") {
            next();
            to_.pieces_.push_back({.text = {}, .name = name, .after = ".ndim"});
            return add({.kind = Kind::rank, .name = name});
        }
        if (token_ != "shape") return refuse("shape[...] or ndim");
        next();
        if (token_ != "[") return refuse("'['");
        next();
        const bool is_negative = token_ == "-";
        if (is_negative) next();
        int64_t index = 0;
        const char* end = token_.data() + token_.size();
        const auto [stop, error] = std::from_chars(token_.data(), end, index);
        if (token_.empty() || error != std::errc() || stop != end)
            return refuse("a dimension, as a number");
        if (is_negative) index = -index;
        next();
        if (token_ != "]") return refuse("']'");
        next();
        to_.pieces_.push_back({.text = {},
                               .name = name,
                               .after = ".shape[" + std::to_string(index) + "]"});
        return add({.kind = Kind::size, .constant = index, .name = name});
    }

    int literal() {
        int64_t value = 0;
        const char* end = token_.data() + token_.size();
        const auto [stop, error] = std::from_chars(token_.data(), end, value);
        if (token_.size() > 1 && token_[0] == '0') return refuse("a decimal number");
        if (error == std::errc::result_out_of_range) {
            return refuse("a number that fits in 64 bits");
        }
        if (error != std::errc() || stop != end) return refuse("a decimal number");
        keep_token();
        return add({.kind = Kind::constant, .constant = value});
    }

    int name_number(std::string_view name) {
        const auto found = std::ranges::find(to_.names_, name);
        const auto number = static_cast<int>(found - to_.names_.begin());
        if (found == to_.names_.end()) to_.names_.emplace_back(name);
        return number;
    }

    std::string_view rest_;
    std::string_view token_;
    size_t position_ = 0;
    size_t column_ = 0;
    int depth_ = 0;
    IntegerExpression& to_;
    std::vector<IntegerSyntax> syntax_;
    std::string problem_;
};

bool IntegerExpression::parse(std::string_view text, IntegerExpression& to,
                              std::string& problem) {
    IntegerExpression made;
    if (!IntegerParser(text, made).run(problem)) return false;
    constexpr size_t most_names = 255;
    if (made.names_.empty() || made.names_.size() > most_names) {
        problem = "it speaks of " + std::to_string(made.names_.size()) +
                  " values; a relation needs 1 to 255";
        return false;
    }
    to = std::move(made);
    return true;
}

}  // namespace guardtree
