#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/result.h"
#include "cpu_driver/engine/emitter.h"
#include "cpu_driver/engine/region_builder.h"
#include "cpu_driver/engine/tile_graph.h"
#include "tile_ir/module.h"

namespace tilegym::cpu {

/// Lowers one entry to a plan. Operations are visited in program order; each is handled by the function that the
/// dispatch table gives for its opcode. Scalars and steps with effects are emitted at once, tile arithmetic becomes
/// graph nodes that the next effect pulls into a region.
class Lowering {
 public:
  /// How loops carry index and pointer tiles: as base and strides where that looks possible, or always as tiles.
  enum class Carrying : std::uint8_t { symbolic, materialised };

  Lowering(const tile_ir::Module& module, const tile_ir::Function& entry, Plan& plan,
           Carrying carrying = Carrying::symbolic);

  [[nodiscard]] Status run();
  /// Whether run() failed only because a carried tile did not stay linear.
  [[nodiscard]] bool lost_linear_carrier() const noexcept { return lost_linear_carrier_; }

 private:
  using Operation = tile_ir::Operation;
  using ValueId = tile_ir::ValueId;
  using Handler = Status (Lowering::*)(const Operation&);

  /// A place for a value that crosses the edge of a loop or branch: a slot or a buffer; neither for tokens.
  struct Carrier {
    bool is_token = false;
    bool is_slot = false;
    SlotId slot = 0;
    BufferId buffer = 0;
    Shape shape = {};
    /// Format of the buffer.
    tile_ir::ElementType element = tile_ir::ElementType::i32;
    Lane lane = Lane::i32;
    /// An index or pointer tile that stays linear: slots of its own for base and strides; the wraps never change.
    std::optional<Ramp> linear = {};

    [[nodiscard]] bool is_buffer() const noexcept { return !is_token && !is_slot && !linear; }
  };
  using Carriers = std::vector<Carrier>;

  [[nodiscard]] static Handler handler_of(tile_ir::Opcode opcode) noexcept;

  // lowering.cpp: entry, blocks, values
  [[nodiscard]] Status bind_parameters();
  [[nodiscard]] Status lower_block(const tile_ir::Block& block);
  [[nodiscard]] Status lower_operation(const Operation& op);
  [[nodiscard]] Status limit_depth(const Operation& op);
  [[nodiscard]] const tile_ir::Type& type_of(ValueId value) const { return module_.type_of(entry_, value); }
  [[nodiscard]] Shape shape_of(ValueId value) const { return squeeze(type_of(value).shape); }
  [[nodiscard]] NodeId node_of(ValueId value) const { return values_[value].node; }
  [[nodiscard]] static OpPlace place_of(const Operation& op) { return {op.opcode, op.byte_offset}; }
  /// A node of the value's element, lane and squeezed shape with the uses that the value has.
  [[nodiscard]] Node node_for(ValueId value, NodeKind kind, const Operation& op) const;
  void bind_node(ValueId value, Node node);
  void bind_slot(ValueId value, SlotId slot);
  void bind_linear(ValueId value, Ramp index, const Operation& op);
  /// The result is the operand under another type.
  void alias(ValueId result, ValueId source);
  [[nodiscard]] Result<SlotId> slot_of(ValueId value);
  /// Whether the value is one integer, pointer or i1 in a slot.
  [[nodiscard]] bool is_integer_slot(ValueId value) const;
  [[nodiscard]] std::optional<Linear> linear_of(ValueId value);
  /// The integers of the value, extended to 64 bits, where they are linear.
  [[nodiscard]] std::optional<Ramp> index_of(ValueId value, tile_ir::Signedness signedness);
  /// Whether the index fits its width for all elements, as far as is known now.
  [[nodiscard]] bool fits(const Wrap& wrap, const Shape& shape) const;
  [[nodiscard]] std::optional<Mask> mask_of(ValueId value);
  [[nodiscard]] SlotId zero() { return emitter_.constant(0); }
  [[nodiscard]] std::vector<SlotId> zeros(std::size_t count) { return std::vector<SlotId>(count, zero()); }

  // lower_elementwise.cpp, lower_convert.cpp
  [[nodiscard]] Status lower_elementwise(const Operation& op);
  [[nodiscard]] Status lower_compute(const Operation& op, const StripKey& key, bool exact);
  [[nodiscard]] Status round_to_element(const Operation& op, Node node, bool exact);
  [[nodiscard]] Status lower_integer_width(const Operation& op);
  [[nodiscard]] Status lower_nibbles(const Operation& op);
  [[nodiscard]] Status lower_float_width(const Operation& op);
  [[nodiscard]] Status lower_integer_to_float(const Operation& op);
  [[nodiscard]] Status lower_saturated(const Operation& op, NodeId value);
  [[nodiscard]] Status lower_float_to_integer(const Operation& op);
  [[nodiscard]] Status lower_truth(const Operation& op);
  [[nodiscard]] Status lower_bitcast(const Operation& op);
  [[nodiscard]] Status lower_alias(const Operation& op);

  // lower_index.cpp
  [[nodiscard]] Status lower_constant(const Operation& op);
  [[nodiscard]] Status lower_iota(const Operation& op);
  [[nodiscard]] Status lower_offset(const Operation& op);
  [[nodiscard]] Status lower_block_id(const Operation& op);
  [[nodiscard]] Status lower_num_blocks(const Operation& op);
  [[nodiscard]] Status lower_nothing(const Operation& op);
  [[nodiscard]] std::optional<Ramp> linear_result(const Operation& op);
  [[nodiscard]] std::optional<Mask> mask_result(const Operation& op);
  [[nodiscard]] std::optional<Mask> compare_mask(const Operation& op);

  // lower_layout.cpp
  [[nodiscard]] Status lower_reshape(const Operation& op);
  [[nodiscard]] Status lower_broadcast(const Operation& op);
  [[nodiscard]] Status lower_permute(const Operation& op);
  [[nodiscard]] Status lower_cat(const Operation& op);
  [[nodiscard]] Status lower_extract(const Operation& op);
  [[nodiscard]] std::optional<Linear> reshaped(const Linear& linear, const Shape& from, const Shape& to);
  /// A new row-major buffer that the result is bound to, as the target of a copy.
  [[nodiscard]] TileSide result_side(const Operation& op, tile_ir::ElementType format);
  void append_copy(CopyStep step);
  /// The operand in a row-major buffer; its use is consumed by the caller.
  [[nodiscard]] Result<NodeId> buffered(ValueId value);

  // lower_memory.cpp, lower_views.cpp
  [[nodiscard]] Status refuse_packed(ValueId pointer, const Operation& op) const;
  [[nodiscard]] Status lower_load_ptr(const Operation& op);
  [[nodiscard]] Status lower_store_ptr(const Operation& op);
  [[nodiscard]] Status settle(std::optional<ValueId> value);
  /// The access of a pointer tile where pointers and mask are linear; their uses are consumed then.
  [[nodiscard]] std::optional<Access> linear_access(ValueId pointer, std::optional<ValueId> mask, const Operation& op);
  [[nodiscard]] Status emit_store(StoreOut out, const Shape& shape);
  /// Whether the value is a load in the format of `element`, without padding, that has one use left.
  [[nodiscard]] bool loads_as(NodeId id, tile_ir::ElementType element) const;
  static void load_as(Node& load, tile_ir::ElementType element);
  [[nodiscard]] NodeId without_rounding(NodeId value, tile_ir::ElementType element);
  [[nodiscard]] Status lower_make_tensor_view(const Operation& op);
  [[nodiscard]] Status lower_make_tile_view(const Operation& op);
  [[nodiscard]] Status lower_index_space_shape(const Operation& op);
  [[nodiscard]] Status lower_tensor_shape(const Operation& op);
  [[nodiscard]] Status lower_load_view(const Operation& op);
  [[nodiscard]] Status lower_store_view(const Operation& op);
  /// What a view yields outside its tensor, or kNoNode for zero.
  [[nodiscard]] SlotId padding_slot(ValueId view, tile_ir::ElementType element);
  [[nodiscard]] NodeId padding_node(ValueId view, const Operation& op);
  [[nodiscard]] Result<Access> view_access(ValueId view, std::span<const ValueId> index, const Operation& op);

  // lower_reduce.cpp, lower_mma.cpp
  [[nodiscard]] Status lower_reduce(const Operation& op);
  [[nodiscard]] Status lower_reduce_body(const Operation& op, ReduceOut& reduce);
  [[nodiscard]] Status settle_captures(const tile_ir::Block& body);
  [[nodiscard]] Status lower_combination(const tile_ir::Block& body, ReduceOut& reduce);
  [[nodiscard]] Status reduce_destinations(const Operation& op, const Shape& shape, ReduceOut& reduce);
  [[nodiscard]] Status lower_mma(const Operation& op);
  [[nodiscard]] NodeId unrounded(NodeId id, tile_ir::ElementType element) const;
  [[nodiscard]] Result<CopyStep> mma_operand(NodeId id, const tile_ir::Type& type);
  [[nodiscard]] Access unsqueezed_access(const Access& access, const Shape& shape);
  [[nodiscard]] Status bind_sum(const Operation& op, Node sum);
  /// A row-major buffer with the value that may be overwritten; consumes one use of the value.
  [[nodiscard]] Result<BufferId> exclusive_buffer(NodeId node, const Shape& shape, tile_ir::ElementType format);

  // lower_control.cpp, lower_carried.cpp
  [[nodiscard]] Status lower_for(const Operation& op);
  [[nodiscard]] Status lower_loop(const Operation& op);
  [[nodiscard]] Status lower_if(const Operation& op);
  [[nodiscard]] Status lower_yield(const Operation& op);
  [[nodiscard]] Status lower_continue(const Operation& op);
  [[nodiscard]] Status lower_break(const Operation& op);
  [[nodiscard]] Status lower_return(const Operation& op);
  [[nodiscard]] Status lower_loop_body(const Operation& op, Steps& steps);
  /// Computes what the regions of `op` read, so that nothing outside them is first computed inside.
  [[nodiscard]] Status compute_before(const Operation& op);
  [[nodiscard]] Result<Carriers> carriers_for(std::span<const ValueId> values);
  /// Carriers of a loop's arguments, set to the initial values.
  [[nodiscard]] Result<Carriers> carriers_from(const Operation& loop, std::span<const ValueId> values,
                                               std::span<const ValueId> initial);
  [[nodiscard]] bool stays_linear(const Operation& loop, std::size_t index, ValueId argument) const;
  [[nodiscard]] bool advances(const Operation& loop, ValueId value, ValueId argument) const;
  [[nodiscard]] bool is_even_step(const Operation& loop, ValueId value) const;
  void make_linear(Carrier& carrier, ValueId initial);
  [[nodiscard]] Status assign_linear(const Carrier& carrier, ValueId value,
                                     std::vector<std::pair<SlotId, SlotId>>& moves);
  [[nodiscard]] Status check_carried(const Carrier& carrier, ValueId value) const;
  [[nodiscard]] Status assign(const Carriers& carriers, std::span<const ValueId> values);
  [[nodiscard]] Status assign_pending(const Carriers& carriers, std::span<const ValueId> values);
  [[nodiscard]] Status assign_buffers(const Carriers& carriers, std::span<const ValueId> values);
  void bind_carried(const Carriers& carriers, std::span<const ValueId> values, std::uint32_t loop);
  void touch(const Carriers& carriers);
  [[nodiscard]] std::optional<BufferId> reusable_buffer(ValueId initial, const Carrier& carrier);
  /// Fills `target` with the node's value whatever it holds; the copy as a node without uses.
  [[nodiscard]] Result<NodeId> copy_to(NodeId source, const Carrier& target);

  // lower_scan.cpp, lower_atomic.cpp, lower_storage.cpp, lower_scaled_mma.cpp, lower_sparse_view.cpp
  [[nodiscard]] Status lower_scan(const Operation& op);
  [[nodiscard]] Status lower_atomic(const Operation& op);
  [[nodiscard]] Status lower_atomic_view(const Operation& op);
  [[nodiscard]] Status append_atomic(const Operation& op, AtomicStep step);
  [[nodiscard]] Status lower_alloca(const Operation& op);
  [[nodiscard]] Status lower_get_global(const Operation& op);
  // lower_packed.cpp: 4-bit elements of views
  [[nodiscard]] Status lower_packed_load(const Operation& op);
  [[nodiscard]] Status lower_packed_store(const Operation& op);
  [[nodiscard]] Result<PackedStep> packed_step(ValueId view, std::span<const ValueId> index, const Shape& shape,
                                               const Operation& op);
  [[nodiscard]] SlotId address_of(const View& view);
  [[nodiscard]] Status lower_pack(const Operation& op);
  [[nodiscard]] Status lower_same_bytes(const Operation& op);
  [[nodiscard]] Status lower_scaled_mma(const Operation& op);
  [[nodiscard]] Result<CopyStep> scaled_operand(const Operation& op, std::size_t operand, std::size_t k_dim);
  [[nodiscard]] Result<NodeId> blocked(ValueId value, const Shape& blocks, std::size_t repeated_dim);
  [[nodiscard]] Status lower_sparse_load(const Operation& op);
  [[nodiscard]] Status lower_sparse_store(const Operation& op);
  /// Addresses and mask of a tile of a gather/scatter view, as nodes that are used once.
  struct SparseAccess {
    NodeId addresses = kNoNode;
    NodeId mask = kNoNode;
  };
  [[nodiscard]] Result<SparseAccess> sparse_access(ValueId view, std::span<const ValueId> index, const Operation& op);
  /// Where an operation other than a region leaves its result: a new slot or row-major buffer that the value is bound
  /// to.
  [[nodiscard]] InspectedTile result_tile(const Operation& op);

  // nodes.cpp: nodes that lowering adds of its own accord, each used once
  [[nodiscard]] NodeId uniform_node(SlotId slot, tile_ir::ElementType element, const Operation& op);
  [[nodiscard]] NodeId compute_node(const StripKey& key, tile_ir::ElementType element, std::vector<NodeId> operands,
                                    const Operation& op);
  [[nodiscard]] NodeId ramp_node(Ramp index, const Shape& shape, const Operation& op);
  [[nodiscard]] NodeId spread_node(NodeId source, const Shape& shape, std::vector<std::size_t> dimension_of);

  // lower_debug.cpp
  [[nodiscard]] Status lower_assert(const Operation& op);
  [[nodiscard]] Status lower_print(const Operation& op);
  [[nodiscard]] Result<InspectedTile> inspected(ValueId value);

  const tile_ir::Module& module_;
  const tile_ir::Function& entry_;
  Plan& plan_;
  Emitter emitter_;
  Graph graph_;
  RegionBuilder builder_;
  std::vector<TileValue> values_;
  /// Uses of each value by operations that have an effect.
  std::vector<std::uint32_t> uses_;
  std::set<const Operation*> live_;
  std::uint32_t loops_ = 0;
  /// A reduction's body is being lowered: its values are strips of a region that does not exist yet.
  bool in_reduction_ = false;
  Carrying carrying_;
  bool lost_linear_carrier_ = false;
  /// Targets of the innermost loop's continue and break, and of the innermost branch's yield.
  const Carriers* continue_targets_ = nullptr;
  const Carriers* break_targets_ = nullptr;
  const Carriers* yield_targets_ = nullptr;
};

/// Whether two elements share a byte in memory.
[[nodiscard]] inline bool is_packed(tile_ir::ElementType element) noexcept {
  return tile_ir::bit_width(element) == 4;
}

/// Bits of an element in memory format as a slot holds them; packed elements in the low bits.
[[nodiscard]] std::int64_t lane_bits(tile_ir::ElementType element, std::uint64_t bits) noexcept;
/// Bits of the lane value at `lanes` as a slot holds them.
[[nodiscard]] std::int64_t slot_bits(Lane lane, const void* lanes) noexcept;

}  // namespace tilegym::cpu
