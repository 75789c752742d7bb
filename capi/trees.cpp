// Trees of the C interface: built from text, from JSON or by names; foreign functions.
// SPDX-License-Identifier: MIT
#include <Python.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../dsl/json/reader.h"
#include "../dsl/json/writer.h"
#include "../dsl/text/text.h"
#include "../guards/operands/foreign_function.h"
#include "../guards/operands/native_function.h"
#include "../guards/ops/named_op.h"

#include "handles.h"

namespace guardtree {
namespace {

GuardsReader read_guards = nullptr;

PyObject* new_text(const std::string& text) noexcept {
    return PyUnicode_FromStringAndSize(text.data(),
                                       static_cast<Py_ssize_t>(text.size()));
}

/// Creates a tree for a scope. Null with an exception set.
std::unique_ptr<guardtree_tree> tree_for(const char* function, PyObject* scope) {
    if (!scope) {
        raise_null(function);
        return nullptr;
    }
    auto made = std::make_unique<guardtree_tree>();
    if (!OwnedScope::of(scope, made->scope)) return nullptr;
    return made;
}

/// Reads a client's node number. Returns false, with IndexError set, if there is no
/// such node.
bool read_node(const Tree& tree, int64_t given, NodeId& to) {
    if (given >= 0 && static_cast<uint64_t>(given) < tree.node_count()) {
        to = static_cast<NodeId>(given);
        return true;
    }
    PyErr_Format(PyExc_IndexError,
                 "expected the number of a node of this tree, 0 to %zu, found %lld",
                 tree.node_count() - 1, static_cast<long long>(given));
    return false;
}

/// Makes an op from a name and operands, in the group that `is_wanted` accepts. False
/// with an exception set.
bool make_named(guardtree_tree& tree, const char* name, PyObject* const* operands,
                size_t count, const char* group, bool (*is_wanted)(OpCode) noexcept,
                Op& to) {
    OpCode code{};
    if (!find_op(name, code) || !is_wanted(code)) {
        PyErr_Format(PyExc_ValueError,
                     "there is no %s called %.100s: help(guardtree.GuardManager) "
                     "lists all",
                     group, name);
        return false;
    }
    for (size_t i = 0; i < count; ++i) {
        if (operands && operands[i]) continue;
        PyErr_Format(PyExc_SystemError, "operand %zu of %s is NULL", i, name);
        return false;
    }
    References references;
    Diagnostic problem;
    if (!make_op(code, {operands, count}, to, references, problem)) {
        raise_diagnostic(problem);
        return false;
    }
    for (Owned<>& each : references) tree.tree.references().push_back(std::move(each));
    return true;
}

/// Reads the first `size` bytes, which the client's header has. The rest is null.
bool read_foreign(const guardtree_foreign* about, ForeignContext& to) {
    if (!about) return true;
    constexpr size_t first_size = offsetof(guardtree_foreign, equal) + sizeof(void*);
    if (about->size < first_size) {
        PyErr_Format(PyExc_ValueError,
                     "guardtree_foreign: expected a size of at least %zu, found %zu: "
                     "set it to sizeof(guardtree_foreign)",
                     first_size, about->size);
        return false;
    }
    if (!about->hash != !about->equal) {
        PyErr_SetString(PyExc_ValueError,
                        "guardtree_foreign: hash and equal come together");
        return false;
    }
    to = {about->context, about->destroy, about->describe, about->hash, about->equal};
    return true;
}

PyObject* foreign_operand(const char* function, const char* name, void* pointer,
                          const guardtree_foreign* about) {
    if (!pointer) {
        raise_null(function);
        return nullptr;
    }
    ForeignContext context;
    if (!read_foreign(about, context)) return nullptr;
    return foreign_capsule(name, pointer, context).release();
}

}  // namespace

void set_guards_reader(GuardsReader read) noexcept {
    read_guards = read;
}

bool OwnedScope::of(PyObject* object, OwnedScope& to) {
    if (PyMethod_Check(object)) object = PyMethod_GET_FUNCTION(object);
    if (PyFunction_Check(object)) {
        to.function = Owned<>::share(object);
        object = PyFunction_GET_CODE(object);
    }
    if (!PyCode_Check(object)) {
        Diagnostic problem;
        refuse_operand(problem, "a function or a code object as the scope", object);
        raise_diagnostic(problem);
        return false;
    }
    to.code = Owned<PyCodeObject>::share(reinterpret_cast<PyCodeObject*>(object));
    return true;
}

Scope OwnedScope::names() const noexcept {
    Scope scope{.code = code.get()};
    if (function) {
        const auto* called = reinterpret_cast<PyFunctionObject*>(function.get());
        scope.globals = called->func_globals;
        scope.builtins = called->func_builtins;
        scope.closure = called->func_closure;
    }
    return scope;
}

namespace c_functions {

guardtree_tree* tree_new(PyObject* scope) {
    return tree_for("tree_new", scope).release();
}

guardtree_tree* tree_of_text(PyObject* scope, const char* text, PyObject* names) {
    auto made = tree_for("tree_of_text", text ? scope : nullptr);
    if (!made) return nullptr;
    if (names && !PyDict_Check(names)) {
        PyErr_SetString(PyExc_TypeError, "tree_of_text: expected a dict of names");
        return nullptr;
    }
    Diagnostic problem;
    const TextNames known{made->scope.names(), names};
    if (!parse_guards(text, known, made->tree, problem)) {
        raise_diagnostic(problem);
        return nullptr;
    }
    return made.release();
}

guardtree_tree* tree_of_json(PyObject* scope, const char* text) {
    auto made = tree_for("tree_of_json", text ? scope : nullptr);
    if (!made) return nullptr;
    Diagnostic problem;
    const JsonReading reading{.code = made->scope.code.get()};
    if (!from_json(text, reading, made->tree, problem)) {
        if (problem) raise_diagnostic(problem);
        return nullptr;
    }
    return made.release();
}

guardtree_tree* tree_of_guards(PyObject* guards) {
    if (!guards || !read_guards) {
        raise_null("tree_of_guards");
        return nullptr;
    }
    auto made = std::make_unique<guardtree_tree>();
    if (!read_guards(guards, made->scope, made->tree)) return nullptr;
    return made.release();
}

void tree_free(guardtree_tree* tree) {
    delete tree;
}

int64_t tree_step(guardtree_tree* tree, int64_t parent, const char* step,
                  PyObject* const* operands, size_t count) {
    if (!tree || !step) {
        raise_null("tree_step");
        return -1;
    }
    NodeId from = 0;
    NodeId to = 0;
    Op op;
    if (!read_node(tree->tree, parent, from) ||
        !make_named(*tree, step, operands, count, "step", is_step, op))
        return -1;
    Diagnostic problem;
    if (tree->tree.child(from, op, to, problem)) return to;
    raise_diagnostic(problem);
    return -1;
}

int tree_check(guardtree_tree* tree, int64_t node, const char* kind,
               PyObject* const* operands, size_t count) {
    if (!tree || !kind) {
        raise_null("tree_check");
        return -1;
    }
    NodeId at = 0;
    Op op;
    if (!read_node(tree->tree, node, at) ||
        !make_named(*tree, kind, operands, count, "kind", is_kind, op))
        return -1;
    Diagnostic problem;
    if (tree->tree.check(at, op, problem)) return 0;
    raise_diagnostic(problem);
    return -1;
}

int tree_relate(guardtree_tree* tree, const char* relation, PyObject* const* operands,
                size_t count, const int64_t* nodes, size_t node_count) {
    if (!tree || !relation || (node_count && !nodes)) {
        raise_null("tree_relate");
        return -1;
    }
    std::vector<NodeId> values(node_count);
    for (size_t i = 0; i < node_count; ++i) {
        if (!read_node(tree->tree, nodes[i], values[i])) return -1;
    }
    Op op;
    if (!make_named(*tree, relation, operands, count, "relation", is_relation, op))
        return -1;
    Diagnostic problem;
    if (tree->tree.relate(op, values, problem)) return 0;
    raise_diagnostic(problem);
    return -1;
}

PyObject* tree_text(const guardtree_tree* tree) {
    // a copy, because a repr may free the tree
    if (tree) return new_text(Tree(tree->tree).text());
    raise_null("tree_text");
    return nullptr;
}

PyObject* tree_json(const guardtree_tree* tree) {
    if (!tree) {
        raise_null("tree_json");
        return nullptr;
    }
    std::string text;
    std::vector<std::string> dropped;
    Diagnostic problem;
    if (to_json(Tree(tree->tree), {}, text, dropped, problem)) return new_text(text);
    raise_diagnostic(problem);
    return nullptr;
}

PyObject* check_operand(guardtree_check check, const guardtree_foreign* about) {
    return foreign_operand("check_operand", NativeCheck::name,
                           reinterpret_cast<void*>(check), about);
}

PyObject* getter_operand(guardtree_getter get, const guardtree_foreign* about) {
    return foreign_operand("getter_operand", NativeGetter::name,
                           reinterpret_cast<void*>(get), about);
}

}  // namespace c_functions
}  // namespace guardtree
