// Operands: what each accepts, says when it refuses, prints, and equals.
// SPDX-License-Identifier: MIT
#include "../../guards/operands/operand.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "../../guards/objects/constant.h"
#include "../../guards/operands/range_operand.h"
#include "../support/interpreter.h"
#include "../support/python.h"

namespace guardtree::tests {
namespace {

class OperandTest : public Interpreter {
protected:
    template <class T>
    T read(const std::string& text) {
        T made;
        Diagnostic problem;
        if (!T::read(names.eval(text).get(), made, keep, problem)) {
            throw PythonError(problem.message);
        }
        return made;
    }

    /// "TypeError: message" of a refusal.
    template <class T>
    std::string refusal(const std::string& text) {
        T made;
        Diagnostic problem;
        EXPECT_FALSE(T::read(names.eval(text).get(), made, keep, problem)) << text;
        EXPECT_FALSE(PyErr_Occurred());
        if (!problem) return "no diagnostic";
        auto* type = reinterpret_cast<PyTypeObject*>(problem.exception);
        return std::string(type->tp_name) + ": " + problem.message;
    }

    Namespace names;
    References keep;
};

TEST_F(OperandTest, a_type_is_asked_for_by_name_and_shown_what_was_found) {
    EXPECT_EQ(refusal<TypeIdentity>("3"), "TypeError: expected a type, found 3 (int)");
    EXPECT_EQ(refusal<TypeIdentity>("None"),
              "TypeError: expected a type, found None (NoneType)");
}

TEST_F(OperandTest, a_name_is_an_exact_str) {
    EXPECT_EQ(refusal<Name>("b'x'"),
              "TypeError: expected a name (str), found b'x' (bytes)");
    names.run("class S(str): pass");
    EXPECT_EQ(refusal<Name>("S('x')"),
              "TypeError: expected a name (str), found 'x' (S)");
}

TEST_F(OperandTest, an_index_is_an_int_that_fits_a_word_and_no_bool) {
    EXPECT_EQ(refusal<Index>("True"), "TypeError: expected an int, found True (bool)");
    EXPECT_EQ(refusal<Index>("1.0"), "TypeError: expected an int, found 1.0 (float)");
    EXPECT_EQ(refusal<Index>("2**64"),
              "OverflowError: expected an int that fits a machine word, found "
              "18446744073709551616");
    EXPECT_EQ(read<Index>("-2").value, -2);
    EXPECT_EQ(read<Index>("-1").value, -1);
}

TEST_F(OperandTest, a_size_is_not_negative) {
    EXPECT_EQ(refusal<Count>("-1"), "ValueError: expected an int >= 0, found -1");
    EXPECT_EQ(read<Count>("0").value, 0);
}

TEST_F(OperandTest, a_callable_can_be_called) {
    EXPECT_EQ(refusal<Callable>("'f'"),
              "TypeError: expected a callable, found 'f' (str)");
}

TEST_F(OperandTest, a_key_is_a_hashable_constant) {
    EXPECT_EQ(refusal<Key>("[1]"),
              "TypeError: expected a hashable constant, found [1] (list)");
    EXPECT_EQ(refusal<Key>("([],)"),
              "TypeError: expected a hashable constant, found ([],) (tuple)");
    EXPECT_EQ(read<Key>("(1, 'a')").hash, PyObject_Hash(names.eval("(1, 'a')").get()));
}

TEST_F(OperandTest, the_name_of_an_attribute_is_a_str) {
    EXPECT_EQ(refusal<HashedName>("1.5"),
              "TypeError: expected a name (str), found 1.5 (float)");
    EXPECT_EQ(read<HashedName>("'a'").hash, PyObject_Hash(names.eval("'a'").get()));
}

TEST_F(OperandTest, a_refusal_survives_a_repr_that_raises) {
    names.run("class R:\n  def __repr__(self): raise KeyboardInterrupt");
    EXPECT_EQ(refusal<TypeIdentity>("R()"),
              "TypeError: expected a type, found <R object, its repr raises> (R)");
    EXPECT_EQ(PyErr_CheckSignals(), -1) << "the interrupt was lost";
    EXPECT_EQ(taken_error_text(), "KeyboardInterrupt: ");
}

TEST_F(OperandTest, a_long_repr_is_cut) {
    EXPECT_EQ(short_repr(names.eval("'x' * 500").get()).size(), 120u);
    EXPECT_EQ(short_repr(names.eval("'x' * 118").get()).size(), 120u);
}

TEST_F(OperandTest, a_repr_leaves_a_pending_exception_pending) {
    PyErr_SetString(PyExc_ValueError, "pending");
    EXPECT_EQ(short_repr(Py_None), "None");
    EXPECT_EQ(taken_error_text(), "ValueError: pending");
}

TEST_F(OperandTest, an_identity_does_not_keep_its_object_alive) {
    names.run("import weakref\nclass C: pass\nc = C()\nw = weakref.ref(c)");
    const auto identity = read<Identity>("c");
    EXPECT_TRUE(identity.is(names.eval("c").get()));
    EXPECT_FALSE(identity.is_dead());
    names.run("del c");
    EXPECT_TRUE(names.is_true("w() is None"));
    EXPECT_TRUE(identity.is_dead());
    EXPECT_EQ(text_of(identity), "<an object that has died>");
    EXPECT_EQ(object_of(identity).get(), Py_None);
}

TEST_F(OperandTest, a_dead_identity_matches_no_new_object_at_its_address) {
    names.run("class C: pass\nc = C()\nother = C()");
    auto identity = read<Identity>("c");
    names.run("del c");
    ASSERT_TRUE(identity.is_dead());
    // The allocator gives the address to another object.
    identity.object = names.eval("other").get();
    EXPECT_FALSE(identity.is(identity.object));
    EXPECT_TRUE(identity.is_dead());
    EXPECT_FALSE(identity.is(Py_None));
}

TEST_F(OperandTest, an_identity_keeps_alive_what_has_no_weak_references) {
    names.run("t = tuple([object()])");
    const Owned<> held = names.eval("t");
    const Py_ssize_t before = Py_REFCNT(held.get());
    const auto identity = read<Identity>("t");
    EXPECT_EQ(Py_REFCNT(held.get()), before + 1);
    EXPECT_FALSE(identity.is_dead());
    keep.clear();
    EXPECT_EQ(Py_REFCNT(held.get()), before);
}

TEST_F(OperandTest, types_print_by_qualified_name) {
    EXPECT_EQ(text_of(read<TypeIdentity>("int")), "int");
    EXPECT_EQ(text_of(read<TypeIdentity>("__import__('decimal').Decimal")),
              "decimal.Decimal");
}

TEST_F(OperandTest, keys_that_python_calls_equal_are_not_the_same_operand) {
    EXPECT_TRUE(same(read<Key>("1"), read<Key>("1")));
    EXPECT_FALSE(same(read<Key>("1"), read<Key>("True")));
    EXPECT_FALSE(same(read<Key>("1"), read<Key>("1.0")));
    EXPECT_EQ(hash_of(read<Key>("(1, 2)")), hash_of(read<Key>("(1, 2)")));
}

TEST_F(OperandTest, equal_names_are_one_object) {
    EXPECT_EQ(read<Name>("'a' + 'bcd'").value, read<Name>("'ab' + 'cd'").value);
}

TEST_F(OperandTest, a_constants_text_evaluates_to_the_constant) {
    names.load_oracle();
    for (const char* text : {"None",
                             "...",
                             "True",
                             "2**70",
                             "-1",
                             "10**5000",
                             "0.1",
                             "-0.0",
                             "1e300",
                             "float('inf')",
                             "-float('inf')",
                             "float('nan')",
                             "-float('nan')",
                             "nan_of_bits(0x7ff8000000000123)",
                             "1j",
                             "-1j",
                             "0j",
                             "complex(-0.0, 1)",
                             "complex(0, -1)",
                             "complex(1, -0.0)",
                             "complex(-0.0, -0.0)",
                             "complex(-1.5, 2)",
                             "complex(float('nan'), float('-inf'))",
                             "'a'",
                             "''",
                             "'quote \\' \\x22'",
                             "'\\n\\x00\\x7f '",
                             "'\\xe9\\u20ac\\U0001f600'",
                             "'\\ud800'",
                             "b'\\xff\\x00'",
                             "'x' * 500",
                             "()",
                             "(1,)",
                             "(True, (1.0,))",
                             "[]",
                             "[nan, [-0.0]]",
                             "{}",
                             "{1: 'a', 'b': {2: ()}}",
                             "set()",
                             "{1}",
                             "frozenset()",
                             "frozenset({frozenset({1}), 'a'})",
                             "list(range(200))",
                             "{complex(-0.0, 1): -nan}"}) {
        const auto constant = read<Constant>(text);
        const Owned<> back = names.eval(text_of(constant));
        EXPECT_TRUE(same_constant(back.get(), constant.value))
            << text << " prints as " << text_of(constant);
    }
}

TEST_F(OperandTest, functions_and_builtins_print_by_the_name_they_are_reached_by) {
    names.run("def f(): pass\nclass C:\n  def m(self): pass\nbound = C().m");
    EXPECT_EQ(text_of(read<Identity>("len")), "len");
    EXPECT_EQ(text_of(read<Identity>("f")), "f");
    EXPECT_EQ(text_of(read<Identity>("C.m")), "C.m");
    EXPECT_EQ(text_of(read<Identity>("__import__('math').sin")), "math.sin");
    EXPECT_EQ(text_of(read<Identity>("type(None)")), "NoneType");
    EXPECT_EQ(text_of(read<Callable>("print")), "print");
    // Their names lead elsewhere.
    EXPECT_EQ(text_of(read<Identity>("bound")).substr(0, 14), "<bound method ");
    EXPECT_EQ(text_of(read<Callable>("[].append")).substr(0, 16), "<built-in method");
}

TEST_F(OperandTest, constants_in_order_are_a_tuple_and_in_any_order_a_set) {
    EXPECT_EQ(text_of(read<Constants>("(1, [2])")), "(1, [2])");
    EXPECT_EQ(refusal<Constants>("[1]"),
              "TypeError: expected a tuple of constants, found [1] (list)");
    EXPECT_EQ(refusal<Constants>("(object,)").substr(0, 31),
              "TypeError: expected a constant ");
    EXPECT_TRUE(
        same(read<ConstantSet>("{1, 2}"), read<ConstantSet>("frozenset({2, 1})")));
    EXPECT_FALSE(same(read<ConstantSet>("{1}"), read<ConstantSet>("{True}")));
    EXPECT_EQ(
        refusal<ConstantSet>("(1,)"),
        "TypeError: expected a set or frozenset of constants, found (1,) (tuple)");
}

TEST_F(OperandTest, numbers_are_bounded) {
    EXPECT_EQ(read<Int>("-2**63").value, INT64_MIN);
    EXPECT_EQ(refusal<Int>("2**63").substr(0, 13), "OverflowError");
    EXPECT_EQ(refusal<Int>("True"), "TypeError: expected an int, found True (bool)");
    EXPECT_EQ(refusal<Divisor>("0"),
              "ValueError: expected a 64-bit int other than 0, found 0");
    EXPECT_EQ(refusal<Sign>("2"), "ValueError: expected -1, 0 or 1, found 2");
}

TEST_F(OperandTest, a_range_must_have_the_fast_iterator) {
    EXPECT_EQ(
        refusal<RangeOperand>("range(2**70)"),
        "OverflowError: expected a range of numbers that fit a machine word, found "
        "range(0, 1180591620717411303424)");
    EXPECT_EQ(refusal<RangeOperand>("iter(range(3))").substr(0, 24),
              "TypeError: expected a ra");
    EXPECT_TRUE(same(read<RangeOperand>("range(0, 3, 2)"),
                     read<RangeOperand>("range(0, 4, 2)")));
}

}  // namespace
}  // namespace guardtree::tests
