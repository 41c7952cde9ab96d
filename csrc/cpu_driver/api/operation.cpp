#include "cpu_driver/api/operation.h"

#include <array>
#include <utility>

#include "cpu_driver/api/copy_box.h"
#include "cpu_driver/api/graph.h"
#include "cpu_driver/api/prepared_launch.h"

namespace tilegym::cpu {
namespace {

/// By the index of the variant.
constexpr std::array kTypes{CU_GRAPH_NODE_TYPE_EMPTY,        CU_GRAPH_NODE_TYPE_KERNEL,
                            CU_GRAPH_NODE_TYPE_MEMCPY,       CU_GRAPH_NODE_TYPE_MEMSET,
                            CU_GRAPH_NODE_TYPE_HOST,         CU_GRAPH_NODE_TYPE_GRAPH,
                            CU_GRAPH_NODE_TYPE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                            CU_GRAPH_NODE_TYPE_MEM_ALLOC,    CU_GRAPH_NODE_TYPE_MEM_FREE};
static_assert(kTypes.size() == std::variant_size_v<Operation>);

struct Execution {
  EventRecord* record = nullptr;

  Failure operator()(const Marker&) const { return {}; }
  Failure operator()(const std::shared_ptr<const PreparedLaunch>& launch) const { return launch->run(); }
  Failure operator()(const CUDA_MEMCPY3D& copy) const { return copy_box(copy), Failure{}; }
  Failure operator()(const CUDA_MEMSET_NODE_PARAMS& fill) const { return fill_box(fill), Failure{}; }
  Failure operator()(const HostCall& call) const { return call.function(call.data), Failure{}; }
  // Instantiation puts the nodes of a child graph in its place.
  Failure operator()(const std::shared_ptr<Graph>&) const { return {}; }
  Failure operator()(const EventRecording&) const {
    if (record != nullptr) record->complete();
    return {};
  }
  Failure operator()(const EventWait&) const {
    if (record != nullptr) record->wait();
    return {};
  }
  Failure operator()(const MemoryBegin&) const { return {}; }
  Failure operator()(const MemoryEnd&) const { return {}; }
};

struct Settle {
  std::shared_ptr<EventRecord> operator()(const EventRecording& recording) const {
    auto record = std::make_shared<EventRecord>();
    const std::scoped_lock lock(driver_lock());
    recording.event->latest = record;
    return record;
  }
  std::shared_ptr<EventRecord> operator()(const EventWait& wait) const {
    const std::scoped_lock lock(driver_lock());
    return wait.event->latest;
  }
  template <class Other>
  std::shared_ptr<EventRecord> operator()(const Other&) const {
    return nullptr;
  }
};

}  // namespace

CUgraphNodeType type_of(const Operation& operation) noexcept {
  return kTypes[operation.index()];
}

Failure execute(const Operation& operation) {
  return std::visit(Execution{}, operation);
}

OperationRun::OperationRun(std::shared_ptr<const std::vector<Operation>> operations)
    : operations_(std::move(operations)) {
  records_.reserve(operations_->size());
  for (const Operation& operation : *operations_) records_.push_back(std::visit(Settle{}, operation));
}

Failure OperationRun::run() const {
  for (std::size_t i = 0; i < records_.size(); ++i) {
    Failure failure = std::visit(Execution{records_[i].get()}, (*operations_)[i]);
    if (failure.code != CUDA_SUCCESS) return failure;
  }
  return {};
}

std::vector<std::shared_ptr<EventRecord>> OperationRun::recordings() const {
  std::vector<std::shared_ptr<EventRecord>> found;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (std::holds_alternative<EventRecording>((*operations_)[i])) found.push_back(records_[i]);
  }
  return found;
}

}  // namespace tilegym::cpu
