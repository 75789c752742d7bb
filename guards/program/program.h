// A program: one guard tree compiled flat for one code object.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../objects/cache_line.h"
#include "../ops/fetch.h"
#include "../ops/item_block.h"
#include "../ops/name_block.h"
#include "../tree/failure_counts.h"
#include "../tree/tree.h"

namespace guardtree {

using Ops = std::vector<Op, CacheLineAllocator<Op>>;

/// Where a relation finds one of its values.
struct RelationSource {
    uint16_t index;   ///< among the walk's values, or the number of a slot
    bool from_local;  ///< a slot
};

/// What a program hands over, and where it lies once the guards have passed.
struct BoundValues {
    enum class Source : uint8_t {
        slot,    ///< of the view
        kept,    ///< a place among the walk's values, which leaves it owned
        shared,  ///< the same place as one behind it
        path,    ///< fetched anew: an assumption spoke for it
    };

    struct Value {
        Source source;
        uint16_t index;  ///< of a slot, a place or a path
    };

    std::vector<Value> values;
    std::vector<ValuePath> paths;
};

/// Immutable after compile, so it may be evaluated re-entrantly and by several threads
/// (steps remember places, which decide nothing). The only owner of the references its
/// ops use. Ops are in preorder: a step, the checks of what it fetches, its children;
/// relations come last. 64 bytes for a value with one check.
class Program {
public:
    Program();
    Program(Program&&) noexcept;
    Program& operator=(Program&&) noexcept;
    ~Program();

    /// Compiles a snapshot of `tree` for `code`. Paths without checks are left out.
    /// With `counts`, siblings that failed more often come first, as far as no user
    /// code runs between them: the answer stays the same. The values of `bound`, nodes
    /// with checks (demanding), are handed over to who walks it (bound_values.h).
    /// On failure `to` is untouched and `problem` says what does not fit.
    static bool compile(const Tree& tree, PyCodeObject* code, Program& to,
                        Diagnostic& problem, const FailureCounts* counts = nullptr,
                        std::span<const NodeId> bound = {});

    /// Behind the last of them is Done, where a walk ends.
    std::span<const Op> ops() const noexcept {
        return {ops_.data(), ops_.empty() ? 0 : ops_.size() - 1};
    }

    /// Values that a walk needs room for; the first owned_count of them own what they
    /// hold.
    uint16_t value_count() const noexcept { return value_count_; }

    uint16_t owned_count() const noexcept { return owned_count_; }

    /// The last of the owned values: those that a walk that passes leaves owned.
    uint16_t kept_count() const noexcept { return kept_count_; }

    /// What it hands over; null where nothing was asked for. Such a program is no leaf.
    const BoundValues* bound() const noexcept { return bound_.get(); }

    /// Some op may run user code.
    bool calls_python() const noexcept { return calls_python_; }

    /// Every op is a leaf kind (kind.h) on a local, or a block of such.
    bool is_leaf() const noexcept { return is_leaf_; }

    /// Names the program reads from slots, for views over mappings.
    std::span<const SlotName> names() const noexcept { return names_; }

    /// The values of a relation, in order.
    std::span<const RelationSource> sources_of(const Op& relation) const noexcept {
        const uint32_t first = relation.skip;
        return {sources_.data() + first, relation.place};
    }

    std::span<const BlockItem> block_items() const noexcept { return block_items_; }

    std::span<const NameRow> name_rows() const noexcept { return name_rows_; }

    /// Those that its ops speak of; their state changes as it is evaluated.
    std::span<const std::unique_ptr<Assumption>> assumptions() const noexcept {
        return assumptions_;
    }

    /// An object that an op compares with has died: the program can never pass again.
    bool is_dead() const noexcept;

    /// The value that op `number`, a step or a kind, fetches or checks. Cold; linear in
    /// the path, but for the first time.
    ValuePath path_of(size_t number) const;

    /// The same as a Python expression: "cfg.training".
    std::string path_text(size_t number) const;

    /// What op `number` demands, as a Python expression: "cfg.training is True"; of a
    /// step, the path. Cold.
    std::string claim_text(size_t number) const;

    /// The paths of a relation's values, in order.
    std::vector<std::string> relation_paths(const Op& relation) const;

    /// What the user said of the check or relation, or null.
    PyObject* note_of(const Op& op) const noexcept;

    /// What it keeps alive, for the garbage collector.
    const References& references() const noexcept { return references_; }

private:
    friend class Compiler;

    struct Note {
        uint32_t id;  ///< Op::id
        bool is_relation;
        PyObject* text;  ///< kept alive among the references
    };

    struct Outline;

    struct OutlineDeleter {
        void operator()(const Outline* outline) const;
    };

    /// Made when it is asked for first.
    const Outline& outline() const;

    std::string local_name(int32_t slot) const;

    /// The path of a relation's value.
    std::string source_text(const RelationSource& source) const;

    // What an evaluation reads comes first.
    Ops ops_;  ///< and Done
    uint16_t value_count_ = 0;
    uint16_t owned_count_ = 0;
    uint16_t kept_count_ = 0;
    bool calls_python_ = false;
    bool is_leaf_ = true;
    std::vector<SlotName> names_;
    std::vector<RelationSource> sources_;
    std::vector<BlockItem> block_items_;
    std::vector<NameRow> name_rows_;
    std::vector<Note> notes_;  ///< of checks, then of relations, each by id
    References references_;
    std::vector<std::unique_ptr<Assumption>> assumptions_;
    std::unique_ptr<const BoundValues> bound_;
    mutable std::unique_ptr<const Outline, OutlineDeleter> outline_;
};

}  // namespace guardtree
