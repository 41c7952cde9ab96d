#include "cpu_driver/kernels/vector/prelude.h"

#if TILEGYM_SIMD_LEVELS
// g++ 12 takes the undefined pass-through operand inside its own intrinsics for a mistake of ours.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,amx-tile,amx-bf16,amx-int8")

/// Products of bf16 and 8-bit tiles whose extents fill whole tile registers; the others are left to avx512.
namespace tilegym::cpu::amx {
namespace {

using tile_ir::ElementType;
using tile_ir::Signedness;

/// Rows of a tile register, and its columns of 32 bits.
constexpr std::int64_t kTile = 16;
constexpr std::int64_t kRowBytes = 64;

/// As LDTILECFG reads it: all eight registers at full size.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

/// One kind of product. Registers: 0 to 3 hold two by two tiles of C, 4 and 5 two of A, 6 and 7 two of B. The
/// intrinsics take literal register numbers only.
#define TILEGYM_TILE_PRODUCT(Name, Element, instruction) \
  struct Name {                                          \
    using Code = Element;                                \
    static void upper_left() { instruction(0, 4, 6); }   \
    static void upper_right() { instruction(1, 4, 7); }  \
    static void lower_left() { instruction(2, 5, 6); }   \
    static void lower_right() { instruction(3, 5, 7); }  \
  };
TILEGYM_TILE_PRODUCT(Bf16Product, std::uint16_t, _tile_dpbf16ps)
TILEGYM_TILE_PRODUCT(SignedProduct, std::uint8_t, _tile_dpbssd)
TILEGYM_TILE_PRODUCT(SignedByUnsigned, std::uint8_t, _tile_dpbsud)
TILEGYM_TILE_PRODUCT(UnsignedBySigned, std::uint8_t, _tile_dpbusd)
TILEGYM_TILE_PRODUCT(UnsignedProduct, std::uint8_t, _tile_dpbuud)
#undef TILEGYM_TILE_PRODUCT

/// Values along k that one 32-bit element of a tile holds, and that one tile register holds.
template <class Code>
constexpr std::int64_t kGroup = 4 / sizeof(Code);
template <class Code>
constexpr std::int64_t kDepth = kTile * kGroup<Code>;

inline __m512i widen(const std::uint16_t* from) {
  return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
inline __m512i widen(const std::uint8_t* from) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

/// 16 columns of B with the values of a group side by side: rows of 64 bytes, one after another.
template <class Code>
void pack_columns(Code* to, const Code* from, std::int64_t stride, std::int64_t k) noexcept {
  for (std::int64_t p = 0; p < k; p += kGroup<Code>, to += kTile * kGroup<Code>) {
    __m512i row = widen(from + p * stride);
    for (std::int64_t g = 1; g < kGroup<Code>; ++g) {
      const auto shift = static_cast<unsigned>(g * 8 * static_cast<std::int64_t>(sizeof(Code)));
      row = _mm512_or_si512(row, _mm512_slli_epi32(widen(from + (p + g) * stride), shift));
    }
    _mm512_storeu_si512(to, row);
  }
}

/// One or two tiles of C in each direction; strides in bytes. `second_b` is the panel of the next 16 columns.
struct Block {
  char* c;
  std::int64_t c_stride;
  const char* a;
  std::int64_t a_stride;
  const char* first_b;
  const char* second_b;
  std::int64_t depth;  ///< tile registers along k
};

template <class Product, bool kTwoRows, bool kTwoColumns>
void multiply_block(const Block& block) noexcept {
  char* lower = block.c + kTile * block.c_stride;
  _tile_loadd(0, block.c, block.c_stride);
  if constexpr (kTwoColumns) _tile_loadd(1, block.c + kRowBytes, block.c_stride);
  if constexpr (kTwoRows) _tile_loadd(2, lower, block.c_stride);
  if constexpr (kTwoRows && kTwoColumns) _tile_loadd(3, lower + kRowBytes, block.c_stride);
  for (std::int64_t step = 0; step < block.depth; ++step) {
    const char* a = block.a + step * kRowBytes;
    const std::int64_t b_offset = step * kTile * kRowBytes;
    _tile_loadd(4, a, block.a_stride);
    _tile_loadd(6, block.first_b + b_offset, kRowBytes);
    Product::upper_left();
    if constexpr (kTwoColumns) _tile_loadd(7, block.second_b + b_offset, kRowBytes);
    if constexpr (kTwoColumns) Product::upper_right();
    if constexpr (kTwoRows) _tile_loadd(5, a + kTile * block.a_stride, block.a_stride);
    if constexpr (kTwoRows) Product::lower_left();
    if constexpr (kTwoRows && kTwoColumns) Product::lower_right();
  }
  _tile_stored(0, block.c, block.c_stride);
  if constexpr (kTwoColumns) _tile_stored(1, block.c + kRowBytes, block.c_stride);
  if constexpr (kTwoRows) _tile_stored(2, lower, block.c_stride);
  if constexpr (kTwoRows && kTwoColumns) _tile_stored(3, lower + kRowBytes, block.c_stride);
}

template <class Product>
void multiply_block(const Block& block, bool two_rows, bool two_columns) noexcept {
  if (two_rows) {
    two_columns ? multiply_block<Product, true, true>(block) : multiply_block<Product, true, false>(block);
  } else {
    two_columns ? multiply_block<Product, false, true>(block) : multiply_block<Product, false, false>(block);
  }
}

template <class Product>
void multiply_tiles(char* c, const char* a, std::int64_t a_stride, const char* panels, std::int64_t m, std::int64_t n,
                    std::int64_t k) noexcept {
  using Code = typename Product::Code;
  const std::int64_t panel_bytes = k * kTile * static_cast<std::int64_t>(sizeof(Code));
  for (std::int64_t j = 0; j < n; j += 2 * kTile) {
    const char* panel = panels + j / kTile * panel_bytes;
    for (std::int64_t i = 0; i < m; i += 2 * kTile) {
      const Block block{c + (i * n + j) * 4, n * 4,           a + i * a_stride, a_stride, panel,
                        panel + panel_bytes, k / kDepth<Code>};
      multiply_block<Product>(block, i + kTile < m, j + kTile < n);
    }
  }
}

template <class Product, ElementType kElement, Signedness kLhs, Signedness kRhs>
void multiply(void* c, MatrixView a, MatrixView b, std::int64_t m, std::int64_t n, std::int64_t k,
              void* scratch) noexcept {
  using Code = typename Product::Code;
  constexpr ElementType kAccumulator = kElement == ElementType::i8 ? ElementType::i32 : ElementType::f32;
  if (m % kTile != 0 || n % kTile != 0 || k % kDepth<Code> != 0) {
    avx512::find_mma({kElement, kAccumulator, kLhs, kRhs})(c, a, b, m, n, k, scratch);
    return;
  }
  auto* panels = static_cast<Code*>(scratch);
  for (std::int64_t j = 0; j < n; j += kTile) {
    pack_columns(panels + j * k, static_cast<const Code*>(b.data) + j, b.row_stride, k);
  }
  __asm__ volatile("" ::: "memory");  // the tile loads do not say that they read what was packed
  const TileConfig config;
  _tile_loadconfig(&config);
  multiply_tiles<Product>(static_cast<char*>(c), static_cast<const char*>(a.data),
                          a.row_stride * static_cast<std::int64_t>(sizeof(Code)), static_cast<const char*>(scratch), m,
                          n, k);
  _tile_release();
}

constexpr Signedness kS = Signedness::signed_, kU = Signedness::unsigned_;
constexpr MmaFn kBytes[2][2] = {
    {multiply<UnsignedProduct, ElementType::i8, kU, kU>, multiply<UnsignedBySigned, ElementType::i8, kU, kS>},
    {multiply<SignedByUnsigned, ElementType::i8, kS, kU>, multiply<SignedProduct, ElementType::i8, kS, kS>}};

}  // namespace

MmaFn find_mma(const MmaKey& key) noexcept {
  if (key.a == ElementType::bf16 && key.accumulator == ElementType::f32) {
    return multiply<Bf16Product, ElementType::bf16, kS, kS>;
  }
  if (key.a == ElementType::i8 && key.accumulator == ElementType::i32) {
    return kBytes[key.lhs == kS ? 1 : 0][key.rhs == kS ? 1 : 0];
  }
  return avx512::find_mma(key);
}

/// Packed columns of B, or what avx512 needs for the shapes that go to it.
std::size_t mma_scratch_bytes(const MmaKey& key, std::int64_t m, std::int64_t n, std::int64_t k) noexcept {
  const std::size_t packed = static_cast<std::size_t>(k * n) * tile_ir::byte_size(key.a);
  const std::size_t other = avx512::mma_scratch_bytes(key, m, n, k);
  return other != 0 && packed > other ? packed : other;
}

}  // namespace tilegym::cpu::amx
#endif
