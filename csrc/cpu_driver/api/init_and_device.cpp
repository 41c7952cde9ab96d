#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>

#include "cpu_driver/api/context.h"
#include "cpu_driver/api/options.h"

namespace tilegym::cpu {
namespace {

std::atomic<bool> initialized{false};

/// f6a8c1de-3b52-4a0f-9c6e-2d5b7e10c9a4
constexpr std::array<unsigned char, 16> kDeviceUuid{0xf6, 0xa8, 0xc1, 0xde, 0x3b, 0x52, 0x4a, 0x0f,
                                                    0x9c, 0x6e, 0x2d, 0x5b, 0x7e, 0x10, 0xc9, 0xa4};

CUresult check_query(CUdevice device) noexcept {
  TILEGYM_CU_TRY(check_initialized());
  return check_device(device);
}

CUresult device_name(char* out, int capacity, CUdevice device) {
  TILEGYM_CU_TRY(check_query(device));
  if (out == nullptr || capacity < 1) return fail(CUDA_ERROR_INVALID_VALUE, "the buffer for the name is empty");
  const std::string name = "tilegym CPU device (" + std::string(current_target().name) + " target)";
  const std::size_t length = std::min(name.size(), static_cast<std::size_t>(capacity) - 1);
  std::memcpy(out, name.data(), length);
  out[length] = '\0';
  return CUDA_SUCCESS;
}

CUresult device_uuid(CUuuid* out, CUdevice device) {
  TILEGYM_CU_TRY(check_query(device));
  CUuuid uuid{};
  std::memcpy(uuid.bytes, kDeviceUuid.data(), kDeviceUuid.size());
  return give(out, uuid);
}

CUresult attribute(int* out, CUdevice_attribute name, CUdevice device) {
  TILEGYM_CU_TRY(check_query(device));
  const auto value = device_attribute(current_target(), name);
  if (!value) {
    return fail(CUDA_ERROR_INVALID_VALUE, "device attribute " + std::to_string(name) + " is not available");
  }
  return give(out, *value);
}

}  // namespace

CUresult check_initialized() noexcept {
  if (initialized.load(std::memory_order_acquire)) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_NOT_INITIALIZED, "the driver is not initialized; call cuInit(0) first");
}

CUresult check_device(CUdevice device) noexcept {
  return device == 0 ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_DEVICE, "wanted 0, the only device");
}

}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" {

CUresult CUDAAPI cuInit(unsigned flags) {
  return entry(__func__, [&]() -> CUresult {
    if (flags != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags: wanted 0");
    if (initialized.load(std::memory_order_acquire)) return CUDA_SUCCESS;
    TILEGYM_CU_TRY(configure_from_environment());
    initialized.store(true, std::memory_order_release);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDriverGetVersion(int* out) {
  return entry(__func__, [&] { return give(out, CUDA_VERSION); });
}

CUresult CUDAAPI cuDeviceGetCount(int* out) {
  return entry(__func__, [&]() -> CUresult {
    TILEGYM_CU_TRY(check_initialized());
    return give(out, 1);
  });
}

CUresult CUDAAPI cuDeviceGet(CUdevice* out, int ordinal) {
  return entry(__func__, [&]() -> CUresult {
    TILEGYM_CU_TRY(check_query(ordinal));
    return give(out, CUdevice{0});
  });
}

CUresult CUDAAPI cuDeviceGetName(char* out, int capacity, CUdevice device) {
  return entry(__func__, [&] { return device_name(out, capacity, device); });
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid* out, CUdevice device) {
  return entry(__func__, [&] { return device_uuid(out, device); });
}

CUresult CUDAAPI cuDeviceGetAttribute(int* out, CUdevice_attribute name, CUdevice device) {
  return entry(__func__, [&] { return attribute(out, name, device); });
}

CUresult CUDAAPI cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return entry(__func__, [&]() -> CUresult {
    TILEGYM_CU_TRY(check_query(device));
    TILEGYM_CU_TRY(give(major, current_target().major));
    return give(minor, current_target().minor);
  });
}

TILEGYM_CU_ALIAS(cuDeviceGetUuid_v2, cuDeviceGetUuid);

}  // extern "C"
