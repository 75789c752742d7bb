// Compiling a tree: order, addressing, and where each fetched value lives.
// SPDX-License-Identifier: MIT
//
// How it works. (1) Nodes that hold a check, or lead to one, are laid out in preorder.
// A `local` makes no op: ops on its value address the slot. (2) A fetched value is live
// from its step to the last op that reads it. If its step makes a new reference, or an
// op that may run user code lies in that range (its last reader included), the value is
// owned: it gets a place of its own among the first values, and the walk drops it at
// its end. Other values are borrowed and share places as their lives allow.
//
// Requirements that a change must keep: 1. no op reads a place before a step wrote it;
// 2. every value that is live when user code may run is owned, by the walk or by the
// view;
// 3. `skip` of a step covers exactly the ops that read its value or a descendant's.
#include "program.h"

#include <algorithm>
#include <limits>

#include "builtin_length.h"

namespace guardtree {
namespace {

/// Bounds the stack that a walk takes: 8 bytes per value.
constexpr size_t most_values = 4096;

bool makes_reference(const Op& op) noexcept {
    return dispatch(op, [](const auto& concrete) {
        using T = std::remove_cvref_t<decltype(concrete)>;
        if constexpr (GuardStep<T>) {
            return returns_owned<T>;
        } else {
            return false;
        }
    });
}

}  // namespace

class Compiler {
public:
    Compiler(PyCodeObject* code, Program& program, Diagnostic& problem)
        : code_(code), program_(program), problem_(problem) {}

    bool run() {
        find_useful();
        for (NodeId root : nodes()[0].children) {
            if (useful_[root] && !emit(root)) return false;
        }
        return place_values();
    }

private:
    const std::vector<Node>& nodes() const { return program_.tree_.nodes(); }

    /// A node is useful when it or a descendant has a check; children follow parents.
    void find_useful() {
        useful_.assign(nodes().size(), false);
        for (size_t i = nodes().size(); i-- > 1;) {
            if (!nodes()[i].checks.empty()) useful_[i] = true;
            if (useful_[i]) useful_[nodes()[i].parent] = true;
        }
    }

    struct Frame {
        NodeId node;
        size_t step_op;
        size_t next_child;
    };

    /// Preorder with an explicit stack: trees may be as deep as users like.
    bool emit(NodeId root) {
        std::vector<Frame> stack;
        if (!enter(root, stack)) return false;
        while (!stack.empty()) {
            Frame& top = stack.back();
            const std::vector<NodeId>& children = nodes()[top.node].children;
            if (top.next_child < children.size()) {
                const NodeId child = children[top.next_child++];
                if (useful_[child] && !enter(child, stack)) return false;
                continue;
            }
            if (top.step_op != no_op) {
                Op& step = program_.ops_[top.step_op];
                step.skip =
                    static_cast<uint32_t>(program_.ops_.size() - top.step_op - 1);
            }
            stack.pop_back();
        }
        return true;
    }

    bool enter(NodeId id, std::vector<Frame>& stack) {
        const Node& node = nodes()[id];
        Op step = node.step;
        if (!bind(step)) return false;
        size_t step_op = no_op;
        if (step.code() != code_of<Local>) {
            step_op = program_.ops_.size();
            if (node.parent != 0) read_from(node.parent, step);
            step.node = id;
            program_.ops_.push_back(step);
            producer_.resize(nodes().size(), no_op);
            producer_[id] = step_op;
        } else {
            slot_.resize(nodes().size(), -1);
            slot_[id] = step.as<Local>().slot;
        }
        for (Op check : node.checks) {
            read_from(id, check);
            check.node = id;
            program_.ops_.push_back(check);
        }
        stack.push_back({id, step_op, 0});
        return true;
    }

    bool bind(Op& step) {
        std::string text;
        bool bound = true;
        if (step.code() == code_of<Local>) {
            bound = bind_slot(step.as<Local>(), step.as<Local>().slot, 0, text);
        } else if (step.code() == code_of<Closure>) {
            bound = bind_slot(step.as<Closure>(), step.as<Closure>().index,
                              first_free_slot(code_), text);
        }
        if (!bound) problem_ = {PyExc_NameError, text};
        return bound;
    }

    template <BindsToCode S>
    bool bind_slot(S& step, const int32_t& number, int first, std::string& text) {
        if (!step.bind(code_, text)) return false;
        if (first + number > std::numeric_limits<uint16_t>::max()) {
            text = "a guarded function has at most 65535 locals";
            return false;
        }
        program_.names_.push_back({first + number, step.name.value});
        return true;
    }

    /// Points `op` at the value of `node`, and notes the reading.
    void read_from(NodeId node, Op& op) {
        if (nodes()[node].step.code() == code_of<Local>) {
            op.read_local(static_cast<uint16_t>(slot_[node]));
            return;
        }
        readers_.push_back({producer_[node], program_.ops_.size()});
    }

    struct Reader {
        size_t producer;
        size_t op;
    };

    bool place_values() {
        std::vector<Op>& ops = program_.ops_;
        std::vector<size_t> last_read(ops.size(), 0);
        for (const Reader& reader : readers_) last_read[reader.producer] = reader.op;
        std::vector<size_t> python_ops;
        for (size_t i = 0; i < ops.size(); ++i) {
            if (ops[i].info().calls_python) python_ops.push_back(i);
        }
        program_.calls_python_ = !python_ops.empty();
        program_.is_leaf_ = std::ranges::all_of(ops, [](const Op& op) {
            return op.is_from_local() && op.is_kind() && op.info().is_leaf;
        });
        std::vector<bool> owned(ops.size(), false);
        size_t owned_count = 0;
        for (size_t i = 0; i < ops.size(); ++i) {
            if (ops[i].is_kind()) continue;
            const auto next = std::ranges::upper_bound(python_ops, i);
            owned[i] = makes_reference(ops[i]) ||
                       (next != python_ops.end() && *next <= last_read[i]);
            if (owned[i]) ++owned_count;
        }
        std::vector<size_t>
            free_at;  // borrowed places: the op after which each is free
        size_t next_owned = 0;
        for (size_t i = 0; i < ops.size(); ++i) {
            if (ops[i].is_kind()) continue;
            size_t place = next_owned;
            if (owned[i]) {
                ++next_owned;
            } else {
                const auto free = std::ranges::find_if(
                    free_at, [i](size_t last) { return last < i; });
                place = owned_count + static_cast<size_t>(free - free_at.begin());
                if (free == free_at.end()) {
                    free_at.push_back(last_read[i]);
                } else {
                    *free = last_read[i];
                }
            }
            ops[i].destination = static_cast<uint16_t>(place);
        }
        const size_t values = owned_count + free_at.size();
        if (values > most_values) {
            problem_ = {PyExc_OverflowError,
                        "the guards need " + std::to_string(values) +
                            " values at once, more than " +
                            std::to_string(most_values) + "; split the tree"};
            return false;
        }
        for (const Reader& reader : readers_) {
            ops[reader.op].source = ops[reader.producer].destination;
        }
        program_.value_count_ = static_cast<uint16_t>(values);
        program_.owned_count_ = static_cast<uint16_t>(owned_count);
        return true;
    }

    static constexpr size_t no_op = static_cast<size_t>(-1);

    PyCodeObject* code_;
    Program& program_;
    Diagnostic& problem_;
    std::vector<bool> useful_;
    std::vector<size_t> producer_;
    std::vector<int> slot_;
    std::vector<Reader> readers_;
};

bool Program::compile(const Tree& tree, PyCodeObject* code, Program& to,
                      Diagnostic& problem) {
    set_up_builtin_length();
    Program made;
    made.tree_ = tree;
    if (!Compiler(code, made, problem).run()) return false;
    to = std::move(made);
    return true;
}

bool Program::is_dead() const noexcept {
    return !std::ranges::all_of(ops_, is_alive);
}

}  // namespace guardtree
