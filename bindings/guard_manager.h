// GuardManager: the Python handle on a node of a guard tree that is being built.
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

/// A program that a check may be running while its manager compiles the next one.
struct CompiledGuards : Counted {
    Program program;
};

/// Where a function's names are looked up, or those of code alone; borrowed.
inline Scope scope_of(PyCodeObject* code, PyFunctionObject* function) noexcept {
    Scope scope{.code = code};
    if (function) {
        scope.globals = function->func_globals;
        scope.builtins = function->func_builtins;
        scope.closure = function->func_closure;
    }
    return scope;
}

/// The tree of a root handle, what it was made for, and its program.
class GuardTree {
public:
    /// `scope`: a function, a code object, or a callback's frame. Held weakly: guards
    /// are kept by the code they guard.
    explicit GuardTree(py::handle scope);

    /// Other guards for the scope of `other`.
    GuardTree(const GuardTree& other, Tree guards);

    Tree tree;

    /// What note() speaks of: the check or relation that was added last.
    struct {
        CheckId id = no_id;
        bool is_relation = false;
    } last_added;

    /// Takes over what new operands refer to, once for a run of equal ones, and empties
    /// `references`; the next check compiles anew.
    void keep(References& references);

    /// Room for references while operands are read, so that no call allocates its own.
    References spare;

    /// The code object that names are resolved in. Throws when it has died.
    PyCodeObject* code() const {
        if (code_.is_dead()) [[unlikely]]
            refuse_dead_code();
        return reinterpret_cast<PyCodeObject*>(code_.object);
    }

    /// The function, or null when there was none or it has died.
    PyFunctionObject* function() const noexcept {
        if (!function_.object || function_.is_dead()) return nullptr;
        return reinterpret_cast<PyFunctionObject*>(function_.object);
    }

    /// What an edit calls: the next check compiles anew.
    void changed() noexcept { compiled_ = {}; }

    /// The tree as it is now, compiled. Throws what does not compile.
    const Shared<CompiledGuards>& compiled() {
        if (!compiled_) [[unlikely]]
            compile();
        return compiled_;
    }

    /// The program of the last check; null when guards were added since.
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

/// Root handles own the tree; others keep their root alive. Lives in a Python object of
/// a type of our own (guard_manager_type.cpp): a pybind11 instance costs 200 ns more.
class GuardManager {
public:
    /// What `__new__` makes: of no tree until `__init__`.
    GuardManager() noexcept = default;

    explicit GuardManager(std::unique_ptr<GuardTree> tree) noexcept
        : own_(std::move(tree)), tree_(own_.get()) {}

    GuardManager(Owned<> root, GuardTree* tree, NodeId node) noexcept
        : root_(std::move(root)), tree_(tree), node_(node) {}

    bool has_tree() const noexcept { return tree_ != nullptr; }

    /// Throws TypeError when a subclass did not call `__init__`.
    GuardTree& tree() const {
        if (!tree_) [[unlikely]]
            refuse_use();
        return *tree_;
    }

    /// Throws ReferenceError when the garbage collector has emptied the tree.
    NodeId node() const {
        if (node_ >= tree().tree.node_count()) [[unlikely]]
            refuse_use();
        return node_;
    }

    bool is_root() const noexcept { return !root_; }

    /// The handle of the whole tree: `self` when it is a root. Borrowed.
    PyObject* root(PyObject* self) const noexcept { return root_ ? root_.get() : self; }

    int traverse(visitproc visit, void* arg) const;
    void clear();

    /// The handle in a Python GuardManager (exact or subclass).
    static GuardManager* from_python(PyObject* self) noexcept;

    /// The same for methods whose `self` nobody has looked at (define): throws
    /// TypeError for what is no GuardManager.
    static GuardManager& of(py::handle self);

    /// True for a GuardManager.
    static bool is_instance(py::handle object) noexcept;

    /// A new Python GuardManager.
    static py::object to_python(GuardManager handle);

    /// A new Python GuardManager on `node` of the tree that `self` is a handle of.
    static py::object handle_on(PyObject* self, NodeId node);

private:
    [[noreturn]] void refuse_use() const;

    std::unique_ptr<GuardTree> own_;
    Owned<> root_;
    GuardTree* tree_ = nullptr;
    NodeId node_ = 0;
};

/// What CPython reads of a GuardManager: in C's own layout.
struct GuardManagerHead {
    PyObject base;
    PyObject* weak_references;
};

/// A GuardManager as CPython sees it.
struct GuardManagerObject : GuardManagerHead {
    GuardManager handle;
};

inline GuardManager* GuardManager::from_python(PyObject* self) noexcept {
    return &reinterpret_cast<GuardManagerObject*>(self)->handle;
}

/// Makes the type and puts it into the module.
py::object make_guard_manager_type(py::module_& module);

/// Puts a C method on a type, past pybind11's call path, which costs 40 to 90 ns.
/// `method` lives as long as the process.
void add_method(py::handle type, PyMethodDef& method);

void bind_kinds_and_steps(py::handle manager);
void bind_relations(py::handle manager);
void bind_descriptions(py::handle manager);
void bind_text(py::module_& module, py::handle manager);
void bind_json(py::module_& module, py::handle manager);
void bind_profile(py::module_& module, py::handle manager);

}  // namespace guardtree
