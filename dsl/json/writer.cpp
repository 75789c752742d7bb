// Writes guard trees as JSON.
// SPDX-License-Identifier: MIT
#include "writer.h"

#include <algorithm>

#include "../../framelocals/exception.h"
#include "../../framelocals/no_memory.h"
#include "../../guards/ops/named_op.h"

#include "operands.h"

namespace guardtree {
namespace {

/// Returns false if an object that the op refers to has died or has changed since the
/// op was made. An op made from its objects now would be a different one.
bool is_as_it_was(const Op& op, std::span<PyObject* const> objects) {
    const auto is_constant = [](JsonShape shape) {
        return shape == JsonShape::constant || shape == JsonShape::expression;
    };
    if (std::ranges::all_of(json_shapes(op.code()), is_constant)) return true;
    Op again;
    References keep;
    Diagnostic ignored;
    const bool is_made = make_op(op.code(), objects, again, keep, ignored);
    if (ignored.exception == PyExc_MemoryError) throw_no_memory();
    return is_made && same_op(op, again);
}

/// The operands of an op. If `reason` is set, they have no JSON form.
std::string operands_text(const Op& op, std::string& reason) {
    const std::vector<Owned<>> owned = operand_objects(op);
    if (PyErr_Occurred()) {
        drop_exception();
        reason = "it needs more memory than there is";
        return {};
    }
    std::vector<PyObject*> objects;
    for (const Owned<>& each : owned) objects.push_back(each.get());
    std::string text = json_operands(op.code(), objects, reason);
    if (reason.empty() && !is_as_it_was(op, objects)) {
        reason = "an object that it names has died or has changed";
    }
    return text;
}

/// The root and all nodes below it, each before its children.
std::vector<NodeId> preorder(const Tree& tree) {
    std::vector<NodeId> found;
    std::vector<NodeId> stack = {0};
    std::vector<NodeId> children;
    while (!stack.empty()) {
        const NodeId id = stack.back();
        stack.pop_back();
        found.push_back(id);
        children.clear();
        tree.each_child(id, [&](NodeId child) { children.push_back(child); });
        stack.insert(stack.end(), children.rbegin(), children.rend());
    }
    return found;
}

/// Writes a tree. The texts of dropped guards may run user code, which may add guards.
/// So lists are created before they are iterated.
class JsonWriter {
public:
    JsonWriter(const Tree& tree, const JsonOptions& options,
               std::vector<std::string>& dropped, Diagnostic& problem)
        : tree_(tree),
          options_(options),
          dropped_(dropped),
          problem_(problem),
          places_(tree.node_count(), absent) {
        places_[0] = -1;
    }

    bool run(std::string& to) {
        const auto relation_count = static_cast<CheckId>(tree_.relations().size());
        for (const NodeId id : preorder(tree_)) {
            if (id != 0 && !write_node(id)) return false;
        }
        for (CheckId id = 0; id < relation_count; ++id) {
            if (!write_relation(id)) return false;
        }
        to = "{\"guardtree\":" + std::to_string(json_version) +
             ",\"nodes\":" + json_list(nodes_) +
             ",\"relations\":" + json_list(relations_) + "}";
        return true;
    }

private:
    static constexpr int64_t absent = -2;

    /// Leaves out a guard, or refuses the tree because of it.
    bool leave_out(const std::string& text, const Op& op, const std::string& reason) {
        if (options_.drop_unportable) {
            dropped_.push_back(text);
            return true;
        }
        problem_ = {PyExc_ValueError,
                    text + ": " + std::string(op.info().name) +
                        " has no form in JSON: " + reason +
                        "; guard it in another way, or leave it out "
                        "(JsonOptions::drop_unportable, in Python to_portable_json)"};
        return false;
    }

    std::vector<CheckId> checks_of(NodeId id) const {
        std::vector<CheckId> checks;
        tree_.each_check(id, [&](CheckId check) { checks.push_back(check); });
        return checks;
    }

    /// Drops the checks of a node that is not written. Called only after a guard was
    /// left out.
    void drop_checks(NodeId id) {
        for (const CheckId check : checks_of(id)) {
            dropped_.push_back(
                python_text(tree_.check_at(check).kind, tree_.path_text(id)));
        }
    }

    bool write_node(NodeId id) {
        const Op step = tree_.node(id).step;
        const int64_t parent = places_[tree_.node(id).parent];
        if (parent == absent) {
            dropped_.push_back(tree_.path_text(id));
            drop_checks(id);
            return true;
        }
        std::string reason;
        const std::string operands = operands_text(step, reason);
        if (!reason.empty()) {
            if (!leave_out(tree_.path_text(id), step, reason)) return false;
            drop_checks(id);
            return true;
        }
        std::vector<std::string> checks;
        for (const CheckId check : checks_of(id)) {
            if (!write_check(id, check, checks)) return false;
        }
        places_[id] = static_cast<int64_t>(nodes_.size());
        nodes_.push_back("{\"checks\":" + json_list(checks) + ",\"operands\":" +
                         operands + ",\"parent\":" + std::to_string(parent) +
                         ",\"step\":" + json_quoted(step.info().name) + "}");
        return true;
    }

    bool write_check(NodeId node, CheckId id, std::vector<std::string>& to) {
        const Check check = tree_.check_at(id);
        std::string reason;
        const std::string operands = operands_text(check.kind, reason);
        if (!reason.empty()) {
            return leave_out(python_text(check.kind, tree_.path_text(node)), check.kind,
                             reason);
        }
        to.push_back("{\"kind\":" + json_quoted(check.kind.info().name) +
                     note_text(check.note, ",", "") + ",\"operands\":" + operands +
                     "}");
        return true;
    }

    bool write_relation(CheckId id) {
        const RelationCheck relation = tree_.relations()[id];
        std::vector<std::string> values;
        for (const NodeId node : relation.nodes) {
            if (places_[node] == absent) {
                dropped_.push_back(tree_.relation_text(id));
                return true;
            }
            values.push_back(std::to_string(places_[node]));
        }
        std::string reason;
        const std::string operands = operands_text(relation.relation, reason);
        if (!reason.empty()) {
            return leave_out(tree_.relation_text(id), relation.relation, reason);
        }
        relations_.push_back(
            "{" + note_text(relation.note, "", ",") + "\"operands\":" + operands +
            ",\"relation\":" + json_quoted(relation.relation.info().name) +
            ",\"values\":" + json_list(values) + "}");
        return true;
    }

    /// The "note" member of an object, if there is a note that can be written.
    std::string note_text(uint32_t id, const char* before, const char* after) const {
        PyObject* note = tree_.note(id);
        if (!options_.with_notes || !note || !PyUnicode_CheckExact(note)) return {};
        const std::string text = json_text(note);
        return text.empty() ? text : before + ("\"note\":" + text) + after;
    }

    const Tree& tree_;
    const JsonOptions& options_;
    std::vector<std::string>& dropped_;
    Diagnostic& problem_;
    std::vector<std::string> nodes_;
    std::vector<std::string> relations_;
    std::vector<int64_t> places_;  ///< the index in nodes_ of each node
};

}  // namespace

bool to_json(const Tree& tree, const JsonOptions& options, std::string& to,
             std::vector<std::string>& dropped, Diagnostic& problem) {
    const ExceptionPause pause;
    return JsonWriter(tree, options, dropped, problem).run(to);
}

uint64_t json_hash(std::string_view canonical) noexcept {
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char byte : canonical) {
        hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
    }
    return hash;
}

}  // namespace guardtree
