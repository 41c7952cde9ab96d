#include "validation/tally.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace tilegym::validation {
namespace {

std::vector<std::int64_t> unravel(std::int64_t element, std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::size_t dim = shape.size(); dim-- > 0; element /= shape[dim]) index[dim] = element % shape[dim];
  return index;
}

}  // namespace

std::size_t BlockGrid::size() const noexcept {
  return static_cast<std::size_t>(std::accumulate(grid.begin(), grid.end(), std::int64_t{1}, std::multiplies<>()));
}

std::size_t BlockGrid::block_of(std::int64_t element, std::span<const std::int64_t> shape) const noexcept {
  std::int64_t block = 0;
  std::int64_t step = 1;
  for (std::size_t dim = shape.size(); dim-- > 0; element /= shape[dim]) {
    block += element % shape[dim] / extents[dim] * step;
    step *= grid[dim];
  }
  return static_cast<std::size_t>(block);
}

std::int64_t BlockGrid::run_from(std::int64_t element, std::span<const std::int64_t> shape) const noexcept {
  if (shape.empty()) return 1;
  const std::int64_t column = element % shape.back();
  return std::min(extents.back() - column % extents.back(), shape.back() - column);
}

Tally::Tally(const TallyPlan& plan) : plan_(&plan), buckets_(kBuckets, 0) {}

template <class Value>
double Tally::add(Value actual, Value expected, std::int64_t element) {
  const Pair pair = judge(actual, expected, plan_->tolerance, plan_->unit);
  if (!pair.matches) note_mismatch(actual, expected, pair, element);
  maxima_.absolute = std::max(maxima_.absolute, pair.error);
  maxima_.relative = std::max(maxima_.relative, pair.relative);
  maxima_.ulps = std::max(maxima_.ulps, pair.ulps);
  return count(pair, static_cast<double>(actual), static_cast<double>(expected), counts_);
}

template double Tally::add(double, double, std::int64_t);
template double Tally::add(std::int64_t, std::int64_t, std::int64_t);

template <class Value>
void Tally::note_mismatch(Value actual, Value expected, const Pair& pair, std::int64_t element) {
  Kept kept{element, static_cast<double>(actual), static_cast<double>(expected), pair.rank()};
  keep_first(kept);
  keep_worst(kept);
  if (!pair.has_nan()) {
    keep_greatest(greatest_absolute_, kept);
    kept.rank = pair.relative;
    keep_greatest(greatest_relative_, kept);
  }
  if (plan_->grid) add_block(plan_->grid->block_of(element, plan_->shape), {1, pair.error});
}

void Tally::add_block(std::size_t block, const BlockCount& found) {
  if (blocks_.empty()) blocks_.resize(plan_->grid->size());
  blocks_[block].mismatches += found.mismatches;
  blocks_[block].max_abs_error = std::max(blocks_[block].max_abs_error, found.max_abs_error);
}

void Tally::keep_first(const Kept& kept) {
  if (first_.size() == plan_->keep && kept.element > first_.back().element) return;
  const auto before = [](const Kept& left, const Kept& right) { return left.element < right.element; };
  first_.insert(std::ranges::upper_bound(first_, kept, before), kept);
  if (first_.size() > plan_->keep) first_.pop_back();
}

void Tally::keep_worst(const Kept& kept) {
  const auto worse = [](const Kept& left, const Kept& right) {
    return left.rank != right.rank ? left.rank > right.rank : left.element < right.element;
  };
  if (worst_.size() == plan_->keep && !worse(kept, worst_.back())) return;
  worst_.insert(std::ranges::upper_bound(worst_, kept, worse), kept);
  if (worst_.size() > plan_->keep) worst_.pop_back();
}

void Tally::keep_greatest(std::optional<Kept>& greatest, const Kept& kept) noexcept {
  if (!greatest || kept.rank > greatest->rank || (kept.rank == greatest->rank && kept.element < greatest->element)) {
    greatest = kept;
  }
}

void Tally::sample(double error) noexcept {
  ++buckets_[static_cast<std::size_t>(bucket_of(error, std::bit_cast<std::int64_t>(error)))];
}

void Tally::raise(const Maxima& other) noexcept {
  maxima_.absolute = std::max(maxima_.absolute, other.absolute);
  maxima_.relative = std::max(maxima_.relative, other.relative);
  maxima_.ulps = std::max(maxima_.ulps, other.ulps);
}

void Tally::add_counts(const Counts& other) noexcept {
  for (const auto member : {&Counts::mismatches, &Counts::nan_in_both, &Counts::nan_in_actual, &Counts::nan_in_expected,
                            &Counts::infinity_in_both, &Counts::infinity_in_actual, &Counts::infinity_in_expected,
                            &Counts::signed_zeros, &Counts::unmeasured}) {
    counts_.*member += other.*member;
  }
}

void Tally::add_samples(std::span<const std::uint32_t> buckets) noexcept {
  std::ranges::transform(buckets_, buckets, buckets_.begin(), std::plus<>());
}

void Tally::adopt_places(const Tally& other) {
  for (const Kept& kept : other.first_) keep_first(kept);
  for (const Kept& kept : other.worst_) keep_worst(kept);
  if (other.greatest_absolute_) keep_greatest(greatest_absolute_, *other.greatest_absolute_);
  if (other.greatest_relative_) keep_greatest(greatest_relative_, *other.greatest_relative_);
}

void Tally::merge(const Tally& other) {
  raise(other.maxima_);
  add_counts(other.counts_);
  add_samples(other.buckets_);
  adopt_places(other);
  for (std::size_t block = 0; block < other.blocks_.size(); ++block) add_block(block, other.blocks_[block]);
}

Mismatch Tally::described(const Kept& kept) const {
  return {unravel(kept.element, plan_->shape), kept.actual, kept.expected};
}

BlockMap Tally::block_map() const {
  BlockMap map{plan_->grid->extents, plan_->grid->grid, {}};
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    if (blocks_[block].mismatches == 0 && blocks_[block].max_abs_error == 0) continue;
    map.blocks.push_back(
        {unravel(static_cast<std::int64_t>(block), map.grid), blocks_[block].mismatches, blocks_[block].max_abs_error});
  }
  return map;
}

double Tally::percentile(double percent) const noexcept {
  const auto total = std::accumulate(buckets_.begin(), buckets_.end(), std::uint64_t{0});
  if (total == 0) return 0;
  const auto rank = static_cast<std::uint64_t>(std::ceil(percent / 100 * static_cast<double>(total)));
  std::uint64_t below = 0;
  std::size_t place = 0;
  while (place + 1 < buckets_.size() && below + buckets_[place] < rank) below += buckets_[place++];
  if (place == 0) return 0;
  if (place + 1 == buckets_.size()) return kInfinity;
  const auto low = (static_cast<std::int64_t>(place) - 1 + kLowestBucket) << kBucketShift;
  const auto high = low + (std::int64_t{1} << kBucketShift);
  const double middle = (std::bit_cast<double>(low) + std::bit_cast<double>(high)) / 2;
  return std::min(middle, maxima_.absolute);
}

Comparison Tally::summary() const {
  Comparison result;
  result.mismatches = counts_.mismatches;
  result.nan_in_both = counts_.nan_in_both;
  result.nan_in_actual = counts_.nan_in_actual;
  result.nan_in_expected = counts_.nan_in_expected;
  result.infinity_in_both = counts_.infinity_in_both;
  result.infinity_in_actual = counts_.infinity_in_actual;
  result.infinity_in_expected = counts_.infinity_in_expected;
  result.signed_zeros = counts_.signed_zeros;
  result.max_abs_error = maxima_.absolute;
  result.max_rel_error = maxima_.relative;
  result.max_ulp_error = maxima_.ulps;
  for (std::size_t i = 0; i < kPercents.size(); ++i) result.percentiles[i] = percentile(kPercents[i]);
  for (const Kept& kept : first_) result.first.push_back(described(kept));
  for (const Kept& kept : worst_) result.worst.push_back(described(kept));
  if (greatest_absolute_) result.greatest_absolute = described(*greatest_absolute_);
  if (greatest_relative_) result.greatest_relative = described(*greatest_relative_);
  if (plan_->grid) result.blocks = block_map();
  return result;
}

}  // namespace tilegym::validation
