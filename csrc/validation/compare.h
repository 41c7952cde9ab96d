#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/result.h"
#include "validation/element.h"
#include "validation/tolerance.h"

namespace tilegym::validation {

/// A borrowed tensor in this process's memory; element strides, any sign, zero for broadcast dimensions.
struct ArrayView {
  ElementType type;
  const std::byte* data;  ///< element 0; may be null without elements
  std::span<const std::int64_t> shape;
  std::span<const std::int64_t> strides;
};

/// What is kept besides the counts.
struct Detail {
  std::size_t keep = 1;  ///< how many first and how many worst mismatches, at least 1
  /// Extents of a tile block over the trailing dimensions; empty for no map. A dimension without an extent is cut at
  /// each index. Where that makes more than 65536 blocks, extents are doubled until it does not.
  std::vector<std::int64_t> block;
};

/// An element that does not match.
struct Mismatch {
  std::vector<std::int64_t> index;
  double actual = 0;
  double expected = 0;
};

struct BlockErrors {
  std::vector<std::int64_t> block;  ///< index of the block in the grid
  std::int64_t mismatches = 0;
  double max_abs_error = 0;  ///< over its pairs without a NaN, matching ones too
};

struct BlockMap {
  std::vector<std::int64_t> extents;  ///< elements of a block, for every dimension
  std::vector<std::int64_t> grid;     ///< number of blocks, for every dimension
  std::vector<BlockErrors> blocks;    ///< those with an error or a mismatch, in row-major order
};

/// Percentiles that are estimated, in percent.
inline constexpr std::array kPercents{50.0, 90.0, 99.0, 99.9};

/// Errors are |actual - expected| of pairs without a NaN; equal infinities are 0 apart.
struct Comparison {
  std::int64_t elements = 0;
  std::int64_t mismatches = 0;
  std::int64_t nan_in_both = 0;
  std::int64_t nan_in_actual = 0;         ///< only there
  std::int64_t nan_in_expected = 0;       ///< only there
  std::int64_t infinity_in_both = 0;      ///< of one sign
  std::int64_t infinity_in_actual = 0;    ///< only there, or of another sign
  std::int64_t infinity_in_expected = 0;  ///< only there, or of another sign
  std::int64_t signed_zeros = 0;          ///< pairs of zeros with different signs; they match
  double max_abs_error = 0;
  double max_rel_error = 0;   ///< |actual - expected| / |expected|; infinite where only expected is 0
  double max_ulp_error = 0;   ///< in units of actual's type at expected; for integers the difference
  double mean_abs_error = 0;  ///< over finite errors
  /// Absolute errors at kPercents, within 6 % of the error there; beyond 2^18 elements from a sample of about as many.
  std::array<double, kPercents.size()> percentiles{};
  std::vector<Mismatch> first;                ///< in row-major order
  std::vector<Mismatch> worst;                ///< by absolute error, NaN before all, then in row-major order
  std::optional<Mismatch> greatest_absolute;  ///< of the mismatches without a NaN
  std::optional<Mismatch> greatest_relative;  ///< of the mismatches without a NaN
  std::optional<BlockMap> blocks;

  [[nodiscard]] bool matches() const noexcept { return mismatches == 0; }
};

/// Compares two arrays of one shape in one pass over the memory of both, on the threads that OpenMP offers. Types may
/// differ; integers are compared exactly, everything else as doubles. The result does not depend on the threads.
/// Errors: different shapes, a negative or NaN tolerance, a bad Detail.
[[nodiscard]] Result<Comparison> compare(const ArrayView& actual, const ArrayView& expected, const Tolerance& tolerance,
                                         const Detail& detail = {});

/// The same piece by piece, for arrays that are not in this memory as a whole.
class PiecewiseComparison {
 public:
  /// `shape` is that of the whole. Errors: as compare.
  [[nodiscard]] static Result<PiecewiseComparison> start(std::span<const std::int64_t> shape,
                                                         const Tolerance& tolerance, const Detail& detail);
  PiecewiseComparison(PiecewiseComparison&&) noexcept;
  PiecewiseComparison& operator=(PiecewiseComparison&&) noexcept;
  ~PiecewiseComparison();

  /// A piece of consecutive elements of the whole's row-major order, in any shape, from element `first` on. Each
  /// element is to be added once. Errors: different shapes, a piece that reaches outside the whole.
  [[nodiscard]] Status add(const ArrayView& actual, const ArrayView& expected, std::int64_t first);

  /// A piece of finite pairs that match, measured elsewhere. `samples` are the errors of every sample_stride()th
  /// element of the whole that lies in the piece. Errors: a piece that reaches outside the whole.
  struct Matching {
    std::int64_t elements = 0;
    double sum = 0;  ///< of absolute errors
    double max_abs_error = 0;
    double max_rel_error = 0;
    double max_ulp_error = 0;
    std::int64_t signed_zeros = 0;
  };
  [[nodiscard]] Status add_matching(const Matching& piece, std::int64_t first, std::span<const double> samples);
  [[nodiscard]] std::int64_t sample_stride() const noexcept;
  [[nodiscard]] Comparison result() const;

 private:
  struct State;
  explicit PiecewiseComparison(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace tilegym::validation
