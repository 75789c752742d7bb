// One tensor spec for all guards that expect the same.
// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include "spec.h"

namespace guardtree {

/// Gives `keep` an object that owns the spec: this one, or one that says the same and
/// is alive, whose spec is then the result. A model has hundreds of tensors and a
/// handful of specs, which stay in the cache (bench/compare_torch.py). Null with
/// `problem` filled when there is no memory. Needs the GIL.
const TensorSpec* share_spec(std::unique_ptr<TensorSpec> spec, References& keep,
                             Diagnostic& problem);

}  // namespace guardtree
