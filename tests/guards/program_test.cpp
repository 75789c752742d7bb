// Programs: what is compiled, in which order, and where fetched values live.
// SPDX-License-Identifier: MIT
#include "../../guards/program/program.h"

#include <gtest/gtest.h>

#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

class ProgramTest : public Interpreter {
protected:
    std::vector<std::string> op_names() {
        std::vector<std::string> all;
        for (const Op& op : guards.program().ops()) all.emplace_back(op.info().name);
        return all;
    }

    std::string problem_of_compile() {
        try {
            guards.program();
        } catch (const PythonError& error) {
            return error.what();
        }
        return "compiled";
    }

    using Names = std::vector<std::string>;

    Namespace names;
    Guards guards{names};
};

TEST_F(ProgramTest, a_tree_without_checks_is_an_empty_program_that_passes) {
    guards.node({"local('x')", "attr('a')"});
    EXPECT_TRUE(guards.program().ops().empty());
    EXPECT_EQ(guards.program().value_count(), 0);
    EXPECT_EQ(guards.verdict("{}"), Verdict::pass);
}

TEST_F(ProgramTest, fetching_a_local_is_no_op) {
    guards.guard({"local('x')", "type_match(int)"}).guard({"local('y')", "is_none()"});
    EXPECT_EQ(op_names(), (Names{"type_match", "is_none"}));
    EXPECT_EQ(guards.program().value_count(), 0);
    EXPECT_TRUE(guards.program().ops()[0].is_from_local());
    EXPECT_EQ(guards.program().ops()[1].source, 1);
}

TEST_F(ProgramTest, ops_are_in_preorder_and_steps_skip_what_needs_them) {
    guards.guard({"local('x')", "list_item(0)", "list_item(1)", "is_none()"});
    guards.guard({"local('x')", "list_item(0)", "is_not_none()"});
    guards.guard({"local('x')", "is_not_none()"});
    guards.guard({"local('x')", "list_item(2)", "is_none()"});
    EXPECT_EQ(op_names(), (Names{"is_not_none", "list_item", "is_not_none", "list_item",
                                 "is_none", "list_item", "is_none"}));
    EXPECT_EQ(guards.program().ops()[1].skip, 3u);
    EXPECT_EQ(guards.program().ops()[3].skip, 1u);
    EXPECT_EQ(guards.program().ops()[5].skip, 1u);
}

TEST_F(ProgramTest, paths_without_checks_are_left_out) {
    guards.guard({"local('x')", "list_item(0)", "is_none()"});
    guards.node({"local('x')", "list_item(0)", "attr('unchecked')"});
    guards.node({"local('nowhere')", "attr('unchecked')"});
    EXPECT_EQ(op_names(), (Names{"list_item", "is_none"}));
}

TEST_F(ProgramTest, borrowed_values_share_places) {
    guards.guard({"local('x')", "list_item(0)", "is_none()"});
    guards.guard({"local('x')", "list_item(1)", "is_none()"});
    guards.guard({"local('y')", "list_item(0)", "is_none()"});
    EXPECT_EQ(guards.program().value_count(), 1);
    EXPECT_EQ(guards.program().owned_count(), 0);
}

TEST_F(ProgramTest, a_value_that_is_needed_later_keeps_its_place) {
    guards.guard({"local('x')", "list_item(0)", "list_item(0)", "equals(1)"});
    guards.guard({"local('x')", "list_item(0)", "list_item(1)", "equals(2)"});
    EXPECT_EQ(guards.program().value_count(), 2);
    EXPECT_EQ(guards.verdict("{'x': [[1, 2]]}"), Verdict::pass);
    EXPECT_EQ(guards.verdict("{'x': [[1, 3]]}"), Verdict::fail);
}

TEST_F(ProgramTest, a_new_reference_is_owned) {
    guards.guard({"local('x')", "attr('a')", "is_none()"});
    EXPECT_EQ(guards.program().owned_count(), 1);
    EXPECT_TRUE(guards.program().calls_python());
}

TEST_F(ProgramTest, a_kind_of_kinds_runs_no_user_code_if_none_of_them_does) {
    guards.guard({"local('x')", "not_(('equals', 1))"});
    guards.guard({"local('y')", "any_of((('is_none',), ('not_', ('is_true',))))"});
    EXPECT_FALSE(guards.program().calls_python());
}

TEST_F(ProgramTest, a_kind_of_kinds_runs_user_code_if_one_of_them_does) {
    guards.guard({"local('x')", "any_of((('is_none',), ('not_', ('is_truthy',))))"});
    EXPECT_TRUE(guards.program().calls_python());
}

TEST_F(ProgramTest, a_value_is_owned_when_user_code_runs_before_its_last_reader) {
    guards.guard({"local('x')", "list_item(0)", "is_not_none()"});
    guards.guard({"local('x')", "list_item(0)", "python(callable)"});
    guards.guard({"local('y')", "list_item(0)", "is_not_none()"});
    EXPECT_EQ(guards.program().owned_count(), 1);
    EXPECT_EQ(guards.program().value_count(), 2);
    EXPECT_LT(guards.program().ops()[0].destination, 1);
    EXPECT_GE(guards.program().ops()[3].destination, 1);
}

TEST_F(ProgramTest, an_unknown_local_is_refused_with_the_names_there_are) {
    guards.guard({"local('nope')", "is_none()"});
    EXPECT_EQ(
        problem_of_compile(),
        "'f' has no local 'nope'; its locals are 'x', 'y', 'z' (for other names use "
        "global_, builtin or closure)");
}

TEST_F(ProgramTest, a_free_variable_is_no_local_and_a_local_is_no_free_variable) {
    const char* function =
        "def g(free=1):\n  def f(x): return free\n  return f\nf = g()";
    Guards as_local(names, function);
    as_local.guard({"local('free')", "is_none()"});
    EXPECT_THROW(as_local.program(), PythonError);
    Guards as_free(names, function);
    as_free.guard({"closure('x')", "is_none()"});
    EXPECT_THROW(as_free.program(), PythonError);
    Guards right(names, function);
    right.guard({"closure('free')", "is_none()"});
    EXPECT_EQ(right.verdict("{'free': None}"), Verdict::pass);
}

TEST_F(ProgramTest, a_failed_compile_leaves_the_target_untouched) {
    guards.guard({"local('x')", "is_none()"});
    Program program;
    Diagnostic problem;
    ASSERT_TRUE(Program::compile(guards.tree, guards.code(), program, problem));
    guards.guard({"local('nope')", "is_none()"});
    EXPECT_FALSE(Program::compile(guards.tree, guards.code(), program, problem));
    EXPECT_EQ(problem.exception, PyExc_NameError);
    EXPECT_EQ(program.ops().size(), 1u);
}

TEST_F(ProgramTest, too_many_values_at_once_are_refused) {
    for (int i = 0; i <= 4096; ++i) {
        // A size keeps its place: what it had may not be dropped amid the walk.
        guards.guard({"local('x')", "size(" + std::to_string(i) + ")", "is_none()"});
    }
    EXPECT_EQ(problem_of_compile(),
              "the guards need 4097 values at once, more than 4096; "
              "split the tree");
}

TEST_F(ProgramTest, names_are_those_that_slots_are_read_for) {
    guards.guard({"local('z')", "is_none()"}).guard({"global('g')", "is_none()"});
    ASSERT_EQ(guards.program().names().size(), 1u);
    EXPECT_EQ(guards.program().names()[0].slot, 2);
    EXPECT_EQ(text_of_str(guards.program().names()[0].name), "z");
}

TEST_F(ProgramTest, is_dead_once_an_operand_died) {
    names.run("class C: pass\nc = C()");
    guards.guard({"local('x')", "id_match(c)"})
        .guard({"local('y')", "type_match(int)"});
    EXPECT_FALSE(guards.program().is_dead());
    names.run("del c");
    EXPECT_TRUE(guards.program().is_dead());
}

TEST_F(ProgramTest, keeps_its_operands_when_the_tree_is_gone) {
    Program program;
    {
        Guards other(names);
        other.guard({"local('x')", "equals(['a' * 5, 10**30])"});
        Diagnostic problem;
        ASSERT_TRUE(Program::compile(other.tree, other.code(), program, problem));
    }
    const Owned<> locals = names.eval("{'x': ['aaaaa', 10**30]}");
    const MappingScene scene(guards.scope(), locals.get(), program.names());
    Owned<> error;
    EXPECT_EQ(evaluate(program, scene.view(), nullptr, error), Verdict::pass);
}

}  // namespace
}  // namespace guardtree::tests
