#pragma once

#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cpu_driver/engine/engine.h"
#include "cpu_driver/engine/memory_map.h"
#include "tile_ir/module.h"

namespace tilegym::cpu::testing {

using tile_ir::AttrName;
using tile_ir::ElementType;
using tile_ir::Opcode;
using tile_ir::Operation;
using tile_ir::TypeId;
using tile_ir::ValueId;
using Values = std::vector<ValueId>;
using Shape = std::vector<std::int64_t>;

/// Writes an entry in memory, operation by operation, without going through bytecode.
class KernelBuilder {
 public:
  KernelBuilder();

  // Types
  [[nodiscard]] TypeId tile(ElementType element, Shape shape = {});
  [[nodiscard]] TypeId pointers(ElementType element, Shape shape = {});
  [[nodiscard]] TypeId tensor_view(ElementType element, Shape shape, Shape strides);
  [[nodiscard]] TypeId partition(TypeId tensor_view, Shape tile_shape, std::vector<std::int32_t> dim_map = {},
                                 std::optional<tile_ir::Padding> padding = std::nullopt);
  [[nodiscard]] TypeId token();
  [[nodiscard]] const tile_ir::Type& type_of(ValueId value) const;

  // Parameters and operations
  [[nodiscard]] ValueId parameter(TypeId type);
  [[nodiscard]] ValueId pointer_parameter(ElementType element) { return parameter(pointers(element)); }
  using Attributes = std::vector<std::pair<AttrName, std::uint64_t>>;
  Operation& add(Opcode opcode, Values operands, std::vector<TypeId> results, const Attributes& attributes = {});
  [[nodiscard]] ValueId op(Opcode opcode, Values operands, TypeId result, const Attributes& attributes = {});
  /// The result has the type of the first operand.
  [[nodiscard]] ValueId same(Opcode opcode, Values operands, const Attributes& attributes = {});

  // Short forms
  template <class T>
  [[nodiscard]] ValueId constant(TypeId type, std::vector<T> elements) {
    std::vector<std::byte> bytes(elements.size() * sizeof(T));
    std::memcpy(bytes.data(), elements.data(), bytes.size());
    return constant_bytes(type, std::move(bytes));
  }
  [[nodiscard]] ValueId int_constant(std::int32_t value) {
    return constant<std::int32_t>(tile(ElementType::i32), {value});
  }
  [[nodiscard]] std::array<ValueId, 3> block_id();
  [[nodiscard]] ValueId reshape(ValueId value, Shape shape);
  [[nodiscard]] ValueId broadcast(ValueId value, Shape shape);
  /// A scalar as a tile of equal elements.
  [[nodiscard]] ValueId splat(ValueId scalar, Shape shape);
  /// i32 tile with the row-major position of each element.
  [[nodiscard]] ValueId positions(Shape shape);
  /// Contiguous row-major load and store at `pointer`.
  [[nodiscard]] ValueId load(ValueId pointer, Shape shape);
  void store(ValueId pointer, ValueId value);
  [[nodiscard]] ValueId offsets(ValueId pointer, ValueId index);
  [[nodiscard]] ValueId load_ptr(ValueId pointers, Values mask = {}, Values padding = {});
  void store_ptr(ValueId pointers, ValueId value, Values mask = {});
  [[nodiscard]] ValueId load_view(ValueId view, Values index);
  void store_view(ValueId tile, ValueId view, Values index);
  [[nodiscard]] ValueId make_tensor_view(ValueId base, TypeId type, Values shape = {}, Values strides = {});
  [[nodiscard]] ValueId make_partition(ValueId tensor_view, TypeId type);

  // Regions: the callback writes the body; it gets the body's arguments.
  using Body = std::function<void(const Values& arguments)>;
  Values region_op(Opcode opcode, Values operands, std::vector<std::uint32_t> segments, std::vector<TypeId> results,
                   const std::vector<std::pair<std::vector<TypeId>, Body>>& regions);
  Values for_loop(ValueId lower, ValueId upper, ValueId step, const Values& initial, const Body& body);
  [[nodiscard]] ValueId reduce(ValueId operand, std::int64_t dim, double identity, Opcode combine);
  void terminate(Opcode opcode, Values operands = {}) { add(opcode, std::move(operands), {}); }

  /// The operation added last.
  [[nodiscard]] Operation& last() { return blocks_.back()->operations.back(); }

  [[nodiscard]] Result<std::unique_ptr<const Kernel>> lower();

 private:
  [[nodiscard]] TypeId add_type(tile_ir::Type type);
  [[nodiscard]] ValueId new_value(TypeId type);
  [[nodiscard]] ValueId constant_bytes(TypeId type, std::vector<std::byte> bytes);

  std::shared_ptr<tile_ir::Module> module_;
  tile_ir::Function function_;
  std::vector<tile_ir::Block*> blocks_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> constants_;
  std::uint32_t next_offset_ = 0;
};

/// Attribute of a reduction: one float identity.
[[nodiscard]] tile_ir::Attribute float_identity(TypeId type, ElementType element, double value);

/// Launches with one argument per parameter, given by address, on `threads` workers.
[[nodiscard]] LaunchResult run(const Kernel& kernel, const std::vector<const void*>& arguments, Grid grid = {1, 1, 1},
                               const MemoryMap* memory = nullptr, int threads = 1);

/// Lowers and launches with pointers to the vectors' data; fails the test where either fails.
void run_ok(KernelBuilder& builder, const std::vector<const void*>& pointers, Grid grid = {1, 1, 1}, int threads = 1);

/// 0, 1, 2, ... scaled and shifted.
[[nodiscard]] std::vector<float> ramp(std::size_t count, float scale = 1, float start = 0);

}  // namespace tilegym::cpu::testing
