#include <array>
#include <cstdint>

#include "cpu_driver/api/driver_test.h"

namespace tilegym::cpu::test {
namespace {

class MemoryPools : public DriverTest {
 protected:
  static CUmemoryPool make_pool() {
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemoryPool pool = nullptr;
    EXPECT_EQ(cuMemPoolCreate(&pool, &props), CUDA_SUCCESS);
    return pool;
  }
  static std::uint64_t attribute(CUmemoryPool pool, CUmemPool_attribute name) {
    std::uint64_t value = 0;
    EXPECT_EQ(cuMemPoolGetAttribute(pool, name, &value), CUDA_SUCCESS);
    return value;
  }
};

TEST_F(MemoryPools, CountWhatIsTakenFromThem) {
  const CUmemoryPool pool = make_pool();
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAllocFromPoolAsync(&memory, 1000, pool, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 1000U);
  ASSERT_EQ(cuMemFreeAsync(memory, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0U);
  EXPECT_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 1000U);
  std::uint64_t zero = 0;
  EXPECT_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &zero), CUDA_SUCCESS);
  EXPECT_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 0U);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
}

TEST_F(MemoryPools, KeepTheirSettings) {
  const CUmemoryPool pool = make_pool();
  std::uint64_t threshold = UINT64_MAX;
  int off = 0;
  EXPECT_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &off), CUDA_SUCCESS);
  EXPECT_EQ(attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), UINT64_MAX);
  EXPECT_EQ(attribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC), 0U);
  EXPECT_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &threshold), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolTrimTo(pool, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
}

TEST_F(MemoryPools, DeviceHasOneFromTheStart) {
  CUmemoryPool standard = nullptr;
  CUmemoryPool current = nullptr;
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&standard, 0), CUDA_SUCCESS);
  const CUmemoryPool pool = make_pool();
  EXPECT_EQ(cuDeviceSetMemPool(0, pool), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetMemPool(&current, 0), CUDA_SUCCESS);
  EXPECT_EQ(current, pool);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetMemPool(&current, 0), CUDA_SUCCESS);
  EXPECT_EQ(current, standard);
  EXPECT_EQ(cuMemPoolDestroy(standard), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryPools, SharedOnesAreRefused) {
  CUmemPoolProps props{};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemoryPool pool = nullptr;
  EXPECT_EQ(cuMemPoolCreate(&pool, &props), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuMemPoolDestroy(reinterpret_cast<CUmemoryPool>(context_)), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryPools, RegisteredHostMemoryIsKnownUntilUnregistered) {
  std::array<char, 64> memory{};
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemHostRegister_v2(memory.data(), 64, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostRegister_v2(memory.data() + 8, 8, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(cuMemHostGetDevicePointer_v2(&address, memory.data(), 0), CUDA_SUCCESS);
  EXPECT_EQ(address, reinterpret_cast<CUdeviceptr>(memory.data()));
  EXPECT_EQ(cuMemFreeHost(memory.data()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemHostUnregister(memory.data()), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostUnregister(memory.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_F(MemoryPools, ForeignMemoryBelongsToTheCurrentContext) {
  int value = 0;
  CUcontext context = nullptr;
  const auto address = reinterpret_cast<CUdeviceptr>(&value);
  EXPECT_EQ(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, address), CUDA_SUCCESS);
  EXPECT_EQ(context, context_);
  unsigned type = 0;
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryPools, PlacementOfManagedMemoryIsChecked) {
  CUdeviceptr managed = 0;
  CUdeviceptr device = 0;
  ASSERT_EQ(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc_v2(&device, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPrefetchAsync(managed, 64, 0, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPrefetchAsync(managed, 65, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPrefetchAsync(managed, 64, 1, nullptr), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuMemAdvise(device, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamAttachMemAsync(nullptr, managed, 0, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(managed), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(device), CUDA_SUCCESS);
}

}  // namespace
}  // namespace tilegym::cpu::test
