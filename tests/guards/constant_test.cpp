// Constants: private snapshots, exact equality, what is refused.
// SPDX-License-Identifier: MIT
#include "../../guards/objects/constant.h"

#include <gtest/gtest.h>

#include "../support/allocations.h"
#include "../support/interpreter.h"
#include "../support/python.h"

namespace guardtree::tests {
namespace {

class ConstantTest : public Interpreter {
protected:
    void SetUp() override { names.load_oracle(); }

    Owned<> snapshot(const std::string& text) {
        Diagnostic problem;
        Owned<> made = snapshot_constant(names.eval(text).get(), problem);
        if (!made) throw PythonError(problem.message);
        return made;
    }

    Diagnostic refusal(const std::string& text) {
        Diagnostic problem;
        EXPECT_FALSE(snapshot_constant(names.eval(text).get(), problem)) << text;
        EXPECT_FALSE(PyErr_Occurred());
        return problem;
    }

    bool same(const std::string& value, const std::string& constant) {
        return same_constant(names.eval(value).get(), snapshot(constant).get());
    }

    Namespace names;
};

TEST_F(ConstantTest, equality_is_the_oracles_for_every_pair) {
    names.run(
        "import struct\n"
        "leaves = [None, True, False, 0, 1, 2, 1.0, 0.0, -0.0, float('nan'), 2**70,\n"
        "          struct.unpack('d', struct.pack('Q', 0x7ff8000000000123))[0],\n"
        "          -float('nan'), 1j, complex(0.0, -0.0), complex(-0.0, 0.0), '', "
        "'a',\n"
        "          '\\xe9', '\\u20ac', b'', b'a', ...]\n"
        "keys = [k for k in leaves if k == k]\n"
        "all_values = leaves + [(a,) for a in leaves] + [[a] for a in leaves]\n"
        "all_values += [(1, b) for b in leaves[:6]] + [{k: 1} for k in keys]\n"
        "all_values += [{'k': a} for a in leaves] + [{k} for k in keys]\n"
        "all_values += [frozenset({k}) for k in keys] + [{(k,)} for k in keys]\n"
        "all_values += [{frozenset({k}): [k]} for k in keys]\n"
        "all_values += [{1, 'a'}, {1.0, 'a'}, {'a', 'b'}, {1: 2, 'a': 3}, (), [], {},\n"
        "               {'a': 3, 1: 2}, {'a': 3, True: 2}, set(), frozenset()]\n");
    const Owned<> values = names.eval("all_values");
    const Owned<> oracle = names.eval("same_constant");
    const Py_ssize_t count = PyList_GET_SIZE(values.get());
    ASSERT_GT(count, 200);
    for (Py_ssize_t i = 0; i < count; ++i) {
        Diagnostic problem;
        const Owned<> constant =
            snapshot_constant(PyList_GET_ITEM(values.get(), i), problem);
        ASSERT_TRUE(constant) << problem.message;
        for (Py_ssize_t j = 0; j < count; ++j) {
            PyObject* value = PyList_GET_ITEM(values.get(), j);
            const auto answer = Owned<>::steal(PyObject_CallFunctionObjArgs(
                oracle.get(), value, constant.get(), nullptr));
            ASSERT_EQ(same_constant(value, constant.get()), answer.get() == Py_True)
                << short_repr(value) << " and " << short_repr(constant.get());
        }
    }
}

TEST_F(ConstantTest, a_nan_equals_itself_by_bits_only) {
    EXPECT_TRUE(same("float('nan')", "float('nan')"));
    EXPECT_FALSE(same("-float('nan')", "float('nan')"));
}

TEST_F(ConstantTest, a_snapshot_is_a_copy_all_the_way_down) {
    names.run("inner = [1]; outer = [inner, {'k': inner}, ({2},)]");
    const Owned<> constant = snapshot("outer");
    names.run("inner.append(2); outer[2][0].add(3)");
    EXPECT_FALSE(same_constant(names.eval("outer").get(), constant.get()));
    EXPECT_TRUE(
        same_constant(names.eval("[[1], {'k': [1]}, ({2},)]").get(), constant.get()));
}

TEST_F(ConstantTest, a_user_object_is_refused_with_the_way_out) {
    const Diagnostic problem = refusal("object()");
    EXPECT_EQ(problem.exception, PyExc_TypeError);
    EXPECT_NE(problem.message.find("expected a constant"), std::string::npos);
    EXPECT_NE(problem.message.find("id_match(object)"), std::string::npos);
}

TEST_F(ConstantTest, a_subclass_of_a_constant_type_is_refused) {
    names.run("class I(int): pass\nclass D(dict): pass\nclass T(tuple): pass");
    for (const char* text : {"I(1)", "D()", "T()", "[I(1)]", "{'k': D()}", "{I(1)}"}) {
        EXPECT_EQ(refusal(text).exception, PyExc_TypeError) << text;
    }
}

TEST_F(ConstantTest, what_holds_itself_or_is_too_deep_is_refused) {
    names.run(
        "itself = []\nitself.append(itself)\n"
        "def nest(n):\n  made = ()\n  for _ in range(n): made = (made,)\n"
        "  return made\n");
    EXPECT_EQ(refusal("itself").exception, PyExc_ValueError);
    EXPECT_EQ(refusal("nest(101)").exception, PyExc_ValueError);
    EXPECT_TRUE(snapshot("nest(99)"));
}

TEST_F(ConstantTest, a_nan_among_keys_is_refused) {
    for (const char* text :
         {"{float('nan')}", "{float('nan'): 1}", "{(1, (float('nan'),))}",
          "{frozenset({float('nan')}): 1}", "{complex(0, float('nan'))}"}) {
        EXPECT_EQ(refusal(text).exception, PyExc_ValueError) << text;
    }
}

TEST_F(ConstantTest, comparing_runs_no_user_code) {
    names.run(
        "ran = []\n"
        "class Spy:\n"
        "  def __eq__(self, other): ran.append(1); return True\n"
        "  def __hash__(self): ran.append(2); return hash('a')\n"
        "spies = [Spy(), [Spy()], (Spy(),), {'a': Spy()}, {1: Spy()}, {Spy(): 1},\n"
        "         {Spy()}, frozenset({Spy()}), {(Spy(),): 1}]\n"
        "ran.clear()");
    const Owned<> spies = names.eval("spies");
    for (const char* text : {"1", "[1]", "(1,)", "{'a': 1}", "{1: 1}", "{'a'}",
                             "frozenset({'a'})", "{(1,): 1}"}) {
        const Owned<> constant = snapshot(text);
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(spies.get()); ++i) {
            EXPECT_FALSE(
                same_constant(PyList_GET_ITEM(spies.get(), i), constant.get()));
        }
    }
    EXPECT_TRUE(names.is_true("ran == []"));
}

TEST_F(ConstantTest, comparing_allocates_nothing) {
    const char* text =
        "[1, 2.5, 'abc', b'x', (True, None), {'k': {2, 'b'}, 3: [4]}, 2j]";
    const Owned<> value = names.eval(text);
    const Owned<> constant = snapshot(text);
    bool answer = false;
    const Allocations made =
        allocations_of([&] { answer = same_constant(value.get(), constant.get()); });
    EXPECT_TRUE(answer);
    EXPECT_EQ(made.all(), 0u);
}

TEST_F(ConstantTest, comparing_ends_on_a_value_that_holds_itself) {
    names.run("itself = []\nitself.append(itself)");
    EXPECT_FALSE(same("itself", "[[[]]]"));
}

}  // namespace
}  // namespace guardtree::tests
