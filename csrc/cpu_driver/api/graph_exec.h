#pragma once

#include "cpu_driver/api/graph.h"

namespace tilegym::cpu {

/// A graph made ready to run: its operations in order. Changes make a new list, so that running launches keep theirs.
/// Guarded by graph_lock().
struct GraphExec {
  static constexpr std::uintptr_t kHandleKind = 9;

  std::shared_ptr<const std::vector<Operation>> operations;
  std::vector<CUgraphNode> nodes;     ///< where each operation comes from
  std::shared_ptr<EventRecord> last;  ///< completed by the latest launch
  unsigned long long flags = 0;
};
using GraphExecTable = HandleTable<GraphExec, CUgraphExec>;

/// Gives the operation that comes from `node` other parameters for later launches.
CUresult replace_in_exec(CUgraphExec exec, CUgraphNode node, Operation operation);

}  // namespace tilegym::cpu
