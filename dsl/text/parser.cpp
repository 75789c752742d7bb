// Parses text: recursive descent with Python's precedences.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <span>

#include "lexer.h"

namespace guardtree {
namespace {

using Kind = SyntaxKind;

constexpr int deepest = 200;  // calls of the parser, each a few C frames
// of expressions, which are processed recursively
constexpr uint16_t max_depth = 1000;

constexpr std::array<std::string_view, 35> keywords = {
    "False",  "None",   "True",    "and",      "as",       "assert", "async",
    "await",  "break",  "class",   "continue", "def",      "del",    "elif",
    "else",   "except", "finally", "for",      "from",     "global", "if",
    "import", "in",     "is",      "lambda",   "nonlocal", "not",    "or",
    "pass",   "raise",  "return",  "try",      "while",    "with",   "yield"};

constexpr std::array<std::string_view, 3> singletons = {"None", "True", "False"};

bool is_in_character(char c) noexcept {
    return (c & 0xC0) == 0x80;  // of UTF-8, after its first byte
}

/// Part of a text for a message: whole characters, with blanks instead of control
/// characters.
std::string printable(std::string_view part) {
    while (!part.empty() && is_in_character(part.front())) part.remove_prefix(1);
    size_t last = part.size();
    while (last > 0 && is_in_character(part[last - 1])) --last;
    const auto lead = last > 0 ? static_cast<unsigned char>(part[last - 1]) : 0u;
    const size_t wanted = lead < 0xC0 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if (lead >= 0xC0 && part.size() - last != wanted) part = part.substr(0, last - 1);
    std::string text(part);
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' '; };
    std::ranges::replace_if(text, is_control, ' ');
    return text;
}

constexpr size_t max_shown = 100;  // of a long line

size_t width_of(std::string_view text) {
    return text.size() -
           static_cast<size_t>(std::ranges::count_if(text, is_in_character));
}

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
}

}  // namespace

/// Reads tokens and appends expressions, parts before wholes. After a problem, every
/// method returns no_syntax.
class TextParser {
public:
    TextParser(std::string_view text, TextSyntax& to, TextProblem& problem)
        : lexer_(text), to_(to), problem_(problem) {
        to_.text_ = text;
        next();
    }

    bool run() {
        to_.root_ = disjunction();
        if (!problem_ && token_.kind != Token::Kind::end)
            refuse("an operator or the end", hint_for_operator());
        return !problem_;
    }

private:
    /// Counts the nesting depth during its lifetime.
    class Level {
    public:
        explicit Level(TextParser& parser) : parser_(parser) {
            if (++parser_.depth_ > deepest) parser_.refuse("less nesting", {});
        }

        ~Level() { --parser_.depth_; }

    private:
        TextParser& parser_;
    };

    void next() {
        last_end_ = token_.begin + token_.text.size();
        token_ = lexer_.next(problem_);
    }

    bool take(std::string_view sign) {
        if (!token_.is(sign) || problem_) return false;
        next();
        return true;
    }

    void demand(std::string_view sign) {
        if (!take(sign)) refuse("'" + std::string(sign) + "'", {});
    }

    SyntaxId refuse(std::string expected, std::string hint) {
        if (!problem_)
            problem_ = {token_.span(), std::move(expected), std::move(hint), {}};
        return no_syntax;
    }

    SyntaxId add(size_t begin, Syntax made) {
        if (problem_) return no_syntax;
        for (const SyntaxId part : made.parts) {
            made.depth = std::max<uint16_t>(made.depth, to_[part].depth);
        }
        if (++made.depth > max_depth) return refuse("less nesting", {});
        made.span = {begin, last_end_};
        to_.all_.push_back(std::move(made));
        return static_cast<SyntaxId>(to_.all_.size() - 1);
    }

    std::string hint_for_operator() const {
        if (token_.is("/")) return "write // for floor division";
        if (token_.is("=")) return "write == to compare";
        if (token_.is("if")) return "write any_of, or two trees";
        if (token_.is(":=")) return "a guard tree has no names of its own";
        return {};
    }

    SyntaxId joined(std::string_view word, Kind kind, SyntaxId (TextParser::*part)()) {
        const size_t begin = token_.begin;
        const SyntaxId first = (this->*part)();
        if (!token_.is(word) || problem_) return first;
        std::vector<SyntaxId> parts = {first};
        while (take(word)) parts.push_back((this->*part)());
        return add(begin, {.kind = kind, .parts = std::move(parts)});
    }

    SyntaxId disjunction() {
        const Level level(*this);
        if (problem_) return no_syntax;
        return joined("or", Kind::any, &TextParser::conjunction);
    }

    SyntaxId conjunction() { return joined("and", Kind::all, &TextParser::negation); }

    SyntaxId negation() {
        if (!token_.is("not")) return comparison();
        const Level level(*this);
        const size_t begin = token_.begin;
        if (!take("not")) return no_syntax;
        const SyntaxId inner = negation();
        return add(begin, {.kind = Kind::negation, .parts = {inner}});
    }

    /// Consumes the current comparison operator. Empty if there is none.
    std::string_view comparison_operator() {
        constexpr std::array<std::string_view, 7> plain = {
            "==", "!=", "<", "<=", ">", ">=", "in"};
        if (problem_) return {};
        for (const std::string_view sign : plain) {
            if (take(sign)) return sign;
        }
        if (take("is")) return take("not") ? "is not" : "is";
        if (token_.is("not")) {
            next();
            demand("in");
            return "not in";
        }
        return {};
    }

    SyntaxId comparison() {
        const size_t begin = token_.begin;
        const SyntaxId first = sum();
        std::string_view word = comparison_operator();
        if (word.empty()) return first;
        Syntax made{.kind = Kind::compare, .parts = {first}};
        for (; !word.empty() && !problem_; word = comparison_operator()) {
            made.keywords.push_back(word);
            made.parts.push_back(sum());
        }
        return add(begin, std::move(made));
    }

    SyntaxId arithmetic(std::span<const std::string_view> words,
                        SyntaxId (TextParser::*part)()) {
        const size_t begin = token_.begin;
        SyntaxId left = (this->*part)();
        while (!problem_ && token_.kind == Token::Kind::sign &&
               is_one_of(token_.text, words)) {
            const std::string_view word = token_.text;
            next();
            const SyntaxId right = (this->*part)();
            left = add(begin,
                       {.kind = Kind::binary, .word = word, .parts = {left, right}});
        }
        return left;
    }

    SyntaxId sum() {
        static constexpr std::array<std::string_view, 2> words = {"+", "-"};
        return arithmetic(words, &TextParser::product);
    }

    SyntaxId product() {
        static constexpr std::array<std::string_view, 3> words = {"*", "//", "%"};
        return arithmetic(words, &TextParser::sign);
    }

    SyntaxId sign() {
        if (!token_.is("-") && !token_.is("+")) return power();
        const Level level(*this);
        const size_t begin = token_.begin;
        const std::string_view word = token_.text;
        if (problem_) return no_syntax;
        next();
        const SyntaxId inner = sign();
        return add(begin, {.kind = Kind::sign, .word = word, .parts = {inner}});
    }

    SyntaxId power() {
        const size_t begin = token_.begin;
        const SyntaxId base = postfix();
        if (!token_.is("**") || problem_) return base;
        const Level level(*this);
        const std::string_view word = token_.text;
        next();
        const SyntaxId exponent = sign();
        return add(begin,
                   {.kind = Kind::binary, .word = word, .parts = {base, exponent}});
    }

    SyntaxId postfix() {
        const size_t begin = token_.begin;
        SyntaxId value = atom();
        while (!problem_) {
            if (take(".")) {
                value = attribute(begin, value);
            } else if (take("[")) {
                const SyntaxId key = sequence_item();
                demand("]");
                value = add(begin, {.kind = Kind::item, .parts = {value, key}});
            } else if (take("(")) {
                value = call(begin, value);
            } else {
                break;
            }
        }
        return value;
    }

    SyntaxId attribute(size_t begin, SyntaxId value) {
        const std::string_view name = token_.text;
        if (token_.kind != Token::Kind::word || is_one_of(name, keywords))
            return refuse("the name of an attribute", {});
        next();
        return add(begin, {.kind = Kind::attribute, .word = name, .parts = {value}});
    }

    /// A subscript: `x[1, 2]` is a tuple without parentheses.
    SyntaxId sequence_item() {
        const size_t begin = token_.begin;
        const SyntaxId first = disjunction();
        if (!token_.is(",")) return first;
        std::vector<SyntaxId> parts = {first};
        while (take(",") && !token_.is("]")) parts.push_back(disjunction());
        return add(begin, {.kind = Kind::tuple, .parts = std::move(parts)});
    }

    SyntaxId call(size_t begin, SyntaxId function) {
        Syntax made{.kind = Kind::call, .parts = {function}};
        while (!problem_ && !token_.is(")")) {
            made.parts.push_back(argument(made.keywords));
            if (!take(",")) break;
        }
        demand(")");
        return add(begin, std::move(made));
    }

    SyntaxId argument(std::vector<std::string_view>& names) {
        const size_t begin = token_.begin;
        if (take("*")) {
            const SyntaxId values = disjunction();
            return add(begin, {.kind = Kind::starred, .parts = {values}});
        }
        const SyntaxId value = disjunction();
        if (problem_) return no_syntax;
        if (token_.is("=") && to_[value].kind == Kind::name) {
            names.push_back(to_[value].word);
            next();
            return disjunction();
        }
        if (!names.empty()) return refuse("name=value after name=value", {});
        if (!take("for")) return value;
        const std::string_view name = token_.text;
        if (token_.kind != Token::Kind::word) return refuse("a name", {});
        next();
        demand("in");
        const SyntaxId iterable = disjunction();
        return add(begin,
                   {.kind = Kind::each, .word = name, .parts = {value, iterable}});
    }

    SyntaxId atom() {
        const size_t begin = token_.begin;
        const std::string_view text = token_.text;
        switch (token_.kind) {
        case Token::Kind::number:
            next();
            return add(begin, {.kind = Kind::number, .word = text});
        case Token::Kind::string: return strings();
        case Token::Kind::word: return word();
        default: break;
        }
        if (take("(")) return parenthesised(begin);
        if (take("[")) return display(begin, Kind::list, "]");
        if (take("{")) return braces(begin);
        if (take("...")) return add(begin, {.kind = Kind::ellipsis, .word = text});
        return refuse("a value", {});
    }

    SyntaxId word() {
        const size_t begin = token_.begin;
        const std::string_view text = token_.text;
        if (text == "lambda") {
            return refuse(
                "a value",
                "text holds no lambda: give it a name, as in parse('check(x)', "
                "scope, {'check': lambda x: ...}), or add it with "
                "guards.local('x').python(lambda x: ...)");
        }
        if (is_one_of(text, keywords) && !is_one_of(text, singletons))
            return refuse("a value", {});
        next();
        return add(begin, {.kind = Kind::name, .word = text});
    }

    /// Adjacent literals are one string.
    SyntaxId strings() {
        const size_t begin = token_.begin;
        size_t end = begin;
        while (!problem_ && token_.kind == Token::Kind::string) {
            end = token_.span().end;
            next();
        }
        return add(begin, {.kind = Kind::string,
                           .word = to_.text_.substr(begin, end - begin)});
    }

    SyntaxId parenthesised(size_t begin) {
        if (take(")")) return add(begin, {.kind = Kind::tuple});
        const SyntaxId first = disjunction();
        if (token_.is(",")) {
            std::vector<SyntaxId> parts = {first};
            return rest_of_display(begin, {.kind = Kind::tuple, .parts = parts}, ")");
        }
        demand(")");
        if (problem_) return no_syntax;
        to_.all_[first].is_parenthesised = true;
        return first;
    }

    SyntaxId display(size_t begin, Kind kind, std::string_view close) {
        if (take(close)) return add(begin, {.kind = kind});
        const SyntaxId first = disjunction();
        return rest_of_display(begin, {.kind = kind, .parts = {first}}, close);
    }

    SyntaxId rest_of_display(size_t begin, Syntax made, std::string_view close) {
        while (take(",") && !token_.is(close)) made.parts.push_back(disjunction());
        demand(close);
        return add(begin, std::move(made));
    }

    SyntaxId braces(size_t begin) {
        if (take("}")) return add(begin, {.kind = Kind::dict});
        const SyntaxId first = disjunction();
        if (!take(":"))
            return rest_of_display(begin, {.kind = Kind::set, .parts = {first}}, "}");
        Syntax made{.kind = Kind::dict, .parts = {first, disjunction()}};
        while (take(",") && !token_.is("}")) {
            made.parts.push_back(disjunction());
            demand(":");
            made.parts.push_back(disjunction());
        }
        demand("}");
        return add(begin, std::move(made));
    }

    TextLexer lexer_;
    Token token_;
    size_t last_end_ = 0;
    int depth_ = 0;
    TextSyntax& to_;
    TextProblem& problem_;
};

bool TextSyntax::parse(std::string_view text, TextSyntax& to, TextProblem& problem) {
    TextSyntax made;
    problem = {};
    if (!TextParser(text, made, problem).run()) return false;
    to = std::move(made);
    return true;
}

bool TextSyntax::same(SyntaxId a, const TextSyntax& other, SyntaxId b) const noexcept {
    const Syntax& x = all_[a];
    const Syntax& y = other[b];
    if (x.kind != y.kind || x.word != y.word || x.keywords != y.keywords ||
        x.parts.size() != y.parts.size()) {
        return false;
    }
    for (size_t i = 0; i < x.parts.size(); ++i) {
        if (!same(x.parts[i], other, y.parts[i])) return false;
    }
    return true;
}

TextPlace place_of(std::string_view text, const TextProblem& problem) {
    const size_t begin = std::min(problem.span.begin, text.size());
    const size_t before = text.substr(0, begin).rfind('\n');
    const size_t line_begin = before == text.npos ? 0 : before + 1;
    const size_t line_end = std::min(text.find('\n', begin), text.size());
    const size_t end = std::clamp(problem.span.end, begin, line_end);
    const auto lines_before = std::count(
        text.begin(), text.begin() + static_cast<ptrdiff_t>(begin), '\n');
    std::string_view line = text.substr(line_begin, line_end - line_begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t column = width_of(text.substr(line_begin, begin - line_begin)) + 1;
    std::string sentence = problem.refusal;
    if (sentence.empty()) {
        const std::string found =
            printable(text.substr(begin, std::min(end - begin, max_shown)));
        sentence = "expected " + problem.expected + ", found " +
                   (begin == text.size() ? "the end" : "'" + found + "'");
    }
    return {.sentence = std::move(sentence),
            .hint = problem.hint,
            .line = static_cast<size_t>(lines_before) + 1,
            .column = column,
            .end_column = column + width_of(text.substr(begin, end - begin)),
            .text = std::string(line)};
}

std::string problem_text(std::string_view text, const TextProblem& problem) {
    const TextPlace place = place_of(text, problem);
    const size_t begin = std::min(problem.span.begin, text.size());
    const size_t line_end = std::min(text.find('\n', begin), text.size());
    constexpr size_t max_before = 60;
    std::string sentence = "line " + std::to_string(place.line) + ", column " +
                           std::to_string(place.column) + ": " + place.sentence;
    // Shows only part of a long line.
    const size_t before = text.substr(0, begin).rfind('\n');
    const size_t line_begin = before == text.npos ? 0 : before + 1;
    const size_t from = begin - std::min(begin - line_begin, max_before);
    const std::string before_it = printable(text.substr(from, begin - from));
    const std::string rest =
        printable(text.substr(begin, std::min(line_end - begin, max_shown)));
    sentence +=
        "\n    " + before_it + rest + "\n    " + std::string(width_of(before_it), ' ') +
        "^" +
        std::string(
            std::clamp<size_t>(place.end_column - place.column, 1, max_shown) - 1, '~');
    if (!problem.hint.empty()) sentence += "\nhint: " + problem.hint;
    return sentence;
}

}  // namespace guardtree
