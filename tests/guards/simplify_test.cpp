// Simplified trees: the same answers, and what is said to be gone is gone.
// SPDX-License-Identifier: MIT
#include "../../guards/tree/simplify.h"

#include <gtest/gtest.h>

#include "../support/random_tree.h"

namespace guardtree::tests {
namespace {

class Simplify : public Oracle {
protected:
    /// The tree's lines after the first.
    static std::string said(const Tree& tree) {
        const std::string text = tree.text();
        return text.substr(text.find('\n') + 1);
    }

    Simplification found;
};

TEST_F(Simplify, an_exact_value_implies_what_it_is) {
    Guards guards(names);
    const NodeId x = guards.node({"local('x')"});
    for (const char* check :
         {"type_match(int)", "equals(3)", "int_range(0, 9)", "is_not_none()",
          "not_(('is_none',))", "any_of((('int_sign', 1), ('is_true',)))",
          "instance_of(object)", "one_of((3, 4))"}) {
        guards.check(x, check);
    }
    const Tree made = simplified(guards.tree, found);
    EXPECT_EQ(said(made), "  local('x')\n    - equals(3): same_constant(x, 3)\n");
    EXPECT_EQ(found.removed.size(), 7u);
    EXPECT_EQ(found.removed[0], "x is not None: follows from type(x) is int");
    EXPECT_NE(std::ranges::find(found.removed,
                                "type(x) is int: follows from same_constant(x, 3)"),
              found.removed.end());
    EXPECT_TRUE(found.contradictions.empty());
}

TEST_F(Simplify, identities_and_orders_are_not_values) {
    Guards guards(names);
    const NodeId x = guards.node({"local('x')"});
    for (const char* check :
         {"equals({'a': 1, 'b': 2})", "dict_keys(('a', 'b'))", "id_match_held('a')"}) {
        guards.check(x, check);
    }
    EXPECT_EQ(simplified(guards.tree, found).check_count(), 3u);
    EXPECT_TRUE(found.removed.empty());
}

TEST_F(Simplify, what_user_code_stands_before_stays) {
    Guards guards(names);
    const NodeId x = guards.node({"local('x')"});
    for (const char* check : {"type_match(int)", "python(raises)", "equals(3)"}) {
        guards.check(x, check);
    }
    // On 'a' the type fails; without it the callable would raise.
    EXPECT_EQ(simplified(guards.tree, found).check_count(), 3u);
}

TEST_F(Simplify, ranges_are_joined) {
    Guards guards(names);
    const NodeId x = guards.node({"local('x')"});
    for (const char* check : {"int_range(0, 9)", "int_range(5, 20)",
                              "int_range(-5, 30)", "type_match(int)"}) {
        guards.check(x, check);
    }
    const Tree made = simplified(guards.tree, found);
    EXPECT_EQ(said(made),
              "  local('x')\n    - int_range(5, 9): type(x) is int and 5 <= x <= 9\n");
}

TEST_F(Simplify, contradictions_are_told_and_stay) {
    Guards guards(names);
    const NodeId x = guards.node({"local('x')"});
    for (const char* check : {"type_match(str)", "equals(3)", "length(2)", "length(3)"})
        guards.check(x, check);
    guards.relate("distinct_objects()", {{"local('x')"}, {"local('x')"}});
    const Tree made = simplified(guards.tree, found);
    EXPECT_EQ(made.check_count(), 4u);
    EXPECT_EQ(found.contradictions.size(), 5u);
    EXPECT_NE(std::ranges::find(found.contradictions,
                                "same_constant(x, 3) and type(x) is str exclude each "
                                "other"),
              found.contradictions.end());
}

TEST_F(Simplify, relations_that_hold_go) {
    Guards guards(names);
    guards.relate("same_object()", {{"local('x')"}, {"local('x')"}});
    guards.guard({"local('y')", "equals(3)"});
    guards.relate("integers('a * 2 == 6')", {{"local('y')"}});
    guards.relate("integers('a < b')", {{"local('y')"}, {"local('x')"}});
    guards.relate("integers('a < b')", {{"local('y')"}, {"local('x')"}});
    const Tree made = simplified(guards.tree, found);
    EXPECT_EQ(made.relations().size(), 1u);
    EXPECT_EQ(made.node_count(), 3u) << "a value that is absent still fails";
    EXPECT_EQ(found.removed.size(), 3u);
}

TEST_F(Simplify, a_shape_has_a_rank) {
    if (!can_run("numpy")) GTEST_SKIP() << "no NumPy";
    Guards guards(names);
    const NodeId x = guards.node({"local('x')"});
    guards.check(x, "tensor_match(TensorSpec(ndim=2, dtype='float32'))");
    guards.check(x, "tensor_match(TensorSpec(dtype='float32', shape=(2, None)))");
    EXPECT_EQ(simplified(guards.tree, found).check_count(), 1u);
}

TEST_F(Simplify, notes_stay) {
    Guards guards(names);
    guards.guard({"local('x')", "is_none()"});
    guards.tree.annotate_check(0, Owned<>::share(Py_True));
    const Tree made = simplified(guards.tree, found);
    EXPECT_EQ(made.note(made.check_at(0).note), Py_True);
}

TEST_F(Simplify, random_trees_give_the_same_answers) {
    const auto seed =
        static_cast<unsigned>(setting("GUARDTREE_TEST_SEED", std::random_device()()));
    const unsigned long cases = setting("GUARDTREE_TEST_CASES", 6000) / 10;
    std::printf("GUARDTREE_TEST_SEED=%u repeats these %lu trees\n", seed, cases);
    std::mt19937 random(seed);
    std::uniform_int_distribution<Py_ssize_t> any(0, value_count - 1);
    for (unsigned long done = 0; done < cases; ++done) {
        Guards guards(names);
        const RandomTree tree(guards, random);
        Guards others(names);
        others.tree = simplified(guards.tree, found);
        for (int i = 0; i < 3; ++i) {
            const Owned<> chosen =
                locals({value(any(random)), value(any(random)), value(any(random))});
            ASSERT_EQ(text(guards.verdict(chosen.get())),
                      text(others.verdict(chosen.get())))
                << guards.tree.text() << others.tree.text();
        }
    }
    EXPECT_FALSE(found.removed.empty());
}

}  // namespace
}  // namespace guardtree::tests
