#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/result.h"
#include "runtime/dlpack.h"
#include "runtime/kernel_abi.h"

namespace tilegym::runtime {

/// Where a tensor lies, in the numbering of the kernel library.
struct Device {
  DriverKind kind = DriverKind::cpu;
  std::int32_t ordinal = -1;  ///< CUDA ordinal; -1 for the CPU

  friend bool operator==(const Device&, const Device&) = default;
};

/// "cpu" or "cuda:1".
[[nodiscard]] std::string device_text(Device device);

/// The device of a DLPack tensor. The error names a device that no driver serves.
[[nodiscard]] Result<Device> device_of(dlpack::Device device);

/// Copies shape, strides and address of element 0 into a descriptor; missing strides mean packed rows.
/// The memory stays the producer's. Errors: more than kMaxRank dimensions, a dtype without a code, a negative extent,
/// or no memory behind a tensor that has elements. A tensor without elements may have the address 0.
[[nodiscard]] Status describe_tensor(const dlpack::Tensor& tensor, TensorDesc& out);

/// describe_tensor for an op's parameter, whose rank and dtypes are checked too, and so is that the kernels' 32-bit
/// parameters hold extents and strides and that an output visits no element twice. The stride of a dimension with one
/// element or none is never used; where it does not fit it becomes 0.
[[nodiscard]] Status describe_argument(const ParamRow& param, const dlpack::Tensor& tensor, TensorDesc& out);

}  // namespace tilegym::runtime
