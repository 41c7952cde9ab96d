#include "validation/plan.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace tilegym::validation {
namespace {

constexpr std::int64_t kSamples = 1 << 18;
constexpr std::size_t kMostKept = 10000;
constexpr std::size_t kMostBlocks = 65536;

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (std::size_t dim = 0; dim < shape.size(); ++dim) text += (dim == 0 ? "" : ", ") + std::to_string(shape[dim]);
  return text + "]";
}

Status check_tolerance(const Tolerance& tolerance) {
  if (tolerance.rtol >= 0 && tolerance.atol >= 0) return {};
  return Error{"compare: wanted tolerances of at least 0, got rtol " + std::to_string(tolerance.rtol) + " and atol " +
               std::to_string(tolerance.atol)};
}

/// The product of extents may not overflow, so that positions are numbers.
Status check_size(std::span<const std::int64_t> shape) {
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(size, extent, &size)) {
      return Error{"compare: wanted a shape of at most 2^63 - 1 elements, got " + shape_text(shape)};
    }
  }
  return {};
}

Status check_detail(std::span<const std::int64_t> shape, const Detail& detail) {
  if (detail.keep < 1 || detail.keep > kMostKept) {
    return Error{"compare: keep: wanted 1 to " + std::to_string(kMostKept) + " mismatches, got " +
                 std::to_string(detail.keep)};
  }
  if (detail.block.size() > shape.size() || std::ranges::any_of(detail.block, [](auto extent) { return extent < 1; })) {
    return Error{"compare: block: wanted up to " + std::to_string(shape.size()) + " extents of at least 1, got " +
                 shape_text(detail.block)};
  }
  return {};
}

/// The grid of a block over the trailing dimensions, coarse enough for a table of all blocks.
BlockGrid grid_of(std::span<const std::int64_t> shape, const std::vector<std::int64_t>& block) {
  BlockGrid result{std::vector<std::int64_t>(shape.size(), 1), std::vector<std::int64_t>(shape.size(), 0)};
  std::ranges::copy(block, result.extents.end() - static_cast<std::ptrdiff_t>(block.size()));
  const auto count = [&] {
    for (std::size_t dim = 0; dim < shape.size(); ++dim) {
      result.grid[dim] = shape[dim] / result.extents[dim] + (shape[dim] % result.extents[dim] != 0);
    }
    return std::accumulate(result.grid.begin(), result.grid.end(), 1.0, std::multiplies<>());
  };
  while (count() > static_cast<double>(kMostBlocks)) {
    result.extents[static_cast<std::size_t>(std::ranges::max_element(result.grid) - result.grid.begin())] *= 2;
  }
  return result;
}

}  // namespace

std::int64_t count_of(std::span<const std::int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

Status check_shapes(const ArrayView& actual, const ArrayView& expected) {
  if (std::ranges::equal(actual.shape, expected.shape)) return {};
  return Error{"compare: wanted two tensors of one shape, got " + shape_text(actual.shape) + " and " +
               shape_text(expected.shape)};
}

Result<TallyPlan> make_plan(std::span<const std::int64_t> shape, const Tolerance& tolerance, const Detail& detail) {
  TILEGYM_TRY(check_tolerance(tolerance));
  TILEGYM_TRY(check_size(shape));
  TILEGYM_TRY(check_detail(shape, detail));
  TallyPlan plan{{shape.begin(), shape.end()}, tolerance, {}, detail.keep, std::nullopt};
  if (!detail.block.empty()) plan.grid = grid_of(shape, detail.block);
  return plan;
}

// Odd, so that no period of a power of two is sampled at one phase.
std::int64_t sample_stride(std::int64_t size) noexcept {
  return size <= kSamples ? 1 : (size / kSamples) | 1;
}

}  // namespace tilegym::validation
