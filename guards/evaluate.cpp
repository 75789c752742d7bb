// The hot instantiation of the walk.
// SPDX-License-Identifier: MIT
#include "evaluate.h"

#include "walk.h"

namespace guardtree {

Verdict evaluate(const Program& program, const View& view, PyObject** values,
                 Owned<>& error) noexcept {
    NoObserver observer;
    return walk(program, view, values, error, observer);
}

}  // namespace guardtree
