#include <utility>

#include "cpu_driver/engine/lowering.h"

/// Gather/scatter views: along one dimension a tile of indices picks the elements, along the others the tile is one
/// piece that begins at an element. Their addresses are computed lane by lane.
namespace tilegym::cpu {

using tile_ir::ElementType;
using tile_ir::Signedness;

namespace {

constexpr StripKey kBelow{.op = StripOp::compare,
                          .lane = Lane::i64,
                          .signedness = Signedness::unsigned_,
                          .predicate = tile_ir::Predicate::less};
constexpr StripKey kTimes{.op = StripOp::mul, .lane = Lane::i64};
constexpr StripKey kPlus{.op = StripOp::add, .lane = Lane::i64};
constexpr StripKey kBoth{.op = StripOp::and_, .lane = Lane::mask};

}  // namespace

Result<Lowering::SparseAccess> Lowering::sparse_access(ValueId view_value, std::span<const ValueId> index,
                                                       const Operation& op) {
  const View view = *values_[view_value].view;
  const tile_ir::Type& type = module_.type(view.type);
  const auto sparse = static_cast<std::size_t>(type.sparse_dim);
  const Shape shape = squeeze(type.shape);
  const SlotId bytes = emitter_.constant(static_cast<std::int64_t>(tile_ir::byte_size(view.element)));

  const NodeId picks = node_of(index[sparse]);
  const Lane lane = graph_[picks].lane;
  StripKey widen{.op = StripOp::copy, .lane = Lane::i64};
  if (lane != Lane::i64) {
    widen = {.op = StripOp::convert, .lane = Lane::i64, .from = lane, .signedness = Signedness::unsigned_};
  }
  const NodeId element = compute_node(widen, ElementType::i64, {picks}, op);
  graph_[element].uses = 2;
  NodeId mask =
      compute_node(kBelow, ElementType::i1, {element, uniform_node(view.shape[sparse], ElementType::i64, op)}, op);
  const SlotId sparse_stride = emitter_.mul(view.strides[sparse], bytes);
  NodeId address =
      compute_node(kTimes, ElementType::i64, {element, uniform_node(sparse_stride, ElementType::i64, op)}, op);

  Linear piece{.base = address_of(view)};
  std::vector<std::size_t> dimension_of;
  std::vector<NodeId> inside;
  for (std::size_t d = 0; d < type.shape.size(); ++d) {
    const bool varies = type.shape[d] != 1;
    if (varies) dimension_of.push_back(d == sparse ? 0 : kStretched);
    if (varies && d == sparse) piece.strides.push_back(zero());
    if (d == sparse) continue;
    TILEGYM_ASSIGN(const SlotId slot, slot_of(index[d]));
    const SlotId start = emitter_.zero_extend(slot, tile_ir::bit_width(type_of(index[d]).element));
    const SlotId stride = emitter_.mul(view.strides[d], bytes);
    piece.base = emitter_.add(piece.base, emitter_.mul(start, stride));
    Linear position{.base = start, .strides = zeros(shape.size())};
    if (varies) {
      position.strides[piece.strides.size()] = emitter_.constant(1);
      piece.strides.push_back(stride);
    }
    inside.push_back(compute_node(
        kBelow, ElementType::i1,
        {ramp_node({std::move(position), {}}, shape, op), uniform_node(view.shape[d], ElementType::i64, op)}, op));
  }
  if (!graph_[address].shape.empty() && graph_[address].shape != shape) {
    address = spread_node(address, shape, dimension_of);
    mask = spread_node(mask, shape, dimension_of);
  }
  address = compute_node(kPlus, ElementType::i64, {address, ramp_node({std::move(piece), {}}, shape, op)}, op);
  for (const NodeId condition : inside) mask = compute_node(kBoth, ElementType::i1, {mask, condition}, op);
  graph_[address].shape = graph_[mask].shape = shape;
  return SparseAccess{address, mask};
}

Status Lowering::lower_sparse_load(const Operation& op) {
  const ValueId view = op.group(0)[0];
  TILEGYM_ASSIGN(const SparseAccess access, sparse_access(view, op.group(1), op));
  Node node = node_for(op.results[0], NodeKind::gather, op);
  node.access.element = node.element;
  node.access.place = place_of(op);
  node.operands = {access.addresses, access.mask, padding_node(view, op)};
  bind_node(op.results[0], std::move(node));
  return {};
}

Status Lowering::lower_sparse_store(const Operation& op) {
  const ValueId tile = op.group(0)[0];
  TILEGYM_ASSIGN(const SparseAccess access, sparse_access(op.group(1)[0], op.group(2), op));
  const ElementType element = type_of(tile).element;
  StoreOut out{.value = node_of(tile), .element = element, .place = place_of(op)};
  out.addresses = access.addresses;
  out.mask = access.mask;
  return emit_store(std::move(out), shape_of(tile));
}

}  // namespace tilegym::cpu
