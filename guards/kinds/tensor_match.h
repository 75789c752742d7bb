// tensor_match: a tensor's metadata.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"
#include "../objects/keys.h"
#include "../tensors/spec.h"

namespace guardtree {

struct TensorMatch {
    static constexpr Info info{
        .name = "tensor_match",
        .summary =
            "A tensor has these metadata: those of an example, or any subset, sizes "
            "and strides exact, free (None) or between bounds. Read anew on every "
            "check, without the library's own code.",
        .python = "has_tensor_facts(value, spec)",
    };
    static constexpr Example examples[] = {
        {"numpy.zeros((64, 128), 'float32')", "numpy.ones((64, 128), 'float32')",
         "numpy.zeros((64, 128))"},
        {"TensorSpec(dtype='float32', shape=(None, 3))", "numpy.zeros((2, 3), 'f')",
         "numpy.zeros((3, 2), 'f')"},
        {"TensorSpec(type=numpy.ndarray, shape=((1, 8), 4))", "numpy.zeros((8, 4))",
         "numpy.zeros((9, 4))"},
        {"TensorSpec(dtype=numpy.dtype('>i4'), writeable=True)",
         "numpy.zeros(2, '>i4')", "numpy.zeros(2, '<i4')"},
        {"TensorSpec(strides=(4, 12), device='cpu')", "numpy.zeros((2, 3), 'f').T",
         "numpy.zeros((2, 3), 'f')"},
        {"TensorSpec(ndim=0)", "numpy.zeros(())", "numpy.zeros(1)"}};

    TensorOperand spec;

    static constexpr auto operands() {
        return std::tuple{operand("spec", &TensorMatch::spec)};
    }

    PyTypeObject* exact_type() const noexcept { return spec.spec->pattern.type; }

    void add_keys(std::vector<Keys>& to) const { spec.add_keys(to); }

    Known known_by(const TensorMatch& passed) const {
        return spec.is_part_of(passed.spec) ? Known::passes : Known::nothing;
    }

    bool check(PyObject* value) const noexcept { return spec.matches(value); }

    /// The facts that differ.
    std::string found(PyObject* value) const { return spec.found(value); }

    std::vector<FactDifference> differences(PyObject* value) const {
        return spec.spec->differences(value);
    }
};

}  // namespace guardtree
