// Trees: interning of paths and checks, where steps and checks may stand, texts.
// SPDX-License-Identifier: MIT
#include "../../guards/tree/tree.h"

#include <gtest/gtest.h>

#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

class TreeTest : public Interpreter {
protected:
    std::string refused(Guards::Path path) {
        try {
            guards.guard(path);
        } catch (const PythonError& error) {
            return error.what();
        }
        return "accepted";
    }

    static size_t checks_of(const Tree& tree, NodeId node) {
        size_t count = 0;
        tree.each_check(node, [&](CheckId) { ++count; });
        return count;
    }

    Namespace names;
    Guards guards{names};
};

TEST_F(TreeTest, the_same_path_is_the_same_node) {
    const NodeId first = guards.node({"local('x')", "attr('a')", "list_item(0)"});
    EXPECT_EQ(guards.node({"local('x')", "attr('a')", "list_item(0)"}), first);
    EXPECT_EQ(guards.tree.node_count(), 4u);
}

TEST_F(TreeTest, steps_that_differ_in_anything_are_different_nodes) {
    std::vector<NodeId> all;
    for (const char* step :
         {"attr('x')", "item('x')", "dict_item('x')", "item(1)", "item(True)",
          "item(1.0)", "list_item(1)", "tuple_item(1)", "type()"}) {
        all.push_back(guards.node({"local('x')", step}));
    }
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
    EXPECT_NE(guards.node({"local('x')"}), guards.node({"global('x')"}));
    EXPECT_NE(guards.node({"local('x')", "attr('a')"}),
              guards.node({"local('y')", "attr('a')"}));
}

TEST_F(TreeTest, equal_checks_are_kept_once) {
    for (int i = 0; i < 3; ++i) {
        guards.guard({"local('x')", "equals([1])"});
        guards.guard({"local('x')", "is_not_none()"});
    }
    guards.guard({"local('x')", "equals([True])"});
    EXPECT_EQ(checks_of(guards.tree, 1), 3u);
}

TEST_F(TreeTest, a_path_begins_with_a_root) {
    EXPECT_EQ(refused({"attr('a')", "is_none()"}),
              "attr needs a value to start from; begin with builtin, closure, "
              "context_var, f_locals, global, local or module");
    EXPECT_EQ(refused({"local('x')", "global('y')", "is_none()"}),
              "global starts a path; call it on the root of the tree");
    EXPECT_EQ(guards.tree.node_count(), 2u);
}

TEST_F(TreeTest, the_root_itself_is_no_value_to_check) {
    EXPECT_EQ(refused({"is_none()"}),
              "is_none checks a value; begin with builtin, closure, context_var, "
              "f_locals, global, local or module");
}

TEST_F(TreeTest, prints_paths_and_checks_as_python) {
    guards.guard({"local('x')", "type_match(dict)"});
    guards.guard({"local('x')", "dict_item('k')", "attr('a')", "equals(2)"});
    guards.guard({"global('g')", "is_none()"});
    EXPECT_EQ(guards.tree.text(),
              "guard tree\n"
              "  local('x')\n"
              "    - type_match(dict): type(x) is dict\n"
              "    dict_item('k')\n"
              "      attr('a')\n"
              "        - equals(2): same_constant(dict_item(x, 'k').a, 2)\n"
              "  global('g')\n"
              "    - is_none(): G['g'] is None\n");
}

TEST_F(TreeTest, a_copy_is_a_snapshot) {
    guards.guard({"local('x')", "is_none()"});
    const Tree copy = guards.tree;
    guards.guard({"local('y')", "is_none()"});
    guards.guard({"local('x')", "is_not_none()"});
    EXPECT_EQ(copy.node_count(), 2u);
    EXPECT_EQ(checks_of(copy, 1), 1u);
}

TEST_F(TreeTest, owns_what_its_ops_refer_to_until_it_is_cleared) {
    names.run(
        "class P:\n  def __call__(self, value): return True\n"
        "import weakref\np = P()\nw = weakref.ref(p)");
    guards.guard({"local('x')", "python(p)"});
    names.run("del p");
    EXPECT_TRUE(names.is_true("w() is not None"));
    guards.tree.clear();
    EXPECT_TRUE(names.is_true("w() is None"));
    EXPECT_EQ(guards.tree.node_count(), 1u);
    EXPECT_EQ(guards.node({"local('x')"}), 1u);
}

TEST_F(TreeTest, deep_paths_are_printed_and_compiled) {
    NodeId node = guards.node({"local('x')"});
    const Op step = guards.op("list_item(0)");
    for (int i = 0; i < 2000; ++i) {
        Diagnostic problem;
        ASSERT_TRUE(guards.tree.child(node, step, node, problem));
    }
    guards.check(node, "is_none()");
    EXPECT_EQ(guards.program().ops().size(), 2001u);
    EXPECT_GT(guards.tree.path_text(node).size(), size_t{2000});
}

}  // namespace
}  // namespace guardtree::tests
