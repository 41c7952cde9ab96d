#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "cpu_driver/api/event.h"
#include "cpu_driver/api/report.h"

namespace tilegym::cpu {

class Graph;
class GraphAllocation;
class PreparedLaunch;

struct HostCall {
  CUhostFn function = nullptr;
  void* data = nullptr;
};
/// Completes a recording of the event.
struct EventRecording {
  std::shared_ptr<Event> event;
};
/// Waits for the event's latest recording.
struct EventWait {
  std::shared_ptr<Event> event;
};
/// Marks a place in a graph's order; does nothing by itself.
struct Marker {};
/// Begins (or ends) the use of memory that belongs to a graph. The memory itself stays as long as the graph does.
struct MemoryBegin {
  std::shared_ptr<GraphAllocation> memory;
};
struct MemoryEnd {
  CUdeviceptr address = 0;
};

/// One piece of work, on a stream or as a node of a graph. Copies and fills are described as the graph calls do.
using Operation = std::variant<Marker, std::shared_ptr<const PreparedLaunch>, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS,
                               HostCall, std::shared_ptr<Graph>, EventRecording, EventWait, MemoryBegin, MemoryEnd>;

[[nodiscard]] CUgraphNodeType type_of(const Operation& operation) noexcept;

/// Runs an operation that is not about an event.
[[nodiscard]] Failure execute(const Operation& operation);

/// A list of operations made ready for one run: what their events mean is settled when the run is submitted.
class OperationRun {
 public:
  /// Renews the recordings of the events that the operations record.
  explicit OperationRun(std::shared_ptr<const std::vector<Operation>> operations);

  /// Runs in order until one fails.
  [[nodiscard]] Failure run() const;
  /// Every recording of the run, also those that a failure leaves out.
  [[nodiscard]] std::vector<std::shared_ptr<EventRecord>> recordings() const;

 private:
  std::shared_ptr<const std::vector<Operation>> operations_;
  std::vector<std::shared_ptr<EventRecord>> records_;  ///< an operation each; null where it has no event
};

}  // namespace tilegym::cpu
