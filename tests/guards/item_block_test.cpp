// Item blocks: where the compiler makes one, and that it answers as its ops do.
// SPDX-License-Identifier: MIT
#include "../../guards/ops/item_block.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

class ItemBlock : public Interpreter {
protected:
    /// The number of ops that each block speaks for.
    std::vector<uint32_t> blocks() {
        std::vector<uint32_t> sizes;
        for (const Op& op : guards.program().ops()) {
            if (op.code() == OpCode::ItemBlock) sizes.push_back(op.skip);
        }
        return sizes;
    }

    void add(const std::string& container, std::initializer_list<int> items) {
        for (const int item : items) {
            guards.guard({"local('x')",
                          container + "_item(" + std::to_string(item) + ")",
                          "type_match(int)"});
        }
    }

    Namespace names;
    Guards guards{names, "def f(x=0, y=0, z=0, *rest): pass"};
};

TEST_F(ItemBlock, is_made_for_runs_of_bare_type_matches) {
    add("list", {0, 2, 1});
    EXPECT_EQ(blocks(), (std::vector<uint32_t>{6}));
    EXPECT_EQ(guards.verdict("{'x': [1, 2, 3]}"), Verdict::pass);
    EXPECT_EQ(guards.verdict("{'x': [1, 2, '']}"), Verdict::fail);
    EXPECT_EQ(guards.verdict("{'x': [1, 2]}"), Verdict::fail);
    EXPECT_EQ(guards.verdict("{'x': (1, 2, 3)}"), Verdict::fail);
    EXPECT_EQ(guards.verdict("{}"), Verdict::fail);
    EXPECT_EQ(guards.verdict("{'x': type('L', (list,), {})([1, 2, 3])}"),
              Verdict::pass);
}

TEST_F(ItemBlock, of_a_fetched_tuple) {
    guards.guard({"local('y')", "list_item(0)", "tuple_item(0)", "type_match(int)"});
    guards.guard({"local('y')", "list_item(0)", "tuple_item(1)", "type_match(str)"});
    EXPECT_EQ(blocks(), (std::vector<uint32_t>{4}));
    EXPECT_EQ(guards.verdict("{'y': [(1, '')]}"), Verdict::pass);
    EXPECT_EQ(guards.verdict("{'y': [('', 1)]}"), Verdict::fail);
    EXPECT_EQ(guards.verdict("{'y': [(1,)]}"), Verdict::fail);
}

TEST_F(ItemBlock, of_locals_is_still_a_leaf_program) {
    guards.guard({"local('x')", "type_match(int)"});
    guards.guard({"local('y')", "type_match(str)"});
    guards.guard({"local('z')", "is_none()"});
    EXPECT_EQ(blocks(), (std::vector<uint32_t>{2}));
    EXPECT_TRUE(guards.program().is_leaf());
    EXPECT_EQ(guards.verdict("{'x': 1, 'y': '', 'z': None}"), Verdict::pass);
    EXPECT_EQ(guards.verdict("{'x': 1, 'y': 1, 'z': None}"), Verdict::fail);
    EXPECT_EQ(guards.verdict("{'x': 1, 'z': None}"), Verdict::fail);
}

TEST_F(ItemBlock, leaves_out_what_is_not_a_bare_type_match) {
    add("list", {0, 1, -1});
    guards.guard({"local('x')", "list_item(3)", "is_none()"});
    add("list", {4});
    guards.guard({"local('x')", "list_item(5)", "length(1)"});
    guards.guard({"local('x')", "list_item(5)", "type_match(str)"});
    add("tuple", {0});
    EXPECT_EQ(blocks(), (std::vector<uint32_t>{4}));
}

TEST_F(ItemBlock, is_not_made_over_what_a_relation_reads) {
    add("list", {0, 1, 2});
    guards.relate("same_object()", {{"local('x')", "list_item(1)"}, {"local('y')"}});
    EXPECT_EQ(blocks(), (std::vector<uint32_t>{}));
    EXPECT_EQ(guards.verdict("{'x': [1, 2, 3], 'y': 2}"), Verdict::pass);
    EXPECT_EQ(guards.verdict("{'x': [1, 2, 3], 'y': 3}"), Verdict::fail);
}

TEST_F(ItemBlock, that_fails_is_explained_item_by_item) {
    add("list", {0, 1, 2});
    const Explanation explanation = guards.explained("{'x': ['', 1, 2.0]}");
    ASSERT_EQ(explanation.failures.size(), 2u);
    EXPECT_EQ(explanation.failures[0].path, "list.__getitem__(x, 0)");
    EXPECT_EQ(explanation.failures[1].path, "list.__getitem__(x, 2)");
    EXPECT_EQ(explanation.checks_run, 6u);
}

TEST_F(ItemBlock, notices_a_type_that_died) {
    names.run("class C: pass\nc = [C(), C()]");
    guards.guard({"local('x')", "list_item(0)", "type_match(C)"});
    guards.guard({"local('x')", "list_item(1)", "type_match(C)"});
    EXPECT_EQ(blocks().size(), 1u);
    EXPECT_EQ(guards.verdict("{'x': c}"), Verdict::pass);
    names.run("del c, C\nimport gc; gc.collect()\nclass C: pass\nc = [C(), C()]");
    EXPECT_EQ(guards.verdict("{'x': c}"), Verdict::fail);
    EXPECT_TRUE(guards.program().is_dead());
}

}  // namespace
}  // namespace guardtree::tests
