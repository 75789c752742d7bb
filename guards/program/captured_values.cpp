// Requires, takes and drops the captured values of programs.
// SPDX-License-Identifier: MIT
#include "captured_values.h"

#include "../../framelocals/exception.h"
#include "../ops/fetch.h"

namespace guardtree {

const Tree* demanding(const Tree& tree, std::span<const NodeId> captured, Tree& room,
                      Diagnostic& problem) {
    if (captured.empty()) return &tree;
    room = tree;
    for (const NodeId node : captured) {
        if (room.node(node).last_check != no_id) continue;
        if (!room.check(node, Op(Exists{}), problem)) return nullptr;
    }
    return &room;
}

void take_captured(const Program& program, const View& view, PyObject** values,
                   PyObject** to) noexcept {
    using Source = CapturedValues::Source;
    const CapturedValues& captured = *program.captured();
    for (const CapturedValues::Value& value : captured.values) {
        PyObject* found = nullptr;
        switch (value.source) {
        case Source::slot: found = slot_object(view.slots()[value.index]); break;
        case Source::path: found = fetch(captured.paths[value.index], view); break;
        case Source::kept:
        case Source::shared: found = values[value.index]; break;
        }
        const bool is_ours = value.source == Source::kept;
        *to++ = is_ours ? found : Owned<>::share(found).release();
    }
}

void drop_captured(const Program& program, PyObject** values) noexcept {
    if (!program.kept_count()) return;
    const ExceptionPause pause;
    const uint16_t end = program.owned_count();
    for (uint16_t i = end - program.kept_count(); i < end; ++i)
        Owned<>::steal(values[i]).reset();
}

}  // namespace guardtree
