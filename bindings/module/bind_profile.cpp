// GuardProfile: counts and times checks, and makes fail-first copies.
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>

#include <algorithm>
#include <functional>

#include "../../guards/run/profile.h"
#include "../../guards/tree/copy.h"
#include "../../guards/tree/order.h"
#include "../bindings.h"
#include "../guard_manager.h"
#include "../subject.h"

namespace guardtree {

/// A profile with its own program, compiled from the guards at construction.
class GuardProfile {
public:
    explicit GuardProfile(const py::object& self)
        : root_(Owned<>::share(GuardManager::of(self).root(self.ptr()))),
          program_(compile(tree())),
          profile_(program_) {}

    GuardTree& tree() const {
        if (!root_) throw py::value_error("the garbage collector took this profile");
        return GuardManager::from_python(root_.get())->tree();
    }

    const Program& program() const noexcept { return program_; }

    const Profile& profile() const noexcept { return profile_; }

    bool check(py::handle subject) {
        bool passes = false;
        const auto check_on = [&](const View& view) {
            PyObject** const values = GUARDTREE_ROOM(program_.value_count());
            Owned<> error;
            passes = profile_.check(program_, view, values, error) == Verdict::pass;
            return !PyErr_Occurred();
        };
        if (!with_view(tree(), program_.names(), subject.ptr(), check_on))
            throw py::error_already_set();
        return passes;
    }

    int traverse(visitproc visit, void* arg) const {
        Py_VISIT(root_.get());
        for (const Owned<>& each : program_.references()) Py_VISIT(each.get());
        return 0;
    }

    void clear() { root_.reset(); }

private:
    static Program compile(const GuardTree& guards) {
        Program made;
        Diagnostic problem;
        if (!Program::compile(guards.tree, guards.code(), made, problem)) {
            throw_diagnostic(problem);
        }
        return made;
    }

    Owned<> root_;
    Program program_;
    Profile profile_;
};

}  // namespace guardtree

GUARDTREE_BOXED(guardtree::GuardProfile, "GuardProfile")

namespace guardtree {
namespace {

py::list rows(const GuardProfile& self) {
    const py::object row =
        py::module_::import("guardtree.descriptions").attr("ProfileRow");
    const Program& program = self.program();
    std::vector<std::pair<uint64_t, py::object>> rows;
    for (size_t i = 0; i < program.ops().size(); ++i) {
        const Op& op = program.ops()[i];
        if (op.is_internal()) continue;
        const OpCount& count = self.profile().counts()[i];
        const std::string python = program.claim_text(i);
        const uint64_t ns = self.profile().net_ns(i);
        rows.emplace_back(ns, row(op.is_relation() ? python : program.path_text(i),
                                  std::string(op.info().name), python,
                                  object_or_none(program.note_of(op)), count.executed,
                                  count.failed, count.errors, ns));
    }
    std::ranges::stable_sort(rows, std::greater(),
                             [](const auto& each) { return each.first; });
    py::list list;
    for (const auto& [ns, each] : rows) list.append(each);
    return list;
}

std::string table(const GuardProfile& self) {
    return py::module_::import("guardtree.descriptions")
        .attr("profile_text")(rows(self), self.profile().checks(),
                              self.profile().passed(), Profile::clock_ns())
        .cast<std::string>();
}

FailureCounts failures_of(const GuardTree& guards, const GuardProfile& profile) {
    if (&profile.tree() != &guards) {
        throw py::value_error(
            "this profile is of another guard tree; take it from guards.profile()");
    }
    return profile.profile().failures(profile.program());
}

py::list order_limits(const py::object& self, const GuardProfile& profile) {
    const GuardTree& guards = GuardManager::of(self).tree();
    const FailureCounts failures = failures_of(guards, profile);
    py::list texts;
    for (const KeptInOrder& kept : TreeOrder(guards.tree, &failures).kept()) {
        texts.append(kept.moved + " failed " + std::to_string(kept.failures) +
                     " times and stays behind " + kept.behind + ": " + kept.reason);
    }
    return texts;
}

py::object reordered(const py::object& self, const GuardProfile& profile) {
    const GuardTree& guards = GuardManager::of(self).tree();
    const FailureCounts failures = failures_of(guards, profile);
    return GuardManager::to_python(GuardManager(
        std::make_unique<GuardTree>(guards, copy_of(guards.tree, nullptr, &failures))));
}

}  // namespace

void bind_profile(py::module_& module, py::handle manager) {
    BoxedClass<GuardProfile> profile(
        module, Made::by_guardtree,
        "Counts and times of a tree's guards, as they were when profile() was called. "
        "Only its own check counts: GuardManager.check and the hook stay as they are.");
    profile
        .def(
            "check",
            [](const py::object& self, py::handle subject) {
                return initialised<GuardProfile>(self).check(subject);
            },
            py::arg("subject"), py::pos_only(),
            "What GuardManager.check answers, counted and timed. It stops where a "
            "check stops, at the first guard that does not pass.")
        .def("rows", calling<&rows>,
             "A ProfileRow for each step, check and relation, most expensive first.")
        .def_property_readonly(
            "checks", [](const GuardProfile& self) { return self.profile().checks(); },
            "How many subjects were checked.")
        .def_property_readonly(
            "passed", [](const GuardProfile& self) { return self.profile().passed(); },
            "How many of them passed.")
        .def("__str__", calling<&table>);
    const auto clock = make_function(
        module, "clock_ns", [](py::handle) { return Profile::clock_ns(); },
        py::arg("self"));
    const py::handle property =
        as_object(py::detail::get_internals().static_property_type);
    profile.attr("clock_ns") = property(
        clock, py::none(), py::none(),
        "What one reading of the clock takes: each guard's time is that between two "
        "readings, less this. The counting itself stays in, a few ns a guard.");
    define(
        manager, "profile",
        [](const py::object& self) { return Box<GuardProfile>::make(self); },
        "A GuardProfile of the whole tree as it is now, all zero.");
    define(
        manager, "reordered", calling<&reordered>, py::arg("profile"),
        "A new GuardManager for the same scope: siblings that failed more often in "
        "`profile` come first, as far as no user code runs between them. `attr` and "
        "`item` run none where a guard before them says that the value is of a builtin "
        "type (`type_match(tuple).item(0)`). Its answers are the same; this one and "
        "what was compiled of it stay as they are. order_limits says what stays.");
    define(
        manager, "order_limits", calling<&order_limits>, py::arg("profile"),
        "Where reordered(profile) is not in fail-first order, and why: a text for each "
        "guard that failed more often than one before it.");
}

}  // namespace guardtree
