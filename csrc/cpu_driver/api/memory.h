#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "cpu_driver/api/context.h"

namespace tilegym::cpu {

enum class MemoryKind : std::uint8_t {
  device,
  pinned_host,
  managed,
  registered_host,  ///< the program's own, page-locked in name only
  graph             ///< of a graph's nodes, which alone end it
};

/// The pool that stream-ordered memory comes from.
struct MemoryPool;

/// Memory handed out by the driver. Every other address is the program's own, and just as usable by kernels.
struct Allocation {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::device;
  const Context* context = nullptr;  ///< null for a graph's memory that has outlived it
  std::shared_ptr<MemoryPool> pool;  ///< null for memory of no pool
};

/// Allocates for the context; CUDA_ERROR_OUT_OF_MEMORY with a report beyond what the host has.
CUresult allocate(const Context& context, std::size_t bytes, MemoryKind kind, void** out,
                  std::shared_ptr<MemoryPool> pool = nullptr);
/// Frees an allocation made by allocate(). A graph's stays: the graph may run again.
CUresult release_allocation(std::uintptr_t address);
/// Frees a graph's allocation; nothing where its context has ended before.
void release_graph_allocation(std::uintptr_t address);
/// The allocation that holds `address`.
[[nodiscard]] std::optional<Allocation> find_allocation(std::uintptr_t address);
void free_allocations_of(const Context& context);

/// Fails for a null address, a span that leaves the allocation it starts in, and one that the process has no memory at.
/// `what` names it in the report.
CUresult check_span(std::uintptr_t address, std::size_t bytes, const char* what);
/// Fails unless the span lies in one managed allocation, or in the program's own memory.
CUresult check_managed(std::uintptr_t address, std::size_t bytes);

}  // namespace tilegym::cpu
