// Trees evaluated by guardtree and, as printed, by plain Python: every answer agrees.
// SPDX-License-Identifier: MIT
#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

/// Operand texts to choose from. Each prints as text that evaluates to the same object
/// or an equal one, so that a printed tree means what it says.
template <class T>
std::vector<std::string> pool();

template <>
std::vector<std::string> pool<Index>() {
    return {"0", "1", "-1", "2", "-3"};
}

template <>
std::vector<std::string> pool<Size>() {
    return {"0", "1", "2"};
}

template <>
std::vector<std::string> pool<Name>() {
    return {"'a'", "'b'", "'real'", "'__class__'", "'missing'"};
}

template <>
std::vector<std::string> pool<Key>() {
    return {"'a'", "'b'", "0", "1", "True", "-1", "1.0", "(1, 2)", "None"};
}

template <>
std::vector<std::string> pool<Constant>() {
    return {"None",
            "True",
            "1",
            "1.0",
            "0.0",
            "-0.0",
            "nan",
            "2**70",
            "'a'",
            "b'a'",
            "()",
            "(1,)",
            "(True,)",
            "[1, 2]",
            "[1]",
            "{'a': 1}",
            "{'a': True}",
            "{True: 0}",
            "{1: 'a', 'b': {'a': 2}}",
            "set()",
            "{1}",
            "{True}",
            "frozenset({(1, 2)})",
            "{1, 'a'}",
            "...",
            "1j",
            "((1,), (True,))"};
}

template <>
std::vector<std::string> pool<Identity>() {
    return {"None", "True", "1", "user", "lying_eq", "int", "Named", "...", "()"};
}

template <>
std::vector<std::string> pool<TypeIdentity>() {
    return {"int",  "bool", "float",      "str",   "tuple",   "list",
            "dict", "type", "type(None)", "Named", "KeepsLen"};
}

template <>
std::vector<std::string> pool<Callable>() {
    return {"is_big", "is_list", "is_hashable", "has_no_truth",
            "raises", "always",  "never",       "callable"};
}

template <>
std::vector<std::string> pool<Held>() {
    return pool<Identity>();
}

template <>
std::vector<std::string> pool<Text>() {
    return {
        "'a'", "''", "'b'", "'real'", "'__class__'", "'missing'", "'n\\xe9 \\ud800'"};
}

template <>
std::vector<std::string> pool<Int>() {
    return {"0", "1", "-2", "2**62", "-2**63"};
}

template <>
std::vector<std::string> pool<Divisor>() {
    return {"1", "-1", "2", "-3", "2**62"};
}

template <>
std::vector<std::string> pool<Sign>() {
    return {"-1", "0", "1"};
}

template <>
std::vector<std::string> pool<Constants>() {
    return {"()",         "(1,)",         "(True,)",      "('a',)",
            "('b', 1)",   "(1, 'b')",     "((1, 2),)",    "(nan, -0.0, 'ab')",
            "('a', 1.0)", "([1], set())", "(None, 2**70)"};
}

template <>
std::vector<std::string> pool<ConstantSet>() {
    return {"set()", "{1}", "{True}", "{'a'}", "{'b', 1}", "frozenset({(1, 2)})"};
}

template <>
std::vector<std::string> pool<RangeOperand>() {
    return {"range(0)", "range(3)", "range(1, 3)", "range(2, 3, 7)", "range(9, 0, -4)"};
}

template <>
std::vector<std::string> pool<FunctionParts>() {
    return {"is_big", "inner", "with_defaults"};
}

template <>
std::vector<std::string> pool<VersionedType>() {
    return {"int", "Named", "type", "NoneType"};
}

/// These print as no text that evaluates; the other tests have them.
template <>
std::vector<std::string> pool<DictSnapshot>() {
    return {};
}

template <>
std::vector<std::string> pool<NativeCheck>() {
    return {};
}

template <>
std::vector<std::string> pool<NativeGetter>() {
    return {};
}

template <>
std::vector<std::string> pool<InnerKind>() {
    return {"('is_none',)",
            "('type_match', int)",
            "('python', raises)",
            "('int_range', -1, 2)",
            "('not_', ('equals', (1, -0.0)))",
            "('any_of', (('is_true',), ('not_', ('length', 1))))"};
}

template <>
std::vector<std::string> pool<InnerKinds>() {
    return {"()", "(('is_none',),)",
            "(('type_match', str), ('python', is_big), ('is_none',))",
            "(('any_of', (('one_of', (1, 'a')), ('is_false',))), ('has_attr', 'a'))"};
}

/// All calls of a kind or step with operands of its pools (each alone may vary).
template <Described T>
void append_calls(std::vector<std::string>& calls) {
    std::vector<std::string> heads = {std::string(T::info.name) + "("};
    std::apply(
        [&](const auto&... each) {
            [[maybe_unused]] auto extend = [&](const auto& one) {
                using Value = std::remove_cvref_t<decltype(T().*one.member)>;
                std::vector<std::string> longer;
                for (const std::string& head : heads) {
                    for (const std::string& text : pool<Value>()) {
                        longer.push_back(head + text + ", ");
                    }
                }
                heads = longer;
            };
            (extend(each), ...);
        },
        T::operands());
    for (std::string& head : heads) {
        if (head.ends_with(", ")) head.resize(head.size() - 2);
        calls.push_back(head + ")");
    }
}

std::vector<std::string> all_kinds() {
    std::vector<std::string> calls;
#define X(type, stem) append_calls<type>(calls);
    GUARDTREE_KINDS(X)
#undef X
    return calls;
}

/// All of each step, or the first `most`.
std::vector<std::string> all_value_steps(size_t most = SIZE_MAX) {
    std::vector<std::string> calls;
    const auto append = [&]<class S>() {
        if constexpr (ValueStep<S>) {
            std::vector<std::string> own;
            append_calls<S>(own);
            own.resize(std::min(own.size(), most));
            calls.insert(calls.end(), own.begin(), own.end());
        }
    };
#define X(type, stem) append.template operator()<type>();
    GUARDTREE_STEPS(X)
#undef X
    return calls;
}

class Oracle : public Interpreter {
protected:
    void SetUp() override {
        names.run_file("oracle.py");
        names.run_file("oracle_values.py");
        names.run("globals().update(NAMESPACE)");
        value_count = PyList_GET_SIZE(names.eval("VALUES").get());
    }

    PyObject* value(Py_ssize_t index) {
        return PyList_GET_ITEM(names.eval("VALUES").get(), index);
    }

    static Owned<> str(const std::string& text) {
        return Owned<>::steal(PyUnicode_FromString(text.c_str()));
    }

    /// The nodes below `id` as the oracle reads them; nodes without checks are left
    /// out.
    static Owned<> printed(const Tree& tree, NodeId id) {
        auto list = Owned<>::steal(PyList_New(0));
        tree.each_child(id, [&](NodeId child) {
            const Node& node = tree.node(child);
            const std::string path = tree.path_text(child);
            const Owned<> below = printed(tree, child);
            if (node.last_check == no_id && PyList_GET_SIZE(below.get()) == 0) return;
            auto checks = Owned<>::steal(PyList_New(0));
            tree.each_check(child, [&](CheckId check) {
                const Op& kind = tree.check_at(check).kind;
                PyList_Append(checks.get(), str(python_text(kind, path)).get());
            });
            const Owned<> step = str(std::string(node.step.info().name));
            const Owned<> row =
                tuple_of({step.get(), str(path).get(), checks.get(), below.get()});
            PyList_Append(list.get(), row.get());
        });
        return list;
    }

    std::string oracle(const Guards& guards, PyObject* locals) {
        const Owned<> nodes = printed(guards.tree, 0);
        const Owned<> arguments =
            tuple_of({nodes.get(), locals, names.dict(), Namespace::builtins()});
        const auto answer = Owned<>::steal(
            PyObject_CallObject(names.eval("verdict").get(), arguments.get()));
        if (!answer) throw PythonError(taken_error_text());
        return text_of_str(answer.get());
    }

    void expect_agreement(Guards& guards, PyObject* locals) {
        const std::string expected = oracle(guards, locals);
        ASSERT_EQ(text(guards.verdict(locals)), expected)
            << guards.tree.text() << "locals: " << short_repr(locals);
        ASSERT_EQ(guards.error ? "error" : "none",
                  expected == "error" ? expected : "none");
        const Explanation explanation = guards.explained(locals);
        ASSERT_EQ(text(explanation.verdict), expected)
            << "explain disagrees with evaluate\n"
            << guards.tree.text() << "locals: " << short_repr(locals);
        ASSERT_EQ(explanation.failures.empty(), expected == "pass");
    }

    Owned<> locals(std::initializer_list<PyObject*> values) {
        auto made = Owned<>::steal(PyDict_New());
        static constexpr const char* letters[] = {"x", "y", "z"};
        size_t i = 0;
        for (PyObject* each : values) {
            if (each) PyDict_SetItemString(made.get(), letters[i], each);
            ++i;
        }
        return made;
    }

    Namespace names;
    Py_ssize_t value_count = 0;
};

TEST_F(Oracle, agrees_on_every_kind_with_every_operand_on_every_value) {
    for (const std::string& kind : all_kinds()) {
        Guards guards(names);
        guards.guard({"local('x')", kind});
        for (Py_ssize_t i = 0; i < value_count; ++i) {
            expect_agreement(guards, locals({value(i)}).get());
            if (HasFatalFailure()) return;
        }
        expect_agreement(guards, locals({}).get());
    }
}

TEST_F(Oracle, agrees_on_every_step_with_every_operand_on_every_value) {
    for (const std::string& step : all_value_steps()) {
        for (const char* kind : {"is_not_none()", "type_match(int)", "equals('a')"}) {
            Guards guards(names);
            guards.guard({"local('x')", step, kind});
            for (Py_ssize_t i = 0; i < value_count; ++i) {
                expect_agreement(guards, locals({value(i)}).get());
                if (HasFatalFailure()) return;
            }
        }
    }
}

TEST_F(Oracle, agrees_on_every_pair_of_steps) {
    const std::vector<std::string> steps = all_value_steps(4);
    const Owned<> values = names.eval(
        "[user, other, [[1], [2, 3]], {'a': {'a': 2}, 1: [1]}, ((1,), 'ab'), "
        "Missing(b=2),"
        " KeepsLen([7, [8]]), properties, {1: 'a', 'b': {'a': 2}}, inner, Named,"
        " iter(((1, 2), [3])), user.method, weakref.ref(user), {(1, 2)}, slotted]");
    for (const std::string& outer : steps) {
        for (const std::string& inner : steps) {
            Guards guards(names);
            guards.guard({"local('x')", outer, inner, "is_not_none()"});
            for (Py_ssize_t i = 0; i < PyList_GET_SIZE(values.get()); ++i) {
                expect_agreement(guards,
                                 locals({PyList_GET_ITEM(values.get(), i)}).get());
                if (HasFatalFailure()) return;
            }
        }
    }
}

/// Random trees of up to 12 ops over two locals, a global, a builtin and f_locals.
class RandomTree {
public:
    RandomTree(Guards& guards, std::mt19937& random)
        : guards_(guards), random_(random) {
        const std::vector<std::string> roots = {
            "local('x')",     "local('x')",       "local('y')",     "local('z')",
            "global('user')", "global('absent')", "builtin('len')", "f_locals()"};
        const int rows = 1 + below(6);
        for (int row = 0; row < rows; ++row) grow(roots);
    }

private:
    int below(int limit) {
        return std::uniform_int_distribution(0, limit - 1)(random_);
    }

    const std::string& any(const std::vector<std::string>& of) {
        return of[static_cast<size_t>(below(static_cast<int>(of.size())))];
    }

    void grow(const std::vector<std::string>& roots) {
        static const std::vector<std::string> kinds = all_kinds();
        static const std::vector<std::string> steps = all_value_steps();
        NodeId node = 0;
        // Half of the paths go on from one that is there, so that nodes have several
        // users.
        const auto present = static_cast<int>(guards_.tree.node_count());
        if (present > 1 && below(2))
            node = static_cast<NodeId>(1 + below(present - 1));
        else
            node = guards_.node({any(roots)});
        for (int depth = below(3); depth > 0; --depth) {
            Diagnostic problem;
            guards_.tree.child(node, guards_.op(any(steps)), node, problem);
        }
        // Checks that tend to pass, so that walks get somewhere.
        if (below(3))
            guards_.check(node, "is_not_none()");
        else
            guards_.check(node, any(kinds));
    }

    Guards& guards_;
    std::mt19937& random_;
};

TEST_F(Oracle, agrees_on_random_trees_and_values) {
    const char* chosen = std::getenv("GUARDTREE_TEST_SEED");
    const auto seed = chosen ? static_cast<unsigned>(std::strtoul(chosen, nullptr, 10))
                             : std::random_device()();
    std::printf("GUARDTREE_TEST_SEED=%u repeats this run\n", seed);
    SCOPED_TRACE("GUARDTREE_TEST_SEED=" + std::to_string(seed));
    std::mt19937 random(seed);
    std::uniform_int_distribution<Py_ssize_t> any_value(0, value_count - 1);
    for (int round = 0; round < 1500; ++round) {
        Guards guards(names);
        const RandomTree tree(guards, random);
        for (int i = 0; i < 6; ++i) {
            PyObject* z = random() % 4 ? value(any_value(random)) : nullptr;
            const Owned<> chosen_locals =
                locals({value(any_value(random)), value(any_value(random)), z});
            expect_agreement(guards, chosen_locals.get());
            if (HasFatalFailure()) return;
        }
    }
}

}  // namespace
}  // namespace guardtree::tests
