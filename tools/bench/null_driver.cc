// A driver that does nothing and says so at once: what is left of a launch is the cost of asking for it. It stands in
// for the CPU device's driver, so it has that one's private table. cutile's own loader is not involved.
#include <cstring>
#include <ctime>

#include "cpu_driver/api/private_table.h"
#include "runtime/kernel_abi.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using Handle = void*;

thread_local Handle current = nullptr;
int context = 0;
int module_handle = 0;
int function = 0;

int set_launch_ranges(const tilegym::cpu::RangeRow*, std::size_t, const char*) {
  return 0;
}
int configure(const char*, const char*) {
  return 0;
}
void set_cancelled(int) {}
std::size_t last_report(char* buffer, std::size_t capacity) {
  if (buffer != nullptr && capacity != 0) *buffer = '\0';
  return 0;
}
void launch_totals(std::uint64_t* launches, std::uint64_t* nanoseconds) {
  *launches = *nanoseconds = 0;
}
int set_launch_schedule(const tilegym::cpu::ScheduleRow*) {
  return 0;
}
void watch_cancelled(const std::atomic<bool>*) {}

constexpr tilegym::cpu::PrivateTable kTable{sizeof(kTable), set_launch_ranges, configure,           set_cancelled,
                                            last_report,    launch_totals,     set_launch_schedule, watch_cancelled};

}  // namespace

EXPORT int cuInit(unsigned) {
  return 0;
}
EXPORT int cuDeviceGetCount(int* count) {
  return *count = 1, 0;
}
EXPORT int cuDeviceGet(int* device, int) {
  return *device = 0;
}
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int kMultiprocessorCount = 16;
  constexpr int kCapabilityMajor = 75;
  *value = attribute == kMultiprocessorCount ? 132 : attribute == kCapabilityMajor ? 9 : 0;
  return 0;
}
EXPORT int cuDevicePrimaryCtxRetain(Handle* out, int) {
  return *out = &context, 0;
}
EXPORT int cuCtxGetCurrent(Handle* out) {
  return *out = current, 0;
}
EXPORT int cuCtxSetCurrent(Handle wanted) {
  return current = wanted, 0;
}
EXPORT int cuModuleLoadData(Handle* out, const void*) {
  return *out = &module_handle, 0;
}
EXPORT int cuModuleGetFunction(Handle* out, Handle, const char*) {
  return *out = &function, 0;
}
EXPORT int cuLaunchKernel(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**,
                          void**) {
  return 0;
}
EXPORT int cuGetExportTable(const void** table, const void* id) {
  if (std::memcmp(id, tilegym::cpu::kPrivateTableId, sizeof(tilegym::cpu::kPrivateTableId)) != 0) return 500;
  return *table = &kTable, 0;
}

/// Nanoseconds of the calling thread's processor time that `calls` packed calls of an op take, or -1 where one fails.
EXPORT long long time_packed_calls(tilegym::runtime::PackedFn op, const tilegym::runtime::Arg* arguments,
                                   std::size_t count, long long calls) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
  };
  const long long start = now();
  for (long long i = 0; i < calls; ++i) {
    if (op(arguments, count) != 0) return -1;
  }
  return now() - start;
}
