// Explanations: the verdict of evaluate, every failing guard, sentences for people.
// SPDX-License-Identifier: MIT
#include "../../guards/run/explain.h"

#include <gtest/gtest.h>

#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

class Explain : public Interpreter {
protected:
    std::string said(const std::string& locals) {
        return guards.explained(locals).text();
    }

    Namespace names;
    Guards guards{names};
};

TEST_F(Explain, says_that_all_guards_pass) {
    guards.guard({"local('x')", "is_none()"});
    EXPECT_EQ(said("{'x': None}"), "all guards pass");
    EXPECT_EQ(guards.explained("{'x': None}").verdict, Verdict::pass);
}

TEST_F(Explain, says_path_expectation_and_what_was_found) {
    guards.guard({"local('x')", "attr('real')", "is_true()"});
    EXPECT_EQ(said("{'x': 3}"),
              "x.real: expected is_true(), that is `x.real is True`; found 3 (int)");
}

TEST_F(Explain, goes_on_after_a_failure) {
    guards.guard({"local('x')", "is_none()"}).guard({"local('x')", "type_match(str)"});
    guards.guard({"local('y')", "equals(2)"});
    const Explanation explanation = guards.explained("{'x': 3, 'y': 2.0}");
    ASSERT_EQ(explanation.failures.size(), 3u);
    EXPECT_EQ(explanation.failures[0].kind, "is_none");
    EXPECT_EQ(explanation.failures[1].kind, "type_match");
    EXPECT_EQ(explanation.failures[2].path, "y");
}

TEST_F(Explain, what_is_below_a_step_that_fetched_nothing_is_not_reported) {
    guards.guard({"local('x')", "attr('a')", "is_none()"});
    guards.guard({"local('x')", "attr('a')", "attr('b')", "is_none()"});
    guards.guard({"local('y')", "is_none()"});
    const Explanation explanation = guards.explained("{'x': 3, 'y': 0}");
    ASSERT_EQ(explanation.failures.size(), 2u);
    EXPECT_EQ(explanation.failures[0].text(),
              "x.a: expected attr('a'), that is `x.a`; not found on 3 (int)");
    EXPECT_EQ(explanation.failures[1].path, "y");
}

TEST_F(Explain, an_unbound_variable_is_reported_once) {
    guards.guard({"local('x')", "is_none()"}).guard({"local('x')", "type_match(int)"});
    const Explanation explanation = guards.explained("{}");
    ASSERT_EQ(explanation.failures.size(), 1u);
    EXPECT_NE(explanation.text().find("the variable is unbound"), std::string::npos);
}

TEST_F(Explain, a_missing_global_is_no_such_name) {
    guards.guard({"global('absent')", "is_none()"});
    EXPECT_EQ(said("{}"),
              "G['absent']: expected global('absent'), that is "
              "`G['absent']`; there is no such name");
}

TEST_F(Explain, names_the_value_that_a_borrowing_step_failed_on) {
    // Parent and child share a place in the walk's values.
    guards.guard({"local('x')", "list_item(0)", "list_item(0)", "is_none()"});
    const Explanation explanation = guards.explained("{'x': [5]}");
    ASSERT_EQ(explanation.failures.size(), 1u);
    EXPECT_EQ(explanation.failures[0].found, "5 (int)");
    Guards owned(names);
    owned.guard({"local('x')", "attr('real')", "list_item(0)", "is_none()"});
    EXPECT_EQ(owned.explained("{'x': 5}").failures[0].found, "5 (int)");
}

TEST_F(Explain, tells_the_exception_of_a_guard) {
    names.run("def divide(value): return 1 / value");
    guards.guard({"local('x')", "python(divide)"});
    const Explanation explanation = guards.explained("{'x': 0}");
    EXPECT_EQ(explanation.verdict, Verdict::error);
    ASSERT_EQ(explanation.failures.size(), 1u);
    EXPECT_EQ(explanation.failures[0].error, "ZeroDivisionError: division by zero");
    EXPECT_NE(explanation.text().find("it raised ZeroDivisionError"),
              std::string::npos);
}

TEST_F(Explain, answers_like_evaluate_when_an_error_follows_a_failure) {
    names.run("def divide(value): return 1 / value");
    guards.guard({"local('x')", "is_none()"}).guard({"local('y')", "python(divide)"});
    EXPECT_EQ(guards.verdict("{'x': 1, 'y': 0}"), Verdict::fail);
    const Explanation explanation = guards.explained("{'x': 1, 'y': 0}");
    EXPECT_EQ(explanation.verdict, Verdict::fail);
    EXPECT_EQ(explanation.failures.size(), 2u);
}

TEST_F(Explain, answers_like_evaluate_when_a_failure_follows_an_error) {
    names.run("def divide(value): return 1 / value");
    guards.guard({"local('x')", "python(divide)"}).guard({"local('y')", "is_none()"});
    EXPECT_EQ(guards.verdict("{'x': 0, 'y': 1}"), Verdict::error);
    EXPECT_EQ(guards.explained("{'x': 0, 'y': 1}").verdict, Verdict::error);
}

TEST_F(Explain, lets_an_interrupt_through) {
    names.run("def stop(value): raise KeyboardInterrupt");
    guards.guard({"local('x')", "python(stop)"});
    try {
        guards.explained("{'x': 1}");
        FAIL() << "the interrupt was lost";
    } catch (const PythonError& error) {
        EXPECT_STREQ(error.what(), "KeyboardInterrupt: ");
    }
}

TEST_F(Explain, survives_a_repr_that_raises) {
    names.run("class R:\n  def __repr__(self): raise ValueError");
    guards.guard({"local('x')", "is_none()"});
    EXPECT_NE(said("{'x': R()}").find("found <R object, its repr raises> (R)"),
              std::string::npos);
}

TEST_F(Explain, survives_an_exception_whose_str_raises) {
    names.run(
        "class E(Exception):\n  def __str__(self): raise ValueError\n"
        "def fails(value): raise E");
    guards.guard({"local('x')", "python(fails)"});
    EXPECT_EQ(guards.explained("{'x': 1}").failures[0].error, "E");
    EXPECT_FALSE(PyErr_Occurred());
}

}  // namespace
}  // namespace guardtree::tests
