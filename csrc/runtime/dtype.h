#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/dlpack.h"
#include "runtime/kernel_abi.h"

namespace tilegym::runtime {

/// The kernels' code for an element type, or nothing where they have none. uint8 is a packed pair of f4e2m1.
[[nodiscard]] std::optional<DType> dtype_of(dlpack::DataType type) noexcept;

/// The name torch uses, such as "float32"; for an unknown type its DLPack code, bits and lanes.
[[nodiscard]] std::string dtype_name(dlpack::DataType type);
[[nodiscard]] std::string dtype_name(DType type);

/// Bytes of one element; of a packed pair as a whole.
[[nodiscard]] std::size_t dtype_bytes(DType type) noexcept;

/// "float32, float16 or bfloat16" for a mask whose bit i stands for DType i.
[[nodiscard]] std::string dtype_mask_text(std::uint32_t mask);

}  // namespace tilegym::runtime
