#include "cpu_driver/engine/overlap.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "cpu_driver/engine/wraps.h"

namespace tilegym::cpu {
namespace {

/// Half-open range of bytes; everything where it is not known.
struct Span {
  std::uintptr_t begin = 0;
  std::uintptr_t end = ~std::uintptr_t{0};
};

bool same_linear(const Linear& a, const Linear& b, const Frame& frame) {
  return frame.slot(a.base) == frame.slot(b.base) &&
         std::ranges::equal(a.strides, b.strides, [&](SlotId x, SlotId y) { return frame.slot(x) == frame.slot(y); });
}

/// Whether no two lanes share a byte, as far as the strides alone tell.
bool is_injective(const Access& access, std::span<const std::int64_t> extents, const Frame& frame) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] > 1) steps.emplace_back(std::abs(frame.slot(access.address.strides[d])), extents[d]);
  }
  std::ranges::sort(steps);
  auto reach = static_cast<std::int64_t>(tile_ir::byte_size(access.element));
  for (const auto& [stride, extent] : steps) {
    if (stride < reach) return false;
    reach += stride * (extent - 1);
  }
  return true;
}

/// Whether every lane is loaded before it is stored, and by no other lane.
bool same_lanes(const Access& load, const Access& store, std::span<const std::int64_t> extents, const Frame& frame) {
  return tile_ir::byte_size(load.element) == tile_ir::byte_size(store.element) && load.wraps.empty() &&
         store.wraps.empty() && same_linear(load.address, store.address, frame) && is_injective(store, extents, frame);
}

/// Bytes that the lanes span, out of bounds ones too.
Span span_of(const Access& access, std::span<const std::int64_t> extents, const Frame& frame) {
  if (!never_wraps(access.wraps, extents, frame)) return {};
  std::int64_t low = frame.slot(access.address.base);
  std::int64_t high = low;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const std::int64_t reach = frame.slot(access.address.strides[d]) * (extents[d] - 1);
    (reach < 0 ? low : high) += reach;
  }
  const auto bytes = static_cast<std::int64_t>(tile_ir::byte_size(access.element));
  return {static_cast<std::uintptr_t>(low), static_cast<std::uintptr_t>(high + bytes)};
}

}  // namespace

bool overlaps(const Region& region, const Frame& frame) {
  if (region.instrs.empty() || region.accesses.size() < 2) return false;
  const auto* store = std::get_if<StoreInstr>(&region.instrs.back());
  if (store == nullptr) return false;
  const Access& target = region.accesses[store->access];
  const Span written = span_of(target, region.extents, frame);
  for (std::size_t i = 0; i < region.accesses.size(); ++i) {
    if (i == store->access) continue;
    const Span read = span_of(region.accesses[i], region.extents, frame);
    const bool meet = read.begin < written.end && written.begin < read.end;
    if (meet && !same_lanes(region.accesses[i], target, region.extents, frame)) return true;
  }
  return false;
}

}  // namespace tilegym::cpu
