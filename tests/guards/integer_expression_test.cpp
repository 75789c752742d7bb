// Integer expressions: parsing, 64-bit arithmetic, refusals.
// SPDX-License-Identifier: MIT
#include "../../guards/integers/expression.h"

#include <gtest/gtest.h>

#include "../support/interpreter.h"
#include "../support/python.h"

namespace guardtree::tests {
namespace {

class IntegerExpressionTest : public Interpreter {
protected:
    static std::string refusal(const std::string& text) {
        IntegerExpression expression;
        std::string problem;
        return IntegerExpression::parse(text, expression, problem) ? "accepted"
                                                                   : problem;
    }

    /// The expression over the items of a tuple.
    bool holds(const std::string& text, const std::string& values) {
        IntegerExpression expression;
        std::string problem;
        EXPECT_TRUE(IntegerExpression::parse(text, expression, problem)) << problem;
        const Owned<> tuple = names.eval(values);
        return expression.holds({&PyTuple_GET_ITEM(tuple.get(), 0),
                                 static_cast<size_t>(PyTuple_GET_SIZE(tuple.get()))});
    }

    Namespace names;
};

TEST_F(IntegerExpressionTest, follows_the_precedences_of_python) {
    EXPECT_TRUE(holds("x + 2 * 3 == 7", "(1,)"));
    EXPECT_TRUE(holds("(x + 2) * 3 == 9", "(1,)"));
    EXPECT_TRUE(holds("-x % 5 == 2", "(3,)"));
    EXPECT_TRUE(holds("not x == 1 or x == 1", "(1,)"));
    EXPECT_TRUE(holds("x == 1 or x == 2 and x == 3", "(1,)"));
    EXPECT_TRUE(holds("10 - x - 2 == 5", "(3,)"));
    EXPECT_TRUE(holds("100 // x // 5 == 2", "(10,)"));
    EXPECT_TRUE(holds("1 < x < y < 9", "(3, 4)"));
    EXPECT_FALSE(holds("1 < x < y < 9", "(4, 3)"));
}

TEST_F(IntegerExpressionTest, reads_signed_numbers) {
    EXPECT_TRUE(holds("a == -5 and a == ---5 and -5 == a", "(-5,)"));
    EXPECT_TRUE(holds("-2 < a < +2 and -a == - 1", "(1,)"));
    EXPECT_TRUE(holds("-7 // a == -4 and -7 % a == 1", "(2,)"));
    EXPECT_TRUE(holds("a == -9223372036854775807 - 1", "(-2**63,)"));
    EXPECT_FALSE(holds("-(-9223372036854775807 - 1) != a", "(1,)"));
}

TEST_F(IntegerExpressionTest, divides_towards_minus_infinity) {
    EXPECT_TRUE(holds("a // b == -3 and a % b == 1", "(-5, 2)"));
    EXPECT_TRUE(holds("a // b == -3 and a % b == -1", "(5, -2)"));
    EXPECT_TRUE(holds("a // b == 2 and a % b == -1", "(-5, -2)"));
    EXPECT_TRUE(holds("7 // a == -4 and 7 % a == -1", "(-2,)"));
}

TEST_F(IntegerExpressionTest, fails_on_overflow_and_division_by_zero) {
    EXPECT_FALSE(holds("a * b != 0", "(2**40, 2**40)"));
    EXPECT_FALSE(holds("a + 1 != 0", "(2**63 - 1,)"));
    EXPECT_FALSE(holds("-a != 0", "(-2**63,)"));
    EXPECT_FALSE(holds("a // b != 0", "(-2**63, -1)"));
    EXPECT_FALSE(holds("a % b == 0", "(1, 0)"));
    EXPECT_FALSE(holds("a == a", "(2**63,)"));
    EXPECT_TRUE(holds("a == a", "(-2**63,)"));
}

TEST_F(IntegerExpressionTest, reads_exact_ints_and_lengths_only) {
    EXPECT_FALSE(holds("a == 1", "(True,)"));
    EXPECT_FALSE(holds("a == 1", "(1.0,)"));
    EXPECT_FALSE(holds("a == 1", "(type('I', (int,), {})(1),)"));
    EXPECT_TRUE(holds("len(a) == 3", "([1, 2, 3],)"));
    EXPECT_FALSE(holds("len(a) == 3", "(3,)"));
}

TEST_F(IntegerExpressionTest, names_come_in_the_order_of_their_appearance) {
    IntegerExpression expression;
    std::string problem;
    ASSERT_TRUE(IntegerExpression::parse("b<=len( a )and b!=c", expression, problem));
    EXPECT_EQ(expression.names(), (std::vector<std::string>{"b", "a", "c"}));
    EXPECT_EQ(expression.source(), "b <= len(a) and b != c");
    const std::vector<std::string> paths = {"x.n", "y", "z[0]"};
    EXPECT_EQ(expression.text(paths),
              "int64(x.n) <= int64(builtin_len(y)) and int64(x.n) != int64(z[0])");
}

TEST_F(IntegerExpressionTest, says_where_a_text_is_wrong) {
    EXPECT_EQ(refusal("a +"),
              "column 4: expected a number, a name, len(name), name.shape[0], "
              "stride_of(name, 0), name.ndim or '(', found the end");
    EXPECT_EQ(refusal("stride_of(a) == 1"), "column 12: expected ',', found ')'");
    EXPECT_EQ(refusal("stride_of(a, b) == 1"),
              "column 14: expected a dimension, as a number, found 'b'");
    EXPECT_EQ(refusal("stride_of(a, 0 == 1"), "column 16: expected ')', found '=='");
    EXPECT_EQ(refusal("stride_of(1, 0) == 1"), "column 11: expected a name, found '1'");
    EXPECT_EQ(refusal("len(2x) == 1"), "column 5: expected a name, found '2x'");
    EXPECT_EQ(refusal("a == b c"),
              "column 8: expected an operator or the end, found 'c'");
    EXPECT_EQ(refusal("(a == b"), "column 8: expected ')', found the end");
    EXPECT_EQ(refusal("a == 99999999999999999999"),
              "column 6: expected a number that fits in 64 bits, found "
              "'99999999999999999999'");
    EXPECT_EQ(refusal("a == 0x10"),
              "column 6: expected a decimal number, found '0x10'");
    EXPECT_EQ(refusal("a / b == 1"),
              "column 3: expected an operator or the end, found '/'");
    EXPECT_NE(refusal("a").find("compare it"), std::string::npos);
    EXPECT_NE(refusal("(a == b) + 1 == 2").find("used as a number"), std::string::npos);
    EXPECT_NE(refusal("not a").find("compare it"), std::string::npos);
    EXPECT_NE(refusal("1 == 1").find("0 names"), std::string::npos);
    EXPECT_NE(refusal(""), "accepted");
    EXPECT_NE(refusal(std::string(1000, '(') + "a"), "accepted");
    std::string deep = "a";
    for (int i = 0; i < 40; ++i) deep = "a * a - (" + deep + ")";
    EXPECT_EQ(refusal(deep + " == 1"), "it is nested too deeply");
    std::string many = "a";
    for (int i = 0; i < 4096; ++i) many += " + a";
    EXPECT_EQ(refusal(many + " == 1").substr(0, 47),
              "column 8195: expected a shorter expression, fou");
}

}  // namespace
}  // namespace guardtree::tests
