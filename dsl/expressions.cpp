// Walking an expression: its literals become objects, its words ops of a tree.
// SPDX-License-Identifier: MIT
//
// A script is read once, from the front. A path begins at a root; what stands behind it
// is about the value it has led to. Operators of integer claims come before their
// operands, so that the claim's text is written from left to right, with parentheses
// only where Python needs them: equal claims give equal text.
#include "expressions.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>

#include "../framelocals/exception.h"
#include "../guards/named_op.h"

namespace guardtree::dsl {
namespace {

constexpr size_t most_operands = std::max({
#define X(type, stem) operand_count<guardtree::type>,
    GUARDTREE_OPS(X)
#undef X
});

/// How an operator is written in Python; one of a higher precedence binds tighter.
struct Operator {
    std::string_view text;
    int precedence;
};

constexpr Operator operator_of(Action action) {
    switch (action) {
    case Action::disjunction: return {" or ", 1};
    case Action::conjunction: return {" and ", 2};
    case Action::negation: return {"not ", 3};
    case Action::equal: return {" == ", 4};
    case Action::not_equal: return {" != ", 4};
    case Action::less: return {" < ", 4};
    case Action::less_equal: return {" <= ", 4};
    case Action::greater: return {" > ", 4};
    case Action::greater_equal: return {" >= ", 4};
    case Action::add: return {" + ", 5};
    case Action::subtract: return {" - ", 5};
    case Action::multiply: return {" * ", 6};
    case Action::floor_divide: return {" // ", 6};
    case Action::modulo: return {" % ", 6};
    case Action::negative: return {"-", 7};
    default: return {};
    }
}

void append_number(std::string& to, auto number) {
    std::array<char, 24> digits{};
    const auto [end, error] =
        std::to_chars(digits.data(), digits.data() + digits.size(), number);
    to.append(digits.data(), end);
}

/// a, b, ... z, a1, b1, ...: the name of a claim's value.
void append_name(std::string& to, size_t number) {
    constexpr size_t letters = 26;
    to += static_cast<char>('a' + number % letters);
    if (number >= letters) append_number(to, number / letters);
}

/// An integer in a claim's text. The least one has no literal there.
void append_integer(std::string& to, const Literal& literal) {
    if (const auto* large = std::get_if<uint64_t>(&literal))
        return append_number(to, *large);
    const int64_t value = *std::get_if<int64_t>(&literal);
    if (value == INT64_MIN) {
        to += "(-9223372036854775807 - 1)";
    } else {
        append_number(to, value);
    }
}

class Builder {
public:
    Builder(const Script& script, std::span<PyObject* const> objects, Tree& tree,
            Diagnostic& problem) noexcept
        : script_(script), objects_(objects), tree_(tree), problem_(problem) {}

    bool run() {
        make_room();
        NodeId at = 0;
        while (!script_.instructions.empty()) {
            const Instruction now = next();
            const bool is_done = now.action == Action::relation   ? relate(now)
                                 : now.action == Action::integers ? relate_integers()
                                 : now.action == Action::kind     ? check(now, at)
                                                                  : follow(now, at);
            if (!is_done) return false;
        }
        return true;
    }

private:
    /// For a reference from each literal; many small scripts make a tree in O(n).
    void make_room() {
        References& kept = tree_.references();
        const size_t needed = kept.size() + script_.literals.size();
        if (needed > kept.capacity())
            kept.reserve(std::max(needed, 2 * kept.capacity()));
    }

    const Instruction& next() {
        const Instruction& first = script_.instructions.front();
        script_.instructions = script_.instructions.subspan(1);
        return first;
    }

    const Literal& next_literal() {
        const Literal& first = script_.literals.front();
        script_.literals = script_.literals.subspan(1);
        return first;
    }

    bool follow(const Instruction& now, NodeId& at) {
        if (now.action == Action::root) return begin(now, at);
        Op step;
        return (read(now, step) && tree_.child(at, step, at, problem_)) || refuse(at);
    }

    /// Claims tend to begin where others before them did, and no object need be made
    /// to find that node again.
    bool begin(const Instruction& now, NodeId& at) {
        const auto* name =
            now.operands == 1 ? std::get_if<std::string_view>(&script_.literals.front())
                              : nullptr;
        if (name) {
            const auto same = [&](const Beginning& each) {
                return each.code == now.code && each.name == *name;
            };
            const auto known = std::ranges::find_if(beginnings_, same);
            if (known != beginnings_.end()) {
                next_literal();
                at = known->node;
                return true;
            }
        }
        at = 0;
        Op root;
        if (!read(now, root) || !tree_.child(0, root, at, problem_)) return false;
        if (name)
            beginnings_[next_beginning_++ % most_beginnings] = {now.code, *name, at};
        return true;
    }

    bool check(const Instruction& now, NodeId at) {
        Op kind;
        return (read(now, kind) && tree_.check(at, kind, problem_)) || refuse(at);
    }

    bool relate(const Instruction& now) {
        Op relation;
        if (!read(now, relation)) return false;
        std::vector<NodeId> values(now.count);
        for (NodeId& value : values) {
            if (!go(next().count, value)) return false;
        }
        return tree_.relate(relation, values, problem_);
    }

    /// Follows the steps of a path.
    bool go(size_t steps, NodeId& to) {
        for (; steps > 0; --steps) {
            if (!follow(next(), to)) return false;
        }
        return true;
    }

    bool relate_integers() {
        claim_.clear();
        claim_.reserve(64);  // for most, so that it does not grow by and by
        values_.clear();
        values_.reserve(4);
        if (!write_term(0)) return false;
        Integers claim;
        if (!IntegerText::read_text(claim_, claim.expression, tree_.references(),
                                    problem_)) {
            problem_.message = place_of(code_of<Integers>) + problem_.message;
            return false;
        }
        return tree_.relate(Op(claim), values_, problem_);
    }

    /// `outer`: of the operator that this is an operand of.
    bool write_term(int outer) {
        const Instruction now = next();
        switch (now.action) {
        case Action::value: return write_value(now);
        case Action::length: return write_value(now, "len(", ")");
        case Action::rank: return write_value(now, "", ".ndim");
        case Action::number: append_integer(claim_, next_literal()); return true;
        case Action::size:
            if (!write_value(now, "", ".shape[")) return false;
            append_integer(claim_, next_literal());
            claim_ += ']';
            return true;
        default: break;
        }
        const auto [text, precedence] = operator_of(now.action);
        const bool is_unary =
            now.action == Action::negation || now.action == Action::negative;
        const bool is_inside = precedence < outer;
        if (is_inside) claim_ += '(';
        if (!is_unary && !write_term(precedence)) return false;
        claim_ += text;
        if (!write_term(is_unary ? precedence : precedence + 1)) return false;
        if (is_inside) claim_ += ')';
        return true;
    }

    bool write_value(const Instruction& now, std::string_view before = {},
                     std::string_view after = {}) {
        NodeId node = 0;
        if (!go(now.count, node)) return false;
        const auto found = std::ranges::find(values_, node);
        const auto number = static_cast<size_t>(found - values_.begin());
        if (found == values_.end()) values_.push_back(node);
        claim_ += before;
        append_name(claim_, number);
        claim_ += after;
        return true;
    }

    /// Operands from the next literals.
    bool read(const Instruction& now, Op& to) {
        if (now.operands > 1) return read_several(now, to);
        Owned<> owned;
        PyObject* operand = nullptr;
        if (now.operands == 1) {
            owned = next_object();
            operand = owned.get();
            if (!operand) return refuse_literal(now.code);
        }
        return make_op(now.code, {&operand, now.operands}, to, tree_.references(),
                       problem_);
    }

    bool read_several(const Instruction& now, Op& to) {
        std::array<Owned<>, most_operands> owned;
        std::array<PyObject*, most_operands> operands{};
        for (size_t i = 0; i < now.operands; ++i) {
            owned[i] = next_object();
            operands[i] = owned[i].get();
            if (!operands[i]) return refuse_literal(now.code, i);
        }
        return make_op(now.code, std::span(operands).first(now.operands), to,
                       tree_.references(), problem_);
    }

    /// Null, with or without an exception set, when it cannot be had.
    Owned<> next_object() {
        const Literal& literal = next_literal();
        // Most are names; visiting is a call through a table.
        if (const auto* text = std::get_if<std::string_view>(&literal)) [[likely]]
            return made(*text);
        return object_of(literal);
    }

    [[gnu::noinline]] Owned<> object_of(const Literal& literal) {
        return std::visit([this](const auto& each) { return this->made(each); },
                          literal);
    }

    static Owned<> made(std::nullptr_t) { return Owned<>::share(Py_None); }

    static Owned<> made(bool value) { return Owned<>::steal(PyBool_FromLong(value)); }

    static Owned<> made(int64_t value) {
        return Owned<>::steal(PyLong_FromLongLong(value));
    }

    static Owned<> made(uint64_t value) {
        return Owned<>::steal(PyLong_FromUnsignedLongLong(value));
    }

    static Owned<> made(double value) {
        return Owned<>::steal(PyFloat_FromDouble(value));
    }

    static Owned<> made(std::string_view text) {
        return Owned<>::steal(PyUnicode_FromStringAndSize(
            text.data(), static_cast<Py_ssize_t>(text.size())));
    }

    static Owned<> made(PyObject* object) { return Owned<>::share(object); }

    static Owned<> made(PyTypeObject* type) { return Owned<>::share(as_object(type)); }

    Owned<> made(Later later) const { return Owned<>::share(objects_[later.position]); }

    Owned<> made(const Items& head) {
        if (head.form == Form::set) return made_set(head.count);
        if (head.form == Form::dict) return made_dict(head.count);
        const size_t names = head.form == Form::kind ? 1 : 0;
        auto tuple =
            Owned<>::steal(PyTuple_New(static_cast<Py_ssize_t>(names + head.count)));
        for (size_t i = 0; tuple && i < names + head.count; ++i) {
            Owned<> item = i < names ? made(info_of(head.kind).name) : next_object();
            if (!item) return {};
            PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), item.release());
        }
        return tuple;
    }

    Owned<> made_set(size_t count) {
        auto set = Owned<>::steal(PySet_New(nullptr));
        for (; set && count > 0; --count) {
            const Owned<> item = next_object();
            if (!item || PySet_Add(set.get(), item.get()) < 0) return {};
        }
        return set;
    }

    Owned<> made_dict(size_t count) {
        auto dict = Owned<>::steal(PyDict_New());
        for (; dict && count > 0; count -= 2) {
            const Owned<> key = next_object();
            const Owned<> value = key ? next_object() : Owned<>();
            if (!value || PyDict_SetItem(dict.get(), key.get(), value.get()) < 0)
                return {};
        }
        return dict;
    }

    /// Says where in the tree the problem arose.
    bool refuse(NodeId at) {
        if (at != 0) problem_.message = tree_.path_text(at) + ": " + problem_.message;
        return false;
    }

    /// "integers(expression): "
    static std::string place_of(OpCode code, size_t operand = 0) {
        return std::string(info_of(code).name) + "(" +
               std::string(operands_of(code)[operand].name) + "): ";
    }

    /// An operand that next_object gave null for.
    bool refuse_literal(OpCode code, size_t operand = 0) {
        const Owned<> exception = take_exception();
        PyObject* type = PyExc_ValueError;
        std::string reason = "expected an object, found a null pointer";
        if (exception) {
            reason = short_repr(exception.get());
            if (PyErr_GivenExceptionMatches(exception.get(), PyExc_MemoryError))
                type = PyExc_MemoryError;
        }
        problem_ = {type, place_of(code, operand) + reason};
        return false;
    }

    /// A root of the tree, as the script wrote it.
    struct Beginning {
        OpCode code{};
        std::string_view name;
        NodeId node = 0;
    };

    static constexpr size_t most_beginnings = 8;

    Script script_;  ///< what is left of it
    std::span<PyObject* const> objects_;
    Tree& tree_;
    Diagnostic& problem_;
    std::string claim_;           ///< an integer claim, as far as it is written
    std::vector<NodeId> values_;  ///< what its names stand for
    std::array<Beginning, most_beginnings> beginnings_;  ///< the last ones, in a ring
    size_t next_beginning_ = 0;
};

}  // namespace

bool build_script(const Script& script, std::span<PyObject* const> objects, Tree& to,
                  Diagnostic& problem) {
    return Builder(script, objects, to, problem).run();
}

}  // namespace guardtree::dsl
