// A look-up that may run user code: what it keeps, sets aside and gives back.
// SPDX-License-Identifier: MIT
#include "../../guards/lookup/lookup.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "../../guards/run/evaluate.h"
#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

/// What a guard does, called with the value that is checked; its answer is True.
void (*meanwhile)() = nullptr;

PyObject* run_meanwhile(PyObject*, PyObject*) {
    meanwhile();
    return Owned<>::share(Py_True).release();
}

class LookupTest : public Interpreter {
protected:
    LookupTest() {
        static PyMethodDef method = {"ask", run_meanwhile, METH_O, nullptr};
        names.set("ask", Owned<>::steal(PyCFunction_New(&method, nullptr)).get());
        names.run("class Value: pass");
        current = this;
        make_values();
    }

    void make_values() {
        for (size_t i = 0; i < values.size(); ++i) {
            owned[i] = names.eval("Value()");
            values[i] = owned[i].get();
        }
    }

    /// Ends what the arguments were, and takes their memory over.
    static void end_values() {
        for (Owned<>& each : current->owned) each = current->names.eval("[0]");
        current->values.fill(nullptr);
    }

    static void end_table() { current->table = make_shared_counted<Table>(); }

    /// Adds an entry with the guards so far, which hands `bound` over.
    void add(std::vector<NodeId> bound = {}) {
        Tree filled;
        Program program;
        Diagnostic problem;
        const Tree* tree = demanding(guards.tree, bound, filled, problem);
        ASSERT_TRUE(tree && Program::compile(*tree, guards.code(), program, problem,
                                             nullptr, bound))
            << problem.message;
        table = table->with(make_shared_counted<Entry>(
            std::move(program), Owned<>::share(Py_None), Owned<>()));
    }

    static void look_around() {
        was_paused = hook_thread.is_paused();
        had_exception = PyErr_Occurred() != nullptr;
    }

    static inline LookupTest* current = nullptr;
    static inline bool was_paused = false;
    static inline bool had_exception = false;

    static constexpr auto user_code = Lookup::Mode::user_code;

    Namespace names;
    Guards guards{names};
    Shared<Table> table = make_shared_counted<Table>();
    std::array<Owned<>, 3> owned;
    std::array<PyObject*, 3> values{};
    const Scope scope = guards.scope();
    const SlotsView view{scope, values.data()};
    std::array<PyObject*, 32> room{};
};

TEST_F(LookupTest, its_user_code_runs_with_the_hook_off_and_no_exception_pending) {
    guards.guard({"local('x')", "python(ask)"});
    add();
    meanwhile = look_around;
    PyErr_SetString(PyExc_KeyError, "of the caller");
    {
        Lookup lookup(*table, view, room.data(), user_code);
        EXPECT_NE(lookup.find(), nullptr);
    }
    EXPECT_TRUE(was_paused);
    EXPECT_FALSE(had_exception);
    EXPECT_FALSE(hook_thread.is_paused());
    EXPECT_TRUE(PyErr_ExceptionMatches(PyExc_KeyError));
    PyErr_Clear();
}

TEST_F(LookupTest, an_exception_that_comes_out_keeps_the_one_before_as_its_context) {
    names.run("def stop(value): raise KeyboardInterrupt");
    guards.guard({"local('x')", "python(stop)"});
    add();
    PyErr_SetString(PyExc_KeyError, "of the caller");
    {
        Lookup lookup(*table, view, room.data(), user_code);
        EXPECT_EQ(lookup.find(), nullptr);
    }
    const Owned<> raised = take_exception();
    ASSERT_TRUE(PyErr_GivenExceptionMatches(raised.get(), PyExc_KeyboardInterrupt));
    const auto context = Owned<>::steal(PyException_GetContext(raised.get()));
    EXPECT_TRUE(PyErr_GivenExceptionMatches(context.get(), PyExc_KeyError));
}

TEST_F(LookupTest, closing_it_turns_the_hook_on_and_keeps_what_was_found) {
    guards.guard({"local('x')", "python(ask)"});
    add({guards.node({"local('x')"})});
    meanwhile = end_table;
    Lookup lookup(*table, view, room.data(), user_code);
    const Entry* found = lookup.find();
    ASSERT_NE(found, nullptr);
    lookup.close();
    EXPECT_FALSE(hook_thread.is_paused());
    EXPECT_EQ(found->payload.get(), Py_None);
    PyObject* taken = nullptr;
    lookup.take(&taken);
    EXPECT_EQ(taken, owned[0].get());
    Owned<>::steal(taken).reset();
}

TEST_F(LookupTest, values_that_nobody_takes_are_dropped_once) {
    guards.guard({"local('x')", "python(ask)"});
    guards.guard({"local('y')", "attr('__class__')", "python(ask)"});
    const NodeId attribute = guards.node({"local('y')", "attr('__class__')"});
    add({guards.node({"local('x')"}), attribute});
    meanwhile = [] {};
    const Owned<> type = names.eval("Value");
    const auto count = [&] { return Py_REFCNT(values[0]) + Py_REFCNT(type.get()); };
    const Py_ssize_t before = count();
    for (const bool closes : {false, true}) {
        Lookup lookup(*table, view, room.data(), user_code);
        ASSERT_NE(lookup.find(), nullptr);
        EXPECT_TRUE(lookup.has_values());
        EXPECT_EQ(lookup.value_count(), 2u);
        if (closes) lookup.close();
    }
    EXPECT_EQ(count(), before);
}

TEST_F(LookupTest, values_that_only_the_caller_held_outlive_the_guards) {
    guards.guard({"local('x')", "python(ask)"});
    guards.guard({"local('x')", "instance_of(Value)"});
    guards.guard({"local('y')", "instance_of(Value)"});
    add();
    meanwhile = end_values;
    Lookup lookup(*table, view, room.data(), user_code);
    EXPECT_NE(lookup.find(), nullptr);
}

TEST_F(LookupTest, evaluating_and_explaining_one_program_hold_them_too) {
    guards.guard({"local('x')", "python(ask)"});
    guards.guard({"local('y')", "instance_of(Value)"});
    guards.guard({"local('z')", "is_none()"});
    meanwhile = end_values;
    const Program& program = guards.program();
    Explanation explanation;
    ASSERT_TRUE(explain(program, view, explanation));
    ASSERT_EQ(explanation.failures.size(), 1u);
    EXPECT_NE(explanation.failures[0].found.find("Value"), std::string::npos);
    make_values();
    auto numbers = scratch(program.value_count());
    Owned<> error;
    EXPECT_EQ(evaluate(program, view, numbers.data(), error), Verdict::fail);
}

TEST_F(LookupTest, a_held_call_has_the_arguments_that_its_caller_let_go) {
    const Owned<> call = names.eval("(Value(), Value(), ('k',))");
    PyObject* const* given = &PyTuple_GET_ITEM(call.get(), 0);
    PyObject* keys = PyTuple_GET_ITEM(call.get(), 2);
    const Py_ssize_t before = Py_REFCNT(given[0]) + Py_REFCNT(given[1]);
    {
        const HeldCall held(call.get(), given, 1, keys, room.data());
        EXPECT_EQ(HeldCall::room(1, keys), 3u);
        EXPECT_EQ(held.arguments()[0], given[0]);
        EXPECT_EQ(held.arguments()[1], given[1]);
        EXPECT_EQ(PyVectorcall_NARGS(held.count()), 1);
        EXPECT_EQ(Py_REFCNT(given[0]) + Py_REFCNT(given[1]), before + 2);
    }
    EXPECT_EQ(Py_REFCNT(given[0]) + Py_REFCNT(given[1]), before);
}

}  // namespace
}  // namespace guardtree::tests
