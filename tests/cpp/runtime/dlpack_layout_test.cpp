// Our declarations against the published header, which torch ships.
#ifdef TILEGYM_HAVE_DLPACK_HEADER

#include <ATen/dlpack.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "runtime/dlpack.h"

namespace ours = tilegym::runtime::dlpack;

#define EXPECT_SAME_FIELD(Ours, field, Theirs, their_field)          \
  do {                                                               \
    EXPECT_EQ(offsetof(Ours, field), offsetof(Theirs, their_field)); \
    EXPECT_EQ(sizeof(Ours::field), sizeof(Theirs::their_field));     \
  } while (false)

TEST(DlpackLayout, TensorAgreesWithThePublishedHeader) {
  EXPECT_EQ(sizeof(ours::Tensor), sizeof(DLTensor));
  EXPECT_SAME_FIELD(ours::Tensor, data, DLTensor, data);
  EXPECT_SAME_FIELD(ours::Tensor, device, DLTensor, device);
  EXPECT_SAME_FIELD(ours::Tensor, ndim, DLTensor, ndim);
  EXPECT_SAME_FIELD(ours::Tensor, dtype, DLTensor, dtype);
  EXPECT_SAME_FIELD(ours::Tensor, shape, DLTensor, shape);
  EXPECT_SAME_FIELD(ours::Tensor, strides, DLTensor, strides);
  EXPECT_SAME_FIELD(ours::Tensor, byte_offset, DLTensor, byte_offset);
}

TEST(DlpackLayout, DeviceAndTypeAgreeWithThePublishedHeader) {
  EXPECT_SAME_FIELD(ours::Device, type, DLDevice, device_type);
  EXPECT_SAME_FIELD(ours::Device, id, DLDevice, device_id);
  EXPECT_SAME_FIELD(ours::DataType, code, DLDataType, code);
  EXPECT_SAME_FIELD(ours::DataType, bits, DLDataType, bits);
  EXPECT_SAME_FIELD(ours::DataType, lanes, DLDataType, lanes);
}

TEST(DlpackLayout, ExchangeApiAgreesWithThePublishedHeader) {
  EXPECT_EQ(sizeof(ours::ExchangeApi), sizeof(DLPackExchangeAPI));
  EXPECT_SAME_FIELD(ours::ApiHeader, major, DLPackExchangeAPIHeader, version.major);
  EXPECT_SAME_FIELD(ours::ApiHeader, previous, DLPackExchangeAPIHeader, prev_api);
  EXPECT_SAME_FIELD(ours::ExchangeApi, tensor_from_object, DLPackExchangeAPI, dltensor_from_py_object_no_sync);
  EXPECT_SAME_FIELD(ours::ExchangeApi, current_work_stream, DLPackExchangeAPI, current_work_stream);
}

TEST(DlpackLayout, CodesAgreeWithThePublishedHeader) {
  EXPECT_EQ(ours::kMajorVersion, DLPACK_MAJOR_VERSION);
  EXPECT_EQ(static_cast<int>(ours::TypeCode::boolean), kDLBool);
  EXPECT_EQ(static_cast<int>(ours::TypeCode::float8_e4m3fn), kDLFloat8_e4m3fn);
  EXPECT_EQ(static_cast<int>(ours::TypeCode::float8_e8m0fnu), kDLFloat8_e8m0fnu);
  EXPECT_EQ(static_cast<int>(ours::TypeCode::float4_e2m1fn), kDLFloat4_e2m1fn);
  EXPECT_EQ(static_cast<int>(ours::DeviceType::cuda_managed), kDLCUDAManaged);
}

#endif
