#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "cpu_driver/api/cuda_api.h"

namespace tilegym::cpu {

/// Facts of a GPU that the CPU device reports as its own, so that programs choose the tile sizes they would choose
/// there.
struct Target {
  std::string_view name;
  int major;
  int minor;
  int multiprocessors;
  int shared_bytes_per_block;  ///< largest opt-in size
  int shared_bytes_per_multiprocessor;
  int threads_per_multiprocessor;
  int blocks_per_multiprocessor;
  int l2_bytes;
  int clock_khz;
  int memory_clock_khz;
  int memory_bus_bits;
};

/// A100, H200, B200 and RTX 5090, from NVIDIA's data sheets and the compute capability tables of the CUDA C++
/// Programming Guide.
inline constexpr std::array<Target, 4> kTargets{{
    {"sm_80", 8, 0, 108, 166912, 167936, 2048, 32, 41943040, 1410000, 1215000, 5120},
    {"sm_90", 9, 0, 132, 232448, 233472, 2048, 32, 52428800, 1980000, 3201000, 6144},
    {"sm_100", 10, 0, 148, 232448, 233472, 2048, 32, 132644864, 1965000, 3996000, 8192},
    {"sm_120", 12, 0, 170, 101376, 102400, 1536, 24, 100663296, 2407000, 14001000, 512},
}};
inline constexpr std::size_t kDefaultTarget = 1;

/// Limits of a launch grid, equal on all targets.
inline constexpr unsigned kMaxGridX = 2147483647;
inline constexpr unsigned kMaxGridYZ = 65535;

/// Value of a device attribute; nothing for one the device does not know.
[[nodiscard]] std::optional<int> device_attribute(const Target& target, CUdevice_attribute attribute) noexcept;

}  // namespace tilegym::cpu
