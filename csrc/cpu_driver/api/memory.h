#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cpu_driver/api/context.h"

namespace tilegym::cpu {

enum class MemoryKind : std::uint8_t { device, pinned_host, managed };

/// Memory handed out by the driver. Every other address is the program's own, and just as usable by kernels.
struct Allocation {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::device;
  const Context* context = nullptr;
};

/// Allocates for the context; CUDA_ERROR_OUT_OF_MEMORY with a report beyond what the host has.
CUresult allocate(const Context& context, std::size_t bytes, MemoryKind kind, void** out);
/// Frees an allocation made by allocate().
CUresult release_allocation(std::uintptr_t address);
/// The allocation that holds `address`.
[[nodiscard]] std::optional<Allocation> find_allocation(std::uintptr_t address);
void free_allocations_of(const Context& context);

/// Fails for a null address and for a span that leaves the allocation it starts in. `what` names it in the report.
CUresult check_span(std::uintptr_t address, std::size_t bytes, const char* what);

}  // namespace tilegym::cpu
