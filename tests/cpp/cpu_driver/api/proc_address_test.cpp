#include <string>

#include "cpu_driver/api/driver_test.h"

namespace tilegym::cpu::test {
namespace {

struct Found {
  CUresult code;
  void* address;
  CUdriverProcAddressQueryResult status;
};

Found look_up(const char* name, int version, cuuint64_t flags = CU_GET_PROC_ADDRESS_DEFAULT) {
  Found found{CUDA_SUCCESS, reinterpret_cast<void*>(1), CU_GET_PROC_ADDRESS_SUCCESS};
  found.code = cuGetProcAddress_v2(name, &found.address, version, flags, &found.status);
  return found;
}

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

TEST(ProcAddress, VersionChoosesTheInterface) {
  EXPECT_EQ(look_up("cuMemAlloc", 13000).address, address(cuMemAlloc_v2));
  EXPECT_EQ(look_up("cuCtxSynchronize", 12000).address, address(cuCtxSynchronize));
  EXPECT_EQ(look_up("cuCtxSynchronize", 13000).address, address(cuCtxSynchronize_v2));
  EXPECT_EQ(look_up("cuGetProcAddress", 11030).address, address(cuGetProcAddress));
}

TEST(ProcAddress, PerThreadFlagChoosesTheVariant) {
  EXPECT_EQ(look_up("cuLaunchKernel", 13000).address, address(cuLaunchKernel));
  EXPECT_EQ(look_up("cuLaunchKernel", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM).address,
            address(cuLaunchKernel_ptsz));
}

TEST(ProcAddress, TooOldVersionIsNotSufficient) {
  const Found found = look_up("cuLaunchKernelEx", 11050);
  EXPECT_EQ(found.code, CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(found.address, nullptr);
  EXPECT_EQ(found.status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}

TEST(ProcAddress, MissingCallIsNullAndNamedInTheReport) {
  for (const char* name : {"cuGraphDebugDotPrint", "cuTexObjectCreate", "cuMemAlloc_v2", "", "printf"}) {
    const Found found = look_up(name, 13000);
    EXPECT_EQ(found.code, CUDA_ERROR_NOT_FOUND) << name;
    EXPECT_EQ(found.address, nullptr) << name;
    EXPECT_EQ(found.status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND) << name;
    EXPECT_EQ(last_report(), "cuGetProcAddress_v2: " + std::string(name) + " is not available");
  }
}

TEST(ProcAddress, RefusedCallIsFoundAndSaysWhatIsMissing) {
  EXPECT_EQ(look_up("cuIpcGetMemHandle", 13000).address, address(cuIpcGetMemHandle));
  CUipcMemHandle handle{};
  EXPECT_EQ(cuIpcGetMemHandle(&handle, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(last_report(), "cuIpcGetMemHandle: memory handles between processes are not available on the CPU device");
}

TEST(ProcAddress, NullArgumentsAreRefused) {
  void* out = nullptr;
  EXPECT_EQ(cuGetProcAddress(nullptr, &out, 13000, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetProcAddress("cuInit", nullptr, 13000, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(ProcAddress, EveryRowIsFoundUnderItsOwnVersion) {
#define DRIVER_CALL(name, symbol, since, per_thread)                                                           \
  EXPECT_EQ(look_up(#name, since).address, address(symbol)) << #symbol;                                        \
  EXPECT_EQ(look_up(#name, since, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM).address, address(per_thread)) \
      << #symbol;
#include "cpu_driver/api/driver_calls.def"
#undef DRIVER_CALL
}

}  // namespace
}  // namespace tilegym::cpu::test
