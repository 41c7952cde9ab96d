#include <array>
#include <numeric>
#include <vector>

#include "cpu_driver/api/driver_test.h"

namespace tilegym::cpu::test {
namespace {

using Bytes = std::vector<unsigned char>;

class CopyBox : public DriverTest {
 protected:
  static Bytes counting(std::size_t size) {
    Bytes bytes(size);
    std::iota(bytes.begin(), bytes.end(), 0);
    return bytes;
  }
};

TEST_F(CopyBox, TwoDimensionsFollowTheirPitches) {
  const Bytes from = counting(24);
  Bytes to(10);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from.data();
  copy.srcPitch = 8;
  copy.srcXInBytes = 2;
  copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.dstDevice = reinterpret_cast<CUdeviceptr>(to.data());
  copy.dstPitch = 5;
  copy.WidthInBytes = 3;
  copy.Height = 2;
  EXPECT_EQ(cuMemcpy2D_v2(&copy), CUDA_SUCCESS);
  EXPECT_EQ(to, (Bytes{10, 11, 12, 0, 0, 18, 19, 20, 0, 0}));
}

TEST_F(CopyBox, ThreeDimensionsFollowTheirSlices) {
  const Bytes from = counting(2 * 3 * 4);
  Bytes to(2 * 2 * 2);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from.data();
  copy.srcPitch = 4;
  copy.srcHeight = 3;
  copy.srcXInBytes = 1;
  copy.srcY = 1;
  copy.dstHost = to.data();
  copy.dstPitch = 2;
  copy.dstHeight = 2;
  copy.WidthInBytes = copy.Height = copy.Depth = 2;
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpy3DAsync_v2(&copy, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(to, (Bytes{5, 6, 9, 10, 17, 18, 21, 22}));
  cuStreamDestroy_v2(stream);
}

TEST_F(CopyBox, FillsFollowTheirPitch) {
  std::array<unsigned short, 12> words{};
  EXPECT_EQ(cuMemsetD2D16_v2(reinterpret_cast<CUdeviceptr>(words.data()), 8, 7, 3, 3), CUDA_SUCCESS);
  EXPECT_EQ(words, (std::array<unsigned short, 12>{7, 7, 7, 0, 7, 7, 7, 0, 7, 7, 7, 0}));
}

TEST_F(CopyBox, PitchedAllocationHoldsItsRows) {
  CUdeviceptr memory = 0;
  std::size_t pitch = 0;
  ASSERT_EQ(cuMemAllocPitch_v2(&memory, &pitch, 100, 3, 4), CUDA_SUCCESS);
  EXPECT_EQ(pitch, 512U);
  EXPECT_EQ(cuMemsetD2D8_v2(memory, pitch, 1, pitch, 3), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD2D8_v2(memory, pitch, 1, pitch, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAllocPitch_v2(&memory, &pitch, 100, SIZE_MAX / 2, 4), CUDA_ERROR_OUT_OF_MEMORY);
}

struct BadBox {
  const char* text;
  void (*spoil)(CUDA_MEMCPY3D& copy);
};
class BadBoxes : public CopyBox, public testing::WithParamInterface<BadBox> {};

TEST_P(BadBoxes, AreRefusedWithAReport) {
  Bytes memory(64);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = copy.dstHost = memory.data();
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes = 4;
  copy.srcHeight = copy.dstHeight = copy.Height = copy.Depth = 2;
  GetParam().spoil(copy);
  EXPECT_NE(cuMemcpy3D_v2(&copy), CUDA_SUCCESS);
  EXPECT_NE(last_report().find(GetParam().text), std::string::npos) << last_report();
}

INSTANTIATE_TEST_SUITE_P(
    CopyBox, BadBoxes,
    testing::Values(BadBox{"source: the pitch is below the width", [](auto& copy) { copy.srcPitch = 3; }},
                    BadBox{"destination: the height of a slice", [](auto& copy) { copy.dstHeight = 1; }},
                    BadBox{"source: arrays are not available",
                           [](auto& copy) { copy.srcMemoryType = CU_MEMORYTYPE_ARRAY; }},
                    BadBox{"destination: the address is null", [](auto& copy) { copy.dstHost = nullptr; }},
                    BadBox{"source: wanted level of detail 0", [](auto& copy) { copy.srcLOD = 1; }},
                    BadBox{"leaves the address space", [](auto& copy) { copy.srcZ = SIZE_MAX / 2; }}));

}  // namespace
}  // namespace tilegym::cpu::test
