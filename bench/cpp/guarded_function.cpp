// Building what is measured, and the loop that measures a program on a frame.
// SPDX-License-Identifier: MIT
// clang-format off: private headers come before everything that has Python.h.
#include "../../framelocals/views/frame_view.h"
// clang-format on

#include "../../guards/run/evaluate.h"

#include "guarded_function.h"
#include "live_frame.h"

namespace guardtree::bench {
namespace {

bool any_broken = false;

}  // namespace

std::string local_name(int number) {
    return "x" + std::to_string(number);
}

Owned<> function_of_locals(int count, PyObject* globals) {
    std::string names;
    for (int i = 0; i < count; ++i) names += local_name(i) + ", ";
    return defined("def subject(" + names + "): pass\n", "subject", globals);
}

NodeId add_step(Tree& tree, NodeId parent, const Op& step) {
    NodeId child = 0;
    Diagnostic problem;
    if (!tree.child(parent, step, child, problem)) give_up(problem.message);
    return child;
}

void add_check(Tree& tree, NodeId node, const Op& kind) {
    Diagnostic problem;
    if (!tree.check(node, kind, problem)) give_up(problem.message);
}

NodeId add_local(Tree& tree, const std::string& name) {
    const auto text = Owned<>::steal(PyUnicode_FromString(name.c_str()));
    if (!text) give_up("no memory for a name");
    return add_step(tree, 0, op_of_one<Local>(tree, text.get()));
}

bool compile(const Tree& tree, GuardedFunction& subject) {
    Diagnostic problem;
    return Program::compile(tree, subject.code(), subject.program, problem);
}

void demand_pass(benchmark::State& state, bool passed) {
    if (passed) return;
    any_broken = true;
    state.SkipWithError("the guards do not pass on their own example");
}

bool has_broken() noexcept {
    return any_broken;
}

void evaluate_in_frame(benchmark::State& state, const GuardedFunction& subject,
                       int checks) {
    const Program& program = subject.program;
    std::vector<PyObject*> values(program.value_count() + 1u);
    bool passed = true;
    in_frame_of(subject.function.get(), subject.arguments,
                [&](const _PyInterpreterFrame* frame) {
                    for ([[maybe_unused]] auto _ : state) {
                        benchmark::DoNotOptimize(frame);
                        const FrameView view(frame);
                        Owned<> error;
                        passed &= evaluate(program, view, values.data(), error) ==
                                  Verdict::pass;
                    }
                });
    demand_pass(state, passed);
    using benchmark::Counter;
    state.counters["check"] =
        Counter(checks, Counter::kIsIterationInvariantRate | Counter::kInvert);
}

}  // namespace guardtree::bench
