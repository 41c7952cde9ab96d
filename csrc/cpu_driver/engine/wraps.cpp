#include "cpu_driver/engine/wraps.h"

#include <algorithm>

#include "cpu_driver/engine/access.h"

namespace tilegym::cpu {
namespace {

/// The period of the width that `value` lies in, counted from the one that needs no correction.
std::int64_t period(std::int64_t value, const Wrap& wrap) noexcept {
  return (value - wrapped(value, wrap.bits, wrap.is_signed)) >> wrap.bits;
}

}  // namespace

std::int64_t wrapped(std::int64_t value, unsigned bits, bool is_signed) noexcept {
  if (bits >= 64) return value;
  const unsigned unused = 64 - bits;
  const std::uint64_t high = static_cast<std::uint64_t>(value) << unused;
  return is_signed ? static_cast<std::int64_t>(high) >> unused : static_cast<std::int64_t>(high >> unused);
}

std::int64_t correction(std::span<const Wrap> wraps, std::span<const std::int64_t> outer, std::int64_t lane,
                        const Frame& frame) {
  std::int64_t sum = 0;
  for (const Wrap& wrap : wraps) {
    const std::int64_t value = evaluate(wrap.index, outer, frame) + frame.slot(wrap.index.strides.back()) * lane;
    sum += frame.slot(wrap.scale) * (wrapped(value, wrap.bits, wrap.is_signed) - value);
  }
  return sum;
}

bool is_regular(std::span<const Wrap> wraps, std::span<const std::int64_t> outer, std::int64_t first,
                std::int64_t lanes, const Frame& frame) {
  return std::ranges::all_of(wraps, [&](const Wrap& wrap) {
    const std::int64_t stride = frame.slot(wrap.index.strides.back());
    const std::int64_t start = evaluate(wrap.index, outer, frame) + stride * first;
    return period(start, wrap) == period(start + stride * (lanes - 1), wrap);
  });
}

bool never_wraps(std::span<const Wrap> wraps, std::span<const std::int64_t> extents, const Frame& frame) {
  return std::ranges::all_of(wraps, [&](const Wrap& wrap) {
    std::int64_t low = frame.slot(wrap.index.base);
    std::int64_t high = low;
    for (std::size_t d = 0; d < extents.size(); ++d) {
      const std::int64_t reach = frame.slot(wrap.index.strides[d]) * (extents[d] - 1);
      (reach < 0 ? low : high) += reach;
    }
    return period(low, wrap) == 0 && period(high, wrap) == 0;
  });
}

}  // namespace tilegym::cpu
