// Shares one tensor spec among all guards that expect the same.
// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include "spec.h"

namespace guardtree {

/// Adds an object that owns the spec to `keep`, and returns that spec: this one, or an
/// equal one that is alive. A model has hundreds of tensors but only a handful of
/// different specs, which then stay in the cache (bench/compare_torch.py). Null, with
/// `problem` filled, if there is no memory. Needs the GIL.
const TensorSpec* share_spec(std::unique_ptr<TensorSpec> spec, References& keep,
                             Diagnostic& problem);

}  // namespace guardtree
