// Compiles a tree: order, addressing, and the place of each fetched value.
// SPDX-License-Identifier: MIT
//
// How it works. (1) Nodes that have or lead to a check are laid out in preorder. A
// `local` makes no op; ops on its value address the slot. (2) A fetched value is live
// from its step to the last op that reads it. If its step returns a new reference, or
// an op in that range (its last reader included) may run user code, the value is owned:
// it gets one of the first places, and the walk releases it at its end. A step that may
// run user code reuses the place of a value that nobody reads any more, and releases
// that value. Other values are borrowed and share places if their lifetimes do not
// overlap.
//
// Requirements that a change must keep: 1. no op reads a place before a step wrote it;
// 2. every value that is live when user code may run is owned, by the walk or the view,
// and an owned place is reused only where user code may run; 3. `skip` of a step covers
// exactly the ops that read its value or a descendant's.
#include "../program/program.h"

#include <algorithm>
#include <limits>

#include "../assumptions/assumption.h"
#include "../assumptions/eligible.h"
#include "../objects/builtin_length.h"
#include "../tree/order.h"

#include "block_builder.h"
#include "places.h"
#include "relation_joiner.h"

namespace guardtree {
namespace {

/// Limits the stack that a walk needs: 8 bytes per value.
constexpr size_t max_values = 4096;

}  // namespace

class Compiler {
public:
    Compiler(const Tree& tree, PyCodeObject* code, Program& program,
             Diagnostic& problem, const FailureCounts* counts,
             std::span<const NodeId> captured)
        : tree_(tree),
          code_(code),
          program_(program),
          problem_(problem),
          captured_(captured),
          order_(tree, counts, captured),
          eligible_(tree, order_),
          blocks_(tree, order_, code) {}

    bool run() {
        if (captured_.size() > max_values) {
            refuse_size(captured_.size());
            return false;
        }
        program_.ops_.clear();
        producer_.assign(tree_.node_count(), no_op);
        slot_.assign(tree_.node_count(), -1);
        if (!emit_roots() || !emit_relations() || !place_values()) return false;
        keep_references();
        place_captured();
        program_.ops_.emplace_back(OpCode::Done, nullptr);
        return true;
    }

private:
    struct Frame {
        NodeId node;
        size_t step_op;
        size_t next_child;
        std::vector<NodeId> children;
        size_t walked_until = 0;  ///< no assumed run starts at a child before this one
    };

    /// Preorder with an explicit stack, so trees may be arbitrarily deep. The first
    /// frame is the view's.
    bool emit_roots() {
        std::vector<Frame> stack;
        stack.push_back({0, no_op, 0, order_.children(0)});
        while (!stack.empty()) {
            Frame& top = stack.back();
            end_and_begin_assumption(top, stack.size());
            if (top.next_child == top.children.size()) {
                leave(stack);
                continue;
            }
            bool is_entered = true;
            if (const NameRun names = names_from(top, stack.size()); names.pays()) {
                is_entered = enter_block(names, program_.name_rows_, stack);
            } else if (const ItemRun run = blocks_.items(top.children, top.next_child);
                       run.pays()) {
                is_entered = enter_block(run, program_.block_items_, stack);
            } else {
                const NodeId child = top.children[top.next_child++];
                is_entered = !order_.is_useful(child) || enter(child, stack);
            }
            if (!is_entered) return false;
        }
        return true;
    }

    /// Before a child: ends an assumption if it goes no further, and starts the next.
    void end_and_begin_assumption(Frame& parent, size_t depth) {
        if (assumption_op_ != no_op && depth == assumed_depth_ &&
            parent.next_child == assumed_until_) {
            Op& begin = program_.ops_[assumption_op_];
            begin.set_skip(program_.ops_.size() - assumption_op_);
            Op end(OpCode::AssumptionEnd, program_.assumptions_.back().get());
            end.set_skip(begin.skip - 1);
            start_assumption(end);
            assumption_op_ = no_op;
        }
        if (assumption_op_ != no_op || !assumptions_enabled()) return;
        const size_t first = parent.next_child;
        if (first == parent.children.size() || first < parent.walked_until) return;
        const AssumedRun run = parent.node == 0
                                   ? eligible_.roots_from(parent.children, first)
                                   : eligible_.children_from(parent.children, first);
        if (!run.pays) {
            parent.walked_until = run.end;
            return;
        }
        assumed_until_ = run.end;
        assumed_depth_ = depth;
        assumed_from_ = parent.node == 0 ? parent.children[first] : parent.node;
        program_.assumptions_.push_back(std::make_unique<Assumption>());
        assumption_op_ = program_.ops_.size();
        start_assumption(Op(OpCode::Assumption, program_.assumptions_.back().get()));
    }

    /// Adds an assumption or its end, which read the object it starts at.
    void start_assumption(Op op) {
        const Node& from = tree_.node(assumed_from_);
        if (from.step.code() == code_of<Local>) {
            const int slot = find_slot(code_, from.step.as<Local>().name.value);
            op.read_local(static_cast<uint16_t>(slot));  // enter() refuses -1
        } else if (assumed_depth_ > 1) {
            op.set_start_at_value();
            read_from(assumed_from_, op);
        }
        program_.ops_.push_back(op);
    }

    void leave(std::vector<Frame>& stack) {
        const size_t step_op = stack.back().step_op;
        if (step_op != no_op) {
            Op& step = program_.ops_[step_op];
            step.set_skip(program_.ops_.size() - step_op - 1);
        }
        stack.pop_back();
    }

    /// Whether the previous or the next sibling is a step of the same code.
    bool has_neighbour(const Frame& parent, OpCode code) const {
        const auto is_same = [&](size_t child) {
            return child < parent.children.size() &&
                   tree_.node(parent.children[child]).step.code() == code;
        };
        return is_same(parent.next_child - 2) || is_same(parent.next_child);
    }

    bool enter(NodeId id, std::vector<Frame>& stack) {
        const Node& node = tree_.node(id);
        Op step = node.step;
        if (!bind(step)) return false;
        size_t step_op = no_op;
        if (step.code() != code_of<Local>) {
            step_op = program_.ops_.size();
            if (node.parent != 0) read_from(node.parent, step);
            step.id = id;
            step.is_shared = has_neighbour(stack.back(), step.code());
            program_.ops_.push_back(step);
            producer_[id] = step_op;
            if (order_.is_captured(id) && assumption_op_ == no_op)
                kept_.push_back(step_op);
        } else {
            slot_[id] = step.as<Local>().slot;
        }
        for (const CheckId check : order_.checks(id)) {
            Op kind = tree_.check_at(check).kind;
            read_from(id, kind);
            kind.id = check;
            program_.ops_.push_back(kind);
        }
        stack.push_back({id, step_op, 0, order_.children(id)});
        return true;
    }

    /// The children from the next one on that one block can cover. It does not cross
    /// the bounds of an assumption.
    NameRun names_from(const Frame& frame, size_t depth) const {
        size_t end = frame.children.size();
        if (assumption_op_ == no_op) {
            if (depth == 1 && assumptions_enabled()) end = frame.next_child;
        } else if (depth == assumed_depth_) {
            end = assumed_until_;
        }
        return blocks_.names(std::span(frame.children).first(end), frame.next_child);
    }

    /// Adds a block and the ops that it covers after it. `all`: the program's rows of
    /// its kind.
    template <class Run, class Rows>
    bool enter_block(Run run, Rows& all, std::vector<Frame>& stack) {
        const size_t block = program_.ops_.size();
        run.operands.first = static_cast<uint32_t>(all.size());
        run.operands.count = static_cast<uint32_t>(run.rows.size());
        all.insert(all.end(), run.rows.begin(), run.rows.end());
        Op op(run.operands);
        if (stack.back().node != 0) read_from(stack.back().node, op);
        program_.ops_.push_back(op);
        for (size_t left = run.rows.size(); left > 0; --left) {
            Frame& parent = stack.back();  // enter() may move the frames
            if (!enter(parent.children[parent.next_child++], stack)) return false;
            if (left > 1 || !run.is_open) leave(stack);
        }
        if (run.is_open) open_.push_back({block, stack.back().step_op});
        program_.ops_[block].set_skip(program_.ops_.size() - block - 1);
        return true;
    }

    bool emit_relations() {
        const std::span<const RelationCheck> all = tree_.relations();
        for (size_t first = 0; first < all.size();) {
            const RelationRun run = join_relations(all.subspan(first), joined_keep_);
            const size_t block = program_.ops_.size();
            if (run.pays) {
                program_.ops_.push_back(Op::relation_block(program_.joined_.size()));
                program_.joined_.push_back(reading(run.relation, run.nodes));
            }
            for (const size_t end = first + run.count; first < end; ++first) {
                if (all[first].nodes.size() > max_values) {
                    refuse_size(all[first].nodes.size());
                    return false;
                }
                Op op = reading(all[first].relation, all[first].nodes);
                op.id = static_cast<CheckId>(first);
                program_.ops_.push_back(op);
            }
            if (run.pays)
                program_.ops_[block].set_skip(program_.ops_.size() - block - 1);
        }
        return true;
    }

    /// A relation, the next op or in front of it, that reads the values of nodes.
    Op reading(Op relation, std::span<const NodeId> nodes) {
        relation.set_skip(program_.sources_.size());
        relation.place = static_cast<uint16_t>(nodes.size());
        const size_t op = program_.ops_.size();
        for (const NodeId node : nodes) {
            const bool is_local = slot_[node] >= 0;
            const auto slot = static_cast<uint16_t>(is_local ? slot_[node] : 0);
            if (!is_local)
                readers_.push_back({producer_[node], op, program_.sources_.size()});
            program_.sources_.push_back({slot, is_local});
        }
        return relation;
    }

    void keep_references() {
        const auto keep = [&](uint32_t id, uint32_t note, bool is_relation) {
            if (PyObject* text = tree_.note(note)) {
                program_.notes_.push_back({id, is_relation, text});
            }
        };
        for (CheckId id = 0; id < tree_.check_count(); ++id) {
            keep(id, tree_.check_at(id).note, false);
        }
        for (CheckId id = 0; id < tree_.relations().size(); ++id) {
            keep(id, tree_.relations()[id].note, true);
        }
        program_.references_ = tree_.references();
        std::ranges::move(joined_keep_, std::back_inserter(program_.references_));
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
        SlotName found{first + number, step.name.value};
        const int first_free = first_free_slot(code_);
        found.is_hidden = found.slot >= first_free &&
                          find_slot(code_, found.name) < first_free;
        program_.names_.push_back(found);
        return true;
    }

    /// Makes `op`, the next one, read the value of `node`, and records that.
    void read_from(NodeId node, Op& op) {
        if (slot_[node] >= 0) {
            op.read_local(static_cast<uint16_t>(slot_[node]));
            return;
        }
        readers_.push_back({producer_[node], program_.ops_.size(), no_op});
    }

    static constexpr size_t no_op = static_cast<size_t>(-1);

    /// An op that reads a fetched value; a relation reads it through a source.
    struct Reader {
        size_t producer;
        size_t op;
        size_t relation_source;
    };

    /// A block whose last value other ops read, and the step that fetches it.
    struct Open {
        size_t block;
        size_t step;
    };

    bool place_values() {
        const Ops& ops = program_.ops_;
        last_read_.assign(ops.size(), 0);
        is_kept_.assign(ops.size(), false);
        for (const Reader& reader : readers_) {
            last_read_[reader.producer] =
                std::max(last_read_[reader.producer], reader.op);
            if (reader.relation_source != no_op) is_kept_[reader.producer] = true;
        }
        find_owned();
        const size_t values = give_places();
        if (values > max_values) {
            refuse_size(values);
            return false;
        }
        for (const Reader& reader : readers_) {
            const uint16_t place = ops[reader.producer].destination;
            if (reader.relation_source == no_op) {
                program_.ops_[reader.op].source = place;
            } else {
                program_.sources_[reader.relation_source].index = place;
            }
        }
        for (const Open& open : open_)
            program_.ops_[open.block].destination = ops[open.step].destination;
        program_.value_count_ = static_cast<uint16_t>(values);
        program_.owned_count_ = static_cast<uint16_t>(owned_count_);
        program_.is_leaf_ = std::ranges::all_of(ops, [](const Op& op) {
            if (op.is_internal()) {
                return op.code() == OpCode::ItemBlock &&
                       op.item_block().owner == ItemOwner::slots;
            }
            return op.is_from_local() && op.is_kind() && op.info().is_leaf;
        });
        program_.is_leaf_ &= captured_.empty();
        return true;
    }

    void refuse_size(size_t values) {
        problem_ = {PyExc_OverflowError, "the guards need " + std::to_string(values) +
                                             " values at once, more than " +
                                             std::to_string(max_values) +
                                             "; split the tree"};
    }

    void find_owned() {
        const Ops& ops = program_.ops_;
        std::vector<size_t> python_ops;
        for (size_t i = 0; i < ops.size(); ++i) {
            if (ops[i].is_internal()) continue;
            if (calls_python(ops[i])) python_ops.push_back(i);
        }
        program_.calls_python_ = !python_ops.empty();
        owned_.assign(ops.size(), false);
        for (size_t i = 0; i < ops.size(); ++i) {
            if (!ops[i].is_step()) continue;
            const auto next = std::ranges::upper_bound(python_ops, i);
            owned_[i] = makes_reference(ops[i]) ||
                        (next != python_ops.end() && *next <= last_read_[i]);
        }
        is_handed_over_.assign(ops.size(), false);
        for (const size_t op : kept_) owned_[op] = is_handed_over_[op] = true;
        program_.kept_count_ = static_cast<uint16_t>(kept_.size());
    }

    /// Records where each captured value is, after all values have places.
    void place_captured() {
        if (captured_.empty()) return;
        using Source = CapturedValues::Source;
        auto made = std::make_unique<CapturedValues>();
        std::vector<size_t> last_use(tree_.node_count());
        for (size_t i = 0; i < captured_.size(); ++i) last_use[captured_[i]] = i;
        for (size_t i = 0; i < captured_.size(); ++i) {
            const NodeId node = captured_[i];
            const size_t op = producer_[node];
            const bool again = last_use[node] != i;
            if (slot_[node] >= 0) {
                made->values.push_back(
                    {Source::slot, static_cast<uint16_t>(slot_[node])});
            } else if (is_handed_over_[op]) {
                made->values.push_back({again ? Source::shared : Source::kept,
                                        program_.ops_[op].destination});
            } else {
                const auto path = static_cast<uint16_t>(made->paths.size());
                made->values.push_back({Source::path, path});
                made->paths.push_back(program_.path_of(op));
            }
        }
        program_.captured_ = std::move(made);
    }

    /// Assigns places in this order and returns their number: owned values, the last of
    /// them captured; borrowed values that relations read, each with its own place;
    /// other borrowed values; scratch of the relations.
    size_t give_places() {
        Ops& ops = program_.ops_;
        Places owned(0);
        for (size_t i = 0; i < ops.size(); ++i) {
            if (!ops[i].is_step() || !owned_[i] || is_handed_over_[i]) continue;
            const bool may_share = may_take_over(ops[i]);
            ops[i].destination = is_kept_[i]
                                     ? owned.take_for_good()
                                     : owned.take(i, last_read_[i], may_share);
        }
        for (const size_t op : kept_) ops[op].destination = owned.take_for_good();
        owned_count_ = owned.end();
        Places borrowed(owned_count_);
        for (size_t i = 0; i < ops.size(); ++i) {
            if (ops[i].is_step() && !owned_[i] && is_kept_[i])
                ops[i].destination = borrowed.take_for_good();
        }
        for (size_t i = 0; i < ops.size(); ++i) {
            if (ops[i].is_step() && !owned_[i] && !is_kept_[i])
                ops[i].destination = borrowed.take(i, last_read_[i], true);
        }
        size_t largest = 0;
        for (Op& op : ops) {
            if (!op.is_relation()) continue;
            op.destination = static_cast<uint16_t>(borrowed.end());
            largest = std::max(largest, size_t{op.place});
        }
        return borrowed.end() + largest;
    }

    const Tree& tree_;
    PyCodeObject* code_;
    Program& program_;
    Diagnostic& problem_;
    std::span<const NodeId> captured_;
    TreeOrder order_;
    Eligible eligible_;
    BlockBuilder blocks_;
    size_t assumption_op_ = no_op;  ///< the assumption that has not ended yet
    size_t assumed_until_ = 0;  ///< the child that it ends before, at assumed_depth_
    size_t assumed_depth_ = 0;
    NodeId assumed_from_ = 0;  ///< the node whose value it starts at; a name otherwise
    std::vector<size_t> producer_;
    std::vector<int> slot_;
    std::vector<Reader> readers_;
    References joined_keep_;  ///< what joined relations refer to
    std::vector<size_t> last_read_;
    std::vector<bool> is_kept_;
    std::vector<bool> owned_;
    std::vector<size_t> kept_;  ///< steps whose values are captured
    std::vector<bool> is_handed_over_;
    std::vector<Open> open_;
    size_t owned_count_ = 0;
};

Program::Program() : ops_(1, Op(OpCode::Done, nullptr)) {}

Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

bool Program::compile(const Tree& tree, PyCodeObject* code, Program& to,
                      Diagnostic& problem, const FailureCounts* counts,
                      std::span<const NodeId> captured) {
    set_up_builtin_length();
    Program made;
    if (!Compiler(tree, code, made, problem, counts, captured).run()) return false;
    to = std::move(made);
    return true;
}

bool Program::is_dead() const noexcept {
    return !std::ranges::all_of(ops(), is_alive);
}

}  // namespace guardtree
