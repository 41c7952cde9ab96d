#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "cpu_driver/api/options.h"
#include "cpu_driver/api/stream.h"

namespace tilegym::cpu {

/// All streams with a worker, destroyed ones that still have work included. Never destroyed, as the workers may outlive
/// every static object.
class StreamRegistry {
 public:
  static StreamRegistry& get() noexcept {
    static auto& registry = *new StreamRegistry;
    return registry;
  }

  /// Called with driver_lock() held, as all members.
  void add(std::shared_ptr<Stream> stream) { live_.push_back(std::move(stream)); }
  void remove(const Stream& stream) {
    std::erase_if(live_, [&](const std::shared_ptr<Stream>& other) { return other.get() == &stream; });
  }
  [[nodiscard]] const std::vector<std::shared_ptr<Stream>>& live() const noexcept { return live_; }

  void begin_task() { ++running_; }
  void end_task() {
    if (--running_ == 0) idle_->notify_all();
  }

  /// Ends what runs, so that no kernel still works on memory that the exiting process takes down. Bounded: a host
  /// function may be stuck.
  void stop() {
    constexpr std::chrono::seconds kPatience{2};
    stopping_.store(true, std::memory_order_relaxed);
    const bool cancelled = cancel_flag().exchange(true, std::memory_order_relaxed);
    std::unique_lock lock(driver_lock());
    idle_->wait_for(lock, kPatience, [this] { return running_ == 0; });
    // Exit handlers that follow may still launch on the default stream.
    cancel_flag().store(cancelled, std::memory_order_relaxed);
  }
  [[nodiscard]] bool stopping() const noexcept { return stopping_.load(std::memory_order_relaxed); }

  static void renew_in_forked_child() {
    StreamRegistry& registry = get();
    registry.running_ = 0;
    static_cast<void>(registry.idle_.release());
    registry.idle_ = std::make_unique<std::condition_variable>();
    for (const auto& stream : registry.live_) stream->abandon_in_forked_child();
    registry.live_.clear();
  }

 private:
  std::vector<std::shared_ptr<Stream>> live_;
  int running_ = 0;
  std::unique_ptr<std::condition_variable> idle_ = std::make_unique<std::condition_variable>();
  std::atomic<bool> stopping_{false};
};

namespace {

struct StopAtExit {
  StopAtExit() = default;
  StopAtExit(const StopAtExit&) = delete;
  StopAtExit& operator=(const StopAtExit&) = delete;
  ~StopAtExit() { StreamRegistry::get().stop(); }
};

const bool registered = (on_forked_child(StreamRegistry::renew_in_forked_child), true);

std::uint64_t next_stream_id() noexcept {
  // 1 and 2 name the legacy and the per-thread default stream.
  static std::atomic<std::uint64_t> last{2};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

thread_local bool on_worker = false;

}  // namespace

Stream::Stream(Context& context, unsigned flags) : context_(context), flags_(flags), id_(next_stream_id()) {}

void Stream::submit(Task task) {
  const std::scoped_lock lock(driver_lock());
  if (!queue_->worker_started) start_worker();
  queue_->tasks.push_back(std::move(task));
  ++queue_->submitted;
  if (blocking()) context_.blocking_tasks.fetch_add(1, std::memory_order_relaxed);
  queue_->wake.notify_one();
}

void Stream::start_worker() {
  static const StopAtExit at_exit;
  std::thread([self = shared_from_this()] { self->work(); }).detach();
  queue_->worker_started = true;
  StreamRegistry::get().add(shared_from_this());
}

void Stream::work() {
  on_worker = true;
  std::unique_lock lock(driver_lock());
  for (;;) {
    queue_->wake.wait(lock, [this] { return !queue_->tasks.empty() || queue_->closed; });
    if (queue_->tasks.empty()) break;
    Task task = std::move(queue_->tasks.front());
    queue_->tasks.pop_front();
    queue_->running = task.completes;
    StreamRegistry::get().begin_task();
    lock.unlock();
    execute(task);
    task = {};
    lock.lock();
    finish_task();
  }
  StreamRegistry::get().remove(*this);
}

void Stream::execute(Task& task) noexcept {
  if (task.work && !context_.failed() && !StreamRegistry::get().stopping()) {
    Failure failure;
    const CUresult thrown = entry("stream", [&] { return failure = task.work(), CUDA_SUCCESS; });
    if (thrown != CUDA_SUCCESS) failure = {thrown, last_report()};
    if (failure.code != CUDA_SUCCESS) context_.record_failure(failure);
  }
  for (const auto& record : task.completes) record->complete();
}

void Stream::finish_task() noexcept {
  if (blocking()) context_.blocking_tasks.fetch_sub(1, std::memory_order_relaxed);
  queue_->running.clear();
  ++queue_->finished;
  queue_->progress.notify_all();
  StreamRegistry::get().end_task();
}

void Stream::wait() const {
  std::unique_lock lock(driver_lock());
  const std::uint64_t last = queue_->submitted;
  queue_->progress.wait(lock, [&] { return queue_->finished >= last; });
}

bool Stream::idle() const {
  const std::scoped_lock lock(driver_lock());
  return queue_->finished == queue_->submitted;
}

void Stream::close() {
  const std::scoped_lock lock(driver_lock());
  queue_->closed = true;
  queue_->wake.notify_one();
}

void Stream::abandon_in_forked_child() {
  const Queue& old = *queue_.release();
  queue_ = std::make_unique<Queue>();
  queue_->closed = old.closed;
  if (old.finished == old.submitted) return;
  for (const auto& record : old.running) record->complete();
  for (const Task& task : old.tasks) {
    for (const auto& record : task.completes) record->complete();
  }
  context_.blocking_tasks.store(0, std::memory_order_relaxed);
  context_.record_failure_locked(
      {CUDA_ERROR_LAUNCH_FAILED, "fork: work that the parent process had submitted does not run in the child"});
}

StreamTable& streams() noexcept {
  static auto& table = *new StreamTable;
  return table;
}

std::vector<std::shared_ptr<Stream>> streams_of(const Context& context) {
  const std::scoped_lock lock(driver_lock());
  std::vector<std::shared_ptr<Stream>> found;
  for (const auto& stream : StreamRegistry::get().live()) {
    if (&stream->context() == &context) found.push_back(stream);
  }
  return found;
}

CUresult check_may_wait() noexcept {
  return on_worker ? fail(CUDA_ERROR_NOT_PERMITTED, "host functions must not call the driver") : CUDA_SUCCESS;
}

}  // namespace tilegym::cpu
