// The C++ block of dsl/README.md builds the tree of its JSON block.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "../../dsl/cpp/expressions.h"
#include "../../dsl/json/reader.h"
#include "../../dsl/text/text.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

namespace manual {
using namespace dsl;
#include "manual_block.inc"
}  // namespace manual

constexpr const char* json =
#include "manual_json.inc"
    ;

class Manual : public Interpreter {};

TEST_F(Manual, its_trees_are_the_same) {
    Tree built;
    Diagnostic problem;
    ASSERT_TRUE(dsl::build(manual::guards, built, problem)) << problem.message;
    Tree read;
    ASSERT_TRUE(from_json(json, {}, read, problem)) << problem.message;
    EXPECT_EQ(built.text(), read.text());
    EXPECT_TRUE(same_tree(built, read));
}

}  // namespace
}  // namespace guardtree::tests
