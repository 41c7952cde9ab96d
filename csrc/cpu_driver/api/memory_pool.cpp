#include "cpu_driver/api/memory_pool.h"

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>

#include "cpu_driver/api/capture.h"
#include "cpu_driver/api/memory.h"

namespace tilegym::cpu {
namespace {

MemoryPoolTable& pools() noexcept {
  static auto& table = *new MemoryPoolTable;
  return table;
}

/// The pool that every device has from the start.
CUmemoryPool default_pool() {
  static const CUmemoryPool pool = pools().insert(std::make_shared<MemoryPool>());
  return pool;
}

/// The pool that cuMemAllocAsync takes from; null: the default one.
std::atomic<CUmemoryPool> chosen_pool{nullptr};

CUresult find_pool(CUmemoryPool handle, std::shared_ptr<MemoryPool>& pool) {
  TILEGYM_CU_TRY(check_initialized());
  pool = pools().share(handle);
  return pool != nullptr ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_VALUE, "the pool handle is not live");
}

CUresult check_call(CUdevice device) {
  TILEGYM_CU_TRY(check_initialized());
  return check_device(device);
}

CUresult create(CUmemoryPool* out, const CUmemPoolProps* props) {
  TILEGYM_CU_TRY(check_initialized());
  if (out == nullptr || props == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "an argument is null");
  if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "allocation type: wanted CU_MEM_ALLOCATION_TYPE_PINNED");
  }
  if (props->handleTypes != CU_MEM_HANDLE_TYPE_NONE) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "handle types: memory cannot be shared between processes");
  }
  if (props->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "location: wanted CU_MEM_LOCATION_TYPE_DEVICE");
  }
  TILEGYM_CU_TRY(check_device(props->location.id));
  *out = pools().insert(std::make_shared<MemoryPool>());
  return CUDA_SUCCESS;
}

CUresult destroy(CUmemoryPool handle) {
  std::shared_ptr<MemoryPool> pool;
  TILEGYM_CU_TRY(find_pool(handle, pool));
  if (handle == default_pool()) return fail(CUDA_ERROR_INVALID_VALUE, "the default pool stays with its device");
  CUmemoryPool gone = handle;
  chosen_pool.compare_exchange_strong(gone, nullptr);
  pools().erase(handle);
  return CUDA_SUCCESS;
}

template <class Field>
struct Column {
  CUmemPool_attribute attribute;
  Field MemoryPool::* field;
};
constexpr std::array kSwitches{
    Column<int>{CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, &MemoryPool::reuse_follow_event_dependencies},
    Column<int>{CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &MemoryPool::reuse_allow_opportunistic},
    Column<int>{CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &MemoryPool::reuse_allow_internal_dependencies},
};
// What is reserved is what is used.
constexpr std::array kSizes{
    Column<std::uint64_t>{CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &MemoryPool::release_threshold},
    Column<std::uint64_t>{CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &MemoryPool::used},
    Column<std::uint64_t>{CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &MemoryPool::most_used},
    Column<std::uint64_t>{CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &MemoryPool::used},
    Column<std::uint64_t>{CU_MEMPOOL_ATTR_USED_MEM_HIGH, &MemoryPool::most_used},
};

template <class Field, std::size_t kCount>
Field MemoryPool::* find_field(const std::array<Column<Field>, kCount>& columns, CUmemPool_attribute attribute) {
  for (const auto& column : columns) {
    if (column.attribute == attribute) return column.field;
  }
  return nullptr;
}

CUresult unknown(CUmemPool_attribute attribute) {
  return fail(CUDA_ERROR_INVALID_VALUE, "pool attribute " + std::to_string(attribute) + " is not available");
}

CUresult get_attribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* out) {
  std::shared_ptr<MemoryPool> pool;
  TILEGYM_CU_TRY(find_pool(handle, pool));
  if (out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the attribute is null");
  const std::scoped_lock lock(driver_lock());
  if (const auto field = find_field(kSwitches, attribute)) {
    return std::memcpy(out, &((*pool).*field), sizeof(int)), CUDA_SUCCESS;
  }
  const auto field = find_field(kSizes, attribute);
  if (field == nullptr) return unknown(attribute);
  return std::memcpy(out, &((*pool).*field), sizeof(std::uint64_t)), CUDA_SUCCESS;
}

CUresult set_attribute(CUmemoryPool handle, CUmemPool_attribute attribute, const void* value) {
  std::shared_ptr<MemoryPool> pool;
  TILEGYM_CU_TRY(find_pool(handle, pool));
  if (value == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the value is null");
  const std::scoped_lock lock(driver_lock());
  if (const auto field = find_field(kSwitches, attribute)) {
    return std::memcpy(&((*pool).*field), value, sizeof(int)), CUDA_SUCCESS;
  }
  std::uint64_t number = 0;
  std::memcpy(&number, value, sizeof(number));
  const bool high = attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH || attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH;
  if (high && number == 0) return pool->most_used = pool->used, CUDA_SUCCESS;
  if (attribute != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) return unknown(attribute);
  return pool->release_threshold = number, CUDA_SUCCESS;
}

CUresult allocate_from(CUdeviceptr* out, std::size_t bytes, CUmemoryPool handle, CUstream stream) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(stream, lane));
  if (out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the address is null");
  std::shared_ptr<MemoryPool> pool;
  TILEGYM_CU_TRY(find_pool(handle, pool));
  if (lane.stream != nullptr && lane.stream->capturing.load(std::memory_order_acquire)) {
    std::shared_ptr<GraphAllocation> memory;
    TILEGYM_CU_TRY(allocate_for_graph(*lane.context, bytes, memory));
    *out = memory->address();
    return capture_operation(*lane.stream, MemoryBegin{std::move(memory)});
  }
  void* memory = nullptr;
  TILEGYM_CU_TRY(allocate(*lane.context, bytes, MemoryKind::device, &memory, std::move(pool)));
  return give(out, reinterpret_cast<CUdeviceptr>(memory));
}

CUmemoryPool current_pool() {
  const CUmemoryPool chosen = chosen_pool.load(std::memory_order_acquire);
  return chosen != nullptr ? chosen : default_pool();
}

CUresult free_in_stream(CUdeviceptr address, CUstream stream) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(stream, lane));
  const auto allocation = find_allocation(address);
  if (!allocation || allocation->begin != address || allocation->kind == MemoryKind::registered_host) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the address is no allocation of this driver");
  }
  if (lane.stream != nullptr && lane.stream->capturing.load(std::memory_order_acquire)) {
    return capture_operation(*lane.stream, MemoryEnd{address});
  }
  return run_in(lane, [address] { return Failure{release_allocation(address), last_report()}; });
}

CUresult set_access(CUmemoryPool handle, const CUmemAccessDesc* rows, std::size_t count) {
  std::shared_ptr<MemoryPool> pool;
  TILEGYM_CU_TRY(find_pool(handle, pool));
  if (rows == nullptr && count != 0) return fail(CUDA_ERROR_INVALID_VALUE, "the descriptions are null");
  for (std::size_t i = 0; i < count; ++i) {
    TILEGYM_CU_TRY(check_device(rows[i].location.id));
    // A pool is always open to its own device.
    if (rows[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
      return fail(CUDA_ERROR_INVALID_VALUE, "access: wanted reading and writing for the pool's own device");
    }
  }
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" {

CUresult CUDAAPI cuMemPoolCreate(CUmemoryPool* out, const CUmemPoolProps* props) {
  return entry(__func__, [&] { return create(out, props); });
}
CUresult CUDAAPI cuMemPoolDestroy(CUmemoryPool pool) {
  return entry(__func__, [&] { return destroy(pool); });
}
CUresult CUDAAPI cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* out) {
  return entry(__func__, [&] { return get_attribute(pool, attribute, out); });
}
CUresult CUDAAPI cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return entry(__func__, [&] { return set_attribute(pool, attribute, value); });
}

// There is nothing to trim: a pool keeps no memory that is not in use.
CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool handle, size_t) {
  return entry(__func__, [&] {
    std::shared_ptr<MemoryPool> pool;
    return find_pool(handle, pool);
  });
}

CUresult CUDAAPI cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* rows, size_t count) {
  return entry(__func__, [&] { return set_access(pool, rows, count); });
}

CUresult CUDAAPI cuMemPoolGetAccess(CUmemAccess_flags* out, CUmemoryPool handle, CUmemLocation* location) {
  return entry(__func__, [&]() -> CUresult {
    std::shared_ptr<MemoryPool> pool;
    TILEGYM_CU_TRY(find_pool(handle, pool));
    if (location == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the location is null");
    TILEGYM_CU_TRY(check_device(location->id));
    return give(out, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  });
}

CUresult CUDAAPI cuDeviceGetDefaultMemPool(CUmemoryPool* out, CUdevice device) {
  return entry(__func__, [&]() -> CUresult {
    TILEGYM_CU_TRY(check_call(device));
    return give(out, default_pool());
  });
}

CUresult CUDAAPI cuDeviceGetMemPool(CUmemoryPool* out, CUdevice device) {
  return entry(__func__, [&]() -> CUresult {
    TILEGYM_CU_TRY(check_call(device));
    return give(out, current_pool());
  });
}

CUresult CUDAAPI cuDeviceSetMemPool(CUdevice device, CUmemoryPool handle) {
  return entry(__func__, [&]() -> CUresult {
    TILEGYM_CU_TRY(check_call(device));
    std::shared_ptr<MemoryPool> pool;
    TILEGYM_CU_TRY(find_pool(handle, pool));
    chosen_pool.store(handle, std::memory_order_release);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream stream) {
  return entry(__func__, [&] { return allocate_from(out, bytes, current_pool(), stream); });
}
CUresult CUDAAPI cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t bytes, CUmemoryPool pool, CUstream stream) {
  return entry(__func__, [&] { return allocate_from(out, bytes, pool, stream); });
}
CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return entry(__func__, [&] { return free_in_stream(address, stream); });
}

}  // extern "C"
