#include <algorithm>
#include <map>
#include <utility>

#include "common/check.h"
#include "cpu_driver/engine/lowering.h"

/// Values that cross the edge of a loop or branch live in carriers: a slot for one value, a buffer for a tile. Tiles
/// are computed straight into their carrier where nothing reads its old contents afterwards.
namespace tilegym::cpu {

using tile_ir::Opcode;

namespace {

/// Format of a carried tile in its buffer.
tile_ir::ElementType carried_format(const tile_ir::Type& type) {
  return type.of_pointers ? tile_ir::ElementType::i64 : buffer_format(type.element);
}

/// The operation of the block that defines the value, or null.
const tile_ir::Operation* definition(const tile_ir::Block& block, tile_ir::ValueId value) {
  for (const tile_ir::Operation& op : block.operations) {
    if (std::ranges::find(op.results, value) != op.results.end()) return &op;
  }
  return nullptr;
}

bool is_loop(Opcode opcode) {
  return opcode == Opcode::For || opcode == Opcode::Loop;
}

/// The ends of a loop's turns, those inside its branches too.
void collect_continues(const tile_ir::Block& block, std::vector<const tile_ir::Operation*>& found) {
  for (const tile_ir::Operation& op : block.operations) {
    if (op.opcode == Opcode::Continue) found.push_back(&op);
    if (is_loop(op.opcode)) continue;
    for (const tile_ir::Region& region : op.regions) {
      for (const tile_ir::Block& nested : region.blocks) collect_continues(nested, found);
    }
  }
}

bool same_wraps(const std::vector<Wrap>& a, const std::vector<Wrap>& b) {
  return std::ranges::equal(a, b, [](const Wrap& x, const Wrap& y) {
    return x.index.base == y.index.base && x.index.strides == y.index.strides && x.bits == y.bits &&
           x.is_signed == y.is_signed && x.scale == y.scale;
  });
}

}  // namespace

/// Whether every turn of the loop only adds an even step to the tile.
bool Lowering::stays_linear(const Operation& loop, std::size_t index, ValueId argument) const {
  std::vector<const Operation*> continues;
  collect_continues(loop.body(), continues);
  return !continues.empty() && std::ranges::all_of(continues, [&](const Operation* end) {
    return index < end->operands.size() && advances(loop, end->operands[index], argument);
  });
}

bool Lowering::advances(const Operation& loop, ValueId value, ValueId argument) const {
  if (value == argument) return true;
  const Operation* op = definition(loop.body(), value);
  if (op == nullptr) return false;
  switch (op->opcode) {
    case Opcode::Assume:
      return advances(loop, op->operands[0], argument);
    case Opcode::AddI:
      if (is_even_step(loop, op->operands[0]) && advances(loop, op->operands[1], argument)) return true;
      [[fallthrough]];
    case Opcode::Offset:
    case Opcode::SubI:
      return advances(loop, op->operands[0], argument) && is_even_step(loop, op->operands[1]);
    default:
      return false;
  }
}

/// Whether lowering will know the tile as one value for all elements, or as linear.
bool Lowering::is_even_step(const Operation& loop, ValueId value) const {
  if (type_of(value).element_count() == 1) return true;
  const Operation* op = definition(loop.body(), value);
  if (op == nullptr) {
    const bool outside = node_of(value) != kNoNode;
    return outside && (values_[value].linear || graph_[node_of(value)].kind == NodeKind::uniform);
  }
  const bool passes = op->opcode == Opcode::Broadcast || op->opcode == Opcode::Reshape || op->opcode == Opcode::Assume;
  return passes && is_even_step(loop, op->operands[0]);
}

void Lowering::make_linear(Carrier& carrier, ValueId initial) {
  carrier.linear = Ramp{{.base = emitter_.new_slot()}, values_[initial].wraps};
  for (std::size_t d = 0; d < carrier.shape.size(); ++d) carrier.linear->value.strides.push_back(emitter_.new_slot());
}

Status Lowering::assign_linear(const Carrier& carrier, ValueId value, std::vector<std::pair<SlotId, SlotId>>& moves) {
  const std::optional<Linear> linear = linear_of(value);
  if (!linear || !same_wraps(values_[value].wraps, carrier.linear->wraps)) {
    lost_linear_carrier_ = true;
    return Error{"a carried tile does not stay linear"};
  }
  moves.emplace_back(carrier.linear->value.base, linear->base);
  for (std::size_t d = 0; d < carrier.shape.size(); ++d) {
    moves.emplace_back(carrier.linear->value.strides[d], linear->strides[d]);
  }
  graph_.consume(node_of(value));
  return {};
}

Result<Lowering::Carriers> Lowering::carriers_for(std::span<const ValueId> values) {
  Carriers carriers;
  for (const ValueId value : values) {
    const tile_ir::Type& type = type_of(value);
    Carrier carrier{.is_token = type.kind == tile_ir::TypeKind::token};
    if (!carrier.is_token && !type.is_tile()) return Error{"a loop or branch carries a view; wanted tiles and tokens"};
    carrier.shape = squeeze(type.shape);
    carrier.element = carried_format(type);
    carrier.is_slot = !carrier.is_token && carrier.shape.empty();
    if (!carrier.is_token) carrier.lane = lane_of(type.of_pointers ? tile_ir::ElementType::i64 : type.element);
    carriers.push_back(std::move(carrier));
  }
  for (Carrier& carrier : carriers) {
    if (carrier.is_slot) carrier.slot = emitter_.new_slot();
    if (!carrier.is_buffer()) continue;
    carrier.buffer = emitter_.new_buffer(static_cast<std::size_t>(element_count(carrier.shape)) *
                                         tile_ir::byte_size(carrier.element));
  }
  return carriers;
}

Result<Lowering::Carriers> Lowering::carriers_from(const Operation& loop, std::span<const ValueId> values,
                                                   std::span<const ValueId> initial) {
  TILEGYM_ASSIGN(Carriers carriers, carriers_for(values));
  if (initial.size() != values.size()) return Error{"a loop has another number of initial values than arguments"};
  for (std::size_t i = 0; i < values.size(); ++i) TILEGYM_TRY(check_carried(carriers[i], initial[i]));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!carriers[i].is_buffer()) continue;
    if (carrying_ == Carrying::symbolic && values_[initial[i]].linear && stays_linear(loop, i, values[i])) {
      make_linear(carriers[i], initial[i]);
    } else if (const auto buffer = reusable_buffer(initial[i], carriers[i])) {
      carriers[i].buffer = *buffer;
    }
  }
  TILEGYM_TRY(assign(carriers, initial));
  touch(carriers);
  return carriers;
}

/// The buffer of an initial value that dies here becomes the carrier itself.
std::optional<BufferId> Lowering::reusable_buffer(ValueId initial, const Carrier& carrier) {
  const Node& node = graph_[node_of(initial)];
  const bool fits = node.kind == NodeKind::buffer && node.owned && node.loop == builder_.loop &&
                    node.format == carrier.element && node.strides == row_major(carrier.shape);
  if (!fits || graph_.buffer_uses(node.buffer) != 1) return std::nullopt;
  return node.buffer;
}

void Lowering::bind_carried(const Carriers& carriers, std::span<const ValueId> values, std::uint32_t loop) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Carrier& carrier = carriers[i];
    if (carrier.is_token) continue;
    if (carrier.is_slot) {
      bind_slot(values[i], carrier.slot);
      continue;
    }
    if (carrier.linear) {
      bind_linear(values[i], *carrier.linear, {});
      continue;
    }
    Node node = node_for(values[i], NodeKind::buffer, {});
    node.buffer = carrier.buffer;
    node.format = carrier.element;
    node.strides = row_major(carrier.shape);
    node.owned = true;
    node.loop = loop;
    bind_node(values[i], std::move(node));
  }
}

void Lowering::touch(const Carriers& carriers) {
  for (const Carrier& carrier : carriers) {
    if (carrier.is_buffer()) emitter_.touch(carrier.buffer);
  }
}

Status Lowering::check_carried(const Carrier& carrier, ValueId value) const {
  const tile_ir::Type& type = type_of(value);
  const bool is_token = type.kind == tile_ir::TypeKind::token;
  const bool fits = carrier.is_token ? is_token
                                     : type.is_tile() && carried_format(type) == carrier.element &&
                                           squeeze(type.shape) == carrier.shape;
  return fits ? Status{} : Error{"a loop or branch yields a value of another type than it carries"};
}

Status Lowering::assign(const Carriers& carriers, std::span<const ValueId> values) {
  if (values.size() != carriers.size())
    return Error{"a loop or branch yields another number of values than it carries"};
  for (std::size_t i = 0; i < values.size(); ++i) TILEGYM_TRY(check_carried(carriers[i], values[i]));
  std::vector<std::pair<SlotId, SlotId>> moves;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (carriers[i].linear) TILEGYM_TRY(assign_linear(carriers[i], values[i], moves));
    if (!carriers[i].is_slot) continue;
    TILEGYM_ASSIGN(const SlotId slot, slot_of(values[i]));
    moves.emplace_back(carriers[i].slot, slot);
  }
  TILEGYM_TRY(assign_pending(carriers, values));
  TILEGYM_TRY(assign_buffers(carriers, values));
  // Last, because the tiles above may still read the old scalars.
  emitter_.move_slots(moves);
  return {};
}

/// Pending tiles of one shape are computed in one region, each into its carrier where that is safe.
Status Lowering::assign_pending(const Carriers& carriers, std::span<const ValueId> values) {
  std::map<Shape, std::vector<BufferOut>> groups;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!carriers[i].is_buffer()) continue;
    const Node& node = graph_[node_of(values[i])];
    if (!node.pending() || node.shape.empty() || node.kind == NodeKind::broadcast) continue;
    BufferOut out{.node = node_of(values[i])};
    if (node.uses == 1 && buffer_format(node.element) == carriers[i].element) out.target = carriers[i].buffer;
    const auto is_listed = [&](const BufferOut& other) { return other.node == out.node; };
    if (std::ranges::none_of(groups[node.shape], is_listed)) groups[node.shape].push_back(out);
  }
  for (auto& [shape, outs] : groups) {
    // An earlier region may have kept some of these values on the way.
    std::erase_if(outs, [this](const BufferOut& out) { return !graph_[out.node].pending(); });
    if (outs.empty()) continue;
    TILEGYM_TRY(builder_.emit({.shape = shape, .buffers = outs}));
  }
  return {};
}

Status Lowering::assign_buffers(const Carriers& carriers, std::span<const ValueId> values) {
  std::vector<std::pair<NodeId, const Carrier*>> copies;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!carriers[i].is_buffer()) continue;
    const NodeId id = node_of(values[i]);
    TILEGYM_TRY(builder_.materialise(id));
    const Node& node = graph_[id];
    const bool there = node.kind == NodeKind::buffer && node.buffer == carriers[i].buffer;
    if (!there) copies.emplace_back(id, &carriers[i]);
  }
  // Only now: computing one value must not take the buffer of another.
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (carriers[i].is_buffer()) graph_.consume(node_of(values[i]));
  }
  // A source that is another copy's target moves out of the way first.
  for (auto& [source, target] : copies) {
    const auto overwrites = [&](const auto& copy) {
      return graph_[source].kind == NodeKind::buffer && graph_[source].buffer == copy.second->buffer;
    };
    if (std::ranges::none_of(copies, overwrites)) continue;
    const Carrier aside{.buffer = emitter_.new_buffer(static_cast<std::size_t>(element_count(target->shape)) *
                                                      tile_ir::byte_size(target->element)),
                        .shape = target->shape,
                        .element = target->element,
                        .lane = target->lane};
    TILEGYM_ASSIGN(source, copy_to(source, aside));
  }
  for (const auto& [source, target] : copies) {
    TILEGYM_ASSIGN([[maybe_unused]] const NodeId copied, copy_to(source, *target));
  }
  return {};
}

Result<NodeId> Lowering::copy_to(NodeId source, const Carrier& target) {
  Node copy{.kind = NodeKind::compute, .shape = target.shape, .element = target.element, .lane = target.lane};
  copy.operands = {source};
  copy.key = {.op = StripOp::copy, .lane = target.lane};
  const NodeId id = graph_.add(std::move(copy));
  ++graph_[source].uses;
  RegionOutputs outputs{.shape = target.shape};
  outputs.buffers.push_back({.node = id, .target = target.buffer, .force = true});
  TILEGYM_TRY(builder_.emit(std::move(outputs)));
  return id;
}

}  // namespace tilegym::cpu
