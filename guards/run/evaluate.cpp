// Instantiates the walk for the hot path.
// SPDX-License-Identifier: MIT
#include "evaluate.h"

#include "user_code.h"
#include "walk.h"

namespace guardtree {

template Verdict walk(const Program&, const View&, PyObject**, Owned<>&,
                      NoObserver&) noexcept;

namespace {

[[gnu::noinline]] Verdict evaluate_held(const Program& program, const View& view,
                                        PyObject** values, Owned<>& error) {
    return with_user_code(view, [&](const View& held) {
        return evaluate_prepared(program, held, values, error);
    });
}

}  // namespace

Verdict evaluate(const Program& program, const View& view, PyObject** values,
                 Owned<>& error) {
    if (program.calls_python()) [[unlikely]]
        return evaluate_held(program, view, values, error);
    return evaluate_prepared(program, view, values, error);
}

Verdict evaluate_prepared(const Program& program, const View& view, PyObject** values,
                          Owned<>& error) {
    NoObserver observer;
    return walk(program, view, values, error, observer);
}

}  // namespace guardtree
