// What is assumed: asking, and what a watched dict costs those who store into it.
// SPDX-License-Identifier: MIT
// clang-format off: private headers come before everything that has Python.h.
#include "../../framelocals/views/frame_view.h"
// clang-format on

#include <memory>

#include "../../guards/assumptions/assumption.h"
#include "../../guards/run/evaluate.h"

#include "guarded_function.h"
#include "live_frame.h"
#include "subjects.h"

namespace guardtree::bench {
namespace {

struct Globals {
    Owned<> names;
    GuardedFunction subject;
};

/// A function whose globals have 32 numbers, and guards that say which they are.
std::shared_ptr<Globals> guarded_globals(int guards) {
    auto made = std::make_shared<Globals>();
    made->names = new_globals();
    made->subject.function = function_of_locals(0, made->names.get());
    Tree tree;
    for (int i = 0; i < 32; ++i) {
        const std::string text = "g" + std::to_string(i);
        const auto name = Owned<>::steal(PyUnicode_InternFromString(text.c_str()));
        const auto value = Owned<>::steal(PyLong_FromLong(1000 + i));
        if (!name || !value ||
            PyDict_SetItem(made->names.get(), name.get(), value.get()) < 0) {
            give_up("no memory for globals");
        }
        if (i >= guards) continue;
        const NodeId node = add_step(tree, 0, op_of_one<Global>(tree, name.get()));
        add_check(tree, node, op_of_one<Equals>(tree, value.get()));
    }
    if (!compile(tree, made->subject)) give_up("guards of globals do not compile");
    return made;
}

/// Evaluates often enough that what can be assumed is.
void arm(const GuardedFunction& subject) {
    std::vector<PyObject*> values(subject.program.value_count() + 1u);
    in_frame_of(subject.function.get(), subject.arguments,
                [&](const _PyInterpreterFrame* frame) {
                    Owned<> error;
                    for (int i = 0; i < 3; ++i) {
                        evaluate(subject.program, FrameView(frame), values.data(),
                                 error);
                    }
                });
    for (const auto& assumption : subject.program.assumptions()) {
        if (!assumption->is_armed()) give_up("guards of globals are not assumed");
    }
}

/// Another key than those that are guarded gets one value and another in turn.
void measure_store(benchmark::State& state, PyObject* dict) {
    PyObject* const values[] = {Py_None, Py_True};
    const auto key = Owned<>::steal(PyUnicode_InternFromString("another"));
    bool stored = true;
    size_t turn = 0;
    for ([[maybe_unused]] auto _ : state) {
        stored &= PyDict_SetItem(dict, key.get(), values[++turn & 1]) == 0;
    }
    demand_pass(state, stored);
}

}  // namespace

void register_assumptions(const Register& add) {
    set_up_watched_dicts();
    for (const int guards : {1, 32}) {
        for (const bool is_assumed : {true, false}) {
            set_assumptions(is_assumed);
            const auto globals = guarded_globals(guards);
            set_assumptions(true);
            const std::string how = is_assumed ? "assumed" : "plain";
            add("globals/" + how + "/guards:" + std::to_string(guards),
                [globals, guards](benchmark::State& state) {
                    arm(globals->subject);
                    evaluate_in_frame(state, globals->subject, guards);
                });
        }
    }
    for (const bool is_watched : {true, false}) {
        const auto globals = guarded_globals(1);
        add(is_watched ? "store/watched" : "store/unwatched",
            [globals, is_watched](benchmark::State& state) {
                if (is_watched) arm(globals->subject);
                measure_store(state, globals->names.get());
            });
    }
}

}  // namespace guardtree::bench
