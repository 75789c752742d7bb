// Requires, takes and drops the bound values of programs.
// SPDX-License-Identifier: MIT
#include "bound_values.h"

#include "../../framelocals/exception.h"
#include "../ops/fetch.h"

namespace guardtree {

const Tree* demanding(const Tree& tree, std::span<const NodeId> bound, Tree& room,
                      Diagnostic& problem) {
    if (bound.empty()) return &tree;
    room = tree;
    for (const NodeId node : bound) {
        if (room.node(node).last_check != no_id) continue;
        PyObject* any = as_object(&PyBaseObject_Type);
        InstanceOf every{};
        if (!read_operands(std::span(&any, 1), every, room.references(), problem) ||
            !room.check(node, Op(every), problem)) {
            return nullptr;
        }
    }
    return &room;
}

void take_bound(const Program& program, const View& view, PyObject** values,
                PyObject** to) noexcept {
    using Source = BoundValues::Source;
    const BoundValues& bound = *program.bound();
    for (const BoundValues::Value& value : bound.values) {
        PyObject* found = nullptr;
        switch (value.source) {
        case Source::slot: found = slot_object(view.slots()[value.index]); break;
        case Source::path: found = fetch(bound.paths[value.index], view); break;
        case Source::kept:
        case Source::shared: found = values[value.index]; break;
        }
        const bool is_ours = value.source == Source::kept;
        *to++ = is_ours ? found : Owned<>::share(found).release();
    }
}

void drop_bound(const Program& program, PyObject** values) noexcept {
    if (!program.kept_count()) return;
    const ExceptionPause pause;
    const uint16_t end = program.owned_count();
    for (uint16_t i = end - program.kept_count(); i < end; ++i)
        Owned<>::steal(values[i]).reset();
}

}  // namespace guardtree
