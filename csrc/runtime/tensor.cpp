#include "runtime/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>

#include "runtime/dtype.h"

namespace tilegym::runtime {
namespace {

constexpr std::int64_t kMaxExtent = std::numeric_limits<std::int32_t>::max();

std::span<const std::int64_t> extents(const TensorDesc& desc) {
  return {desc.shape.data(), static_cast<std::size_t>(desc.ndim)};
}

/// Row-major strides, for producers that leave them out.
void pack_strides(TensorDesc& desc) {
  std::int64_t stride = 1;
  for (int dim = desc.ndim - 1; dim >= 0; --dim) {
    desc.strides[dim] = stride;
    stride *= std::max<std::int64_t>(desc.shape[dim], 1);
  }
}

Status copy_layout(const dlpack::Tensor& tensor, TensorDesc& out) {
  if (tensor.ndim < 0 || tensor.ndim > static_cast<std::int32_t>(kMaxRank)) {
    return Error{fmt::format("wanted at most {} dimensions, got {}; reshape it to fewer", kMaxRank, tensor.ndim)};
  }
  out.ndim = tensor.ndim;
  std::copy_n(tensor.shape, tensor.ndim, out.shape.begin());
  if (const auto shape = extents(out); std::ranges::any_of(shape, [](auto extent) { return extent < 0; })) {
    return Error{fmt::format("wanted extents of at least 0, got shape {}", shape)};
  }
  if (tensor.strides == nullptr) {
    pack_strides(out);
  } else {
    std::copy_n(tensor.strides, tensor.ndim, out.strides.begin());
  }
  return {};
}

Status check_rank(const ParamRow& param, const dlpack::Tensor& tensor) {
  if (param.rank < 0 || param.rank == tensor.ndim) return {};
  const std::span shape(tensor.shape, static_cast<std::size_t>(tensor.ndim));
  return Error{fmt::format("wanted {} dimensions, got {} (shape {})", param.rank, tensor.ndim, shape)};
}

Status check_dtype(const ParamRow& param, const dlpack::Tensor& tensor) {
  const auto dtype = dtype_of(tensor.dtype);
  if (dtype && (param.dtypes >> static_cast<int>(*dtype) & 1U) != 0) return {};
  return Error{fmt::format("wanted dtype {}, got {}; convert it with .to(dtype)", dtype_mask_text(param.dtypes),
                           dtype_name(tensor.dtype))};
}

Status check_dimension(const ParamRow& param, TensorDesc& desc, int dim) {
  const std::int64_t extent = desc.shape[dim];
  std::int64_t& stride = desc.strides[dim];
  if (extent > kMaxExtent) {
    return Error{
        fmt::format("wanted extents of at most {}, got {} in dimension {}; split the tensor", kMaxExtent, extent, dim)};
  }
  const bool fits = stride >= 0 && stride <= kMaxExtent;
  if (extent <= 1) {
    if (!fits) stride = 0;
    return {};
  }
  if (!fits) {
    return Error{fmt::format("wanted strides from 0 to {}, got {} in dimension {}; pass a copy from .contiguous()",
                             kMaxExtent, stride, dim)};
  }
  if (stride == 0 && param.direction != Direction::in) {
    return Error{
        fmt::format("wanted an output whose elements have memory of their own, got stride 0 over extent {} in "
                    "dimension {}; pass a tensor that is not expanded",
                    extent, dim)};
  }
  return {};
}

}  // namespace

std::string device_text(Device device) {
  return device.kind == DriverKind::cpu ? "cpu" : fmt::format("cuda:{}", device.ordinal);
}

Result<Device> device_of(dlpack::Device device) {
  switch (device.type) {
    case dlpack::DeviceType::cpu:
    case dlpack::DeviceType::cuda_host:
      return Device{};
    case dlpack::DeviceType::cuda:
    case dlpack::DeviceType::cuda_managed:
      return Device{DriverKind::cuda, device.id};
  }
  return Error{
      fmt::format("wanted a tensor on a CUDA device or on the CPU, got DLPack device type {}; move it with "
                  ".to(device)",
                  static_cast<int>(device.type))};
}

Status describe_tensor(const dlpack::Tensor& tensor, TensorDesc& out) {
  TILEGYM_TRY(copy_layout(tensor, out));
  const auto dtype = dtype_of(tensor.dtype);
  if (!dtype) return Error{fmt::format("wanted a dtype that kernels know, got {}", dtype_name(tensor.dtype))};
  out.dtype = static_cast<std::int32_t>(*dtype);
  const bool empty = std::ranges::any_of(extents(out), [](auto extent) { return extent == 0; });
  if (!empty && tensor.data == nullptr) {
    return Error{
        fmt::format("wanted a tensor with memory behind it, got a null address for shape {}; fake and "
                    "functional tensors cannot be launched on",
                    extents(out))};
  }
  out.ptr = tensor.data == nullptr ? 0 : reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset;
  return {};
}

Status describe_argument(const ParamRow& param, const dlpack::Tensor& tensor, TensorDesc& out) {
  TILEGYM_TRY(check_dtype(param, tensor));
  TILEGYM_TRY(check_rank(param, tensor));
  TILEGYM_TRY(describe_tensor(tensor, out));
  for (int dim = 0; dim < out.ndim; ++dim) TILEGYM_TRY(check_dimension(param, out, dim));
  return {};
}

}  // namespace tilegym::runtime
