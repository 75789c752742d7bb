// The walk: verdicts, errors, what propagates, and that it allocates nothing.
// SPDX-License-Identifier: MIT
#include "../../guards/run/walk.h"

#include <gtest/gtest.h>

#include "../../framelocals/views/view.h"
#include "../../guards/lookup/lookup.h"
#include "../support/allocations.h"
#include "../support/frames.h"
#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

class Walk : public Interpreter {
protected:
    void SetUp() override {
        names.run(
            "def raise_(error):\n"
            "  def predicate(value): raise error\n"
            "  return predicate\n");
    }

    /// What evaluating allocates; the verdict must be a pass.
    Allocations allocations(const std::string& locals_text) {
        const Program& program = guards.program();
        const Owned<> locals = names.eval(locals_text);
        const MappingScene scene(guards.scope(), locals.get(), program.names());
        auto values = scratch(program.value_count());
        Owned<> error;
        Verdict verdict = Verdict::fail;
        for (int i = 0; i < 3; ++i) {  // until assumptions are armed
            verdict = evaluate(program, scene.view(), values.data(), error);
        }
        const Allocations made = allocations_of(
            [&] { verdict = evaluate(program, scene.view(), values.data(), error); });
        EXPECT_EQ(verdict, Verdict::pass);
        EXPECT_EQ(scene.view().dicts_built(), 0);
        return made;
    }

    Namespace names;
    Guards guards{names};
};

TEST_F(Walk, type_match_on_slots_allocates_nothing) {
    guards.guard({"local('x')", "type_match(int)"});
    guards.guard({"local('y')", "type_match(dict)"});
    EXPECT_EQ(allocations("{'x': 1, 'y': {}}").all(), 0u);
}

TEST_F(Walk, checks_and_steps_that_run_no_user_code_allocate_nothing) {
    guards.guard({"local('x')", "list_item(0)", "tuple_item(-1)", "equals('ab')"});
    guards.guard(
        {"local('x')", "list_item(1)", "dict_item('k')", "equals([1, {2: 3.5}])"});
    guards.guard({"local('x')", "length(2)"});
    guards.guard({"local('y')", "id_match(len)"});
    guards.guard({"local('y')", "type()", "is_not_none()"});
    guards.guard({"local('z')", "is_true()"});
    guards.guard({"builtin('len')", "id_match(len)"});
    EXPECT_EQ(
        allocations("{'x': [(1, 'ab'), {'k': [1, {2: 3.5}]}], 'y': len, 'z': True}")
            .all(),
        0u);
}

TEST_F(Walk, the_counter_does_count) {
    const Allocations made = allocations_of([] {
        delete new int(3);
        Owned<>::steal(PyBytes_FromStringAndSize(nullptr, 5000)).reset();
    });
    EXPECT_EQ(made.cpp, 1u);
    EXPECT_GE(made.python, 1u);
}

TEST_F(Walk, a_lookup_in_a_frame_allocates_nothing_and_builds_no_dict) {
    Guards framed(names, "def f(x, y): return x");
    framed.guard({"local('x')", "type_match(int)"});
    framed.guard({"local('y')", "type_match(str)"});
    Program program;
    Diagnostic problem;
    ASSERT_TRUE(Program::compile(framed.tree, framed.code(), program, problem));
    const auto table = Table().with(make_shared_counted<Entry>(
        std::move(program), Owned<>::share(Py_None), Owned<>()));
    Allocations made;
    const Entry* entry = nullptr;
    const uint64_t dicts_before = dicts_built();
    call_viewed(
        names.eval("f").get(), names.eval("(1, 'a')").get(), [&](const View& view) {
            made = allocations_of([&] {
                Lookup lookup(*table, view, nullptr, Lookup::Mode::quiet);
                entry = lookup.find();
            });
        });
    EXPECT_EQ(entry, table->entries()[0].get());
    EXPECT_EQ(made.all(), 0u);
    EXPECT_EQ(dicts_built(), dicts_before);
}

TEST_F(Walk, stops_at_the_first_check_that_does_not_pass) {
    names.run("ran = []\ndef note(value): ran.append(value); return True");
    guards.guard({"local('x')", "is_none()"}).guard({"local('y')", "python(note)"});
    EXPECT_EQ(guards.verdict("{'x': 1, 'y': 2}"), Verdict::fail);
    EXPECT_TRUE(names.is_true("ran == []"));
}

TEST_F(Walk, an_unbound_local_fails_whatever_is_asked_of_it) {
    guards.guard({"local('x')", "is_none()"});
    EXPECT_EQ(guards.verdict("{}"), Verdict::fail);
    Guards step(names);
    step.guard({"local('x')", "attr('a')", "is_none()"});
    EXPECT_EQ(step.verdict("{'y': 1}"), Verdict::fail);
}

TEST_F(Walk, an_exception_is_an_error_that_is_kept_and_not_pending) {
    guards.guard({"local('x')", "python(raise_(ValueError('why')))"});
    EXPECT_EQ(guards.verdict("{'x': 1}"), Verdict::error);
    EXPECT_FALSE(PyErr_Occurred());
    ASSERT_TRUE(guards.error);
    EXPECT_EQ(as_object(Py_TYPE(guards.error.get())), PyExc_ValueError);
}

TEST_F(Walk, what_is_no_exception_of_the_guards_stays_pending) {
    for (const char* error : {"KeyboardInterrupt", "SystemExit", "MemoryError",
                              "GeneratorExit", "type('Own', (BaseException,), {})"}) {
        Guards each(names);
        each.guard({"local('x')", "python(raise_(" + std::string(error) + "('now')))"});
        EXPECT_EQ(each.verdict("{'x': 1}"), Verdict::error) << error;
        EXPECT_FALSE(each.error) << error;
        EXPECT_TRUE(PyErr_Occurred()) << error;
        taken_error_text();
    }
}

TEST_F(Walk, releasing_owned_values_does_not_disturb_a_pending_exception) {
    names.run(
        "class Dies:\n"
        "  def __del__(self):\n"
        "    try: 1/0\n"
        "    except ZeroDivisionError: pass\n"
        "class Maker:\n"
        "  @property\n"
        "  def a(self): return Dies()\n");
    guards.guard({"local('x')", "attr('a')", "is_not_none()"});
    guards.guard({"local('x')", "python(raise_(KeyboardInterrupt('now')))"});
    guards.guard({"local('y')", "python(raise_(KeyboardInterrupt('now')))"});
    guards.verdict("{'x': Maker(), 'y': 1}");
    EXPECT_EQ(taken_error_text(), "KeyboardInterrupt: now");
}

TEST_F(Walk, f_locals_is_built_once_and_counted) {
    Guards framed(names,
                  "def f(x): return x\ndef has_x(f_locals): return f_locals['x']");
    framed.guard({"f_locals()", "python(has_x)"}).guard({"f_locals()", "length(1)"});
    const Program& program = framed.program();
    int built = -1;
    Verdict verdict = Verdict::fail;
    const uint64_t before = dicts_built();
    call_viewed(names.eval("f").get(), names.eval("(1,)").get(), [&](const View& view) {
        auto values = scratch(program.value_count());
        Owned<> error;
        verdict = evaluate(program, view, values.data(), error);
        built = view.dicts_built();
    });
    EXPECT_EQ(verdict, Verdict::pass);
    EXPECT_EQ(built, 1);
    EXPECT_EQ(dicts_built(), before + 1);
}

}  // namespace
}  // namespace guardtree::tests
