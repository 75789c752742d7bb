// Processes an expression: its literals become objects, its words ops of a tree.
// SPDX-License-Identifier: MIT
//
// A script is read once, from the start. A path begins with a root; the instructions
// after it apply to the value that it leads to. Operators of integer conditions come
// before their operands. So the text of a condition is built from left to right, with
// parentheses only where Python needs them, and equal conditions have equal text.
#include "expressions.h"

#include <algorithm>
#include <initializer_list>
#include <memory>

#include "../../framelocals/exception.h"
#include "../../guards/integers/builder.h"
#include "../../guards/ops/named_op.h"

namespace guardtree::dsl {
namespace {

constexpr size_t max_operands = std::max({
#define X(type, stem) operand_count<guardtree::type>,
    GUARDTREE_OPS(X)
#undef X
});

/// a, b, ... z, a1, b1, ...: the name of a value in an integer expression.
std::string name_of_value(size_t number) {
    constexpr size_t letters = 26;
    std::string name(1, static_cast<char>('a' + number % letters));
    if (number >= letters) name += std::to_string(number / letters);
    return name;
}

class Builder {
public:
    Builder(const Script& script, std::span<PyObject* const> objects, Tree& tree,
            Diagnostic& problem) noexcept
        : instruction_(script.instructions.data()),
          end_(instruction_ + script.instructions.size()),
          literal_(script.literals.data()),
          objects_(objects),
          tree_(tree),
          problem_(problem) {
        const auto is_step = [](const Instruction& each) {
            return each.action == Action::root || each.action == Action::step;
        };
        const auto steps = std::ranges::count_if(script.instructions, is_step);
        tree.make_room(static_cast<size_t>(steps), script.literals.size());
    }

    bool run() {
        NodeId at = 0;
        while (instruction_ != end_) {
            const Instruction& now = next();
            const bool is_done = now.action == Action::relation   ? relate(now)
                                 : now.action == Action::integers ? relate_integers()
                                 : now.action == Action::kind     ? check(now, at)
                                                                  : follow(now, at);
            if (!is_done) return false;
        }
        return true;
    }

private:
    const Instruction& next() noexcept { return *instruction_++; }

    const Literal& next_literal() noexcept { return *literal_++; }

    bool follow(const Instruction& now, NodeId& at) {
        if (now.action == Action::root) return begin(now, at);
        Op step;
        return (read(now, step) && tree_.child(at, step, at, problem_)) || refuse(at);
    }

    /// Many conditions start with the same root. This finds its node again without
    /// creating an object.
    bool begin(const Instruction& now, NodeId& at) {
        const auto* name =
            now.operands == 1 ? std::get_if<std::string_view>(literal_) : nullptr;
        if (name) {
            for (size_t i = 0; i < std::min(beginning_count_, max_beginnings); ++i) {
                const Beginning& known = beginnings_[i];
                if (known.code != now.code || *known.name != *name) continue;
                next_literal();
                at = known.node;
                return true;
            }
        }
        at = 0;
        Op root;
        if (!read(now, root) || !tree_.child(0, root, at, problem_)) return false;
        if (name) {
            Beginning& last = beginnings_[beginning_count_++ % max_beginnings];
            last.code = now.code;
            last.name = name;
            last.node = at;
        }
        return true;
    }

    bool check(const Instruction& now, NodeId at) {
        Op kind;
        return (read(now, kind) && tree_.check(at, kind, problem_)) || refuse(at);
    }

    bool relate(const Instruction& now) {
        Op relation;
        if (!read(now, relation)) return false;
        values_.assign(now.count, 0);
        for (NodeId& value : values_) {
            if (!go(next().count, value)) return false;
        }
        return tree_.relate(relation, values_, problem_);
    }

    /// Follows the steps of a path.
    bool go(size_t steps, NodeId& to) {
        for (; steps > 0; --steps) {
            if (!follow(next(), to)) return false;
        }
        return true;
    }

    bool relate_integers() {
        values_.clear();
        nesting_ = 0;
        auto made = std::make_unique<IntegerExpression>();
        IntegerBuilder builder(*made);
        int root = -1;
        if (!add_term(builder, 0, root)) return false;
        std::string reason;
        if (!builder.finish(root, reason))
            return refuse_claim("'" + made->source() + "': " + reason);
        Integers claim;
        return IntegerText::hold(std::move(made), claim.expression, tree_.references(),
                                 problem_) &&
               tree_.relate(Op(claim), values_, problem_);
    }

    /// `outer`: the precedence of the operator whose operand this is.
    bool add_term(IntegerBuilder& to, int outer, int& term) {
        using Kind = IntegerSyntax::Kind;
        const Instruction& now = next();
        switch (now.action) {
        case Action::value: return add_value(now, to, Kind::name, term);
        case Action::length: return add_value(now, to, Kind::length, term);
        case Action::rank: return add_value(now, to, Kind::rank, term);
        case Action::size: return add_value(now, to, Kind::size, term);
        case Action::stride: return add_value(now, to, Kind::stride, term);
        case Action::number: return add_number(to, term);
        default: return add_operation(now.operation, to, outer, term);
        }
    }

    bool add_operation(IntegerOperator operation, IntegerBuilder& to, int outer,
                       int& term) {
        const int precedence = text_of(operation).precedence;
        const bool has_left = !is_unary(operation);
        const bool is_inside = precedence < outer;
        const int nesting = is_inside + !has_left;
        int left = -1;
        int right = -1;
        // The result is parsed again from its text, and the parser has this limit.
        nesting_ += nesting;
        if (nesting_ > IntegerBuilder::max_nesting)
            return refuse_claim("expected less nesting");
        if (is_inside) to.write("(");
        if (has_left && !add_term(to, precedence, left)) return false;
        to.write(operation);
        if (!add_term(to, has_left ? precedence + 1 : precedence, right)) return false;
        if (is_inside) to.write(")");
        nesting_ -= nesting;
        term = to.add_operation(operation, left, right);
        return true;
    }

    /// Adds the value that a path leads to, as `kind` reads it.
    bool add_value(const Instruction& now, IntegerBuilder& to, IntegerSyntax::Kind kind,
                   int& term) {
        NodeId node = 0;
        if (!go(now.count, node)) return false;
        const auto found = std::ranges::find(values_, node);
        auto number = static_cast<int>(found - values_.begin());
        if (found == values_.end()) {
            number = to.name_number(name_of_value(values_.size()));
            values_.push_back(node);
        }
        int64_t dimension = 0;
        const bool has_dimension =
            kind == IntegerSyntax::Kind::size || kind == IntegerSyntax::Kind::stride;
        if (has_dimension && !next_integer(dimension)) return false;
        if (dimension == INT64_MIN)
            return refuse_claim(
                "expected a dimension of a tensor, found the least int");
        term = to.add_value(kind, number, dimension);
        return true;
    }

    bool add_number(IntegerBuilder& to, int& term) {
        int64_t number = 0;
        if (!next_integer(number)) return false;
        if (nesting_ + (number < 0) > IntegerBuilder::max_nesting)
            return refuse_claim("expected less nesting");
        to.write(std::to_string(number));
        term = to.add_constant(number);
        return true;
    }

    bool next_integer(int64_t& to) {
        const Literal& literal = next_literal();
        const auto* large = std::get_if<uint64_t>(&literal);
        if (large && *large > INT64_MAX)
            return refuse_claim("expected a number that fits in 64 bits, found " +
                                std::to_string(*large));
        to = large ? static_cast<int64_t>(*large) : *std::get_if<int64_t>(&literal);
        return true;
    }

    bool refuse_claim(const std::string& reason) {
        problem_ = {PyExc_ValueError, place_of(code_of<Integers>) + reason};
        return false;
    }

    /// Reads operands from the next literals.
    bool read(const Instruction& now, Op& to) {
        if (now.operands > 1) return read_several(now, to);
        Owned<> owned;
        PyObject* operand = nullptr;
        if (now.operands == 1) {
            owned = next_object();
            operand = owned.get();
            if (!operand) return refuse_literal(now.code);
        }
        return now.make({&operand, now.operands}, to, tree_.references(), problem_);
    }

    bool read_several(const Instruction& now, Op& to) {
        std::array<Owned<>, max_operands> owned;
        std::array<PyObject*, max_operands> operands{};
        for (size_t i = 0; i < now.operands; ++i) {
            owned[i] = next_object();
            operands[i] = owned[i].get();
            if (!operands[i]) return refuse_literal(now.code, i);
        }
        return now.make(std::span(operands).first(now.operands), to, tree_.references(),
                        problem_);
    }

    /// The next literal as an object. Null, with or without an exception set, if that
    /// fails.
    Owned<> next_object() {
        const Literal& literal = next_literal();
        // Most literals are names.
        if (const auto* text = std::get_if<std::string_view>(&literal)) [[likely]]
            return made(*text);
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

    /// Most names are ASCII, which needs no decoding.
    static Owned<> made(std::string_view text) {
        const auto size = static_cast<Py_ssize_t>(text.size());
        const auto is_ascii = [](char c) { return (c & 0x80) == 0; };
        if (size < 2 || !std::ranges::all_of(text, is_ascii))
            return Owned<>::steal(PyUnicode_FromStringAndSize(text.data(), size));
        auto object = Owned<>::steal(PyUnicode_New(size, 0x7f));
        if (object) std::ranges::copy(text, PyUnicode_1BYTE_DATA(object.get()));
        return object;
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

    /// Adds the place in the tree to the message.
    bool refuse(NodeId at) {
        if (at != 0) problem_.message = tree_.path_text(at) + ": " + problem_.message;
        return false;
    }

    /// "integers(expression): "
    static std::string place_of(OpCode code, size_t operand = 0) {
        return operand_place(info_of(code).name, operands_of(code)[operand].name);
    }

    /// Refuses an operand for which next_object returned null.
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

    /// A root of the tree, as written in the script.
    struct Beginning {
        OpCode code;
        const std::string_view* name;
        NodeId node;
    };

    static constexpr size_t max_beginnings = 8;

    const Instruction* instruction_;  ///< the next one
    const Instruction* end_;
    const Literal* literal_;  ///< the next one
    std::span<PyObject* const> objects_;
    Tree& tree_;
    Diagnostic& problem_;
    std::vector<NodeId> values_;  ///< the values of a relation
    int nesting_ = 0;             ///< nesting around the current term
    std::array<Beginning, max_beginnings> beginnings_;  ///< the latest ones, in a ring
    size_t beginning_count_ = 0;
};

}  // namespace

bool build_script(const Script& script, std::span<PyObject* const> objects, Tree& to,
                  Diagnostic& problem) {
    return Builder(script, objects, to, problem).run();
}

}  // namespace guardtree::dsl
