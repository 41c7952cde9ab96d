#include "cpu_driver/engine/lowering.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "common/check.h"
#include "cpu_driver/engine/liveness.h"
#include "cpu_driver/engine/type_rules.h"
#include "cpu_driver/engine/wraps.h"

namespace tilegym::cpu {

using tile_ir::ElementType;
using tile_ir::Opcode;

Lowering::Lowering(const tile_ir::Module& module, const tile_ir::Function& entry, Plan& plan, Carrying carrying)
    : module_(module),
      entry_(entry),
      plan_(plan),
      emitter_(plan),
      builder_(graph_, emitter_, plan),
      carrying_(carrying) {
  values_.resize(entry.values.size());
  Liveness liveness = find_live(entry);
  live_ = std::move(liveness.live);
  uses_ = std::move(liveness.uses);
}

Status Lowering::run() {
  plan_.name = entry_.name;
  for (SlotId& slot : plan_.block_id) slot = emitter_.new_slot();
  for (SlotId& slot : plan_.num_blocks) slot = emitter_.new_slot();
  TILEGYM_TRY(bind_parameters());
  TILEGYM_TRY(lower_block(entry_.body));
  emitter_.place_buffers();
  return {};
}

Status Lowering::bind_parameters() {
  for (const ValueId argument : entry_.body.arguments) {
    const tile_ir::Type& type = type_of(argument);
    if (!type.is_scalar_tile()) {
      return Error{"kernel " + entry_.name + ": parameter " + std::to_string(plan_.parameters.size()) +
                   ": wanted a scalar or pointer, got another type; the CPU device does not execute it yet"};
    }
    PlannedParameter parameter{.element = type.of_pointers ? ElementType::i64 : type.element,
                               .slot = emitter_.new_slot()};
    parameter.parameter = {tile_ir::byte_size(parameter.element), type.of_pointers};
    bind_slot(argument, parameter.slot);
    plan_.parameters.push_back(parameter);
  }
  return {};
}

Status Lowering::lower_block(const tile_ir::Block& block) {
  for (const Operation& op : block.operations) {
    if (live_.contains(&op)) TILEGYM_TRY(lower_operation(op));
  }
  return {};
}

Status Lowering::lower_operation(const Operation& op) {
  const Handler handler = handler_of(op.opcode);
  if (handler == nullptr) return unsupported(place_of(op), {});
  TILEGYM_TRY(check_types(module_, entry_, op));
  TILEGYM_TRY((this->*handler)(op));
  return limit_depth(op);
}

/// Very long chains are cut, so that neither lowering's recursion nor a region grows without bound.
Status Lowering::limit_depth(const Operation& op) {
  constexpr std::uint32_t kMaxDepth = 256;
  for (const ValueId result : op.results) {
    const NodeId id = node_of(result);
    const bool deep = id != kNoNode && graph_[id].pending() && graph_[id].depth > kMaxDepth;
    if (deep && !in_reduction_) TILEGYM_TRY(builder_.materialise(id));
  }
  return {};
}

Node Lowering::node_for(ValueId value, NodeKind kind, const Operation& op) const {
  const tile_ir::Type& type = type_of(value);
  Node node{.kind = kind, .shape = squeeze(type.shape)};
  node.element = type.of_pointers ? ElementType::i64 : type.element;
  node.lane = lane_of(node.element);
  node.uses = uses_[value];
  node.loop = builder_.loop;
  node.place = place_of(op);
  return node;
}

void Lowering::bind_node(ValueId value, Node node) {
  values_[value].node = graph_.add(std::move(node));
}

void Lowering::bind_slot(ValueId value, SlotId slot) {
  Node node = node_for(value, NodeKind::uniform, {});
  node.shape.clear();
  node.slot = slot;
  bind_node(value, std::move(node));
}

void Lowering::bind_linear(ValueId value, Ramp index, const Operation& op) {
  const auto is_zero = [&](SlotId slot) { return emitter_.is_constant(slot, 0); };
  if (index.wraps.empty() && std::ranges::all_of(index.value.strides, is_zero))
    return bind_slot(value, index.value.base);
  Node node = node_for(value, NodeKind::ramp, op);
  node.linear = index.value;
  node.wraps = index.wraps;
  bind_node(value, std::move(node));
  values_[value].linear = std::move(index.value);
  values_[value].wraps = std::move(index.wraps);
}

void Lowering::alias(ValueId result, ValueId source) {
  values_[result] = values_[source];
  const NodeId node = node_of(source);
  if (node != kNoNode) graph_[node].uses += uses_[result] - 1;
}

Result<SlotId> Lowering::slot_of(ValueId value) {
  return builder_.slot_of(node_of(value));
}

bool Lowering::is_integer_slot(ValueId value) const {
  const Node& node = graph_[node_of(value)];
  return node.kind == NodeKind::uniform && node.lane != Lane::f32 && node.lane != Lane::f64;
}

std::optional<Linear> Lowering::linear_of(ValueId value) {
  if (values_[value].linear) return values_[value].linear;
  if (!is_integer_slot(value)) return std::nullopt;
  Linear linear{.base = graph_[node_of(value)].slot};
  linear.strides.assign(shape_of(value).size(), zero());
  return linear;
}

std::optional<Ramp> Lowering::index_of(ValueId value, tile_ir::Signedness signedness) {
  std::optional<Linear> linear = linear_of(value);
  if (!linear) return std::nullopt;
  const tile_ir::Type& type = type_of(value);
  const int bits = type.of_pointers ? 64 : tile_ir::bit_width(type.element);
  const bool is_signed = signedness == tile_ir::Signedness::signed_;
  Ramp index{std::move(*linear), values_[value].wraps};
  if (bits == 64) return index;
  if (!values_[value].linear) {
    if (!is_signed) index.value.base = emitter_.zero_extend(index.value.base, bits);
    return index;
  }
  Wrap wrap{.index = index.value,
            .bits = static_cast<std::uint8_t>(bits),
            .is_signed = is_signed,
            .scale = emitter_.constant(1)};
  if (!fits(wrap, shape_of(value))) index.wraps.push_back(std::move(wrap));
  return index;
}

bool Lowering::fits(const Wrap& wrap, const Shape& shape) const {
  const auto base = emitter_.constant_of(wrap.index.base);
  if (!base) return false;
  std::int64_t low = *base;
  std::int64_t high = low;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto stride = emitter_.constant_of(wrap.index.strides[d]);
    if (!stride) return false;
    (*stride < 0 ? low : high) += *stride * (shape[d] - 1);
  }
  return wrapped(low, wrap.bits, wrap.is_signed) == low && wrapped(high, wrap.bits, wrap.is_signed) == high;
}

std::optional<Mask> Lowering::mask_of(ValueId value) {
  if (values_[value].mask) return values_[value].mask;
  if (!is_integer_slot(value)) return std::nullopt;
  const SlotId slot = graph_[node_of(value)].slot;
  if (emitter_.is_constant(slot, 1)) return Mask{};
  Bound bound{.limit = zero(), .predicate = tile_ir::Predicate::not_equal};
  bound.index = *linear_of(value);
  return Mask{std::move(bound)};
}

std::int64_t lane_bits(ElementType element, std::uint64_t bits) noexcept {
  alignas(kVectorBytes) std::array<std::byte, 16 * kVectorBytes> lanes{};
  find_load(element)(lanes.data(), &bits, 1);
  return slot_bits(lane_of(element), lanes.data());
}

std::int64_t slot_bits(Lane lane, const void* lanes) noexcept {
  const auto read = [lanes]<class T>(T value) {
    std::memcpy(&value, lanes, sizeof(T));
    return static_cast<std::int64_t>(value);
  };
  switch (lane) {
    case Lane::f32:
      return read(std::uint32_t{});
    case Lane::i32:
      return read(std::int32_t{});
    case Lane::i16:
      return read(std::int16_t{});
    case Lane::i8:
      return read(std::int8_t{});
    case Lane::mask:
      return read(std::uint8_t{}) != 0 ? 1 : 0;
    case Lane::f64:
    case Lane::i64:
      return read(std::int64_t{});
  }
  return 0;
}

}  // namespace tilegym::cpu
