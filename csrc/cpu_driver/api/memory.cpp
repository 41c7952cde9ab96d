#include "cpu_driver/api/memory.h"

#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <string>

#include "cpu_driver/api/stream.h"

namespace tilegym::cpu {
namespace {

/// What GPU drivers guarantee, and what kernels assume about base addresses.
constexpr std::size_t kAlignment = 256;

using Allocations = std::map<std::uintptr_t, Allocation>;

/// Guarded by driver_lock().
Allocations& allocations() noexcept {
  static auto& map = *new Allocations;
  return map;
}

std::size_t bytes_of_pages(int name) noexcept {
  return static_cast<std::size_t>(sysconf(name)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}
std::size_t total_memory() noexcept {
  return bytes_of_pages(_SC_PHYS_PAGES);
}

Allocations::iterator holder_of(std::uintptr_t address) {
  const auto after = allocations().upper_bound(address);
  if (after == allocations().begin()) return allocations().end();
  const auto holder = std::prev(after);
  return address - holder->first < holder->second.bytes ? holder : allocations().end();
}

CUresult out_of_memory(std::size_t bytes) {
  return fail(CUDA_ERROR_OUT_OF_MEMORY,
              "wanted " + std::to_string(bytes) + " bytes, the host has " + std::to_string(total_memory()) + " in all");
}

CUresult allocate_here(std::size_t bytes, MemoryKind kind, void** out) {
  Context* context = nullptr;
  TILEGYM_CU_TRY(current_context(context));
  return allocate(*context, bytes, kind, out);
}

CUresult allocate_here(std::size_t bytes, MemoryKind kind, CUdeviceptr* out) {
  void* pointer = nullptr;
  TILEGYM_CU_TRY(allocate_here(bytes, kind, out == nullptr ? nullptr : &pointer));
  *out = reinterpret_cast<CUdeviceptr>(pointer);
  return CUDA_SUCCESS;
}

/// Running work may still use the memory: a GPU's driver waits here too.
CUresult free_when_idle(std::uintptr_t address) {
  Context* context = nullptr;
  TILEGYM_CU_TRY(current_context(context));
  if (address == 0) return CUDA_SUCCESS;
  TILEGYM_CU_TRY(check_may_wait());
  drain(*context);
  return release_allocation(address);
}

CUresult allocate_in_stream(CUdeviceptr* out, std::size_t bytes, CUstream stream) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(stream, lane));
  return allocate_here(bytes, MemoryKind::device, out);
}

CUresult free_in_stream(std::uintptr_t address, CUstream stream) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(stream, lane));
  const auto allocation = find_allocation(address);
  if (!allocation || allocation->begin != address) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the address is no allocation of this driver");
  }
  return run_in(lane, [address] { return Failure{release_allocation(address), last_report()}; });
}

CUresult allocate_managed(CUdeviceptr* out, std::size_t bytes, unsigned flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) {
    return fail(CUDA_ERROR_INVALID_VALUE, "flags: wanted CU_MEM_ATTACH_GLOBAL or CU_MEM_ATTACH_HOST");
  }
  return allocate_here(bytes, MemoryKind::managed, out);
}

CUresult allocate_host(void** out, std::size_t bytes, unsigned flags) {
  constexpr unsigned kKnown = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  if ((flags & ~kKnown) != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags: an unknown bit is set");
  return allocate_here(bytes, MemoryKind::pinned_host, out);
}

CUresult memory_info(std::size_t* free_bytes, std::size_t* total) {
  Context* context = nullptr;
  TILEGYM_CU_TRY(current_context(context));
  if (free_bytes != nullptr) *free_bytes = bytes_of_pages(_SC_AVPHYS_PAGES);
  if (total != nullptr) *total = total_memory();
  return CUDA_SUCCESS;
}

CUresult address_range(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
  const auto allocation = find_allocation(address);
  if (!allocation) return fail(CUDA_ERROR_NOT_FOUND, "the address is in no allocation of this driver");
  if (base != nullptr) *base = allocation->begin;
  if (bytes != nullptr) *bytes = allocation->bytes;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult allocate(const Context& context, std::size_t bytes, MemoryKind kind, void** out) {
  if (out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the address is null");
  if (bytes == 0) return fail(CUDA_ERROR_INVALID_VALUE, "wanted at least one byte, got 0");
  if (bytes > total_memory()) return out_of_memory(bytes);
  void* pointer = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (pointer == nullptr) return out_of_memory(bytes);
  const std::scoped_lock lock(driver_lock());
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  allocations().emplace(begin, Allocation{begin, bytes, kind, &context});
  *out = pointer;
  return CUDA_SUCCESS;
}

CUresult release_allocation(std::uintptr_t address) {
  const std::scoped_lock lock(driver_lock());
  if (allocations().erase(address) == 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the address is no allocation of this driver");
  }
  std::free(reinterpret_cast<void*>(address));
  return CUDA_SUCCESS;
}

std::optional<Allocation> find_allocation(std::uintptr_t address) {
  const std::scoped_lock lock(driver_lock());
  const auto holder = holder_of(address);
  return holder == allocations().end() ? std::nullopt : std::optional(holder->second);
}

void free_allocations_of(const Context& context) {
  const std::scoped_lock lock(driver_lock());
  std::erase_if(allocations(), [&](const auto& entry) {
    if (entry.second.context != &context) return false;
    std::free(reinterpret_cast<void*>(entry.first));
    return true;
  });
}

CUresult check_span(std::uintptr_t address, std::size_t bytes, const char* what) {
  if (bytes == 0) return CUDA_SUCCESS;
  if (address == 0) return fail(CUDA_ERROR_INVALID_VALUE, std::string(what) + ": the address is null");
  const auto allocation = find_allocation(address);
  if (!allocation) return CUDA_SUCCESS;
  const std::size_t room = allocation->bytes - (address - allocation->begin);
  if (bytes <= room) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, std::string(what) + ": wanted " + std::to_string(bytes) +
                                            " bytes, the allocation has " + std::to_string(room) + " left");
}

}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" {

CUresult CUDAAPI cuMemAlloc_v2(CUdeviceptr* out, size_t bytes) {
  return entry(__func__, [&] { return allocate_here(bytes, MemoryKind::device, out); });
}

CUresult CUDAAPI cuMemAllocManaged(CUdeviceptr* out, size_t bytes, unsigned flags) {
  return entry(__func__, [&] { return allocate_managed(out, bytes, flags); });
}

CUresult CUDAAPI cuMemFree_v2(CUdeviceptr address) {
  return entry(__func__, [&] { return free_when_idle(address); });
}

CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream stream) {
  return entry(__func__, [&] { return allocate_in_stream(out, bytes, stream); });
}

CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return entry(__func__, [&] { return free_in_stream(address, stream); });
}

CUresult CUDAAPI cuMemAllocHost_v2(void** out, size_t bytes) {
  return entry(__func__, [&] { return allocate_host(out, bytes, 0); });
}

CUresult CUDAAPI cuMemHostAlloc(void** out, size_t bytes, unsigned flags) {
  return entry(__func__, [&] { return allocate_host(out, bytes, flags); });
}

CUresult CUDAAPI cuMemFreeHost(void* pointer) {
  return entry(__func__, [&] { return free_when_idle(reinterpret_cast<std::uintptr_t>(pointer)); });
}

CUresult CUDAAPI cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  return entry(__func__, [&] { return memory_info(free_bytes, total); });
}

CUresult CUDAAPI cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  return entry(__func__, [&] { return address_range(base, bytes, address); });
}

CUresult CUDAAPI cuDeviceTotalMem_v2(size_t* out, CUdevice device) {
  return entry(__func__, [&]() -> CUresult {
    TILEGYM_CU_TRY(check_initialized());
    TILEGYM_CU_TRY(check_device(device));
    return give(out, total_memory());
  });
}

TILEGYM_CU_ALIAS(cuMemAllocAsync_ptsz, cuMemAllocAsync);
TILEGYM_CU_ALIAS(cuMemFreeAsync_ptsz, cuMemFreeAsync);

}  // extern "C"
