#pragma once

#include <cstddef>
#include <cstdint>

namespace tilegym::cpu {

/// A matrix whose columns are contiguous, to one whose rows are: element (r, c) lies at src + r * element size +
/// c * src_column_stride and goes to dst + r * dst_row_stride + c * element size. Strides in bytes.
struct Transpose {
  std::byte* dst = nullptr;
  std::int64_t dst_row_stride = 0;
  const std::byte* src = nullptr;
  std::int64_t src_column_stride = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// `element_bytes`: 1, 2, 4 or 8. Nothing but the elements is read or written; the two must not overlap.
void transpose(const Transpose& matrix, std::uint32_t element_bytes);

}  // namespace tilegym::cpu
