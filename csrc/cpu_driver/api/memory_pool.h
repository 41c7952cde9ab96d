#pragma once

#include <cstdint>

#include "cpu_driver/api/context.h"

namespace tilegym::cpu {

/// A pool of stream-ordered memory. Freed memory goes back to the host at once, so a pool holds what is in use and no
/// more; its settings are kept for those who ask. Guarded by driver_lock().
struct MemoryPool {
  static constexpr std::uintptr_t kHandleKind = 10;

  void took(std::size_t bytes) noexcept {
    used += bytes;
    if (used > most_used) most_used = used;
  }
  void gave_back(std::size_t bytes) noexcept { used -= bytes; }

  std::uint64_t used = 0;
  std::uint64_t most_used = 0;
  std::uint64_t release_threshold = 0;
  int reuse_follow_event_dependencies = 1;
  int reuse_allow_opportunistic = 1;
  int reuse_allow_internal_dependencies = 1;
};

using MemoryPoolTable = HandleTable<MemoryPool, CUmemoryPool>;

}  // namespace tilegym::cpu
