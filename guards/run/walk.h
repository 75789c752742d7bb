// The one traversal of a program. check, explain and profile differ only in the
// observer.
// SPDX-License-Identifier: MIT
//
// How it works. The walk reads ops in order. A kind gives a verdict on the value that
// it reads. A step stores a child value in its place. The walk owns the first values
// and releases them at every exit. The other values are borrowed (compiler.cpp decides
// which, and why that is safe).
//
// The input of a walk determines which ops can occur. A look-up in the hook walks
// LeafSlots first. That version is compiled without the other ops, so it needs no stack
// frame of its own (README.md has the numbers).
//
// Requirements that a change must keep: 1. nothing here allocates, locks or throws,
// except arming an assumption; 2. an op whose source is unbound fails and is never run;
// 3. after the walk an exception is either in `error` or pending because it must
// propagate, never both; 4. after user code may have run, `last` is forgotten.
#pragma once
#include <Python.h>

#include "../../framelocals/compiler.h"
#include "../../framelocals/exception.h"
#include "../assumptions/assumption.h"
#include "../program/program.h"

namespace guardtree {

/// Stops at the first op that does not pass and records nothing: the hot path.
struct NoObserver {
    /// Whether the walk continues after an op that did not pass, with the ops that do
    /// not depend on it.
    static constexpr bool goes_on = false;
    /// Whether the walk reports each op to the observer. Blocks are then walked op by
    /// op.
    static constexpr bool hears_each = false;

    /// Called before an op runs. Only with hears_each.
    void runs(const Op&) noexcept {}

    /// `found`: the values that the op read, borrowed. A value is null if a slot is
    /// unbound. Empty for steps that read nothing. The observer may take the error.
    void did_not_pass(const Op&, std::span<PyObject* const> found, Verdict,
                      Owned<>&) noexcept {
        static_cast<void>(found);
    }
};

/// The slots of a view, for programs of leaf kinds on locals (Program::is_leaf).
class LeafSlots {
public:
    explicit LeafSlots(const SlotWord* slots) noexcept : slots_(slots) {}

    const SlotWord* slots() const noexcept { return slots_; }

private:
    const SlotWord* slots_;
};

template <class T>
concept Walkable = std::same_as<T, View> || std::same_as<T, LeafSlots>;

namespace walk_detail {

inline constexpr unsigned type_match_of_value =
    static_cast<unsigned>(OpCode::TypeMatch) * 2;

template <Walkable W, class T, bool from_local>
constexpr bool may_occur = std::same_as<W, View> || (is_leaf_kind<T> && from_local);

template <bool from_local>
PyObject* source_of(const Op& op, const SlotWord* slots,
                    PyObject* const* values) noexcept {
    if constexpr (from_local) return slot_object(slots[op.source]);
    return values[op.source];
}

/// Releases the value that a place held before a new one was stored there. Runs user
/// code.
[[gnu::noinline, gnu::cold]] inline void drop_former(PyObject* value) {
    Owned<>::steal(value).reset();
}

template <class T, bool from_local, Walkable W>
[[gnu::always_inline]] inline Verdict run(const Op& op, const W& view,
                                          const SlotWord* slots, PyObject** values,
                                          uint16_t owned_count,
                                          LastNames& last) noexcept {
    const T& concrete = op.as<T>();
    PyObject* source = nullptr;
    if constexpr (!RootStep<T>) {
        source = source_of<from_local>(op, slots, values);
        if constexpr (from_local) {
            if (!source) [[unlikely]]
                return Verdict::fail;
        }
    }
    if constexpr (GuardKind<T>) {
        const auto answer = concrete.check(source);
        if constexpr (std::same_as<decltype(answer), const Verdict>)
            return answer;
        else
            return answer ? Verdict::pass : Verdict::fail;
    } else if constexpr (takes_places_over<T>) {
        Owned<> made;
        if constexpr (RootStep<T>)
            made = concrete.get(view);
        else
            made = concrete.get(source);
        if (!made) return PyErr_Occurred() ? Verdict::error : Verdict::fail;
        PyObject* const former =
            std::exchange(values[op.destination], made.release());
        if (former) [[unlikely]]
            drop_former(former);
        return Verdict::pass;
    } else if constexpr (returns_owned<T>) {
        if constexpr (RootStep<T>)
            values[op.destination] = concrete.get(view).release();
        else
            values[op.destination] = concrete.get(source).release();
    } else {
        PyObject* found = nullptr;
        if constexpr (RememberingRoot<T>)
            found = concrete.get(view, Remembered(op.place, op.is_shared, last)).get();
        else if constexpr (RootStep<T>)
            found = concrete.get(view).get();
        else if constexpr (RememberingStep<T>)
            found =
                concrete.get(source, Remembered(op.place, op.is_shared, last)).get();
        else
            found = concrete.get(source).get();
        const bool is_owned = op.destination < owned_count;
        values[op.destination] = is_owned ? Owned<>::share(found).release() : found;
    }
    if constexpr (GuardStep<T>) {
        if (values[op.destination]) [[likely]]
            return Verdict::pass;
        if constexpr (T::info.calls_python) {
            if (PyErr_Occurred()) return Verdict::error;
        }
    }
    return Verdict::fail;
}

/// Ops that run Python code are kept out of line so that they add no register pressure
/// to the hot loop.
template <class T, bool from_local, Walkable W>
[[gnu::noinline]] Verdict run_apart(const Op& op, const W& view, const SlotWord* slots,
                                    PyObject** values, uint16_t owned_count) noexcept {
    LastNames none;
    return run<T, from_local, W>(op, view, slots, values, owned_count, none);
}

/// Whether the op after a step is a type match on the fetched value, and passes. A step
/// is never the last op. A type match that follows a step reads its value.
[[gnu::always_inline]] inline bool passes_type(const Op* step,
                                               PyObject* const* values) noexcept {
    return step[1].dispatch_code() == type_match_of_value &&
           step[1].as<TypeMatch>().check(values[step->destination]);
}

/// A value of a relation. Null if it is unbound. Values of the walk are read like slots
/// to avoid a branch; they are words too, and have no tag bits to clear.
inline PyObject* value_of(const RelationSource& source, const SlotWord* slots,
                          PyObject* const* values) noexcept {
    const auto* words =
        source.from_local ? slots : reinterpret_cast<const SlotWord*>(values);
    return slot_object(words[source.index]);
}

/// Copies the values of a relation to `to`. False if one is missing.
inline bool gather(const Program& program, const Op& op, const SlotWord* slots,
                   PyObject* const* values, PyObject** to) noexcept {
    bool is_complete = true;
    for (const RelationSource& source : program.sources_of(op)) {
        PyObject* value = value_of(source, slots, values);
        is_complete &= value != nullptr;
        *to++ = value;
    }
    return is_complete;
}

template <GuardRelation R>
Verdict run_relation(const Program& program, const Op& op, const SlotWord* slots,
                     PyObject** values) noexcept {
    const R& relation = op.as<R>();
    if (op.place == 2) {  // most relations have two values: no loop, no scratch
        const RelationSource* sources = program.sources_of(op).data();
        PyObject* pair[2] = {value_of(sources[0], slots, values),
                             value_of(sources[1], slots, values)};
        if (!pair[0] || !pair[1]) return Verdict::fail;
        return relation.check(pair) ? Verdict::pass : Verdict::fail;
    }
    PyObject** const scratch = values + op.destination;
    if (!gather(program, op, slots, values, scratch)) return Verdict::fail;
    const std::span<PyObject*> gathered(scratch, op.place);
    return relation.check(gathered) ? Verdict::pass : Verdict::fail;
}

/// Evaluates a joined relation. Its values have no scratch memory in the walk.
[[gnu::noinline]] inline bool run_joined(const Program& program, const Op& joined,
                                         const SlotWord* slots,
                                         PyObject* const* values) noexcept {
    PyObject* gathered[max_joined_values];
    if (!gather(program, joined, slots, values, gathered)) return false;
    const std::span<PyObject*> all(gathered, joined.place);
    switch (joined.code()) {
#define X(type, stem)                                                            \
    case OpCode::type:                                                           \
        if constexpr (JoinsRelations<type>) return joined.as<type>().check(all); \
        break;
        GUARDTREE_RELATIONS(X)
#undef X
    default: break;
    }
    unreachable();
}

template <Walkable W>
bool run_items(const Program& program, const Op& op, const SlotWord* slots,
               PyObject* const* values) noexcept {
    const ItemBlockOperands& block = op.item_block();
    const auto items = program.block_items().subspan(block.first, block.count);
    if (std::same_as<W, LeafSlots> || block.owner == ItemOwner::slots) {
        return slots_pass(items, slots);
    }
    PyObject* value = op.is_from_local() ? source_of<true>(op, slots, values)
                                         : source_of<false>(op, slots, values);
    return value && items_pass(block, items, value);
}

/// False if the block fails. If it passes, stores the last value for the ops that read
/// it.
[[gnu::always_inline]] inline bool run_names(const Program& program, const View& view,
                                             const Op& op, const SlotWord* slots,
                                             PyObject** values,
                                             uint16_t owned_count) noexcept {
    const NameBlockOperands& block = op.name_block();
    PyObject* owner = nullptr;
    if (block.owner == NameOwner::globals)
        owner = view.globals().get();
    else
        owner = op.is_from_local() ? source_of<true>(op, slots, values)
                                   : source_of<false>(op, slots, values);
    if (!owner) return false;
    const NameRow* const first = program.name_rows().data() + block.first;
    PyObject* const last = last_if_all_pass(block, first, &op + 1, owner);
    if (!last) return false;
    if (block.hands_on_last) {
        const bool is_owned = op.destination < owned_count;
        values[op.destination] = is_owned ? Owned<>::share(last).release() : last;
    }
    return true;
}

/// The object that an assumption starts at: a local, a value, or the globals.
inline PyObject* start_of(const Op& op, const View& view, const SlotWord* slots,
                          PyObject* const* values) noexcept {
    if (op.is_from_local()) return slot_object(slots[op.source]);
    return op.starts_at_value() ? values[op.source] : view.globals().get();
}

/// Tells the observer which values the op read.
template <class Observer>
void report(const Program& program, const Op& op, const SlotWord* slots,
            PyObject** values, Verdict verdict, Owned<>& error, Observer& observer) {
    std::span<PyObject* const> found;
    PyObject* source = nullptr;
    if (op.is_relation()) {
        gather(program, op, slots, values, values + op.destination);
        found = {values + op.destination, op.place};
    } else if (!is_root_step(op)) {
        source = op.is_from_local() ? source_of<true>(op, slots, values)
                                    : source_of<false>(op, slots, values);
        found = {&source, 1};
    }
    observer.did_not_pass(op, found, verdict, error);
}

inline void drop(PyObject** values, uint16_t count) noexcept {
    for (uint16_t i = 0; i < count; ++i) Owned<>::steal(values[i]).reset();
}

}  // namespace walk_detail

/// Evaluates `program` on `view`, which may be LeafSlots if program.is_leaf(). `values`
/// has room for program.value_count(). If the verdict is `error`, the exception is in
/// `error`, or pending if it must reach the program. Needs the GIL. The walk reports
/// each op that did not pass to the observer, with its source (borrowed, may be null).
/// If the walk passes and does not report each op, the values of program.captured()
/// belong to the caller (captured_values.h).
template <Walkable W, class Observer>
Verdict walk(const Program& program, const W& view, PyObject** values, Owned<>& error,
             Observer& observer) noexcept {
    using namespace walk_detail;
    const uint16_t owned_count =
        std::same_as<W, View> ? program.owned_count() : uint16_t{0};
    // Kept in a register. The compiler must assume that user code can change the view
    // in memory.
    const SlotWord* const slots = view.slots();
    // A relation may read values whose steps failed, if the observer goes on after a
    // failure.
    const uint16_t emptied = Observer::goes_on ? program.value_count() : owned_count;
    for (uint16_t i = 0; i < emptied; ++i) values[i] = nullptr;
    Verdict outcome = Verdict::pass;
    Verdict verdict = Verdict::fail;
    LastNames last;
    const Op* op = program.ops().data();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"  // addresses of labels
    // Each op that passes jumps to the next one itself, so the processor predicts each
    // jump separately (bench `slope`: 0.3 ns per op less than with one shared jump).
    static const void* const labels[] = {
#define X(type, stem) &&from_value_##type, &&from_local_##type,
        GUARDTREE_OPS(X)
#undef X
            && item_block,
        &&item_block,
        &&name_block,
        &&name_block,
        &&relation_block,
        &&relation_block,
        &&assumption,
        &&assumption,
        &&assumption_end,
        &&assumption_end,
        &&done};
#define GUARDTREE_NEXT                                      \
    if constexpr (Observer::hears_each) {                   \
        if (op->code() != OpCode::Done) observer.runs(*op); \
    }                                                       \
    goto* labels[op->dispatch_code()]
    GUARDTREE_NEXT;

#define GUARDTREE_RUN(type, from_local)                                            \
    if constexpr (!may_occur<W, type, from_local>)                                 \
        unreachable();                                                   \
    else if constexpr (type::info.calls_python) {                                  \
        verdict =                                                                  \
            run_apart<type, from_local, W>(*op, view, slots, values, owned_count); \
        last.forget();                                                             \
    } else                                                                         \
        verdict =                                                                  \
            run<type, from_local, W>(*op, view, slots, values, owned_count, last); \
    if (verdict != Verdict::pass) goto not_passed;                                 \
    if constexpr (GuardStep<type> && !Observer::hears_each) {                      \
        if (passes_type(op, values)) ++op;                                         \
    }                                                                              \
    ++op;                                                                          \
    GUARDTREE_NEXT;
#define X(type, stem)                                                \
    from_value_##type : GUARDTREE_RUN(type, false) from_local_##type \
        : GUARDTREE_RUN(type, true)
    GUARDTREE_KINDS(X)
    GUARDTREE_STEPS(X)
#undef X
#undef GUARDTREE_RUN

#define X(type, stem)                                                                 \
    from_value_##type : from_local_##type : if constexpr (std::same_as<W, LeafSlots>) \
                                                unreachable();              \
    else verdict = run_relation<type>(program, *op, slots, values);                   \
    if (verdict != Verdict::pass) goto not_passed;                                    \
    ++op;                                                                             \
    GUARDTREE_NEXT;
    GUARDTREE_RELATIONS(X)
#undef X
    // clang-format on

#define GUARDTREE_BLOCK(occurs, passes)                     \
    if constexpr (!Observer::hears_each && (occurs)) {      \
        verdict = (passes) ? Verdict::pass : Verdict::fail; \
        if (verdict != Verdict::pass) goto not_passed;      \
        op += op->skip;                                     \
    }                                                       \
    ++op;                                                   \
    GUARDTREE_NEXT
item_block:
    GUARDTREE_BLOCK(true, run_items<W>(program, *op, slots, values));

name_block:
    GUARDTREE_BLOCK((std::same_as<W, View>),
                    run_names(program, view, *op, slots, values, owned_count));

relation_block:
    GUARDTREE_BLOCK((std::same_as<W, View>),
                    run_joined(program, program.joined_relation(*op), slots, values));
#undef GUARDTREE_BLOCK

assumption:
    if constexpr (!Observer::hears_each && std::same_as<W, View>) {
        PyObject* const start = start_of(*op, view, slots, values);
        switch (op->assumption().ask(program, view, start)) {
        case Assumption::Answer::holds:
            op->assumption().hand_over(values, owned_count);
            op += op->skip;
            break;
        case Assumption::Answer::fails: verdict = Verdict::fail; goto not_passed;
        case Assumption::Answer::unknown: break;
        }
        last.forget();  // the assumption may have been armed
    }
    ++op;
    GUARDTREE_NEXT;

assumption_end:
    if constexpr (!Observer::hears_each && std::same_as<W, View>) {
        op->assumption().passed(program, view, *op,
                                start_of(*op, view, slots, values));
        last.forget();
    }
    ++op;
    GUARDTREE_NEXT;

not_passed:
    if (outcome == Verdict::pass) outcome = verdict;
    if (verdict == Verdict::error) {
        if (must_propagate()) goto done;
        error = take_exception();
    }
    if constexpr (Observer::hears_each) {
        report(program, *op, slots, values, verdict, error, observer);
        last.forget();
    }
    if constexpr (Observer::goes_on) {
        op += op->is_step() ? op->skip + 1 : 1;
        GUARDTREE_NEXT;
    }
#undef GUARDTREE_NEXT
#pragma GCC diagnostic pop

done:
    if (owned_count) {
        if (outcome != Verdict::pass) {  // an exception may be pending
            const ExceptionPause pause;
            drop(values, owned_count);
        } else if constexpr (Observer::hears_each) {
            drop(values, owned_count);
        } else {  // the other values belong to the caller (captured_values.h)
            drop(values, static_cast<uint16_t>(owned_count - program.kept_count()));
        }
    }
    return outcome;
}

/// Compiled once, in evaluate.cpp. GCC leaves checks out of line in some of the files
/// that call it, and the linker would choose which copy a program gets.
extern template Verdict walk(const Program&, const View&, PyObject**, Owned<>&,
                             NoObserver&) noexcept;

}  // namespace guardtree
