#include "cpu_driver/engine/emitter.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "cpu_driver/engine/scalar_ops.h"

namespace tilegym::cpu {

SlotId Emitter::new_slot() {
  plan_.slots.push_back(0);
  return static_cast<SlotId>(plan_.slots.size() - 1);
}

SlotId Emitter::constant(std::int64_t bits) {
  const auto [entry, inserted] = constants_.try_emplace(bits, 0);
  if (inserted) {
    entry->second = new_slot();
    plan_.slots[entry->second] = bits;
    constant_values_[entry->second] = bits;
  }
  return entry->second;
}

std::optional<std::int64_t> Emitter::constant_of(SlotId slot) const {
  const auto found = constant_values_.find(slot);
  if (found == constant_values_.end()) return std::nullopt;
  return found->second;
}

SlotId Emitter::scalar(ScalarFn fn, SlotId a, SlotId b, SlotId c) {
  const auto x = constant_of(a);
  const auto y = constant_of(b);
  const auto z = constant_of(c);
  if (x && y && z) return constant(fn(*x, *y, *z));
  const SlotId dst = new_slot();
  if (steps_->empty() || !std::holds_alternative<ScalarStep>(steps_->back())) append(ScalarStep{});
  std::get<ScalarStep>(steps_->back()).instrs.push_back({fn, dst, a, b, c});
  return dst;
}

SlotId Emitter::add(SlotId a, SlotId b) {
  if (is_constant(a, 0)) return b;
  return is_constant(b, 0) ? a : scalar(scalar_add, a, b);
}

SlotId Emitter::mul(SlotId a, SlotId b) {
  if (is_constant(a, 0) || is_constant(b, 0)) return constant(0);
  if (is_constant(a, 1)) return b;
  return is_constant(b, 1) ? a : scalar(scalar_mul, a, b);
}

SlotId Emitter::zero_extend(SlotId slot, int bits) {
  if (bits >= 64) return slot;
  return scalar(scalar_and, slot, constant((std::int64_t{1} << bits) - 1));
}

void Emitter::move_slots(const std::vector<std::pair<SlotId, SlotId>>& moves) {
  std::vector<ScalarInstr> instrs;
  for (const auto& [dst, src] : moves) {
    if (dst == src) continue;
    instrs.push_back({scalar_copy, dst, src, src, src});
  }
  if (instrs.empty()) return;
  if (instrs.size() > 1) {
    std::vector<ScalarInstr> through;
    for (ScalarInstr& instr : instrs) {
      const SlotId temporary = new_slot();
      through.push_back({scalar_copy, temporary, instr.a, instr.a, instr.a});
      instr.a = instr.b = instr.c = temporary;
    }
    instrs.insert(instrs.begin(), through.begin(), through.end());
  }
  append(ScalarStep{std::move(instrs)});
}

BufferId Emitter::new_buffer(std::size_t bytes) {
  plan_.buffers.push_back(0);
  lifetimes_.push_back({bytes, 0, 0, false});
  return static_cast<BufferId>(plan_.buffers.size() - 1);
}

BufferId Emitter::lasting_buffer(std::size_t bytes) {
  const BufferId buffer = new_buffer(bytes);
  lifetimes_[buffer] = {bytes, 0, std::numeric_limits<std::size_t>::max(), true};
  return buffer;
}

BufferId Emitter::constant_buffer(std::vector<std::byte> contents) {
  const BufferId buffer = lasting_buffer(contents.size());
  plan_.constants.emplace_back(buffer, std::move(contents));
  return buffer;
}

void Emitter::touch(BufferId buffer) {
  Lifetime& life = lifetimes_[buffer];
  if (!life.touched) life.first = position_;
  life.last = std::max(life.last, position_);
  life.touched = true;
}

void Emitter::extend_over(std::size_t begin) {
  for (Lifetime& life : lifetimes_) {
    if (life.touched && life.first < begin && life.last >= begin) life.last = std::max(life.last, position_);
  }
}

std::size_t Emitter::free_offset(const std::vector<BufferId>& placed, BufferId buffer) const {
  const Lifetime& life = lifetimes_[buffer];
  std::size_t offset = 0;
  // `placed` is in order of offsets: the first gap that is large enough wins.
  for (const BufferId other : placed) {
    const Lifetime& taken = lifetimes_[other];
    if (taken.last < life.first || taken.first > life.last) continue;
    if (offset + life.bytes <= plan_.buffers[other]) break;
    offset = std::max(offset, plan_.buffers[other] + taken.bytes);
  }
  return offset;
}

void Emitter::place_buffers() {
  // Kernels write whole vectors past the last lane, so every buffer ends with one spare vector.
  for (Lifetime& life : lifetimes_) life.bytes = (life.bytes + 2 * kVectorBytes - 1) / kVectorBytes * kVectorBytes;
  std::vector<BufferId> order(lifetimes_.size());
  std::iota(order.begin(), order.end(), BufferId{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [this](BufferId id) { return lifetimes_[id].bytes; });
  std::vector<BufferId> placed;
  for (const BufferId buffer : order) {
    if (!lifetimes_[buffer].touched) continue;
    plan_.buffers[buffer] = free_offset(placed, buffer);
    plan_.arena_bytes = std::max(plan_.arena_bytes, plan_.buffers[buffer] + lifetimes_[buffer].bytes);
    const auto after =
        std::ranges::upper_bound(placed, plan_.buffers[buffer], {}, [this](BufferId id) { return plan_.buffers[id]; });
    placed.insert(after, buffer);
  }
}

}  // namespace tilegym::cpu
