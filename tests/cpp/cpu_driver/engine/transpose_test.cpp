#include "cpu_driver/engine/transpose.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace tilegym::cpu {
namespace {

struct Shape {
  std::int64_t rows, columns;
};

/// Source columns and target rows lie three elements further apart than they are long; the gaps must stay.
template <class T>
void expect_transposed(const Shape& s) {
  const std::int64_t column = s.rows + 3, row = s.columns + 3;
  std::vector<T> src(static_cast<std::size_t>((s.columns - 1) * column + s.rows));
  std::iota(src.begin(), src.end(), T{1});
  std::vector<T> dst(static_cast<std::size_t>((s.rows - 1) * row + s.columns));
  transpose({.dst = reinterpret_cast<std::byte*>(dst.data()),
             .dst_row_stride = row * static_cast<std::int64_t>(sizeof(T)),
             .src = reinterpret_cast<const std::byte*>(src.data()),
             .src_column_stride = column * static_cast<std::int64_t>(sizeof(T)),
             .rows = s.rows,
             .columns = s.columns},
            sizeof(T));
  std::vector<T> expected(dst.size());
  for (std::int64_t r = 0; r < s.rows; ++r) {
    for (std::int64_t c = 0; c < s.columns; ++c) {
      expected[static_cast<std::size_t>(r * row + c)] = src[static_cast<std::size_t>(c * column + r)];
    }
  }
  EXPECT_EQ(dst, expected) << sizeof(T) << " bytes, " << s.rows << " x " << s.columns;
}

TEST(Transpose, EveryElementSizeAndRemainder) {
  for (const Shape& shape : {Shape{1, 1}, {2, 2}, {16, 16}, {7, 33}, {33, 7}, {64, 48}, {5, 16}, {17, 1}}) {
    expect_transposed<std::uint8_t>(shape);
    expect_transposed<std::uint16_t>(shape);
    expect_transposed<std::uint32_t>(shape);
    expect_transposed<std::uint64_t>(shape);
  }
}

}  // namespace
}  // namespace tilegym::cpu
