// One question about a view, and the entries for each answer.
// SPDX-License-Identifier: MIT
#pragma once
#include <bit>

#include <tsl/robin_map.h>

#include "../objects/cache_line.h"
#include "../objects/keys.h"
#include "../ops/fetch.h"
#include "../program/program.h"
#include "../tensors/readers.h"

#include "answers.h"

namespace guardtree {

struct Entry;

/// An entry, and its place in the order: greater than those of all entries before it.
struct Candidate {
    const Entry* entry = nullptr;
    uint32_t order = 0;
};

/// A question about a view: the key of the value at the end of a path.
struct Question {
    ValuePath path;
    KeyOf of;
    /// Steps that peek (hooks.h) and come before the check, as paths that end with
    /// them. Those of `path` itself are left out.
    std::vector<ValuePath> peeked;
    /// Whether any of these steps, or one of `path`, peeks, or the key itself may be
    /// unknown: then it has no answer if user code would have to give it.
    bool may_be_open = false;
    /// Whether a step of `path` makes its value.
    bool makes_value = false;
    /// The entry that the operands of all these steps belong to.
    const Entry* owner = nullptr;

    /// Whether it needs `fetch_special`.
    bool is_special() const noexcept { return may_be_open || makes_value; }

    /// Whether it is about the content of a slot, and not special.
    bool is_plain_slot() const noexcept { return path.steps.empty() && !is_special(); }
};

bool same_question(const Question& a, const Question& b) noexcept;

/// The entries of one key: a single entry, or the entries of a node of a Decision. It
/// is small because a look-up that hits another entry each time also loads another
/// bucket each time.
class Bucket {
public:
    static constexpr uint32_t none = UINT32_MAX;

    Bucket() noexcept = default;

    explicit Bucket(uint32_t node) noexcept : only_{nullptr, node} {}

    explicit Bucket(const Candidate& only) noexcept : only_(only) {}

    bool is_empty() const noexcept { return !only_.entry && only_.order == none; }

    /// The single entry. `entry` is null if there are none or several.
    const Candidate& only() const noexcept { return only_; }

    /// The node of a bucket that has several entries.
    uint32_t node() const noexcept { return only_.order; }

private:
    Candidate only_{nullptr, none};
};

/// Integer keys and addresses have regular bits. All bits of a key influence the middle
/// bits of the product, so the hash moves those to where the map looks.
struct KeyHash {
    size_t operator()(uint64_t key) const noexcept {
        return std::rotr(key * 0x9E3779B97F4A7C15u, 32);
    }
};

/// Buckets by key, or by disjoint ranges if the kind is `integer`.
struct Split {
    /// Load factor. Kept low because each displaced key costs a mispredicted branch.
    static constexpr float load = 0.3F;

    explicit Split(Question asked)
        : question(std::move(asked)),
          slot(question.is_plain_slot() ? question.path.slot : -1) {}

    Question question;
    int32_t slot;  ///< the slot of the value; -1 if that is not all
    tsl::robin_map<uint64_t, Bucket, KeyHash, std::equal_to<>,
                   CacheLineAllocator<std::pair<uint64_t, Bucket>>>
        buckets;
    /// of the ranges, ascending; each range ends where the next starts
    std::vector<int64_t> starts;
    std::vector<Bucket> ranges;
    /// all entries of the split, if the question may have no answer
    Bucket open;
    /// of keys of which a value has several: the maximum number of buckets that a value
    /// leads to, and what types have answered (a cache)
    size_t max_answers = 1;
    mutable AnswersOfTypes of_types;

    /// The bucket of the entries whose check of this value can pass, or null. All
    /// entries of the split if finding out would run user code. W: as in
    /// Decision::gather. Takes a hash and a probe, 3 ns. Ranges take a binary search
    /// without branches.
    template <class W>
    [[gnu::always_inline]] const Bucket* find(const W& view) const noexcept {
        if (question.is_special()) [[unlikely]]
            return found_special(view);
        PyObject* const value =
            slot >= 0 ? slot_object(view.slots()[slot]) : fetched(question.path, view);
        return value ? find_value(value) : nullptr;
    }

    /// The value at the end of the path of a special question. Null if there is
    /// none, or if finding out would run user code. `made` holds it.
    PyObject* fetch_special(const View& view, Owned<>& made) const noexcept;

    /// The bucket for a question without an answer. Null if there is none.
    const Bucket* without_value() const noexcept {
        return open.is_empty() ? nullptr : &open;
    }

    /// The buckets of the keys of a value that has several. Null if not all are known.
    /// `room`: where they may be stored. Linear in their number.
    const Answers* find_several(PyObject* value, Answers& room) const noexcept;

private:
    const Answers* answers_of_type(PyTypeObject* type, Answers& room) const noexcept;

    /// Each kind has its own branch, so no condition is tested twice.
    [[gnu::always_inline]] const Bucket* find_value(PyObject* value) const noexcept {
        const KeyOf of = question.of;
        switch (of.kind) {
        case KeyKind::type: return probe(address_key(Py_TYPE(value)));
        case KeyKind::identity: return probe(address_key(value));
        case KeyKind::constant: return probe(constant_key(value));
        case KeyKind::size: {
            int64_t size = 0;
            if (!read_tensor_size(value, static_cast<int64_t>(of.detail), size))
                return nullptr;
            return probe(static_cast<uint64_t>(size));
        }
        default: return find_far(value);
        }
    }

    [[gnu::always_inline]] const Bucket* probe(uint64_t key) const noexcept {
        const auto found = buckets.find(key);
        return found == buckets.end() ? nullptr : &found->second;
    }

    /// For the kinds that need more than a look at the object itself.
    [[gnu::noinline]] const Bucket* find_far(PyObject* value) const noexcept;

    template <class W>
    static PyObject* fetched(const ValuePath& path, const W& view) noexcept {
        if constexpr (std::same_as<W, View>)
            return fetch(path, view);
        else
            return nullptr;  // programs that read only slots have no other questions
    }

    [[gnu::noinline]] const Bucket* find_special(const View& view) const noexcept;

    template <class W>
    const Bucket* found_special(const W& view) const noexcept {
        if constexpr (std::same_as<W, View>)
            return find_special(view);
        else
            return nullptr;
    }

    const Bucket* find_range(int64_t value) const noexcept;
};

}  // namespace guardtree
