// Assumptions: which runs of ops get one, what arming notes, what ends it.
// SPDX-License-Identifier: MIT
#include "../../guards/assumptions/assumption.h"

#include <gtest/gtest.h>

#include "../../framelocals/dict_watch.h"
#include "../../guards/run/evaluate.h"
#include "../support/allocations.h"
#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

class Assumptions : public Interpreter {
protected:
    /// The number of ops that each assumption speaks for, its end not counted; a block
    /// of names is one more.
    std::vector<uint32_t> runs() {
        std::vector<uint32_t> sizes;
        for (const Op& op : guards.program().ops()) {
            if (op.code() == OpCode::Assumption) sizes.push_back(op.skip - 1);
        }
        return sizes;
    }

    const Assumption& first() { return *guards.program().assumptions().front(); }

    Verdict pass(const char* locals = "{}", int times = 3) {
        Verdict verdict = Verdict::fail;
        for (int i = 0; i < times; ++i) verdict = guards.verdict(locals);
        return verdict;
    }

    size_t tests_of(AssumptionTest::Kind kind) {
        return static_cast<size_t>(std::ranges::count_if(
            first().tests(), [&](const auto& each) { return each.kind == kind; }));
    }

    Namespace names;
    Guards guards{names};
};

TEST_F(Assumptions, speak_for_names_that_follow_one_another) {
    names.run("a = 1; b = 2");
    guards.guard({"global('a')", "equals(1)"});
    guards.guard({"global('b')", "equals(2)"});
    guards.guard({"builtin('len')", "id_match(len)"});
    guards.guard({"local('x')", "is_none()"});
    guards.guard({"module('sys')", "is_not_none()"});
    EXPECT_EQ(runs(), (std::vector<uint32_t>{7, 2}));
    EXPECT_FALSE(guards.program().is_leaf());
}

TEST_F(Assumptions, speak_for_a_local_whose_values_lie_in_dicts) {
    guards.guard({"local('x')", "instance_attr('a')", "equals(1)"});
    EXPECT_EQ(runs(), (std::vector<uint32_t>{}));
    guards.guard({"local('x')", "instance_attr('b')", "equals(1)"});
    EXPECT_EQ(runs(), (std::vector<uint32_t>{5}));
}

TEST_F(Assumptions, are_not_made_over_user_code) {
    names.run("a = b = 1");
    guards.guard({"global('a')", "attr('real')", "equals(1)"});
    EXPECT_EQ(runs(), (std::vector<uint32_t>{}));
    guards.guard({"global('b')", "equals(1)"});
    EXPECT_EQ(runs(), (std::vector<uint32_t>{2}));
}

TEST_F(Assumptions, are_made_over_kinds_inside_kinds_that_run_no_user_code) {
    names.run("a = 1; b = 2; ran = []");
    guards.guard({"global('a')", "any_of((('is_none',), ('equals', 1)))"});
    guards.guard({"global('b')", "not_(('not_', ('equals', 2)))"});
    EXPECT_EQ(runs(), (std::vector<uint32_t>{4}));
    EXPECT_EQ(pass(), Verdict::pass);
    EXPECT_TRUE(first().is_armed());
    names.run("b = 3");
    EXPECT_EQ(guards.verdict("{}"), Verdict::fail);
    names.run("a = None; b = 2");
    EXPECT_EQ(pass(), Verdict::pass);
    guards.guard({"global('b')", "not_(('python', ran.append))"});
    EXPECT_EQ(runs(), (std::vector<uint32_t>{2}));
}

TEST_F(Assumptions, are_made_over_a_weak_reference) {
    names.run("import weakref\nclass A: pass\nbox = [A()]\nr = weakref.ref(box[0])");
    guards.guard({"global('r')", "referent()", "type_match(A)"});
    EXPECT_EQ(runs(), (std::vector<uint32_t>{3}));
    EXPECT_EQ(pass(), Verdict::pass);
    EXPECT_TRUE(first().is_armed());
    names.run("box[0].__class__ = type('B', (), {})");
    EXPECT_EQ(guards.verdict("{}"), Verdict::fail);
    names.run("box[0].__class__ = A");
    EXPECT_EQ(pass(), Verdict::pass);
    names.run("box.clear()");
    EXPECT_EQ(guards.verdict("{}"), Verdict::fail);
    EXPECT_EQ(first().last_breach(), Breach::compare);
}

TEST_F(Assumptions, hand_over_what_a_relation_reads) {
    names.run("a = 10**6; b = 'b'");
    guards.guard({"global('a')", "equals(1000000)"});
    guards.guard({"global('b')", "equals('b')"});
    guards.relate("same_object()", {{"global('a')"}, {"local('x')"}});
    EXPECT_EQ(runs(), (std::vector<uint32_t>{4}));
    EXPECT_EQ(pass("{'x': a}"), Verdict::pass);
    EXPECT_TRUE(first().is_armed());
    EXPECT_EQ(guards.verdict("{'x': int('1000000')}"), Verdict::fail);
    EXPECT_TRUE(first().is_armed());
    names.run("a = int('1000000')");
    EXPECT_EQ(guards.verdict("{'x': a}"), Verdict::pass);
    EXPECT_EQ(guards.verdict("{'x': 10**6}"), Verdict::fail);
}

TEST_F(Assumptions, are_armed_by_the_second_pass) {
    names.run("a = 1");
    guards.guard({"global('a')", "equals(1)"});
    EXPECT_EQ(pass("{}", 1), Verdict::pass);
    EXPECT_FALSE(first().is_armed());
    EXPECT_EQ(pass("{}", 1), Verdict::pass);
    EXPECT_TRUE(first().is_armed());
    names.run("a = 2");
    EXPECT_EQ(guards.verdict("{}"), Verdict::fail);
    EXPECT_FALSE(first().is_armed());
    EXPECT_EQ(first().last_breach(), Breach::change);
    EXPECT_EQ(guards.program().claim_text(first().last_breach_op()), "G['a']");
}

TEST_F(Assumptions, compare_what_has_no_event) {
    names.run(
        "class A: pass\nclass B: pass\n"
        "a = A(); a.__dict__ = {'b': [1], 'c': 7}");  // one whose stores 3.13.0 tells
    guards.guard({"global('a')", "type_match(A)"});
    guards.guard({"global('a')", "instance_attr('b')", "list_item(0)", "equals(1)"});
    guards.guard({"global('a')", "instance_attr('c')", "equals(7)"});
    EXPECT_EQ(pass(), Verdict::pass);
    EXPECT_TRUE(first().is_armed());
    EXPECT_EQ(tests_of(AssumptionTest::Kind::step), 0u);
    constexpr size_t of_list = 3;  // its length, where its items are, the item
    const size_t words = first().words().size();
    // And the class and the dict.
    EXPECT_GE(words + tests_of(AssumptionTest::Kind::word), 2 + of_list);
    if (has_dict_watcher()) {  // else they are read in the order of the ops
        EXPECT_EQ(tests_of(AssumptionTest::Kind::word), of_list);
    }
    names.run("a.__class__ = B");
    EXPECT_EQ(guards.verdict("{}"), Verdict::fail);
    EXPECT_EQ(first().last_breach(), Breach::compare);
}

TEST_F(Assumptions, compare_the_word_in_which_a_function_has_its_code) {
    names.run("def f(): pass\nold = f.__code__\ndef g(): pass");
    guards.guard({"global('f')", "code()", "id_match(old)"});
    EXPECT_EQ(pass(), Verdict::pass);
    EXPECT_TRUE(first().is_armed());
    EXPECT_EQ(tests_of(AssumptionTest::Kind::step), 0u);
    names.run("f.__code__ = g.__code__");
    EXPECT_EQ(guards.verdict("{}"), Verdict::fail);
    EXPECT_EQ(first().last_breach(), Breach::compare);
    names.run("f.__code__ = old");
    EXPECT_EQ(pass(), Verdict::pass);
    EXPECT_TRUE(first().is_armed());
}

TEST_F(Assumptions, ask_each_time_what_no_word_tells) {
    names.run(
        "def made(b, c): return lambda: (b, c)\nb, c = iter(range(3)), ['y']\n"
        "f = made(b, c)");
    guards.guard({"global('f')", "closure_cell(0)", "range_iterator(range(3))"});
    guards.guard({"global('f')", "closure_cell(1)", "length(1)"});
    EXPECT_EQ(pass(), Verdict::pass);
    EXPECT_EQ(tests_of(AssumptionTest::Kind::step), 2u);
    EXPECT_EQ(tests_of(AssumptionTest::Kind::long_check), 1u);
    EXPECT_EQ(tests_of(AssumptionTest::Kind::check), 1u);
    names.run("c.clear()");
    EXPECT_EQ(guards.verdict("{}"), Verdict::fail);
    names.run("c.append('z')");
    EXPECT_EQ(guards.verdict("{}"), Verdict::pass);
    names.run("next(b)");
    EXPECT_EQ(guards.verdict("{}"), Verdict::fail);
    EXPECT_TRUE(first().is_armed());
    EXPECT_EQ(first().arms(), 1u);
    names.run("f.__closure__[0].cell_contents = iter(range(1, 3))");
    EXPECT_EQ(guards.verdict("{}"), Verdict::fail);
    EXPECT_EQ(first().last_breach(), Breach::compare);
}

TEST_F(Assumptions, that_are_armed_allocate_nothing_and_are_explained_op_by_op) {
    names.run("a = {'k': 1}");
    guards.guard({"global('a')", "dict_item('k')", "equals(1)"});
    EXPECT_EQ(pass(), Verdict::pass);
    const Owned<> locals = names.eval("{}");
    const Program& program = guards.program();
    const MappingScene scene(guards.scope(), locals.get(), program.names());
    auto values = scratch(program.value_count());
    Owned<> error;
    const Allocations made =
        allocations_of([&] { evaluate(program, scene.view(), values.data(), error); });
    EXPECT_EQ(made.all(), 0u);
    EXPECT_EQ(guards.explained("{}").checks_run, 3u);
}

TEST_F(Assumptions, hold_for_one_set_of_globals_only) {
    names.run("a = 1");
    guards.guard({"global('a')", "equals(1)"});
    EXPECT_EQ(pass(), Verdict::pass);
    const Owned<> other = names.eval("{'a': 2}");
    Scope scope = guards.scope();
    scope.globals = other.get();
    const Owned<> locals = names.eval("{}");
    const MappingScene scene(scope, locals.get(), {});
    auto values = scratch(guards.program().value_count());
    Owned<> error;
    EXPECT_EQ(evaluate(guards.program(), scene.view(), values.data(), error),
              Verdict::fail);
    EXPECT_EQ(pass(), Verdict::pass);
}

TEST_F(Assumptions, leave_nothing_watched_behind) {
    const uint64_t watched = assumption_counts.watched;
    const uint64_t armed = assumption_counts.armed;
    {
        names.run("a = {'k': 1}");
        Guards own(names);
        own.guard({"global('a')", "dict_item('k')", "equals(1)"});
        for (int i = 0; i < 3; ++i) own.verdict("{}");
        EXPECT_EQ(assumption_counts.armed, armed + 1);
    }
    EXPECT_EQ(assumption_counts.watched, watched);
    EXPECT_EQ(assumption_counts.armed, armed);
}

}  // namespace
}  // namespace guardtree::tests
