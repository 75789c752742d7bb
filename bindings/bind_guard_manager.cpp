// Python's GuardManager: one method per kind and step, derived; check and explain.
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "../guards/evaluate.h"

#include "bindings.h"
#include "frame.h"
#include "guard_manager.h"

namespace guardtree {
namespace {

Scope scope_of(const GuardTree& tree) {
    Scope scope;
    scope.code = tree.code();
    if (PyFunctionObject* function = tree.function()) {
        scope.globals = function->func_globals;
        scope.builtins = function->func_builtins;
        scope.closure = function->func_closure;
    }
    return scope;
}

/// Calls `use(view)` with a view of `subject`: a callback's frame, or a mapping of
/// locals. Null `use` result means a Python exception is set.
template <class Use>
bool with_view(const GuardTree& tree, const Program& program, PyObject* subject,
               Use use) {
    if (FrameHandle* frame = FrameHandle::from_python(subject))
        return use(frame->view());
    if (!PyDict_Check(subject) &&
        !(PyMapping_Check(subject) && PyObject_HasAttrString(subject, "keys"))) {
        Diagnostic problem;
        refuse_operand(
            problem,
            "a mapping of local names to values, or the frame given to a callback",
            subject);
        throw_diagnostic(problem);
    }
    const Scope scope = scope_of(tree);
    // What user code does meanwhile must not take the function's parts away.
    const Owned<PyCodeObject> code = Owned<PyCodeObject>::share(scope.code);
    const auto function = Owned<>::share(as_object(tree.function()));
    const auto count = static_cast<size_t>(scope.code->co_nlocalsplus);
    auto* storage = static_cast<SlotWord*>(__builtin_alloca(count * sizeof(SlotWord)));
    MappingView view(scope, {storage, count});
    return view.fill(subject, program.names()) && use(view);
}

/// METH_O: the hot entry from Python bypasses pybind11's call path, which costs 40 to
/// 90 ns.
PyObject* check(PyObject* self, PyObject* subject) {
    try {
        GuardTree& tree = GuardManager::from_python(self)->tree();
        const Shared<CompiledGuards> compiled = tree.compiled();
        const Program& program = compiled->program;
        bool passes = false;
        auto evaluate_on = [&](const View& view) {
            auto** values = static_cast<PyObject**>(
                __builtin_alloca(sizeof(PyObject*) * program.value_count()));
            Owned<> error;
            passes = evaluate(program, view, values, error) == Verdict::pass;
            return !PyErr_Occurred();
        };
        if (!with_view(tree, program, subject, evaluate_on)) return nullptr;
        return Owned<>::share(passes ? Py_True : Py_False).release();
    } catch (...) {
        translate_exception();
        return nullptr;
    }
}

PyMethodDef check_method = {
    "check", check, METH_O,
    "check(subject: Mapping[str, object] | Frame, /) -> bool\n\n"
    "Do all guards of the tree pass? `subject` is a mapping of local names, or the "
    "frame "
    "given to a callback. A guard that raises does not pass (explain tells); "
    "KeyboardInterrupt, SystemExit and MemoryError are let through. 20 ns and up."};

PyMethodDef call_method = {"__call__", check, METH_O, check_method.ml_doc};

Explanation explain_subject(const py::object& self, py::handle subject) {
    GuardTree& tree = self.cast<GuardManager&>().tree();
    const Shared<CompiledGuards> compiled = tree.compiled();
    Explanation explanation;
    auto explain_on = [&](const View& view) {
        return explain(compiled->program, view, explanation);
    };
    if (!with_view(tree, compiled->program, subject.ptr(), explain_on)) {
        throw py::error_already_set();
    }
    return explanation;
}

/// Positional and keyword arguments in the order of a kind's operands.
template <class T>
std::vector<PyObject*> in_order(const py::args& args, const py::kwargs& kwargs) {
    std::vector<PyObject*> ordered;
    for (py::handle each : args) ordered.push_back(each.ptr());
    if (kwargs.empty()) return ordered;
    size_t used = 0;
    std::apply(
        [&](const auto&... each) {
            size_t i = 0;
            [[maybe_unused]] auto take = [&](std::string_view name) {
                if (i++ < ordered.size()) return;
                PyObject* found =
                    PyDict_GetItemString(kwargs.ptr(), std::string(name).c_str());
                if (!found) return;
                ordered.push_back(found);
                ++used;
            };
            (take(each.name), ...);
        },
        T::operands());
    if (used != kwargs.size()) {
        throw py::type_error(
            std::string(T::info.name) +
            "(): unexpected keyword arguments, or operands given twice");
    }
    return ordered;
}

template <class T>
Op op_from_python(GuardTree& tree, const py::args& args, const py::kwargs& kwargs) {
    T operands{};
    References references;
    Diagnostic problem;
    const std::vector<PyObject*> ordered = in_order<T>(args, kwargs);
    if (!read_operands<T>(ordered, operands, references, problem)) {
        throw_diagnostic(problem);
    }
    tree.keep(std::move(references));
    return Op(operands);
}

/// `python(fn)` on the root is about the locals: the one kind the root itself takes.
NodeId node_for_check(GuardTree& tree, NodeId node, OpCode code) {
    if (node != 0 || code != code_of<Python>) return node;
    Diagnostic problem;
    NodeId locals = 0;
    if (!tree.tree.child(0, Op(FLocals{}), locals, problem)) throw_diagnostic(problem);
    return locals;
}

template <class K>
void bind_kind(py::class_<GuardManager>& manager) {
    manager.def(
        python_name(K::info.name).c_str(),
        [](const py::object& self, const py::args& args, const py::kwargs& kwargs) {
            auto& handle = self.cast<GuardManager&>();
            GuardTree& tree = handle.tree();
            const Op op = op_from_python<K>(tree, args, kwargs);
            Diagnostic problem;
            const NodeId node = node_for_check(tree, handle.node(), op.code());
            CheckId made = 0;
            if (!tree.tree.check(node, op, problem, &made)) throw_diagnostic(problem);
            tree.last_added = {made, false};
            return self;
        },
        documentation<K>("GuardManager").c_str());
}

template <class S>
void bind_step(py::class_<GuardManager>& manager) {
    manager.def(
        python_name(S::info.name).c_str(),
        [](const py::object& self, const py::args& args, const py::kwargs& kwargs) {
            auto& handle = self.cast<GuardManager&>();
            GuardTree& tree = handle.tree();
            Op op = op_from_python<S>(tree, args, kwargs);
            if constexpr (BindsToCode<S>) {  // an unknown name is told at once
                std::string text;
                if (!op.as<S>().bind(tree.code(), text)) {
                    throw_diagnostic({PyExc_NameError, text});
                }
            }
            Diagnostic problem;
            NodeId child = 0;
            if (!tree.tree.child(handle.node(), op, child, problem)) {
                throw_diagnostic(problem);
            }
            return std::make_unique<GuardManager>(
                Owned<>::share(handle.root(self).ptr()), &tree, child);
        },
        documentation<S>("GuardManager").c_str());
}

py::object add_note(const py::object& self, const py::object& note) {
    GuardTree& tree = self.cast<GuardManager&>().tree();
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

template <class... Ks>
void bind_kinds(py::class_<GuardManager>& manager, TypeList<Ks...>) {
    (bind_kind<Ks>(manager), ...);
}

template <class... Ss>
void bind_steps(py::class_<GuardManager>& manager, TypeList<Ss...>) {
    (bind_step<Ss>(manager), ...);
}

void add_method(py::handle type, PyMethodDef& method) {
    const auto descriptor = py::reinterpret_steal<py::object>(
        PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()), &method));
    if (!descriptor) throw py::error_already_set();
    py::setattr(type, method.ml_name, descriptor);
}

}  // namespace

void bind_guard_manager(py::module_& module) {
    py::class_<GuardManager> manager(module, "GuardManager",
                                     garbage_collected<GuardManager>(),
                                     "A handle on a node of a guard tree: steps go to "
                                     "child nodes, kinds add checks and "
                                     "return the same handle. Made for a function, a "
                                     "code object, or the frame given to "
                                     "a callback, which it holds weakly. What is "
                                     "compiled (GuardedCode) is the tree at "
                                     "that moment.");
    manager.def(py::init<py::handle>(), py::arg("scope"));
    bind_steps(manager, AllSteps{});
    bind_kinds(manager, AllKinds{});
    bind_relations(manager);
    add_method(manager, check_method);
    add_method(manager, call_method);
    manager.def(
        "explain", &explain_subject, py::arg("subject"),
        "Every guard that does not pass on `subject` (as for check): where, what "
        "was expected, what was found.");
    manager.def("note", &add_note, py::arg("note"),
                "Keeps any object with the guard that was added last, for "
                "explanations: where it comes from, say. Returns the same handle.");
    manager.def("__str__",
                [](const GuardManager& self) { return self.tree().tree.text(); });
    manager.def("__repr__", [](const GuardManager& self) {
        if (self.node() == 0) return std::string("<GuardManager of a guard tree>");
        return "<GuardManager on " + self.tree().tree.path_text(self.node()) + ">";
    });
    manager.def_property_readonly(
        "path",
        [](const GuardManager& self) {
            return self.tree().tree.path_text(self.node());
        },
        "The node as a Python expression; empty on the root.");
}

}  // namespace guardtree
