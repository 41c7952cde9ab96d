// Products of tiles for one instruction set: columns of B are packed (and widened) into panels two vectors wide, rows
// of A are read where they are, or widened first. Every element of C is summed in the order of k, so that the vector
// width does not show in the result.
#include "cpu_driver/kernels/codecs.inl"
#include "cpu_driver/kernels/mma_kernel.inl"
#include "cpu_driver/kernels/mma_operands.inl"

using tile_ir::ElementType;

template <class Operand>
void multiply(void* c, MatrixView a, MatrixView b, std::int64_t m, std::int64_t n, std::int64_t k,
              void* scratch) noexcept {
  using Code = typename Operand::Code;
  using T = typename Operand::Value;
  const std::int64_t steps = Operand::steps(k);
  T* panel = static_cast<T*>(scratch);
  const Code* a_codes = static_cast<const Code*>(a.data);
  T* widened = panel + steps * kPanel<T>;
  const std::int64_t widened_stride = rounded_up(steps, kPanel<T>);
  if constexpr (Operand::kWidens) {
    for (std::int64_t i = 0; i < m; ++i) Operand::pack_row(widened + i * widened_stride, a_codes + i * a.row_stride, k);
  }
  for (std::int64_t j = 0; j < n; j += kPanel<T>) {
    const std::int64_t width = n - j < kPanel<T> ? n - j : kPanel<T>;
    T* column = static_cast<T*>(c) + j;
    Operand::pack_panel(panel, static_cast<const Code*>(b.data) + j, b.row_stride, k, width);
    if constexpr (Operand::kWidens) {
      multiply_panel(column, n, widened, widened_stride, panel, m, steps, width);
    } else {
      multiply_panel(column, n, a_codes, a.row_stride, panel, m, steps, width);
    }
  }
}

template <class Operand>
std::size_t scratch_bytes(std::int64_t m, std::int64_t k) noexcept {
  using T = typename Operand::Value;
  const std::int64_t steps = Operand::steps(k);
  const std::int64_t widened = Operand::kWidens ? m * rounded_up(steps, kPanel<T>) : 0;
  return static_cast<std::size_t>(steps * kPanel<T> + widened) * sizeof(T);
}

/// One row per supported pair of operand and accumulator; an f16 accumulator is summed in f32 lanes like any other.
struct MmaRow {
  ElementType a;
  ElementType accumulator;
  bool signed_lhs;
  bool signed_rhs;
  MmaFn multiply;
  std::size_t (*scratch)(std::int64_t m, std::int64_t k) noexcept;
};

template <class Operand>
constexpr MmaRow mma_row(ElementType a, ElementType accumulator, bool signed_lhs = true, bool signed_rhs = true) {
  return {a, accumulator, signed_lhs, signed_rhs, multiply<Operand>, scratch_bytes<Operand>};
}

using Half = FloatOperand<Widened<F16Codec>>;
using E4M3 = FloatOperand<Widened<ByteCodec<F8E4M3FN>>>;
using E5M2 = FloatOperand<Widened<ByteCodec<F8E5M2>>>;
inline constexpr MmaRow kMmaTable[] = {
    mma_row<FloatOperand<Direct<float>>>(ElementType::f32, ElementType::f32),
    mma_row<FloatOperand<RoundedToTf32>>(ElementType::tf32, ElementType::f32),
    mma_row<FloatOperand<Direct<double>>>(ElementType::f64, ElementType::f64),
    mma_row<FloatOperand<Widened<Bf16Codec>>>(ElementType::bf16, ElementType::f32),
    mma_row<Half>(ElementType::f16, ElementType::f32),
    mma_row<Half>(ElementType::f16, ElementType::f16),
    mma_row<E4M3>(ElementType::f8e4m3fn, ElementType::f32),
    mma_row<E4M3>(ElementType::f8e4m3fn, ElementType::f16),
    mma_row<E5M2>(ElementType::f8e5m2, ElementType::f32),
    mma_row<E5M2>(ElementType::f8e5m2, ElementType::f16),
    mma_row<PairOperand<std::int8_t, std::int8_t>>(ElementType::i8, ElementType::i32, true, true),
    mma_row<PairOperand<std::int8_t, std::uint8_t>>(ElementType::i8, ElementType::i32, true, false),
    mma_row<PairOperand<std::uint8_t, std::int8_t>>(ElementType::i8, ElementType::i32, false, true),
    mma_row<PairOperand<std::uint8_t, std::uint8_t>>(ElementType::i8, ElementType::i32, false, false),
};

inline const MmaRow* mma_row_of(const MmaKey& key) noexcept {
  const bool integers = key.a == ElementType::i8;
  for (const MmaRow& row : kMmaTable) {
    if (row.a != key.a || row.accumulator != key.accumulator) continue;
    if (!integers ||
        (row.signed_lhs == (key.lhs == Signedness::signed_) && row.signed_rhs == (key.rhs == Signedness::signed_))) {
      return &row;
    }
  }
  return nullptr;
}

MmaFn find_mma(const MmaKey& key) noexcept {
  const MmaRow* row = mma_row_of(key);
  return row != nullptr ? row->multiply : nullptr;
}

std::size_t mma_scratch_bytes(const MmaKey& key, std::int64_t m, std::int64_t, std::int64_t k) noexcept {
  const MmaRow* row = mma_row_of(key);
  return row != nullptr ? row->scratch(m, k) : 0;
}
