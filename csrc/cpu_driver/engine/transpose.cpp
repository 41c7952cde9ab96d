#include "cpu_driver/engine/transpose.h"

#include <cstring>
#include <utility>

namespace tilegym::cpu {
namespace {

constexpr std::size_t kBlockBytes = 16;

/// 16 bytes: every x86-64 has them, and wider ones gain little on tiles that come from the second-level cache.
template <class T>
struct BlockOf {
  typedef T Type [[gnu::vector_size(kBlockBytes)]];  // an alias of a dependent type loses the attribute
};
template <class T>
using Block = typename BlockOf<T>::Type;
template <class T>
constexpr std::size_t kSide = kBlockBytes / sizeof(T);

template <class T, std::size_t... kLane>
Block<T> interleave(Block<T> a, Block<T> b, std::size_t half, std::index_sequence<kLane...>) {
  const auto low = __builtin_shufflevector(a, b, (kLane / 2 + kLane % 2 * kSide<T>)...);
  const auto high = __builtin_shufflevector(a, b, (kSide<T> / 2 + kLane / 2 + kLane % 2 * kSide<T>)...);
  return half == 0 ? low : high;
}

/// A square of one vector a side. Each round interleaves vector i with vector i + kSide / 2; after log2(kSide) rounds
/// rows have become columns.
template <class T>
void transpose_block(const std::byte* src, std::int64_t src_stride, std::byte* dst, std::int64_t dst_stride) {
  constexpr std::make_index_sequence<kSide<T>> kLanes;
  Block<T> block[kSide<T>];
  for (std::size_t i = 0; i < kSide<T>; ++i) {
    std::memcpy(&block[i], src + static_cast<std::int64_t>(i) * src_stride, kBlockBytes);
  }
  for (std::size_t round = 1; round < kSide<T>; round *= 2) {
    Block<T> from[kSide<T>];
    std::memcpy(from, block, sizeof from);
    for (std::size_t i = 0; i < kSide<T>; ++i) {
      block[i] = interleave<T>(from[i / 2], from[i / 2 + kSide<T> / 2], i % 2, kLanes);
    }
  }
  for (std::size_t i = 0; i < kSide<T>; ++i) {
    std::memcpy(dst + static_cast<std::int64_t>(i) * dst_stride, &block[i], kBlockBytes);
  }
}

template <class T>
void transpose_elements(const Transpose& m, std::int64_t first_row, std::int64_t first_column) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t r = first_row; r < m.rows; ++r) {
    for (std::int64_t c = first_column; c < m.columns; ++c) {
      std::memcpy(m.dst + r * m.dst_row_stride + c * kBytes, m.src + r * kBytes + c * m.src_column_stride, sizeof(T));
    }
  }
}

template <class T>
void transpose_as(const Transpose& m) {
  constexpr auto kStep = static_cast<std::int64_t>(kSide<T>);
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t whole_rows = m.rows / kStep * kStep;
  const std::int64_t whole_columns = m.columns / kStep * kStep;
  for (std::int64_t c = 0; c < whole_columns; c += kStep) {
    for (std::int64_t r = 0; r < whole_rows; r += kStep) {
      transpose_block<T>(m.src + r * kBytes + c * m.src_column_stride, m.src_column_stride,
                         m.dst + r * m.dst_row_stride + c * kBytes, m.dst_row_stride);
    }
  }
  Transpose upper = m;
  upper.rows = whole_rows;
  transpose_elements<T>(upper, 0, whole_columns);
  transpose_elements<T>(m, whole_rows, 0);
}

}  // namespace

void transpose(const Transpose& matrix, std::uint32_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return transpose_as<std::uint8_t>(matrix);
    case 2:
      return transpose_as<std::uint16_t>(matrix);
    case 4:
      return transpose_as<std::uint32_t>(matrix);
    default:
      return transpose_as<std::uint64_t>(matrix);
  }
}

}  // namespace tilegym::cpu
