// A program: one guard tree compiled flat for one code object.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tree.h"

namespace guardtree {

/// Immutable after compile, so it may be evaluated re-entrantly and by several threads.
/// The only owner of the references its ops use. Ops are in preorder: a step, the
/// checks of what it fetches, its children.
class Program {
public:
    Program() noexcept = default;
    Program(Program&&) noexcept = default;
    Program& operator=(Program&&) noexcept = default;

    /// Compiles a snapshot of `tree` for `code`. Paths without checks are left out. On
    /// failure `to` is untouched and `problem` says what does not fit.
    static bool compile(const Tree& tree, PyCodeObject* code, Program& to,
                        Diagnostic& problem);

    std::span<const Op> ops() const noexcept { return ops_; }

    /// Values that a walk needs room for; the first owned_count of them own what they
    /// hold.
    uint16_t value_count() const noexcept { return value_count_; }

    uint16_t owned_count() const noexcept { return owned_count_; }

    /// Some op may run user code.
    bool calls_python() const noexcept { return calls_python_; }

    /// Every op is a leaf kind (kind.h) on a local.
    bool is_leaf() const noexcept { return is_leaf_; }

    /// Names the program reads from slots, for views over mappings.
    std::span<const SlotName> names() const noexcept { return names_; }

    /// An object that an op compares with has died: the program can never pass again.
    bool is_dead() const noexcept;

    /// The tree it was compiled from, for explanations.
    const Tree& tree() const noexcept { return tree_; }

private:
    friend class Compiler;

    std::vector<Op> ops_;
    std::vector<SlotName> names_;
    Tree tree_;
    uint16_t value_count_ = 0;
    uint16_t owned_count_ = 0;
    bool calls_python_ = false;
    bool is_leaf_ = true;
};

}  // namespace guardtree
