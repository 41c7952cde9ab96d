#include <cstdlib>

#include "cpu_driver/kernels/level.h"

namespace tilegym::cpu {
namespace {

constexpr std::string_view kNames[] = {"plain", "avx2", "avx512", "amx"};

/// Highest level that processor and operating system offer (the builtins look at XCR0 too).
Isa supported_isa() noexcept {
#if TILEGYM_SIMD_LEVELS
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return avx2 ? (avx512 ? Isa::avx512 : Isa::avx2) : Isa::plain;
#else
  return Isa::plain;
#endif
}

/// TILEGYM_RS_ISA can only lower the level; an unknown word changes nothing.
Isa initial_isa() noexcept {
  const Isa supported = supported_isa();
  const char* wanted = std::getenv("TILEGYM_RS_ISA");
  for (int level = 0; wanted != nullptr && level < static_cast<int>(supported); ++level) {
    if (kNames[level] == wanted) return static_cast<Isa>(level);
  }
  return supported;
}

Isa& level() noexcept {
  static Isa isa = initial_isa();
  return isa;
}

}  // namespace

Isa current_isa() noexcept {
  return level();
}

std::string_view name(Isa isa) noexcept {
  return kNames[static_cast<int>(isa)];
}

bool set_isa(Isa isa) noexcept {
  if (isa > supported_isa()) return false;
  level() = isa;
  return true;
}

#if TILEGYM_SIMD_LEVELS
#define TILEGYM_AT_LEVEL(call) (level() == Isa::plain ? plain::call : level() == Isa::avx2 ? avx2::call : avx512::call)
#else
#define TILEGYM_AT_LEVEL(call) (plain::call)
#endif

StripFn find_strip(const StripKey& key) noexcept {
  return TILEGYM_AT_LEVEL(find_strip(key));
}
LoadFn find_load(tile_ir::ElementType element) noexcept {
  return TILEGYM_AT_LEVEL(find_load(element));
}
StoreFn find_store(tile_ir::ElementType element) noexcept {
  return TILEGYM_AT_LEVEL(find_store(element));
}
GatherFn find_gather(tile_ir::ElementType element) noexcept {
  return TILEGYM_AT_LEVEL(find_gather(element));
}
ScatterFn find_scatter(tile_ir::ElementType element) noexcept {
  return TILEGYM_AT_LEVEL(find_scatter(element));
}
MmaFn find_mma(const MmaKey& key) noexcept {
  return TILEGYM_AT_LEVEL(find_mma(key));
}

std::size_t mma_scratch_bytes(const MmaKey& key, std::int64_t m, std::int64_t n, std::int64_t k) noexcept {
  return TILEGYM_AT_LEVEL(mma_scratch_bytes(key, m, n, k));
}

}  // namespace tilegym::cpu
