// Reads conditions: kinds on paths.
// SPDX-License-Identifier: MIT
#include "reader.h"

#include <utility>

#include "../../framelocals/no_memory.h"
#include "../../guards/objects/constant.h"
#include "../names/calls.h"

#include "text.h"

namespace guardtree {
namespace {

using Kind = SyntaxKind;

constexpr std::string_view claim_hint =
    "a claim is the Python text of a kind or a relation (help(guardtree.GuardManager) "
    "lists them), or guard.<kind>(value, ...); for other Python name a callable, as in "
    "parse('check(x)', scope, {'check': function})";

struct Renamed {
    std::string_view from, to;
};

constexpr Renamed renamed_words[] = {{"all_distinct", "distinct_objects"},
                                     {"has_static", "has_static_attr"},
                                     {"plain_deque_item", "deque_item"},
                                     {"plain_dict_item", "dict_item"}};

/// What to write instead of a renamed word. Empty if there is none.
std::string hint_for_renamed(const TextSyntax& syntax) {
    for (const Syntax& each : syntax.all()) {
        if (each.kind != Kind::name) continue;
        for (const auto& [from, to] : renamed_words) {
            if (each.word == from)
                return "write " + std::string(to) + " instead of " + std::string(from);
        }
    }
    return {};
}

Owned<> tuple_of(Owned<> first, const References& rest) {
    auto made = Owned<>::steal(PyTuple_New(static_cast<Py_ssize_t>(rest.size() + 1)));
    if (!made || !first) {
        drop_exception();
        return {};
    }
    PyTuple_SET_ITEM(made.get(), 0, first.release());
    for (size_t i = 0; i < rest.size(); ++i) {
        PyTuple_SET_ITEM(made.get(), static_cast<Py_ssize_t>(i + 1),
                         Owned<>::share(rest[i].get()).release());
    }
    return made;
}

/// The kind as an operand: ("is_none",).
Owned<> inner_kind(const KindClaim& claim) {
    const std::string_view name = info_of(claim.code).name;
    return tuple_of(Owned<>::steal(PyUnicode_FromStringAndSize(
                        name.data(), static_cast<Py_ssize_t>(name.size()))),
                    claim.operands);
}

/// Whether an integer expression can read this: len(x), x.shape[0], x.ndim. Short forms
/// of kinds do not match these.
bool is_integer_read(const TextSyntax& syntax, SyntaxId id) {
    const Syntax& at = syntax[id];
    if (at.kind == Kind::attribute) return at.word == "ndim";
    if (at.kind == Kind::call) {
        return at.parts.size() == 2 && syntax[at.parts[0]].kind == Kind::name &&
               syntax[at.parts[0]].word == "len";
    }
    if (at.kind != Kind::item) return false;
    const Syntax& value = syntax[at.parts[0]];
    return value.kind == Kind::attribute && value.word == "shape";
}

}  // namespace

bool TextReader::run(Diagnostic& problem, TextProblem& found) {
    const bool is_read = claims(syntax_.root());
    if (!is_read) {
        std::string hint = hint_for_renamed(syntax_);
        if (!hint.empty()) problem_.hint = std::move(hint);
        problem = {exception_ ? exception_ : PyExc_SyntaxError,
                   problem_text(syntax_.text(), problem_)};
        found = problem_;
    }
    return is_read;
}

/// Keeps the problem that is furthest in the text. For one position it keeps the last
/// one, which comes from the attempt that got furthest. A refused operand is final.
bool TextReader::refuse(TextProblem problem, PyObject* exception) {
    const bool is_last = !problem_.refusal.empty();
    const bool is_behind = problem.span.begin < problem_.span.begin;
    if (is_last || (problem_ && problem.refusal.empty() && is_behind)) return false;
    problem_ = std::move(problem);
    exception_ = exception;
    return false;
}

bool TextReader::refuse(SyntaxId id, std::string expected) {
    return refuse({at(id).span, std::move(expected), {}, {}}, nullptr);
}

bool TextReader::refuse(SyntaxId id, const Diagnostic& reason) {
    return refuse({at(id).span, {}, {}, reason.message}, reason.exception);
}

bool TextReader::is_explicit(SyntaxId id, OpCode& code) const {
    const Syntax& call = at(id);
    if (call.kind != Kind::call || !call.keywords.empty()) return false;
    const Syntax& function = at(call.parts[0]);
    if (function.kind != Kind::attribute) return false;
    const Syntax& before = at(function.parts[0]);
    if (before.kind != Kind::name || before.word != explicit_word) return false;
    std::string_view name = function.word;
    if (name == "global_") name = "global";  // a keyword of Python
    return find_op(name, code);
}

/// Whether the expression is `guard.present(x)`, which means that the value exists.
bool TextReader::is_presence(SyntaxId id) const {
    const Syntax& call = at(id);
    if (call.kind != Kind::call || call.parts.size() != 2) return false;
    const Syntax& function = at(call.parts[0]);
    return function.kind == Kind::attribute && function.word == "present" &&
           at(function.parts[0]).word == explicit_word;
}

/// Reads the parts of an `and` without parentheses one by one. With parentheses it may
/// be the text of a kind.
bool TextReader::claims(SyntaxId id) {
    const Syntax& whole = at(id);
    if (whole.kind != Kind::all) return claim(id);
    if (whole.is_parenthesised) {
        KindClaim found;
        if (kind(id, found)) return add_kind(id, found);
        if (is_marked(id) && integers(id)) return true;
        problem_ = {};
        exception_ = nullptr;
    }
    for (const SyntaxId part : whole.parts) {
        if (!claims(part)) return false;
    }
    return true;
}

bool TextReader::claim(SyntaxId id) {
    problem_ = {};
    exception_ = nullptr;
    tried_.clear();
    NodeId ignored = 0;
    if (at(id).kind == Kind::name && at(id).word == "True") return true;
    if (is_presence(id)) return add_path(at(id).parts[1], ignored);
    KindClaim found;
    if (kind(id, found)) return add_kind(id, found);
    if (relation(id) || identity(id) || integers(id)) return true;
    if (!problem_) refuse(id, "a claim about values");
    if (problem_.hint.empty() && problem_.refusal.empty()) problem_.hint = claim_hint;
    return false;
}

bool TextReader::kind(SyntaxId id, KindClaim& to) {
    OpCode code{};
    if (is_explicit(id, code)) {
        return is_kind(code) && explicit_kind(id, code, to) && is_made(id, to);
    }
    for (const TextPattern* pattern : patterns_of(OpGroup::kinds, at(id).kind)) {
        if (fitted_kind(*pattern, id, to)) return true;
    }
    return at(id).kind == Kind::any && disjunction(id, to) && is_made(id, to);
}

bool TextReader::fitted_kind(const TextPattern& pattern, SyntaxId id, KindClaim& to) {
    TextFit fit;
    std::vector<Op> steps;
    if (!fits(pattern, syntax_, id, fit)) return false;
    // A short form that is stricter than Python is weaker after `not`. A path alone is
    // exact.
    if (pattern.is_shorthand && is_negated_ && pattern.weight > 0) return false;
    // A bad path gives a better message than bad operands.
    if (fit.value != no_syntax && !path(fit.value, steps)) return false;
    KindClaim found{.value = no_syntax, .code = pattern.code, .operands = {}};
    if (!fitted_operands(pattern, fit, found.operands)) return false;
    found.value = fit.value;
    if (pattern.is_shorthand && is_integer_read(syntax_, found.value)) return false;
    if (!is_made(id, found, false)) return false;
    to = std::move(found);
    return true;
}

bool TextReader::explicit_kind(SyntaxId id, OpCode code, KindClaim& to) {
    const Syntax& call = at(id);
    if (call.parts.size() < 2) return refuse(id, "a value to check");
    to = {.value = call.parts[1], .code = code, .operands = {}};
    return explicit_operands(id, code, 2, to.operands);
}

/// `x is None or type(x) is int`: several kinds on one value.
bool TextReader::disjunction(SyntaxId id, KindClaim& to) {
    References kinds;
    SyntaxId value = no_syntax;
    for (const SyntaxId part : at(id).parts) {
        KindClaim inner;
        if (!kind(part, inner)) return false;
        if (value != no_syntax && !syntax_.same(value, syntax_, inner.value))
            return refuse(part, "a claim about the same value as before 'or'");
        value = inner.value;
        kinds.push_back(inner_kind(inner));
    }
    Owned<> first = Owned<>::share(kinds[0].get());
    kinds.erase(kinds.begin());
    to = {.value = value, .code = code_of<AnyOf>, .operands = {}};
    to.operands.push_back(tuple_of(std::move(first), kinds));
    return true;
}

/// Whether the kind accepts its operands.
bool TextReader::is_made(SyntaxId id, const KindClaim& claim, bool is_certain) {
    Op ignored;
    return make(id, claim.code, claim.operands, ignored, is_certain);
}

bool TextReader::make(SyntaxId id, OpCode code, const References& operands, Op& to,
                      bool is_certain) {
    std::vector<PyObject*> objects;
    for (const Owned<>& each : operands) {
        if (!each) {
            drop_exception();
            return refuse(id,
                          Diagnostic{PyExc_MemoryError, "no memory for an operand"});
        }
        objects.push_back(each.get());
    }
    Diagnostic reason;
    if (make_op(code, objects, to, *keep_, reason)) {
        if (names_.allow_calls || !calls_chosen_code(to)) return true;
        return refuse(id, Diagnostic{PyExc_ValueError,
                                     "expected a guard that calls nothing, because of "
                                     "allow_calls=False, found " +
                                         std::string(to.info().name)});
    }
    if (reason.exception == PyExc_MemoryError) throw_no_memory();
    // Another pattern may match better.
    return is_certain && refuse(id, reason);
}

bool TextReader::add_kind(SyntaxId id, const KindClaim& claim) {
    NodeId node = 0;
    Op op;
    Diagnostic reason;
    const Keeping keeping(*this);
    if (!add_path(claim.value, node) || !make(id, claim.code, claim.operands, op))
        return false;
    return tree_.check(node, op, reason) || refuse(id, reason);
}

Owned<> TextReader::constant(SyntaxId id, bool may_refer) {
    TextProblem problem;
    Owned<> found = values_.constant(id, may_refer, problem);
    if (!found) refuse(std::move(problem), nullptr);
    return found;
}

/// Reads one operand as an object. An inner kind also provides its value.
Owned<> TextReader::operand(OpCode code, size_t number, SyntaxId id, SyntaxId* value) {
    const OperandForm form = operands_of(code)[number].form;
    if (form == OperandForm::constant || form == OperandForm::name)
        return constant(id, false);
    if (form != OperandForm::kinds) {
        TextProblem problem;
        Owned<> found = values_.reference(id, problem);
        if (!found) refuse(std::move(problem), nullptr);
        return found;
    }
    if (!value) return constant(id, true);
    const bool was_negated = std::exchange(is_negated_, true);
    KindClaim inner;
    const bool is_read = kind(id, inner);
    is_negated_ = was_negated;
    if (!is_read) return {};
    *value = inner.value;
    return inner_kind(inner);
}

bool TextReader::fitted_operands(const TextPattern& pattern, TextFit& fit,
                                 References& to) {
    const size_t count = operands_of(pattern.code).size();
    for (size_t i = 0; i < count; ++i) {
        const std::string_view name = fit.names[i];
        Owned<> object;
        if (!name.empty()) {
            object = Owned<>::steal(PyUnicode_FromStringAndSize(
                name.data(), static_cast<Py_ssize_t>(name.size())));
            if (!object) drop_exception();
        } else if (fit.operands[i] != no_syntax) {
            object = operand(pattern.code, i, fit.operands[i], &fit.value);
        }
        if (!object) return false;
        to.push_back(std::move(object));
    }
    return true;
}

bool TextReader::explicit_operands(SyntaxId id, OpCode code, size_t first,
                                   References& to) {
    const size_t count = operands_of(code).size();
    if (at(id).parts.size() != first + count) {
        return refuse(id, std::string(info_of(code).name) + " with " +
                              std::to_string(count) + " operand(s)");
    }
    for (size_t i = 0; i < count; ++i) {
        Owned<> object = operand(code, i, at(id).parts[first + i], nullptr);
        if (!object) return false;
        to.push_back(std::move(object));
    }
    return true;
}

bool parse_guards(std::string_view text, const TextNames& names, Tree& to,
                  Diagnostic& problem, TextPlace* where) {
    TextSyntax syntax;
    TextProblem found;
    Tree made;
    bool is_read = TextSyntax::parse(text, syntax, found);
    if (!is_read)
        problem = {PyExc_SyntaxError, problem_text(text, found)};
    else
        is_read = TextReader(syntax, names, made).run(problem, found);
    if (is_read)
        to = std::move(made);
    else if (where)
        *where = place_of(text, found);
    return is_read;
}

}  // namespace guardtree
