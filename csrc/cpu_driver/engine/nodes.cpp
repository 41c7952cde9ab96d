#include <utility>

#include "cpu_driver/engine/lowering.h"

namespace tilegym::cpu {

NodeId Lowering::uniform_node(SlotId slot, tile_ir::ElementType element, const Operation& op) {
  Node node{.kind = NodeKind::uniform, .element = element, .lane = lane_of(element)};
  node.slot = slot;
  node.uses = 1;
  node.loop = builder_.loop;
  node.place = place_of(op);
  return graph_.add(std::move(node));
}

NodeId Lowering::compute_node(const StripKey& key, tile_ir::ElementType element, std::vector<NodeId> operands,
                              const Operation& op) {
  Node node{.kind = NodeKind::compute, .element = element, .lane = lane_of(element)};
  for (const NodeId operand : operands) {
    if (!graph_[operand].shape.empty()) node.shape = graph_[operand].shape;
  }
  node.operands = std::move(operands);
  node.key = key;
  node.uses = 1;
  node.loop = builder_.loop;
  node.place = place_of(op);
  return graph_.add(std::move(node));
}

NodeId Lowering::ramp_node(Ramp index, const Shape& shape, const Operation& op) {
  Node node{.kind = NodeKind::ramp, .shape = shape, .element = tile_ir::ElementType::i64, .lane = Lane::i64};
  node.linear = std::move(index.value);
  node.wraps = std::move(index.wraps);
  node.uses = 1;
  node.loop = builder_.loop;
  node.place = place_of(op);
  return graph_.add(std::move(node));
}

NodeId Lowering::spread_node(NodeId source, const Shape& shape, std::vector<std::size_t> dimension_of) {
  Node node{.kind = NodeKind::broadcast, .shape = shape};
  node.element = graph_[source].element;
  node.lane = graph_[source].lane;
  node.operands = {source};
  node.dimension_of = std::move(dimension_of);
  node.uses = 1;
  node.loop = builder_.loop;
  node.place = graph_[source].place;
  return graph_.add(std::move(node));
}

}  // namespace tilegym::cpu
