// GuardManager: check, explain, notes. The derived methods are in bind_kinds.cpp.
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>

#include "../../framelocals/no_memory.h"
#include "../../guards/assumptions/report.h"
#include "../../guards/run/evaluate.h"
#include "../../guards/tree/copy.h"
#include "../bindings.h"
#include "../explanations.h"
#include "../guard_manager.h"
#include "../subject.h"

namespace guardtree {
namespace {

/// For callers that provide what user code needs.
[[gnu::always_inline]] inline bool passes_on(const Program& program, const View& view) {
    Owned<> error;
    PyObject** const values = GUARDTREE_ROOM(program.value_count());
    return evaluate_prepared(program, view, values, error) == Verdict::pass;
}

/// Checks a dict, without references to its values, if no user code runs. Returns false
/// if another view is needed.
bool check_dict(const GuardTree& tree, const Program& program, PyObject* dict,
                bool& passes) {
    if (program.calls_python() || program.owned_count() > 0) return false;
    return with_dict_view(program.names(), tree, dict, [&](const View& view) {
        passes = passes_on(program, view);
    });
}

/// Checks guards that may run user code, which may release `self`.
[[gnu::noinline]] bool check_subject(PyObject* self, PyObject* subject) {
    const auto held_self = Owned<>::share(self);
    GuardTree& tree = GuardManager::from_python(self)->tree();
    const Shared<CompiledGuards> compiled = tree.compiled();
    bool passes = false;
    const auto check_on = [&](const View& view) {
        passes = passes_on(compiled->program, view);
        return !PyErr_Occurred();
    };
    if (!with_view(tree, compiled->program.names(), subject, check_on))
        throw py::error_already_set();
    return passes;
}

/// METH_O: the hot path from Python, without pybind11's call path.
PyObject* check(PyObject* self, PyObject* subject) {
    try {
        GuardTree& tree = GuardManager::from_python(self)->tree();
        bool passes = false;
        if (!PyDict_CheckExact(subject) ||
            !check_dict(tree, tree.compiled()->program, subject, passes)) {
            passes = check_subject(self, subject);
        }
        return Owned<>::share(passes ? Py_True : Py_False).release();
    } catch (...) {
        translate_exception();
        return nullptr;
    }
}

PyMethodDef check_method = {
    "check", check, METH_O,
    "check($self, subject, /)\n--\n\n"
    "Do all guards of the tree pass? `subject` is a mapping of local names, or the "
    "frame given to a callback. Where the guards read one local, it may also be the "
    "value of that local; an object with `keys` and `__getitem__`, such as a dict or a "
    "DataFrame, is always a mapping of names. A guard that raises does not pass "
    "(explain tells); KeyboardInterrupt, SystemExit and MemoryError are let through. "
    "10 ns and up."};

PyMethodDef call_method = {"__call__", check, METH_O, check_method.ml_doc};

/// The tree as text. Marks the checks that an assumption covered in the last check.
std::string text_of(const GuardTree& guards) {
    const Program* program = guards.program();
    if (!program) return guards.tree.text();
    return guards.tree.text(report_assumptions(*program).assumed);
}

GuardTree& tree_of(py::handle self) {
    return GuardManager::of(self).tree();
}

Explanation explain_subject(const py::object& self, py::handle subject) {
    GuardTree& tree = tree_of(self);
    const Shared<CompiledGuards> compiled = tree.compiled();
    Explanation explanation;
    auto explain_on = [&](const View& view) {
        return explain(compiled->program, view, explanation);
    };
    if (!with_view(tree, compiled->program.names(), subject.ptr(), explain_on))
        throw py::error_already_set();
    tell_nodes_of(self.ptr(), explanation);
    return explanation;
}

py::object add_note(const py::object& self, const py::object& note) {
    GuardTree& tree = tree_of(self);
    const auto [id, is_relation] = tree.last_added;
    if (id == no_id) throw py::value_error("no guard was added yet: a note needs one");
    auto kept = Owned<>::share(note.ptr());
    if (is_relation) {
        tree.tree.annotate_relation(id, std::move(kept));
    } else {
        tree.tree.annotate_check(id, std::move(kept));
    }
    tree.changed();
    return self;
}

std::string path_of(py::handle self) {
    const NodeId node = GuardManager::of(self).node();
    return tree_of(self).tree.path_text(node);
}

py::object include_tree(const py::object& self, py::handle other,
                        const py::object& note) {
    GuardTree& tree = tree_of(self);
    if (!GuardManager::is_instance(other)) {
        Diagnostic problem;
        refuse_operand(problem, "a GuardManager", other.ptr());
        problem.message = "include: " + problem.message;
        throw_diagnostic(problem);
    }
    const GuardTree& given = GuardManager::of(other).tree();
    if (GuardManager::of(self).node() != 0) {
        throw py::value_error("include: a tree can be included in a whole tree, and " +
                              path_of(self) + " is a path: call it on the root");
    }
    if (given.code() != tree.code()) {
        throw py::value_error(
            "include: expected guards of " + short_repr(as_object(tree.code())) +
            ", found guards of " + short_repr(as_object(given.code())) +
            ", whose names may mean something else");
    }
    Tree merged = tree.tree;
    Diagnostic problem;
    PyObject* const on_each = note.is_none() ? nullptr : note.ptr();
    if (!include(given.tree, on_each, merged, problem)) throw_diagnostic(problem);
    tree.tree = std::move(merged);
    tree.last_added = {};
    tree.changed();
    return self;
}

/// Calls `add()`, which adds guards to the tree of `self`, and no user code. Where that
/// raises, the tree is as it was.
py::object all_or_none(const py::object& self, const py::object& add) {
    GuardTree& tree = GuardManager::of(self).tree();
    Tree before = tree.tree;
    const auto added_before = tree.last_added;
    try {
        return add();
    } catch (...) {
        tree.tree = std::move(before);
        tree.last_added = added_before;
        tree.changed();
        throw;
    }
}

py::object specialize(const py::object& self, const py::args& arguments,
                      const py::kwargs& facts) {
    const py::object specialize_python =
        py::module_::import("guardtree.specialization").attr("specialize");
    return specialize_python(self, *arguments, **facts);
}

}  // namespace

bool is_mapping(PyObject* subject) {
    if (!PyMapping_Check(subject)) return false;
    if (attribute_of(subject, "keys")) return true;
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw py::error_already_set();
    PyErr_Clear();
    return false;
}

void refuse_subject(PyObject* subject) {
    const TextCall texts;
    Diagnostic problem;
    refuse_operand(
        problem, "a mapping of local names to values, or the frame given to a callback",
        subject);
    if (texts.raise_kept()) throw py::error_already_set();
    throw_diagnostic(problem);
}

void bind_guard_manager(py::module_& module) {
    const py::object manager = make_guard_manager_type(module);
    bind_kinds_and_steps(manager);
    bind_relations(manager);
    bind_descriptions(manager);
    bind_text(module, manager);
    bind_json(module, manager);
    bind_profile(module, manager);
    add_method(manager, check_method);
    add_method(manager, call_method);
    define(manager, "explain", calling<&explain_subject>, py::arg("subject"),
           "Every guard that does not pass on `subject` (as for check): where, what "
           "was expected, what was found.");
    define(manager, "specialize", calling<&specialize>,
           "specialize(example, plan=None, *, plans=None, **facts): guards what a "
           "KeyPlan says of an example: its type, a tensor's dtype and sizes, whether "
           "an int is 1, the parts of a container. On the root the example is a "
           "mapping of locals by name, and `plans` has the plans of some of them, "
           "None to leave one free. `facts` change the plan. Returns the same handle.");
    define(manager, "note", calling<&add_note>, py::arg("note"),
           "Keeps any object with the guard that was added last, for explanations: "
           "where it comes from, say. Returns the same handle.");
    define(manager, "include", calling<&include_tree>, py::arg("guards"), py::kw_only(),
           py::arg("note") = py::none(),
           "Adds all guards of another tree for the same code to this one, as they are "
           "now, with their notes. `note` is put on each that has none. Call it on the "
           "root. Returns the same handle.");
    define(manager, "__str__",
           [](const py::object& self) { return text_of(tree_of(self)); });
    define(manager, "__repr__", [](const py::object& self) {
        const std::string path = path_of(self);
        if (path.empty()) return std::string("<GuardManager of a guard tree>");
        return "<GuardManager on " + path + ">";
    });
    define_function(
        module, "_all_or_none", calling<&all_or_none>, py::arg("guards"),
        py::arg("add"),
        "Calls `add()`, which adds guards; where it raises, the guards are as before.");
    define_property(manager, "path", calling<&path_of>,
                    "The node as a Python expression; empty on the root.");
}

}  // namespace guardtree
