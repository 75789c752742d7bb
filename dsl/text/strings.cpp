// Evaluates string literals: prefixes, escapes, UTF-8.
// SPDX-License-Identifier: MIT
#include <vector>

#include "../../framelocals/no_memory.h"

#include "values.h"

namespace guardtree {
namespace {

int digit_of(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

/// Converts literals to the characters of a bytes or str object.
class StringReader {
public:
    explicit StringReader(std::string_view text) : text_(text) {}

    Owned<> run(std::string& problem) {
        while (problem_.empty() && at_ < text_.size()) literal();
        problem = problem_;
        if (!problem.empty()) return {};
        Owned<> made = is_bytes_ ? bytes() : str();
        if (!made) {
            drop_exception();
            problem = "a string that fits in memory";
        }
        return made;
    }

private:
    void literal() {
        bool is_raw = false;
        bool is_bytes = false;
        for (; text_[at_] != '\'' && text_[at_] != '"'; ++at_) {
            const char prefix = static_cast<char>(text_[at_] | 0x20);
            is_raw |= prefix == 'r';
            is_bytes |= prefix == 'b';
            if (prefix != 'r' && prefix != 'b' && prefix != 'u') {
                problem_ =
                    "a string without the prefix '" + std::string(1, text_[at_]) + "'";
                return;
            }
        }
        if (is_known_ && is_bytes != is_bytes_) {
            problem_ = "strings side by side to be all bytes or all str";
            return;
        }
        is_known_ = true;
        is_bytes_ = is_bytes;
        const std::string_view three = text_.substr(at_, 3);
        const size_t quotes = three == "'''" || three == R"(""")" ? 3 : 1;
        const std::string_view close = text_.substr(at_, quotes);
        at_ += quotes;
        while (problem_.empty() && !text_.substr(at_).starts_with(close)) {
            if (text_[at_] == '\\' && !is_raw) {
                escape();
            } else if (text_[at_] == '\\') {
                character();
                character();
            } else {
                character();
            }
        }
        at_ += quotes;
        skip_to_next();
    }

    /// Skips blanks and comments between literals.
    void skip_to_next() {
        bool is_comment = false;
        for (; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == '#') is_comment = true;
            if (c == '\n') is_comment = false;
            const bool is_blank =
                c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
            if (!is_comment && !is_blank) return;
        }
    }

    /// Copies one UTF-8 character.
    void character() {
        const auto lead = static_cast<unsigned char>(text_[at_]);
        const size_t size = lead < 0x80   ? 1
                            : lead < 0xC0 ? 0
                            : lead < 0xE0 ? 2
                            : lead < 0xF0 ? 3
                                          : 4;
        const auto decoded = Owned<>::steal(
            size && at_ + size <= text_.size()
                ? PyUnicode_DecodeUTF8(text_.data() + at_,
                                       static_cast<Py_ssize_t>(size), nullptr)
                : nullptr);
        if (!decoded || (is_bytes_ && size > 1)) {
            drop_exception();
            problem_ = is_bytes_ ? "bytes in ASCII" : "a string in UTF-8";
            return;
        }
        characters_.push_back(PyUnicode_READ_CHAR(decoded.get(), 0));
        at_ += size;
    }

    void escape() {
        const char c = text_[at_ + 1];
        at_ += 2;
        static constexpr std::string_view letters = "\\'\"abfnrtv";
        static constexpr std::string_view meanings = "\\'\"\a\b\f\n\r\t\v";
        const size_t place = letters.find(c);
        if (c == '\n') return;
        if (place != letters.npos) {
            characters_.push_back(static_cast<unsigned char>(meanings[place]));
        } else if (digit_of(c) < 8) {
            --at_;
            number(8, 1, 3);
        } else if (c == 'x') {
            number(16, 2, 2);
        } else if (c == 'u' && !is_bytes_) {
            number(16, 4, 4);
        } else if (c == 'U' && !is_bytes_) {
            number(16, 8, 8);
        } else {
            problem_ = "an escape that is known";
            if (c > ' ') problem_ += std::string(", not \\") + c;  // in ASCII
        }
    }

    void number(unsigned base, size_t least, size_t most) {
        uint64_t value = 0;
        size_t count = 0;
        while (count < most && at_ < text_.size() &&
               digit_of(text_[at_]) < static_cast<int>(base)) {
            value = value * base + static_cast<unsigned>(digit_of(text_[at_]));
            ++at_;
            ++count;
        }
        const uint64_t largest = is_bytes_ ? 0xFF : 0x10FFFF;
        if (count < least || value > largest) {
            problem_ = "an escape with " + std::to_string(least) +
                       " digits of a character that exists";
            return;
        }
        characters_.push_back(static_cast<Py_UCS4>(value));
    }

    Owned<> bytes() const {
        const std::string all(characters_.begin(), characters_.end());
        return Owned<>::steal(
            PyBytes_FromStringAndSize(all.data(), static_cast<Py_ssize_t>(all.size())));
    }

    Owned<> str() const {
        return Owned<>::steal(
            PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, characters_.data(),
                                      static_cast<Py_ssize_t>(characters_.size())));
    }

    std::string_view text_;
    size_t at_ = 0;
    bool is_bytes_ = false;
    bool is_known_ = false;
    std::vector<Py_UCS4> characters_;
    std::string problem_;
};

}  // namespace

std::string_view plain_string(std::string_view literal) noexcept {
    if (literal.size() < 2 || literal.front() != literal.back()) return literal;
    const std::string_view inner = literal.substr(1, literal.size() - 2);
    return inner.find_first_of("\\'\"") == inner.npos ? inner : literal;
}

Owned<> string_of(std::string_view literals, std::string& problem) {
    const std::string_view plain = plain_string(literals);
    const bool is_plain = plain.size() + 2 == literals.size() &&
                          plain.find_first_of("\r\n") == plain.npos;
    if (is_plain) {
        auto made = Owned<>::steal(PyUnicode_DecodeUTF8(
            plain.data(), static_cast<Py_ssize_t>(plain.size()), nullptr));
        if (made) return made;
        drop_exception();
    }
    return StringReader(literals).run(problem);
}

}  // namespace guardtree
