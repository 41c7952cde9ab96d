#pragma once

#include "cpu_driver/kernels/kernels.h"

/// The kernels are compiled once per instruction set, each in a namespace of its own; g++ only, because the regions
/// rely on its target pragma. Other compilers build the plain level alone.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define TILEGYM_SIMD_LEVELS 1
#else
#define TILEGYM_SIMD_LEVELS 0
#endif

namespace tilegym::cpu {

/// One `find_` function per kind of kernel; every namespace below defines the set for its instruction set.
#define TILEGYM_KERNEL_LEVEL(isa)                                                                            \
  namespace isa {                                                                                            \
  StripFn find_strip(const StripKey& key) noexcept;                                                          \
  LoadFn find_load(tile_ir::ElementType element) noexcept;                                                   \
  StoreFn find_store(tile_ir::ElementType element) noexcept;                                                 \
  GatherFn find_gather(tile_ir::ElementType element) noexcept;                                               \
  ScatterFn find_scatter(tile_ir::ElementType element) noexcept;                                             \
  MmaFn find_mma(const MmaKey& key) noexcept;                                                                \
  std::size_t mma_scratch_bytes(const MmaKey& key, std::int64_t m, std::int64_t n, std::int64_t k) noexcept; \
  }
TILEGYM_KERNEL_LEVEL(plain)
#if TILEGYM_SIMD_LEVELS
TILEGYM_KERNEL_LEVEL(avx2)
TILEGYM_KERNEL_LEVEL(avx512)
/// Products only; the other kernels of the level are those of avx512.
namespace amx {
MmaFn find_mma(const MmaKey& key) noexcept;
std::size_t mma_scratch_bytes(const MmaKey& key, std::int64_t m, std::int64_t n, std::int64_t k) noexcept;
}  // namespace amx
#endif
#undef TILEGYM_KERNEL_LEVEL

}  // namespace tilegym::cpu
