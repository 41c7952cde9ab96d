#include "cpu_driver/api/private_table.h"

#include <algorithm>
#include <cstring>

#include "cpu_driver/api/launch_ranges.h"
#include "cpu_driver/api/launch_schedule.h"
#include "cpu_driver/api/launch_totals.h"
#include "cpu_driver/api/options.h"

namespace tilegym::cpu {
namespace {

int set_launch_ranges(const RangeRow* rows, std::size_t count, const char* op) {
  return entry("set_launch_ranges", [&]() -> CUresult {
    if (rows == nullptr && count != 0) return fail(CUDA_ERROR_INVALID_VALUE, "the rows are null");
    return LaunchRanges::of_thread().set({rows, count}, op);
  });
}

int configure_option(const char* name, const char* value) {
  return entry("configure", [&]() -> CUresult {
    if (name == nullptr || value == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "an argument is null");
    return configure(name, value);
  });
}

void set_cancelled(int cancelled) {
  cancel_flag().store(cancelled != 0, std::memory_order_relaxed);
}

std::size_t copy_last_report(char* buffer, std::size_t capacity) {
  const std::string& text = last_report();
  if (buffer != nullptr && capacity != 0) {
    const std::size_t length = std::min(text.size(), capacity - 1);
    std::memcpy(buffer, text.data(), length);
    buffer[length] = '\0';
  }
  return text.size();
}

void copy_launch_totals(std::uint64_t* launches, std::uint64_t* nanoseconds) {
  const LaunchTotals totals = launch_totals();
  if (launches != nullptr) *launches = totals.launches;
  if (nanoseconds != nullptr) *nanoseconds = totals.nanoseconds;
}

int set_launch_schedule(const ScheduleRow* schedule) {
  return entry("set_launch_schedule", [&] { return set_next_schedule(schedule); });
}

constexpr PrivateTable kTable{sizeof(PrivateTable), set_launch_ranges,  configure_option,    set_cancelled,
                              copy_last_report,     copy_launch_totals, set_launch_schedule, watch_cancel_of_thread};

}  // namespace
}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" CUresult CUDAAPI cuGetExportTable(const void** out, const CUuuid* id) {
  return entry(__func__, [&]() -> CUresult {
    if (out == nullptr || id == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "an argument is null");
    *out = nullptr;
    if (std::memcmp(id->bytes, kPrivateTableId, sizeof(kPrivateTableId)) != 0) {
      return fail(CUDA_ERROR_NOT_FOUND, "the driver has no export table of this id");
    }
    *out = &kTable;
    return CUDA_SUCCESS;
  });
}
