#include "validation/compare.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>

#include "validation/parallel.h"
#include "validation/plan.h"
#include "validation/scan.h"
#include "validation/tally.h"
#include "validation/walk.h"

namespace tilegym::validation {
namespace {

// Two buffers of this many 8-byte elements stay in the second-level cache, and a strip is worth its bookkeeping.
constexpr std::int64_t kStrip = 4096;
// Sums are taken by segment and added in order, so that they do not depend on the number of threads.
constexpr std::int64_t kSegment = 16 * kStrip;

/// One pass over two arrays. Value is what elements are compared as.
template <class Value>
class Pass {
 public:
  Pass(const Walk& walk, const TallyPlan& plan, std::int64_t first, std::int64_t stride)
      : walk_(walk),
        plan_(plan),
        first_(first),
        stride_(stride),
        in_place_(find_scan(walk.actual().type(), walk.expected().type())),
        of_doubles_(find_scan(ElementType::f64, ElementType::f64)) {}

  /// Adds to the tally and returns the sum of errors.
  double run(Tally& total) {
    const std::int64_t segments = (walk_.size() + kSegment - 1) / kSegment;
    const int workers = worker_count(segments);
    std::vector<Worker> team(static_cast<std::size_t>(workers), Worker(plan_));
    std::vector<double> sums(static_cast<std::size_t>(segments), 0.0);
    run_segments(segments, workers, [&](int worker, std::int64_t segment) {
      sums[static_cast<std::size_t>(segment)] = judge_segment(team[static_cast<std::size_t>(worker)], segment);
    });
    for (const Worker& worker : team) total.merge(worker.tally);
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  }

 private:
  struct Worker {
    explicit Worker(const TallyPlan& plan) : tally(plan), actual(kStrip), expected(kStrip) {}
    Tally tally;
    std::vector<Value> actual;
    std::vector<Value> expected;
  };

  double judge_segment(Worker& worker, std::int64_t segment) const {
    const std::int64_t end = std::min(walk_.size(), (segment + 1) * kSegment);
    double sum = 0;
    for (std::int64_t position = segment * kSegment; position < end; position += kStrip) {
      const std::int64_t count = std::min(kStrip, end - position);
      sum += plan_.grid ? judge_by_block(worker, position, count)
                        : judge_strip(worker, position, static_cast<std::size_t>(count));
    }
    return sum;
  }

  /// Judges a strip in runs that lie in one tile block each.
  double judge_by_block(Worker& worker, std::int64_t position, std::int64_t count) const {
    double sum = 0;
    for (std::int64_t run = 0; count > 0; position += run, count -= run) {
      const std::int64_t element = first_ + walk_.row_major(position);
      run = walk_.is_row_major() ? std::min(count, plan_.grid->run_from(element, plan_.shape)) : 1;
      const Maxima before = std::exchange(worker.tally.maxima(), Maxima{});
      sum += judge_strip(worker, position, static_cast<std::size_t>(run));
      if (const double error = worker.tally.maxima().absolute; error > 0) {
        worker.tally.add_block(plan_.grid->block_of(element, plan_.shape), {0, error});
      }
      worker.tally.raise(before);
    }
    return sum;
  }

  double judge_strip(Worker& worker, std::int64_t position, std::size_t count) const {
    const std::byte* actual = walk_.actual().packed(position, count);
    const std::byte* expected = walk_.expected().packed(position, count);
    StripSums sums;
    const bool packed = actual != nullptr && expected != nullptr;
    if (packed && stride_ > 1 && matches_in_place(worker.tally, actual, expected, count, sums)) {
      sample_in_place(worker.tally, actual, expected, position, count);
      return sums.error;
    }
    walk_.actual().read(position, count, worker.actual.data());
    walk_.expected().read(position, count, worker.expected.data());
    sample(worker, position, count);
    const bool scanned = packed && in_place_ != nullptr && stride_ > 1;
    if (!scanned && matches_as_read(worker, count, sums)) return sums.error;
    return judge_pairs(worker, position, count);
  }

  /// Whether a scan of the strip where it lies has done everything; nothing is changed otherwise.
  bool matches_in_place(Tally& tally, const std::byte* actual, const std::byte* expected, std::size_t count,
                        StripSums& sums) const {
    if constexpr (std::is_same_v<Value, double>) {
      if (in_place_ == nullptr) return false;
      if (!in_place_(actual, expected, count, plan_.tolerance, plan_.unit, tally.maxima(), sums)) return false;
      tally.add_scanned(sums);
      return true;
    } else {
      const ElementType type = walk_.actual().type();
      return type == walk_.expected().type() && std::memcmp(actual, expected, count * size_of(type)) == 0;
    }
  }

  bool matches_as_read(Worker& worker, std::size_t count, StripSums& sums) const {
    if constexpr (std::is_same_v<Value, double>) {
      if (!of_doubles_(worker.actual.data(), worker.expected.data(), count, plan_.tolerance, plan_.unit,
                       worker.tally.maxima(), sums)) {
        return false;
      }
      worker.tally.add_scanned(sums);
      return true;
    } else {
      return worker.actual == worker.expected && count == worker.actual.size();
    }
  }

  double judge_pairs(Worker& worker, std::int64_t position, std::size_t count) const {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t element = first_ + walk_.row_major(position + static_cast<std::int64_t>(i));
      sum += worker.tally.add(worker.actual[i], worker.expected[i], element);
    }
    return sum;
  }

  /// Calls use(offset) for the places of a strip that are sampled.
  template <class Use>
  void each_sampled(std::int64_t position, std::size_t count, const Use& use) const {
    const std::int64_t past = (first_ + position) % stride_;
    for (std::int64_t i = past == 0 ? 0 : stride_ - past; i < static_cast<std::int64_t>(count); i += stride_) use(i);
  }
  static void sample_pair(Tally& tally, Value actual, Value expected) {
    const auto a = static_cast<double>(actual);
    const auto e = static_cast<double>(expected);
    if (a == a && e == e) tally.sample(distance(actual, expected));
  }
  void sample(Worker& worker, std::int64_t position, std::size_t count) const {
    each_sampled(position, count, [&](std::int64_t i) {
      const auto place = static_cast<std::size_t>(i);
      sample_pair(worker.tally, worker.actual[place], worker.expected[place]);
    });
  }
  void sample_in_place(Tally& tally, const std::byte* actual, const std::byte* expected, std::int64_t position,
                       std::size_t count) const {
    const ElementType first = walk_.actual().type();
    const ElementType second = walk_.expected().type();
    each_sampled(position, count, [&](std::int64_t i) {
      Value a{};
      Value e{};
      load(first, actual + i * static_cast<std::int64_t>(size_of(first)), 1, 1, &a);
      load(second, expected + i * static_cast<std::int64_t>(size_of(second)), 1, 1, &e);
      sample_pair(tally, a, e);
    });
  }

  const Walk& walk_;
  const TallyPlan& plan_;
  const std::int64_t first_;
  const std::int64_t stride_;
  const ScanFn in_place_;
  const ScanFn of_doubles_;
};

}  // namespace

struct PiecewiseComparison::State {
  explicit State(TallyPlan described)
      : plan(std::move(described)), total(plan), size(count_of(plan.shape)), stride(validation::sample_stride(size)) {}

  [[nodiscard]] Status check_piece(std::int64_t count, std::int64_t first) const {
    if (count >= 0 && first >= 0 && first <= size && count <= size - first) return {};
    return Error{"compare: wanted a piece of the " + std::to_string(size) + " elements, got " + std::to_string(count) +
                 " from element " + std::to_string(first) + " on"};
  }

  TallyPlan plan;
  Tally total;
  std::int64_t size;
  std::int64_t stride;
  std::int64_t elements = 0;
  double sum = 0;
};

PiecewiseComparison::PiecewiseComparison(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
PiecewiseComparison::PiecewiseComparison(PiecewiseComparison&&) noexcept = default;
PiecewiseComparison& PiecewiseComparison::operator=(PiecewiseComparison&&) noexcept = default;
PiecewiseComparison::~PiecewiseComparison() = default;

Result<PiecewiseComparison> PiecewiseComparison::start(std::span<const std::int64_t> shape, const Tolerance& tolerance,
                                                       const Detail& detail) {
  TILEGYM_ASSIGN(TallyPlan plan, make_plan(shape, tolerance, detail));
  return PiecewiseComparison(std::make_unique<State>(std::move(plan)));
}

Status PiecewiseComparison::add(const ArrayView& actual, const ArrayView& expected, std::int64_t first) {
  TILEGYM_TRY(check_shapes(actual, expected));
  const std::int64_t count = count_of(actual.shape);
  TILEGYM_TRY(state_->check_piece(count, first));
  if (count == 0) return {};
  state_->plan.unit = ulp_unit(actual.type);
  const Walk walk(actual, expected);
  const bool exact = is_integer(actual.type) && is_integer(expected.type);
  state_->sum += exact ? Pass<std::int64_t>(walk, state_->plan, first, state_->stride).run(state_->total)
                       : Pass<double>(walk, state_->plan, first, state_->stride).run(state_->total);
  state_->elements += count;
  return {};
}

Status PiecewiseComparison::add_matching(const Matching& piece, std::int64_t first, std::span<const double> samples) {
  TILEGYM_TRY(state_->check_piece(piece.elements, first));
  state_->total.raise({piece.max_abs_error, piece.max_rel_error, piece.max_ulp_error});
  state_->total.add_scanned({piece.sum, piece.signed_zeros});
  for (const double error : samples) state_->total.sample(error);
  state_->sum += piece.sum;
  state_->elements += piece.elements;
  return {};
}

std::int64_t PiecewiseComparison::sample_stride() const noexcept {
  return state_->stride;
}

Comparison PiecewiseComparison::result() const {
  Comparison result = state_->total.summary();
  result.elements = state_->elements;
  const std::int64_t measured = state_->elements - state_->total.unmeasured();
  result.mean_abs_error = measured > 0 ? state_->sum / static_cast<double>(measured) : 0;
  return result;
}

Result<Comparison> compare(const ArrayView& actual, const ArrayView& expected, const Tolerance& tolerance,
                           const Detail& detail) {
  TILEGYM_TRY(check_shapes(actual, expected));
  TILEGYM_ASSIGN(PiecewiseComparison comparison, PiecewiseComparison::start(actual.shape, tolerance, detail));
  TILEGYM_TRY(comparison.add(actual, expected, 0));
  return comparison.result();
}

}  // namespace tilegym::validation
