#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cpu_driver/engine/memory_map.h"
#include "cpu_driver/engine/plan.h"

namespace tilegym::cpu {

/// Memory of one worker for buffers and strip registers, kept between launches and grown when a plan needs more.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// At least `bytes` bytes at a multiple of kVectorBytes; contents are lost when it grows.
  [[nodiscard]] std::byte* reserve(std::size_t bytes);

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Why a tile block ended the launch.
struct Fault {
  Outcome outcome = Outcome::ok;
  OpPlace place = {};
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  std::string text = {};
};

/// What a region has worked out about the current row of an access.
struct RowAccess {
  std::uintptr_t address = 0;  ///< of lane 0
  std::int64_t stride = 0;     ///< bytes per lane
  /// An index wraps inside the row: lanes are found one by one, see lane_of_access.
  bool irregular = false;
  std::int64_t begin = 0;  ///< lanes in bounds: [begin, end)
  std::int64_t end = 0;
};

/// State of one worker while it runs the tile blocks of one launch.
struct Frame {
  const Plan* plan = nullptr;
  const MemoryMap* memory = nullptr;
  const std::atomic<bool>* cancel = nullptr;  ///< LaunchOptions::cancel
  std::vector<std::int64_t> slots = {};
  std::vector<std::byte*> buffers = {};
  std::byte* registers = nullptr;
  /// One strip of the widest lanes each: addresses of strided accesses, and lanes on their way to an unaligned place.
  std::int64_t* addresses = nullptr;
  std::byte* spare = nullptr;
  /// Scratch of the region being run.
  std::vector<std::byte*> at = {};
  std::vector<std::byte*> row_base = {};
  std::vector<RowAccess> rows = {};
  std::vector<std::int64_t> index = {};
  /// Lanes that wait to be stored until the whole tile is computed.
  std::vector<std::byte> staged = {};
  Fault fault = {};

  [[nodiscard]] std::int64_t slot(SlotId id) const noexcept { return slots[id]; }
  /// Whether the launch should end; records that as the fault.
  [[nodiscard]] bool cancelled() noexcept {
    if (cancel == nullptr || !cancel->load(std::memory_order_relaxed)) return false;
    fault.outcome = Outcome::cancelled;
    return true;
  }
  /// Whether [address, address + bytes) may be accessed; records the fault where not.
  [[nodiscard]] bool allowed(std::uintptr_t address, std::size_t bytes, const OpPlace& place) noexcept {
    if (memory == nullptr || memory->contains(address, address + bytes)) return true;
    fault.outcome = Outcome::illegal_address;
    fault.place = place;
    fault.address = address;
    fault.bytes = bytes;
    return false;
  }
};

}  // namespace tilegym::cpu
