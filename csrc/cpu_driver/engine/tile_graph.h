#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cpu_driver/engine/plan.h"

/// What lowering knows about tiles before they become steps: a graph of values that are computed only when a store, a
/// reduction, a product or a loop asks for them.
namespace tilegym::cpu {

using Shape = std::vector<std::int64_t>;
using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = ~NodeId{0};
inline constexpr std::size_t kStretched = ~std::size_t{0};

enum class NodeKind : std::uint8_t {
  argument,   // of a reduction's body: lanes that the region binds
  uniform,    // one value for the whole tile, in `slot`
  buffer,     // in a buffer, with a stride per dimension (0: broadcast)
  ramp,       // linear in the indices
  load,       // memory at a linear address; operands: padding (or none)
  gather,     // memory at computed addresses; operands: addresses, mask (or none), padding (or none)
  compute,    // a strip kernel over the operands
  move,       // bits reinterpreted through memory format (16-bit and 8-bit floats)
  broadcast,  // of operand 0; dimension_of gives the dimension of operand 0 for each dimension, or kStretched
};

struct Node {
  NodeKind kind = NodeKind::uniform;
  /// Extents without the dimensions of extent 1; empty: one value.
  Shape shape = {};
  /// Element format of the value; i64 for pointers.
  tile_ir::ElementType element = tile_ir::ElementType::i32;
  Lane lane = Lane::i32;
  std::vector<NodeId> operands = {};
  /// compute: kernel.
  StripKey key = {};
  /// move: memory format to lanes, or lanes to memory format.
  LoadFn move = nullptr;
  SlotId slot = 0;
  std::vector<std::size_t> dimension_of = {};
  /// ramp: values.
  Linear linear = {};
  std::vector<Wrap> wraps = {};
  /// load and gather.
  Access access = {};
  /// buffer: element format in memory (may be wider than `element`), strides in elements.
  BufferId buffer = 0;
  tile_ir::ElementType format = tile_ir::ElementType::i32;
  std::vector<std::int64_t> strides = {};
  /// Pending operands below it, the longest way down.
  std::uint32_t depth = 0;
  /// Operations still to be lowered that refer to the value.
  std::uint32_t uses = 0;
  /// Loop body the value belongs to; its buffer may be overwritten after its last use only inside that body.
  std::uint32_t loop = 0;
  /// The buffer may be overwritten at all (not a constant).
  bool owned = false;

  /// The operation that computes the value, for error texts.
  OpPlace place = {};

  [[nodiscard]] bool pending() const noexcept {
    return kind != NodeKind::uniform && kind != NodeKind::buffer && kind != NodeKind::argument;
  }
};

/// A conjunction of comparisons that are linear in the indices.
using Mask = std::vector<Bound>;

/// A tensor view or a view of tiles of one: slots and static facts, no data.
struct View {
  tile_ir::TypeId type = 0;
  SlotId base = 0;
  tile_ir::ElementType element = tile_ir::ElementType::f32;
  std::vector<SlotId> shape = {};
  std::vector<SlotId> strides = {};  ///< elements
};

/// What an SSA value is bound to. Tokens are bound to nothing.
struct TileValue {
  NodeId node = kNoNode;
  /// Set where the integers (or addresses) are linear in the indices, by dimension of the squeezed shape; exact modulo
  /// the value's own width. `wraps`: terms of a narrower width (of values of 64 bits only).
  std::optional<Linear> linear = {};
  std::vector<Wrap> wraps = {};
  /// Set where the tile of i1 is known to be a conjunction of linear comparisons.
  std::optional<Mask> mask = {};
  std::optional<View> view = {};
};

/// The nodes of one entry. Ids stay valid; references do not survive add().
class Graph {
 public:
  NodeId add(Node node);
  [[nodiscard]] Node& operator[](NodeId id) { return nodes_[id]; }
  [[nodiscard]] const Node& operator[](NodeId id) const { return nodes_[id]; }
  /// One use of the value is gone. kNoNode is ignored.
  void consume(NodeId id);
  /// Binds a node to a buffer that now holds its value, row-major unless `strides` says otherwise.
  void bind(NodeId id, BufferId buffer, tile_ir::ElementType format, std::vector<std::int64_t> strides);
  /// Uses that are left of all values in a buffer.
  [[nodiscard]] std::uint32_t buffer_uses(BufferId buffer) const;
  /// Loads that were not executed yet and are still wanted, oldest first.
  [[nodiscard]] std::vector<NodeId> pending_loads() const;

 private:
  std::vector<Node> nodes_ = {};
  std::vector<std::vector<NodeId>> in_buffer_ = {};
  std::vector<NodeId> loads_ = {};
};

[[nodiscard]] Shape squeeze(const Shape& shape);
[[nodiscard]] std::int64_t element_count(const Shape& shape) noexcept;
[[nodiscard]] std::vector<std::int64_t> row_major(const Shape& shape);
/// Strides of a squeezed shape spread over all dimensions of `shape`; dimensions of extent 1 get `zero`.
template <class T>
[[nodiscard]] std::vector<T> unsqueezed(const std::vector<T>& strides, const Shape& shape, T zero) {
  std::vector<T> result;
  std::size_t next = 0;
  for (const std::int64_t extent : shape) result.push_back(extent == 1 ? zero : strides[next++]);
  return result;
}
/// The format in which tiles of an element type lie in buffers: its own, or that of its lanes for types whose elements
/// have no address.
[[nodiscard]] tile_ir::ElementType buffer_format(tile_ir::ElementType element) noexcept;
/// The format a lane has in memory when it is stored unconverted.
[[nodiscard]] tile_ir::ElementType format_of(Lane lane) noexcept;
/// Whether the memory format is the same as the lanes that hold it.
[[nodiscard]] bool stored_as_lanes(tile_ir::ElementType format) noexcept;

}  // namespace tilegym::cpu
