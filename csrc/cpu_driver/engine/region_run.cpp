#include "cpu_driver/engine/region_run.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "cpu_driver/engine/access.h"
#include "cpu_driver/engine/lowering.h"
#include "cpu_driver/engine/overlap.h"
#include "cpu_driver/engine/wraps.h"

namespace tilegym::cpu {
namespace {

/// The strip of a row that instructions work on: lanes [first, first + lanes).
struct Strip {
  std::int64_t first = 0;
  std::size_t lanes = 0;
};

class RegionRun {
 public:
  RegionRun(const Region& region, Frame& frame) : region_(region), frame_(frame), inner_(region.extents.back()) {
    outer_rank_ = region.extents.size() - 1;
    frame_.index.assign(outer_rank_, 0);
    frame_.rows.resize(region.accesses.size());
    frame_.at.resize(std::max(frame_.at.size(), region.locations.size()));
    frame_.row_base.resize(std::max(frame_.row_base.size(), region.locations.size()));
    place_fixed();
  }

  bool run() {
    if (overlaps(region_, frame_)) return run_staged();
    return run_rows();
  }

  bool operator()(const ComputeInstr& instr) {
    instr.fn(at(instr.dst), at(instr.a), at(instr.b), at(instr.c), strip_.lanes);
    return true;
  }
  bool operator()(const MoveInstr& instr) {
    instr.fn(at(instr.dst), at(instr.src), instr.row ? 1 : strip_.lanes);
    return true;
  }
  bool operator()(const RampInstr& instr) {
    const auto& [ramp, wraps] = region_.ramps[instr.ramp];
    const auto lanes = static_cast<std::int64_t>(strip_.lanes);
    if (!is_regular(wraps, frame_.index, strip_.first, lanes, frame_)) return irregular_ramp(instr);
    const std::int64_t step = frame_.slot(ramp.strides.back());
    const std::int64_t start = evaluate(ramp, frame_.index, frame_) + step * strip_.first +
                               correction(wraps, frame_.index, strip_.first, frame_);
    instr.fn(at(instr.dst), &start, &step, nullptr, strip_.lanes);
    return true;
  }
  bool operator()(const LoadInstr& instr);
  bool operator()(const StoreInstr& instr);
  bool operator()(const GatherInstr& instr);
  bool operator()(const ScatterInstr& instr);
  bool operator()(const SlotInstr& instr) {
    frame_.slots[instr.dst] = slot_bits(instr.lane, at(instr.src));
    return true;
  }
  bool operator()(const AccumulateInstr& instr) {
    accumulate(region_.reductions[instr.reduction]);
    return true;
  }

 private:
  [[nodiscard]] std::byte* at(LocationId id) const { return id == kNoLocation ? nullptr : frame_.at[id]; }

  enum class Staging : std::uint8_t { none, fill, drain };

  void place_fixed();
  void place_row();
  bool run_rows() {
    do {
      if (!run_row()) return false;
    } while (next_row());
    return true;
  }
  bool run_staged();
  bool drain_row(const StoreInstr& store);
  [[nodiscard]] std::byte* stage(std::size_t bytes);
  bool irregular_ramp(const RampInstr& instr);
  /// Addresses of the strip's lanes, and in frame.spare which of them are in bounds.
  void place_lanes(std::uint32_t access);
  bool run_row();
  bool run_strips();
  /// Lanes of the row outside of which nothing is to be done.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> wanted_lanes() const {
    if (!region_.stores_only || staging_ != Staging::none) return {0, inner_};
    const RowAccess& row = frame_.rows[std::get<StoreInstr>(region_.instrs.back()).access];
    return {row.begin, row.end};
  }
  void place_store();
  [[nodiscard]] std::byte* lanes_in_memory(std::uint32_t access, std::size_t bytes) const;
  [[nodiscard]] std::byte* register_of(LocationId id) const;
  bool next_row();
  void load_lanes(const LoadInstr& instr, const RowAccess& row, std::size_t begin, std::size_t count, void* dst);
  void fill_addresses(const RowAccess& row, std::size_t begin, std::size_t count);
  bool lanes_allowed(LocationId addresses, LocationId mask, std::size_t bytes, bool half_bytes, const OpPlace& place);
  [[nodiscard]] Strip clipped(const RowAccess& row) const;

  void start_reduction(const Reduction& reduction);
  void accumulate(const Reduction& reduction);
  void run_body(const Reduction& reduction, std::size_t lanes);
  void fold(const Reduction& reduction);
  void finish_reduction(const Reduction& reduction);
  /// Lanes of an accumulator strip: all of a strip, or the row rounded up to a power of two.
  [[nodiscard]] std::size_t accumulator_lanes() const {
    return std::min(kStripLanes, std::bit_ceil(static_cast<std::size_t>(inner_)));
  }
  /// Whether every strip of a row fills the accumulators.
  [[nodiscard]] bool strips_are_whole() const { return inner_ % static_cast<std::int64_t>(accumulator_lanes()) == 0; }
  void pad_with_identity(const ReducedOperand& operand, std::size_t lanes);

  const Region& region_;
  Frame& frame_;
  const std::int64_t inner_;
  std::size_t outer_rank_ = 0;
  Strip strip_;
  Staging staging_ = Staging::none;
  std::size_t staged_bytes_ = 0;
};

bool RegionRun::run_staged() {
  const auto& store = std::get<StoreInstr>(region_.instrs.back());
  frame_.staged.clear();
  staging_ = Staging::fill;
  if (!run_rows()) return false;
  staging_ = Staging::drain;
  staged_bytes_ = 0;
  frame_.index.assign(outer_rank_, 0);
  do {
    if (!drain_row(store)) return false;
  } while (next_row());
  return true;
}

bool RegionRun::drain_row(const StoreInstr& store) {
  constexpr auto kLanes = static_cast<std::int64_t>(kStripLanes);
  if (!start_row(region_.accesses[store.access], frame_.index, inner_, frame_, frame_.rows[store.access])) return false;
  for (strip_.first = 0; strip_.first < inner_; strip_.first += kLanes) {
    strip_.lanes = static_cast<std::size_t>(std::min(kLanes, inner_ - strip_.first));
    frame_.at[store.src] = stage(strip_.lanes * store.lane_bytes);
    static_cast<void>((*this)(store));
  }
  return true;
}

/// Room for the next `bytes` of staged lanes, with the padding that kernels may read; the same again while draining.
std::byte* RegionRun::stage(std::size_t bytes) {
  const std::size_t padded = (bytes + 2 * kVectorBytes - 1) / kVectorBytes * kVectorBytes;
  const std::size_t begin = std::exchange(staged_bytes_, staged_bytes_ + padded);
  if (staging_ == Staging::fill) frame_.staged.resize(staged_bytes_);
  return frame_.staged.data() + begin;
}

bool RegionRun::irregular_ramp(const RampInstr& instr) {
  const auto& [ramp, wraps] = region_.ramps[instr.ramp];
  const std::int64_t start = evaluate(ramp, frame_.index, frame_);
  const std::int64_t step = frame_.slot(ramp.strides.back());
  auto* values = reinterpret_cast<std::int64_t*>(at(instr.dst));
  for (std::size_t i = 0; i < strip_.lanes; ++i) {
    const std::int64_t lane = strip_.first + static_cast<std::int64_t>(i);
    values[i] = start + step * lane + correction(wraps, frame_.index, lane, frame_);
  }
  return true;
}

void RegionRun::place_lanes(std::uint32_t access) {
  for (std::size_t i = 0; i < strip_.lanes; ++i) {
    std::uintptr_t address = 0;
    const std::int64_t lane = strip_.first + static_cast<std::int64_t>(i);
    const bool valid = lane_of_access(region_.accesses[access], frame_.index, lane, frame_, address);
    frame_.spare[i] = std::byte{valid};
    frame_.addresses[i] = static_cast<std::int64_t>(address);
  }
}

void RegionRun::place_fixed() {
  for (std::size_t i = 0; i < region_.locations.size(); ++i) {
    const Location& location = region_.locations[i];
    if (location.kind == LocationKind::strip_register) frame_.at[i] = frame_.registers + location.index;
    if (location.kind == LocationKind::slot) frame_.at[i] = reinterpret_cast<std::byte*>(&frame_.slots[location.index]);
  }
}

void RegionRun::place_row() {
  for (const LocationId id : region_.row_locations) {
    const Location& location = region_.locations[id];
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < outer_rank_; ++d) offset += location.strides[d] * frame_.index[d];
    frame_.at[id] = frame_.row_base[id] = frame_.buffers[location.index] + offset * location.element_bytes;
  }
}

bool RegionRun::run_row() {
  place_row();
  for (std::size_t i = 0; i < region_.accesses.size(); ++i) {
    if (!start_row(region_.accesses[i], frame_.index, inner_, frame_, frame_.rows[i])) return false;
  }
  for (const Reduction& reduction : region_.reductions) start_reduction(reduction);
  if (!run_strips()) return false;
  for (const Reduction& reduction : region_.reductions) finish_reduction(reduction);
  return true;
}

bool RegionRun::run_strips() {
  constexpr auto kLanes = static_cast<std::int64_t>(kStripLanes);
  const auto [begin, end] = wanted_lanes();
  for (strip_.first = begin / kLanes * kLanes; strip_.first < end; strip_.first += kLanes) {
    strip_.lanes = static_cast<std::size_t>(std::min(kLanes, inner_ - strip_.first));
    for (const LocationId id : region_.strip_locations) {
      frame_.at[id] = frame_.row_base[id] + strip_.first * region_.locations[id].element_bytes;
    }
    place_store();
    for (const Instr& instr : region_.instrs) {
      if (!std::visit(*this, instr)) return false;
    }
  }
  return true;
}

void RegionRun::place_store() {
  const auto* store = region_.instrs.empty() ? nullptr : std::get_if<StoreInstr>(&region_.instrs.back());
  if (store == nullptr || !store->in_place) return;
  std::byte* memory = staging_ == Staging::none ? lanes_in_memory(store->access, store->lane_bytes) : nullptr;
  frame_.at[store->src] = memory != nullptr ? memory : register_of(store->src);
}

bool RegionRun::next_row() {
  for (std::size_t d = outer_rank_; d-- > 0;) {
    if (++frame_.index[d] < region_.extents[d]) return true;
    frame_.index[d] = 0;
  }
  return false;
}

Strip RegionRun::clipped(const RowAccess& row) const {
  const auto lanes = static_cast<std::int64_t>(strip_.lanes);
  const std::int64_t begin = std::clamp<std::int64_t>(row.begin - strip_.first, 0, lanes);
  const std::int64_t end = std::clamp<std::int64_t>(row.end - strip_.first, begin, lanes);
  return {begin, static_cast<std::size_t>(end - begin)};
}

void RegionRun::fill_addresses(const RowAccess& row, std::size_t begin, std::size_t count) {
  std::int64_t address =
      static_cast<std::int64_t>(row.address) + (strip_.first + static_cast<std::int64_t>(begin)) * row.stride;
  for (std::size_t i = 0; i < count; ++i, address += row.stride) frame_.addresses[i] = address;
}

void RegionRun::load_lanes(const LoadInstr& instr, const RowAccess& row, std::size_t begin, std::size_t count,
                           void* dst) {
  const auto bytes = static_cast<std::int64_t>(tile_ir::byte_size(region_.accesses[instr.access].element));
  if (row.stride == bytes || count == 1) {
    const std::int64_t lane = strip_.first + static_cast<std::int64_t>(begin);
    instr.load(dst, reinterpret_cast<const void*>(row.address + static_cast<std::uintptr_t>(lane * row.stride)), count);
    return;
  }
  fill_addresses(row, begin, count);
  instr.gather(dst, frame_.addresses, nullptr, nullptr, count);
}

/// The strip's lanes in memory, where they can be used as a register: all in bounds, contiguous, aligned, whole
/// vectors.
std::byte* RegionRun::lanes_in_memory(std::uint32_t access, std::size_t bytes) const {
  const RowAccess& row = frame_.rows[access];
  const auto address = row.address + static_cast<std::uintptr_t>(strip_.first * row.stride);
  const bool whole =
      !row.irregular && row.begin <= strip_.first && row.end >= strip_.first + static_cast<std::int64_t>(strip_.lanes);
  const bool fits = whole && row.stride == static_cast<std::int64_t>(bytes) && address % kVectorBytes == 0 &&
                    strip_.lanes * bytes % kVectorBytes == 0;
  return fits ? reinterpret_cast<std::byte*>(address) : nullptr;
}

std::byte* RegionRun::register_of(LocationId id) const {
  return frame_.registers + region_.locations[id].index;
}

bool RegionRun::operator()(const LoadInstr& instr) {
  if (instr.in_place) {
    std::byte* memory = lanes_in_memory(instr.access, instr.lane_bytes);
    frame_.at[instr.dst] = memory != nullptr ? memory : register_of(instr.dst);
    if (memory != nullptr) return true;
  }
  const RowAccess& row = frame_.rows[instr.access];
  const Strip valid = clipped(row);
  std::byte* dst = at(instr.dst);
  if (row.irregular) {
    place_lanes(instr.access);
    const auto* mask = reinterpret_cast<const std::uint8_t*>(frame_.spare);
    instr.gather(dst, frame_.addresses, mask, instr.padding_is_strip ? nullptr : at(instr.padding), strip_.lanes);
    if (instr.padding_is_strip) instr.select(dst, mask, dst, at(instr.padding), strip_.lanes);
    return true;
  }
  if (valid.lanes == strip_.lanes) {
    load_lanes(instr, row, 0, valid.lanes, dst);
    return true;
  }
  // Kernels write whole vectors, so lanes next to padding come through the spare strip.
  if (valid.lanes > 0) load_lanes(instr, row, static_cast<std::size_t>(valid.first), valid.lanes, frame_.spare);
  if (instr.padding == kNoLocation) {
    std::memset(dst, 0, strip_.lanes * instr.lane_bytes);
  } else if (instr.padding_is_strip) {
    std::memmove(dst, at(instr.padding), strip_.lanes * instr.lane_bytes);
  } else {
    instr.fill(dst, at(instr.padding), nullptr, nullptr, strip_.lanes);
  }
  std::memcpy(dst + static_cast<std::size_t>(valid.first) * instr.lane_bytes, frame_.spare,
              valid.lanes * instr.lane_bytes);
  return true;
}

bool RegionRun::operator()(const StoreInstr& instr) {
  if (instr.in_place && staging_ == Staging::none && at(instr.src) != register_of(instr.src)) return true;
  if (staging_ == Staging::fill) {
    std::memcpy(stage(strip_.lanes * instr.lane_bytes), at(instr.src), strip_.lanes * instr.lane_bytes);
    return true;
  }
  const RowAccess& row = frame_.rows[instr.access];
  if (row.irregular) {
    place_lanes(instr.access);
    instr.scatter(frame_.addresses, at(instr.src), reinterpret_cast<const std::uint8_t*>(frame_.spare), strip_.lanes);
    return true;
  }
  const Strip valid = clipped(row);
  if (valid.lanes == 0) return true;
  const std::byte* src = at(instr.src);
  if (valid.first != 0) {
    src += static_cast<std::size_t>(valid.first) * instr.lane_bytes;
    std::memcpy(frame_.spare, src, valid.lanes * instr.lane_bytes);
    src = frame_.spare;
  }
  const auto bytes = static_cast<std::int64_t>(tile_ir::byte_size(region_.accesses[instr.access].element));
  if (row.stride == bytes || valid.lanes == 1) {
    const std::int64_t lane = strip_.first + valid.first;
    instr.store(reinterpret_cast<void*>(row.address + static_cast<std::uintptr_t>(lane * row.stride)), src,
                valid.lanes);
    return true;
  }
  fill_addresses(row, static_cast<std::size_t>(valid.first), valid.lanes);
  instr.scatter(frame_.addresses, src, nullptr, valid.lanes);
  return true;
}

bool RegionRun::lanes_allowed(LocationId addresses, LocationId mask, std::size_t bytes, bool half_bytes,
                              const OpPlace& place) {
  if (frame_.memory == nullptr) return true;
  const auto* address = reinterpret_cast<const std::int64_t*>(at(addresses));
  const auto* active = reinterpret_cast<const std::uint8_t*>(at(mask));
  for (std::size_t i = 0; i < strip_.lanes; ++i) {
    if (active != nullptr && active[i] == 0) continue;
    if (!frame_.allowed(static_cast<std::uintptr_t>(address[i] >> half_bytes), bytes, place)) return false;
  }
  return true;
}

bool RegionRun::operator()(const GatherInstr& instr) {
  if (!lanes_allowed(instr.addresses, instr.mask, instr.element_bytes, instr.half_bytes, instr.place)) return false;
  const auto* addresses = reinterpret_cast<const std::int64_t*>(at(instr.addresses));
  const auto* mask = reinterpret_cast<const std::uint8_t*>(at(instr.mask));
  const bool strip_padding = instr.padding_is_strip && instr.mask != kNoLocation;
  instr.fn(at(instr.dst), addresses, mask, strip_padding ? nullptr : at(instr.padding), strip_.lanes);
  if (strip_padding) instr.select(at(instr.dst), mask, at(instr.dst), at(instr.padding), strip_.lanes);
  return true;
}

bool RegionRun::operator()(const ScatterInstr& instr) {
  if (!lanes_allowed(instr.addresses, instr.mask, instr.element_bytes, instr.half_bytes, instr.place)) return false;
  const auto* addresses = reinterpret_cast<const std::int64_t*>(at(instr.addresses));
  instr.fn(addresses, at(instr.src), reinterpret_cast<const std::uint8_t*>(at(instr.mask)), strip_.lanes);
  return true;
}

void RegionRun::start_reduction(const Reduction& reduction) {
  if (!reduction.fold || strips_are_whole()) return;
  for (const ReducedOperand& operand : reduction.operands) {
    operand.fill(at(operand.accumulator), &frame_.slots[operand.identity], nullptr, nullptr, accumulator_lanes());
  }
}

void RegionRun::pad_with_identity(const ReducedOperand& operand, std::size_t lanes) {
  const std::size_t bytes = lane_bytes(operand.lane);
  std::byte* element = register_of(operand.element);
  operand.fill(element, &frame_.slots[operand.identity], nullptr, nullptr, lanes);
  std::memcpy(element, at(operand.source), strip_.lanes * bytes);
  frame_.at[operand.element] = element;
}

void RegionRun::accumulate(const Reduction& reduction) {
  const bool begins = reduction.fold ? strip_.first == 0 && strips_are_whole() : frame_.index[reduction.dim] == 0;
  if (begins) {
    for (const ReducedOperand& operand : reduction.operands) {
      operand.copy(at(operand.accumulator), at(operand.source), nullptr, nullptr, strip_.lanes);
    }
    return;
  }
  const bool short_strip = reduction.fold && strip_.lanes < accumulator_lanes();
  const std::size_t lanes = short_strip ? accumulator_lanes() : strip_.lanes;
  for (const ReducedOperand& operand : reduction.operands) {
    if (short_strip) {
      pad_with_identity(operand, lanes);
    } else {
      frame_.at[operand.element] = at(operand.source);
    }
  }
  run_body(reduction, lanes);
}

void RegionRun::run_body(const Reduction& reduction, std::size_t lanes) {
  const std::size_t strip_lanes = std::exchange(strip_.lanes, lanes);
  for (const Instr& instr : reduction.body) static_cast<void>(std::visit(*this, instr));
  for (const ReducedOperand& operand : reduction.operands) {
    if (operand.result == operand.accumulator) continue;
    operand.copy(at(operand.accumulator), at(operand.result), nullptr, nullptr, lanes);
  }
  strip_.lanes = strip_lanes;
}

void RegionRun::fold(const Reduction& reduction) {
  for (std::size_t half = accumulator_lanes() / 2; half > 0; half /= 2) {
    for (const ReducedOperand& operand : reduction.operands) {
      const std::size_t bytes = half * lane_bytes(operand.lane);
      std::byte* upper = at(operand.accumulator) + bytes;
      if (bytes % kVectorBytes != 0) {
        // Operands of kernels are aligned.
        std::byte* element = register_of(operand.element);
        std::memcpy(element, upper, bytes);
        upper = element;
      }
      frame_.at[operand.element] = upper;
    }
    run_body(reduction, half);
  }
}

void RegionRun::finish_reduction(const Reduction& reduction) {
  if (!reduction.fold) return;
  fold(reduction);
  for (const ReducedOperand& operand : reduction.operands) {
    const Location& destination = region_.locations[operand.destination];
    if (destination.kind == LocationKind::slot) {
      frame_.slots[destination.index] = slot_bits(operand.lane, at(operand.accumulator));
    } else {
      std::memcpy(at(operand.destination), at(operand.accumulator), lane_bytes(operand.lane));
    }
  }
}

}  // namespace

bool run_region(const Region& region, Frame& frame) {
  return RegionRun(region, frame).run();
}

}  // namespace tilegym::cpu
