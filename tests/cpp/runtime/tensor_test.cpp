#include "runtime/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "runtime/tensor_builder.h"

namespace tilegym::runtime {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kTooMany = std::int64_t{1} << 31;
alignas(16) std::array<float, 64> memory;

constexpr ParamRow param(int rank, Direction direction = Direction::in) {
  return {"x", "", ParamKind::tensor, direction, rank, 0b111, 0, 0, {.integer = 0}};
}

TensorDesc describe(const TensorBuilder& tensor) {
  TensorDesc desc;
  const Status status = describe_tensor(tensor.get(), desc);
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
  return desc;
}

std::string describe_error(const TensorBuilder& tensor) {
  TensorDesc desc;
  const Status status = describe_tensor(tensor.get(), desc);
  return status.ok() ? "ok" : status.error().message;
}

std::string argument_error(const ParamRow& row, const TensorBuilder& tensor) {
  TensorDesc desc;
  const Status status = describe_argument(row, tensor.get(), desc);
  return status.ok() ? "ok" : status.error().message;
}

TEST(DescribeTensor, CopiesEveryField) {
  const TensorDesc desc = describe(TensorBuilder(memory.data(), {3, 4}, {16, 2}));
  EXPECT_EQ(desc.ptr, reinterpret_cast<std::uintptr_t>(memory.data()));
  EXPECT_EQ(desc.ndim, 2);
  EXPECT_THAT(desc.shape, testing::ElementsAre(3, 4, 0, 0, 0));
  EXPECT_THAT(desc.strides, testing::ElementsAre(16, 2, 0, 0, 0));
  EXPECT_EQ(desc.dtype, 0);
}

TEST(DescribeTensor, AddsTheByteOffset) {
  const TensorDesc desc = describe(TensorBuilder(memory.data(), {4}, {1}).offset(12));
  EXPECT_EQ(desc.ptr, reinterpret_cast<std::uintptr_t>(memory.data() + 3));
}

TEST(DescribeTensor, MissingStridesArePackedRows) {
  const TensorDesc desc = describe(TensorBuilder(memory.data(), {2, 3, 4}, {}).without_strides());
  EXPECT_THAT(desc.strides, testing::ElementsAre(12, 4, 1, 0, 0));
}

TEST(DescribeTensor, ScalarHasNoDimensions) {
  EXPECT_EQ(describe(TensorBuilder(memory.data(), {}, {})).ndim, 0);
}

TEST(DescribeTensor, EmptyTensorMayHaveNoAddress) {
  EXPECT_EQ(describe(TensorBuilder(nullptr, {0, 4}, {4, 1}).offset(64)).ptr, 0U);
}

TEST(DescribeTensor, ElementsWithoutMemoryAreRefused) {
  EXPECT_THAT(describe_error(TensorBuilder(nullptr, {2, 4}, {4, 1})), HasSubstr("null address for shape [2, 4]"));
}

TEST(DescribeTensor, SixDimensionsAreRefused) {
  EXPECT_THAT(describe_error(TensorBuilder(memory.data(), {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1})),
              HasSubstr("at most 5 dimensions, got 6"));
}

TEST(DescribeTensor, UnknownDtypeIsNamed) {
  EXPECT_THAT(describe_error(TensorBuilder(memory.data(), {4}, {1}, kFloat64)), HasSubstr("got float64"));
}

TEST(DescribeTensor, NegativeExtentIsRefused) {
  EXPECT_THAT(describe_error(TensorBuilder(memory.data(), {-1}, {1})), HasSubstr("got shape [-1]"));
}

TEST(DescribeArgument, RankIsChecked) {
  EXPECT_THAT(argument_error(param(2), TensorBuilder(memory.data(), {2, 3, 4}, {12, 4, 1})),
              HasSubstr("wanted 2 dimensions, got 3 (shape [2, 3, 4])"));
}

TEST(DescribeArgument, AnyRankIsTakenWhereTheOpSaysSo) {
  EXPECT_EQ(argument_error(param(-1), TensorBuilder(memory.data(), {2, 3, 4}, {12, 4, 1})), "ok");
}

TEST(DescribeArgument, DtypeErrorListsWhatTheOpTakes) {
  EXPECT_THAT(argument_error(param(1), TensorBuilder(memory.data(), {4}, {1}, kFloat64)),
              HasSubstr("wanted dtype float32, float16 or bfloat16, got float64"));
}

TEST(DescribeArgument, PackedPairsAreRefusedWhereTheOpDoesNotTakeThem) {
  EXPECT_THAT(argument_error(param(1), TensorBuilder(memory.data(), {4}, {1}, kUint8)), HasSubstr("got uint8"));
}

TEST(DescribeArgument, ExtentBeyond32BitsIsRefused) {
  EXPECT_THAT(argument_error(param(1), TensorBuilder(memory.data(), {kTooMany}, {1})),
              HasSubstr("at most 2147483647, got 2147483648 in dimension 0"));
}

TEST(DescribeArgument, StrideBeyond32BitsIsRefused) {
  EXPECT_THAT(argument_error(param(2), TensorBuilder(memory.data(), {2, 1}, {kTooMany, 1})),
              HasSubstr("got 2147483648 in dimension 0"));
}

TEST(DescribeArgument, NegativeStrideIsRefused) {
  EXPECT_THAT(argument_error(param(1), TensorBuilder(memory.data(), {2}, {-1})),
              HasSubstr("from 0 to 2147483647, got -1"));
}

TEST(DescribeArgument, UnusedStrideBecomesZeroWhereItDoesNotFit) {
  TensorDesc desc;
  ASSERT_TRUE(describe_argument(param(2), TensorBuilder(memory.data(), {1, 4}, {kTooMany, 1}).get(), desc).ok());
  EXPECT_EQ(desc.strides[0], 0);
}

TEST(DescribeArgument, ExpandedInputIsTaken) {
  EXPECT_EQ(argument_error(param(2), TensorBuilder(memory.data(), {8, 4}, {0, 1})), "ok");
}

TEST(DescribeArgument, ExpandedOutputIsRefused) {
  EXPECT_THAT(argument_error(param(2, Direction::out), TensorBuilder(memory.data(), {8, 4}, {0, 1})),
              HasSubstr("stride 0 over extent 8 in dimension 0"));
}

TEST(DeviceOf, PinnedMemoryIsOnTheCpu) {
  EXPECT_EQ(device_of({dlpack::DeviceType::cuda_host, 0}).value(), (Device{DriverKind::cpu, -1}));
}

TEST(DeviceOf, CudaKeepsItsOrdinal) {
  EXPECT_EQ(device_text(device_of({dlpack::DeviceType::cuda, 3}).value()), "cuda:3");
}

TEST(DeviceOf, OtherDevicesAreRefusedByNumber) {
  const auto device = device_of({static_cast<dlpack::DeviceType>(8), 0});
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(device.error().message, HasSubstr("DLPack device type 8"));
}

}  // namespace
}  // namespace tilegym::runtime
