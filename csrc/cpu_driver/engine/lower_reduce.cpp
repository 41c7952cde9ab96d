#include <algorithm>
#include <array>
#include <utility>

#include "cpu_driver/engine/elementwise_table.h"
#include "cpu_driver/engine/lowering.h"

namespace tilegym::cpu {

using tile_ir::AttrName;
using tile_ir::Opcode;

namespace {

/// Any shape but the empty one marks the values of a reduction's body as strips.
const Shape kBodyShape{static_cast<std::int64_t>(kStripLanes)};

/// Operations that a reduction's body may hold: those that become one strip kernel, and constants.
bool may_combine(Opcode opcode) {
  constexpr std::array kOthers{Opcode::Assume, Opcode::Bitcast, Opcode::Constant, Opcode::ExtI,
                               Opcode::FToF,   Opcode::FToI,    Opcode::IToF,     Opcode::TruncI};
  return find_elementwise(opcode) != nullptr || std::ranges::find(kOthers, opcode) != kOthers.end();
}

std::int64_t identity_bits(const tile_ir::Attribute& identity, tile_ir::ElementType element) {
  const std::uint64_t bits = identity.kind == tile_ir::AttrKind::floating ? identity.bits : identity.integer;
  return lane_bits(element, bits);
}

}  // namespace

Status Lowering::lower_reduce(const Operation& op) {
  const tile_ir::Type& type = type_of(op.operands[0]);
  const auto dim = static_cast<std::size_t>(op.integer(AttrName::dim));
  if (dim >= type.shape.size()) return unsupported(place_of(op), "this dimension");
  const Shape shape = squeeze(type.shape);
  if (type.shape[dim] == 1) {
    // One element along the dimension: the result is the operand.
    for (std::size_t i = 0; i < op.operands.size(); ++i) alias(op.results[i], op.operands[i]);
    return {};
  }
  ReduceOut reduce;
  reduce.dim =
      static_cast<std::size_t>(std::count_if(type.shape.begin(), type.shape.begin() + static_cast<std::ptrdiff_t>(dim),
                                             [](std::int64_t extent) { return extent != 1; }));
  for (const ValueId operand : op.operands) reduce.operands.push_back(node_of(operand));
  TILEGYM_TRY(lower_reduce_body(op, reduce));
  TILEGYM_TRY(reduce_destinations(op, shape, reduce));
  RegionOutputs outputs{.shape = shape, .reduce = std::move(reduce)};
  return builder_.emit(std::move(outputs));
}

Status Lowering::lower_reduce_body(const Operation& op, ReduceOut& reduce) {
  const tile_ir::Block& body = op.body();
  const tile_ir::Attribute* identities = op.find(AttrName::identities);
  if (identities == nullptr || identities->children.size() != op.operands.size() ||
      body.arguments.size() != 2 * op.operands.size()) {
    return Error{"reduce: wanted one identity and two body arguments per operand"};
  }
  for (const ValueId argument : body.arguments) {
    Node node = node_for(argument, NodeKind::argument, op);
    node.shape = kBodyShape;
    bind_node(argument, std::move(node));
    reduce.arguments.push_back(node_of(argument));
  }
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const Node& argument = graph_[reduce.arguments[2 * i]];
    const std::int64_t bits = identity_bits(identities->children[i], argument.element);
    reduce.identities.push_back(emitter_.constant(bits));
  }
  const bool outer = std::exchange(in_reduction_, true);
  const Status status = lower_combination(body, reduce);
  in_reduction_ = outer;
  return status;
}

Status Lowering::lower_combination(const tile_ir::Block& body, ReduceOut& reduce) {
  TILEGYM_TRY(settle_captures(body));
  for (const Operation& inner : body.operations) {
    if (inner.opcode == Opcode::Yield) {
      for (const ValueId value : inner.operands) reduce.yields.push_back(node_of(value));
    } else if (live_.contains(&inner)) {
      if (!may_combine(inner.opcode)) return unsupported(place_of(inner), "values of a reduction");
      TILEGYM_TRY(lower_operation(inner));
    }
  }
  return {};
}

/// Single values from outside are computed before the region runs: its body has no place for what they depend on.
Status Lowering::settle_captures(const tile_ir::Block& body) {
  for (const Operation& inner : body.operations) {
    if (!live_.contains(&inner)) continue;
    for (const ValueId operand : inner.operands) {
      const NodeId id = node_of(operand);
      if (id != kNoNode && graph_[id].pending() && graph_[id].shape.empty()) TILEGYM_TRY(slot_of(operand));
    }
  }
  return {};
}

/// One value goes to a slot. Along the inner dimension rows give single lanes; along an outer one whole strips are
/// accumulated in the result's buffer, whose rows are padded to whole vectors so that kernels may overrun them.
Status Lowering::reduce_destinations(const Operation& op, const Shape& shape, ReduceOut& reduce) {
  Shape rest = shape;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(reduce.dim));
  Shape padded = rest;
  const bool fold = reduce.dim + 1 == shape.size();
  if (!fold && rest.size() > 1) {
    // One layout for all operands: rows of the narrowest lanes fill whole vectors.
    std::size_t narrowest = kVectorBytes;
    for (const ValueId result : op.results) {
      narrowest = std::min(narrowest, lane_bytes(lane_of(type_of(result).element)));
    }
    const auto lanes_per_vector = static_cast<std::int64_t>(kVectorBytes / narrowest);
    padded.back() = (rest.back() + lanes_per_vector - 1) / lanes_per_vector * lanes_per_vector;
  }
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    if (rest.empty()) {
      reduce.slots.push_back(emitter_.new_slot());
      bind_slot(op.results[i], reduce.slots.back());
      continue;
    }
    Node node = node_for(op.results[i], NodeKind::buffer, op);
    const std::size_t bytes = lane_bytes(node.lane);
    node.format = format_of(node.lane);
    node.strides = reduce.result_strides = row_major(padded);
    node.owned = node.strides == row_major(rest);
    node.buffer = emitter_.new_buffer(static_cast<std::size_t>(element_count(padded)) * bytes);
    reduce.buffers.push_back(node.buffer);
    bind_node(op.results[i], std::move(node));
  }
  return {};
}

}  // namespace tilegym::cpu
