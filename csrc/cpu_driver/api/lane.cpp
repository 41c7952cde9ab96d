#include <utility>

#include "cpu_driver/api/stream.h"

namespace tilegym::cpu {
namespace {

bool names_default_stream(CUstream handle) noexcept {
  return handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
}

}  // namespace

CUresult find_lane(CUstream handle, Lane& lane) noexcept {
  TILEGYM_CU_TRY(current_context(lane.context));
  if (names_default_stream(handle)) return CUDA_SUCCESS;
  lane.stream = streams().find(handle);
  if (lane.stream == nullptr) return fail(CUDA_ERROR_INVALID_HANDLE, "the stream handle is not live");
  lane.context = &lane.stream->context();
  return lane.context->check();
}

// The per-thread default stream need not wait for the created ones, yet may: it only gains order.
CUresult join_default_stream(Context& context) {
  if (context.blocking_tasks.load(std::memory_order_acquire) == 0) return CUDA_SUCCESS;
  TILEGYM_CU_TRY(check_may_wait());
  for (const auto& stream : streams_of(context)) {
    if (stream->blocking()) stream->wait();
  }
  return context.check();
}

CUresult run_in(const Lane& lane, std::function<Failure()> work) {
  if (lane.stream != nullptr) {
    lane.stream->submit({std::move(work), nullptr});
    return CUDA_SUCCESS;
  }
  TILEGYM_CU_TRY(join_default_stream(*lane.context));
  const Failure failure = work();
  return failure.code == CUDA_SUCCESS ? CUDA_SUCCESS : report(failure.code, failure.report);
}

CUresult record_in(const Lane& lane, std::shared_ptr<EventRecord> record) {
  if (lane.stream != nullptr) {
    lane.stream->submit({nullptr, std::move(record)});
    return CUDA_SUCCESS;
  }
  const CUresult joined = join_default_stream(*lane.context);
  record->complete();
  return joined;
}

}  // namespace tilegym::cpu
