#include <array>
#include <string_view>

#include "cpu_driver/api/report.h"

namespace tilegym::cpu {
namespace {

using Address = void (*)();

struct DriverCall {
  std::string_view name;
  int since;
  Address legacy;
  Address per_thread;
};

const std::array kCalls{
#define DRIVER_CALL(name, symbol, since, per_thread) \
  DriverCall{#name, since, reinterpret_cast<Address>(symbol), reinterpret_cast<Address>(per_thread)},
#include "cpu_driver/api/driver_calls.def"
#undef DRIVER_CALL
};

struct Lookup {
  const DriverCall* call = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
};

/// The newest interface that a program of `version` knows.
Lookup find_call(std::string_view name, int version) noexcept {
  Lookup found;
  for (const DriverCall& call : kCalls) {
    if (call.name != name) continue;
    if (found.call == nullptr) found.status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    if (call.since > version || (found.call != nullptr && found.call->since > call.since)) continue;
    found = {&call, CU_GET_PROC_ADDRESS_SUCCESS};
  }
  return found;
}

CUresult get_address(const char* name, void** out, int version, cuuint64_t flags,
                     CUdriverProcAddressQueryResult* status) {
  constexpr cuuint64_t kKnown = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (name == nullptr || out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "an argument is null");
  *out = nullptr;
  if ((flags & ~kKnown) != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags: an unknown bit is set");
  const Lookup found = find_call(name, version);
  if (status != nullptr) *status = found.status;
  if (found.call == nullptr) return fail(CUDA_ERROR_NOT_FOUND, std::string(name) + " is not available");
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  *out = reinterpret_cast<void*>(per_thread ? found.call->per_thread : found.call->legacy);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" {

CUresult CUDAAPI cuGetProcAddress(const char* name, void** out, int version, cuuint64_t flags) {
  return entry(__func__, [&] { return get_address(name, out, version, flags, nullptr); });
}

CUresult CUDAAPI cuGetProcAddress_v2(const char* name, void** out, int version, cuuint64_t flags,
                                     CUdriverProcAddressQueryResult* status) {
  return entry(__func__, [&] { return get_address(name, out, version, flags, status); });
}

}  // extern "C"
