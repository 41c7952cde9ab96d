#include "cpu_driver/api/stream.h"

#include <memory>
#include <mutex>
#include <utility>

namespace tilegym::cpu {
namespace {

CUresult create_stream(CUstream* out, unsigned flags) {
  Context* context = nullptr;
  TILEGYM_CU_TRY(current_context(context));
  if (out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the stream is null");
  if ((flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "flags: wanted CU_STREAM_DEFAULT or CU_STREAM_NON_BLOCKING");
  }
  *out = streams().insert(std::make_shared<Stream>(*context, flags));
  return CUDA_SUCCESS;
}

CUresult destroy_stream(CUstream handle) {
  TILEGYM_CU_TRY(check_initialized());
  const auto stream = streams().erase(handle);
  if (stream == nullptr) return fail(CUDA_ERROR_INVALID_HANDLE, "the stream handle is not live");
  stream->close();
  return CUDA_SUCCESS;
}

/// Waits for the lane's work: a created stream's own, for a default stream that of the streams it joins.
CUresult synchronize(CUstream handle) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(handle, lane));
  TILEGYM_CU_TRY(check_may_wait());
  if (lane.stream == nullptr) {
    TILEGYM_CU_TRY(join_default_stream(*lane.context));
  } else {
    lane.stream->wait();
  }
  return lane.context->take_failure();
}

CUresult query(CUstream handle) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(handle, lane));
  const bool busy = lane.stream == nullptr ? lane.context->blocking_tasks != 0 : !lane.stream->idle();
  return busy ? CUDA_ERROR_NOT_READY : lane.context->take_failure();
}

CUresult wait_for_event(CUstream handle, CUevent event) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(handle, lane));
  std::shared_ptr<EventRecord> record;
  TILEGYM_CU_TRY(latest_record(event, record));
  if (record == nullptr || record->done()) return CUDA_SUCCESS;
  return run_in(lane, [record = std::move(record)] { return record->wait(), Failure{}; });
}

CUresult run_host_function(CUstream handle, CUhostFn function, void* data) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(handle, lane));
  if (function == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the host function is null");
  return run_in(lane, [=] { return function(data), Failure{}; });
}

CUresult context_of(CUstream handle, CUcontext* out) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(handle, lane));
  return give(out, lane.context->handle());
}

}  // namespace
}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" {

CUresult CUDAAPI cuStreamCreate(CUstream* out, unsigned flags) {
  return entry(__func__, [&] { return create_stream(out, flags); });
}

// The device has no priorities; as on a GPU without them, every request is clamped to the one there is.
CUresult CUDAAPI cuStreamCreateWithPriority(CUstream* out, unsigned flags, int) {
  return entry(__func__, [&] { return create_stream(out, flags); });
}

CUresult CUDAAPI cuStreamDestroy_v2(CUstream stream) {
  return entry(__func__, [&] { return destroy_stream(stream); });
}

CUresult CUDAAPI cuStreamSynchronize(CUstream stream) {
  return entry(__func__, [&] { return synchronize(stream); });
}

CUresult CUDAAPI cuStreamQuery(CUstream stream) {
  return entry(__func__, [&] { return query(stream); });
}

CUresult CUDAAPI cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  return entry(__func__, [&] { return wait_for_event(stream, event); });
}

CUresult CUDAAPI cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return entry(__func__, [&] { return run_host_function(stream, function, data); });
}

CUresult CUDAAPI cuLaunchHostFunc_v2(CUstream stream, CUhostFn function, void* data, unsigned) {
  return entry(__func__, [&] { return run_host_function(stream, function, data); });
}

CUresult CUDAAPI cuStreamGetCtx(CUstream stream, CUcontext* out) {
  return entry(__func__, [&] { return context_of(stream, out); });
}

// Green contexts do not exist here, which the API tells by a null handle.
CUresult CUDAAPI cuStreamGetCtx_v2(CUstream stream, CUcontext* out, CUgreenCtx* green) {
  return entry(__func__, [&]() -> CUresult {
    TILEGYM_CU_TRY(give(green, CUgreenCtx{}));
    return context_of(stream, out);
  });
}

CUresult CUDAAPI cuStreamGetFlags(CUstream stream, unsigned* out) {
  return entry(__func__, [&]() -> CUresult {
    Lane lane;
    TILEGYM_CU_TRY(find_lane(stream, lane));
    return give(out, lane.stream == nullptr ? unsigned{CU_STREAM_DEFAULT} : lane.stream->flags());
  });
}

CUresult CUDAAPI cuStreamGetPriority(CUstream stream, int* out) {
  return entry(__func__, [&]() -> CUresult {
    Lane lane;
    TILEGYM_CU_TRY(find_lane(stream, lane));
    return give(out, 0);
  });
}

CUresult CUDAAPI cuStreamGetId(CUstream stream, unsigned long long* out) {
  return entry(__func__, [&]() -> CUresult {
    Lane lane;
    TILEGYM_CU_TRY(find_lane(stream, lane));
    const std::uint64_t default_id = stream == CU_STREAM_PER_THREAD ? 2 : 1;
    return give(out, static_cast<unsigned long long>(lane.stream == nullptr ? default_id : lane.stream->id()));
  });
}

CUresult CUDAAPI cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* out) {
  return entry(__func__, [&]() -> CUresult {
    Lane lane;
    TILEGYM_CU_TRY(find_lane(stream, lane));
    return give(out, CU_STREAM_CAPTURE_STATUS_NONE);
  });
}

CUresult CUDAAPI cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode) {
  return entry(__func__, [] {
    return fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the CPU device does not capture graphs; launch directly");
  });
}

CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return entry(__func__, [&]() -> CUresult {
    thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (mode == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer to the mode is null");
    if (*mode > CU_STREAM_CAPTURE_MODE_RELAXED) return fail(CUDA_ERROR_INVALID_VALUE, "the capture mode is unknown");
    std::swap(*mode, current);
    return CUDA_SUCCESS;
  });
}

TILEGYM_CU_ALIAS(cuStreamDestroy, cuStreamDestroy_v2);
TILEGYM_CU_ALIAS(cuStreamSynchronize_ptsz, cuStreamSynchronize);
TILEGYM_CU_ALIAS(cuStreamQuery_ptsz, cuStreamQuery);
TILEGYM_CU_ALIAS(cuStreamWaitEvent_ptsz, cuStreamWaitEvent);
TILEGYM_CU_ALIAS(cuStreamGetCtx_ptsz, cuStreamGetCtx);
TILEGYM_CU_ALIAS(cuStreamGetCtx_v2_ptsz, cuStreamGetCtx_v2);
TILEGYM_CU_ALIAS(cuStreamGetFlags_ptsz, cuStreamGetFlags);
TILEGYM_CU_ALIAS(cuStreamGetPriority_ptsz, cuStreamGetPriority);
TILEGYM_CU_ALIAS(cuStreamGetId_ptsz, cuStreamGetId);
TILEGYM_CU_ALIAS(cuStreamIsCapturing_ptsz, cuStreamIsCapturing);
TILEGYM_CU_ALIAS(cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture_v2);
TILEGYM_CU_ALIAS(cuLaunchHostFunc_ptsz, cuLaunchHostFunc);
TILEGYM_CU_ALIAS(cuLaunchHostFunc_v2_ptsz, cuLaunchHostFunc_v2);

}  // extern "C"
