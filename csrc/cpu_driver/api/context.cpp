#include "cpu_driver/api/context.h"

#include <memory>
#include <mutex>
#include <vector>

#include "common/thread_state.h"
#include "cpu_driver/api/capture.h"
#include "cpu_driver/api/event.h"
#include "cpu_driver/api/memory.h"
#include "cpu_driver/api/module.h"
#include "cpu_driver/api/stream.h"

namespace tilegym::cpu {
namespace {

struct ContextStack {
  std::vector<CUcontext> handles;
};

std::vector<CUcontext>& context_stack() {
  return ThreadState<ContextStack>::get().handles;
}

/// Context API version of the calls with a _v2 suffix, as real drivers report it.
constexpr unsigned kContextApiVersion = 3020;

CUresult find_context(CUcontext handle, Context*& context) noexcept {
  TILEGYM_CU_TRY(check_initialized());
  context = contexts().find(handle == nullptr ? current_handle() : handle);
  return context != nullptr ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_CONTEXT, "the context handle is not live");
}

CUresult create_context(CUcontext* out, unsigned flags, CUdevice device) {
  TILEGYM_CU_TRY(check_initialized());
  TILEGYM_CU_TRY(check_device(device));
  if (out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the context is null");
  context_stack().push_back(add_context(flags, /*primary=*/false));
  *out = context_stack().back();
  return CUDA_SUCCESS;
}

CUresult pop_context(CUcontext* out) noexcept {
  if (context_stack().empty()) return fail(CUDA_ERROR_INVALID_CONTEXT, "the thread has no current context");
  if (out != nullptr) *out = context_stack().back();
  context_stack().pop_back();
  return CUDA_SUCCESS;
}

CUresult destroy_context(CUcontext handle) {
  Context* found = contexts().find(handle);
  if (found == nullptr) return fail(CUDA_ERROR_INVALID_CONTEXT, "the context handle is not live");
  if (found->primary()) {
    return fail(CUDA_ERROR_INVALID_CONTEXT, "this is the primary context; wanted cuDevicePrimaryCtxRelease");
  }
  end_resources(*found);
  contexts().erase(handle);
  if (current_handle() == handle) context_stack().pop_back();
  return CUDA_SUCCESS;
}

CUresult device_of(CUcontext handle, CUdevice* out) {
  Context* context = nullptr;
  TILEGYM_CU_TRY(find_context(handle, context));
  return give(out, CUdevice{0});
}

CUresult synchronize(CUcontext handle) {
  Context* context = nullptr;
  TILEGYM_CU_TRY(find_context(handle, context));
  TILEGYM_CU_TRY(check_may_wait());
  TILEGYM_CU_TRY(check_no_capture());
  drain(*context);
  return context->take_failure();
}

}  // namespace

std::uint64_t Context::next_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void Context::record_failure(const Failure& failure) noexcept {
  const std::scoped_lock lock(driver_lock());
  record_failure_locked(failure);
}

void Context::record_failure_locked(const Failure& failure) noexcept {
  const bool cancellation = failure.code == CUDA_ERROR_LAUNCH_FAILED;
  std::atomic<bool>& flag = cancellation ? cancelled_ : failed_;
  if (flag.load(std::memory_order_relaxed)) return;
  (cancellation ? cancellation_ : failure_) = failure;
  flag.store(true, std::memory_order_release);
}

CUresult Context::check() const noexcept {
  return failed() ? report(failure_.code, failure_.report) : CUDA_SUCCESS;
}

CUresult Context::take_failure() noexcept {
  TILEGYM_CU_TRY(check());
  if (!cancelled_.load(std::memory_order_acquire)) return CUDA_SUCCESS;
  const std::scoped_lock lock(driver_lock());
  cancelled_.store(false, std::memory_order_relaxed);
  return report(cancellation_.code, cancellation_.report);
}

void Context::clear_failure() noexcept {
  failed_.store(false, std::memory_order_release);
  cancelled_.store(false, std::memory_order_release);
}

ContextTable& contexts() noexcept {
  static auto& table = *new ContextTable;
  return table;
}

CUcontext add_context(unsigned flags, bool primary) {
  const auto context = std::make_shared<Context>(flags, primary);
  return context->handle_ = contexts().insert(context);
}

CUcontext current_handle() noexcept {
  return context_stack().empty() ? nullptr : context_stack().back();
}

CUresult current_context(Context*& context) noexcept {
  TILEGYM_CU_TRY(check_initialized());
  const CUcontext handle = current_handle();
  if (handle == nullptr) return fail(CUDA_ERROR_INVALID_CONTEXT, "the thread has no current context");
  context = contexts().find(handle);
  if (context == nullptr) return fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the current context is destroyed");
  return context->check();
}

void drain(const Context& context) {
  for (const auto& stream : streams_of(context)) stream->wait();
}

void end_resources(const Context& context) {
  const auto closed = streams().erase_if([&](const Stream& stream) { return &stream.context() == &context; });
  for (const auto& stream : closed) {
    abandon_capture(*stream);
    stream->close();
  }
  drain(context);
  events().erase_if([&](const Event& event) { return event.context == &context; });
  unload_modules_of(context);
  free_allocations_of(context);
}

}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" {

CUresult CUDAAPI cuCtxCreate(CUcontext* out, unsigned flags, CUdevice device) {
  return entry(__func__, [&] { return create_context(out, flags, device); });
}

CUresult CUDAAPI cuCtxCreate_v3(CUcontext* out, CUexecAffinityParam* affinity, int, unsigned flags, CUdevice device) {
  return entry(__func__, [&] {
    if (affinity != nullptr) return fail(CUDA_ERROR_NOT_SUPPORTED, "execution affinity is not available");
    return create_context(out, flags, device);
  });
}

CUresult CUDAAPI cuCtxCreate_v4(CUcontext* out, CUctxCreateParams* params, unsigned flags, CUdevice device) {
  return entry(__func__, [&] {
    if (params != nullptr && (params->execAffinityParams != nullptr || params->cigParams != nullptr)) {
      return fail(CUDA_ERROR_NOT_SUPPORTED, "execution affinity and graphics interoperation are not available");
    }
    return create_context(out, flags, device);
  });
}

CUresult CUDAAPI cuCtxDestroy_v2(CUcontext handle) {
  return entry(__func__, [&] { return destroy_context(handle); });
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext handle) {
  return entry(__func__, [&]() -> CUresult {
    TILEGYM_CU_TRY(check_initialized());
    if (handle != nullptr && contexts().find(handle) == nullptr) {
      return fail(CUDA_ERROR_INVALID_CONTEXT, "the context handle is not live");
    }
    if (!context_stack().empty()) context_stack().pop_back();
    if (handle != nullptr) context_stack().push_back(handle);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext* out) {
  return entry(__func__, [&]() -> CUresult {
    TILEGYM_CU_TRY(check_initialized());
    return give(out, current_handle());
  });
}

CUresult CUDAAPI cuCtxPushCurrent_v2(CUcontext handle) {
  return entry(__func__, [&]() -> CUresult {
    TILEGYM_CU_TRY(check_initialized());
    if (contexts().find(handle) == nullptr) return fail(CUDA_ERROR_INVALID_CONTEXT, "the context handle is not live");
    context_stack().push_back(handle);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxPopCurrent_v2(CUcontext* out) {
  return entry(__func__, [&] { return pop_context(out); });
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice* out) {
  return entry(__func__, [&] { return device_of(nullptr, out); });
}

CUresult CUDAAPI cuCtxGetDevice_v2(CUdevice* out, CUcontext handle) {
  return entry(__func__, [&] { return device_of(handle, out); });
}

CUresult CUDAAPI cuCtxGetFlags(unsigned* out) {
  return entry(__func__, [&]() -> CUresult {
    Context* context = nullptr;
    TILEGYM_CU_TRY(find_context(nullptr, context));
    return give(out, context->flags());
  });
}

CUresult CUDAAPI cuCtxSetFlags(unsigned flags) {
  return entry(__func__, [&]() -> CUresult {
    Context* context = nullptr;
    TILEGYM_CU_TRY(find_context(nullptr, context));
    if ((flags & ~unsigned{CU_CTX_FLAGS_MASK}) != 0)
      return fail(CUDA_ERROR_INVALID_VALUE, "flags: an unknown bit is set");
    context->set_flags(flags);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxGetId(CUcontext handle, unsigned long long* out) {
  return entry(__func__, [&]() -> CUresult {
    Context* context = nullptr;
    TILEGYM_CU_TRY(find_context(handle, context));
    return give(out, static_cast<unsigned long long>(context->id()));
  });
}

CUresult CUDAAPI cuCtxGetApiVersion(CUcontext handle, unsigned* out) {
  return entry(__func__, [&]() -> CUresult {
    Context* context = nullptr;
    TILEGYM_CU_TRY(find_context(handle, context));
    return give(out, kContextApiVersion);
  });
}

CUresult CUDAAPI cuCtxSynchronize() {
  return entry(__func__, [&] { return synchronize(nullptr); });
}

CUresult CUDAAPI cuCtxSynchronize_v2(CUcontext handle) {
  return entry(__func__, [&] { return synchronize(handle); });
}

CUresult CUDAAPI cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return entry(__func__, [&]() -> CUresult {
    Context* context = nullptr;
    TILEGYM_CU_TRY(find_context(nullptr, context));
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = 0;
    return CUDA_SUCCESS;
  });
}

TILEGYM_CU_ALIAS(cuCtxCreate_v2, cuCtxCreate);
TILEGYM_CU_ALIAS(cuCtxDestroy, cuCtxDestroy_v2);
TILEGYM_CU_ALIAS(cuCtxPushCurrent, cuCtxPushCurrent_v2);
TILEGYM_CU_ALIAS(cuCtxPopCurrent, cuCtxPopCurrent_v2);

}  // extern "C"
