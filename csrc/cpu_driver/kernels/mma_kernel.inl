// Micro-kernels: a few rows of C in registers, one pass over k.

inline constexpr std::size_t kPanelVectors = 2;
/// Columns of a packed panel of B.
template <class T>
inline constexpr std::int64_t kPanel = kPanelVectors * kCount<T>;

/// Rows of C that stay in registers: 6 x 2 accumulators of 16 registers, 12 x 2 of 32; the others hold B and A.
inline constexpr std::int64_t kRows = kBytes == 64 ? 12 : 6;

/// a * b + c: fused where the processor can, else in two roundings (imitating the fused one costs 50 times as much).
template <class T>
TILEGYM_INLINE Vec<T> multiply_add(Vec<T> a, Vec<T> b, Vec<T> c) {
  if constexpr (std::is_integral_v<T>) {
    return c + (Vec<T>)multiply_pairs((Vec<std::int32_t>)a, (Vec<std::int32_t>)b);
  } else if constexpr (kFusedMultiplyAdd) {
    return fma(a, b, c);
  } else {
    return a * b + c;
  }
}

/// c[kM x columns] += a[kM x k] * panel[k x columns], columns being kV vectors; the panel's rows are kPanel apart. Its
/// loops over rows must be unrolled, or the accumulators live in memory and a quarter of the speed is left.
template <class T, std::size_t kM, std::size_t kV>
void micro_kernel(T* c, std::int64_t c_stride, const T* a, std::int64_t a_stride, const T* panel,
                  std::int64_t k) noexcept {
  Vec<T> sum[kM][kV];
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kM; ++i) {
#pragma GCC unroll 16
    for (std::size_t j = 0; j < kV; ++j) sum[i][j] = load(c + i * c_stride + j * kCount<T>);
  }
  for (std::int64_t p = 0; p < k; ++p, panel += kPanel<T>) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kM; ++i) {
      const Vec<T> x = broadcast(a[i * a_stride + p]);
#pragma GCC unroll 16
      for (std::size_t j = 0; j < kV; ++j) sum[i][j] = multiply_add<T>(x, load(panel + j * kCount<T>), sum[i][j]);
    }
  }
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kM; ++i) {
#pragma GCC unroll 16
    for (std::size_t j = 0; j < kV; ++j) store(c + i * c_stride + j * kCount<T>, sum[i][j]);
  }
}

template <class T>
using MicroKernel = void (*)(T*, std::int64_t, const T*, std::int64_t, const T*, std::int64_t) noexcept;

template <class T, std::size_t kV, std::size_t... kM>
MicroKernel<T> pick_micro_kernel(std::int64_t rows, std::index_sequence<kM...>) noexcept {
  constexpr MicroKernel<T> kKernels[] = {micro_kernel<T, kM + 1, kV>...};
  return kKernels[rows - 1];
}

template <class T>
MicroKernel<T> micro_kernel_for(std::int64_t rows, std::int64_t width) noexcept {
  constexpr std::make_index_sequence<kRows> kM;
  return width > static_cast<std::int64_t>(kCount<T>) ? pick_micro_kernel<T, 2>(rows, kM)
                                                      : pick_micro_kernel<T, 1>(rows, kM);
}

template <class T>
void copy_block(T* to, std::int64_t to_stride, const T* from, std::int64_t from_stride, std::int64_t rows,
                std::int64_t width) noexcept {
  for (std::int64_t r = 0; r < rows; ++r) {
    __builtin_memcpy(to + r * to_stride, from + r * from_stride, static_cast<std::size_t>(width) * sizeof(T));
  }
}

/// C += A * panel. Columns that fill no vector go through a copy of their part of C, so that nothing beside is written.
template <class T>
void multiply_panel(T* c, std::int64_t n, const T* a, std::int64_t a_stride, const T* panel, std::int64_t m,
                    std::int64_t k, std::int64_t width) noexcept {
  alignas(kVectorBytes) T edge[kRows * kPanel<T>] = {};
  for (std::int64_t i = 0; i < m; i += kRows) {
    const std::int64_t rows = m - i < kRows ? m - i : kRows;
    const MicroKernel<T> kernel = micro_kernel_for<T>(rows, width);
    if (width % static_cast<std::int64_t>(kCount<T>) == 0) {
      kernel(c + i * n, n, a + i * a_stride, a_stride, panel, k);
      continue;
    }
    copy_block(edge, kPanel<T>, c + i * n, n, rows, width);
    kernel(edge, kPanel<T>, a + i * a_stride, a_stride, panel, k);
    copy_block(c + i * n, n, edge, kPanel<T>, rows, width);
  }
}
