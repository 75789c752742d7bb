// Finds tensors that overlap in memory.
// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <vector>

#include "../operands/operand.h"

namespace guardtree {

/// The maximum number of tensors of a relation. Their extents are on the stack.
inline constexpr size_t max_overlapping_tensors = 512;

/// Two tensors of a relation, by position, the smaller position first.
struct TensorPair {
    uint16_t first;
    uint16_t second;

    auto operator<=>(const TensorPair&) const = default;
};

/// The pairs that must overlap: all of them and no others. Kept among the references.
struct OverlapPairs {
    const std::vector<TensorPair>* pairs = nullptr;  ///< sorted, each once
    PyObject* value = nullptr;                       ///< as a tuple of tuples

    static constexpr const char* annotation =
        "tuple[tuple[int, int], ...]";  // in stubs
    static constexpr const char* expects =
        "a tuple of pairs of positions, such as ((0, 1),); () for none";
    static bool read(PyObject* from, OverlapPairs& to, References& keep,
                     Diagnostic& problem);

    /// Whether the extents of exactly these pairs overlap. An extent goes from the
    /// first to the last byte, as in numpy.may_share_memory. False if a value is not a
    /// tensor or its memory is not known. O(n log n + pairs). No allocation.
    bool are_all_of(std::span<PyObject* const> tensors) const noexcept;
};

/// Describes the overlaps: "a and c overlap", "none overlap", or the value whose memory
/// is not known. Lists only the first pairs.
std::string overlap_text(std::span<PyObject* const> tensors,
                         std::span<const std::string> paths);

bool same(OverlapPairs a, OverlapPairs b) noexcept;
size_t hash_of(OverlapPairs a) noexcept;
std::string text_of(OverlapPairs a);

inline Owned<> object_of(OverlapPairs a) noexcept {
    return Owned<>::share(a.value);
}

}  // namespace guardtree
