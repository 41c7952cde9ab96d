#include <array>
#include <cstring>
#include <string>

#include "cpu_driver/api/driver_test.h"

namespace tilegym::cpu::test {
namespace {

class Device : public DriverTest {
 protected:
  void TearDown() override {
    table().configure("target", "sm_90");
    DriverTest::TearDown();
  }
};

int attribute(CUdevice_attribute name) {
  int value = -1;
  EXPECT_EQ(cuDeviceGetAttribute(&value, name, 0), CUDA_SUCCESS);
  return value;
}

std::string name() {
  std::array<char, 100> text{};
  EXPECT_EQ(cuDeviceGetName(text.data(), text.size(), 0), CUDA_SUCCESS);
  return text.data();
}

TEST_F(Device, ThereIsOne) {
  int count = 0;
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1);
}

TEST_F(Device, SecondOrdinalIsInvalid) {
  CUdevice device = 0;
  EXPECT_EQ(cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(Device, NameTellsTheTarget) {
  EXPECT_EQ(name(), "tilegym CPU device (sm_90 target)");
}

TEST_F(Device, NameIsCutToTheBuffer) {
  std::array<char, 8> text{'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x'};
  EXPECT_EQ(cuDeviceGetName(text.data(), 5, 0), CUDA_SUCCESS);
  EXPECT_EQ(std::string(text.data()), "tile");
  EXPECT_EQ(text[5], 'x');
}

TEST_F(Device, NameNeedsABuffer) {
  char text = 0;
  EXPECT_EQ(cuDeviceGetName(&text, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetName(nullptr, 10, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Device, DefaultTargetIsAnH200) {
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 9);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), 0);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 132);
}

TEST_F(Device, TargetOptionChangesAttributesAndName) {
  ASSERT_EQ(table().configure("target", "sm_120"), CUDA_SUCCESS);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 12);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 170);
  EXPECT_EQ(name(), "tilegym CPU device (sm_120 target)");
}

TEST_F(Device, UnknownAttributeIsRefusedByNumber) {
  int value = 0;
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(last_report().find(std::to_string(CU_DEVICE_ATTRIBUTE_MAX)), std::string::npos);
}

TEST_F(Device, GridLimitAttributesAreTheLaunchLimits) {
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), 2147483647);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y), 65535);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z), 65535);
}

TEST_F(Device, BothUuidCallsAgree) {
  CUuuid first{};
  CUuuid second{};
  EXPECT_EQ(cuDeviceGetUuid(&first, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetUuid_v2(&second, 0), CUDA_SUCCESS);
  EXPECT_EQ(std::memcmp(&first, &second, sizeof(first)), 0);
}

TEST_F(Device, InitRefusesFlags) {
  EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Device, NullResultPointerIsRefused) {
  EXPECT_EQ(cuDeviceGetCount(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDriverGetVersion(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceTotalMem_v2(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Device, ErrorNameAndTextBelongToTheCode) {
  const char* text = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "an illegal memory access was encountered");
}

TEST_F(Device, WhatIsNoCodeHasNoName) {
  const char* text = "";
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(1001), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

}  // namespace
}  // namespace tilegym::cpu::test
