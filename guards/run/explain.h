// Explaining a verdict: which guards did not pass, what they expected, what they found.
// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "../program/program.h"

namespace guardtree {

/// One guard that did not pass.
struct Failure {
    std::string path;      ///< where: "cfg.training"
    std::string kind;      ///< which kind or step: "is_true"
    std::string python;    ///< the guard as Python: "cfg.training is True"
    std::string expected;  ///< "is_true()", "integers('x.real < 9')"
    std::string found;     ///< "False (bool)", "x = 1 (int), y = 2 (int)", "unbound"
    /// "ZeroDivisionError: division by zero", empty for a plain fail.
    std::string error;
    bool is_step = false;  ///< it fetched nothing from what was found
    Owned<> note;          ///< what the user said of the guard, or null

    /// One sentence for people.
    std::string text() const;

    int traverse(visitproc visit, void* arg) const {
        Py_VISIT(note.get());
        return 0;
    }
};

/// What explain found. `verdict` equals what evaluate answers.
struct Explanation {
    Verdict verdict = Verdict::pass;
    std::vector<Failure> failures;  ///< in program order, all of them
    size_t checks_run = 0;          ///< steps, kinds and relations that were evaluated
    /// Why what was assumed is not any more: "invalidated by a change of G['cfg']".
    std::vector<std::string> invalidated;

    std::string text() const;

    int traverse(visitproc visit, void* arg) const {
        for (const Failure& each : failures) Py_VISIT(each.note.get());
        return 0;
    }
};

/// The same walk as evaluate, going on after a failure; what is below a step that
/// fetched nothing is not reported. Cold: allocates, calls `repr`. User code runs as in
/// a look-up (lookup.h), and the caller keeps the program. Returns false with
/// an exception pending when one must reach the program.
bool explain(const Program& program, const View& view, Explanation& to);

}  // namespace guardtree
