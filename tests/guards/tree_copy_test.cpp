// Copies of trees: what is kept, in which order, and that the original stays.
// SPDX-License-Identifier: MIT
#include "../../guards/tree/copy.h"

#include <gtest/gtest.h>

#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

class TreeCopy : public Interpreter {
protected:
    void SetUp() override { names.run("def ask(value): return value\n"); }

    Namespace names;
    Guards guards{names};
};

TEST_F(TreeCopy, of_everything_prints_the_same) {
    guards.guard({"local('x')", "attr('a')", "is_true()"});
    guards.guard({"local('x')", "type_match(int)"});
    guards.guard({"local('y')", "python(ask)"});
    guards.relate("same_object()", {{"local('x')"}, {"local('y')"}});
    EXPECT_EQ(copy_of(guards.tree, nullptr).text(), guards.tree.text());
}

TEST_F(TreeCopy, leaves_paths_without_checks_out) {
    guards.guard({"local('x')", "attr('a')", "is_true()"});
    guards.node({"local('x')", "attr('b')"});
    guards.guard({"local('y')", "is_none()"});
    const KeptGuards kept{{true, false}, {}};
    const Tree copy = copy_of(guards.tree, &kept);
    EXPECT_EQ(copy.text(),
              "guard tree\n  local('x')\n    attr('a')\n"
              "      - is_true(): x.a is True\n");
    EXPECT_EQ(copy.node_count(), 3u);
    EXPECT_EQ(guards.tree.node_count(), 5u);
}

TEST_F(TreeCopy, keeps_the_paths_of_its_relations) {
    guards.guard({"local('x')", "is_true()"});
    guards.relate("same_object()", {{"local('x')", "attr('a')"}, {"local('y')"}});
    guards.relate("distinct_objects()", {{"local('z')"}, {"local('y')"}});
    const KeptGuards kept{{false}, {true, false}};
    const Tree copy = copy_of(guards.tree, &kept);
    EXPECT_EQ(copy.check_count(), 0u);
    ASSERT_EQ(copy.relations().size(), 1u);
    EXPECT_EQ(copy.relation_text(0), "x.a is y");
}

TEST_F(TreeCopy, keeps_notes) {
    guards.guard({"local('x')", "is_true()"});
    guards.guard({"local('x')", "is_none()"});
    guards.tree.annotate_check(1, names.eval("'said'"));
    const KeptGuards kept{{false, true}, {}};
    const Tree copy = copy_of(guards.tree, &kept);
    ASSERT_EQ(copy.check_count(), 1u);
    EXPECT_EQ(text_of_str(copy.note(copy.check_at(0).note)), "said");
}

TEST_F(TreeCopy, lays_out_what_failed_more_often_first) {
    guards.guard({"local('x')", "type_match(int)"});
    guards.guard({"local('x')", "equals(1)"});
    guards.guard({"local('y')", "is_true()"});
    const FailureCounts counts{{}, {0, 1, 5}};
    EXPECT_EQ(copy_of(guards.tree, nullptr, &counts).text(),
              "guard tree\n  local('y')\n    - is_true(): y is True\n  local('x')\n"
              "    - equals(1): same_constant(x, 1)\n"
              "    - type_match(int): type(x) is int\n");
}

TEST_F(TreeCopy, moves_nothing_across_user_code) {
    guards.guard({"local('x')", "type_match(int)"});
    guards.guard({"local('y')", "python(ask)"});
    guards.guard({"local('z')", "is_true()"});
    const FailureCounts counts{{}, {0, 1, 5}};
    EXPECT_EQ(copy_of(guards.tree, nullptr, &counts).text(), guards.tree.text());
}

TEST_F(TreeCopy, compiles_to_the_program_that_the_counts_give) {
    guards.guard({"local('x')", "list_item(0)", "is_true()"});
    guards.guard({"local('x')", "list_item(1)", "equals(3)"});
    guards.guard({"local('y')", "is_none()"});
    const FailureCounts counts{{}, {0, 4, 2}};
    Program by_counts;
    Program by_copy;
    Diagnostic problem;
    const Tree copy = copy_of(guards.tree, nullptr, &counts);
    ASSERT_TRUE(
        Program::compile(guards.tree, guards.code(), by_counts, problem, &counts));
    ASSERT_TRUE(Program::compile(copy, guards.code(), by_copy, problem));
    ASSERT_EQ(by_counts.ops().size(), by_copy.ops().size());
    for (size_t i = 0; i < by_copy.ops().size(); ++i) {
        EXPECT_EQ(by_counts.claim_text(i), by_copy.claim_text(i));
    }
}

TEST_F(TreeCopy, of_a_deep_tree_needs_no_deep_stack) {
    Diagnostic problem;
    NodeId node = guards.node({"local('x')"});
    const Op step = guards.op("list_item(0)");
    for (int depth = 0; depth < 100'000; ++depth) {
        ASSERT_TRUE(guards.tree.child(node, step, node, problem));
    }
    guards.check(node, "is_none()");
    EXPECT_EQ(copy_of(guards.tree, nullptr).node_count(), 100'002u);
}

}  // namespace
}  // namespace guardtree::tests
