// Parses integer expressions: recursive descent with Python's precedences.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cctype>
#include <charconv>

#include "builder.h"

namespace guardtree {
namespace {

/// Reads tokens. Stops at the first problem (`problem_` is set).
class IntegerParser {
public:
    IntegerParser(std::string_view text, IntegerExpression& to)
        : rest_(text), builder_(to) {}

    bool run(std::string& problem) {
        next();
        const int root = disjunction();
        if (root >= 0 && !token_.empty()) refuse("an operator or the end");
        demand_claim(root);
        if (problem_.empty()) builder_.finish(root, problem_);
        problem = problem_;
        return problem.empty();
    }

private:
    using Kind = IntegerSyntax::Kind;

    static bool is_word(char c) noexcept {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80);
    }

    static bool is_digit(char c) noexcept {
        return std::isdigit(static_cast<unsigned char>(c));
    }

    static const IntegerOperatorText* find_operator(std::string_view word) noexcept {
        return std::ranges::find(integer_operator_texts, word,
                                 &IntegerOperatorText::word);
    }

    /// Reads the next token into token_. It is empty at the end.
    void next() {
        while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0]))) {
            take(1);
        }
        size_t size = std::min<size_t>(rest_.size(), 1);
        if (!rest_.empty() && is_word(rest_[0])) {
            while (size < rest_.size() && is_word(rest_[size])) ++size;
        } else if (find_operator(rest_.substr(0, 2)) != integer_operator_texts.end()) {
            size = std::min<size_t>(rest_.size(), 2);
        }
        column_ = position_ + 1;
        token_ = rest_.substr(0, size);
        const auto* const found = find_operator(token_);
        operator_ =
            static_cast<IntegerOperator>(found - integer_operator_texts.begin());
        precedence_ = found == integer_operator_texts.end() ? 0 : found->precedence;
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

    /// Appends the current token to the text and advances.
    void keep_token() {
        builder_.write(token_);
        next();
    }

    void keep_operator() {
        builder_.write(operator_);
        next();
    }

    int operation(IntegerOperator op, int left, int right) {
        return added(builder_.add_operation(op, left, right));
    }

    int added(int node) {
        if (!problem_.empty()) return -1;
        return node < 0 ? refuse("a shorter expression") : node;
    }

    void demand_number(int index) {
        if (index >= 0 && problem_.empty() && builder_.is_claim(index)) {
            problem_ = "column " + std::to_string(column_) +
                       ": a comparison is used as a number there; write it apart and "
                       "join the two with 'and'";
        }
    }

    void demand_claim(int index) {
        if (index >= 0 && problem_.empty() && !builder_.is_claim(index)) {
            problem_ = "column " + std::to_string(column_) +
                       ": a number is used as a claim there; compare it, "
                       "for example with '!= 0'";
        }
    }

    using Part = int (IntegerParser::*)();

    /// Parses operators of one precedence, from left to right.
    template <int precedence>
    int joined(Part part, void (IntegerParser::*demand)(int)) {
        int left = (this->*part)();
        while (left >= 0 && precedence_ == precedence) {
            const IntegerOperator op = operator_;
            (this->*demand)(left);
            keep_operator();
            const int right = (this->*part)();
            (this->*demand)(right);
            left = operation(op, left, right);
        }
        return left;
    }

    int disjunction() {
        return joined<precedence::disjunction>(&IntegerParser::conjunction,
                                               &IntegerParser::demand_claim);
    }

    int conjunction() {
        return joined<precedence::conjunction>(&IntegerParser::negation,
                                               &IntegerParser::demand_claim);
    }

    int negation() {
        if (token_ != "not") return comparison();
        if (++depth_ > IntegerBuilder::max_nesting) return refuse("less nesting");
        keep_operator();
        const int inner = negation();
        --depth_;
        demand_claim(inner);
        return operation(IntegerOperator::negation, -1, inner);
    }

    /// A chained comparison is the conjunction of its comparisons.
    int comparison() {
        int left = sum();
        int chain = -1;
        while (left >= 0 && precedence_ == precedence::comparison) {
            const IntegerOperator op = operator_;
            demand_number(left);
            keep_operator();
            const int right = sum();
            demand_number(right);
            const int link = operation(op, left, right);
            chain =
                chain < 0 ? link : operation(IntegerOperator::conjunction, chain, link);
            left = right;
        }
        return chain < 0 ? left : chain;
    }

    int sum() {
        return joined<precedence::sum>(&IntegerParser::product,
                                       &IntegerParser::demand_number);
    }

    int product() {
        return joined<precedence::product>(&IntegerParser::factor,
                                           &IntegerParser::demand_number);
    }

    int factor() {
        if (token_ == "-" || token_ == "+") {
            const bool negates = token_ == "-";
            if (++depth_ > IntegerBuilder::max_nesting) return refuse("less nesting");
            keep_token();
            if (negates && token_ == "9223372036854775808") {
                --depth_;  // it fits in 64 bits with its sign
                keep_token();
                return added(builder_.add_constant(INT64_MIN));
            }
            const int inner = factor();
            --depth_;
            demand_number(inner);
            return negates ? operation(IntegerOperator::negative, -1, inner) : inner;
        }
        if (token_ == "(") {
            if (++depth_ > IntegerBuilder::max_nesting) return refuse("less nesting");
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
        if (token_.empty() || !is_word(token_[0]) || precedence_ != 0) {
            return refuse(
                "a number, a name, len(name), name.shape[0], stride_of(name, 0), "
                "name.ndim or '('");
        }
        if (is_digit(token_[0])) return literal();
        const bool is_call = rest_.starts_with("(");
        if (is_call && token_ == "len") return call(Kind::length);
        if (is_call && token_ == "stride_of") return call(Kind::stride);
        const int name = builder_.name_number(token_);
        next();
        if (token_ == ".") return tensor_part(name);
        return added(builder_.add_value(Kind::name, name));
    }

    /// `len(name)` or `stride_of(name, <int>)`.
    int call(Kind kind) {
        next();
        next();
        const bool is_name =
            !token_.empty() && is_word(token_[0]) && !is_digit(token_[0]);
        if (!is_name || precedence_ != 0) return refuse("a name");
        const int name = builder_.name_number(token_);
        next();
        int64_t index = 0;
        if (kind == Kind::stride) {
            if (!demand_token(",") || !dimension(index)) return -1;
        }
        if (!demand_token(")")) return -1;
        return added(builder_.add_value(kind, name, index));
    }

    /// `.ndim` or `.shape[<int>]` after a name.
    int tensor_part(int name) {
        next();
        if (token_ == "ndim") {
            next();
            return added(builder_.add_value(Kind::rank, name));
        }
        if (token_ != "shape") return refuse("shape[...] or ndim");
        next();
        int64_t index = 0;
        if (!demand_token("[") || !dimension(index) || !demand_token("]")) return -1;
        return added(builder_.add_value(Kind::size, name, index));
    }

    bool demand_token(std::string_view token) {
        if (token_ != token) {
            refuse("'" + std::string(token) + "'");
            return false;
        }
        next();
        return true;
    }

    bool dimension(int64_t& to) {
        const bool is_negative = token_ == "-";
        if (is_negative) next();
        const char* end = token_.data() + token_.size();
        const auto [stop, error] = std::from_chars(token_.data(), end, to);
        if (token_.empty() || error != std::errc() || stop != end) {
            refuse("a dimension, as a number");
            return false;
        }
        if (is_negative) to = -to;
        next();
        return true;
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
        return added(builder_.add_constant(value));
    }

    std::string_view rest_;
    std::string_view token_;
    size_t position_ = 0;
    size_t column_ = 0;
    int depth_ = 0;
    IntegerOperator operator_ = {};  ///< the operator token_, if precedence_ is not 0
    int precedence_ = 0;
    IntegerBuilder builder_;
    std::string problem_;
};

}  // namespace

bool IntegerExpression::parse(std::string_view text, IntegerExpression& to,
                              std::string& problem) {
    IntegerExpression made;
    if (!IntegerParser(text, made).run(problem)) return false;
    to = std::move(made);
    return true;
}

}  // namespace guardtree
