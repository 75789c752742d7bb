// Ops: their texts, their equality and hashes, what dies with their operands.
// SPDX-License-Identifier: MIT
#include "../../guards/ops/op.h"

#include <gtest/gtest.h>

#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

class OpTest : public Interpreter {
protected:
    Namespace names;
    Guards guards{names};
};

TEST_F(OpTest, prints_as_the_call_that_makes_it) {
    for (const char* call : {"type_match(int)", "is_none()", "equals((1, 'a'))",
                             "attr('a')", "item('a')", "list_item(-1)", "length(2)"}) {
        EXPECT_EQ(call_text(guards.op(call)), call);
    }
}

TEST_F(OpTest, prints_as_python_over_a_path) {
    EXPECT_EQ(python_text(guards.op("type_match(int)"), "x.a"), "type(x.a) is int");
    EXPECT_EQ(python_text(guards.op("attr('value')"), "x"), "x.value");
    EXPECT_EQ(python_text(guards.op("item('name')"), "value"), "value['name']");
    EXPECT_EQ(python_text(guards.op("global('x')"), ""), "G['x']");
    EXPECT_EQ(python_text(guards.op("list_item(-1)"), "x"), "list.__getitem__(x, -1)");
}

TEST_F(OpTest, names_that_are_no_attribute_names_are_quoted) {
    EXPECT_EQ(python_text(guards.op("attr('class')"), "x"), "getattr(x, 'class')");
    EXPECT_EQ(python_text(guards.op("attr('a b')"), "x"), "getattr(x, 'a b')");
    EXPECT_EQ(python_text(guards.op("attr('\\ud800')"), "x"), "getattr(x, '\\ud800')");
    EXPECT_EQ(python_text(guards.op("local('.0')"), ""), "L['.0']");
    EXPECT_EQ(call_text(guards.op("attr('\\ud800')")), "attr('\\ud800')");
}

TEST_F(OpTest, an_operand_called_like_another_word_is_not_substituted_twice) {
    EXPECT_EQ(python_text(guards.op("item('value')"), "key"), "key['value']");
    EXPECT_EQ(python_text(guards.op("equals('value expected')"), "expected"),
              "same_constant(expected, 'value expected')");
}

TEST_F(OpTest, ops_are_the_same_by_code_and_operands) {
    const auto same = [&](const char* a, const char* b) {
        const Op first = guards.op(a);
        const Op second = guards.op(b);
        if (same_op(first, second)) {
            EXPECT_EQ(hash_op(first), hash_op(second)) << a << " and " << b;
        }
        return same_op(first, second);
    };
    EXPECT_TRUE(same("attr('a')", "attr('a')"));
    EXPECT_FALSE(same("attr('a')", "item('a')"));
    EXPECT_FALSE(same("item('a')", "dict_item('a')"));
    EXPECT_FALSE(same("list_item(0)", "tuple_item(0)"));
    EXPECT_FALSE(same("item(1)", "item(True)"));
    EXPECT_TRUE(same("equals([1, {2}])", "equals([1, {2}])"));
    EXPECT_FALSE(same("equals(1)", "equals(1.0)"));
    EXPECT_FALSE(same("equals(0.0)", "equals(-0.0)"));
    EXPECT_TRUE(same("type_match(int)", "type_match(int)"));
    EXPECT_FALSE(same("type_match(int)", "id_match(int)"));
    EXPECT_FALSE(same("is_true()", "is_false()"));
}

TEST_F(OpTest, an_op_dies_with_the_object_it_compares_with) {
    names.run("class C: pass\nc = C()");
    const Op id_match = guards.op("id_match(c)");
    const Op type_match = guards.op("type_match(C)");
    EXPECT_TRUE(is_alive(id_match) && is_alive(type_match));
    names.run("del c");
    EXPECT_FALSE(is_alive(id_match));
    EXPECT_TRUE(is_alive(type_match));
    names.run("del C; import gc; gc.collect()");
    EXPECT_FALSE(is_alive(type_match));
}

TEST_F(OpTest, reading_a_slot_keeps_the_code) {
    Op op = guards.op("is_none()");
    op.read_local(7);
    EXPECT_TRUE(op.is_from_local());
    EXPECT_EQ(op.source, 7);
    EXPECT_EQ(op.code(), OpCode::IsNone);
    EXPECT_TRUE(op.is_kind());
    EXPECT_FALSE(guards.op("type()").is_kind());
}

TEST_F(OpTest, a_refused_operand_is_named) {
    try {
        guards.op("type_match(3)");
        FAIL() << "accepted";
    } catch (const PythonError& error) {
        EXPECT_STREQ(error.what(),
                     "type_match(expected): expected a type, found 3 (int)");
    }
}

}  // namespace
}  // namespace guardtree::tests
