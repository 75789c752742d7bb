// Reads paths, and relations over them.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <charconv>

#include "../../framelocals/attributes.h"
#include "../../guards/objects/constant.h"
#include "../names/names.h"

#include "reader.h"

namespace guardtree {
namespace {

using Kind = SyntaxKind;

bool is_name(const Syntax& at, std::string_view word) {
    return at.kind == Kind::name && at.word == word;
}

/// The only argument of `word(...)`; no_syntax for other expressions.
SyntaxId argument_of(const TextSyntax& syntax, SyntaxId id, std::string_view word) {
    const Syntax& call = syntax[id];
    const bool is_it = call.kind == Kind::call && call.parts.size() == 2 &&
                       call.keywords.empty() && is_name(syntax[call.parts[0]], word);
    return is_it ? call.parts[1] : no_syntax;
}

/// Whether a text is a decimal number that an integer expression may contain.
bool is_integer(std::string_view text) {
    int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stop == end && (text[0] != '0' || text.size() == 1);
}

/// Whether it is the number of a dimension. Its text goes to `to`, without a plus.
bool is_dimension(const TextSyntax& syntax, SyntaxId id, std::string& to) {
    const Syntax& index = syntax[id];
    const bool has_sign = index.kind == Kind::sign;
    const Syntax& number = has_sign ? syntax[index.parts[0]] : index;
    if (number.kind != Kind::number) return false;
    to = (index.word == "-" ? "-" : "") + std::string(number.word);
    return true;
}

bool is_listed(PyObject* names, PyObject* name) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
        if (PyUnicode_Compare(PyTuple_GET_ITEM(names, i), name) == 0) return true;
    }
    return false;
}

}  // namespace

bool TextReader::path(SyntaxId id, std::vector<Op>& steps) {
    const Syntax& here = at(id);
    OpCode code{};
    if (is_explicit(id, code)) return is_step(code) && explicit_path(id, code, steps);
    if (here.kind == Kind::name && !is_reserved(here.word) &&
        !is_literal_name(here.word))
        return root(id, interned_name(here.word), steps);
    const bool is_in_locals =
        here.kind == Kind::item && is_name(at(here.parts[0]), "L");
    if (is_in_locals) {
        Owned<> name = constant(here.parts[1], false);
        if (name && PyUnicode_CheckExact(name.get()) &&
            find_slot(names_.scope.code, name.get()) >= 0) {
            return root(id, std::move(name), steps);
        }
    }
    for (const TextPattern* pattern : patterns_of(OpGroup::steps, here.kind)) {
        const size_t size = steps.size();
        if (fitted_path(*pattern, id, steps)) return true;
        steps.resize(size);
    }
    // An earlier message about this position is more specific.
    const bool is_told = problem_ && problem_.span.begin == here.span.begin;
    return !is_told && refuse(id, "a value: a variable, and steps from it");
}

/// A name in the scope: a local or free variable, a global, a builtin.
bool TextReader::root(SyntaxId id, Owned<> name, std::vector<Op>& steps) {
    PyCodeObject* code = names_.scope.code;
    OpCode step{};
    const int slot = name ? find_slot(code, name.get()) : -1;
    PyObject* builtins =
        names_.scope.builtins ? names_.scope.builtins : PyEval_GetBuiltins();
    if (slot >= 0) {
        step = slot < first_free_slot(code) ? code_of<Local> : code_of<Closure>;
    } else if (name && values_.given(at(id).word)) {
        return refuse(id, "a variable, not an object that was given");
    } else if (name && find_name(names_.scope.globals, name.get())) {
        step = code_of<Global>;
    } else if (name && find_name(builtins, name.get())) {
        step = code_of<Builtin>;
    } else if (name && !names_.scope.globals && is_listed(code->co_names, name.get())) {
        step = code_of<Global>;
    } else {
        const std::string word(at(id).word);
        return refuse({at(id).span,
                       "the name of a variable of " + utf8(code->co_qualname) +
                           ", a global or a builtin",
                       "for a global that is still to come write G['" + word + "']",
                       {}},
                      PyExc_NameError);
    }
    References operands;
    operands.push_back(std::move(name));
    Op made;
    if (!make(id, step, operands, made)) return false;
    steps.push_back(made);
    return true;
}

bool TextReader::fitted_path(const TextPattern& pattern, SyntaxId id,
                             std::vector<Op>& steps) {
    TextFit fit;
    References operands;
    Op made;
    if (!fits(pattern, syntax_, id, fit) || !fitted_operands(pattern, fit, operands) ||
        !make(id, pattern.code, operands, made, false)) {
        return false;
    }
    if (is_root_step(made) != (fit.value == no_syntax)) return false;
    if (fit.value != no_syntax && !path(fit.value, steps)) return false;
    steps.push_back(made);
    return true;
}

bool TextReader::explicit_path(SyntaxId id, OpCode code, std::vector<Op>& steps) {
    const size_t operand_count = operands_of(code).size();
    const bool has_value = at(id).parts.size() == operand_count + 2;
    if (has_value && !path(at(id).parts[1], steps)) return false;
    References operands;
    Op made;
    if (!explicit_operands(id, code, has_value ? 2 : 1, operands) ||
        !make(id, code, operands, made)) {
        return false;
    }
    if (is_root_step(made) == has_value) {
        return refuse(id, has_value ? "a step from a value, not one that starts a path"
                                    : "a value that the step starts from");
    }
    steps.push_back(made);
    return true;
}

bool TextReader::add_path(SyntaxId id, NodeId& to) {
    const Keeping keeping(*this);
    std::vector<Op> steps;
    if (!path(id, steps)) return false;
    Diagnostic reason;
    NodeId node = 0;
    for (Op& step : steps) {
        if (step.code() == code_of<Local> || step.code() == code_of<Closure>) {
            const bool is_bound =
                step.code() == code_of<Local>
                    ? step.as<Local>().bind(names_.scope.code, reason.message)
                    : step.as<Closure>().bind(names_.scope.code, reason.message);
            if (!is_bound) {
                reason.exception = PyExc_NameError;
                return refuse(id, reason);
            }
        }
        if (!tree_.child(node, step, node, reason)) return refuse(id, reason);
    }
    to = node;
    return true;
}

bool TextReader::add_relation(SyntaxId id, OpCode code, const References& operands,
                              const std::vector<SyntaxId>& values, bool is_certain) {
    // Reads all paths first, so that a failed attempt adds no nodes.
    std::vector<Op> steps;
    for (const SyntaxId value : values) {
        if (!path(value, steps)) return false;
    }
    const Keeping keeping(*this);
    Op made;
    if (!make(id, code, operands, made, is_certain)) return false;
    const std::string reason = arity_problem(made, values.size());
    if (!reason.empty()) return refuse(id, Diagnostic{PyExc_ValueError, reason});
    std::vector<NodeId> nodes(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
        if (!add_path(values[i], nodes[i])) return false;
    }
    Diagnostic problem;
    return tree_.relate(made, nodes, problem) || refuse(id, problem);
}

bool TextReader::relation(SyntaxId id) {
    OpCode code{};
    References operands;
    if (is_explicit(id, code)) {
        const size_t count = operands_of(code).size();
        if (!is_relation(code) || at(id).parts.size() < count + 1) return false;
        for (size_t i = 0; i < count; ++i) {
            Owned<> object = operand(code, i, at(id).parts[i + 1], nullptr);
            if (!object) return false;
            operands.push_back(std::move(object));
        }
        const auto first = at(id).parts.begin() + static_cast<ptrdiff_t>(count + 1);
        return add_relation(id, code, operands, {first, at(id).parts.end()});
    }
    for (const TextPattern* pattern : patterns_of(OpGroup::relations, at(id).kind)) {
        TextFit fit;
        operands.clear();
        if (fits(*pattern, syntax_, id, fit) &&
            fitted_operands(*pattern, fit, operands) &&
            add_relation(id, pattern->code, operands, fit.values)) {
            return true;
        }
    }
    return false;
}

/// `a is b is c` and `a is not b`.
bool TextReader::identity(SyntaxId id) {
    const Syntax& here = at(id);
    if (here.kind != Kind::compare) return false;
    const auto is_all = [&](std::string_view word) {
        return std::ranges::all_of(here.keywords,
                                   [&](std::string_view each) { return each == word; });
    };
    if (is_all("is")) return add_relation(id, code_of<SameObject>, {}, here.parts);
    const bool is_pair = here.keywords.size() == 1 && is_all("is not");
    return is_pair && add_relation(id, code_of<DistinctObjects>, {}, here.parts);
}

/// Whether an expression is marked as an integer expression by `int64(...)` in it.
bool TextReader::is_marked(SyntaxId id) const {
    if (argument_of(syntax_, id, "int64") != no_syntax) return true;
    return std::ranges::any_of(at(id).parts,
                               [&](SyntaxId part) { return is_marked(part); });
}

bool TextReader::integers(SyntaxId id) {
    integers_.clear();
    std::string text;
    if (!integer_text(id, text)) return false;
    References operands;
    operands.push_back(interned_name(text));
    // The relation's own message would use names that are not in the text.
    return add_relation(id, code_of<Integers>, operands,
                        std::vector<SyntaxId>(integers_), false) ||
           refuse(id, "a comparison of ints, lengths or shapes");
}

/// The expression with names for its values, in the form that IntegerText reads.
bool TextReader::integer_text(SyntaxId id, std::string& text) {
    const Syntax& here = at(id);
    if (here.is_parenthesised) text += "(";
    const auto joined = [&](auto word_at) {
        for (size_t i = 0; i < here.parts.size(); ++i) {
            if (i > 0) text += " " + std::string(word_at(i - 1)) + " ";
            if (!integer_text(here.parts[i], text)) return false;
        }
        return true;
    };
    bool is_read = false;
    switch (here.kind) {
    case Kind::number:
        text += here.word;
        is_read = is_integer(here.word) || refuse(id, "a whole number of 64 bits");
        break;
    case Kind::sign:
        text += here.word;
        is_read = integer_text(here.parts[0], text);
        break;
    case Kind::negation:
        text += "not ";
        is_read = integer_text(here.parts[0], text);
        break;
    case Kind::binary:
        is_read = here.word == "**" ? refuse(id, "a sum, product or remainder")
                                    : joined([&](size_t) { return here.word; });
        break;
    case Kind::compare:
        is_read = joined([&](size_t i) { return here.keywords[i]; });
        break;
    case Kind::all: is_read = joined([](size_t) { return "and"; }); break;
    case Kind::any: is_read = joined([](size_t) { return "or"; }); break;
    default: is_read = integer_leaf(id, text); break;
    }
    if (here.is_parenthesised) text += ")";
    return is_read;
}

/// A value, its length, a size or a stride of it, with or without int64(...).
bool TextReader::integer_leaf(SyntaxId id, std::string& text) {
    const SyntaxId marked = argument_of(syntax_, id, "int64");
    if (marked != no_syntax) id = marked;
    SyntaxId value = id;
    std::string before;
    std::string after;
    const Syntax& here = at(id);
    for (const std::string_view word : {"len", "builtin_len"}) {
        const SyntaxId argument = argument_of(syntax_, id, word);
        if (argument == no_syntax) continue;
        value = argument;
        before = "len(";
        after = ")";
    }
    std::string index;
    if (here.kind == Kind::call && here.parts.size() == 3 && here.keywords.empty() &&
        is_name(at(here.parts[0]), "stride_of") &&
        is_dimension(syntax_, here.parts[2], index)) {
        value = here.parts[1];
        before = "stride_of(";
        after = ", " + index + ")";
    }
    if (here.kind == Kind::attribute && here.word == "ndim") {
        value = here.parts[0];
        after = ".ndim";
    }
    if (here.kind == Kind::item) {
        const Syntax& shape = at(here.parts[0]);
        if (shape.kind == Kind::attribute && shape.word == "shape" &&
            is_dimension(syntax_, here.parts[1], index)) {
            value = shape.parts[0];
            after = ".shape[" + index + "]";
        }
    }
    const SyntaxId tensor =
        after.starts_with(".") ? argument_of(syntax_, value, "tensor") : no_syntax;
    if (tensor != no_syntax) value = tensor;
    std::vector<Op> steps;
    if (!path(value, steps)) return false;
    const auto found = std::ranges::find_if(
        integers_, [&](SyntaxId each) { return syntax_.same(each, syntax_, value); });
    text += before + "v" + std::to_string(found - integers_.begin()) + after;
    if (found == integers_.end()) integers_.push_back(value);
    return true;
}

}  // namespace guardtree
