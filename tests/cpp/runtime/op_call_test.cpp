#include "runtime/op_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "runtime/fakes.h"
#include "runtime/tensor_builder.h"

namespace tilegym::runtime {
namespace {

using testing::HasSubstr;

std::array<float, 16> memory;

const OpRow& op(const char* name) {
  return *load_fake()->find(name).value();
}

std::string error_of(const Status& status) {
  return status.ok() ? "ok" : status.error().message;
}

/// What `echo` saw.
struct Echo {
  TensorDesc desc;
  std::int64_t count;
  std::int64_t device;
  std::int64_t stream;
};

TEST(OpCall, PassesEveryArgument) {
  std::array<std::int64_t, 16> seen{};
  OpCall call(op("echo"));
  ASSERT_TRUE(call.set_tensor(0, TensorBuilder(seen.data(), {16}, {1}, kInt64).get()).ok());
  ASSERT_TRUE(call.set_tensor(1, TensorBuilder(memory.data(), {2, 3}, {5, 1}).get()).ok());
  ASSERT_TRUE(call.set_integer(2, std::int64_t{1} << 40).ok());
  call.complete(77);
  ASSERT_EQ(call.invoke(), 0);
  Echo echo{};
  std::memcpy(static_cast<void*>(&echo), seen.data(), sizeof(echo));
  EXPECT_EQ(echo.desc.ptr, reinterpret_cast<std::uintptr_t>(memory.data()));
  EXPECT_THAT(echo.desc.strides, testing::ElementsAre(5, 1, 0, 0, 0));
  EXPECT_EQ(echo.count, std::int64_t{1} << 40);
  EXPECT_EQ(echo.device, -1);
  EXPECT_EQ(echo.stream, 77);
}

TEST(OpCall, PassesFloatingValuesAndDefaults) {
  std::array<float, 2> x{1.5F, -2.0F};
  std::array<float, 2> out{};
  for (const double factor : {0.5, 2.0}) {
    OpCall call(op("scale"));
    ASSERT_TRUE(call.set_tensor(0, TensorBuilder(out.data(), {2}, {1}).get()).ok());
    ASSERT_TRUE(call.set_tensor(1, TensorBuilder(x.data(), {2}, {1}).get()).ok());
    ASSERT_TRUE((factor == 2.0 ? call.set_default(2) : call.set_floating(2, factor)).ok());
    call.complete(0);
    ASSERT_EQ(call.invoke(), 0);
    EXPECT_FLOAT_EQ(out[0], static_cast<float>(1.5 * factor));
  }
}

TEST(OpCall, ErrorNamesOpAndArgument) {
  OpCall call(op("noop"));
  EXPECT_THAT(error_of(call.set_tensor(1, TensorBuilder(memory.data(), {4}, {1}).get())),
              HasSubstr("noop(): argument 'x': wanted 2 dimensions, got 1"));
}

TEST(OpCall, MixedDevicesAreRefusedWithBothNames) {
  OpCall call(op("noop"));
  ASSERT_TRUE(call.set_tensor(0, TensorBuilder(memory.data(), {2, 2}, {2, 1}).get()).ok());
  const TensorBuilder far(memory.data(), {2, 2}, {2, 1}, kFloat32, {dlpack::DeviceType::cuda, 1});
  EXPECT_THAT(error_of(call.set_tensor(1, far.get())),
              HasSubstr("argument 'x': wanted a tensor on cpu, where argument 'out' is, got one on cuda:1"));
}

TEST(OpCall, CudaTensorsDecideTheDevice) {
  OpCall call(op("noop"));
  const TensorBuilder far(memory.data(), {2, 2}, {2, 1}, kFloat32, {dlpack::DeviceType::cuda, 1});
  ASSERT_TRUE(call.set_tensor(0, far.get()).ok());
  EXPECT_EQ(call.device(), (Device{DriverKind::cuda, 1}));
}

TEST(OpCall, IntegerBeyondTheParameterIsRefused) {
  OpCall call(op("noop"));
  EXPECT_THAT(error_of(call.set_integer(2, std::int64_t{1} << 31)),
              HasSubstr("argument 'block_size': wanted a 32-bit integer, got 2147483648"));
}

TEST(OpCall, MissingValueErrorShowsTheSignature) {
  OpCall call(op("noop"));
  EXPECT_THAT(error_of(call.set_default(2)),
              HasSubstr("wanted a value, got none; call noop(out, x, block_size, num_cta_in_cga=-1, occupancy=-1)"));
}

}  // namespace
}  // namespace tilegym::runtime
