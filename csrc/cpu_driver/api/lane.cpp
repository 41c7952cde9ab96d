#include <utility>

#include "common/thread_state.h"
#include "cpu_driver/api/capture.h"
#include "cpu_driver/api/stream.h"

namespace tilegym::cpu {
namespace {

bool names_legacy_stream(CUstream handle) noexcept {
  return handle == nullptr || handle == CU_STREAM_LEGACY;
}

/// The calling thread's default streams, one a context. They end with the thread, their work does not.
class ThreadStreams {
 public:
  ThreadStreams() = default;
  ThreadStreams(const ThreadStreams&) = delete;
  ThreadStreams& operator=(const ThreadStreams&) = delete;
  ~ThreadStreams() {
    for (const CUstream handle : handles_) {
      const auto stream = streams().erase(handle);
      if (stream == nullptr) continue;
      abandon_capture(*stream);
      stream->close();
    }
  }

  Stream* of(Context& context) {
    for (const CUstream handle : handles_) {
      Stream* stream = streams().find(handle);
      if (stream != nullptr && &stream->context() == &context) return stream;
    }
    std::erase_if(handles_, [](CUstream handle) { return streams().find(handle) == nullptr; });
    return streams().find(
        handles_.emplace_back(streams().insert(std::make_shared<Stream>(context, CU_STREAM_DEFAULT))));
  }

 private:
  std::vector<CUstream> handles_;
};

Stream* thread_stream(Context& context) {
  return ThreadState<ThreadStreams>::get().of(context);
}

}  // namespace

CUresult find_lane(CUstream handle, Lane& lane) {
  TILEGYM_CU_TRY(current_context(lane.context));
  if (names_legacy_stream(handle)) return CUDA_SUCCESS;
  lane.stream = handle == CU_STREAM_PER_THREAD ? thread_stream(*lane.context) : streams().find(handle);
  if (lane.stream == nullptr) return fail(CUDA_ERROR_INVALID_HANDLE, "the stream handle is not live");
  lane.context = &lane.stream->context();
  return lane.context->check();
}

CUresult join_default_stream(Context& context) {
  TILEGYM_CU_TRY(check_legacy_stream(context));
  if (context.blocking_tasks.load(std::memory_order_acquire) == 0) return CUDA_SUCCESS;
  TILEGYM_CU_TRY(check_may_wait());
  for (const auto& stream : streams_of(context)) {
    if (stream->blocking()) stream->wait();
  }
  return context.check();
}

CUresult run_in(const Lane& lane, std::function<Failure()> work) {
  if (lane.stream != nullptr) {
    lane.stream->submit({std::move(work), {}});
    return CUDA_SUCCESS;
  }
  TILEGYM_CU_TRY(join_default_stream(*lane.context));
  const Failure failure = work();
  return failure.code == CUDA_SUCCESS ? CUDA_SUCCESS : report(failure.code, failure.report);
}

CUresult issue(const Lane& lane, Operation operation) {
  if (lane.stream != nullptr && lane.stream->capturing.load(std::memory_order_acquire)) {
    return capture_operation(*lane.stream, std::move(operation));
  }
  return run_in(lane, [operation = std::move(operation)] { return execute(operation); });
}

CUresult settle(const Lane& lane) {
  if (lane.stream == nullptr || lane.stream->capturing.load(std::memory_order_acquire)) return CUDA_SUCCESS;
  TILEGYM_CU_TRY(check_may_wait());
  lane.stream->wait();
  return lane.context->take_failure();
}

CUresult record_in(const Lane& lane, std::shared_ptr<EventRecord> record) {
  if (lane.stream != nullptr) {
    lane.stream->submit({nullptr, {std::move(record)}});
    return CUDA_SUCCESS;
  }
  const CUresult joined = join_default_stream(*lane.context);
  record->complete();
  return joined;
}

}  // namespace tilegym::cpu
