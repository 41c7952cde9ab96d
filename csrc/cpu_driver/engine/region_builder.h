#pragma once

#include <map>
#include <optional>
#include <vector>

#include "common/result.h"
#include "cpu_driver/engine/emitter.h"
#include "cpu_driver/engine/tile_graph.h"

namespace tilegym::cpu {

/// A tile that a region writes to a buffer: `target` where that is safe in place, else one that dies in the region,
/// else a new one.
struct BufferOut {
  NodeId node = kNoNode;
  std::optional<BufferId> target = {};
  /// The target is written in any case: nothing reads its old contents afterwards.
  bool force = false;
};

/// A store: linear access, or addresses and an optional mask lane by lane.
struct StoreOut {
  NodeId value = kNoNode;
  tile_ir::ElementType element = tile_ir::ElementType::f32;
  std::optional<Access> access = {};
  NodeId addresses = kNoNode;
  NodeId mask = kNoNode;
  OpPlace place = {};
};

/// A reduction along dimension `dim` of the squeezed shape. The body is a graph over `arguments` (element and
/// accumulator of each operand in turn).
struct ReduceOut {
  std::size_t dim = 0;
  std::vector<NodeId> operands = {};
  std::vector<NodeId> arguments = {};
  std::vector<NodeId> yields = {};
  std::vector<SlotId> identities = {};
  /// Where results go: slots where the result is one value, else buffers with `result_strides` per remaining dimension.
  std::vector<SlotId> slots = {};
  std::vector<BufferId> buffers = {};
  std::vector<std::int64_t> result_strides = {};
};

struct RegionScan;
struct PlannedOut;

/// What one region produces, all over one iteration shape.
struct RegionOutputs {
  Shape shape = {};
  std::vector<BufferOut> buffers = {};
  std::optional<StoreOut> store = {};
  std::optional<ReduceOut> reduce = {};
  std::vector<std::pair<NodeId, SlotId>> slots = {};
};

/// Forms regions: everything pending that the outputs need over the same iteration shape is computed in one pass;
/// values that later operations want as well are kept in buffers.
class RegionBuilder {
 public:
  RegionBuilder(Graph& graph, Emitter& emitter, Plan& plan) : graph_(graph), emitter_(emitter), plan_(plan) {}

  /// Appends the region. Afterwards the nodes of `outputs.buffers` and all kept values are bound to buffers.
  [[nodiscard]] Status emit(RegionOutputs outputs);

  /// The slot of a one-value node, computed first if it is pending.
  [[nodiscard]] Result<SlotId> slot_of(NodeId id);
  /// Binds a pending node of any shape to a slot or buffer.
  [[nodiscard]] Status materialise(NodeId id);
  /// A node that holds the value of `id` over `shape` row-major in a buffer in the format of `element`, the value's
  /// own or that of its lanes. May be `id` itself; a copy starts with no uses.
  [[nodiscard]] Result<NodeId> row_major_buffer(NodeId id, const Shape& shape, tile_ir::ElementType element);
  /// Appends a store. Loads that later operations want keep what memory held before.
  [[nodiscard]] Status emit_store(StoreOut store, const Shape& shape);
  /// Appends a scan whose combination is the body of `combination`; fills in the step's registers.
  [[nodiscard]] Status emit_scan(const ReduceOut& combination, ScanStep step);
  /// Executes the loads that are still wanted, before memory changes.
  [[nodiscard]] Status flush_loads();

  /// Loop body that is being lowered (0: none), see Node::loop.
  std::uint32_t loop = 0;

 private:
  /// Binds what the node needs from other iteration shapes.
  [[nodiscard]] Status prepare(NodeId id, const Shape& shape);
  [[nodiscard]] Status resolve_broadcast(NodeId id);
  void keep_shared(const RegionScan& scan, RegionOutputs& outputs);
  [[nodiscard]] PlannedOut plan_out(const BufferOut& out, const RegionOutputs& outputs, const RegionScan& scan,
                                    const std::vector<BufferId>& taken);
  [[nodiscard]] bool may_overwrite(BufferId buffer, const Shape& shape, const RegionScan& scan) const;
  [[nodiscard]] std::optional<BufferId> dying_buffer(const Node& node, const RegionScan& scan,
                                                     const std::vector<BufferId>& taken) const;
  [[nodiscard]] bool read_after(BufferId buffer, NodeId writer, const RegionOutputs& outputs,
                                const RegionScan& scan) const;
  void bind_outputs(const RegionOutputs& outputs, const std::map<NodeId, PlannedOut>& outs);
  [[nodiscard]] Status copy_load(NodeId id);

  Graph& graph_;
  Emitter& emitter_;
  Plan& plan_;
};

/// The bits that a constant lane value has in memory.
[[nodiscard]] std::uint64_t memory_bits(tile_ir::ElementType element, std::int64_t lane_bits);

/// "tile op <name> on <type> is not executed by the CPU device yet".
[[nodiscard]] Error unsupported(const OpPlace& place, std::string_view detail);

}  // namespace tilegym::cpu
