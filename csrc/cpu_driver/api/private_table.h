#pragma once

#include <cstddef>
#include <cstdint>

/// The stand-in's private function table, fetched with cuGetExportTable(&kPrivateTableId). It carries what the driver
/// API lacks; the CUDA driver of a GPU answers CUDA_ERROR_NOT_FOUND for this id.
namespace tilegym::cpu {

/// 6d1f0a52-8f0e-4a83-9b60-74696c656779
inline constexpr unsigned char kPrivateTableId[16] = {0x6d, 0x1f, 0x0a, 0x52, 0x8f, 0x0e, 0x4a, 0x83,
                                                      0x9b, 0x60, 0x74, 0x69, 0x6c, 0x65, 0x67, 0x79};

/// One span a launch may touch; layout shared with ffi_util.rs.
struct RangeRow {
  std::uint64_t pointer;
  std::uint64_t bytes;
  const char* name;  ///< argument name, NUL-terminated; must live until the launch call returns
};

struct PrivateTable {
  std::size_t size;  ///< sizeof(PrivateTable): callers check it before they use a field
  /// Ranges for the next cuLaunchKernel of the calling thread, which consumes them; `op` names the op in reports.
  int (*set_launch_ranges)(const RangeRow* rows, std::size_t count, const char* op);
  /// Sets an option of the device by name ("threads", "target"); CUDA_ERROR_INVALID_VALUE for an unknown one.
  int (*configure)(const char* name, const char* value);
  /// Requests (1) or clears (0) cancellation of running and later launches.
  void (*set_cancelled)(int cancelled);
  /// Copies the calling thread's last report (why its last failed call failed), NUL-terminated; returns its length.
  std::size_t (*last_report)(char* buffer, std::size_t capacity);
  /// Number of launches finished since load, and nanoseconds the engine's clock spent in them.
  void (*launch_totals)(std::uint64_t* launches, std::uint64_t* nanoseconds);
};

}  // namespace tilegym::cpu
