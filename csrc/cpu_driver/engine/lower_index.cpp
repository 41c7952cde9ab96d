#include <algorithm>
#include <array>
#include <cstring>

#include "cpu_driver/engine/access.h"
#include "cpu_driver/engine/lowering.h"
#include "cpu_driver/engine/scalar_ops.h"

/// Constants, block ids and index arithmetic. Integer tiles that are linear in their indices stay symbolic: only their
/// base and strides are computed, in slots.
namespace tilegym::cpu {

using tile_ir::AttrName;
using tile_ir::ElementType;
using tile_ir::Opcode;
using tile_ir::Predicate;
using tile_ir::Signedness;

namespace {

/// Element bytes as find_load() reads them: i1 constants are one bit or one byte each.
std::vector<std::byte> constant_bytes(const tile_ir::Attribute& value, ElementType element, std::size_t count) {
  std::vector<std::byte> bytes(value.bytes.begin(), value.bytes.end());
  if (element != ElementType::i1) return bytes;
  if (bytes.size() < count && bytes.size() > 1) {
    std::vector<std::byte> unpacked(count);
    for (std::size_t i = 0; i < count; ++i) unpacked[i] = bytes[i / 8] >> (i % 8) & std::byte{1};
    return unpacked;
  }
  for (std::byte& byte : bytes) byte = byte == std::byte{0} ? byte : std::byte{1};
  return bytes;
}

bool is_splat(const std::vector<std::byte>& bytes, std::size_t size) {
  for (std::size_t i = size; i + size <= bytes.size(); i += size) {
    if (std::memcmp(bytes.data(), bytes.data() + i, size) != 0) return false;
  }
  return true;
}

std::int64_t constant_slot_bits(ElementType element, const std::byte* bytes) {
  alignas(kVectorBytes) std::array<std::byte, 16 * kVectorBytes> lanes{};
  find_load(element)(lanes.data(), bytes, 1);
  return slot_bits(lane_of(element), lanes.data());
}

}  // namespace

Status Lowering::lower_constant(const Operation& op) {
  const ValueId result = op.results[0];
  const ElementType element = type_of(result).element;
  const tile_ir::Attribute* value = op.find(AttrName::value);
  const std::size_t size = tile_ir::byte_size(element);
  const auto count = static_cast<std::size_t>(type_of(result).element_count());
  if (value == nullptr || find_load(element) == nullptr) return unsupported(place_of(op), tile_ir::name(element));
  std::vector<std::byte> bytes = constant_bytes(*value, element, count);
  if (bytes.size() != size && bytes.size() != size * count) {
    return Error{"constant: wanted " + std::to_string(size * count) + " bytes, got " + std::to_string(bytes.size())};
  }
  if (is_splat(bytes, size)) {
    bind_slot(result, emitter_.constant(constant_slot_bits(element, bytes.data())));
    return {};
  }
  Node node = node_for(result, NodeKind::buffer, op);
  node.format = element;
  node.strides = row_major(node.shape);
  node.buffer = emitter_.constant_buffer(std::move(bytes));
  bind_node(result, std::move(node));
  return {};
}

Status Lowering::lower_iota(const Operation& op) {
  Linear linear{.base = zero(), .strides = std::vector<SlotId>(shape_of(op.results[0]).size(), emitter_.constant(1))};
  bind_linear(op.results[0], std::move(linear), op);
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
  const auto base = linear_of(pointer);
  const auto offset = linear_of(index);
  if (base && offset) {
    Linear sum{.base = emitter_.add(base->base, emitter_.mul(offset->base, size))};
    for (std::size_t d = 0; d < base->strides.size(); ++d) {
      sum.strides.push_back(emitter_.add(base->strides[d], emitter_.mul(offset->strides[d], size)));
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

std::optional<Linear> Lowering::linear_result(const Operation& op) {
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
  Linear result{.base = emitter_.scalar(fn, a.base, b.base)};
  for (std::size_t d = 0; d < a.strides.size(); ++d) {
    result.strides.push_back(emitter_.scalar(fn, a.strides[d], product ? b.base : b.strides[d]));
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
  const std::optional<Linear> left = linear_of(op.operands[0]);
  const std::optional<Linear> right = linear_of(op.operands[1]);
  if (!left || !right) return std::nullopt;
  Bound bound{.predicate = static_cast<Predicate>(op.integer(AttrName::comparison_predicate))};
  if (bound.predicate == Predicate::not_equal) return std::nullopt;
  const int bits = tile_ir::bit_width(type_of(op.operands[0]).element);
  const bool is_signed = op.integer(AttrName::signedness, 1) == static_cast<std::uint64_t>(Signedness::signed_);
  if (!is_signed) {
    if (bits == 64) return std::nullopt;
    bound.wrap = (std::uint64_t{1} << bits) - 1;
  }
  // Where both sides vary, their difference need not be one range in wrapping arithmetic.
  const bool right_varies = values_[op.operands[1]].linear.has_value();
  if (right_varies && values_[op.operands[0]].linear) return std::nullopt;
  if (right_varies) bound.predicate = mirrored(bound.predicate);
  bound.index = right_varies ? *right : *left;
  bound.limit = right_varies ? left->base : right->base;
  return Mask{std::move(bound)};
}

}  // namespace tilegym::cpu
