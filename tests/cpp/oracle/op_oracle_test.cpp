// The ops on the CPU device against libtorch in float64.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "oracle/op_runner.h"

namespace tilegym::oracle {
namespace {

/// Rounding of the result, with the spread of the sums that lead to it.
struct Precision {
  const char* name;
  at::ScalarType dtype;
  double rtol;
  double atol;
};

constexpr Precision kPrecisions[] = {
    {"float32", at::kFloat, 1e-5, 1e-6}, {"float16", at::kHalf, 2e-3, 1e-5}, {"bfloat16", at::kBFloat16, 1.6e-2, 1e-4}};

class OpOracle : public testing::TestWithParam<Precision> {
 protected:
  void SetUp() override {
    if (kernel_library() == nullptr) GTEST_SKIP() << "TILEGYM_TEST_KERNELS names no kernel library";
    at::manual_seed(0);
  }

  static at::Tensor random(at::IntArrayRef shape) { return at::randn(shape).to(GetParam().dtype); }
  static at::Tensor marked(at::IntArrayRef shape) { return at::full(shape, 1e4, GetParam().dtype); }
};

INSTANTIATE_TEST_SUITE_P(All, OpOracle, testing::ValuesIn(kPrecisions),
                         [](const auto& instance) { return std::string(instance.param.name); });

void check_softmax(const at::Tensor& out, const at::Tensor& x, std::int64_t block_size, const Precision& precision) {
  ASSERT_EQ(call("softmax", {out, x}, {{"block_size", block_size}}), "");
  EXPECT_EQ(difference(out, at::softmax(x.to(at::kDouble), -1), precision.rtol, precision.atol), "");
}

TEST_P(OpOracle, SoftmaxOfPackedRows) {
  check_softmax(marked({5, 64}), random({5, 64}), 64, GetParam());
}

TEST_P(OpOracle, SoftmaxOfOddRows) {
  check_softmax(marked({3, 37}), random({3, 37}), 64, GetParam());
}

TEST_P(OpOracle, SoftmaxInChunks) {
  check_softmax(marked({2, 1000}), random({2, 1000}), 128, GetParam());
}

TEST_P(OpOracle, SoftmaxOfPaddedRows) {
  check_softmax(marked({4, 80}).narrow(1, 3, 37), random({4, 50}).narrow(1, 1, 37), 64, GetParam());
}

TEST_P(OpOracle, SoftmaxOfTransposedInput) {
  check_softmax(marked({6, 32}), random({32, 6}).t(), 32, GetParam());
}

TEST_P(OpOracle, SoftmaxWritesNothingBesideTheOutput) {
  const at::Tensor buffer = marked({4, 80});
  check_softmax(buffer.narrow(1, 0, 37), random({4, 37}), 64, GetParam());
  EXPECT_TRUE(buffer.narrow(1, 37, 43).eq(marked({4, 43})).all().item<bool>());
}

TEST_P(OpOracle, SoftmaxWithoutRows) {
  check_softmax(marked({0, 16}), random({0, 16}), 16, GetParam());
}

void check_silu(const at::Tensor& out, const at::Tensor& inp, std::int64_t block_size, const Precision& precision) {
  ASSERT_EQ(call("silu_and_mul", {out, inp}, {{"block_size", block_size}}), "");
  const auto halves = inp.to(at::kDouble).chunk(2, -1);
  EXPECT_EQ(difference(out, at::silu(halves[0]) * halves[1], precision.rtol, precision.atol), "");
}

TEST_P(OpOracle, SiluAndMulOfPackedRows) {
  check_silu(marked({7, 64}), random({7, 128}), 64, GetParam());
}

TEST_P(OpOracle, SiluAndMulOfOddRows) {
  check_silu(marked({3, 33}), random({3, 66}), 64, GetParam());
}

TEST_P(OpOracle, SiluAndMulOfPaddedRows) {
  check_silu(marked({3, 64}).narrow(1, 1, 33), random({3, 80}).narrow(1, 5, 66), 64, GetParam());
}

TEST_P(OpOracle, SiluAndMulWithoutRows) {
  check_silu(marked({0, 8}), random({0, 16}), 8, GetParam());
}

struct MatmulCase {
  std::int64_t persistent;
  std::int64_t programs;  ///< 0: one per tile
};

constexpr MatmulCase kTilePerBlock{0, 0};
constexpr MatmulCase kPersistent{1, 3};
constexpr std::int64_t kTile = 32;

std::int64_t tiles(std::int64_t extent) {
  return (extent + kTile - 1) / kTile;
}

void check_matmul(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b, const MatmulCase& variant,
                  const Precision& precision) {
  const std::int64_t programs = variant.programs != 0 ? variant.programs : tiles(c.size(0)) * tiles(c.size(1));
  ASSERT_EQ(call("matmul", {c, a, b},
                 {{"bm", kTile},
                  {"bn", kTile},
                  {"bk", kTile},
                  {"num_programs", programs},
                  {"persistent", variant.persistent}}),
            "");
  // f32 operands are rounded to tf32, 2^-11 relative each; sums of k products of normal numbers spread as sqrt(k).
  const double rounding = precision.dtype == at::kFloat ? 0x1p-10 : precision.rtol / 4;
  const double atol = rounding * 4 * std::sqrt(static_cast<double>(a.size(1)));
  EXPECT_EQ(difference(c, at::matmul(a.to(at::kDouble), b.to(at::kDouble)), precision.rtol, atol), "");
}

TEST_P(OpOracle, MatmulOfPackedOperands) {
  check_matmul(marked({64, 96}), random({64, 32}), random({32, 96}), kTilePerBlock, GetParam());
}

TEST_P(OpOracle, MatmulOfOddSizes) {
  check_matmul(marked({45, 70}), random({45, 51}), random({51, 70}), kTilePerBlock, GetParam());
}

TEST_P(OpOracle, MatmulOfTransposedOperands) {
  check_matmul(marked({40, 33}), random({50, 40}).t(), random({33, 50}).t(), kTilePerBlock, GetParam());
}

TEST_P(OpOracle, MatmulIntoATransposedResult) {
  check_matmul(marked({33, 40}).t(), random({40, 50}), random({50, 33}), kTilePerBlock, GetParam());
}

TEST_P(OpOracle, PersistentMatmulOfOddSizes) {
  check_matmul(marked({100, 70}), random({100, 51}), random({51, 70}), kPersistent, GetParam());
}

TEST_P(OpOracle, MatmulWithoutDepthIsZero) {
  check_matmul(marked({40, 33}), random({40, 0}), random({0, 33}), kTilePerBlock, GetParam());
}

TEST_P(OpOracle, DisagreeingShapesAreRefusedBeforeTheLaunch) {
  const at::Tensor out = marked({4, 8});
  const std::string reason = call("softmax", {out, random({4, 9})}, {{"block_size", 16}});
  EXPECT_NE(reason.find("code -6"), std::string::npos) << reason;
  EXPECT_TRUE(out.eq(marked({4, 8})).all().item<bool>());
}

TEST(OpOracleInputs, Float64IsRefused) {
  if (kernel_library() == nullptr) GTEST_SKIP() << "TILEGYM_TEST_KERNELS names no kernel library";
  const at::Tensor x = at::zeros({2, 2}, at::kDouble);
  EXPECT_NE(call("softmax", {x, x}, {{"block_size", 2}}).find("got float64"), std::string::npos);
}

}  // namespace
}  // namespace tilegym::oracle
