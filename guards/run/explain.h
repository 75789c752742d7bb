// Explains a verdict: which guards did not pass, what they expected and what they
// found.
// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "../program/program.h"

namespace guardtree {

/// One guard that did not pass.
struct Failure {
    std::string path;      ///< the guarded value: "cfg.training"
    std::string kind;      ///< the kind or step: "is_true"
    std::string python;    ///< the guard as Python: "cfg.training is True"
    std::string expected;  ///< "is_true()", "integers('x.real < 9')"
    std::string found;     ///< "False (bool)", "x = 1 (int), y = 2 (int)", "unbound"
    /// "ZeroDivisionError: division by zero"; empty if the guard failed without an
    /// exception.
    std::string error;
    bool is_step = false;  ///< a step that fetched nothing from `found`
    std::vector<FactDifference> differences;  ///< of a kind that checks several facts
    std::vector<ValueNode>
        nodes;       ///< of the step, of the value, of a relation's values
    Owned<> note;    ///< the user's note on the guard, or null
    Owned<> guards;  ///< the GuardManager that the nodes are in, if the caller has it

    /// One sentence for users.
    std::string text() const;

    int traverse(visitproc visit, void* arg) const {
        Py_VISIT(note.get());
        Py_VISIT(guards.get());
        return 0;
    }
};

/// The result of explain. `verdict` is the same as evaluate's.
struct Explanation {
    Verdict verdict = Verdict::pass;
    std::vector<Failure> failures;  ///< all failures, in program order
    size_t checks_run = 0;          ///< number of evaluated steps, kinds and relations
    /// Why assumptions ended: "invalidated by a change of G['cfg']".
    std::vector<std::string> invalidated;

    std::string text() const;

    int traverse(visitproc visit, void* arg) const {
        for (const Failure& each : failures) {
            const int stopped = each.traverse(visit, arg);
            if (stopped) return stopped;
        }
        return 0;
    }
};

/// The same walk as evaluate, except that it continues after a failure. Guards below a
/// step that fetched nothing are not reported. Slow: it allocates and calls `repr`.
/// User code runs under the same conditions as in a look-up (lookup.h), and the caller
/// keeps the program alive. Returns false if an exception is pending that must reach
/// the program.
bool explain(const Program& program, const View& view, Explanation& to);

}  // namespace guardtree
