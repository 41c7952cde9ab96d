#include "cpu_driver/api/capture.h"

#include <algorithm>
#include <set>

#include "common/thread_state.h"

namespace tilegym::cpu {
namespace {

/// Captures under way; the number for a quick look, the list guarded by graph_lock().
std::atomic<int> ongoing_count{0};
std::vector<std::shared_ptr<Capture>>& ongoing() noexcept {
  static auto& captures = *new std::vector<std::shared_ptr<Capture>>;
  return captures;
}

std::uint64_t next_capture_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void enter(Stream& stream, const std::shared_ptr<Capture>& capture, NodeList frontier) {
  capture->streams.push_back(stream.weak_from_this());
  stream.capture = capture;
  stream.frontier = std::move(frontier);
  stream.capturing.store(true, std::memory_order_release);
  if (stream.blocking()) stream.context().capturing_streams.fetch_add(1, std::memory_order_relaxed);
}

void leave(Stream& stream) {
  stream.capturing.store(false, std::memory_order_release);
  stream.capture.reset();
  stream.frontier.clear();
  if (stream.blocking()) stream.context().capturing_streams.fetch_sub(1, std::memory_order_relaxed);
}

/// Ends a capture: its streams take work again.
void finish(const std::shared_ptr<Capture>& capture) {
  for (const auto& weak : capture->streams) {
    const auto stream = weak.lock();
    if (stream != nullptr && stream->capture == capture) leave(*stream);
  }
  std::erase(ongoing(), capture);
  ongoing_count.store(static_cast<int>(ongoing().size()), std::memory_order_release);
}

CUresult invalidate(Capture& capture, CUresult code, const char* text) {
  capture.invalidated = true;
  return fail(code, text);
}

CUresult usable(const Stream& stream) {
  if (stream.capture == nullptr) return fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not capturing");
  if (!stream.capture->invalidated) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "an earlier call has made the capture invalid");
}

/// Whether every stream that joined was joined back: its last nodes come before the origin's.
bool all_joined(const Capture& capture, const Stream& origin) {
  std::set<const GraphNode*> reached;
  std::vector<const GraphNode*> open;
  for (const auto& node : origin.frontier) open.push_back(node.get());
  while (!open.empty()) {
    const GraphNode* node = open.back();
    open.pop_back();
    if (!reached.insert(node).second) continue;
    for (const auto& dependency : node->dependencies) open.push_back(dependency.get());
  }
  return std::all_of(capture.streams.begin(), capture.streams.end(), [&](const auto& weak) {
    const auto stream = weak.lock();
    return stream == nullptr || std::all_of(stream->frontier.begin(), stream->frontier.end(),
                                            [&](const auto& node) { return reached.contains(node.get()); });
  });
}

CUresult check_ending(const Stream& stream) {
  Capture& capture = *stream.capture;
  if (capture.streams.front().lock().get() != &stream) {
    return invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the capture began on another stream");
  }
  if (capture.mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture.thread != std::this_thread::get_id()) {
    return fail(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "the capture began on another thread");
  }
  return CUDA_SUCCESS;
}

CUresult find_capturable(CUstream handle, std::shared_ptr<Stream>& stream) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(handle, lane));
  if (lane.stream == nullptr) {
    return fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the legacy default stream cannot capture; create a stream");
  }
  stream = lane.stream->shared_from_this();
  return CUDA_SUCCESS;
}

CUresult begin(CUstream handle, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph,
               std::span<const CUgraphNode> dependencies) {
  std::shared_ptr<Stream> stream;
  TILEGYM_CU_TRY(find_capturable(handle, stream));
  if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) return fail(CUDA_ERROR_INVALID_VALUE, "the capture mode is unknown");
  const std::scoped_lock lock(graph_lock());
  if (stream->capture != nullptr) return fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is capturing already");
  const auto capture = std::make_shared<Capture>();
  capture->graph = graph != nullptr ? std::move(graph) : std::make_shared<Graph>();
  capture->id = next_capture_id();
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  NodeList frontier;
  TILEGYM_CU_TRY(find_nodes(*capture->graph, dependencies, frontier));
  ongoing().push_back(capture);
  ongoing_count.store(static_cast<int>(ongoing().size()), std::memory_order_release);
  enter(*stream, capture, std::move(frontier));
  return CUDA_SUCCESS;
}

CUresult end(CUstream handle, CUgraph* out) {
  std::shared_ptr<Stream> stream;
  TILEGYM_CU_TRY(find_capturable(handle, stream));
  if (out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the graph is null");
  *out = nullptr;
  const std::scoped_lock lock(graph_lock());
  if (stream->capture == nullptr) return fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not capturing");
  TILEGYM_CU_TRY(check_ending(*stream));
  const std::shared_ptr<Capture> capture = stream->capture;
  const CUresult valid = usable(*stream);
  const bool joined = all_joined(*capture, *stream);
  finish(capture);
  TILEGYM_CU_TRY(valid);
  if (!joined) {
    return fail(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                "a stream that joined the capture was not joined back to its first");
  }
  *out = capture->graph->handle != nullptr ? capture->graph->handle : publish(capture->graph);
  return CUDA_SUCCESS;
}

struct CaptureInfo {
  CUstreamCaptureStatus* status = nullptr;
  cuuint64_t* id = nullptr;
  CUgraph* graph = nullptr;
  const CUgraphNode** dependencies = nullptr;
  const CUgraphEdgeData** edges = nullptr;
  std::size_t* count = nullptr;
};

struct Frontier {
  std::vector<CUgraphNode> nodes;
};

/// What the caller gets to see stays until the thread asks again.
void tell_frontier(const Stream& stream, const CaptureInfo& info) {
  std::vector<CUgraphNode>& nodes = ThreadState<Frontier>::get().nodes;
  nodes.clear();
  for (const auto& node : stream.frontier) nodes.push_back(node->handle);
  if (info.dependencies != nullptr) *info.dependencies = nodes.data();
  if (info.edges != nullptr) *info.edges = nullptr;
  if (info.count != nullptr) *info.count = nodes.size();
}

CUresult tell(CUstream handle, const CaptureInfo& info) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(handle, lane));
  if (info.status == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the status is null");
  *info.status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (lane.stream == nullptr) return check_legacy_stream(*lane.context);
  const std::scoped_lock lock(graph_lock());
  const auto& capture = lane.stream->capture;
  if (capture == nullptr) return CUDA_SUCCESS;
  *info.status = capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (info.id != nullptr) *info.id = capture->id;
  if (capture->invalidated) return CUDA_SUCCESS;
  // A graph under capture has a handle from the moment that somebody asks for it.
  if (info.graph != nullptr) {
    *info.graph = capture->graph->handle != nullptr ? capture->graph->handle : publish(capture->graph);
  }
  tell_frontier(*lane.stream, info);
  return CUDA_SUCCESS;
}

CUresult update_dependencies(CUstream handle, std::span<const CUgraphNode> handles, unsigned flags) {
  std::shared_ptr<Stream> stream;
  TILEGYM_CU_TRY(find_capturable(handle, stream));
  if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES) return fail(CUDA_ERROR_INVALID_VALUE, "flags: an unknown bit is set");
  if (handles.data() == nullptr && !handles.empty()) return fail(CUDA_ERROR_INVALID_VALUE, "the nodes are null");
  const std::scoped_lock lock(graph_lock());
  TILEGYM_CU_TRY(usable(*stream));
  NodeList nodes;
  TILEGYM_CU_TRY(find_nodes(*stream->capture->graph, handles, nodes));
  if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) stream->frontier.clear();
  for (auto& node : nodes) {
    if (std::find(stream->frontier.begin(), stream->frontier.end(), node) == stream->frontier.end()) {
      stream->frontier.push_back(std::move(node));
    }
  }
  return CUDA_SUCCESS;
}

bool forbids(const Capture& capture, std::thread::id thread, CUstreamCaptureMode mode) {
  if (capture.mode == CU_STREAM_CAPTURE_MODE_RELAXED || mode == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
  const bool local = capture.mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL || mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
  return capture.thread == thread || !local;
}

}  // namespace

CUresult capture_operation(Stream& stream, Operation operation) {
  const std::scoped_lock lock(graph_lock());
  TILEGYM_CU_TRY(usable(stream));
  stream.frontier = {stream.capture->graph->add(std::move(operation), stream.frontier)};
  return CUDA_SUCCESS;
}

CUresult capture_event_record(Stream& stream, Event& event) {
  const std::scoped_lock lock(graph_lock());
  TILEGYM_CU_TRY(usable(stream));
  event.capture = stream.capture;
  event.frontier = stream.frontier;
  event.captured.store(true, std::memory_order_release);
  return CUDA_SUCCESS;
}

CUresult capture_event_wait(Stream& stream, Event& event) {
  const std::scoped_lock lock(graph_lock());
  const std::shared_ptr<Capture> capture = event.capture;
  if (stream.capture != nullptr) TILEGYM_CU_TRY(usable(stream));
  const bool live = capture != nullptr && std::find(ongoing().begin(), ongoing().end(), capture) != ongoing().end();
  if (!live) {
    if (stream.capture == nullptr)
      return fail(CUDA_ERROR_INVALID_VALUE, "the event was recorded in a capture that has ended");
    return invalidate(*stream.capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                      "the event was recorded outside of the capture");
  }
  if (capture->invalidated) return fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the event's capture is invalid");
  if (stream.capture == nullptr) {
    enter(stream, capture, event.frontier);
    return CUDA_SUCCESS;
  }
  if (stream.capture != capture) {
    capture->invalidated = true;
    return invalidate(*stream.capture, CUDA_ERROR_STREAM_CAPTURE_MERGE, "the event belongs to another capture");
  }
  for (const auto& node : event.frontier) {
    if (std::find(stream.frontier.begin(), stream.frontier.end(), node) == stream.frontier.end()) {
      stream.frontier.push_back(node);
    }
  }
  return CUDA_SUCCESS;
}

CUresult check_legacy_stream(const Context& context) {
  if (context.capturing_streams.load(std::memory_order_acquire) == 0) return CUDA_SUCCESS;
  const std::scoped_lock lock(graph_lock());
  for (const auto& capture : ongoing()) {
    for (const auto& weak : capture->streams) {
      const auto stream = weak.lock();
      if (stream == nullptr || !stream->blocking() || &stream->context() != &context) continue;
      return invalidate(*capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                        "the legacy default stream waits for a stream that is capturing");
    }
  }
  return CUDA_SUCCESS;
}

CUresult check_no_capture() {
  if (ongoing_count.load(std::memory_order_acquire) == 0) return CUDA_SUCCESS;
  const std::scoped_lock lock(graph_lock());
  for (const auto& capture : ongoing()) {
    if (!forbids(*capture, std::this_thread::get_id(), thread_capture_mode())) continue;
    return invalidate(*capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the call is not allowed during a capture");
  }
  return CUDA_SUCCESS;
}

CUresult check_not_capturing(Stream* stream) {
  if (stream == nullptr || !stream->capturing.load(std::memory_order_acquire)) return CUDA_SUCCESS;
  const std::scoped_lock lock(graph_lock());
  if (stream->capture == nullptr) return CUDA_SUCCESS;
  return invalidate(*stream->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                    "a capturing stream runs nothing that could be waited for");
}

void abandon_capture(Stream& stream) {
  const std::scoped_lock lock(graph_lock());
  if (stream.capture == nullptr) return;
  const std::shared_ptr<Capture> capture = stream.capture;
  capture->invalidated = true;
  const bool origin = capture->streams.front().lock().get() == &stream;
  if (origin) {
    finish(capture);
  } else {
    leave(stream);
  }
}

CUstreamCaptureMode& thread_capture_mode() noexcept {
  thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return mode;
}

}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" {

CUresult CUDAAPI cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return entry(__func__, [&] { return begin(stream, mode, nullptr, {}); });
}

CUresult CUDAAPI cuStreamBeginCapture(CUstream stream) {
  return entry(__func__, [&] { return begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, nullptr, {}); });
}

CUresult CUDAAPI cuStreamBeginCaptureToGraph(CUstream stream, CUgraph handle, const CUgraphNode* dependencies,
                                             const CUgraphEdgeData*, size_t count, CUstreamCaptureMode mode) {
  return entry(__func__, [&]() -> CUresult {
    std::shared_ptr<Graph> graph;
    TILEGYM_CU_TRY(find_graph(handle, graph));
    if (dependencies == nullptr && count != 0) return fail(CUDA_ERROR_INVALID_VALUE, "the dependencies are null");
    return begin(stream, mode, std::move(graph), {dependencies, count});
  });
}

CUresult CUDAAPI cuStreamEndCapture(CUstream stream, CUgraph* out) {
  return entry(__func__, [&] { return end(stream, out); });
}

CUresult CUDAAPI cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* out) {
  return entry(__func__, [&] { return tell(stream, {.status = out}); });
}

CUresult CUDAAPI cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return entry(__func__, [&] { return tell(stream, {.status = status, .id = id}); });
}

CUresult CUDAAPI cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                           CUgraph* graph, const CUgraphNode** dependencies, size_t* count) {
  return entry(__func__, [&] { return tell(stream, {status, id, graph, dependencies, nullptr, count}); });
}

CUresult CUDAAPI cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                           CUgraph* graph, const CUgraphNode** dependencies,
                                           const CUgraphEdgeData** edges, size_t* count) {
  return entry(__func__, [&] { return tell(stream, {status, id, graph, dependencies, edges, count}); });
}

CUresult CUDAAPI cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* nodes, size_t count, unsigned flags) {
  return entry(__func__, [&] { return update_dependencies(stream, {nodes, count}, flags); });
}

CUresult CUDAAPI cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* nodes, const CUgraphEdgeData*,
                                                      size_t count, unsigned flags) {
  return entry(__func__, [&] { return update_dependencies(stream, {nodes, count}, flags); });
}

CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return entry(__func__, [&]() -> CUresult {
    if (mode == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer to the mode is null");
    if (*mode > CU_STREAM_CAPTURE_MODE_RELAXED) return fail(CUDA_ERROR_INVALID_VALUE, "the capture mode is unknown");
    std::swap(*mode, thread_capture_mode());
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
