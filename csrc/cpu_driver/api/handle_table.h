#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "cpu_driver/api/driver_lock.h"

namespace tilegym::cpu {

/// Live objects of one kind behind opaque handles. A handle is no address but kind, slot and generation, so any value
/// can be looked up: a wild, stale or foreign one finds nothing. `T::kHandleKind` is unique among kinds (1 to 15).
template <class T, class Handle>
class HandleTable {
 public:
  HandleTable() = default;
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;
  ~HandleTable() {
    for (auto& chunk : chunks_) delete chunk.load(std::memory_order_relaxed);
  }

  Handle insert(std::shared_ptr<T> object) {
    const std::scoped_lock lock(driver_lock());
    const std::size_t index = take_slot();
    Slot& slot = slot_at(index);
    slot.object = std::move(object);
    slot.pointer.store(slot.object.get(), std::memory_order_relaxed);
    const std::uint32_t generation = ++slot.last_generation;
    slot.generation.store(generation, std::memory_order_release);
    return encode(index, generation);
  }

  /// The object, or null. Wait-free; the object stays valid until it is erased.
  [[nodiscard]] T* find(Handle handle) const noexcept {
    const Slot* slot = live_slot(handle);
    return slot == nullptr ? nullptr : slot->pointer.load(std::memory_order_relaxed);
  }

  /// The object with shared ownership, or null.
  [[nodiscard]] std::shared_ptr<T> share(Handle handle) const {
    const std::scoped_lock lock(driver_lock());
    const Slot* slot = live_slot(handle);
    return slot == nullptr ? nullptr : slot->object;
  }

  /// Ends the handle's life; null where it was not live.
  std::shared_ptr<T> erase(Handle handle) {
    const std::scoped_lock lock(driver_lock());
    const Slot* slot = live_slot(handle);
    return slot == nullptr ? nullptr : release(index_of(handle));
  }

  /// Ends the life of every object for which `condition` holds and returns them; `condition` must not use a table.
  template <class Condition>
  std::vector<std::shared_ptr<T>> erase_if(Condition condition) {
    const std::scoped_lock lock(driver_lock());
    std::vector<std::shared_ptr<T>> erased;
    for (std::size_t index = 0; index < used_; ++index) {
      const Slot& slot = slot_at(index);
      if (slot.object != nullptr && condition(*slot.object)) erased.push_back(release(index));
    }
    return erased;
  }

 private:
  struct Slot {
    std::atomic<std::uint32_t> generation{0};  ///< 0: free
    std::atomic<T*> pointer{nullptr};
    std::uint32_t last_generation = 0;
    std::shared_ptr<T> object;
  };
  static constexpr std::size_t kChunk = 256;
  static constexpr std::size_t kChunks = 4096;
  using Chunk = std::array<Slot, kChunk>;

  // generation : 32 | slot + 1 : 24 | kind : 4 | zero : 4. Never 0, 1 or 2, which name the default streams.
  static Handle encode(std::size_t index, std::uint32_t generation) noexcept {
    return reinterpret_cast<Handle>((std::uintptr_t{generation} << 32U) | ((index + 1) << 8U) | (T::kHandleKind << 4U));
  }
  static std::size_t index_of(Handle handle) noexcept {
    return ((reinterpret_cast<std::uintptr_t>(handle) >> 8U) & 0xFFFFFFU) - 1;
  }

  [[nodiscard]] const Slot* live_slot(Handle handle) const noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(handle);
    const std::size_t index = index_of(handle);
    if ((bits & 0xFFU) != (T::kHandleKind << 4U) || index >= kChunk * kChunks) return nullptr;
    const Chunk* chunk = chunks_[index / kChunk].load(std::memory_order_acquire);
    if (chunk == nullptr) return nullptr;
    const Slot& slot = (*chunk)[index % kChunk];
    const auto generation = static_cast<std::uint32_t>(bits >> 32U);
    return generation != 0 && slot.generation.load(std::memory_order_acquire) == generation ? &slot : nullptr;
  }

  Slot& slot_at(std::size_t index) noexcept {
    return (*chunks_[index / kChunk].load(std::memory_order_relaxed))[index % kChunk];
  }

  std::size_t take_slot() {
    if (!free_.empty()) {
      const std::size_t index = free_.back();
      free_.pop_back();
      return index;
    }
    if (used_ == kChunk * kChunks) throw std::bad_alloc();
    if (used_ % kChunk == 0) chunks_[used_ / kChunk].store(new Chunk, std::memory_order_release);
    return used_++;
  }

  std::shared_ptr<T> release(std::size_t index) {
    Slot& slot = slot_at(index);
    slot.generation.store(0, std::memory_order_release);
    free_.push_back(index);
    return std::move(slot.object);
  }

  std::array<std::atomic<Chunk*>, kChunks> chunks_{};
  std::size_t used_ = 0;
  std::vector<std::size_t> free_;
};

}  // namespace tilegym::cpu
