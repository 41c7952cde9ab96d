#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

/// The stand-in's private function table, fetched with cuGetExportTable(&kPrivateTableId). It carries what the driver
/// API lacks; the CUDA driver of a GPU answers CUDA_ERROR_NOT_FOUND for this id. Results of type int are CUresult.
/// Any thread may call any function.
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

/// How one launch spreads its tile blocks.
struct ScheduleRow {
  std::uint32_t order;    ///< 0: forward, 1: reversed, 2: shuffled by `seed`
  std::uint32_t threads;  ///< upper limit of workers; 0: the device's option
  std::uint64_t seed;
};

struct PrivateTable {
  std::size_t size;  ///< sizeof(PrivateTable): callers check it before they use a field
  /// Ranges for the next cuLaunchKernel or cuLaunchKernelEx of the calling thread, which consumes them even when it
  /// fails; `op` (copied) names the op in reports. A launch without ranges may access every address.
  int (*set_launch_ranges)(const RangeRow* rows, std::size_t count, const char* op);
  /// Sets an option of the device by name: "threads" (workers per launch; "0": automatic), "target" ("sm_80", "sm_90",
  /// "sm_100", "sm_120") or "order" of tile blocks ("forward", "reversed", "shuffled:SEED"). CUDA_ERROR_INVALID_VALUE
  /// for an unknown name or value.
  int (*configure)(const char* name, const char* value);
  /// Requests (1) or clears (0) cancellation of running and later launches. A cancelled launch fails with
  /// CUDA_ERROR_LAUNCH_FAILED, which no other cause has, and a report that begins with "cancelled"; on a created stream
  /// the next synchronisation reports it, once.
  void (*set_cancelled)(int cancelled);
  /// Copies the calling thread's last report (why its last failed call failed), cut to `capacity` and NUL-terminated;
  /// returns its full length without the NUL. A null buffer only asks for the length.
  std::size_t (*last_report)(char* buffer, std::size_t capacity);
  /// Number of launches finished since load, failed ones included, and nanoseconds the engine spent in them, summed
  /// over streams. Null pointers are skipped.
  void (*launch_totals)(std::uint64_t* launches, std::uint64_t* nanoseconds);
  /// Schedule for the next launch of the calling thread, consumed like its ranges; null takes it back.
  int (*set_launch_schedule)(const ScheduleRow* schedule);
  /// Lets launches of the calling thread that run within their call be cancelled alone: they poll `cancelled` in place
  /// of the device's own flag until the next call. Null goes back to that. The flag must live until then.
  void (*watch_cancelled)(const std::atomic<bool>* cancelled);
};

}  // namespace tilegym::cpu
