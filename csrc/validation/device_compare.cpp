#include "validation/device_compare.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "validation/plan.h"
#include "validation/tally.h"
#include "validation/walk.h"

namespace tilegym::validation {
namespace {

using device::BlockTotals;
using device::Domain;
using device::Job;
using device::kMostDimensions;
using device::kMostThreadBlocks;
using device::kStrip;
using device::kWarps;
using device::Queue;
using device::StripRecord;
using device::Totals;

// Thread blocks that a multiprocessor holds at a time.
constexpr int kResident = 4;
constexpr std::int64_t kFetchedAtATime = 64;
constexpr std::size_t kPairBytes = 2 * sizeof(double);

std::int64_t strips_of(std::int64_t size) {
  return (size + kStrip - 1) / kStrip;
}

/// Parts of the workspace, one after the other.
class Layout {
 public:
  Layout(std::int64_t strips, std::int64_t blocks)
      : block_map(place(sizeof(Totals))),
        sums(place(static_cast<std::size_t>(blocks) * sizeof(BlockTotals))),
        wanted(place(sizeof(double) * kMostThreadBlocks * kWarps)),
        fetched(place(sizeof(std::int64_t) * kFetchedAtATime)),
        records(place(kPairBytes * kStrip * kFetchedAtATime)),
        bytes(place(static_cast<std::size_t>(strips) * sizeof(StripRecord))) {}

 private:
  std::size_t end_ = 0;
  /// Ends a part; returns where the next one begins.
  std::size_t place(std::size_t size) { return end_ = (end_ + size + 15) / 16 * 16; }

 public:
  std::size_t block_map;  ///< after the totals, which it is cleared with
  std::size_t sums;
  std::size_t wanted;
  std::size_t fetched;
  std::size_t records;
  std::size_t bytes;
};

Domain domain_of(ElementType actual, ElementType expected) {
  if (is_integer(actual) && is_integer(expected)) return Domain::i64;
  const auto wide = [](ElementType type) {
    return type == ElementType::f64 || type == ElementType::i64 || type == ElementType::i32;
  };
  return wide(actual) || wide(expected) ? Domain::f64 : Domain::f32;
}

bool has_packed_kernel(std::size_t actual, std::size_t expected) {
  return actual == expected ? actual <= 4 : actual + expected == 6;  // 2 and 4
}

bool is_aligned(const std::byte* data, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(data) % bytes == 0;
}

std::string kernel_of(Domain domain, const ArrayView& actual, const ArrayView& expected, const Walk& walk) {
  if (domain == Domain::i64) return "tilegym_compare_any_i64";
  if (domain == Domain::f64) return "tilegym_compare_any_f64";
  const std::size_t a = size_of(actual.type);
  const std::size_t e = size_of(expected.type);
  const auto extents = walk.extents();
  const bool packed = extents.size() == 1 && walk.actual().strides()[0] == static_cast<std::int64_t>(a) &&
                      walk.expected().strides()[0] == static_cast<std::int64_t>(e);
  if (!packed || !has_packed_kernel(a, e) || !is_aligned(actual.data, 4 * a) || !is_aligned(expected.data, 4 * e)) {
    return "tilegym_compare_any_f32";
  }
  return "tilegym_compare_packed_" + std::to_string(a) + "_" + std::to_string(e);
}

void set_side(device::Side& side, const ArrayView& array, const Walk::Side& along) {
  side.data = reinterpret_cast<const unsigned char*>(array.data);
  side.type = array.type;
  std::ranges::copy(along.strides(), side.strides);
}

Job describe(const ArrayView& actual, const ArrayView& expected, const Walk& walk, const TallyPlan& plan) {
  Job job{};
  set_side(job.actual, actual, walk.actual());
  set_side(job.expected, expected, walk.expected());
  job.size = walk.size();
  job.rank = static_cast<std::int32_t>(walk.extents().size());
  std::ranges::copy(walk.extents(), job.extents);
  std::ranges::copy(walk.steps(), job.steps);
  job.tolerance = plan.tolerance;
  job.unit = plan.unit;
  job.sample_stride = sample_stride(job.size);
  if (plan.grid) {
    job.blocks = static_cast<std::int64_t>(plan.grid->size());
    job.tensor_rank = static_cast<std::int32_t>(plan.shape.size());
    std::ranges::copy(plan.shape, job.shape);
    std::ranges::copy(plan.grid->extents, job.block_extents);
    std::ranges::copy(plan.grid->grid, job.grid);
  }
  return job;
}

/// One comparison on a device.
class Run {
 public:
  Run(Queue& queue, const TallyPlan& plan, const Walk& walk, Job job, Domain domain, const Layout& layout,
      std::byte* workspace)
      : queue_(queue), plan_(plan), walk_(walk), job_(job), domain_(domain), layout_(layout), tally_(plan) {
    job_.totals = at<Totals>(workspace, 0);
    job_.block_map = at<BlockTotals>(workspace, layout.block_map);
    job_.sums = at<double>(workspace, layout.sums);
    job_.wanted = at<std::int64_t>(workspace, layout.wanted);
    job_.fetched = workspace + layout.fetched;
    job_.records = at<StripRecord>(workspace, layout.records);
  }

  Result<Comparison> result(const std::string& kernel) {
    const std::int64_t strips = strips_of(job_.size);
    const std::int64_t wanted = (strips + kWarps - 1) / kWarps;
    const std::int64_t most = std::min<std::int64_t>(queue_.multiprocessors() * kResident, kMostThreadBlocks);
    const auto thread_blocks = static_cast<int>(std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(most, 1)));
    TILEGYM_TRY(queue_.clear(job_.totals, layout_.sums));
    TILEGYM_TRY(queue_.launch(kernel, thread_blocks, job_));
    Totals totals;
    TILEGYM_TRY(queue_.read(&totals, job_.totals, sizeof totals));
    tally_.add_counts(totals.counts);
    tally_.raise({std::bit_cast<double>(totals.max_abs_bits), std::bit_cast<double>(totals.max_rel_bits),
                  std::bit_cast<double>(totals.max_ulp_bits)});
    tally_.add_samples(totals.buckets);
    if (totals.records > 0) TILEGYM_TRY(add_places(totals.records));
    if (plan_.grid) TILEGYM_TRY(add_blocks());
    Comparison comparison = tally_.summary();
    comparison.elements = job_.size;
    const std::int64_t measured = job_.size - tally_.unmeasured();
    comparison.mean_abs_error = measured > 0 ? totals.sum / static_cast<double>(measured) : 0;
    return comparison;
  }

 private:
  template <class T>
  static T* at(std::byte* workspace, std::size_t offset) {
    return reinterpret_cast<T*>(workspace + offset);
  }

  Status add_blocks() {
    std::vector<BlockTotals> blocks(static_cast<std::size_t>(job_.blocks));
    TILEGYM_TRY(queue_.read(blocks.data(), job_.block_map, blocks.size() * sizeof(BlockTotals)));
    for (std::size_t block = 0; block < blocks.size(); ++block) {
      tally_.add_block(block, {static_cast<std::int64_t>(blocks[block].mismatches),
                               std::bit_cast<double>(blocks[block].max_abs_bits)});
    }
    return {};
  }

  /// Reads the strips again that hold the mismatches to keep. Each of the first `keep` mismatches is in one of the
  /// `keep` strips whose first mismatch comes first, and so for the worst.
  Status add_places(std::uint32_t count) {
    std::vector<StripRecord> records(count);
    TILEGYM_TRY(queue_.read(records.data(), job_.records, records.size() * sizeof(StripRecord)));
    std::vector<std::int64_t> strips;
    const auto add_best = [&](std::size_t keep, const auto& before) {
      const std::size_t taken = std::min(keep, records.size());
      std::ranges::partial_sort(records, records.begin() + static_cast<std::ptrdiff_t>(taken), before);
      for (std::size_t i = 0; i < taken; ++i) strips.push_back(records[i].strip);
    };
    const auto by = [](auto value, auto element) {
      return [=](const StripRecord& left, const StripRecord& right) {
        return left.*value != right.*value ? left.*value > right.*value : left.*element < right.*element;
      };
    };
    add_best(plan_.keep, [](const auto& left, const auto& right) { return left.first < right.first; });
    add_best(plan_.keep, by(&StripRecord::rank, &StripRecord::rank_element));
    add_best(1, by(&StripRecord::absolute, &StripRecord::absolute_element));
    add_best(1, by(&StripRecord::relative, &StripRecord::relative_element));
    std::ranges::sort(strips);
    strips.erase(std::ranges::unique(strips).begin(), strips.end());
    return fetch(strips);
  }

  Status fetch(std::span<const std::int64_t> strips) {
    for (std::size_t done = 0; done < strips.size(); done += kFetchedAtATime) {
      const auto part = strips.subspan(done, std::min<std::size_t>(kFetchedAtATime, strips.size() - done));
      TILEGYM_TRY(domain_ == Domain::i64 ? fetch_part<std::int64_t>(part, "tilegym_fetch_i64")
                                         : fetch_part<double>(part, "tilegym_fetch_f64"));
    }
    return {};
  }

  template <class Value>
  Status fetch_part(std::span<const std::int64_t> strips, const char* kernel) {
    std::vector<std::array<Value, 2>> pairs(strips.size() * kStrip);
    TILEGYM_TRY(queue_.write(const_cast<std::int64_t*>(job_.wanted), strips.data(), strips.size_bytes()));
    TILEGYM_TRY(queue_.launch(kernel, static_cast<int>(strips.size()), job_));
    TILEGYM_TRY(queue_.read(pairs.data(), job_.fetched, pairs.size() * sizeof pairs[0]));
    Tally places(plan_);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const std::int64_t position = strips[i / kStrip] * kStrip + static_cast<std::int64_t>(i % kStrip);
      if (position < job_.size) places.add(pairs[i][0], pairs[i][1], walk_.row_major(position));
    }
    tally_.adopt_places(places);
    return {};
  }

  Queue& queue_;
  const TallyPlan& plan_;
  const Walk& walk_;
  Job job_;
  Domain domain_;
  const Layout& layout_;
  Tally tally_;
};

std::int64_t blocks_of(const TallyPlan& plan) {
  return plan.grid ? static_cast<std::int64_t>(plan.grid->size()) : 0;
}

}  // namespace

std::size_t device_workspace_bytes(std::span<const std::int64_t> shape, const Detail& detail) {
  const Result<TallyPlan> plan = make_plan(shape, {}, detail);
  // What is wrong with them is said by the comparison.
  if (!plan) return 0;
  return Layout(strips_of(count_of(shape)), blocks_of(plan.value())).bytes;
}

Result<Comparison> compare_on_device(Queue& queue, const ArrayView& actual, const ArrayView& expected,
                                     const Tolerance& tolerance, const Detail& detail, std::span<std::byte> workspace) {
  TILEGYM_TRY(check_shapes(actual, expected));
  TILEGYM_ASSIGN(TallyPlan plan, make_plan(actual.shape, tolerance, detail));
  plan.unit = ulp_unit(actual.type);
  if (count_of(actual.shape) == 0) return Tally(plan).summary();
  const Walk walk(actual, expected);
  if (std::max(walk.extents().size(), actual.shape.size()) > kMostDimensions) {
    return Error{"compare: wanted at most " + std::to_string(kMostDimensions) + " dimensions, got " +
                 std::to_string(actual.shape.size())};
  }
  const Layout layout(strips_of(walk.size()), blocks_of(plan));
  if (workspace.size() < layout.bytes) {
    return Error{"compare: wanted a workspace of " + std::to_string(layout.bytes) + " bytes, got " +
                 std::to_string(workspace.size())};
  }
  const Domain domain = domain_of(actual.type, expected.type);
  Run run(queue, plan, walk, describe(actual, expected, walk, plan), domain, layout, workspace.data());
  return run.result(kernel_of(domain, actual, expected, walk));
}

}  // namespace tilegym::validation
