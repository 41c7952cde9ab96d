#pragma once

#include "validation/device/elements.h"

/// Strips pair by pair, in double precision or in integers, as the host judges them.
namespace tilegym::validation::device {

/// The highest value among lanes with the lowest element that has it.
struct Best {
  double value;
  std::int64_t element;

  TILEGYM_DEVICE void take(double other, std::int64_t where) {
    if (other > value || (other == value && where < element)) {
      value = other;
      element = where;
    }
  }
  TILEGYM_DEVICE void over_lanes() {
    for (int distance = kLanes / 2; distance > 0; distance /= 2) {
      const double other = from_lane(value, distance);
      const std::int64_t where = from_lane(element, distance);
      take(other, where);
    }
  }
};

constexpr std::int64_t kNowhere = std::numeric_limits<std::int64_t>::max();

/// The mismatches of a strip.
struct Mismatches {
  std::int64_t first = kNowhere;
  Best rank{-1, kNowhere};
  Best absolute{-1, kNowhere};
  Best relative{-1, kNowhere};

  TILEGYM_DEVICE void take(const Pair& pair, std::int64_t element) {
    if (element < first) first = element;
    rank.take(pair.rank(), element);
    if (pair.has_nan()) return;
    absolute.take(pair.error, element);
    relative.take(pair.relative, element);
  }
  TILEGYM_DEVICE void over_lanes() {
    for (int distance = kLanes / 2; distance > 0; distance /= 2) {
      const std::int64_t other = from_lane(first, distance);
      if (other < first) first = other;
    }
    rank.over_lanes();
    absolute.over_lanes();
    relative.over_lanes();
  }
};

template <class T>
TILEGYM_DEVICE T sum_over_lanes(T value) {
  for (int distance = kLanes / 2; distance > 0; distance /= 2) value += from_lane(value, distance);
  return value;
}

TILEGYM_DEVICE double max_over_lanes(double value) {
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    const double other = from_lane(value, distance);
    if (other > value) value = other;
  }
  return value;
}

TILEGYM_DEVICE void note_block(const Job& job, std::int64_t element, const Pair& pair) {
  if (pair.matches && pair.error == 0) return;
  std::int64_t block = 0;
  std::int64_t step = 1;
  for (int dim = job.tensor_rank - 1; dim >= 0; --dim) {
    block += element % job.shape[dim] / job.block_extents[dim] * step;
    step *= job.grid[dim];
    element /= job.shape[dim];
  }
  if (!pair.matches) add_to(&job.block_map[block].mismatches, std::uint64_t{1});
  if (pair.error > 0) raise_to(&job.block_map[block].max_abs_bits, bits_of(pair.error));
}

/// Adds a lane's counts to the totals, one addition a warp for each kind that came up.
TILEGYM_DEVICE void add_counts(const Job& job, const Counts& found) {
  std::int64_t* total = &job.totals->counts.mismatches;
  const std::int64_t* here = &found.mismatches;
  constexpr int kKinds = sizeof(Counts) / sizeof(std::int64_t);
  for (int kind = 0; kind < kKinds; ++kind) {
    const std::int64_t sum = sum_over_lanes(here[kind]);
    if (sum != 0 && lane_index() == 0) add_to(total + kind, sum);
  }
}

struct ExactMaxima {
  double absolute = 0;
  double relative = 0;
  double ulps = 0;

  TILEGYM_DEVICE void take(const Pair& pair) {
    absolute = pair.error > absolute ? pair.error : absolute;
    relative = pair.relative > relative ? pair.relative : relative;
    ulps = pair.ulps > ulps ? pair.ulps : ulps;
  }
  /// Called by every lane.
  TILEGYM_DEVICE void add_to_totals(const Job& job) {
    absolute = max_over_lanes(absolute);
    relative = max_over_lanes(relative);
    ulps = max_over_lanes(ulps);
    if (lane_index() != 0) return;
    raise(&job.totals->max_abs_bits, absolute);
    raise(&job.totals->max_rel_bits, relative);
    raise(&job.totals->max_ulp_bits, ulps);
  }

 private:
  TILEGYM_DEVICE static void raise(std::uint64_t* place, double value) {
    if (bits_of(value) > published(place)) raise_to(place, bits_of(value));
  }
};

/// Calls use(position) for the positions of a strip that this lane handles.
template <class Use>
TILEGYM_DEVICE void each_position(const Job& job, std::int64_t strip, const Use& use) {
  for (int i = 0; i < kStrip; i += kLanes) {
    const std::int64_t position = strip * kStrip + i + lane_index();
    if (position < job.size) use(position);
  }
}

/// Judges a strip and adds everything but samples to the totals. Returns this lane's sum of finite errors.
template <class Value>
TILEGYM_APART double judge_strip(const Job& job, std::int64_t strip) {
  Counts counts;
  ExactMaxima maxima;
  Mismatches mismatches;
  double sum = 0;
  each_position(job, strip, [&](std::int64_t position) {
    const Place place = place_of(job, position);
    const Two<Value> two = read_pair<Value>(job, place);
    const Pair pair = judge(two.actual, two.expected, job.tolerance, job.unit);
    sum += count(pair, static_cast<double>(two.actual), static_cast<double>(two.expected), counts);
    maxima.take(pair);
    if (!pair.matches) mismatches.take(pair, place.element);
    if (job.blocks > 0) note_block(job, place.element, pair);
  });
  add_counts(job, counts);
  maxima.add_to_totals(job);
  mismatches.over_lanes();
  if (mismatches.first != kNowhere && lane_index() == 0) {
    job.records[add_to(&job.totals->records, std::uint32_t{1})] = {
        strip,
        mismatches.first,
        mismatches.rank.value,
        mismatches.rank.element,
        mismatches.absolute.value,
        mismatches.absolute.element,
        mismatches.relative.value,
        mismatches.relative.element,
    };
  }
  return sum;
}

/// The exact maxima of a strip, for the totals, by a whole thread block.
template <class Value>
TILEGYM_APART void measure_strip(const Job& job, std::int64_t strip) {
  ExactMaxima maxima;
  for (int i = warp_index() * kLanes + lane_index(); i < kStrip; i += kWarps * kLanes) {
    const std::int64_t position = strip * kStrip + i;
    if (position >= job.size) continue;
    const Two<Value> two = read_pair<Value>(job, place_of(job, position));
    maxima.take(judge(two.actual, two.expected, job.tolerance, job.unit));
  }
  maxima.add_to_totals(job);
}

}  // namespace tilegym::validation::device
