// Lets benchmarks in Python measure the time of C++ alone.
// SPDX-License-Identifier: MIT
#include <chrono>

#include "../../guards/run/evaluate.h"
#include "../bindings.h"
#include "../guard_manager.h"
#include "../subject.h"

namespace guardtree {
namespace {

/// The time of one evaluation of the guards on `subject` in nanoseconds, averaged over
/// `count` evaluations of one view. Throws ValueError if the guards do not pass.
double time_evaluations(py::handle guards, py::handle subject, long count) {
    GuardTree& tree = GuardManager::of(guards).tree();
    const Shared<CompiledGuards> compiled = tree.compiled();
    const Program& program = compiled->program;
    using Clock = std::chrono::steady_clock;
    std::chrono::duration<double, std::nano> spent{};
    bool passed = true;
    const auto measure = [&](const View& view) {
        PyObject** const values = GUARDTREE_ROOM(program.value_count());
        const auto start = Clock::now();
        for (long i = 0; i < count; ++i) {
            asm volatile("" ::: "memory");  // each evaluation reads the values again
            Owned<> error;
            passed &= evaluate(program, view, values, error) == Verdict::pass;
        }
        spent = Clock::now() - start;
        return !PyErr_Occurred();
    };
    const auto scope = [&] { return HeldScope(tree); };
    if (!with_view(program.names(), subject.ptr(), false, scope, measure))
        throw py::error_already_set();
    if (!passed) throw py::value_error("the guards do not pass: nothing to time");
    return spent.count() / static_cast<double>(count);
}

}  // namespace

void bind_bench(py::module_& module) {
    define_function(module, "_time_evaluations", calling<&time_evaluations>,
                    py::arg("guards"), py::arg("subject"), py::arg("count"));
}

}  // namespace guardtree
