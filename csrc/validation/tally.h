#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "validation/compare.h"
#include "validation/pair.h"
#include "validation/scan.h"

namespace tilegym::validation {

/// Where blocks of a shape lie.
struct BlockGrid {
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> grid;

  [[nodiscard]] std::size_t size() const noexcept;
  /// Number, in row-major order, of the block with an element of the shape.
  [[nodiscard]] std::size_t block_of(std::int64_t element, std::span<const std::int64_t> shape) const noexcept;
  /// How many elements from that one on, in row-major order, lie in its block without a gap.
  [[nodiscard]] std::int64_t run_from(std::int64_t element, std::span<const std::int64_t> shape) const noexcept;
};

/// What a tally needs to know of the whole.
struct TallyPlan {
  std::vector<std::int64_t> shape;
  Tolerance tolerance;
  UlpUnit unit;  ///< of the arrays being added
  std::size_t keep = 1;
  std::optional<BlockGrid> grid;
};

/// Statistics of pairs. Apart from `mean`, which its owner sums in a fixed order, they do not depend on the order of
/// the calls.
class Tally {
 public:
  explicit Tally(const TallyPlan& plan);

  /// A strip whose pairs are all finite and match.
  void add_scanned(const StripSums& sums) noexcept { counts_.signed_zeros += sums.signed_zeros; }
  [[nodiscard]] Maxima& maxima() noexcept { return maxima_; }

  /// One pair; `element` is its place in row-major order of the whole. Returns its error where that is finite, else 0.
  template <class Value>
  double add(Value actual, Value expected, std::int64_t element);

  void sample(double error) noexcept;
  void merge(const Tally& other);

  /// What was found elsewhere, part by part.
  void raise(const Maxima& other) noexcept;
  void add_counts(const Counts& other) noexcept;
  void add_samples(std::span<const std::uint32_t> buckets) noexcept;  ///< kBuckets of them
  void adopt_places(const Tally& other);                              ///< mismatches that are kept, uncounted
  struct BlockCount {
    std::int64_t mismatches = 0;
    double max_abs_error = 0;
  };
  /// Precondition: the plan has a grid, with that block.
  void add_block(std::size_t block, const BlockCount& found);

  /// Everything but elements and mean.
  [[nodiscard]] Comparison summary() const;
  /// Pairs whose error is not finite.
  [[nodiscard]] std::int64_t unmeasured() const noexcept { return counts_.unmeasured; }

 private:
  struct Kept {
    std::int64_t element;
    double actual;
    double expected;
    double rank;  ///< higher is worse
  };
  template <class Value>
  void note_mismatch(Value actual, Value expected, const Pair& pair, std::int64_t element);
  void keep_first(const Kept& kept);
  void keep_worst(const Kept& kept);
  static void keep_greatest(std::optional<Kept>& greatest, const Kept& kept) noexcept;
  [[nodiscard]] Mismatch described(const Kept& kept) const;
  [[nodiscard]] BlockMap block_map() const;
  [[nodiscard]] double percentile(double percent) const noexcept;

  const TallyPlan* plan_;
  Maxima maxima_;
  Counts counts_;
  std::vector<Kept> first_;
  std::vector<Kept> worst_;
  std::optional<Kept> greatest_absolute_;
  std::optional<Kept> greatest_relative_;
  std::vector<BlockCount> blocks_;
  std::vector<std::uint32_t> buckets_;
};

}  // namespace tilegym::validation
