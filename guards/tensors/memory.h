// Which tensors lie over each other in memory.
// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <vector>

#include "../operands/operand.h"

namespace guardtree {

/// Tensors that one relation takes: their extents lie on the stack.
inline constexpr size_t most_overlapping_tensors = 512;

/// Two tensors of a relation by their positions, the smaller one first.
struct TensorPair {
    uint16_t first;
    uint16_t second;

    auto operator<=>(const TensorPair&) const = default;
};

/// The pairs that are to overlap: all of them, no other. Kept among the references.
struct OverlapPairs {
    const std::vector<TensorPair>* pairs = nullptr;  ///< in order, each once
    PyObject* value = nullptr;                       ///< as a tuple of tuples

    static constexpr const char* annotation =
        "tuple[tuple[int, int], ...]";  // in stubs
    static constexpr const char* expects =
        "a tuple of pairs of positions, such as ((0, 1),); () for none";
    static bool read(PyObject* from, OverlapPairs& to, References& keep,
                     Diagnostic& problem);

    /// The extents (from the first to the last byte, as numpy.may_share_memory has it)
    /// of exactly these pairs overlap. False when one is no tensor or its memory cannot
    /// be told. O(n log n + pairs); no allocation.
    bool are_all_of(std::span<PyObject* const> tensors) const noexcept;
};

/// "a and c overlap", "none overlap", or which value tells no memory; the first pairs.
std::string overlap_text(std::span<PyObject* const> tensors,
                         std::span<const std::string> paths);

bool same(OverlapPairs a, OverlapPairs b) noexcept;
size_t hash_of(OverlapPairs a) noexcept;
std::string text_of(OverlapPairs a);

inline Owned<> object_of(OverlapPairs a) noexcept {
    return Owned<>::share(a.value);
}

}  // namespace guardtree
