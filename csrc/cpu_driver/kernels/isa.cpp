#include <cstdlib>
#include <iterator>

#include "cpu_driver/kernels/level.h"

#if TILEGYM_SIMD_LEVELS
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tilegym::cpu {
namespace {

constexpr std::string_view kNames[] = {"plain", "avx2", "avx512", "amx"};

/// The find functions of one instruction set.
struct Level {
  StripFn (*strip)(const StripKey&) noexcept;
  LoadFn (*load)(tile_ir::ElementType) noexcept;
  StoreFn (*store)(tile_ir::ElementType) noexcept;
  GatherFn (*gather)(tile_ir::ElementType) noexcept;
  ScatterFn (*scatter)(tile_ir::ElementType) noexcept;
  MmaFn (*mma)(const MmaKey&) noexcept;
  std::size_t (*mma_scratch)(const MmaKey&, std::int64_t, std::int64_t, std::int64_t) noexcept;
};

#define TILEGYM_LEVEL(isa, product)                                                   \
  {isa::find_strip,   isa::find_load,    isa::find_store,           isa::find_gather, \
   isa::find_scatter, product::find_mma, product::mma_scratch_bytes}
constexpr Level kLevels[] = {
    TILEGYM_LEVEL(plain, plain),
#if TILEGYM_SIMD_LEVELS
    TILEGYM_LEVEL(avx2, avx2),
    TILEGYM_LEVEL(avx512, avx512),
    TILEGYM_LEVEL(avx512, amx),
#endif
};
#undef TILEGYM_LEVEL

#if TILEGYM_SIMD_LEVELS
/// The kernel keeps tile registers from a process until it asks for them, which can fail in a sandbox.
bool tiles_granted() noexcept {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

/// Processor and operating system offer `isa`, given that they offer the one below (the builtins look at XCR0 too).
bool offers(Isa isa) noexcept {
  switch (isa) {
    case Isa::plain:
      return true;
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
    case Isa::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    case Isa::amx:
      return __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-bf16") &&
             __builtin_cpu_supports("amx-int8") && tiles_granted();
  }
  return false;
}
#else
bool offers(Isa isa) noexcept {
  return isa == Isa::plain;
}
#endif

/// Highest level up to `limit`.
Isa highest_isa(Isa limit) noexcept {
  Isa isa = Isa::plain;
  while (isa < limit && offers(static_cast<Isa>(static_cast<int>(isa) + 1))) {
    isa = static_cast<Isa>(static_cast<int>(isa) + 1);
  }
  return isa;
}

/// TILEGYM_RS_ISA can only lower the level; an unknown word changes nothing.
Isa initial_isa() noexcept {
  const char* wanted = std::getenv("TILEGYM_RS_ISA");
  for (int isa = 0; wanted != nullptr && isa < static_cast<int>(std::size(kNames)); ++isa) {
    if (kNames[isa] == wanted) return highest_isa(static_cast<Isa>(isa));
  }
  return highest_isa(Isa::amx);
}

Isa& chosen_isa() noexcept {
  static Isa isa = initial_isa();
  return isa;
}

const Level& level() noexcept {
  return kLevels[static_cast<int>(chosen_isa())];
}

}  // namespace

Isa current_isa() noexcept {
  return chosen_isa();
}

std::string_view name(Isa isa) noexcept {
  return kNames[static_cast<int>(isa)];
}

bool set_isa(Isa isa) noexcept {
  if (highest_isa(isa) != isa) return false;
  chosen_isa() = isa;
  return true;
}

StripFn find_strip(const StripKey& key) noexcept {
  return level().strip(key);
}
LoadFn find_load(tile_ir::ElementType element) noexcept {
  return level().load(element);
}
StoreFn find_store(tile_ir::ElementType element) noexcept {
  return level().store(element);
}
GatherFn find_gather(tile_ir::ElementType element) noexcept {
  return level().gather(element);
}
ScatterFn find_scatter(tile_ir::ElementType element) noexcept {
  return level().scatter(element);
}
MmaFn find_mma(const MmaKey& key) noexcept {
  return level().mma(key);
}

std::size_t mma_scratch_bytes(const MmaKey& key, std::int64_t m, std::int64_t n, std::int64_t k) noexcept {
  return level().mma_scratch(key, m, n, k);
}

}  // namespace tilegym::cpu
