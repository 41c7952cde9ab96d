#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "cpu_driver/engine/global_memory.h"
#include "cpu_driver/engine/lowering.h"

/// Memory that the kernel itself brings along, and tiles as arrays of bytes.
namespace tilegym::cpu {

using tile_ir::AttrName;
using tile_ir::ElementType;

namespace {

/// i1 in a packed tile: eight to a byte, lowest bit first.
void pack_bits(void* dst, const void* src, std::size_t lanes) noexcept {
  auto* bytes = static_cast<std::uint8_t*>(dst);
  const auto* bits = static_cast<const std::uint8_t*>(src);
  std::fill_n(bytes, lanes / 8, std::uint8_t{0});
  for (std::size_t i = 0; i < lanes; ++i) bytes[i / 8] = static_cast<std::uint8_t>(bytes[i / 8] | bits[i] << i % 8);
}
void unpack_bits(void* dst, const void* src, std::size_t lanes) noexcept {
  auto* bits = static_cast<std::uint8_t*>(dst);
  const auto* bytes = static_cast<const std::uint8_t*>(src);
  for (std::size_t i = 0; i < lanes; ++i) bits[i] = bytes[i / 8] >> i % 8 & 1;
}

StoreFn packing(ElementType element) {
  return element == ElementType::i1 ? pack_bits : find_store(element);
}
LoadFn unpacking(ElementType element) {
  return element == ElementType::i1 ? unpack_bits : find_load(element);
}

}  // namespace

Status Lowering::lower_alloca(const Operation& op) {
  constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;
  const std::uint64_t elements = op.integer(AttrName::num_elem);
  const std::uint64_t alignment = std::max<std::uint64_t>(op.integer(AttrName::alignment), 1);
  const std::size_t size = tile_ir::byte_size(type_of(op.results[0]).element);
  if (!std::has_single_bit(alignment) || alignment > kMaxBytes || elements > kMaxBytes / size) {
    return Error{"alloca: wanted at most " + std::to_string(kMaxBytes) + " bytes aligned to a power of two, got " +
                 std::to_string(elements) + " elements of " + std::to_string(size) + " bytes aligned to " +
                 std::to_string(alignment)};
  }
  Allocation allocation{.address = emitter_.new_slot(), .bytes = elements * size, .alignment = alignment};
  allocation.buffer = emitter_.lasting_buffer(allocation.bytes + alignment);
  bind_slot(op.results[0], allocation.address);
  plan_.allocations.push_back(allocation);
  plan_.shares_allocations = plan_.shares_allocations || op.flag(AttrName::global);
  return {};
}

Status Lowering::lower_get_global(const Operation& op) {
  const tile_ir::Attribute* name = op.find(AttrName::name);
  if (plan_.globals == nullptr || name == nullptr)
    return Error{"get_global: the module was loaded without its globals"};
  const std::span<std::byte> memory = find_global(*plan_.globals, name->text);
  if (memory.empty()) return Error{"get_global: the module has no global '" + std::string(name->text) + "'"};
  bind_slot(op.results[0],
            emitter_.constant(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(memory.data()))));
  return {};
}

/// pack and unpack of elements that a buffer holds as memory does: the same bytes under another type.
Status Lowering::lower_same_bytes(const Operation& op) {
  const auto [source, result] = std::pair(op.operands[0], op.results[0]);
  TILEGYM_ASSIGN(const NodeId held,
                 builder_.row_major_buffer(node_of(source), shape_of(source), type_of(source).element));
  Node node = node_for(result, NodeKind::buffer, op);
  node.buffer = graph_[held].buffer;
  node.format = node.element;
  node.owned = graph_[held].owned;
  node.loop = graph_[held].loop;
  node.strides = row_major(node.shape);
  const bool one_value = node.shape.empty();
  bind_node(result, std::move(node));
  graph_.consume(node_of(source));
  if (one_value) TILEGYM_TRY(slot_of(result));
  return {};
}

/// pack and unpack: all lanes through the packed memory format at once.
Status Lowering::lower_pack(const Operation& op) {
  const bool packs = op.opcode == tile_ir::Opcode::Pack;
  const tile_ir::Type& numbers = type_of(packs ? op.operands[0] : op.results[0]);
  const bool below_a_byte = numbers.element == ElementType::i1 || is_packed(numbers.element);
  if (!below_a_byte && !shape_of(op.operands[0]).empty()) return lower_same_bytes(op);
  const NodeId source = node_of(op.operands[0]);
  TILEGYM_ASSIGN(const NodeId held,
                 builder_.row_major_buffer(source, shape_of(op.operands[0]), format_of(graph_[source].lane)));
  Node node = node_for(op.results[0], NodeKind::buffer, op);
  node.format = format_of(node.lane);
  node.strides = row_major(node.shape);
  node.owned = true;
  node.buffer =
      emitter_.new_buffer(static_cast<std::size_t>(element_count(node.shape)) * tile_ir::byte_size(node.format));
  const auto packed = static_cast<std::int64_t>(kStripLanes) * tile_ir::bit_width(numbers.element) / 8;
  const auto lanes = static_cast<std::int64_t>(kStripLanes * lane_bytes(lane_of(numbers.element)));
  emitter_.touch(graph_[held].buffer);
  emitter_.touch(node.buffer);
  emitter_.append(RecodeStep{.fn = packs ? packing(numbers.element) : unpacking(numbers.element),
                             .dst = node.buffer,
                             .src = graph_[held].buffer,
                             .count = numbers.element_count(),
                             .dst_strip_bytes = packs ? packed : lanes,
                             .src_strip_bytes = packs ? lanes : packed});
  graph_.consume(source);
  const bool one_value = node.shape.empty();
  bind_node(op.results[0], std::move(node));
  if (one_value) TILEGYM_TRY(slot_of(op.results[0]));
  return {};
}

}  // namespace tilegym::cpu
