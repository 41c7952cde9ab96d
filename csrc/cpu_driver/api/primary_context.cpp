#include <mutex>
#include <new>

#include "cpu_driver/api/context.h"

namespace tilegym::cpu {
namespace {

/// The device's primary context: made by the first retain, ended by the last release.
struct Primary {
  std::mutex mutex;  ///< taken before driver_lock(); held while the context ends
  CUcontext handle = nullptr;
  unsigned retained = 0;
  unsigned flags = 0;
};

Primary& primary() noexcept {
  static auto& state = *new Primary;
  return state;
}

/// A fork while another thread ends the context leaves the mutex locked in the child, for good.
void renew_mutex() {
  new (&primary().mutex) std::mutex;
}
const bool registered = (on_forked_child(renew_mutex), true);

CUresult retain(CUcontext* out) {
  const std::scoped_lock lock(primary().mutex);
  if (out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the context is null");
  if (primary().retained == 0) {
    primary().handle = add_context(primary().flags, /*primary=*/true);
  }
  ++primary().retained;
  *out = primary().handle;
  return CUDA_SUCCESS;
}

CUresult release() {
  const std::scoped_lock lock(primary().mutex);
  if (primary().retained == 0) return fail(CUDA_ERROR_INVALID_CONTEXT, "the primary context is not retained");
  if (--primary().retained != 0) return CUDA_SUCCESS;
  end_resources(*contexts().find(primary().handle));
  contexts().erase(primary().handle);
  primary().handle = nullptr;
  return CUDA_SUCCESS;
}

CUresult reset() {
  const std::scoped_lock lock(primary().mutex);
  Context* context = contexts().find(primary().handle);
  if (context == nullptr) return CUDA_SUCCESS;
  end_resources(*context);
  context->clear_failure();
  return CUDA_SUCCESS;
}

CUresult get_state(unsigned* flags, int* active) noexcept {
  const std::scoped_lock lock(primary().mutex);
  if (flags != nullptr) *flags = primary().flags;
  if (active != nullptr) *active = primary().retained != 0 ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult set_flags(unsigned flags) noexcept {
  const std::scoped_lock lock(primary().mutex);
  primary().flags = flags;
  if (Context* context = contexts().find(primary().handle)) context->set_flags(flags);
  return CUDA_SUCCESS;
}

CUresult check_call(CUdevice device) noexcept {
  TILEGYM_CU_TRY(check_initialized());
  return check_device(device);
}

template <class Body>
CUresult primary_entry(const char* name, CUdevice device, Body body) noexcept {
  return entry(name, [&]() -> CUresult {
    TILEGYM_CU_TRY(check_call(device));
    return body();
  });
}

}  // namespace

CUresult borrow_primary_context(CUcontext& out) {
  static const CUcontext kept = [] {
    CUcontext context = nullptr;
    static_cast<void>(retain(&context));
    return context;
  }();
  // A reset leaves the context in place, so what was kept is still the primary one.
  out = kept;
  return CUDA_SUCCESS;
}

}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" {

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice device) {
  return primary_entry(__func__, device, [&] { return retain(out); });
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return primary_entry(__func__, device, release);
}

CUresult CUDAAPI cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return primary_entry(__func__, device, reset);
}

CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return primary_entry(__func__, device, [&] { return get_state(flags, active); });
}

CUresult CUDAAPI cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return primary_entry(__func__, device, [&] { return set_flags(flags); });
}

TILEGYM_CU_ALIAS(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2);
TILEGYM_CU_ALIAS(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2);
TILEGYM_CU_ALIAS(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2);

}  // extern "C"
