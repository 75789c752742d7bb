// Ops as text, and their keys for tables.
// SPDX-License-Identifier: MIT
#include "op.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "../objects/constant.h"

namespace guardtree {
namespace {

bool is_identifier(char c) noexcept {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// As written in a call, where names are strings; in Python text they are not.
template <class T>
std::string operand_text(const T& operand) {
    if constexpr (std::same_as<T, Name>)
        return constant_text(operand.value);
    else
        return text_of(operand);
}

/// As written in Python text about `value`.
template <class T>
std::string python_of(const T& operand, const std::string& value) {
    if constexpr (requires { operand.python(value); })
        return operand.python(value);
    else
        return text_of(operand);
}

/// The pattern of an op's Python text. If a Name is not plain, `value.name` and `name`
/// are written in another form.
template <class T>
std::string_view pattern_of(const T& concrete, WordTexts& names) {
    std::string_view pattern = T::info.python;
    const auto quote = [&](const auto& one) {
        using Member = std::remove_cvref_t<decltype(concrete.*one.member)>;
        if constexpr (std::same_as<Member, Name>) {
            PyObject* name = (concrete.*one.member).value;
            if (is_plain_name(name)) return;
            names.back().second = constant_text(name);
            pattern = pattern == "name" ? "L[name]" : "getattr(value, name)";
        }
    };
    std::apply([&](const auto&... each) { (quote(each), ...); }, T::operands());
    return pattern;
}

}  // namespace

std::string fill_words(std::string_view pattern, const WordTexts& words) {
    std::string text;
    for (size_t i = 0; i < pattern.size();) {
        if (!is_identifier(pattern[i])) {
            text += pattern[i++];
            continue;
        }
        size_t end = i;
        while (end < pattern.size() && is_identifier(pattern[end])) ++end;
        const std::string_view word = pattern.substr(i, end - i);
        std::string_view replacement = word;
        for (const auto& [name, value] : words) {
            if (name == word) replacement = value;
        }
        text += replacement;
        i = end;
    }
    return text;
}

bool is_plain_name(PyObject* name) {
    static constexpr std::string_view keywords[] = {
        "False",  "None",   "True",    "and",      "as",       "assert", "async",
        "await",  "break",  "class",   "continue", "def",      "del",    "elif",
        "else",   "except", "finally", "for",      "from",     "global", "if",
        "import", "in",     "is",      "lambda",   "nonlocal", "not",    "or",
        "pass",   "raise",  "return",  "try",      "while",    "with",   "yield"};
    if (!PyUnicode_IS_ASCII(name) || PyUnicode_IsIdentifier(name) != 1) return false;
    const auto* text = static_cast<const char*>(PyUnicode_DATA(name));
    return std::ranges::find(keywords, std::string_view(text)) == std::end(keywords);
}

std::string python_text(const Op& op, const std::string& value) {
    return dispatch(op, [&](const auto& concrete) {
        WordTexts names = {{"value", value}};
        std::apply(
            [&](const auto&... each) {
                (names.emplace_back(each.name, python_of(concrete.*each.member, value)),
                 ...);
            },
            concrete.operands());
        return fill_words(pattern_of(concrete, names), names);
    });
}

std::string call_text(const Op& op) {
    return dispatch(op, [](const auto& concrete) {
        std::string text = std::string(concrete.info.name) + "(";
        std::apply(
            [&](const auto&... each) {
                [[maybe_unused]] const char* comma = "";
                ((text += std::exchange(comma, ", "),
                  text += operand_text(concrete.*each.member)),
                 ...);
            },
            concrete.operands());
        return text + ")";
    });
}

bool same_op(const Op& a, const Op& b) noexcept {
    if (a.code() != b.code()) return false;
    return dispatch(a, [&](const auto& first) {
        using T = std::remove_cvref_t<decltype(first)>;
        const T& second = b.as<T>();
        return std::apply(
            [&](const auto&... each) {
                return (true && ... && same(first.*each.member, second.*each.member));
            },
            T::operands());
    });
}

size_t hash_op(const Op& op) noexcept {
    return dispatch(op, [&](const auto& concrete) {
        auto hash = static_cast<size_t>(op.code()) * 0x9E3779B97F4A7C15u;
        std::apply(
            [&](const auto&... each) {
                ((hash = (hash ^ hash_of(concrete.*each.member)) * 0x100000001B3u),
                 ...);
            },
            concrete.operands());
        return hash;
    });
}

std::string relation_text(const Op& relation, std::span<const std::string> paths) {
    return dispatch(relation, [&](const auto& concrete) -> std::string {
        if constexpr (GuardRelation<std::remove_cvref_t<decltype(concrete)>>) {
            return concrete.text(paths);
        } else {
            return {};
        }
    });
}

std::string arity_problem(const Op& relation, size_t count) {
    return dispatch(relation, [&](const auto& concrete) -> std::string {
        if constexpr (GuardRelation<std::remove_cvref_t<decltype(concrete)>>) {
            return concrete.arity_problem(count);
        } else {
            return std::string(concrete.info.name) + " is not a relation";
        }
    });
}

PyTypeObject* exact_type_of(const Op& kind) noexcept {
    return dispatch(kind, []<class T>(const T& concrete) -> PyTypeObject* {
        if constexpr (HasExactType<T>) return concrete.exact_type();
        return nullptr;
    });
}

std::span<const Op> inner_kinds_of(const Op& kind) noexcept {
    return dispatch(kind, []<class T>(const T& concrete) -> std::span<const Op> {
        if constexpr (HasInnerKinds<T>) return concrete.inner_kinds();
        return {};
    });
}

bool inner_kinds_call_python(const Op& op) noexcept {
    const std::span<const Op> inner = inner_kinds_of(op);
    return inner.empty() || std::ranges::any_of(inner, calls_python);
}

bool makes_reference(const Op& op) noexcept {
    return dispatch(op, []<class T>(const T&) {
        if constexpr (GuardStep<T>) return returns_owned<T>;
        return false;
    });
}

bool may_take_over(const Op& op) noexcept {
    return dispatch(op, []<class T>(const T&) { return takes_places_over<T>; });
}

std::vector<Keys> keys_of(const Op& kind) {
    return dispatch(kind, [](const auto& concrete) {
        std::vector<Keys> all;
        if constexpr (HasKeys<std::remove_cvref_t<decltype(concrete)>>)
            concrete.add_keys(all);
        return all;
    });
}

bool is_root_step(const Op& op) noexcept {
    return dispatch(op, [](const auto& concrete) {
        return RootStep<std::remove_cvref_t<decltype(concrete)>>;
    });
}

bool is_alive(const Op& op) noexcept {
    if (op.is_internal()) return true;  // the ops that it covers are tested instead
    return dispatch(op, [](const auto& concrete) {
        auto alive = [](const auto& member) {
            if constexpr (requires { member.is_dead(); }) {
                return !member.is_dead();
            } else {
                return true;
            }
        };
        return std::apply(
            [&](const auto&... each) {
                return (true && ... && alive(concrete.*each.member));
            },
            concrete.operands());
    });
}

}  // namespace guardtree
