// Kinds inside kinds: reads, checks and prints them.
// SPDX-License-Identifier: MIT
#include "../concepts/inner_kinds.h"

#include <algorithm>

#include "../../framelocals/no_memory.h"
#include "../objects/constant.h"
#include "../operands/held_object.h"

#include "named_op.h"

namespace guardtree {

class KindList {
public:
    std::vector<Op> kinds;
    References references;
};

namespace {

constexpr int max_nested_kinds = 32;

/// Current nesting depth of read_kinds. The functions that read operands have no
/// parameter for it.
thread_local int reading = 0;

bool read_kind(PyObject* from, KindList& to, Diagnostic& problem) {
    const bool has_name = PyTuple_CheckExact(from) && PyTuple_GET_SIZE(from) > 0 &&
                          PyUnicode_CheckExact(PyTuple_GET_ITEM(from, 0));
    if (!has_name) {
        refuse_operand(problem, InnerKind::expects, from);
        return false;
    }
    PyObject* name = PyTuple_GET_ITEM(from, 0);
    const auto all = std::span(PySequence_Fast_ITEMS(from),
                               static_cast<size_t>(PyTuple_GET_SIZE(from)));
    OpCode code{};
    Op kind;
    if (find_op(utf8(name), code) && is_kind(code)) {
        if (!make_op(code, all.subspan(1), kind, to.references, problem)) return false;
        to.kinds.push_back(kind);
        return true;
    }
    problem = {PyExc_ValueError, "there is no kind called " + short_repr(name)};
    return false;
}

bool read_list(std::span<PyObject* const> kinds, InnerKinds& to, References& keep,
               Diagnostic& problem) {
    auto list = std::make_unique<KindList>();
    for (PyObject* kind : kinds) {
        if (!read_kind(kind, *list, problem)) return false;
    }
    to.list = keep_object(std::move(list), keep, problem);
    return to.list;
}

bool read_kinds(std::span<PyObject* const> kinds, InnerKinds& to, References& keep,
                Diagnostic& problem) {
    if (reading == max_nested_kinds) {
        problem = {PyExc_ValueError, "kinds nest at most 32 deep"};
        return false;
    }
    bool is_read = false;
    ++reading;
    const bool had_memory =
        allocating([&] { is_read = read_list(kinds, to, keep, problem); });
    --reading;
    if (!had_memory) drop_exception();  // throws again
    return is_read;
}

template <GuardKind K>
Verdict check_as(const K& kind, PyObject* value) noexcept {
    const auto answer = kind.check(value);
    if constexpr (std::same_as<decltype(answer), const Verdict>)
        return answer;
    else
        return answer ? Verdict::pass : Verdict::fail;
}

Verdict check(const Op& op, PyObject* value) noexcept {
    switch (op.code()) {
#define X(type, stem) \
    case OpCode::type: return check_as(op.as<type>(), value);
        GUARDTREE_KINDS(X)
#undef X
    default: return Verdict::fail;  // read_kind accepts only kinds
    }
}

std::string text_of_op(const Op& op) {
    const std::string name = "('" + std::string(op.info().name) + "'";
    std::string operands;
    dispatch(op, [&](const auto& concrete) {
        std::apply(
            [&](const auto&... each) {
                ((operands += ", " + text_of(concrete.*each.member)), ...);
            },
            concrete.operands());
    });
    return name + (operands.empty() ? "," : operands) + ")";
}

Owned<> object_of_op(const Op& op) noexcept {
    std::vector<Owned<>> objects = operand_objects(op);
    if (PyErr_Occurred()) return {};
    const std::string_view name = op.info().name;
    objects.insert(objects.begin(),
                   Owned<>::steal(PyUnicode_FromStringAndSize(
                       name.data(), static_cast<Py_ssize_t>(name.size()))));
    auto made = Owned<>::steal(PyTuple_New(static_cast<Py_ssize_t>(objects.size())));
    for (size_t i = 0; made && i < objects.size(); ++i) {
        if (!objects[i]) return {};
        PyTuple_SET_ITEM(made.get(), static_cast<Py_ssize_t>(i), objects[i].release());
    }
    return made;
}

}  // namespace

bool InnerKinds::read(PyObject* from, InnerKinds& to, References& keep,
                      Diagnostic& problem) {
    if (!PyTuple_CheckExact(from)) {
        refuse_operand(problem, expects, from);
        return false;
    }
    const auto size = static_cast<size_t>(PyTuple_GET_SIZE(from));
    return read_kinds({PySequence_Fast_ITEMS(from), size}, to, keep, problem);
}

bool InnerKind::read(PyObject* from, InnerKind& to, References& keep,
                     Diagnostic& problem) {
    return read_kinds({&from, 1}, to, keep, problem);
}

void InnerKinds::add_keys(std::vector<Keys>& to) const {
    std::vector<Keys> common;
    for (const Op& op : ops()) {
        const std::vector<Keys> keys = keys_of(op);
        if (&op == &ops().front()) {
            common = keys;
            continue;
        }
        std::erase_if(common, [&](Keys& each) {
            const auto same = std::ranges::find(keys, each.of, &Keys::of);
            if (same == keys.end()) return true;
            each.values.insert(each.values.end(), same->values.begin(),
                               same->values.end());
            return false;
        });
    }
    for (Keys& each : common) {
        // A question about ranges asks for one range.
        if (each.of.kind != KeyKind::integer || ops().size() == 1)
            to.push_back(std::move(each));
    }
}

Verdict InnerKinds::first_not_failing(PyObject* value) const noexcept {
    for (const Op& kind : list->kinds) {
        const Verdict verdict = check(kind, value);
        if (verdict != Verdict::fail) return verdict;
    }
    return Verdict::fail;
}

std::span<const Op> InnerKinds::ops() const noexcept {
    return list->kinds;
}

std::string InnerKinds::python(const std::string& value) const {
    std::string text;
    for (const Op& kind : list->kinds) {
        text += (text.empty() ? "(" : " or ") + python_text(kind, value);
    }
    return text.empty() ? "False" : text + ")";
}

bool same(InnerKinds a, InnerKinds b) noexcept {
    return a.list == b.list ||
           std::ranges::equal(a.list->kinds, b.list->kinds, same_op);
}

size_t hash_of(InnerKinds a) noexcept {
    size_t hash = 0;
    for (const Op& kind : a.list->kinds) hash = hash * 31 + hash_op(kind);
    return hash;
}

std::string text_of(InnerKinds a) {
    std::string text = "(";
    for (const Op& kind : a.list->kinds) {
        text += (text.size() > 1 ? ", " : "") + text_of_op(kind);
    }
    return text + (a.list->kinds.size() == 1 ? ",)" : ")");
}

std::string text_of(InnerKind a) {
    return text_of_op(a.list->kinds[0]);
}

Owned<> object_of(InnerKinds a) noexcept {
    const auto& kinds = a.list->kinds;
    auto made = Owned<>::steal(PyTuple_New(static_cast<Py_ssize_t>(kinds.size())));
    for (size_t i = 0; made && i < kinds.size(); ++i) {
        Owned<> kind = object_of_op(kinds[i]);
        if (!kind) return {};
        PyTuple_SET_ITEM(made.get(), static_cast<Py_ssize_t>(i), kind.release());
    }
    return made;
}

Owned<> object_of(InnerKind a) noexcept {
    return object_of_op(a.list->kinds[0]);
}

}  // namespace guardtree
