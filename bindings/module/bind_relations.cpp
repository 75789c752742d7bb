// GuardManager's relations: one derived method for each.
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>

#include "../bindings.h"
#include "../guard_manager.h"

namespace guardtree {
namespace {

template <class R>
constexpr size_t operand_count =
    std::tuple_size_v<std::remove_cvref_t<decltype(R::operands())>>;

/// The node of `object`, a handle on the same tree.
NodeId node_of(const GuardTree& tree, py::handle object, std::string_view relation) {
    if (!GuardManager::is_instance(object)) {
        Diagnostic problem;
        refuse_operand(problem, "a GuardManager on a value of the same tree",
                       object.ptr());
        problem.message = std::string(relation) + ": " + problem.message;
        throw_diagnostic(problem);
    }
    const auto& handle = *GuardManager::from_python(object.ptr());
    if (&handle.tree() != &tree) {
        throw py::value_error(std::string(relation) +
                              ": a value of another guard tree was given; relations "
                              "hold within one tree");
    }
    return handle.node();
}

/// Reads values that are passed by the names in an expression.
template <NamesItsValues R>
std::vector<NodeId> nodes_by_name(const GuardTree& tree, const R& relation,
                                  const py::kwargs& kwargs) {
    std::vector<NodeId> nodes;
    for (const std::string& name : relation.names()) {
        if (!kwargs.contains(name.c_str())) {
            throw py::type_error(std::string(R::info.name) + ": no value for '" + name +
                                 "' was given");
        }
        nodes.push_back(node_of(tree, kwargs[name.c_str()], R::info.name));
    }
    if (kwargs.size() > nodes.size()) {
        for (const auto& [key, value] : kwargs) {
            const auto name = py::cast<std::string>(key);
            if (std::ranges::find(relation.names(), name) == relation.names().end()) {
                throw py::type_error(std::string(R::info.name) +
                                     ": the expression does not speak of '" +
                                     name + "'");
            }
        }
    }
    return nodes;
}

template <class R>
py::object relate(const py::object& self, const py::args& args,
                  const py::kwargs& kwargs) {
    const GuardManager& handle = GuardManager::of(self);
    GuardTree& tree = handle.tree();
    const size_t given = std::min(args.size(), operand_count<R>);
    std::vector<PyObject*> operands;
    for (size_t i = 0; i < given; ++i) operands.push_back(py::handle(args[i]).ptr());
    R relation{};
    References references;
    Diagnostic problem;
    if (!read_operands<R>(operands, relation, references, problem)) {
        throw_diagnostic(problem);
    }
    std::vector<NodeId> nodes;
    for (size_t i = given; i < args.size(); ++i) {
        nodes.push_back(node_of(tree, args[i], R::info.name));
    }
    if constexpr (NamesItsValues<R>) {
        if (nodes.empty()) nodes = nodes_by_name(tree, relation, kwargs);
    }
    if (!kwargs.empty() && (!NamesItsValues<R> || args.size() > given)) {
        throw py::type_error(std::string(R::info.name) +
                             ": give the values by position or by name, not both");
    }
    CheckId made = 0;
    // before the tree refers to them, because either may run out of memory
    tree.keep(references);
    if (!tree.tree.relate(Op(relation), nodes, problem, &made))
        throw_diagnostic(problem);
    tree.last_added = {made, true};
    return py::reinterpret_borrow<py::object>(handle.root(self.ptr()));
}

template <class... Rs>
void bind_each(py::handle manager, TypeList<Rs...>) {
    (define(manager, python_name(Rs::info.name).c_str(), calling<&relate<Rs>>,
            documentation<Rs>("GuardManager").c_str()),
     ...);
}

}  // namespace

void bind_relations(py::handle manager) {
    bind_each(manager, AllRelations{});
}

}  // namespace guardtree
