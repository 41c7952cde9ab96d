#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/dlpack.h"

namespace tilegym::runtime {

inline constexpr dlpack::DataType kFloat32{dlpack::TypeCode::floating, 32, 1};
inline constexpr dlpack::DataType kFloat64{dlpack::TypeCode::floating, 64, 1};
inline constexpr dlpack::DataType kInt64{dlpack::TypeCode::integer, 64, 1};
inline constexpr dlpack::DataType kUint8{dlpack::TypeCode::unsigned_integer, 8, 1};

/// A DLPack tensor whose shape and strides it owns.
class TensorBuilder {
 public:
  TensorBuilder(void* data, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides,
                dlpack::DataType dtype = kFloat32, dlpack::Device device = {dlpack::DeviceType::cpu, 0})
      : shape_(std::move(shape)), strides_(std::move(strides)) {
    tensor_ = {.data = data,
               .device = device,
               .ndim = static_cast<std::int32_t>(shape_.size()),
               .dtype = dtype,
               .shape = shape_.data(),
               .strides = strides_.data(),
               .byte_offset = 0};
  }
  TensorBuilder(const TensorBuilder&) = delete;
  TensorBuilder& operator=(const TensorBuilder&) = delete;

  TensorBuilder& without_strides() {
    tensor_.strides = nullptr;
    return *this;
  }
  TensorBuilder& offset(std::uint64_t bytes) {
    tensor_.byte_offset = bytes;
    return *this;
  }
  [[nodiscard]] const dlpack::Tensor& get() const { return tensor_; }

 private:
  std::vector<std::int64_t> shape_;
  std::vector<std::int64_t> strides_;
  dlpack::Tensor tensor_{};
};

}  // namespace tilegym::runtime
