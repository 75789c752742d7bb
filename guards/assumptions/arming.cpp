// Arming an assumption: each link from its start to each checked value.
// SPDX-License-Identifier: MIT
#include <optional>
#include <set>

#include "../../framelocals/no_memory.h"
#include "../ops/named_op.h"
#include "../program/program.h"

#include "assumption.h"
#include "what_is_read.h"
#include "what_stays.h"

namespace guardtree {

/// Goes over the ops of a run once. Nothing runs user code, so all values are those
/// that the walk has just seen.
class Arming : WhatStays {
public:
    Arming(Assumption& of, const Program& program, const View& view)
        : WhatStays(of),
          program_(program),
          view_(view),
          values_(program.value_count()),
          is_handed_(program.value_count(), false) {
        for (const RelationSource& source : program.sources())
            if (!source.from_local) is_handed_[source.index] = true;
    }

    /// `start`: what the run starts at, which may be another object next time.
    bool run(const Op& end, PyObject* start, size_t first, size_t last) {
        anchor_ = {start, Stay::unknown};
        if (end.starts_at_value()) values_[end.source] = anchor_;
        for (size_t i = first; i < last; ++i) {
            const Op& op = program_.ops()[i];
            if (op.is_internal()) continue;
            number_ = static_cast<uint32_t>(i);
            if (op.is_kind()) {
                dispatch(op, [&](const auto& kind) { check(op, kind); });
            } else if (!dispatch(op, [&](const auto& step) { return go(op, step); })) {
                return false;
            }
        }
        finish_tests();
        return true;
    }

    /// Makes what was found the assumption's, and gives back what it had.
    void commit(const void* start) {
        assumption_.take_uses_back();
        assumption_.uses_ = std::move(uses_);
        assumption_.handed_ = std::move(handed_);
        assumption_.words_ = std::move(words_);
        assumption_.word_ops_ = std::move(word_ops_);
        assumption_.tests_ = std::move(tests_);
        assumption_.test_words_ = std::move(test_words_);
        assumption_.held_ = std::move(held_);
        assumption_.builtins_ = builtins_;
        assumption_.armed_for_ = start;
        const bool is_told =
            assumption_.words_.empty() && assumption_.tests_.empty() && !builtins_;
        if (is_told) assumption_.told_for_ = start;
    }

    /// Of an arming that failed: it depends on nothing.
    void roll_back() noexcept {
        for (const DictUse& use : uses_) release_dict(assumption_, use);
    }

private:
    Value source_of(const Op& op) const {
        return op.is_from_local() ? anchor_ : values_[op.source];
    }

    template <class T>
    bool go(const Op& op, const T& step) {
        if constexpr (GuardStep<T>) {
            const Value source = RootStep<T> ? Value{} : source_of(op);
            PyObject* child = follow_step(op, view_, source.object);
            if (!child) return false;
            Stay stay = link(op, step, source, child);
            if (stay == Stay::unknown && is_fixed_constant(child)) {
                held_.push_back(Owned<>::share(child));
                stay = Stay::compared;
            }
            values_[op.destination] = {child, stay};
            // No other step stores in a place that a relation reads (places.h).
            if (is_handed_[op.destination]) handed_.push_back({child, op.destination});
            return true;
        } else {
            static_cast<void>(op), static_cast<void>(step);
            return false;
        }
    }

    /// Notes what keeps a child where it is.
    template <class T>
    Stay link(const Op& op, const T& step, Value source, PyObject* child) {
        constexpr Reads reads = T::info.reads;
        if constexpr (reads == Reads::item || reads == Reads::keys ||
                      reads == Reads::entries) {
            if constexpr (std::same_as<T, Builtin>) builtins_ = view_.builtins().get();
            PyObject* dict = dict_read(step, view_, source.object);
            bool is_its_dict = true;
            if constexpr (std::same_as<T, ModuleAttr>) {
                is_its_dict = keeps_dict_of_module(source);
            } else if constexpr (std::same_as<T, Module>) {
                const HashedKey modules = name_of_modules();
                is_its_dict =
                    use(sys_dict(), modules.value, reads, {}) != Stay::unknown;
            }
            if (is_its_dict) {
                const Stay stay = use(dict, key_read(step), reads, source);
                if (stay != Stay::unknown) return stay;
            }
            if constexpr (reads == Reads::entries) {
                const Stay stay = use_entry(dict, step.position.value, source);
                if (stay != Stay::unknown) return stay;
            }
        } else if constexpr (reads == Reads::attribute) {
            const Stay stay = keep_own(source, key_read(step));
            if (stay != Stay::unknown) return stay;
        } else if constexpr (reads == Reads::class_and_attribute) {
            const Stay stay = keep_plain(source, key_read(step), child);
            if (stay != Stay::unknown) return stay;
            if (compares_place(source, key_read(step))) return Stay::unknown;
        } else if constexpr (reads == Reads::type) {
            return has_type(source) ? Stay::compared : Stay::unknown;
        } else if constexpr (std::same_as<T, FunctionGlobals>) {
            if (source.is_lasting()) return keep_globals_of(source);
        } else if constexpr (reads == Reads::identity) {
            if (source.is_lasting()) return source.stay;
        }
        if constexpr (std::same_as<T, ListItem> || std::same_as<T, TupleItem>) {
            if (compares_item(source, step.index.value)) return Stay::unknown;
        }
        if constexpr (LendsFromPlace<T>) {
            if (has_type(source)) {
                PyObject* const* const place = T::place_of_child(source.object);
                compare(Stay::compared, place, *place);
                return Stay::unknown;
            }
        }
        if (!is_known_part(op, source)) {
            add(AssumptionTest::of_step(source.object, child, number_,
                                        fetch_of_step(op.code())));
        }
        return Stay::unknown;
    }

    /// A step without operands that was taken from the same value before.
    bool is_known_part(const Op& op, Value source) {
        if (!source.is_lasting() || !operands_of(op.code()).empty()) return false;
        return !parts_.insert({source.object, op.code()}).second;
    }

    template <class T>
    void check(const Op& op, const T& kind) {
        if constexpr (GuardKind<T>) {
            const Value value = source_of(op);
            need_operands(kind);
            if (!is_kept(kind, value)) {
                static_assert(sizeof(T) <= sizeof AssumptionTest::expected);
                add(AssumptionTest::of_check(value.object, &kind, sizeof(T), number_,
                                             check_of_kind(op.code())));
                if constexpr (HasExactType<T>) {
                    if (kind.exact_type()) need_not_compare_type(value);
                }
            }
        }
    }

    /// Whether what the kind said of the value stays true without being asked again.
    template <class T>
    bool is_kept(const T& kind, Value value) {
        constexpr Reads reads = T::info.reads;
        if constexpr (reads == Reads::identity) return true;
        if constexpr (reads == Reads::type) {
            has_type(value);
            return true;
        }
        if constexpr (T::info.is_by_value) {
            if (value.is_lasting() && is_fixed_constant(value.object)) return true;
        }
        if constexpr (reads == Reads::item || reads == Reads::keys ||
                      reads == Reads::entries) {
            PyObject* dict = dict_read(kind, view_, value.object);
            return use(dict, key_read(kind), reads, value) != Stay::unknown;
        }
        if constexpr (reads == Reads::attribute) {
            return keeps_attribute(value, key_read(kind));
        }
        if constexpr (reads == Reads::class_and_attribute) {
            PyObject* const name = key_read(kind);
            return keeps_names_of_class(value, name) && keeps_attribute(value, name);
        }
        return false;
    }

    /// The objects that a kind's operands name weakly: once one died, what is at its
    /// address is another.
    template <class T>
    void need_operands(const T& kind) {
        std::apply([&](const auto&... each) { (need_operand(kind.*each.member), ...); },
                   T::operands());
    }

    template <class V>
    void need_operand(const V& operand) {
        if constexpr (std::derived_from<V, Identity>) {
            if (operand.weak) {
                compare(Stay::watched, &operand.weak->wr_object, operand.object);
            }
        }
    }

    const Program& program_;
    const View& view_;
    std::vector<Value> values_;
    std::vector<bool> is_handed_;  ///< by place: a relation reads it
    std::vector<HandedValue> handed_;
    Value anchor_;
    const void* builtins_ = nullptr;
    std::set<std::pair<PyObject*, OpCode>> parts_;
};

void Assumption::passed(const Program& program, const View& view, const Op& end,
                        PyObject* start) {
    if (!assumptions_can_arm()) return;
    if (start != candidate_) {
        candidate_ = start;
        passes_ = 0;
    }
    if (++passes_ < wanted_passes_ || !start) return;
    if (armed_for_) break_by(0, Breach::moved);  // armed for another start
    passes_ = 0;
    std::optional<Arming> arming;
    const auto last = static_cast<size_t>(&end - program.ops().data());
    // Up to 3.11 making a weak reference may collect garbage: finalizers would run.
    const int collects = PyGC_Disable();
    bool did_arm = false;
    const bool has_memory = allocating([&] {
        arming.emplace(*this, program, view);
        did_arm = arming->run(end, start, last - end.skip, last);
    });
    if (!has_memory) PyErr_Clear();  // it is armed another time
    if (has_memory && did_arm) arming->commit(start);
    if (collects) PyGC_Enable();
    if (!has_memory || !did_arm) {
        if (arming) arming->roll_back();
        return;
    }
    if (arms_ == 0) wanted_passes_ = 1;
    armed_at_ = std::chrono::steady_clock::now();
    ++arms_;
    ++assumption_counts.arms;
    ++assumption_counts.armed;
    if (arms_ > 1) ++assumption_counts.rearms;
}

}  // namespace guardtree
