#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "cpu_driver/api/graph.h"
#include "cpu_driver/api/stream.h"

namespace tilegym::cpu {

/// One capture sequence: what its streams are given becomes nodes of its graph. Guarded by graph_lock().
struct Capture {
  std::uint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  std::shared_ptr<Graph> graph;
  bool invalidated = false;
  std::vector<std::weak_ptr<Stream>> streams;  ///< the one it began on first
};

/// Appends an operation to the capture of a capturing stream.
CUresult capture_operation(Stream& stream, Operation operation);
/// The event stands for the stream's place in its capture.
CUresult capture_event_record(Stream& stream, Event& event);
/// The stream (capturing or not) comes after a captured event: it joins the event's capture.
CUresult capture_event_wait(Stream& stream, Event& event);

/// CUDA_SUCCESS unless a stream of the context that the legacy stream waits for is capturing; ends that capture.
CUresult check_legacy_stream(const Context& context);
/// CUDA_SUCCESS unless a capture forbids the calling thread what might break it, such as an allocation; ends that
/// capture.
CUresult check_no_capture();
/// For calls that wait for a stream or ask whether it is idle: a capturing one never runs. Ends its capture.
CUresult check_not_capturing(Stream* stream);
/// For a stream that is destroyed.
void abandon_capture(Stream& stream);

/// The calling thread's capture interaction mode.
[[nodiscard]] CUstreamCaptureMode& thread_capture_mode() noexcept;

}  // namespace tilegym::cpu
