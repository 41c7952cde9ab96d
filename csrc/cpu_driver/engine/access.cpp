#include "cpu_driver/engine/access.h"

#include <algorithm>

#include "cpu_driver/engine/wraps.h"

namespace tilegym::cpu {
namespace {

using tile_ir::Predicate;

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  if (b == 1) return a;  // nearly every row; two divisions a row were a tenth of a matrix product
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
}

bool holds(std::int64_t value, Predicate predicate, std::int64_t limit) {
  switch (predicate) {
    case Predicate::equal:
      return value == limit;
    case Predicate::not_equal:
      return value != limit;
    case Predicate::less:
      return value < limit;
    case Predicate::less_equal:
      return value <= limit;
    case Predicate::greater:
      return value > limit;
    case Predicate::greater_equal:
      return value >= limit;
  }
  return false;
}

struct Range {
  std::int64_t begin;
  std::int64_t end;
};

/// Lanes i with `start + stride * i predicate limit`, stride > 0, before clipping to the row.
Range rising_range(std::int64_t start, std::int64_t stride, Predicate predicate, std::int64_t limit) {
  constexpr std::int64_t kFar = std::int64_t{1} << 62;
  const std::int64_t last_below_or_at = floor_div(limit - start, stride);
  const std::int64_t last_below = floor_div(limit - start - 1, stride);
  switch (predicate) {
    case Predicate::less:
      return {0, last_below + 1};
    case Predicate::less_equal:
      return {0, last_below_or_at + 1};
    case Predicate::greater:
      return {last_below_or_at + 1, kFar};
    case Predicate::greater_equal:
      return {last_below + 1, kFar};
    case Predicate::equal:
      return {last_below + 1, last_below_or_at + 1};
    case Predicate::not_equal:
      break;  // lowering keeps it off varying indices
  }
  return {0, 0};
}

void clip(const Bound& bound, std::span<const std::int64_t> outer, const Frame& frame, RowAccess& row) {
  const std::int64_t start = evaluate(bound.index, outer, frame) + correction(bound.wraps, outer, 0, frame);
  const std::int64_t limit = frame.slot(bound.limit);
  const std::int64_t stride = frame.slot(bound.index.strides.back());
  if (stride == 0) {
    if (!holds(start, bound.predicate, limit)) row.end = row.begin;
    return;
  }
  const Range range = stride > 0 ? rising_range(start, stride, bound.predicate, limit)
                                 : rising_range(-start, -stride, mirrored(bound.predicate), -limit);
  row.begin = std::max(row.begin, range.begin);
  row.end = std::max(row.begin, std::min(row.end, range.end));
}

/// The whole span at once; where it leaves the allowed ranges, element by element (strides may skip gaps).
bool row_allowed(const RowAccess& row, std::size_t bytes, const OpPlace& place, Frame& frame) {
  if (frame.memory == nullptr || row.begin >= row.end) return true;
  const std::uintptr_t first = row.address + static_cast<std::uintptr_t>(row.begin * row.stride);
  const std::uintptr_t last = row.address + static_cast<std::uintptr_t>((row.end - 1) * row.stride);
  if (frame.memory->contains(std::min(first, last), std::max(first, last) + bytes)) return true;
  for (std::int64_t i = row.begin; i < row.end; ++i) {
    if (!frame.allowed(row.address + static_cast<std::uintptr_t>(i * row.stride), bytes, place)) return false;
  }
  return true;
}

/// Smallest and largest value of a linear form over indices below `extents`.
struct Reach {
  std::int64_t low;
  std::int64_t high;
};

Reach reach_of(const Linear& linear, std::span<const std::int64_t> extents, const Frame& frame) {
  Reach reach{frame.slot(linear.base), frame.slot(linear.base)};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const std::int64_t step = frame.slot(linear.strides[d]) * (extents[d] - 1);
    (step < 0 ? reach.low : reach.high) += step;
  }
  return reach;
}

bool row_is_regular(const Access& access, std::span<const std::int64_t> outer, std::int64_t lanes, const Frame& frame) {
  return is_regular(access.wraps, outer, 0, lanes, frame) &&
         std::ranges::all_of(access.bounds, [&](const Bound& bound) {
           return bound.wraps.empty() || is_regular(bound.wraps, outer, 0, lanes, frame);
         });
}

bool lanes_allowed(const Access& access, std::span<const std::int64_t> outer, std::int64_t lanes, Frame& frame) {
  for (std::int64_t i = 0; i < lanes; ++i) {
    std::uintptr_t address = 0;
    if (!lane_of_access(access, outer, i, frame, address)) continue;
    if (!frame.allowed(address, tile_ir::byte_size(access.element), access.place)) return false;
  }
  return true;
}

}  // namespace

tile_ir::Predicate mirrored(tile_ir::Predicate predicate) {
  switch (predicate) {
    case Predicate::less:
      return Predicate::greater;
    case Predicate::less_equal:
      return Predicate::greater_equal;
    case Predicate::greater:
      return Predicate::less;
    case Predicate::greater_equal:
      return Predicate::less_equal;
    default:
      return predicate;
  }
}

std::int64_t evaluate(const Linear& linear, std::span<const std::int64_t> index, const Frame& frame) {
  std::int64_t value = frame.slot(linear.base);
  for (std::size_t d = 0; d < index.size(); ++d) value += frame.slot(linear.strides[d]) * index[d];
  return value;
}

void place_row(const Access& access, std::span<const std::int64_t> outer, std::int64_t lanes, const Frame& frame,
               RowAccess& row) {
  row.address =
      static_cast<std::uintptr_t>(evaluate(access.address, outer, frame) + correction(access.wraps, outer, 0, frame));
  row.stride = frame.slot(access.address.strides.back());
  row.begin = 0;
  row.end = lanes;
  row.irregular = !row_is_regular(access, outer, lanes, frame);
  if (row.irregular) return;
  for (const Bound& bound : access.bounds) clip(bound, outer, frame, row);
}

bool start_row(const Access& access, std::span<const std::int64_t> outer, std::int64_t lanes, Frame& frame,
               RowAccess& row) {
  place_row(access, outer, lanes, frame, row);
  if (row.irregular) return lanes_allowed(access, outer, lanes, frame);
  return row_allowed(row, tile_ir::byte_size(access.element), access.place, frame);
}

bool lane_of_access(const Access& access, std::span<const std::int64_t> outer, std::int64_t lane, const Frame& frame,
                    std::uintptr_t& address) {
  const auto value = [&](const Linear& linear, std::span<const Wrap> wraps) {
    return evaluate(linear, outer, frame) + frame.slot(linear.strides.back()) * lane +
           correction(wraps, outer, lane, frame);
  };
  address = static_cast<std::uintptr_t>(value(access.address, access.wraps));
  return std::ranges::all_of(access.bounds, [&](const Bound& bound) {
    return holds(value(bound.index, bound.wraps), bound.predicate, frame.slot(bound.limit));
  });
}

bool fully_in_bounds(const Access& access, std::span<const std::int64_t> extents, const Frame& frame) {
  if (!never_wraps(access.wraps, extents, frame)) return false;
  return std::ranges::all_of(access.bounds, [&](const Bound& bound) {
    const auto [low, high] = reach_of(bound.index, extents, frame);
    // A bound for (in)equality, or whose index wraps, is left to the row by row form.
    const bool ordered = bound.predicate != Predicate::equal && bound.predicate != Predicate::not_equal;
    const std::int64_t limit = frame.slot(bound.limit);
    return ordered && holds(low, bound.predicate, limit) && holds(high, bound.predicate, limit) &&
           never_wraps(bound.wraps, extents, frame);
  });
}

bool fully_allowed(const Access& access, std::span<const std::int64_t> extents, const Frame& frame) {
  if (!fully_in_bounds(access, extents, frame)) return false;
  if (frame.memory == nullptr) return true;
  const auto [first, last] = reach_of(access.address, extents, frame);
  return frame.memory->contains(static_cast<std::uintptr_t>(first),
                                static_cast<std::uintptr_t>(last) + tile_ir::byte_size(access.element));
}

}  // namespace tilegym::cpu
