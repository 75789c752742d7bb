// GuardManager: a Python object that points at one node of a guard tree.
// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include <pybind11/pybind11.h>

#include "../guards/program/program.h"

#include "boxed.h"

namespace guardtree {

namespace py = pybind11;

/// Throws the Python exception that a Diagnostic describes.
[[noreturn]] void throw_diagnostic(const Diagnostic& problem);

/// A program. A check may still run it while its manager compiles the next one.
struct CompiledGuards : Counted {
    Program program;
};

/// The namespaces of a function, or of a code object alone. Borrowed.
inline Scope scope_of(PyCodeObject* code, PyFunctionObject* function) noexcept {
    Scope scope{.code = code};
    if (function) {
        scope.globals = function->func_globals;
        scope.builtins = function->func_builtins;
        scope.closure = function->func_closure;
    }
    return scope;
}

/// The tree of a root handle, its scope, and its program.
class GuardTree {
public:
    /// `scope`: a function, a code object, or a callback's frame. Referenced weakly,
    /// because guards are kept alive by the code that they guard.
    explicit GuardTree(py::handle scope);

    /// Other guards for the scope of `other`.
    GuardTree(const GuardTree& other, Tree guards);

    Tree tree;

    /// The check or relation that was added last, which note() applies to.
    struct {
        CheckId id = no_id;
        bool is_relation = false;
    } last_added;

    /// Moves the references of new operands into the tree, and leaves `references`
    /// empty. Consecutive equal references are stored once. The next check compiles
    /// again.
    void keep(References& references);

    /// A reusable vector for references while operands are read, so that no call
    /// allocates its own.
    References spare;

    /// The code object in which names are resolved. Throws if it has died.
    PyCodeObject* code() const {
        if (code_.is_dead()) [[unlikely]]
            refuse_dead_code();
        return reinterpret_cast<PyCodeObject*>(code_.object);
    }

    /// The function, or null if there was none or it has died.
    PyFunctionObject* function() const noexcept {
        if (!function_.object || function_.is_dead()) return nullptr;
        return reinterpret_cast<PyFunctionObject*>(function_.object);
    }

    /// Called by every edit: the next check compiles again.
    void changed() noexcept { compiled_ = {}; }

    /// The compiled current tree. Throws if it does not compile.
    const Shared<CompiledGuards>& compiled() {
        if (!compiled_) [[unlikely]]
            compile();
        return compiled_;
    }

    /// The program of the last check. Null if guards were added since.
    const Program* program() const noexcept {
        return compiled_ ? &compiled_->program : nullptr;
    }

    int traverse(visitproc visit, void* arg) const;
    void clear();

private:
    [[noreturn]] static void refuse_dead_code();
    void compile();

    References scope_references_;
    Identity code_;
    Identity function_;
    Shared<CompiledGuards> compiled_;
};

/// Root handles own the tree; other handles keep their root alive. The Python type is
/// our own (guard_manager_type.cpp), because a pybind11 instance costs 200 ns more.
class GuardManager {
public:
    /// The state after `__new__`: there is no tree until `__init__`.
    GuardManager() noexcept = default;

    explicit GuardManager(std::unique_ptr<GuardTree> tree) noexcept
        : own_(std::move(tree)), tree_(own_.get()) {}

    GuardManager(Owned<> root, GuardTree* tree, NodeId node) noexcept
        : root_(std::move(root)), tree_(tree), node_(node) {}

    bool has_tree() const noexcept { return tree_ != nullptr; }

    /// Throws TypeError if a subclass did not call `__init__`.
    GuardTree& tree() const {
        if (!tree_) [[unlikely]]
            refuse_use();
        return *tree_;
    }

    /// Throws ReferenceError if the garbage collector has emptied the tree.
    NodeId node() const {
        if (node_ >= tree().tree.node_count()) [[unlikely]]
            refuse_use();
        return node_;
    }

    bool is_root() const noexcept { return !root_; }

    /// The handle of the whole tree: `self` if it is a root. Borrowed.
    PyObject* root(PyObject* self) const noexcept { return root_ ? root_.get() : self; }

    int traverse(visitproc visit, void* arg) const;
    void clear();

    /// The handle in a Python GuardManager, which may be an instance of a subclass.
    static GuardManager* from_python(PyObject* self) noexcept;

    /// The same, for methods whose `self` was not checked (define). Throws TypeError
    /// for other objects.
    static GuardManager& of(py::handle self);

    /// True for a GuardManager.
    static bool is_instance(py::handle object) noexcept;

    /// A new Python GuardManager.
    static py::object to_python(GuardManager handle);

    /// A new Python GuardManager for `node` of the tree of `self`.
    static py::object handle_on(PyObject* self, NodeId node);

private:
    [[noreturn]] void refuse_use() const;

    std::unique_ptr<GuardTree> own_;
    Owned<> root_;
    GuardTree* tree_ = nullptr;
    NodeId node_ = 0;
};

/// The part of a GuardManager that CPython reads, in standard layout.
struct GuardManagerHead {
    PyObject base;
    PyObject* weak_references;
};

/// The Python object of a GuardManager.
struct GuardManagerObject : GuardManagerHead {
    GuardManager handle;
};

inline GuardManager* GuardManager::from_python(PyObject* self) noexcept {
    return &reinterpret_cast<GuardManagerObject*>(self)->handle;
}

/// Creates the type and adds it to the module.
py::object make_guard_manager_type(py::module_& module);

/// Adds a C method to a type, without pybind11's call path, which costs 40 to 90 ns.
/// `method` must live as long as the process.
void add_method(py::handle type, PyMethodDef& method);

void bind_kinds_and_steps(py::handle manager);
void bind_relations(py::handle manager);
void bind_descriptions(py::handle manager);
void bind_text(py::module_& module, py::handle manager);
void bind_json(py::module_& module, py::handle manager);
void bind_profile(py::module_& module, py::handle manager);

}  // namespace guardtree
