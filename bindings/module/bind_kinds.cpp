// GuardManager's kinds and steps: one derived method for each.
// SPDX-License-Identifier: MIT
//
// They are vectorcall methods that are added to the type by hand. A tree of thousands
// of guards is built through them, and pybind11's `*args, **kwargs` creates a tuple and
// a dict per call (bench `build`).
#include <array>

#include "../bindings.h"
#include "../guard_manager.h"

namespace guardtree {
namespace {

/// The arguments of a vectorcall.
struct Call {
    PyObject* const* values;
    size_t count;        ///< number of positional arguments; the others follow
    PyObject* keywords;  ///< names of the keyword arguments, or null

    size_t keyword_count() const noexcept {
        return keywords ? static_cast<size_t>(PyTuple_GET_SIZE(keywords)) : 0;
    }

    PyObject* find(std::string_view name) const {
        for (size_t i = 0; i < keyword_count(); ++i) {
            PyObject* given = PyTuple_GET_ITEM(keywords, static_cast<Py_ssize_t>(i));
            if (PyUnicode_CompareWithASCIIString(given, std::string(name).c_str()) == 0)
                return values[count + i];
        }
        return nullptr;
    }
};

/// Positional and keyword arguments in the order of the operands. Only keyword
/// arguments need `storage`.
std::span<PyObject* const> in_order(const Call& call, std::string_view method,
                                    std::span<const std::string_view> operands,
                                    std::vector<PyObject*>& storage) {
    if (call.keyword_count() == 0) return {call.values, call.count};
    storage.assign(call.values, call.values + call.count);
    size_t used = 0;
    for (size_t i = call.count; i < operands.size(); ++i) {
        PyObject* found = call.find(operands[i]);
        if (!found) continue;
        storage.push_back(found);
        ++used;
    }
    if (used != call.keyword_count()) {
        throw py::type_error(
            std::string(method) +
            "(): unexpected keyword arguments, or operands given twice");
    }
    return storage;
}

template <class T>
constexpr auto operand_list() {
    return std::apply(
        [](const auto&... each) {
            return std::array<std::string_view, sizeof...(each)>{each.name...};
        },
        T::operands());
}

/// Borrows the tree's spare vector for references. A nested call creates its own.
class SpareReferences {
public:
    explicit SpareReferences(GuardTree& tree) noexcept : tree_(tree) {
        references.swap(tree_.spare);
    }

    ~SpareReferences() {
        references.clear();
        references.swap(tree_.spare);
    }

    SpareReferences(const SpareReferences&) = delete;
    SpareReferences& operator=(const SpareReferences&) = delete;

    References references;

private:
    GuardTree& tree_;
};

template <class T>
Op op_from_python(GuardTree& tree, const Call& call) {
    static constexpr auto names = operand_list<T>();
    std::vector<PyObject*> storage;
    T operands{};
    Diagnostic problem;
    SpareReferences spare(tree);
    if (!read_operands<T>(in_order(call, T::info.name, names, storage), operands,
                          spare.references, problem)) {
        throw_diagnostic(problem);
    }
    tree.keep(spare.references);
    return Op(operands);
}

/// `python(fn)` on the root checks the locals. It is the only kind that the root
/// accepts.
NodeId node_for_check(GuardTree& tree, NodeId node, OpCode code) {
    if (node != 0 || code != code_of<Python>) return node;
    Diagnostic problem;
    NodeId locals = 0;
    if (!tree.tree.child(0, Op(FLocals{}), locals, problem)) throw_diagnostic(problem);
    return locals;
}

void add_check(GuardTree& tree, NodeId node, const Op& kind) {
    Diagnostic problem;
    CheckId made = 0;
    if (!tree.tree.check(node_for_check(tree, node, kind.code()), kind, problem,
                         &made)) {
        throw_diagnostic(problem);
    }
    tree.last_added = {made, false};
}

py::object child_handle(PyObject* self, GuardTree& tree, NodeId node, const Op& step) {
    Diagnostic problem;
    NodeId child = 0;
    if (!tree.tree.child(node, step, child, problem)) throw_diagnostic(problem);
    return GuardManager::handle_on(self, child);
}

template <GuardKind K>
PyObject* call_op(PyObject* self, PyObject* const* values, Py_ssize_t count,
                  PyObject* keywords) noexcept {
    return translated([&] {
        const GuardManager& handle = *GuardManager::from_python(self);
        GuardTree& tree = handle.tree();
        const Op kind =
            op_from_python<K>(tree, {values, static_cast<size_t>(count), keywords});
        add_check(tree, handle.node(), kind);
        return Owned<>::share(self).release();
    });
}

template <GuardStep S>
PyObject* call_op(PyObject* self, PyObject* const* values, Py_ssize_t count,
                  PyObject* keywords) noexcept {
    return translated([&] {
        const GuardManager& handle = *GuardManager::from_python(self);
        GuardTree& tree = handle.tree();
        Op step =
            op_from_python<S>(tree, {values, static_cast<size_t>(count), keywords});
        if constexpr (BindsToCode<S>) {  // reports an unknown name at once
            std::string text;
            if (!step.as<S>().bind(tree.code(), text)) {
                throw_diagnostic({PyExc_NameError, text});
            }
        }
        return child_handle(self, tree, handle.node(), step).release().ptr();
    });
}

/// The type of METH_FASTCALL | METH_KEYWORDS functions.
using Method = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

template <class T>
void bind_one(py::handle manager) {
    const Method body = &call_op<T>;
    static const std::string name = python_name(T::info.name);
    static const std::string text = signature_documentation<T>();
    static PyMethodDef method = {
        name.c_str(), reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(body)),
        METH_FASTCALL | METH_KEYWORDS, text.c_str()};
    add_method(manager, method);
}

template <class... Ts>
void bind_all(py::handle manager, TypeList<Ts...>) {
    (bind_one<Ts>(manager), ...);
}

}  // namespace

void bind_kinds_and_steps(py::handle manager) {
    bind_all(manager, AllSteps{});
    bind_all(manager, AllKinds{});
}

}  // namespace guardtree
