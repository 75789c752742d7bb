// What a program assumes now: the runs of its armed assumptions without their tests.
// SPDX-License-Identifier: MIT
#include "report.h"

#include <algorithm>

#include "../program/program.h"

#include "assumption.h"

namespace guardtree {
namespace {

std::string breach_text(const Program& program, const Assumption& assumption) {
    const auto about = [&] { return program.path_text(assumption.last_breach_op()); };
    switch (assumption.last_breach()) {
    case Breach::change: return "invalidated by a change of " + about();
    case Breach::death:
        return "invalidated by the end of a dict that led to " + about();
    case Breach::compare:
        return "invalidated by another object on the way to " + about();
    case Breach::moved: return "invalidated by a call with other objects";
    case Breach::end: return "invalidated by the end of the interpreter";
    case Breach::none: break;
    }
    return {};
}

void add(const Program& program, size_t begin, AssumptionReport& to) {
    const Op& op = program.ops()[begin];
    const Assumption& assumption = op.assumption();
    if (!assumption.is_armed()) {
        std::string text = breach_text(program, assumption);
        if (!text.empty()) to.invalidated.push_back(std::move(text));
        return;
    }
    std::vector<uint32_t> reread;
    for (const AssumptionTest& test : assumption.tests()) {
        if (test.is_check()) reread.push_back(test.op);
    }
    to.reread += reread.size();
    to.compared +=
        assumption.words().size() + assumption.tests().size() - reread.size();
    for (size_t i = begin + 1; i < begin + op.skip; ++i) {
        const Op& each = program.ops()[i];
        const auto number = static_cast<uint32_t>(i);
        if (each.is_kind() && !std::ranges::binary_search(reread, number)) {
            to.assumed.push_back(each.id);
        }
    }
}

}  // namespace

AssumptionReport report_assumptions(const Program& program) {
    AssumptionReport report;
    for (size_t i = 0; i < program.ops().size(); ++i) {
        if (program.ops()[i].code() == OpCode::Assumption) add(program, i, report);
    }
    std::ranges::sort(report.assumed);
    return report;
}

}  // namespace guardtree
