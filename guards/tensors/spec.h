// The operand of tensor_match: the expected metadata of a tensor.
// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "../objects/cache_line.h"
#include "../objects/keys.h"
#include "../operands/operand.h"
#include "../text/fact_difference.h"

#include "numpy_reader.h"

namespace guardtree {

/// A pattern and the facts it was built from. Immutable once read. The part of a plain
/// pattern that a check reads fits in two cache lines.
struct TensorSpec : OnCacheLines {
    /// The function that a check calls: the reader's own, or one that looks the reader
    /// up first.
    TensorMatches matches = nullptr;
    const void* context = nullptr;
    TensorPattern pattern;
    /// reader of pattern.type; null if that is null
    const TensorReader* reader = nullptr;
    std::vector<TensorBounds> sizes;
    std::vector<TensorBounds> strides;
    std::vector<int64_t> plain;  ///< TensorPattern::plain
    PyObject* facts = nullptr;   ///< the facts as a dict, in a fixed order; borrowed
    uint32_t named = 0;          ///< bits of the facts that it has, in that order
    References references;       ///< owns `facts` and the objects in it

    /// Every fact that differs: "dtype float64 (expected float32)". Empty if none does.
    /// Slow.
    std::vector<FactDifference> differences(PyObject* value) const;

    /// "TensorSpec(dtype='float32', shape=(2, None))".
    std::string text() const;
};

/// The facts of a tensor as a dict that TensorOperand::read accepts. Null, with
/// `problem` filled, if the value is not a tensor.
Owned<> tensor_facts(PyObject* tensor, Diagnostic& problem);

/// Read from a tensor, whose facts other tensors must have, or from a dict of facts:
/// - type: a class, exactly; dtype: a name, NumPy's or torch's dtype; device: "cuda:0";
///   layout: a name
/// - ndim; shape and strides (in the library's own unit): for each dimension a number,
///   None for any, or (low, high), both included
/// - storage_offset; alignment: a power of two that divides the address of the first
///   element, which must exist
/// - requires_grad, conj, neg, writeable, aligned, c_contiguous,
///   f_contiguous: a bool
/// - dispatch_keys: torch's key set as an int; local_dispatch_keys: the same after the
///   thread's included and excluded keys
///
/// If the reader of a tensor does not provide a fact, the guard fails.
struct TensorOperand {
    const TensorSpec* spec = nullptr;

    static constexpr const char* annotation = "object";  // in stubs
    static constexpr const char* expects =
        "a tensor to take the facts from, or a TensorSpec (a dict of facts)";
    static bool read(PyObject* from, TensorOperand& to, References& keep,
                     Diagnostic& problem);

    /// 4 ns for a NumPy or (with the plugin) torch matrix, 43 ns through DLPack
    /// (bench/compare_torch.py). Allocates nothing and runs no user code.
    bool matches(PyObject* value) const noexcept {
        return spec->matches(spec->pattern, value, spec->context);
    }

    /// The differences in one line.
    std::string found(PyObject* value) const;

    /// Whether the other spec contains every fact of this one. A shape includes the
    /// rank.
    bool is_part_of(const TensorOperand& other) const;

    /// Keys for its class, its kind, and each dimension whose size is one number.
    void add_keys(std::vector<Keys>& to) const;
};

bool same(TensorOperand a, TensorOperand b) noexcept;
size_t hash_of(TensorOperand a) noexcept;

inline std::string text_of(TensorOperand a) {
    return a.spec->text();
}

/// A copy of the dict of facts, because that is shared. Null if there is no memory.
inline Owned<> object_of(TensorOperand a) noexcept {
    return Owned<>::steal(PyDict_Copy(a.spec->facts));
}

}  // namespace guardtree
