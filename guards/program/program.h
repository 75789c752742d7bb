// A program: one guard tree, compiled to a flat array of ops for one code object.
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
    bool from_local;  ///< `index` is a slot
};

/// The captured values of a program, and where they are after the guards have passed.
struct CapturedValues {
    enum class Source : uint8_t {
        slot,    ///< a slot of the view
        kept,    ///< a place of the walk, which leaves the value owned
        shared,  ///< the same place as a later captured value
        path,    ///< fetched after the walk, because an assumption covers it
    };

    struct Value {
        Source source;
        uint16_t index;  ///< of the slot, the place or the path
    };

    std::vector<Value> values;
    std::vector<ValuePath> paths;
};

/// A node of the tree that a program was compiled from. Locals are known by name.
struct ValueNode {
    NodeId node = no_id;  ///< of the step that fetches the value; no_id for a local
    Owned<> local;        ///< the name, or null
};

/// Immutable after compile, so it may be evaluated re-entrantly and by several threads.
/// (Steps store in it where they found their value, but that is only a hint.) It is the
/// only owner of the references that its ops use. Ops are in preorder: a step, the
/// checks of the value it fetches, its children. Relations come last. A value with one
/// check takes 64 bytes.
class Program {
public:
    Program();
    Program(Program&&) noexcept;
    Program& operator=(Program&&) noexcept;
    ~Program();

    /// Compiles a snapshot of `tree` for `code`. Paths without checks are left out.
    /// With `counts`, siblings that failed more often come first, as far as no user
    /// code runs between them, so the verdict stays the same. The values of `captured`,
    /// which are nodes with checks (see demanding), are handed to the caller of each
    /// walk (captured_values.h). On failure `to` is unchanged and `problem` says what
    /// does not fit.
    static bool compile(const Tree& tree, PyCodeObject* code, Program& to,
                        Diagnostic& problem, const FailureCounts* counts = nullptr,
                        std::span<const NodeId> captured = {});

    /// The ops without the final Done, where a walk ends.
    std::span<const Op> ops() const noexcept {
        return {ops_.data(), ops_.empty() ? 0 : ops_.size() - 1};
    }

    /// The number of values that a walk needs room for. The first owned_count of them
    /// own the objects that they refer to.
    uint16_t value_count() const noexcept { return value_count_; }

    uint16_t owned_count() const noexcept { return owned_count_; }

    /// How many of the owned values, counted from the last one, stay owned after a walk
    /// that passes.
    uint16_t kept_count() const noexcept { return kept_count_; }

    /// The captured values, or null. A program with captured values is not a leaf.
    const CapturedValues* captured() const noexcept { return captured_.get(); }

    /// Whether an op may run user code.
    bool calls_python() const noexcept { return calls_python_; }

    /// Whether every op is a leaf kind (kind.h) on a local, or a block of such ops.
    bool is_leaf() const noexcept { return is_leaf_; }

    /// The names that the program reads from slots, for views over mappings.
    std::span<const SlotName> names() const noexcept { return names_; }

    /// The sources of a relation's values, in order.
    std::span<const RelationSource> sources_of(const Op& relation) const noexcept {
        const uint32_t first = relation.skip;
        return {sources_.data() + first, relation.place};
    }

    /// Those of all relations.
    std::span<const RelationSource> sources() const noexcept { return sources_; }

    /// What a RelationBlock evaluates. No walk reports it.
    const Op& joined_relation(const Op& block) const noexcept {
        return joined_[block.id];
    }

    std::span<const BlockItem> block_items() const noexcept { return block_items_; }

    std::span<const NameRow> name_rows() const noexcept { return name_rows_; }

    /// The assumptions that its ops refer to. Their state changes during evaluation.
    std::span<const std::unique_ptr<Assumption>> assumptions() const noexcept {
        return assumptions_;
    }

    /// Whether an object that an op compares with has died. The program can then never
    /// pass again.
    bool is_dead() const noexcept;

    /// The path of the value that op `number`, a step or a kind, fetches or checks. Not
    /// for the walk. Linear in the length of the path, except for the first call.
    ValuePath path_of(size_t number) const;

    /// The path as a Python expression: "cfg.training".
    std::string path_text(size_t number) const;

    /// The condition of op `number` as a Python expression: "cfg.training is True". For
    /// a step, its path. Not for the walk.
    std::string claim_text(size_t number) const;

    /// The paths of a relation's values, in order.
    std::vector<std::string> relation_paths(const Op& relation) const;

    /// The nodes of op `number`: of a step its own, of a kind the one that it checks,
    /// of a relation those of its values. Not for the walk.
    std::vector<ValueNode> nodes_of(size_t number) const;

    /// The user's note on the check or relation, or null.
    PyObject* note_of(const Op& op) const noexcept;

    /// The objects that it keeps alive, for the garbage collector.
    const References& references() const noexcept { return references_; }

private:
    friend class Compiler;

    struct Note {
        uint32_t id;  ///< Op::id
        bool is_relation;
        PyObject* text;  ///< kept alive by references_
    };

    struct Outline;

    struct OutlineDeleter {
        void operator()(const Outline* outline) const;
    };

    /// Created on first use.
    const Outline& outline() const;

    /// The name of a slot, or null.
    PyObject* name_of(int32_t slot) const;

    std::string local_name(int32_t slot) const;

    /// The path of a relation's value.
    std::string source_text(const RelationSource& source) const;

    // The members that an evaluation reads come first.
    Ops ops_;  ///< the last one is Done
    uint16_t value_count_ = 0;
    uint16_t owned_count_ = 0;
    uint16_t kept_count_ = 0;
    bool calls_python_ = false;
    bool is_leaf_ = true;
    std::vector<SlotName> names_;
    std::vector<RelationSource> sources_;
    std::vector<Op> joined_;  ///< relations; at most max_joined_values values each
    std::vector<BlockItem> block_items_;
    std::vector<NameRow> name_rows_;
    std::vector<Note> notes_;  ///< of checks, then of relations, each sorted by id
    References references_;
    std::vector<std::unique_ptr<Assumption>> assumptions_;
    std::unique_ptr<const CapturedValues> captured_;
    mutable std::unique_ptr<const Outline, OutlineDeleter> outline_;
};

}  // namespace guardtree
