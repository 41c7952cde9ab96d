#include "cpu_driver/api/stream.h"

#include <memory>
#include <mutex>
#include <utility>

#include "cpu_driver/api/capture.h"
#include "cpu_driver/api/memory.h"

namespace tilegym::cpu {
namespace {

/// Streams count from above it.
constexpr std::uint64_t kLegacyStreamId = 1;

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
  abandon_capture(*stream);
  stream->close();
  return CUDA_SUCCESS;
}

/// Waits for the lane's work: a stream's own, for the legacy default stream that of the streams it joins.
CUresult synchronize(CUstream handle) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(handle, lane));
  TILEGYM_CU_TRY(check_may_wait());
  TILEGYM_CU_TRY(check_not_capturing(lane.stream));
  if (lane.stream != nullptr) return settle(lane);
  TILEGYM_CU_TRY(join_default_stream(*lane.context));
  return lane.context->take_failure();
}

CUresult query(CUstream handle) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(handle, lane));
  TILEGYM_CU_TRY(check_not_capturing(lane.stream));
  const bool busy = lane.stream == nullptr ? lane.context->blocking_tasks != 0 : !lane.stream->idle();
  return busy ? CUDA_ERROR_NOT_READY : lane.context->take_failure();
}

CUresult wait_for_event(CUstream handle, CUevent name, unsigned flags) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(handle, lane));
  if (flags > CU_EVENT_WAIT_EXTERNAL) return fail(CUDA_ERROR_INVALID_VALUE, "flags: an unknown bit is set");
  const auto event = events().share(name);
  if (event == nullptr) return fail(CUDA_ERROR_INVALID_HANDLE, "the event handle is not live");
  const bool capturing = lane.stream != nullptr && lane.stream->capturing.load(std::memory_order_acquire);
  if (flags == CU_EVENT_WAIT_EXTERNAL) {
    return capturing ? capture_operation(*lane.stream, EventWait{event})
                     : fail(CUDA_ERROR_INVALID_VALUE, "CU_EVENT_WAIT_EXTERNAL: the stream is not capturing");
  }
  if (lane.stream != nullptr && (capturing || event->captured.load(std::memory_order_acquire))) {
    return capture_event_wait(*lane.stream, *event);
  }
  std::shared_ptr<EventRecord> record;
  TILEGYM_CU_TRY(latest_record(name, record));
  if (record == nullptr || record->done()) return CUDA_SUCCESS;
  return run_in(lane, [record = std::move(record)] { return record->wait(), Failure{}; });
}

CUresult run_host_function(CUstream handle, CUhostFn function, void* data) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(handle, lane));
  if (function == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the host function is null");
  return issue(lane, HostCall{function, data});
}

/// Which stream a piece of managed memory belongs to has no meaning where host and device share all memory.
CUresult attach(CUstream handle, CUdeviceptr address, unsigned flags) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(handle, lane));
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE) {
    return fail(CUDA_ERROR_INVALID_VALUE, "flags: wanted one of the CU_MEM_ATTACH values");
  }
  return check_managed(address, 1);
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

CUresult CUDAAPI cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return entry(__func__, [&] { return wait_for_event(stream, event, flags); });
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
    return give(out, static_cast<unsigned long long>(lane.stream == nullptr ? kLegacyStreamId : lane.stream->id()));
  });
}

CUresult CUDAAPI cuStreamGetDevice(CUstream stream, CUdevice* out) {
  return entry(__func__, [&]() -> CUresult {
    Lane lane;
    TILEGYM_CU_TRY(find_lane(stream, lane));
    return give(out, CUdevice{0});
  });
}

CUresult CUDAAPI cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t, unsigned flags) {
  return entry(__func__, [&] { return attach(stream, address, flags); });
}

TILEGYM_CU_ALIAS(cuStreamDestroy, cuStreamDestroy_v2);

}  // extern "C"
