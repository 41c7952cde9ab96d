#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "cpu_driver/api/context.h"
#include "cpu_driver/api/event.h"
#include "cpu_driver/api/operation.h"

namespace tilegym::cpu {

/// One step of a stream. `work` is skipped once the context has failed; the records are completed in any case, so that
/// nobody waits for ever.
struct Task {
  std::function<Failure()> work;
  std::vector<std::shared_ptr<EventRecord>> completes;
};

/// A created stream: tasks run in order on one worker thread, which starts with the first task. All members may be
/// called from any thread.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  static constexpr std::uintptr_t kHandleKind = 2;

  Stream(Context& context, unsigned flags);

  [[nodiscard]] Context& context() const noexcept { return context_; }
  [[nodiscard]] unsigned flags() const noexcept { return flags_; }
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  /// Whether the legacy default stream waits for this stream.
  [[nodiscard]] bool blocking() const noexcept { return (flags_ & CU_STREAM_NON_BLOCKING) == 0; }

  void submit(Task task);
  /// Waits until every task submitted so far is done.
  void wait() const;
  [[nodiscard]] bool idle() const;
  /// Takes no further task; the worker ends when the queue is empty.
  void close();

  std::atomic<bool> capturing{false};                ///< whether operations become nodes of a graph
  std::shared_ptr<Capture> capture;                  ///< guarded by graph_lock()
  std::vector<std::shared_ptr<GraphNode>> frontier;  ///< nodes that the next one comes after; guarded by graph_lock()

 private:
  friend class StreamRegistry;

  /// Everything here is guarded by driver_lock(). Replaced as a whole in a forked child, whose copy of the condition
  /// variables still counts waiters that did not survive the fork.
  struct Queue {
    std::condition_variable wake;
    std::condition_variable progress;
    std::deque<Task> tasks;
    std::vector<std::shared_ptr<EventRecord>> running;  ///< records of the task that the worker has in hand
    std::uint64_t submitted = 0;
    std::uint64_t finished = 0;
    bool worker_started = false;
    bool closed = false;
  };

  void start_worker();
  void work();
  void execute(Task& task) noexcept;
  void finish_task() noexcept;
  void abandon_in_forked_child();

  Context& context_;
  const unsigned flags_;
  const std::uint64_t id_;
  std::unique_ptr<Queue> queue_ = std::make_unique<Queue>();
};

using StreamTable = HandleTable<Stream, CUstream>;
[[nodiscard]] StreamTable& streams() noexcept;
/// Streams of the context with a worker, destroyed ones that still have work included.
[[nodiscard]] std::vector<std::shared_ptr<Stream>> streams_of(const Context& context);

/// Where work goes: a stream, or, for the legacy default stream (stream null), the calling thread. The per-thread
/// default stream is a stream of the calling thread.
struct Lane {
  Context* context = nullptr;
  Stream* stream = nullptr;
};
CUresult find_lane(CUstream handle, Lane& lane);
/// Lets the legacy default stream's work start: waits for the blocking streams of its context.
CUresult join_default_stream(Context& context);
/// Runs `work` at its place in the lane's order. On the calling thread its failure is the call's and lasts no longer.
CUresult run_in(const Lane& lane, std::function<Failure()> work);
/// The same for an operation, which on a capturing stream becomes a node of the capture's graph.
CUresult issue(const Lane& lane, Operation operation);
/// Waits for what the lane was given so far; nothing to do for the legacy default stream.
CUresult settle(const Lane& lane);
/// Completes `record` at its place in the lane's order.
CUresult record_in(const Lane& lane, std::shared_ptr<EventRecord> record);

/// CUDA_ERROR_NOT_PERMITTED on a stream's worker: a host function that waits for its own stream would wait for ever.
[[nodiscard]] CUresult check_may_wait() noexcept;

}  // namespace tilegym::cpu
