// The hot instantiation of the walk.
// SPDX-License-Identifier: MIT
#include "evaluate.h"

#include "lookup.h"

namespace guardtree {

namespace {

[[gnu::noinline]] Verdict evaluate_held(const Program& program, const View& view,
                                        PyObject** values, Owned<>& error) {
    return with_user_code(view, [&](const View& held) {
        NoObserver observer;
        return walk(program, held, values, error, observer);
    });
}

}  // namespace

Verdict evaluate(const Program& program, const View& view, PyObject** values,
                 Owned<>& error) {
    if (program.calls_python()) [[unlikely]]
        return evaluate_held(program, view, values, error);
    NoObserver observer;
    return walk(program, view, values, error, observer);
}

}  // namespace guardtree
