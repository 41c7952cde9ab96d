#pragma once

#include <ATen/core/Tensor.h>

#include "validation/compare.h"

namespace tilegym::bindings {

/// validation::compare for tensors of any device and any real dtype, computed in float64 on the device of `actual`.
/// Integers beyond 2^53 are rounded. Throws std::invalid_argument for different shapes, c10::Error for tensors that
/// cannot be converted to float64.
[[nodiscard]] validation::Comparison compare(const at::Tensor& actual, const at::Tensor& expected,
                                             const validation::Tolerance& tolerance);

}  // namespace tilegym::bindings
