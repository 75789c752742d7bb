// Guard trees that Python owns: scope, compilation, garbage collection.
// SPDX-License-Identifier: MIT
#include "guard_manager.h"

#include "frame.h"

namespace guardtree {
namespace {

/// A weak identity. Objects that do not support weak references are held.
Identity identity_of(PyObject* object, References& keep) {
    Identity identity;
    Diagnostic problem;
    if (!Identity::read(object, identity, keep, problem)) throw_diagnostic(problem);
    return identity;
}

}  // namespace

void throw_diagnostic(const Diagnostic& problem) {
    PyErr_SetString(problem.exception, problem.message.c_str());
    throw py::error_already_set();
}

GuardTree::GuardTree(py::handle scope) {
    PyObject* object = scope.ptr();
    PyObject* function = nullptr;
    PyObject* code = nullptr;
    Shared<KeptView> view;
    if (FrameHandle* frame = FrameHandle::from_python(object)) {
        view = frame->view();
        code = as_object(view->code().get());
        function = view->function().get();
    } else if (PyCode_Check(object)) {
        code = object;
    } else {
        if (PyMethod_Check(object)) object = PyMethod_GET_FUNCTION(object);
        if (!PyFunction_Check(object)) {
            Diagnostic problem;
            refuse_operand(
                problem, "a function, a code object, or the frame given to a callback",
                object);
            problem.message = "GuardManager(scope): " + problem.message;
            throw_diagnostic(problem);
        }
        function = object;
        code = PyFunction_GET_CODE(object);
    }
    code_ = identity_of(code, scope_references_);
    if (function) function_ = identity_of(function, scope_references_);
}

GuardTree::GuardTree(const GuardTree& other, Tree guards)
    : tree(std::move(guards)),
      scope_references_(other.scope_references_),
      code_(other.code_),
      function_(other.function_) {}

void GuardTree::refuse_dead_code() {
    throw py::value_error(
        "the code these guards were made for is gone; keep its function alive, or make "
        "a GuardManager for the new one");
}

void GuardTree::compile() {
    auto made = make_shared_counted<CompiledGuards>();
    Diagnostic problem;
    if (!Program::compile(tree, code(), made->program, problem))
        throw_diagnostic(problem);
    compiled_ = std::move(made);
}

void GuardTree::keep(References& references) {
    References& kept = tree.references();
    for (Owned<>& each : references) {
        if (kept.empty() || kept.back().get() != each.get()) {
            kept.push_back(std::move(each));
        }
    }
    references.clear();
    changed();
}

int GuardTree::traverse(visitproc visit, void* arg) const {
    for (const Owned<>& reference : tree.references()) Py_VISIT(reference.get());
    for (const Owned<>& reference : scope_references_) Py_VISIT(reference.get());
    if (!compiled_) return 0;
    // The program's copies of references count too. A check that holds the program also
    // has `self` on its stack.
    const References& copies = compiled_->program.references();
    for (const Owned<>& reference : copies) Py_VISIT(reference.get());
    return 0;
}

void GuardTree::clear() {
    compiled_ = {};
    tree.clear();
}

int GuardManager::traverse(visitproc visit, void* arg) const {
    Py_VISIT(root_.get());
    return own_ ? own_->traverse(visit, arg) : 0;
}

void GuardManager::clear() {
    // A child handle only refers to its root and has nothing else to release.
    if (own_) own_->clear();
}

void GuardManager::refuse_use() const {
    if (!tree_) {
        throw py::type_error(
            "this GuardManager was not initialised: call GuardManager.__init__(scope)");
    }
    PyErr_SetString(PyExc_ReferenceError,
                    "this guard tree was emptied by the garbage collector");
    throw py::error_already_set();
}

}  // namespace guardtree
