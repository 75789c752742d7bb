// Text with a limit on its number of characters.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "object_text.h"

namespace guardtree {

class BoundedText {
public:
    explicit BoundedText(size_t room) : room_(room) {}

    /// Whether the limit is exceeded, so that text added now is not shown.
    bool is_full() const noexcept { return characters_ > room_; }

    /// The maximum number of elements of one container that can be shown. Each adds at
    /// least a comma and a space.
    size_t max_parts() const noexcept { return room_ + 2; }

    void add(std::string_view utf8) {
        for (const char byte : utf8) characters_ += is_first(byte);
        text_ += utf8;
    }

    /// Adds a str, of which it reads no more than the limit.
    void add_str(PyObject* text) {
        const auto head = Owned<>::steal(
            PyUnicode_Substring(text, 0, static_cast<Py_ssize_t>(room_ + 1)));
        add(utf8(head.get()));
    }

    size_t room() const noexcept { return room_; }

    /// The text. If it exceeds the limit, it is cut and ends in "...".
    std::string result() const {
        if (!is_full()) return text_;
        size_t at = 0;
        for (size_t seen = 0; at < text_.size(); ++at) {
            if (is_first(text_[at]) && ++seen > room_ - 3) break;
        }
        return text_.substr(0, at) + "...";
    }

private:
    static bool is_first(char byte) noexcept {
        return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
    }

    size_t room_;
    size_t characters_ = 0;
    std::string text_;
};

}  // namespace guardtree
