#include "cpu_driver/api/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "cpu_driver/api/capture.h"
#include "cpu_driver/api/memory_pool.h"

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

/// Whether the process has all pages of the span. The kernel looks; nothing is read or written.
bool is_mapped(std::uintptr_t address, std::size_t bytes) noexcept {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = address / page * page;
  return bytes <= UINTPTR_MAX - address &&
         msync(reinterpret_cast<void*>(begin), address + bytes - begin, MS_ASYNC) == 0;
}

/// Memory of pools stays as it is for some time after its end, as on a GPU: programs free on one stream what another
/// still copies from, and get away with it there. Called under driver_lock().
void keep_for_a_while(const Allocation& ended) {
  constexpr std::size_t kMostBytes = std::size_t{256} << 20;
  constexpr std::size_t kMostPieces = 4096;
  static auto& kept = *new std::deque<Allocation>;
  static std::size_t bytes = 0;
  kept.push_back(ended);
  kept.back().pool = nullptr;
  bytes += ended.bytes;
  while (kept.size() > 1 && (bytes > kMostBytes || kept.size() > kMostPieces)) {
    bytes -= kept.front().bytes;
    std::free(reinterpret_cast<void*>(kept.front().begin));
    kept.pop_front();
  }
}

CUresult out_of_memory(std::size_t bytes) {
  return fail(CUDA_ERROR_OUT_OF_MEMORY,
              "wanted " + std::to_string(bytes) + " bytes, the host has " + std::to_string(total_memory()) + " in all");
}

CUresult allocate_here(std::size_t bytes, MemoryKind kind, void** out) {
  Context* context = nullptr;
  TILEGYM_CU_TRY(current_context(context));
  TILEGYM_CU_TRY(check_no_capture());
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
  TILEGYM_CU_TRY(check_no_capture());
  if (address == 0) return CUDA_SUCCESS;
  TILEGYM_CU_TRY(check_may_wait());
  drain(*context);
  return release_allocation(address);
}

/// Rows of a width that lie a multiple of the texture alignment apart, as on a GPU.
CUresult allocate_rows(CUdeviceptr* out, std::size_t* pitch, std::size_t width, std::size_t height, unsigned element) {
  constexpr std::size_t kPitch = 512;
  if (pitch == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the pitch is null");
  if (element != 4 && element != 8 && element != 16) {
    return fail(CUDA_ERROR_INVALID_VALUE, "element size: wanted 4, 8 or 16, got " + std::to_string(element));
  }
  if (width == 0 || height == 0 || width > SIZE_MAX - kPitch) {
    return fail(CUDA_ERROR_INVALID_VALUE, "width and height: wanted at least 1");
  }
  const std::size_t bytes = (width + kPitch - 1) / kPitch * kPitch;
  if (height > SIZE_MAX / bytes) return out_of_memory(SIZE_MAX);
  TILEGYM_CU_TRY(allocate_here(bytes * height, MemoryKind::device, out));
  *pitch = bytes;
  return CUDA_SUCCESS;
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

bool overlaps_allocation(std::uintptr_t begin, std::size_t bytes) {
  const auto after = allocations().lower_bound(begin);
  return holder_of(begin) != allocations().end() || (after != allocations().end() && after->first - begin < bytes);
}

/// All memory can be reached by kernels; what registering changes is that asynchronous copies do not wait.
CUresult register_host(void* pointer, std::size_t bytes, unsigned flags) {
  Context* context = nullptr;
  TILEGYM_CU_TRY(current_context(context));
  constexpr unsigned kKnown = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY;
  if ((flags & ~kKnown) != 0) return fail(CUDA_ERROR_NOT_SUPPORTED, "flags: memory of other devices is not available");
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  if (pointer == nullptr || bytes == 0 || bytes > UINTPTR_MAX - begin) {
    return fail(CUDA_ERROR_INVALID_VALUE, "wanted an address and at least one byte");
  }
  const std::scoped_lock lock(driver_lock());
  if (overlaps_allocation(begin, bytes)) {
    return fail(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "the span overlaps memory that the driver knows");
  }
  allocations().emplace(begin, Allocation{begin, bytes, MemoryKind::registered_host, context, nullptr});
  return CUDA_SUCCESS;
}

CUresult unregister_host(void* pointer) {
  Context* context = nullptr;
  TILEGYM_CU_TRY(current_context(context));
  TILEGYM_CU_TRY(check_may_wait());
  drain(*context);
  const std::scoped_lock lock(driver_lock());
  const auto found = allocations().find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == allocations().end() || found->second.kind != MemoryKind::registered_host) {
    return fail(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "the address is not registered");
  }
  allocations().erase(found);
  return CUDA_SUCCESS;
}

CUresult device_pointer(CUdeviceptr* out, void* pointer, unsigned flags) {
  TILEGYM_CU_TRY(check_initialized());
  if (flags != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags: wanted 0");
  if (pointer == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the address is null");
  return give(out, reinterpret_cast<CUdeviceptr>(pointer));
}

/// Advice and prefetches place memory that several processors share; here there is one, so checking is all there is.
CUresult place(CUdeviceptr address, std::size_t bytes, CUmemLocation location) {
  Context* context = nullptr;
  TILEGYM_CU_TRY(current_context(context));
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) TILEGYM_CU_TRY(check_device(location.id));
  return check_managed(address, bytes);
}

CUmemLocation location_of(CUdevice device) noexcept {
  CUmemLocation location{};
  location.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device == CU_DEVICE_CPU ? 0 : device;
  return location;
}

CUresult prefetch(CUdeviceptr address, std::size_t bytes, CUmemLocation location, CUstream stream) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(stream, lane));
  return place(address, bytes, location);
}

CUresult advise(CUdeviceptr address, std::size_t bytes, CUmem_advise advice, CUmemLocation location) {
  if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the advice is unknown");
  }
  const bool anywhere = advice <= CU_MEM_ADVISE_UNSET_READ_MOSTLY || advice == CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
  return place(address, bytes, anywhere ? location_of(CU_DEVICE_CPU) : location);
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

CUresult allocate(const Context& context, std::size_t bytes, MemoryKind kind, void** out,
                  std::shared_ptr<MemoryPool> pool) {
  if (out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the address is null");
  if (bytes == 0) return fail(CUDA_ERROR_INVALID_VALUE, "wanted at least one byte, got 0");
  if (bytes > total_memory()) return out_of_memory(bytes);
  void* pointer = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (pointer == nullptr) return out_of_memory(bytes);
  const std::scoped_lock lock(driver_lock());
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  if (pool != nullptr) pool->took(bytes);
  allocations().emplace(begin, Allocation{begin, bytes, kind, &context, std::move(pool)});
  *out = pointer;
  return CUDA_SUCCESS;
}

CUresult release_allocation(std::uintptr_t address) {
  const std::scoped_lock lock(driver_lock());
  const auto found = allocations().find(address);
  if (found == allocations().end() || found->second.kind == MemoryKind::registered_host) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the address is no allocation of this driver");
  }
  if (found->second.kind == MemoryKind::graph) return CUDA_SUCCESS;
  const Allocation ended = found->second;
  allocations().erase(found);
  if (ended.pool == nullptr) {
    std::free(reinterpret_cast<void*>(address));
  } else {
    ended.pool->gave_back(ended.bytes);
    keep_for_a_while(ended);
  }
  return CUDA_SUCCESS;
}

void release_graph_allocation(std::uintptr_t address) {
  const std::scoped_lock lock(driver_lock());
  const auto found = allocations().find(address);
  if (found == allocations().end() || found->second.kind != MemoryKind::graph) return;
  allocations().erase(found);
  std::free(reinterpret_cast<void*>(address));
}

std::optional<Allocation> find_allocation(std::uintptr_t address) {
  const std::scoped_lock lock(driver_lock());
  const auto holder = holder_of(address);
  return holder == allocations().end() ? std::nullopt : std::optional(holder->second);
}

void free_allocations_of(const Context& context) {
  const std::scoped_lock lock(driver_lock());
  for (auto next = allocations().begin(); next != allocations().end();) {
    const auto here = next++;
    Allocation& allocation = here->second;
    if (allocation.context != &context) continue;
    allocation.context = nullptr;
    if (allocation.kind == MemoryKind::graph) continue;  // ends with its graph
    if (allocation.pool != nullptr) allocation.pool->gave_back(allocation.bytes);
    if (allocation.kind != MemoryKind::registered_host) std::free(reinterpret_cast<void*>(here->first));
    allocations().erase(here);
  }
}

CUresult check_span(std::uintptr_t address, std::size_t bytes, const char* what) {
  if (bytes == 0) return CUDA_SUCCESS;
  if (address == 0) return fail(CUDA_ERROR_INVALID_VALUE, std::string(what) + ": the address is null");
  const auto allocation = find_allocation(address);
  if (!allocation) {
    if (is_mapped(address, bytes)) return CUDA_SUCCESS;
    return fail(CUDA_ERROR_INVALID_VALUE, std::string(what) + ": the process has no such memory");
  }
  const std::size_t room = allocation->bytes - (address - allocation->begin);
  if (bytes <= room) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, std::string(what) + ": wanted " + std::to_string(bytes) +
                                            " bytes, the allocation has " + std::to_string(room) + " left");
}

CUresult check_managed(std::uintptr_t address, std::size_t bytes) {
  TILEGYM_CU_TRY(check_span(address, bytes, "managed memory"));
  const auto allocation = find_allocation(address);
  if (!allocation || allocation->kind == MemoryKind::managed) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "the address is not of managed memory");
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

CUresult CUDAAPI cuMemAllocPitch_v2(CUdeviceptr* out, size_t* pitch, size_t width, size_t height, unsigned element) {
  return entry(__func__, [&] { return allocate_rows(out, pitch, width, height, element); });
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

CUresult CUDAAPI cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned flags) {
  return entry(__func__, [&] { return register_host(pointer, bytes, flags); });
}

CUresult CUDAAPI cuMemHostUnregister(void* pointer) {
  return entry(__func__, [&] { return unregister_host(pointer); });
}

CUresult CUDAAPI cuMemHostGetDevicePointer_v2(CUdeviceptr* out, void* pointer, unsigned flags) {
  return entry(__func__, [&] { return device_pointer(out, pointer, flags); });
}

CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
  return entry(__func__, [&] { return prefetch(address, bytes, location_of(device), stream); });
}

CUresult CUDAAPI cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned flags,
                                       CUstream stream) {
  return entry(__func__, [&] {
    return flags != 0 ? fail(CUDA_ERROR_INVALID_VALUE, "flags: wanted 0") : prefetch(address, bytes, location, stream);
  });
}

CUresult CUDAAPI cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device) {
  return entry(__func__, [&] { return advise(address, bytes, advice, location_of(device)); });
}

CUresult CUDAAPI cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location) {
  return entry(__func__, [&] { return advise(address, bytes, advice, location); });
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

}  // extern "C"
