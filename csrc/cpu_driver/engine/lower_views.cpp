#include <limits>
#include <utility>

#include "common/check.h"
#include "cpu_driver/engine/lowering.h"
#include "cpu_driver/engine/scalar_ops.h"

namespace tilegym::cpu {

using tile_ir::ElementType;
using tile_ir::Padding;
using tile_ir::TypeKind;

namespace {

std::size_t tensor_dimension(const tile_ir::Type& view, std::size_t tile_dimension) {
  return view.dim_map.empty() ? tile_dimension : static_cast<std::size_t>(view.dim_map[tile_dimension]);
}

/// Elements from one tile of the view to the next.
std::int64_t traversal_stride(const tile_ir::Type& view, std::size_t dimension) {
  if (view.kind == TypeKind::gather_scatter_view) return 1;
  return view.kind == TypeKind::strided_view ? view.strides[dimension] : view.shape[dimension];
}

double padding_value(Padding padding) {
  switch (padding) {
    case Padding::zero:
      return 0.0;
    case Padding::neg_zero:
      return -0.0;
    case Padding::nan:
      return std::numeric_limits<double>::quiet_NaN();
    case Padding::pos_inf:
      return std::numeric_limits<double>::infinity();
    case Padding::neg_inf:
      return -std::numeric_limits<double>::infinity();
  }
  return 0.0;
}

/// The padding as the element type holds it: formats without infinities have their largest value instead.
std::int64_t padding_bits(Padding padding, tile_ir::ElementType element) {
  const Lane lane = lane_of(element);
  const double value = padding_value(padding);
  const auto narrow = static_cast<float>(value);
  if (lane == Lane::f64) return slot_bits(lane, &value);
  if (lane != Lane::f32) return 0;
  return lane_bits(element, memory_bits(element, slot_bits(lane, &narrow)));
}

}  // namespace

Status Lowering::lower_make_tensor_view(const Operation& op) {
  const tile_ir::TypeId type_id = entry_.values[op.results[0]];
  const tile_ir::Type& type = module_.type(type_id);
  View view{.type = type_id, .element = type.element};
  TILEGYM_ASSIGN(view.base, slot_of(op.group(0)[0]));
  const auto resolve = [&](const std::vector<std::int64_t>& known, std::span<const ValueId> dynamic,
                           std::vector<SlotId>& slots) -> Status {
    std::size_t next = 0;
    for (const std::int64_t value : known) {
      if (value != tile_ir::kDynamic) {
        slots.push_back(emitter_.constant(value));
        continue;
      }
      if (next >= dynamic.size()) return Error{"make_tensor_view: too few operands for its dynamic extents"};
      const ValueId operand = dynamic[next++];
      TILEGYM_ASSIGN(const SlotId slot, slot_of(operand));
      slots.push_back(emitter_.zero_extend(slot, tile_ir::bit_width(type_of(operand).element)));
    }
    return {};
  };
  TILEGYM_TRY(resolve(type.shape, op.group(1), view.shape));
  TILEGYM_TRY(resolve(type.strides, op.group(2), view.strides));
  values_[op.results[0]].view = std::move(view);
  return {};
}

Status Lowering::lower_make_tile_view(const Operation& op) {
  View view = *values_[op.operands[0]].view;
  view.type = entry_.values[op.results[0]];
  values_[op.results[0]].view = std::move(view);
  return {};
}

Status Lowering::lower_index_space_shape(const Operation& op) {
  const View& view = *values_[op.operands[0]].view;
  const tile_ir::Type& type = module_.type(view.type);
  for (std::size_t d = 0; d < op.results.size(); ++d) {
    const SlotId step = emitter_.constant(traversal_stride(type, d));
    bind_slot(op.results[d], emitter_.scalar(scalar_ceil_div, view.shape[tensor_dimension(type, d)], step));
  }
  return {};
}

Status Lowering::lower_tensor_shape(const Operation& op) {
  const View& view = *values_[op.operands[0]].view;
  for (std::size_t d = 0; d < op.results.size(); ++d) bind_slot(op.results[d], view.shape[d]);
  return {};
}

Result<Access> Lowering::view_access(ValueId view_value, std::span<const ValueId> index, const Operation& op) {
  const View view = *values_[view_value].view;
  const tile_ir::Type& type = module_.type(view.type);
  if (type.kind == TypeKind::gather_scatter_view || index.size() != type.shape.size()) {
    return unsupported(place_of(op), "this view");
  }
  const SlotId bytes = emitter_.constant(static_cast<std::int64_t>(tile_ir::byte_size(view.element)));
  Access access{.element = view.element, .address = {.base = address_of(view)}, .place = place_of(op)};
  const std::size_t rank = squeeze(type.shape).size();
  for (std::size_t d = 0; d < type.shape.size(); ++d) {
    const std::size_t tensor_dim = tensor_dimension(type, d);
    TILEGYM_ASSIGN(const SlotId tile, slot_of(index[d]));
    const SlotId position = emitter_.zero_extend(tile, tile_ir::bit_width(type_of(index[d]).element));
    const SlotId step = emitter_.constant(traversal_stride(type, d));
    const SlotId start = emitter_.scalar(scalar_capped_mul, position, step);
    const SlotId stride = emitter_.mul(view.strides[tensor_dim], bytes);
    access.address.base = emitter_.add(access.address.base, emitter_.mul(start, stride));
    Bound bound{.index = {.base = start, .strides = zeros(rank)}, .limit = view.shape[tensor_dim]};
    if (type.shape[d] != 1) {
      bound.index.strides[access.address.strides.size()] = emitter_.constant(1);
      access.address.strides.push_back(stride);
    }
    access.bounds.push_back(std::move(bound));
  }
  return access;
}

/// In units of an element: bytes, or half bytes of packed elements.
SlotId Lowering::address_of(const View& view) {
  return is_packed(view.element) ? emitter_.add(view.base, view.base) : view.base;
}

Status Lowering::lower_load_view(const Operation& op) {
  const ValueId view = op.group(0)[0];
  if (type_of(view).kind == TypeKind::gather_scatter_view) return lower_sparse_load(op);
  if (is_packed(type_of(view).element)) return lower_packed_load(op);
  TILEGYM_ASSIGN(Access access, view_access(view, op.group(1), op));
  Node node = node_for(op.results[0], NodeKind::load, op);
  node.access = std::move(access);
  const NodeId padding = padding_node(view, op);
  if (padding != kNoNode) node.operands = {padding};
  bind_node(op.results[0], std::move(node));
  return {};
}

SlotId Lowering::padding_slot(ValueId view, tile_ir::ElementType element) {
  return emitter_.constant(padding_bits(type_of(view).padding.value_or(Padding::zero), element));
}

NodeId Lowering::padding_node(ValueId view, const Operation& op) {
  const tile_ir::ElementType element = type_of(op.results[0]).element;
  if (type_of(view).padding.value_or(Padding::zero) == Padding::zero) return kNoNode;
  return uniform_node(padding_slot(view, element), element, op);
}

Status Lowering::lower_store_view(const Operation& op) {
  const ValueId tile = op.group(0)[0];
  if (type_of(op.group(1)[0]).kind == TypeKind::gather_scatter_view) return lower_sparse_store(op);
  if (is_packed(type_of(tile).element)) return lower_packed_store(op);
  TILEGYM_ASSIGN(Access access, view_access(op.group(1)[0], op.group(2), op));
  StoreOut out{.value = node_of(tile), .element = access.element, .place = place_of(op)};
  out.access = std::move(access);
  return emit_store(std::move(out), shape_of(tile));
}

}  // namespace tilegym::cpu
