#include "runtime/dtype.h"

#include <gtest/gtest.h>

namespace tilegym::runtime {
namespace {

using dlpack::DataType;
using dlpack::TypeCode;

struct Case {
  DataType type;
  DType code;
  const char* name;
};

class KernelDtype : public testing::TestWithParam<Case> {};

TEST_P(KernelDtype, HasCodeAndName) {
  EXPECT_EQ(dtype_of(GetParam().type), GetParam().code);
  EXPECT_EQ(dtype_name(GetParam().type), GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(All, KernelDtype,
                         testing::Values(Case{{TypeCode::floating, 32, 1}, DType::f32, "float32"},
                                         Case{{TypeCode::floating, 16, 1}, DType::f16, "float16"},
                                         Case{{TypeCode::bfloat, 16, 1}, DType::bf16, "bfloat16"},
                                         Case{{TypeCode::integer, 32, 1}, DType::i32, "int32"},
                                         Case{{TypeCode::integer, 64, 1}, DType::i64, "int64"},
                                         Case{{TypeCode::float8_e5m2, 8, 1}, DType::f8e5m2, "float8_e5m2"},
                                         Case{{TypeCode::float8_e4m3fn, 8, 1}, DType::f8e4m3fn, "float8_e4m3fn"},
                                         Case{{TypeCode::unsigned_integer, 8, 1}, DType::f4e2m1x2, "uint8"},
                                         Case{{TypeCode::float4_e2m1fn, 4, 2}, DType::f4e2m1x2, "float4_e2m1fn_x2"}),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(Dtype, FnuzFormatsHaveNoCode) {
  EXPECT_FALSE(dtype_of({TypeCode::float8_e4m3fnuz, 8, 1}).has_value());
}

TEST(Dtype, LanesAreLookedAt) {
  EXPECT_FALSE(dtype_of({TypeCode::floating, 32, 2}).has_value());
}

TEST(Dtype, UnknownTypeIsNamedByItsNumbers) {
  EXPECT_EQ(dtype_name(DataType{static_cast<TypeCode>(99), 3, 2}), "DLPack type code 99 with 3 bits and 2 lanes");
}

TEST(Dtype, MaskTextReadsAsASentence) {
  EXPECT_EQ(dtype_mask_text(0b111), "float32, float16 or bfloat16");
  EXPECT_EQ(dtype_mask_text(0b1000), "int32");
  EXPECT_EQ(dtype_mask_text(0), "none");
}

}  // namespace
}  // namespace tilegym::runtime
