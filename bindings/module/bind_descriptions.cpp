// Inspection of a GuardManager: nodes, checks, relations, counts; filtered copies.
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>

#include "../../guards/assumptions/report.h"
#include "../../guards/ops/named_op.h"
#include "../../guards/tree/copy.h"
#include "../bindings.h"
#include "../guard_manager.h"

namespace guardtree {
namespace {

/// A handle, its tree and its node. Every function here starts with one.
struct Place {
    explicit Place(const py::object& handle)
        : self(handle.ptr()),
          guards(GuardManager::of(handle).tree()),
          node(GuardManager::of(handle).node()) {}

    const Tree& tree() const { return guards.tree; }

    py::object handle_on(NodeId other) const {
        return GuardManager::handle_on(self, other);
    }

    PyObject* self;
    GuardTree& guards;
    NodeId node;
};

py::object described(const char* type, const py::args& fields) {
    return py::module_::import("guardtree.descriptions").attr(type)(*fields);
}

/// The operands as objects, by name.
py::dict operands_of(const Op& op) {
    py::dict operands;
    std::vector<Owned<>> objects = operand_objects(op);
    if (PyErr_Occurred()) throw py::error_already_set();
    for (size_t i = 0; i < objects.size(); ++i) {
        const std::string_view name = operands_of(op.code())[i].name;
        operands[py::str(name.data(), name.size())] =
            py::reinterpret_steal<py::object>(objects[i].release());
    }
    return operands;
}

/// The node and all nodes below it, parents before children. Leaves out the root, which
/// is not a value.
std::vector<NodeId> nodes_from(const Tree& tree, NodeId node) {
    std::vector<NodeId> found;
    std::vector<NodeId> stack = {node};
    std::vector<NodeId> children;
    while (!stack.empty()) {
        const NodeId id = stack.back();
        stack.pop_back();
        if (id != 0) found.push_back(id);
        children.clear();
        tree.each_child(id, [&](NodeId child) { children.push_back(child); });
        stack.insert(stack.end(), children.rbegin(), children.rend());
    }
    return found;
}

py::object describe_check(const Place& place, NodeId node, CheckId id) {
    const Check& check = place.tree().check_at(id);
    const std::string path = place.tree().path_text(node);
    return described(
        "GuardCheck",
        py::make_tuple(path, std::string(check.kind.info().name),
                       operands_of(check.kind), python_text(check.kind, path),
                       object_or_none(place.tree().note(check.note)),
                       place.handle_on(node)));
}

py::object describe_relation(const Place& place, CheckId id) {
    const RelationCheck& relation = place.tree().relations()[id];
    py::tuple paths(relation.nodes.size());
    py::tuple nodes(relation.nodes.size());
    for (size_t i = 0; i < relation.nodes.size(); ++i) {
        paths[i] = place.tree().path_text(relation.nodes[i]);
        nodes[i] = place.handle_on(relation.nodes[i]);
    }
    return described(
        "GuardRelation",
        py::make_tuple(paths, std::string(relation.relation.info().name),
                       operands_of(relation.relation), place.tree().relation_text(id),
                       object_or_none(place.tree().note(relation.note)), nodes));
}

/// Calls `visit(node, check)` for the checks at and below the place. `visit` may run
/// user code, which may add guards, so the list is created first.
void each_check_from(const Place& place, auto visit) {
    std::vector<std::pair<NodeId, CheckId>> found;
    for (const NodeId node : nodes_from(place.tree(), place.node)) {
        place.tree().each_check(node,
                                [&](CheckId id) { found.emplace_back(node, id); });
    }
    for (const auto& [node, id] : found) visit(node, id);
}

/// The relations that use a value at or below the place.
std::vector<CheckId> relations_from(const Place& place) {
    std::vector<bool> is_here(place.tree().node_count(), place.node == 0);
    for (const NodeId node : nodes_from(place.tree(), place.node)) is_here[node] = true;
    std::vector<CheckId> found;
    for (CheckId id = 0; id < place.tree().relations().size(); ++id) {
        const auto& nodes = place.tree().relations()[id].nodes;
        if (std::ranges::any_of(nodes, [&](NodeId node) { return is_here[node]; }))
            found.push_back(id);
    }
    return found;
}

py::object step_name(const py::object& self) {
    const Place place(self);
    if (place.node == 0) return py::none();
    return py::str(std::string(place.tree().node(place.node).step.info().name));
}

py::dict step_operands(const py::object& self) {
    const Place place(self);
    return place.node == 0 ? py::dict()
                           : operands_of(place.tree().node(place.node).step);
}

py::object parent(const py::object& self) {
    const Place place(self);
    if (place.node == 0) return py::none();
    const NodeId above = place.tree().node(place.node).parent;
    if (above != 0) return place.handle_on(above);
    return object_or_none(GuardManager::from_python(place.self)->root(place.self));
}

py::list children(const py::object& self) {
    const Place place(self);
    py::list list;
    place.tree().each_child(place.node,
                            [&](NodeId child) { list.append(place.handle_on(child)); });
    return list;
}

py::list nodes(const py::object& self) {
    const Place place(self);
    py::list list;
    for (const NodeId id : nodes_from(place.tree(), place.node)) {
        list.append(place.handle_on(id));
    }
    return list;
}

py::list checks(const py::object& self) {
    const Place place(self);
    py::list list;
    each_check_from(place, [&](NodeId node, CheckId id) {
        list.append(describe_check(place, node, id));
    });
    return list;
}

py::list relations(const py::object& self) {
    const Place place(self);
    py::list list;
    for (const CheckId id : relations_from(place)) {
        list.append(describe_relation(place, id));
    }
    return list;
}

py::object counts(const py::object& self) {
    const Place place(self);
    py::dict kinds;
    const auto count = [&](const Op& op) {
        const py::str name(std::string(op.info().name));
        kinds[name] = kinds.contains(name) ? kinds[name].cast<size_t>() + 1 : 1;
    };
    size_t check_count = 0;
    each_check_from(place, [&](NodeId, CheckId id) {
        count(place.tree().check_at(id).kind);
        ++check_count;
    });
    const std::vector<CheckId> related = relations_from(place);
    for (const CheckId id : related) count(place.tree().relations()[id].relation);
    return described("GuardCounts",
                     py::make_tuple(nodes_from(place.tree(), place.node).size(),
                                    check_count, related.size(), kinds));
}

py::object assumed(const py::object& self) {
    const Place place(self);
    const Program* program = place.guards.program();
    const AssumptionReport report =
        program ? report_assumptions(*program) : AssumptionReport{};
    return described(
        "AssumedGuards",
        py::make_tuple(report.assumed.size(), report.reread, report.compared,
                       py::tuple(py::cast(report.invalidated))));
}

/// Calls `keep` for every check and relation. It may add guards in the meantime; the
/// copy does not contain those.
KeptGuards ask_of_each(const Place& whole, const py::object& keep) {
    KeptGuards kept;
    const auto relation_count = static_cast<CheckId>(whole.tree().relations().size());
    kept.checks.assign(whole.tree().check_count(), false);
    kept.relations.assign(relation_count, false);
    const auto is_true = [](const py::object& answer) {
        const int truth = PyObject_IsTrue(answer.ptr());
        if (truth < 0) throw py::error_already_set();
        return truth == 1;
    };
    each_check_from(whole, [&](NodeId node, CheckId id) {
        kept.checks[id] = is_true(keep(describe_check(whole, node, id)));
    });
    for (CheckId id = 0; id < relation_count; ++id) {
        kept.relations[id] = is_true(keep(describe_relation(whole, id)));
    }
    return kept;
}

py::object clone(const py::object& self, const py::object& keep) {
    PyObject* root = GuardManager::of(self).root(self.ptr());
    const Place whole(py::reinterpret_borrow<py::object>(root));
    KeptGuards kept;
    if (!keep.is_none()) kept = ask_of_each(whole, keep);
    Tree copy = copy_of(whole.tree(), keep.is_none() ? nullptr : &kept);
    return GuardManager::to_python(
        GuardManager(std::make_unique<GuardTree>(whole.guards, std::move(copy))));
}

}  // namespace

void bind_descriptions(py::handle manager) {
    define_property(manager, "step", calling<&step_name>,
                    "The name of the step that fetches the node's value from its "
                    "parent's; None on the root.");
    define_property(
        manager, "operands", calling<&step_operands>,
        "The step's operands by name, as objects (None for one that died).");
    define_property(manager, "parent", calling<&parent>,
                    "The node that the step starts from; None on the root.");
    define(manager, "children", calling<&children>,
           "Handles on the nodes one step away, in the order they were made.");
    define(manager, "nodes", calling<&nodes>,
           "Handles on this node and all below it, each before its children. The root "
           "itself, which is no value, is left out.");
    define(manager, "checks", calling<&checks>,
           "A GuardCheck for each check at and below this node.");
    define(manager, "relations", calling<&relations>,
           "A GuardRelation for each relation over a value at or below this node.");
    define(manager, "counts", calling<&counts>,
           "GuardCounts of what nodes(), checks() and relations() give.");
    define(manager, "assumed", calling<&assumed>,
           "AssumedGuards: what the last check() relied on without looking. Nothing "
           "before the second check that passed.");
    define(
        manager, "clone", calling<&clone>, py::arg("keep") = py::none(),
        "A new GuardManager for the same scope with the same guards; with `keep`, "
        "those whose GuardCheck or GuardRelation it accepts. Paths without checks go. "
        "What `keep` raises is raised, and nothing is made. The new tree keeps alive "
        "what this one does.");
}

}  // namespace guardtree
