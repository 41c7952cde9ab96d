#pragma once

#include <cstdint>

#include "validation/pair.h"

/// What the host and the kernels of a GPU tell each other. Plain data; every address is one of the device.
namespace tilegym::validation::device {

inline constexpr int kLanes = 32;
inline constexpr int kWarps = 8;     ///< of a thread block
inline constexpr int kStrip = 1024;  ///< positions that a warp handles at a time
inline constexpr int kMostDimensions = 16;
inline constexpr int kMostThreadBlocks = 1 << 14;

/// What pairs are scanned as: float where both types fit into it, int64 for two integers, else double.
enum class Domain : std::int32_t { f32, f64, i64 };

struct Side {
  const unsigned char* data;
  ElementType type;
  std::int64_t strides[kMostDimensions];  ///< bytes, by dimension of the walk
};

/// The kernels' one parameter.
struct Job {
  Side actual;
  Side expected;
  std::int64_t size;
  std::int32_t rank;                      ///< of the walk
  std::int64_t extents[kMostDimensions];  ///< of the walk
  std::int64_t steps[kMostDimensions];    ///< distance of neighbours in row-major order
  Tolerance tolerance;
  UlpUnit unit;
  std::int64_t sample_stride;

  /// Tile blocks, over the dimensions of the tensor; no blocks without a map.
  std::int64_t blocks;
  std::int32_t tensor_rank;
  std::int64_t shape[kMostDimensions];
  std::int64_t block_extents[kMostDimensions];
  std::int64_t grid[kMostDimensions];

  struct Totals* totals;
  double* sums;                   ///< of errors, by warp of the grid
  struct StripRecord* records;    ///< one for each strip with mismatches, in no order
  struct BlockTotals* block_map;  ///< `blocks` of them
  const std::int64_t* wanted;     ///< strips to fetch
  void* fetched;                  ///< their pairs, as two doubles or int64 each
};

/// The highest value among strips, and the first strip with it: the bits of a float above the complement of a number.
using BestStrip = std::uint64_t;

/// Zero at the start.
struct Totals {
  Counts counts;
  std::uint64_t max_abs_bits;  ///< of a double; positive doubles are ordered as their bits
  std::uint64_t max_rel_bits;
  std::uint64_t max_ulp_bits;
  BestStrip best_abs;
  BestStrip best_rel;
  BestStrip best_ulp;
  double sum;
  std::uint32_t records;
  std::uint32_t blocks_done;
  std::uint32_t buckets[kBuckets];
};

/// A strip with mismatches.
struct StripRecord {
  std::int64_t strip;
  std::int64_t first;  ///< in row-major order, as all elements here
  double rank;
  std::int64_t rank_element;
  double absolute;  ///< below 0 where every mismatch has a NaN
  std::int64_t absolute_element;
  double relative;
  std::int64_t relative_element;
};

struct BlockTotals {
  std::uint64_t mismatches;
  std::uint64_t max_abs_bits;
};

}  // namespace tilegym::validation::device
