// What a program's ops are in Python: paths are found again from the order of the ops.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "program.h"

namespace guardtree {

std::string Program::local_name(int32_t slot) const {
    for (const SlotName& name : names_) {
        if (name.slot == slot) return text_of(Name{name.name});
    }
    return "?";
}

bool same_path(const ValuePath& a, const ValuePath& b) noexcept {
    return a.slot == b.slot && std::ranges::equal(a.steps, b.steps, same_op);
}

ValuePath Program::path_of(size_t number) const {
    // The steps around an op, innermost first: each covers its `skip` ops.
    ValuePath path;
    if (ops_[number].is_step()) path.steps.push_back(ops_[number]);
    size_t inner = number;
    const Op* outermost = &ops_[number];
    while (!outermost->is_from_local() && inner-- > 0) {
        const Op& before = ops_[inner];
        if (!before.is_step() || inner + before.skip < number) continue;
        path.steps.push_back(before);
        outermost = &before;
    }
    if (outermost->is_from_local()) path.slot = outermost->source;
    std::ranges::reverse(path.steps);
    return path;
}

std::string Program::path_text(size_t number) const {
    const ValuePath path = path_of(number);
    std::string text;
    if (path.slot >= 0) text = local_name(path.slot);
    for (const Op& step : path.steps) text = python_text(step, text);
    return text;
}

std::string Program::source_text(size_t number, const RelationSource& source) const {
    if (source.from_local) return local_name(source.index);
    // A relation's values keep their places: the last step that wrote there.
    while (number-- > 0) {
        if (ops_[number].is_step() && ops_[number].destination == source.index) {
            return path_text(number);
        }
    }
    return "?";
}

std::string Program::claim_text(size_t number) const {
    const Op& op = ops_[number];
    if (op.is_step()) return path_text(number);
    if (op.is_kind()) return python_text(op, path_text(number));
    return relation_text(op, relation_paths(op));
}

std::vector<std::string> Program::relation_paths(const Op& relation) const {
    const auto number = static_cast<size_t>(&relation - ops_.data());
    std::vector<std::string> paths;
    for (const RelationSource& source : sources_of(relation)) {
        paths.push_back(source_text(number, source));
    }
    return paths;
}

PyObject* Program::note_of(const Op& op) const noexcept {
    for (const Note& note : notes_) {
        if (note.id == op.id && note.is_relation == op.is_relation() && !op.is_step()) {
            return note.text;
        }
    }
    return nullptr;
}

}  // namespace guardtree
