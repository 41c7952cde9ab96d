#include "bindings/torch/compare.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/GradMode.h>

#include <limits>
#include <sstream>
#include <stdexcept>

namespace tilegym::bindings {
namespace {

using validation::Comparison;
using validation::Mismatch;
using validation::Tolerance;

std::int64_t count(const at::Tensor& mask) {
  return mask.sum().item<std::int64_t>();
}

void check_shapes(const at::Tensor& actual, const at::Tensor& expected) {
  if (actual.sizes() == expected.sizes()) return;
  std::ostringstream text;
  text << "compare(): wanted two tensors of one shape, got " << actual.sizes() << " and " << expected.sizes();
  throw std::invalid_argument(text.str());
}

/// |actual - expected| with 0 for equal values, infinities among them, and for pairs with a NaN.
at::Tensor absolute_error(const at::Tensor& actual, const at::Tensor& expected, const at::Tensor& has_nan) {
  return (actual - expected).abs().masked_fill(actual.eq(expected).logical_or(has_nan), 0);
}

at::Tensor relative_error(const at::Tensor& error, const at::Tensor& expected) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const at::Tensor ratio = error / expected.abs();
  return ratio.masked_fill(expected.isinf(), kInfinity).masked_fill(error.eq(0), 0);
}

Mismatch locate(const at::Tensor& matches, const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor index = matches.logical_not().nonzero()[0].cpu();
  Mismatch mismatch;
  mismatch.index.assign(index.data_ptr<std::int64_t>(), index.data_ptr<std::int64_t>() + index.numel());
  const auto value = [&](at::Tensor tensor) {
    for (const std::int64_t position : mismatch.index) tensor = tensor.select(0, position);
    return tensor.item<double>();
  };
  mismatch.actual = value(actual);
  mismatch.expected = value(expected);
  return mismatch;
}

}  // namespace

Comparison compare(const at::Tensor& actual_tensor, const at::Tensor& expected_tensor, const Tolerance& tolerance) {
  check_shapes(actual_tensor, expected_tensor);
  const c10::NoGradGuard no_grad;
  const at::Tensor actual = actual_tensor.detach().to(at::kDouble);
  const at::Tensor expected = expected_tensor.detach().to(actual.device(), at::kDouble);
  const at::Tensor nan_actual = actual.isnan();
  const at::Tensor nan_expected = expected.isnan();
  const at::Tensor both = nan_actual.logical_and(nan_expected);
  const at::Tensor error = absolute_error(actual, expected, nan_actual.logical_or(nan_expected));
  const at::Tensor bound = expected.abs() * tolerance.rtol + tolerance.atol;

  at::Tensor matches = error.eq(0).logical_or(error.isfinite().logical_and(error.le(bound)));
  matches = matches.logical_and(nan_actual.logical_or(nan_expected).logical_not());
  if (tolerance.equal_nan) matches = matches.logical_or(both);

  Comparison result;
  result.elements = actual.numel();
  if (result.elements == 0) return result;
  result.mismatches = result.elements - count(matches);
  result.nan_in_both = count(both);
  result.nan_in_actual = count(nan_actual) - result.nan_in_both;
  result.nan_in_expected = count(nan_expected) - result.nan_in_both;
  result.max_abs_error = error.max().item<double>();
  result.max_rel_error = relative_error(error, expected).max().item<double>();
  if (!result.matches()) result.first = {locate(matches, actual, expected)};
  return result;
}

}  // namespace tilegym::bindings
