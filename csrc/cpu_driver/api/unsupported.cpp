#include "cpu_driver/api/report.h"

// Calls that programs load at start-up and refuse to run without, whether or not they use them. What they stand for
// does not exist on the CPU device, so each one only says so.

using namespace tilegym::cpu;

#define UNSUPPORTED(name, what, ...)                                                                          \
  CUresult CUDAAPI name(__VA_ARGS__) {                                                                        \
    return entry(__func__,                                                                                    \
                 [] { return fail(CUDA_ERROR_NOT_SUPPORTED, what " are not available on the CPU device"); }); \
  }

extern "C" {

UNSUPPORTED(cuIpcGetMemHandle, "memory handles between processes", CUipcMemHandle*, CUdeviceptr)
UNSUPPORTED(cuIpcOpenMemHandle_v2, "memory handles between processes", CUdeviceptr*, CUipcMemHandle, unsigned)
UNSUPPORTED(cuIpcCloseMemHandle, "memory handles between processes", CUdeviceptr)
UNSUPPORTED(cuTensorMapEncodeTiled, "tensor maps", CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
            const cuuint64_t*, const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
            CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill)

TILEGYM_CU_ALIAS(cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2);

}  // extern "C"
