// The hook from C++: installed only while needed, hits run, misses ask, limits hold.
// SPDX-License-Identifier: MIT
#include "../../framehook/hook.h"

#include <gtest/gtest.h>

#include "../../framehook/replacement.h"
#include "../../framehook/thread_state.h"
#include "../support/allocations.h"
#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

class Hook : public Interpreter {
protected:
    void SetUp() override {
        ASSERT_TRUE(CodeCache::set_up());
        asked = closed = 0;
        answer = {};
        set_callback_protocol(
            {.arguments = [](const View&, CodeCache&) { return tuple_of({}); },
             .close = [](PyObject*) noexcept { ++closed; },
             .interpret =
                 [](PyObject*, const View& view) {
                     if (as_object(view.code().get()) != watched) return MissOutcome{};
                     ++asked;
                     return answer;
                 }});
        code = names.code("def f(x): return 'plain'");
        watched = as_object(code.get());
        function = names.eval("f");
        replacement = names.code("def f(x): return 'replaced'");
    }

    void TearDown() override {
        set_callback(Py_None);
        answer = {};  // before CPython ends
        set_callback_protocol({});
        default_policy() = {};
        always_call = false;
        Interpreter::TearDown();
    }

    /// An entry that runs `replacement` when x is an int.
    Shared<Entry> entry() {
        Guards guards(names, "def f(x): pass");
        guards.guard({"local('x')", "type_match(int)"});
        Program program;
        Diagnostic problem;
        Program::compile(guards.tree, guards.code(), program, problem);
        return make_shared_counted<Entry>(std::move(program),
                                          Owned<>::share(as_object(replacement.get())),
                                          Owned<>());
    }

    std::string call(const std::string& argument) {
        Owned<> value;
        {
            const HookPause pause;  // evaluating the text enters a frame, too
            value = names.eval(argument);
        }
        const auto result =
            Owned<>::steal(PyObject_CallOneArg(function.get(), value.get()));
        return result ? text_of_str(result.get()) : taken_error_text();
    }

    CodeCache* cache() { return CodeCache::of(code.get()); }

    static void compile_mode() {
        const Namespace names;
        set_callback(names.eval("lambda *arguments: None").get());
    }

    static inline PyObject* watched = nullptr;
    static inline int asked = 0;
    static inline int closed = 0;
    static inline MissOutcome answer;

    Namespace names;
    Owned<PyCodeObject> code;
    Owned<> function;
    Owned<PyCodeObject> replacement;
};

TEST_F(Hook, is_installed_only_while_a_thread_has_a_callback) {
    EXPECT_FALSE(is_hook_installed());
    EXPECT_EQ(set_callback(Py_False).get(), Py_None);
    EXPECT_TRUE(is_hook_installed());
    EXPECT_EQ(hooked_threads(), 1);
    EXPECT_EQ(set_callback(Py_None).get(), Py_False);
    EXPECT_FALSE(is_hook_installed());
    EXPECT_EQ(hooked_threads(), 0);
}

TEST_F(Hook, refuses_what_is_no_callback) {
    EXPECT_FALSE(set_callback(names.eval("3").get()));
    EXPECT_EQ(taken_error_text(),
              "TypeError: expected None (off), False (run what is cached), "
              "RAISE_ON_MISS or a "
              "callable (frame, cache_entry, frame_state), found 3 (int)");
    EXPECT_FALSE(is_hook_installed());
}

TEST_F(Hook, a_hit_runs_the_entrys_code_in_the_frame) {
    cache()->add(entry());
    set_callback(Py_False);
    EXPECT_EQ(call("1"), "replaced");
    EXPECT_EQ(call("'a'"), "plain");
    EXPECT_EQ(cache()->table()->entries()[0]->hits, 1u);
    EXPECT_EQ(cache()->counters.called, 0u);
    EXPECT_EQ(cache()->counters.misses, 1u);
    EXPECT_EQ(cache()->counters.failed_lookups, 1u);
    EXPECT_EQ(asked, 0);
}

TEST_F(Hook, the_fall_back_call_gives_the_same) {
    cache()->add(entry());
    always_call = true;
    set_callback(Py_False);
    EXPECT_EQ(call("1"), "replaced");
    EXPECT_EQ(cache()->counters.called, 1u);
    EXPECT_EQ(cache()->table()->entries()[0]->hits, 1u);
}

TEST_F(Hook, nothing_is_looked_up_without_a_callback) {
    cache()->add(entry());
    EXPECT_EQ(call("1"), "plain");
    EXPECT_EQ(cache()->table()->entries()[0]->hits, 0u);
    EXPECT_EQ(cache()->counters.misses, 0u);
}

TEST_F(Hook, a_miss_asks_and_a_new_entry_runs_at_once) {
    answer = {.action = MissOutcome::run_entry, .entry = entry()};
    compile_mode();
    EXPECT_EQ(call("'no int'"), "replaced");
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(call("1"), "replaced");
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(closed, 1);
    EXPECT_EQ(cache()->table()->entries().size(), 1u);
}

TEST_F(Hook, an_exception_of_the_callback_reaches_the_caller_and_leaves_no_entry) {
    names.run("def callback(): raise ValueError('why')");
    set_callback(names.eval("callback").get());
    EXPECT_EQ(call("1"), "ValueError: why");
    EXPECT_EQ(closed, 1);
    EXPECT_EQ(asked, 0);
    EXPECT_TRUE(cache()->table()->entries().empty());
    set_callback(Py_None);
    EXPECT_EQ(call("1"), "plain");
}

TEST_F(Hook, a_skipped_code_is_not_asked_about_again) {
    compile_mode();
    answer = {.action = MissOutcome::skip_code, .entry = {}};
    EXPECT_EQ(call("1"), "plain");
    EXPECT_EQ(call("1"), "plain");
    EXPECT_EQ(asked, 1);
    EXPECT_TRUE(cache()->skipped);
}

TEST_F(Hook, running_plain_asks_again_next_time) {
    compile_mode();
    EXPECT_EQ(call("1"), "plain");
    EXPECT_EQ(call("1"), "plain");
    EXPECT_EQ(asked, 2);
}

TEST_F(Hook, at_the_entry_limit_nobody_is_asked_and_hits_go_on) {
    default_policy() = {.entry_limit = 1, .when_full = WhenFull::keep};
    answer = {.action = MissOutcome::run_entry, .entry = entry()};
    compile_mode();
    call("1");
    EXPECT_FALSE(cache()->limit_reached);
    EXPECT_EQ(call("'miss'"), "plain");
    EXPECT_TRUE(cache()->limit_reached);
    EXPECT_EQ(call("1"), "replaced");
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(cache()->table()->entries().size(), 1u);
}

TEST_F(Hook, a_hit_allocates_nothing_and_builds_no_dict) {
    cache()->add(entry());
    set_callback(Py_False);
    const Owned<> one = names.eval("1");
    Owned<> result;
    const auto call_once = [&] {
        result = Owned<>::steal(PyObject_CallOneArg(function.get(), one.get()));
    };
    for (int i = 0; i < 10; ++i) call_once();
    const uint64_t dicts_before = dicts_built();
    EXPECT_EQ(allocations_of(call_once).all(), 0u);
    EXPECT_EQ(dicts_built(), dicts_before);
    EXPECT_EQ(text_of_str(result.get()), "replaced");
}

TEST_F(Hook, a_pause_holds_until_the_outermost_ends) {
    cache()->add(entry());
    set_callback(Py_False);
    {
        const HookPause outer;
        { const HookPause inner; }
        EXPECT_EQ(call("1"), "plain");
    }
    EXPECT_EQ(call("1"), "replaced");
}

TEST_F(Hook, another_evaluator_is_chained_and_restored) {
    static int passed = 0;
    passed = 0;
    cache()->add(entry());
    set_callback(Py_False);
    const Evaluator before = previous_evaluator();
    set_previous_evaluator(
        [](PyThreadState* thread, _PyInterpreterFrame* frame, int throwing) {
            ++passed;
            return _PyEval_EvalFrameDefault(thread, frame, throwing);
        });
    EXPECT_EQ(call("1"), "replaced");
    EXPECT_EQ(passed, 2);  // the text of the argument, and f
    set_previous_evaluator(before);
}

}  // namespace
}  // namespace guardtree::tests
