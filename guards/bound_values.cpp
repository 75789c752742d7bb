// Demanding, taking and dropping the values that programs hand over.
// SPDX-License-Identifier: MIT
#include "bound_values.h"

#include "../framelocals/exception.h"

#include "fetch.h"

namespace guardtree {

bool demand_values(Tree& tree, std::span<const NodeId> bound, Diagnostic& problem) {
    for (const NodeId node : bound) {
        if (node == 0 || node >= tree.node_count()) {
            problem = {PyExc_IndexError,
                       "expected a node of these guards that has a value, 1 to " +
                           std::to_string(tree.node_count() - 1) + ", found " +
                           std::to_string(node)};
            return false;
        }
        if (tree.node(node).last_check != no_id) continue;
        PyObject* any = as_object(&PyBaseObject_Type);
        InstanceOf kind{};
        if (!read_operands(std::span(&any, 1), kind, tree.references(), problem) ||
            !tree.check(node, Op(kind), problem)) {
            return false;
        }
    }
    return true;
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
