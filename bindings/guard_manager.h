// GuardManager: the Python handle on a node of a guard tree that is being built.
// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include <pybind11/pybind11.h>

#include "../guards/explain.h"
#include "../guards/program.h"

namespace guardtree {

namespace py = pybind11;

/// Throws the Python exception that a Diagnostic describes.
[[noreturn]] void throw_diagnostic(const Diagnostic& problem);

/// A program that a check may be running while its manager compiles the next one.
struct CompiledGuards : Counted {
    Program program;
};

/// The tree of a root handle, what it was made for, and its program.
class GuardTree {
public:
    /// `scope`: a function, a code object, or a callback's frame. Held weakly: guards
    /// are kept by the code they guard.
    explicit GuardTree(py::handle scope);

    Tree tree;

    /// What note() speaks of: the check or relation that was added last.
    struct {
        CheckId id = no_id;
        bool is_relation = false;
    } last_added;

    /// Takes over what new operands refer to, once for a run of equal ones; the next
    /// check compiles anew.
    void keep(References references);

    /// The code object that names are resolved in. Throws when it has died.
    PyCodeObject* code() const;

    /// The function, or null when there was none or it has died.
    PyFunctionObject* function() const noexcept;

    /// What an edit calls: the next check compiles anew.
    void changed() noexcept { compiled_ = {}; }

    /// The tree as it is now, compiled. Throws what does not compile.
    const Shared<CompiledGuards>& compiled();

    int traverse(visitproc visit, void* arg) const;
    void clear();

private:
    References scope_references_;
    Identity code_;
    Identity function_;
    Shared<CompiledGuards> compiled_;
};

/// Root handles own the tree; others keep their root alive.
class GuardManager {
public:
    explicit GuardManager(py::handle scope)
        : own_(std::make_unique<GuardTree>(scope)) {}

    GuardManager(Owned<> root, GuardTree* tree, NodeId node)
        : root_(std::move(root)), tree_of_root_(tree), node_(node) {}

    GuardTree& tree() const { return own_ ? *own_ : *tree_of_root_; }

    NodeId node() const noexcept { return node_; }

    /// The handle of the whole tree: `self` when it is a root.
    py::object root(py::handle self) const;

    int traverse(visitproc visit, void* arg) const;
    void clear();

    /// The C++ object behind a Python GuardManager (exact or subclass); about 1 ns.
    static GuardManager* from_python(PyObject* self) noexcept;

    /// True for a GuardManager.
    static bool is_instance(py::handle object) noexcept;

private:
    std::unique_ptr<GuardTree> own_;
    Owned<> root_;
    GuardTree* tree_of_root_ = nullptr;
    NodeId node_ = 0;
};

void bind_guard_manager(py::module_& module);
void bind_relations(py::class_<GuardManager>& manager);

}  // namespace guardtree
