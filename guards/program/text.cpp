// A program's ops as Python text. Paths are recovered from the order of the ops.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include <tsl/robin_map.h>

#include "program.h"

namespace guardtree {

/// Facts about the order of the ops that are used more than once.
struct Program::Outline {
    explicit Outline(const Program& program)
        : around(program.ops_.size(), no_id), writer(program.value_count_, no_id) {
        std::vector<uint32_t> open;
        for (uint32_t i = 0; i < around.size(); ++i) {
            const Op& op = program.ops_[i];
            while (!open.empty() && open.back() + program.ops_[open.back()].skip < i)
                open.pop_back();
            if (!open.empty()) around[i] = open.back();
            if (!op.is_step()) continue;
            open.push_back(i);
            if (op.destination < writer.size()) writer[op.destination] = i;
        }
        for (const SlotName& name : program.names_)
            names.insert({name.slot, name.name});
    }

    std::vector<uint32_t> around;  ///< the innermost step whose value an op uses
    std::vector<uint32_t> writer;  ///< the last step that writes to a place
    tsl::robin_map<int32_t, PyObject*> names;
};

void Program::OutlineDeleter::operator()(const Outline* outline) const {
    delete outline;
}

const Program::Outline& Program::outline() const {
    if (!outline_) outline_.reset(new Outline(*this));
    return *outline_;
}

PyObject* Program::name_of(int32_t slot) const {
    const auto& names = outline().names;
    const auto found = names.find(slot);
    return found == names.end() ? nullptr : found->second;
}

std::string Program::local_name(int32_t slot) const {
    PyObject* const name = name_of(slot);
    return name ? text_of(Name{name}) : "?";
}

ValuePath Program::path_of(size_t number) const {
    // Collects the steps around an op, innermost first.
    ValuePath path;
    const Op* outermost = &ops_[number];
    if (outermost->is_step()) path.steps.push_back(*outermost);
    const std::vector<uint32_t>& around = outline().around;
    for (uint32_t at = around[number]; at != no_id && !outermost->is_from_local();
         at = around[at]) {
        outermost = &ops_[at];
        path.steps.push_back(*outermost);
    }
    if (outermost->is_from_local()) path.slot = outermost->source;
    std::ranges::reverse(path.steps);
    return path;
}

std::string Program::path_text(size_t number) const {
    const ValuePath path = path_of(number);
    std::vector<const Op*> steps;
    for (const Op& step : path.steps) steps.push_back(&step);
    std::ranges::reverse(steps);
    return nested_text(steps, path.slot >= 0 ? local_name(path.slot) : "", python_text);
}

std::string Program::source_text(const RelationSource& source) const {
    if (source.from_local) return local_name(source.index);
    // The values of a relation keep their places to the end.
    const uint32_t step = outline().writer[source.index];
    return step == no_id ? "?" : path_text(step);
}

std::string Program::claim_text(size_t number) const {
    const Op& op = ops_[number];
    if (op.is_step()) return path_text(number);
    if (op.is_kind()) return python_text(op, path_text(number));
    return relation_text(op, relation_paths(op));
}

std::vector<std::string> Program::relation_paths(const Op& relation) const {
    std::vector<std::string> paths;
    for (const RelationSource& source : sources_of(relation)) {
        paths.push_back(source_text(source));
    }
    return paths;
}

std::vector<ValueNode> Program::nodes_of(size_t number) const {
    const Op& op = ops_[number];
    const auto of_local = [&](int32_t slot) {
        return ValueNode{no_id, Owned<>::share(name_of(slot))};
    };
    if (op.is_step()) return {{op.id, {}}};
    if (op.is_kind()) {
        if (op.is_from_local()) return {of_local(op.source)};
        const uint32_t step = outline().around[number];
        return {{step == no_id ? no_id : ops_[step].id, {}}};
    }
    std::vector<ValueNode> nodes;
    for (const RelationSource& source : sources_of(op)) {
        if (source.from_local) {
            nodes.push_back(of_local(source.index));
            continue;
        }
        const uint32_t step = outline().writer[source.index];
        nodes.push_back({step == no_id ? no_id : ops_[step].id, {}});
    }
    return nodes;
}

PyObject* Program::note_of(const Op& op) const noexcept {
    if (op.is_step()) return nullptr;
    const auto key = [](const Note& note) {
        return std::pair(note.is_relation, note.id);
    };
    const std::pair wanted(op.is_relation(), op.id);
    const auto found = std::ranges::lower_bound(notes_, wanted, {}, key);
    return found != notes_.end() && key(*found) == wanted ? found->text : nullptr;
}

}  // namespace guardtree
