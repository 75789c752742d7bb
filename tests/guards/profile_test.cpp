// Profiles: counts are those of checks, and the numbers fit fail-first ordering.
// SPDX-License-Identifier: MIT
#include "../../guards/run/profile.h"

#include <gtest/gtest.h>

#include "../../framelocals/exception.h"
#include "../support/allocations.h"
#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

class Profiles : public Interpreter {
protected:
    void SetUp() override {
        names.run("def stop(value): raise KeyboardInterrupt\n");
        names.run("def broken(value): raise ValueError\n");
    }

    Verdict check(Profile& profile, const std::string& locals_text) {
        const Program& program = guards.program();
        const Owned<> locals = names.eval(locals_text);
        const MappingScene scene(guards.scope(), locals.get(), program.names());
        auto values = scratch(program.value_count());
        Owned<> error;
        return profile.check(program, scene.view(), values.data(), error);
    }

    Namespace names;
    Guards guards{names};
};

TEST_F(Profiles, count_each_op_up_to_the_first_that_does_not_pass) {
    guards.guard({"local('x')", "type_match(int)"});
    guards.guard({"local('y')", "list_item(0)", "is_true()"});
    Profile profile(guards.program());
    EXPECT_EQ(check(profile, "{'x': 1, 'y': [True]}"), Verdict::pass);
    EXPECT_EQ(check(profile, "{'x': 1, 'y': []}"), Verdict::fail);
    EXPECT_EQ(check(profile, "{'x': '', 'y': [True]}"), Verdict::fail);
    ASSERT_EQ(profile.counts().size(), 3u);
    EXPECT_EQ(profile.counts()[0].executed, 3u);
    EXPECT_EQ(profile.counts()[0].failed, 1u);
    EXPECT_EQ(profile.counts()[1].executed, 2u);
    EXPECT_EQ(profile.counts()[1].failed, 1u);
    EXPECT_EQ(profile.counts()[2].executed, 1u);
    EXPECT_EQ(profile.counts()[2].failed, 0u);
    EXPECT_EQ(profile.checks(), 3u);
    EXPECT_EQ(profile.passed(), 1u);
}

TEST_F(Profiles, tell_errors_from_failures) {
    guards.guard({"local('x')", "python(broken)"});
    Profile profile(guards.program());
    EXPECT_EQ(check(profile, "{'x': 1}"), Verdict::error);
    EXPECT_EQ(profile.counts()[0].errors, 1u);
    EXPECT_EQ(profile.counts()[0].failed, 0u);
    EXPECT_EQ(PyErr_Occurred(), nullptr);
}

TEST_F(Profiles, count_exceptions_that_are_let_through) {
    guards.guard({"local('x')", "python(stop)"});
    Profile profile(guards.program());
    EXPECT_EQ(check(profile, "{'x': 1}"), Verdict::error);
    EXPECT_TRUE(PyErr_ExceptionMatches(PyExc_KeyboardInterrupt));
    PyErr_Clear();
    EXPECT_EQ(profile.counts()[0].errors, 1u);
}

TEST_F(Profiles, give_failures_by_the_numbers_of_the_tree) {
    guards.guard({"local('x')", "is_not_none()"});
    guards.guard({"local('y')", "list_item(0)", "is_true()"});
    Profile profile(guards.program());
    check(profile, "{'x': 1, 'y': []}");
    check(profile, "{'x': 1, 'y': [False]}");
    check(profile, "{'x': None}");
    const FailureCounts failures = profile.failures(guards.program());
    const NodeId item = guards.node({"local('y')", "list_item(0)"});
    ASSERT_GT(failures.nodes.size(), item);
    EXPECT_EQ(failures.nodes[item], 1u);
    EXPECT_EQ(failures.checks, (std::vector<uint64_t>{1, 1}));
}

TEST_F(Profiles, allocate_nothing_while_they_count) {
    guards.guard({"local('x')", "list_item(0)", "type_match(int)"});
    const Program& program = guards.program();
    Profile profile(program);
    const Owned<> locals = names.eval("{'x': [1]}");
    const MappingScene scene(guards.scope(), locals.get(), program.names());
    auto values = scratch(program.value_count());
    Owned<> error;
    Verdict verdict = Verdict::fail;
    const Allocations made = allocations_of(
        [&] { verdict = profile.check(program, scene.view(), values.data(), error); });
    EXPECT_EQ(verdict, Verdict::pass);
    EXPECT_EQ(made.all(), 0u);
}

TEST_F(Profiles, take_the_clock_off_the_times) {
    EXPECT_GT(Profile::clock_ns(), 0.0);
    guards.guard({"local('x')", "type_match(int)"});
    Profile profile(guards.program());
    for (int i = 0; i < 100; ++i) check(profile, "{'x': 1}");
    EXPECT_LT(profile.net_ns(0), profile.counts()[0].gross_ns);
}

}  // namespace
}  // namespace guardtree::tests
