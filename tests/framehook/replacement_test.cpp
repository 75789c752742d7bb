// Which code may replace which: what differs is said, in one sentence.
// SPDX-License-Identifier: MIT
#include "../../framehook/replacement.h"

#include <gtest/gtest.h>

#include "../support/interpreter.h"
#include "../support/python.h"

namespace guardtree::tests {
namespace {

class Replacement : public Interpreter {
protected:
    std::string problem(const std::string& original, const std::string& replacement) {
        return replacement_problem(names.code(original).get(),
                                   names.code(replacement).get());
    }

    Namespace names;
};

TEST_F(Replacement, code_with_the_same_signature_fits) {
    EXPECT_EQ(
        problem("def f(a, b=1, *c, d, **e): pass",
                "def f(a, b, *c, d=2, **e):\n  local = [a for x in b]\n  return e"),
        "");
    EXPECT_EQ(problem("def f(a): return a", "def f(a): return lambda: a"), "");
}

TEST_F(Replacement, argument_counts_are_said) {
    EXPECT_EQ(problem("def f(a): pass", "def f(a, b): pass"),
              "the arguments differ: expected 0 positional-only, 1 positional, 0 "
              "keyword-only, found 0 positional-only, 2 positional, 0 keyword-only");
    EXPECT_EQ(problem("def f(a, /): pass", "def f(a): pass"),
              "the arguments differ: expected 1 positional-only, 0 positional, 0 "
              "keyword-only, found 0 positional-only, 1 positional, 0 keyword-only");
    EXPECT_NE(problem("def f(a): pass", "def f(*, a): pass"), "");
}

TEST_F(Replacement, argument_names_are_said) {
    EXPECT_EQ(problem("def f(a, b): pass", "def f(b, a): pass"),
              "the argument names differ: expected ('a', 'b'), found ('b', 'a')");
    EXPECT_NE(problem("def f(*a): pass", "def f(*b): pass"), "");
}

TEST_F(Replacement, names_that_differ_late_in_a_long_signature_are_noticed) {
    std::string shared;
    for (int i = 0; i < 30; ++i)
        shared += "argument_number_" + std::to_string(i) + ", ";
    EXPECT_NE(
        problem("def f(" + shared + "a, b): pass", "def f(" + shared + "b, a): pass"),
        "");
}

TEST_F(Replacement, free_variables_that_differ_late_are_noticed) {
    std::string shared;
    for (int i = 0; i < 30; ++i)
        shared += "free_variable_no_" + std::to_string(i) + ", ";
    const auto closure = [&](const std::string& last) {
        return "def g(" + shared + "zz1=0, zz2=0):\n  def f(): return (" + shared +
               last + ")\n  return f\nf = g(*range(30))";
    };
    EXPECT_NE(problem(closure("zz1"), closure("zz2")), "");
}

TEST_F(Replacement, the_kind_of_code_is_said) {
    EXPECT_EQ(problem("def f(): pass", "def f(): yield"),
              "the kinds of code differ: expected a function, found a generator");
    EXPECT_EQ(problem("async def f(): pass", "async def f(): yield"),
              "the kinds of code differ: expected a coroutine, found an asynchronous "
              "generator");
    EXPECT_EQ(
        problem("def f(): pass", "def f(*a, **k): pass"),
        "the kinds of code differ: expected a function, found a function with *args "
        "with **kwargs");
    const Owned<PyCodeObject> function = names.code("def f(): pass");
    const Owned<> body = names.eval("compile('1', '<body>', 'exec')");
    EXPECT_EQ(
        replacement_problem(function.get(),
                            reinterpret_cast<PyCodeObject*>(body.get())),
        "the kinds of code differ: expected a function, found a module or class body");
}

TEST_F(Replacement, free_variables_must_be_the_same_or_none) {
    const auto closure = [](const char* result) {
        return std::string("def g(p=1, q=2):\n  def f(): return ") + result +
               "\n  return f\nf = g()";
    };
    EXPECT_EQ(problem(closure("p, q"), closure("q, p")), "");
    EXPECT_EQ(problem(closure("p, q"), "def f(): pass"), "");
    EXPECT_EQ(problem(closure("p, q"), closure("p")),
              "the free variables differ: expected ('p', 'q'), found ('p',)");
    EXPECT_EQ(problem("def f(): pass", closure("p")),
              "the free variables differ: expected (), found ('p',)");
}

}  // namespace
}  // namespace guardtree::tests
