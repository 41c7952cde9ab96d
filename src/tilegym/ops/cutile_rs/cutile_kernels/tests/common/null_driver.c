// A driver that does nothing, at once: it counts calls, and notes what a launch was given.

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define MAX_NAMES 64
#define MAX_VALUES 64
#define MAX_RANGES 16

static struct { const char* name; int count; int status; } calls[MAX_NAMES];
static char layout[MAX_VALUES + 1];
static uint64_t values[MAX_VALUES];
static unsigned grid[3];
static void* stream;
static void* launch_context;
static __thread void* current;
static struct { uint64_t pointer, bytes; char name[32]; } ranges[MAX_RANGES];
static int range_count;
static unsigned capturing;
static char report[256];
static char image_head[16];

static int slot(const char* name) {
  static char busy;
  while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) {}
  int i = 0;
  while (calls[i].name && strcmp(calls[i].name, name) != 0) ++i;
  calls[i].name = name;
  __atomic_clear(&busy, __ATOMIC_RELEASE);
  return i;
}

static int called(const char* name) {
  const int i = slot(name);
  __atomic_add_fetch(&calls[i].count, 1, __ATOMIC_RELAXED);
  return calls[i].status;
}

EXPORT int null_count(const char* name) { return calls[slot(name)].count; }
EXPORT int null_total(void) {
  int total = 0;
  for (int i = 0; calls[i].name; ++i) total += calls[i].count;
  return total;
}
EXPORT void null_reset(void) {
  for (int i = 0; i < MAX_NAMES; ++i) calls[i].count = calls[i].status = 0;
  layout[0] = report[0] = 0;
  range_count = 0;
  capturing = 0;
}
EXPORT void null_set_capturing(unsigned status) { capturing = status; }
EXPORT void null_fail(const char* name, int status) { calls[slot(name)].status = status; }
EXPORT void null_set_report(const char* text) { snprintf(report, sizeof report, "%s", text); }
// 'p' an address, 'i' an int, 'l' a long, 'f' a float: how the next launch's parameters are read.
EXPORT void null_set_layout(const char* text) { snprintf(layout, sizeof layout, "%s", text); }
EXPORT uint64_t null_value(int i) { return values[i]; }
EXPORT unsigned null_grid(int axis) { return grid[axis]; }
EXPORT void* null_launch_context(void) { return launch_context; }
EXPORT void* null_stream(void) { return stream; }
EXPORT int null_range_count(void) { return range_count; }
EXPORT uint64_t null_range_pointer(int i) { return ranges[i].pointer; }
EXPORT uint64_t null_range_bytes(int i) { return ranges[i].bytes; }
EXPORT const char* null_range_name(int i) { return ranges[i].name; }
EXPORT void null_set_current(void* context) { current = context; }
EXPORT void* null_current(void) { return current; }

EXPORT int cuInit(unsigned flags) { (void)flags; return called("cuInit"); }
EXPORT int cuDeviceGetCount(int* count) { *count = 2; return called("cuDeviceGetCount"); }
EXPORT int cuDeviceGet(int* device, int ordinal) { *device = ordinal; return called("cuDeviceGet"); }
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? 9 : 0;
  return called("cuDeviceGetAttribute");
}
EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = (void*)(uintptr_t)(0x1000 + device);
  return called("cuDevicePrimaryCtxRetain");
}
EXPORT int cuCtxGetCurrent(void** context) { *context = current; return called("cuCtxGetCurrent"); }
EXPORT int cuCtxSetCurrent(void* context) { current = context; return called("cuCtxSetCurrent"); }
EXPORT int cuModuleLoadData(void** module, const void* image) {
  memcpy(image_head, image, 8);
  *module = (void*)0x2000;
  return called("cuModuleLoadData");
}
EXPORT int cuModuleGetFunction(void** function, void* module, const char* name) {
  (void)module;
  (void)name;
  *function = (void*)0x3000;
  return called("cuModuleGetFunction");
}
EXPORT int cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void* on, void** params, void** extra) {
  (void)function, (void)bx, (void)by, (void)bz, (void)shared, (void)extra;
  grid[0] = x, grid[1] = y, grid[2] = z, stream = on, launch_context = current;
  for (int i = 0; layout[i]; ++i) {
    const char kind = layout[i];
    values[i] = kind == 'i' || kind == 'f' ? *(const uint32_t*)params[i] : *(const uint64_t*)params[i];
  }
  return called("cuLaunchKernel");
}
EXPORT int cuThreadExchangeStreamCaptureMode(unsigned* mode) {
  static __thread unsigned own;
  const unsigned previous = own;
  own = *mode, *mode = previous;
  return called("cuThreadExchangeStreamCaptureMode");
}
EXPORT int cuStreamIsCapturing(void* on, unsigned* status) {
  (void)on;
  *status = capturing;
  return called("cuStreamIsCapturing");
}
EXPORT int cuStreamSynchronize(void* on) { (void)on; return called("cuStreamSynchronize"); }
EXPORT int cuCtxSynchronize(void) { return called("cuCtxSynchronize"); }
EXPORT int cuGetErrorName(int status, const char** text) { (void)status; *text = "CUDA_ERROR_NULL"; return 0; }

struct row { uint64_t pointer, bytes; const char* name; };
static int set_launch_ranges(const struct row* rows, size_t count, const char* op) {
  (void)op;
  range_count = (int)count;
  for (size_t i = 0; i < count; ++i) {
    ranges[i].pointer = rows[i].pointer, ranges[i].bytes = rows[i].bytes;
    snprintf(ranges[i].name, sizeof ranges[i].name, "%s", rows[i].name);
  }
  return called("set_launch_ranges");
}
static size_t last_report(char* buffer, size_t capacity) {
  return (size_t)snprintf(buffer, capacity, "%s", report);
}
static const struct { size_t size; void* functions[5]; } table = {
    sizeof table, {(void*)set_launch_ranges, NULL, NULL, (void*)last_report, NULL}};
EXPORT int cuGetExportTable(const void** out, const void* id) {
  static const unsigned char wanted[16] = {0x6d, 0x1f, 0x0a, 0x52, 0x8f, 0x0e, 0x4a, 0x83,
                                           0x9b, 0x60, 0x74, 0x69, 0x6c, 0x65, 0x67, 0x79};
  if (memcmp(id, wanted, sizeof wanted) != 0) return 500;
  *out = &table;
  return 0;
}
