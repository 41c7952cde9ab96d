#include "cpu_driver/api/event.h"

#include <memory>
#include <mutex>
#include <utility>

#include "cpu_driver/api/capture.h"

namespace tilegym::cpu {
namespace {

constexpr unsigned kKnownFlags = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;

CUresult create_event(CUevent* out, unsigned flags) {
  Context* context = nullptr;
  TILEGYM_CU_TRY(current_context(context));
  if (out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the event is null");
  if ((flags & ~kKnownFlags) != 0) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "flags: wanted CU_EVENT_BLOCKING_SYNC or CU_EVENT_DISABLE_TIMING, or none");
  }
  auto event = std::make_shared<Event>();
  event->context = context;
  event->timed = (flags & CU_EVENT_DISABLE_TIMING) == 0;
  *out = events().insert(std::move(event));
  return CUDA_SUCCESS;
}

CUresult find_event(CUevent handle, std::shared_ptr<Event>& event) {
  TILEGYM_CU_TRY(check_initialized());
  event = events().share(handle);
  return event != nullptr ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_HANDLE, "the event handle is not live");
}

CUresult record_event(CUevent handle, CUstream stream, unsigned flags) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(stream, lane));
  std::shared_ptr<Event> event;
  TILEGYM_CU_TRY(find_event(handle, event));
  if (flags > CU_EVENT_RECORD_EXTERNAL) return fail(CUDA_ERROR_INVALID_VALUE, "flags: an unknown bit is set");
  const bool capturing = lane.stream != nullptr && lane.stream->capturing.load(std::memory_order_acquire);
  if (flags == CU_EVENT_RECORD_EXTERNAL) {
    return capturing ? capture_operation(*lane.stream, EventRecording{std::move(event)})
                     : fail(CUDA_ERROR_INVALID_VALUE, "CU_EVENT_RECORD_EXTERNAL: the stream is not capturing");
  }
  if (capturing) return capture_event_record(*lane.stream, *event);
  event->captured.store(false, std::memory_order_release);
  auto record = std::make_shared<EventRecord>();
  {
    const std::scoped_lock lock(driver_lock());
    event->latest = record;
  }
  return record_in(lane, std::move(record));
}

CUresult query_event(CUevent handle) {
  std::shared_ptr<Event> event;
  TILEGYM_CU_TRY(find_event(handle, event));
  std::shared_ptr<EventRecord> record;
  TILEGYM_CU_TRY(latest_record(handle, record));
  if (record != nullptr && !record->done()) return CUDA_ERROR_NOT_READY;
  return event->context->take_failure();
}

CUresult synchronize_event(CUevent handle) {
  std::shared_ptr<Event> event;
  TILEGYM_CU_TRY(find_event(handle, event));
  std::shared_ptr<EventRecord> record;
  TILEGYM_CU_TRY(latest_record(handle, record));
  TILEGYM_CU_TRY(check_may_wait());
  if (record != nullptr) record->wait();
  return event->context->take_failure();
}

/// A recorded, complete event with timing.
CUresult timed_record(CUevent handle, std::shared_ptr<EventRecord>& record) {
  std::shared_ptr<Event> event;
  TILEGYM_CU_TRY(find_event(handle, event));
  TILEGYM_CU_TRY(latest_record(handle, record));
  if (!event->timed) return fail(CUDA_ERROR_INVALID_HANDLE, "the event was created with CU_EVENT_DISABLE_TIMING");
  if (record == nullptr) return fail(CUDA_ERROR_INVALID_HANDLE, "the event was never recorded");
  return record->done() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult elapsed_time(float* out, CUevent start, CUevent end) {
  if (out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the time is null");
  std::shared_ptr<EventRecord> first;
  std::shared_ptr<EventRecord> last;
  TILEGYM_CU_TRY(timed_record(start, first));
  TILEGYM_CU_TRY(timed_record(end, last));
  *out = std::chrono::duration<float, std::milli>(last->time() - first->time()).count();
  return CUDA_SUCCESS;
}

}  // namespace

EventTable& events() noexcept {
  static auto& table = *new EventTable;
  return table;
}

CUresult latest_record(CUevent handle, std::shared_ptr<EventRecord>& record) {
  std::shared_ptr<Event> event;
  TILEGYM_CU_TRY(find_event(handle, event));
  if (event->captured.load(std::memory_order_acquire)) {
    return fail(CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a capture");
  }
  const std::scoped_lock lock(driver_lock());
  record = event->latest;
  return CUDA_SUCCESS;
}

}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" {

CUresult CUDAAPI cuEventCreate(CUevent* out, unsigned flags) {
  return entry(__func__, [&] { return create_event(out, flags); });
}

CUresult CUDAAPI cuEventDestroy_v2(CUevent event) {
  return entry(__func__, [&]() -> CUresult {
    TILEGYM_CU_TRY(check_initialized());
    return events().erase(event) != nullptr ? CUDA_SUCCESS
                                            : fail(CUDA_ERROR_INVALID_HANDLE, "the event handle is not live");
  });
}

CUresult CUDAAPI cuEventRecord(CUevent event, CUstream stream) {
  return entry(__func__, [&] { return record_event(event, stream, CU_EVENT_RECORD_DEFAULT); });
}

CUresult CUDAAPI cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return entry(__func__, [&] { return record_event(event, stream, flags); });
}

CUresult CUDAAPI cuEventQuery(CUevent event) {
  return entry(__func__, [&] { return query_event(event); });
}

CUresult CUDAAPI cuEventSynchronize(CUevent event) {
  return entry(__func__, [&] { return synchronize_event(event); });
}

CUresult CUDAAPI cuEventElapsedTime(float* out, CUevent start, CUevent end) {
  return entry(__func__, [&] { return elapsed_time(out, start, end); });
}

TILEGYM_CU_ALIAS(cuEventElapsedTime_v2, cuEventElapsedTime);
TILEGYM_CU_ALIAS(cuEventDestroy, cuEventDestroy_v2);

}  // extern "C"
