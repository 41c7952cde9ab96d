#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "cpu_driver/api/driver_test.h"

namespace tilegym::cpu::test {
namespace {

class Memory : public DriverTest {
 protected:
  CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAlloc_v2(&address, bytes), CUDA_SUCCESS);
    return address;
  }
};

TEST_F(Memory, AddressesAreAlignedTo256Bytes) {
  const CUdeviceptr address = allocate(3);
  EXPECT_EQ(address % 256, 0U);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
}

TEST_F(Memory, ZeroBytesAreRefused) {
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc_v2(&address, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, MoreThanTheHostHasIsOutOfMemory) {
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc_v2(&address, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_NE(last_report().find(std::to_string(SIZE_MAX)), std::string::npos);
}

TEST_F(Memory, NullResultPointerIsRefused) {
  EXPECT_EQ(cuMemAlloc_v2(nullptr, 16), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, FreeOfNullIsAllowed) {
  EXPECT_EQ(cuMemFree_v2(0), CUDA_SUCCESS);
}

TEST_F(Memory, SecondFreeIsRefused) {
  const CUdeviceptr address = allocate(64);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, FreeInsideAnAllocationIsRefused) {
  const CUdeviceptr address = allocate(64);
  EXPECT_EQ(cuMemFree_v2(address + 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
}

TEST_F(Memory, CopiesThereAndBack) {
  const std::array<int, 4> source{1, 2, 3, 4};
  std::array<int, 4> result{};
  const CUdeviceptr first = allocate(sizeof(source));
  const CUdeviceptr second = allocate(sizeof(source));
  EXPECT_EQ(cuMemcpyHtoD_v2(first, source.data(), sizeof(source)), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoD_v2(second, first, sizeof(source)), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH_v2(result.data(), second, sizeof(source)), CUDA_SUCCESS);
  EXPECT_EQ(result, source);
}

TEST_F(Memory, DeviceMemoryIsHostMemory) {
  const CUdeviceptr address = allocate(sizeof(int));
  EXPECT_EQ(cuMemsetD32_v2(address, 77, 1), CUDA_SUCCESS);
  EXPECT_EQ(*reinterpret_cast<int*>(address), 77);
}

TEST_F(Memory, CopyPastAnAllocationIsRefusedWithTheRoomLeft) {
  std::array<char, 128> host{};
  const CUdeviceptr address = allocate(100);
  EXPECT_EQ(cuMemcpyHtoD_v2(address + 40, host.data(), 61), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(last_report(), "cuMemcpyHtoD_v2: destination: wanted 61 bytes, the allocation has 60 left");
}

TEST_F(Memory, CopyFromNullIsRefused) {
  EXPECT_EQ(cuMemcpyHtoD_v2(allocate(16), nullptr, 16), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, CopyToWhereTheProcessHasNothingIsRefused) {
  int value = 7;
  EXPECT_EQ(cuMemcpyHtoD_v2(8, &value, sizeof(value)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(last_report(), "cuMemcpyHtoD_v2: destination: the process has no such memory");
  EXPECT_EQ(cuMemsetD8_v2(reinterpret_cast<CUdeviceptr>(&value), 0, SIZE_MAX / 2), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, CopyOfNothingAcceptsNull) {
  EXPECT_EQ(cuMemcpyDtoH_v2(nullptr, 0, 0), CUDA_SUCCESS);
}

TEST_F(Memory, Fills8And16And32BitElements) {
  std::array<std::uint32_t, 3> values{};
  const auto address = reinterpret_cast<CUdeviceptr>(values.data());
  EXPECT_EQ(cuMemsetD8_v2(address, 0x11, 4), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD16_v2(address + 4, 0x2233, 2), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32_v2(address + 8, 0x44556677, 1), CUDA_SUCCESS);
  EXPECT_EQ(values, (std::array<std::uint32_t, 3>{0x11111111, 0x22332233, 0x44556677}));
}

TEST_F(Memory, FillOfAMisalignedAddressIsRefused) {
  EXPECT_EQ(cuMemsetD32_v2(allocate(16) + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, FillOfTooManyElementsIsRefused) {
  EXPECT_EQ(cuMemsetD32_v2(allocate(16), 0, SIZE_MAX / 2), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, AsyncCopiesRunInStreamOrder) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  const CUdeviceptr address = allocate(sizeof(int));
  int seen = 0;
  EXPECT_EQ(cuMemsetD32Async(address, 5, 1, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoHAsync_v2(&seen, address, sizeof(int), stream), CUDA_SUCCESS);
  // Pageable memory: the copy is done when the call returns.
  EXPECT_EQ(seen, 5);
  cuStreamDestroy_v2(stream);
}

TEST_F(Memory, PageableSourceMayBeReusedAfterAnAsyncCopy) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  const CUdeviceptr address = allocate(sizeof(int));
  int source = 8;
  EXPECT_EQ(cuMemcpyHtoDAsync_v2(address, &source, sizeof(int), stream), CUDA_SUCCESS);
  source = 0;
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(*reinterpret_cast<int*>(address), 8);
  cuStreamDestroy_v2(stream);
}

TEST_F(Memory, StreamOrderedAllocationLivesUntilItsFree) {
  CUstream stream = nullptr;
  CUdeviceptr address = 0;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocAsync(&address, 64, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(address, 1, 64, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(address, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
  cuStreamDestroy_v2(stream);
}

TEST_F(Memory, FreedMemoryOfAPoolStaysAsItIsForAWhile) {
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAllocAsync(&address, 4096, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32_v2(address, 77, 1024), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFreeAsync(address, nullptr), CUDA_SUCCESS);
  CUdeviceptr other = 0;
  ASSERT_EQ(cuMemAllocAsync(&other, 4096, nullptr), CUDA_SUCCESS);
  EXPECT_NE(other, address);
  EXPECT_EQ(*reinterpret_cast<const int*>(address), 77);
  EXPECT_EQ(cuMemFreeAsync(other, nullptr), CUDA_SUCCESS);
}

TEST_F(Memory, AsyncFreeOfAForeignAddressIsRefusedAtOnce) {
  int variable = 0;
  EXPECT_EQ(cuMemFreeAsync(reinterpret_cast<CUdeviceptr>(&variable), nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, AttributesDescribeTheAllocation) {
  const CUdeviceptr address = allocate(100);
  unsigned type = 0;
  CUdeviceptr start = 0;
  std::size_t bytes = 0;
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address + 10), CUDA_SUCCESS);
  EXPECT_EQ(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address + 10), CUDA_SUCCESS);
  EXPECT_EQ(cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address + 10), CUDA_SUCCESS);
  EXPECT_EQ(type, static_cast<unsigned>(CU_MEMORYTYPE_DEVICE));
  EXPECT_EQ(start, address);
  EXPECT_EQ(bytes, 100U);
}

TEST_F(Memory, PinnedMemoryIsHostMemory) {
  void* pointer = nullptr;
  ASSERT_EQ(cuMemAllocHost_v2(&pointer, 64), CUDA_SUCCESS);
  unsigned type = 0;
  const auto address = reinterpret_cast<CUdeviceptr>(pointer);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address), CUDA_SUCCESS);
  EXPECT_EQ(type, static_cast<unsigned>(CU_MEMORYTYPE_HOST));
  EXPECT_EQ(cuMemFreeHost(pointer), CUDA_SUCCESS);
}

TEST_F(Memory, AttributeOfAForeignAddressIsRefused) {
  int variable = 0;
  unsigned type = 0;
  const auto address = reinterpret_cast<CUdeviceptr>(&variable);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, AttributeListOfAForeignAddressIsZero) {
  int variable = 0;
  unsigned type = 9;
  CUcontext context = context_;
  std::array attributes{CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_CONTEXT};
  std::array<void*, 2> out{&type, &context};
  const auto address = reinterpret_cast<CUdeviceptr>(&variable);
  EXPECT_EQ(cuPointerGetAttributes(2, attributes.data(), out.data(), address), CUDA_SUCCESS);
  EXPECT_EQ(type, 0U);
  EXPECT_EQ(context, nullptr);
}

TEST_F(Memory, AddressRangeFindsTheBase) {
  const CUdeviceptr address = allocate(100);
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  EXPECT_EQ(cuMemGetAddressRange_v2(&base, &bytes, address + 99), CUDA_SUCCESS);
  EXPECT_EQ(base, address);
  EXPECT_EQ(bytes, 100U);
  EXPECT_EQ(cuMemGetAddressRange_v2(&base, &bytes, address - 1), CUDA_ERROR_NOT_FOUND);
}

TEST_F(Memory, InfoIsPlausible) {
  std::size_t free_bytes = 0;
  std::size_t total = 0;
  EXPECT_EQ(cuMemGetInfo_v2(&free_bytes, &total), CUDA_SUCCESS);
  EXPECT_GT(free_bytes, 0U);
  EXPECT_LE(free_bytes, total);
}

}  // namespace
}  // namespace tilegym::cpu::test
