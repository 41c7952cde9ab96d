#include "validation/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

namespace tilegym::validation {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Two buffers of this many 8-byte elements stay in the first-level cache.
constexpr std::size_t kStrip = 1024;

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (std::size_t dim = 0; dim < shape.size(); ++dim) text += (dim == 0 ? "" : ", ") + std::to_string(shape[dim]);
  return text + "]";
}

/// Distance of two numbers, neither a NaN. Equal infinities are 0 apart.
double distance(double actual, double expected) noexcept {
  return actual == expected ? 0.0 : std::fabs(actual - expected);
}

double distance(std::int64_t actual, std::int64_t expected) noexcept {
  const auto high = static_cast<std::uint64_t>(std::max(actual, expected));
  const auto low = static_cast<std::uint64_t>(std::min(actual, expected));
  return static_cast<double>(high - low);  // the difference of two int64 fits without a sign
}

double relative(double error, double expected) noexcept {
  if (error == 0) return 0;
  return std::isfinite(expected) ? error / std::fabs(expected) : kInfinity;
}

/// rtol * infinity would let any number pass for an infinity, hence the finite error.
bool within(double error, double expected, const Tolerance& tolerance) noexcept {
  return error == 0 || (std::isfinite(error) && error <= tolerance.atol + tolerance.rtol * std::fabs(expected));
}

/// Counts NaNs of a pair; nothing where there is none, else whether the pair matches.
std::optional<bool> judge_nan(double actual, double expected, bool equal_nan, Comparison& total) noexcept {
  const bool in_actual = std::isnan(actual);
  const bool in_expected = std::isnan(expected);
  if (!in_actual && !in_expected) return std::nullopt;
  total.nan_in_both += in_actual && in_expected;
  total.nan_in_actual += in_actual && !in_expected;
  total.nan_in_expected += in_expected && !in_actual;
  return in_actual && in_expected && equal_nan;
}

template <class Value>
bool judge(Value actual, Value expected, const Tolerance& tolerance, Comparison& total) noexcept {
  const auto reference = static_cast<double>(expected);
  if (const auto verdict = judge_nan(static_cast<double>(actual), reference, tolerance.equal_nan, total)) {
    return *verdict;
  }
  const double error = distance(actual, expected);
  total.max_abs_error = std::max(total.max_abs_error, error);
  total.max_rel_error = std::max(total.max_rel_error, relative(error, reference));
  return within(error, reference, tolerance);
}

/// Walks two arrays of one shape row by row and judges every pair. Value is what elements are compared as.
template <class Value>
class Walk {
 public:
  Walk(const ArrayView& actual, const ArrayView& expected, const Tolerance& tolerance)
      : actual_(actual), expected_(expected), tolerance_(tolerance), index_(actual.shape.size(), 0) {}

  Comparison run() {
    const auto outer = actual_.shape.empty() ? actual_.shape : actual_.shape.first(actual_.shape.size() - 1);
    const std::int64_t rows = std::accumulate(outer.begin(), outer.end(), std::int64_t{1}, std::multiplies<>());
    const auto columns = static_cast<std::size_t>(actual_.shape.empty() ? 1 : actual_.shape.back());
    total_.elements = rows * static_cast<std::int64_t>(columns);
    for (std::int64_t row = 0; row < rows && columns > 0; ++row) {
      judge_row(columns);
      advance(outer);
    }
    return total_;
  }

 private:
  /// Address of the element at index_, its last component replaced by `column`.
  static const std::byte* address(const ArrayView& view, std::span<const std::int64_t> index, std::size_t column) {
    std::int64_t offset = 0;
    for (std::size_t dim = 0; dim + 1 < index.size(); ++dim) offset += index[dim] * view.strides[dim];
    if (!index.empty()) offset += static_cast<std::int64_t>(column) * view.strides.back();
    return view.data + offset * static_cast<std::int64_t>(size_of(view.type));
  }

  void fetch(const ArrayView& view, std::size_t column, std::size_t count, Value* out) const {
    load(view.type, address(view, index_, column), index_.empty() ? 0 : view.strides.back(), count, out);
  }

  void judge_row(std::size_t columns) {
    for (std::size_t column = 0; column < columns; column += kStrip) {
      const std::size_t count = std::min(kStrip, columns - column);
      fetch(actual_, column, count, actual_strip_.data());
      fetch(expected_, column, count, expected_strip_.data());
      for (std::size_t i = 0; i < count; ++i) {
        if (!judge(actual_strip_[i], expected_strip_[i], tolerance_, total_)) note_mismatch(column + i, i);
      }
    }
  }

  void note_mismatch(std::size_t column, std::size_t position) {
    if (total_.mismatches++ > 0) return;
    Mismatch first{index_, static_cast<double>(actual_strip_[position]),
                   static_cast<double>(expected_strip_[position])};
    if (!first.index.empty()) first.index.back() = static_cast<std::int64_t>(column);
    total_.first_mismatch = std::move(first);
  }

  /// Steps index_ to the next row, in row-major order.
  void advance(std::span<const std::int64_t> outer) {
    for (std::size_t dim = outer.size(); dim-- > 0;) {
      if (++index_[dim] < outer[dim]) return;
      index_[dim] = 0;
    }
  }

  const ArrayView& actual_;
  const ArrayView& expected_;
  const Tolerance& tolerance_;
  std::vector<std::int64_t> index_;
  std::array<Value, kStrip> actual_strip_;
  std::array<Value, kStrip> expected_strip_;
  Comparison total_;
};

Status check(const ArrayView& actual, const ArrayView& expected, const Tolerance& tolerance) {
  if (!std::ranges::equal(actual.shape, expected.shape)) {
    return Error{"compare: wanted two tensors of one shape, got " + shape_text(actual.shape) + " and " +
                 shape_text(expected.shape)};
  }
  if (tolerance.rtol >= 0 && tolerance.atol >= 0) return {};
  return Error{"compare: wanted tolerances of at least 0, got rtol " + std::to_string(tolerance.rtol) + " and atol " +
               std::to_string(tolerance.atol)};
}

}  // namespace

Result<Comparison> compare(const ArrayView& actual, const ArrayView& expected, const Tolerance& tolerance) {
  TILEGYM_TRY(check(actual, expected, tolerance));
  if (is_integer(actual.type) && is_integer(expected.type))
    return Walk<std::int64_t>(actual, expected, tolerance).run();
  return Walk<double>(actual, expected, tolerance).run();
}

}  // namespace tilegym::validation
