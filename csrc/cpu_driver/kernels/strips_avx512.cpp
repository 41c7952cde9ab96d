#include "cpu_driver/kernels/vector/prelude.h"

#if TILEGYM_SIMD_LEVELS
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")
namespace tilegym::cpu::avx512 {
// clang-format off
#include "cpu_driver/kernels/vector/avx512.inl"
#include "cpu_driver/kernels/strips.inl"
// clang-format on
}  // namespace tilegym::cpu::avx512
#endif
