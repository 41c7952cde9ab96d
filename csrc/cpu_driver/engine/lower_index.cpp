#include <algorithm>
#include <array>
#include <cstring>

#include "cpu_driver/engine/access.h"
#include "cpu_driver/engine/lowering.h"
#include "cpu_driver/engine/scalar_ops.h"
#include "tile_ir/dense.h"

/// Constants, block ids and index arithmetic. Integer tiles that are linear in their indices stay symbolic: only their
/// base and strides are computed, in slots.
namespace tilegym::cpu {

using tile_ir::AttrName;
using tile_ir::ElementType;
using tile_ir::Opcode;
using tile_ir::Predicate;
using tile_ir::Signedness;

namespace {

bool is_splat(const std::vector<std::byte>& bytes, std::size_t size) {
  for (std::size_t i = size; i + size <= bytes.size(); i += size) {
    if (std::memcmp(bytes.data(), bytes.data() + i, size) != 0) return false;
  }
  return true;
}

/// Bits of a constant's element in memory format, in the format of buffers.
std::uint64_t buffer_bits(ElementType element, std::uint64_t bits) {
  switch (element) {
    case ElementType::tf32:
      return bits << 13;  // constants carry the 19 bits that count
    case ElementType::i4:
      return (bits ^ 8U) - 8U;
    case ElementType::f4e2m1fn:
      return static_cast<std::uint32_t>(lane_bits(element, bits));
    default:
      return bits;
  }
}

}  // namespace

Status Lowering::lower_constant(const Operation& op) {
  const ValueId result = op.results[0];
  const tile_ir::Type& type = type_of(result);
  const tile_ir::Attribute* value = op.find(AttrName::value);
  const std::optional<tile_ir::DenseForm> form =
      value == nullptr ? std::nullopt : tile_ir::dense_form(type, value->bytes);
  if (!form) return Error{"constant: its bytes do not fit its type"};
  const bool splat = *form == tile_ir::DenseForm::splat;
  const ElementType format = buffer_format(type.element);
  const std::size_t size = tile_ir::byte_size(format);
  std::vector<std::byte> bytes(size * (splat ? 1 : static_cast<std::size_t>(type.element_count())));
  for (std::size_t i = 0; i * size < bytes.size(); ++i) {
    const std::uint64_t bits = buffer_bits(type.element, tile_ir::element_bits(type, value->bytes, splat, i));
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  if (is_splat(bytes, size)) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data(), size);
    bind_slot(result, emitter_.constant(lane_bits(format, bits)));
    return {};
  }
  Node node = node_for(result, NodeKind::buffer, op);
  node.format = format;
  node.strides = row_major(node.shape);
  node.buffer = emitter_.constant_buffer(std::move(bytes));
  bind_node(result, std::move(node));
  return {};
}

Status Lowering::lower_iota(const Operation& op) {
  Linear linear{.base = zero(), .strides = std::vector<SlotId>(shape_of(op.results[0]).size(), emitter_.constant(1))};
  bind_linear(op.results[0], {std::move(linear), {}}, op);
  return {};
}

Status Lowering::lower_block_id(const Operation& op) {
  for (std::size_t d = 0; d < 3; ++d) bind_slot(op.results[d], plan_.block_id[d]);
  return {};
}

Status Lowering::lower_num_blocks(const Operation& op) {
  for (std::size_t d = 0; d < 3; ++d) bind_slot(op.results[d], plan_.num_blocks[d]);
  return {};
}

/// Tokens order memory operations, which run in program order anyway.
Status Lowering::lower_nothing(const Operation&) {
  return {};
}

Status Lowering::lower_offset(const Operation& op) {
  const auto [pointer, index] = std::pair(op.operands[0], op.operands[1]);
  const SlotId size = emitter_.constant(static_cast<std::int64_t>(tile_ir::byte_size(type_of(pointer).element)));
  TILEGYM_TRY(settle(pointer));
  TILEGYM_TRY(settle(index));
  const auto base = index_of(pointer, Signedness::signed_);
  const auto offset = index_of(index, Signedness::signed_);
  if (base && offset) {
    Ramp sum{{.base = emitter_.add(base->value.base, emitter_.mul(offset->value.base, size))}, base->wraps};
    for (std::size_t d = 0; d < base->value.strides.size(); ++d) {
      sum.value.strides.push_back(emitter_.add(base->value.strides[d], emitter_.mul(offset->value.strides[d], size)));
    }
    for (Wrap wrap : offset->wraps) {
      wrap.scale = emitter_.mul(wrap.scale, size);
      sum.wraps.push_back(std::move(wrap));
    }
    graph_.consume(node_of(pointer));
    graph_.consume(node_of(index));
    bind_linear(op.results[0], std::move(sum), op);
    return {};
  }
  Node scaled = node_for(op.results[0], NodeKind::compute, op);
  scaled.uses = 1;
  scaled.operands = {node_of(index)};
  scaled.shape = graph_[node_of(index)].shape;
  const Lane from = graph_[node_of(index)].lane;
  scaled.key = {.op = StripOp::convert, .lane = Lane::i64, .from = from};
  if (from != Lane::i64) scaled.operands = {graph_.add(scaled)};
  Node unit = node_for(op.results[0], NodeKind::uniform, op);
  unit.shape.clear();
  unit.slot = size;
  unit.uses = 1;
  scaled.operands.push_back(graph_.add(std::move(unit)));
  scaled.key = {.op = StripOp::mul, .lane = Lane::i64};
  Node sum = node_for(op.results[0], NodeKind::compute, op);
  sum.operands = {node_of(pointer), graph_.add(std::move(scaled))};
  sum.key = {.op = StripOp::add, .lane = Lane::i64};
  bind_node(op.results[0], std::move(sum));
  return {};
}

std::optional<Ramp> Lowering::linear_result(const Operation& op) {
  const bool sum = op.opcode == Opcode::AddI || op.opcode == Opcode::SubI;
  const bool product = op.opcode == Opcode::MulI || op.opcode == Opcode::ShLI;
  if (!sum && !product) return std::nullopt;
  const auto [left, right] = std::pair(op.operands[0], op.operands[1]);
  if (!values_[left].linear && !values_[right].linear) return std::nullopt;
  const std::optional<Linear> first = linear_of(left);
  const std::optional<Linear> second = linear_of(right);
  if (!first || !second) return std::nullopt;
  // A product is linear where one factor is the same for all elements; a shift where the amount is.
  if (values_[left].linear && values_[right].linear && product) return std::nullopt;
  if (!values_[left].linear && op.opcode == Opcode::ShLI) return std::nullopt;
  const bool exchange = !values_[left].linear && product;
  const Linear& a = exchange ? *second : *first;
  const Linear& b = exchange ? *first : *second;
  const StripOp strip = product ? (op.opcode == Opcode::ShLI ? StripOp::shl : StripOp::mul)
                                : (op.opcode == Opcode::SubI ? StripOp::sub : StripOp::add);
  const Lane lane = lane_of(type_of(op.results[0]).element);
  const ScalarFn fn = find_scalar({.op = strip, .lane = lane});
  Ramp result{{.base = emitter_.scalar(fn, a.base, b.base)}, {}};
  for (std::size_t d = 0; d < a.strides.size(); ++d) {
    result.value.strides.push_back(emitter_.scalar(fn, a.strides[d], product ? b.base : b.strides[d]));
  }
  // Terms of a narrower width are scaled or added as the values are.
  for (Wrap wrap : values_[exchange ? right : left].wraps) {
    if (product) wrap.scale = emitter_.scalar(fn, wrap.scale, b.base);
    result.wraps.push_back(std::move(wrap));
  }
  for (Wrap wrap : values_[exchange ? left : right].wraps) {
    if (op.opcode == Opcode::SubI) wrap.scale = emitter_.mul(wrap.scale, emitter_.constant(-1));
    result.wraps.push_back(std::move(wrap));
  }
  return result;
}

std::optional<Mask> Lowering::mask_result(const Operation& op) {
  if (op.opcode == Opcode::CmpI) return compare_mask(op);
  const bool conjunction = op.opcode == Opcode::AndI && type_of(op.results[0]).element == ElementType::i1;
  if (!conjunction || shape_of(op.results[0]).empty()) return std::nullopt;
  auto left = mask_of(op.operands[0]);
  const auto right = mask_of(op.operands[1]);
  if (!left || !right) return std::nullopt;
  left->insert(left->end(), right->begin(), right->end());
  return left;
}

std::optional<Mask> Lowering::compare_mask(const Operation& op) {
  if (shape_of(op.results[0]).empty()) return std::nullopt;
  Bound bound{.predicate = static_cast<Predicate>(op.integer(AttrName::comparison_predicate))};
  if (bound.predicate == Predicate::not_equal) return std::nullopt;
  const auto signedness = static_cast<Signedness>(op.integer(AttrName::signedness, 1));
  // Unsigned values of 64 bits do not fit a bound's signed ones.
  const int bits = tile_ir::bit_width(type_of(op.operands[0]).element);
  if (signedness == Signedness::unsigned_ && bits == 64) return std::nullopt;
  if (!linear_of(op.operands[0]) || !linear_of(op.operands[1])) return std::nullopt;
  // Where both sides vary, their difference need not be one range in wrapping arithmetic.
  const bool right_varies = values_[op.operands[1]].linear.has_value();
  if (right_varies && values_[op.operands[0]].linear) return std::nullopt;
  if (right_varies) bound.predicate = mirrored(bound.predicate);
  Ramp index = *index_of(op.operands[right_varies ? 1 : 0], signedness);
  bound.index = std::move(index.value);
  bound.wraps = std::move(index.wraps);
  bound.limit = index_of(op.operands[right_varies ? 0 : 1], signedness)->value.base;
  return Mask{std::move(bound)};
}

}  // namespace tilegym::cpu
