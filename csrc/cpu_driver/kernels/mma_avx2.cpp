#include "cpu_driver/kernels/vector/prelude.h"

#if TILEGYM_SIMD_LEVELS
#pragma GCC target("avx2,fma,f16c")
namespace tilegym::cpu::avx2 {
#include "cpu_driver/kernels/mma.inl"
#include "cpu_driver/kernels/vector/avx2.inl"
}  // namespace tilegym::cpu::avx2
#endif
