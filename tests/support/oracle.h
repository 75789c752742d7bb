// What the tests against the oracle share: operands to choose from, and the question
// whether guardtree and plain Python agree.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "guards.h"
#include "interpreter.h"

namespace guardtree::tests {

/// Operand texts to choose from. Each prints as text that evaluates to the same object
/// or an equal one, so that a printed tree means what it says.
template <class T>
std::vector<std::string> pool();

template <>
inline std::vector<std::string> pool<Index>() {
    return {"0", "1", "-1", "2", "-3"};
}

template <>
inline std::vector<std::string> pool<Count>() {
    return {"0", "1", "2"};
}

template <>
inline std::vector<std::string> pool<Name>() {
    return {"'a'", "'b'", "'real'", "'__class__'", "'missing'"};
}

template <>
inline std::vector<std::string> pool<HashedName>() {
    return pool<Name>();
}

template <>
inline std::vector<std::string> pool<Key>() {
    return {"'a'", "'b'", "0", "1", "True", "-1", "1.0", "(1, 2)", "None"};
}

template <>
inline std::vector<std::string> pool<Constant>() {
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
inline std::vector<std::string> pool<Identity>() {
    return {"None", "True", "1", "user", "lying_eq", "int", "Named", "...", "()"};
}

template <>
inline std::vector<std::string> pool<TypeIdentity>() {
    return {"int",  "bool", "float",      "str",   "tuple",   "list",
            "dict", "type", "type(None)", "Named", "KeepsLen"};
}

template <>
inline std::vector<std::string> pool<Callable>() {
    return {"is_big", "is_list", "is_hashable", "has_no_truth",
            "raises", "always",  "never",       "callable"};
}

template <>
inline std::vector<std::string> pool<Held>() {
    return pool<Identity>();
}

template <>
inline std::vector<std::string> pool<Text>() {
    return {
        "'a'", "''", "'b'", "'real'", "'__class__'", "'missing'", "'n\\xe9 \\ud800'"};
}

template <>
inline std::vector<std::string> pool<Int>() {
    return {"0", "1", "-2", "2**62", "-2**63"};
}

template <>
inline std::vector<std::string> pool<Divisor>() {
    return {"1", "-1", "2", "-3", "2**62"};
}

template <>
inline std::vector<std::string> pool<Sign>() {
    return {"-1", "0", "1"};
}

template <>
inline std::vector<std::string> pool<Constants>() {
    return {"()",         "(1,)",         "(True,)",      "('a',)",
            "('b', 1)",   "(1, 'b')",     "((1, 2),)",    "(nan, -0.0, 'ab')",
            "('a', 1.0)", "([1], set())", "(None, 2**70)"};
}

template <>
inline std::vector<std::string> pool<ConstantSet>() {
    return {"set()", "{1}", "{True}", "{'a'}", "{'b', 1}", "frozenset({(1, 2)})"};
}

template <>
inline std::vector<std::string> pool<RangeOperand>() {
    return {"range(0)", "range(3)", "range(1, 3)", "range(2, 3, 7)", "range(9, 0, -4)"};
}

template <>
inline std::vector<std::string> pool<FunctionParts>() {
    return {"is_big", "inner", "with_defaults"};
}

template <>
inline std::vector<std::string> pool<VersionedType>() {
    return {"int", "Named", "type", "NoneType"};
}

template <>
inline std::vector<std::string> pool<TensorOperand>() {
    if (!can_run("numpy")) return {"TensorSpec(ndim=2)"};
    return {"TensorSpec(ndim=2)",
            "TensorSpec(dtype='float32', shape=(2, None))",
            "TensorSpec(dtype='int64', device='cpu', strides=(8,))",
            "TensorSpec(type=numpy.ndarray, shape=((1, 2), 3), writeable=True)",
            "TensorSpec(dtype=numpy.dtype('>i4'), c_contiguous=True)",
            "numpy.zeros((2, 3), 'f')",
            "TensorSpec(dtype='float32', alignment=16)",
            "TensorSpec(storage_offset=0)"};
}

template <>
inline std::vector<std::string> pool<OverlapPairs>() {
    return {"()", "((0, 1),)"};
}

/// These print as no text that evaluates; the other tests have them.
template <>
inline std::vector<std::string> pool<DictSnapshot>() {
    return {};
}

template <>
inline std::vector<std::string> pool<NativeCheck>() {
    return {};
}

template <>
inline std::vector<std::string> pool<NativePureCheck>() {
    return {};
}

template <>
inline std::vector<std::string> pool<NativeGetter>() {
    return {};
}

template <>
inline std::vector<std::string> pool<InnerKind>() {
    return {"('is_none',)",
            "('type_match', int)",
            "('python', raises)",
            "('int_range', -1, 2)",
            "('not_', ('equals', (1, -0.0)))",
            "('any_of', (('is_true',), ('not_', ('length', 1))))"};
}

template <>
inline std::vector<std::string> pool<InnerKinds>() {
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

inline std::vector<std::string> all_kinds() {
    std::vector<std::string> calls;
#define X(type, stem) append_calls<type>(calls);
    GUARDTREE_KINDS(X)
#undef X
    return calls;
}

/// All of each step, or the first `most`.
inline std::vector<std::string> all_value_steps(size_t most = SIZE_MAX) {
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
        names.load_oracle();
        names.run_file("oracle_values.py");
        value_count = PyList_GET_SIZE(names.eval("VALUES").get());
        named_count = PyList_GET_SIZE(names.eval("NAMED").get());
    }

    PyObject* value(Py_ssize_t index) {
        return PyList_GET_ITEM(names.eval("VALUES").get(), index);
    }

    static Owned<> str(const std::string& text) {
        return Owned<>::steal(PyUnicode_FromString(text.c_str()));
    }

    static bool is_related(const Tree& tree, NodeId id) {
        return std::ranges::any_of(tree.relations(), [&](const RelationCheck& each) {
            return std::ranges::find(each.nodes, id) != each.nodes.end();
        });
    }

    /// The relations as the oracle reads them: text over v0, v1, ..., and the paths.
    static Owned<> printed_relations(const Tree& tree) {
        auto list = Owned<>::steal(PyList_New(0));
        for (const RelationCheck& each : tree.relations()) {
            auto paths = Owned<>::steal(PyList_New(0));
            std::vector<std::string> stand_ins;
            for (const NodeId node : each.nodes) {
                PyList_Append(paths.get(), str(tree.path_text(node)).get());
                stand_ins.push_back("v" + std::to_string(stand_ins.size()));
            }
            const Owned<> text = str(relation_text(each.relation, stand_ins));
            const Owned<> row = tuple_of({text.get(), paths.get()});
            PyList_Append(list.get(), row.get());
        }
        return list;
    }

    /// The nodes below `id` as the oracle reads them; nodes that nothing is said of are
    /// left out.
    static Owned<> printed(const Tree& tree, NodeId id) {
        auto list = Owned<>::steal(PyList_New(0));
        tree.each_child(id, [&](NodeId child) {
            const Node& node = tree.node(child);
            const std::string path = tree.path_text(child);
            const Owned<> below = printed(tree, child);
            const bool is_useful = node.last_check != no_id || is_related(tree, child);
            if (!is_useful && PyList_GET_SIZE(below.get()) == 0) return;
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

    /// A tree as the oracle reads it: for many questions, because printing it takes
    /// longer than one.
    struct Printed {
        Owned<> nodes;
        Owned<> relations;
    };

    static Printed printed(const Guards& guards) {
        return {printed(guards.tree, 0), printed_relations(guards.tree)};
    }

    std::string oracle(const Printed& tree, PyObject* locals) {
        const Owned<> arguments =
            tuple_of({tree.nodes.get(), tree.relations.get(), locals, names.dict(),
                      Namespace::builtins()});
        const auto answer = Owned<>::steal(
            PyObject_CallObject(names.eval("verdict").get(), arguments.get()));
        if (!answer) throw PythonError(taken_error_text());
        return text_of_str(answer.get());
    }

    void expect_agreement(Guards& guards, PyObject* locals) {
        expect_agreement(guards, printed(guards), locals);
    }

    void expect_agreement(Guards& guards, const Printed& tree, PyObject* locals) {
        const std::string expected = oracle(tree, locals);
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
    Py_ssize_t named_count = 0;  ///< those are the first
};

}  // namespace guardtree::tests
