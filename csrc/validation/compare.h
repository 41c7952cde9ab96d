#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/result.h"
#include "validation/element.h"

namespace tilegym::validation {

/// A borrowed tensor in this process's memory; element strides, any sign, zero for broadcast dimensions.
struct ArrayView {
  ElementType type;
  const std::byte* data;  ///< element 0; may be null without elements
  std::span<const std::int64_t> shape;
  std::span<const std::int64_t> strides;
};

/// Two elements match where |actual - expected| <= atol + rtol * |expected|, or where they are equal (infinities too).
struct Tolerance {
  double rtol = 0;
  double atol = 0;
  bool equal_nan = false;  ///< whether a NaN matches a NaN; a NaN never matches a number
};

/// The first element, in row-major order, that does not match.
struct Mismatch {
  std::vector<std::int64_t> index;
  double actual = 0;
  double expected = 0;
};

struct Comparison {
  std::int64_t elements = 0;
  std::int64_t mismatches = 0;
  std::int64_t nan_in_both = 0;
  std::int64_t nan_in_actual = 0;    ///< only there
  std::int64_t nan_in_expected = 0;  ///< only there
  double max_abs_error = 0;          ///< over pairs without a NaN
  double max_rel_error = 0;          ///< |actual - expected| / |expected|; infinite where only expected is 0
  std::optional<Mismatch> first_mismatch;

  [[nodiscard]] bool matches() const noexcept { return mismatches == 0; }
};

/// Compares two arrays of one shape in one pass. Types may differ; integers are compared exactly, everything else as
/// doubles. Errors: different shapes, a negative or NaN tolerance.
[[nodiscard]] Result<Comparison> compare(const ArrayView& actual, const ArrayView& expected,
                                         const Tolerance& tolerance);

}  // namespace tilegym::validation
