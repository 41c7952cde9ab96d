#include "cpu_driver/engine/kernel_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace tilegym::cpu::testing {

using tile_ir::Type;
using tile_ir::TypeKind;

namespace {

tile_ir::Attribute integer_attribute(std::uint64_t value) {
  tile_ir::Attribute attribute;
  attribute.integer = value;
  return attribute;
}

}  // namespace

KernelBuilder::KernelBuilder() : module_(std::make_shared<tile_ir::Module>()) {
  function_.name = "kernel";
  function_.is_entry = true;
  blocks_.push_back(&function_.body);
}

TypeId KernelBuilder::add_type(Type type) {
  module_->types.push_back(std::move(type));
  return static_cast<TypeId>(module_->types.size() - 1);
}

TypeId KernelBuilder::tile(ElementType element, Shape shape) {
  Type type;
  type.kind = TypeKind::tile;
  type.element = element;
  type.shape = std::move(shape);
  return add_type(std::move(type));
}

TypeId KernelBuilder::pointers(ElementType element, Shape shape) {
  const TypeId type = tile(element, std::move(shape));
  module_->types[type].of_pointers = true;
  return type;
}

TypeId KernelBuilder::tensor_view(ElementType element, Shape shape, Shape strides) {
  const TypeId type = tile(element, std::move(shape));
  module_->types[type].kind = TypeKind::tensor_view;
  module_->types[type].strides = std::move(strides);
  return type;
}

TypeId KernelBuilder::partition(TypeId tensor_view, Shape tile_shape, std::vector<std::int32_t> dim_map,
                                std::optional<tile_ir::Padding> padding) {
  const TypeId type = tile(module_->type(tensor_view).element, std::move(tile_shape));
  module_->types[type].kind = TypeKind::partition_view;
  module_->types[type].dim_map = std::move(dim_map);
  module_->types[type].padding = padding;
  module_->types[type].tensor_view = tensor_view;
  return type;
}

TypeId KernelBuilder::token() {
  return add_type(Type{});
}

const Type& KernelBuilder::type_of(ValueId value) const {
  return module_->type(function_.values[value]);
}

ValueId KernelBuilder::new_value(TypeId type) {
  function_.values.push_back(type);
  return static_cast<ValueId>(function_.values.size() - 1);
}

ValueId KernelBuilder::parameter(TypeId type) {
  const ValueId value = new_value(type);
  function_.body.arguments.push_back(value);
  return value;
}

Operation& KernelBuilder::add(Opcode opcode, Values operands, std::vector<TypeId> results,
                              const Attributes& attributes) {
  Operation op;
  op.opcode = opcode;
  op.byte_offset = next_offset_++;
  op.segments.assign(operands.size(), 1);
  op.operands = std::move(operands);
  for (const TypeId type : results) op.results.push_back(new_value(type));
  for (const auto& [name, value] : attributes) op.attributes.push_back({name, integer_attribute(value)});
  blocks_.back()->operations.push_back(std::move(op));
  return blocks_.back()->operations.back();
}

ValueId KernelBuilder::op(Opcode opcode, Values operands, TypeId result, const Attributes& attributes) {
  return add(opcode, std::move(operands), {result}, attributes).results[0];
}

ValueId KernelBuilder::same(Opcode opcode, Values operands, const Attributes& attributes) {
  const TypeId type = function_.values[operands[0]];
  return op(opcode, std::move(operands), type, attributes);
}

ValueId KernelBuilder::constant_bytes(TypeId type, std::vector<std::byte> bytes) {
  constants_.push_back(std::make_unique<std::vector<std::byte>>(std::move(bytes)));
  tile_ir::Attribute value;
  value.kind = tile_ir::AttrKind::dense;
  value.bytes = *constants_.back();
  Operation& constant = add(Opcode::Constant, {}, {type});
  constant.attributes.push_back({AttrName::value, std::move(value)});
  return constant.results[0];
}

std::array<ValueId, 3> KernelBuilder::block_id() {
  const TypeId type = tile(ElementType::i32);
  const Values results = add(Opcode::GetTileBlockId, {}, {type, type, type}).results;
  return {results[0], results[1], results[2]};
}

ValueId KernelBuilder::reshape(ValueId value, Shape shape) {
  Type type = type_of(value);
  type.shape = std::move(shape);
  return op(Opcode::Reshape, {value}, add_type(std::move(type)));
}

ValueId KernelBuilder::broadcast(ValueId value, Shape shape) {
  Type type = type_of(value);
  type.shape = std::move(shape);
  return op(Opcode::Broadcast, {value}, add_type(std::move(type)));
}

ValueId KernelBuilder::splat(ValueId scalar, Shape shape) {
  return broadcast(reshape(scalar, Shape(shape.size(), 1)), shape);
}

ValueId KernelBuilder::positions(Shape shape) {
  const std::int64_t count = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies{});
  return reshape(op(Opcode::Iota, {}, tile(ElementType::i32, {count})), std::move(shape));
}

ValueId KernelBuilder::offsets(ValueId pointer, ValueId index) {
  const Shape shape = type_of(index).shape;
  const ValueId base = shape.empty() ? pointer : splat(pointer, shape);
  return same(Opcode::Offset, {base, index});
}

ValueId KernelBuilder::load_ptr(ValueId source, Values mask, Values padding) {
  const Type type = type_of(source);
  Operation& load = add(Opcode::LoadPtrTko, {source}, {tile(type.element, type.shape), token()});
  load.segments = {1, static_cast<std::uint32_t>(mask.size()), static_cast<std::uint32_t>(padding.size()), 0};
  load.operands.insert(load.operands.end(), mask.begin(), mask.end());
  load.operands.insert(load.operands.end(), padding.begin(), padding.end());
  return load.results[0];
}

void KernelBuilder::store_ptr(ValueId target, ValueId value, Values mask) {
  Operation& store = add(Opcode::StorePtrTko, {target, value}, {token()});
  store.segments = {1, 1, static_cast<std::uint32_t>(mask.size()), 0};
  store.operands.insert(store.operands.end(), mask.begin(), mask.end());
}

ValueId KernelBuilder::load(ValueId pointer, Shape shape) {
  return load_ptr(offsets(pointer, positions(std::move(shape))));
}

void KernelBuilder::store(ValueId pointer, ValueId value) {
  const Shape shape = type_of(value).shape;
  store_ptr(shape.empty() ? pointer : offsets(pointer, positions(shape)), value);
}

ValueId KernelBuilder::make_tensor_view(ValueId base, TypeId type, Values shape, Values strides) {
  Values operands{base};
  operands.insert(operands.end(), shape.begin(), shape.end());
  operands.insert(operands.end(), strides.begin(), strides.end());
  Operation& view = add(Opcode::MakeTensorView, std::move(operands), {type});
  view.segments = {1, static_cast<std::uint32_t>(shape.size()), static_cast<std::uint32_t>(strides.size())};
  return view.results[0];
}

ValueId KernelBuilder::make_partition(ValueId view, TypeId type) {
  return op(Opcode::MakePartitionView, {view}, type);
}

ValueId KernelBuilder::load_view(ValueId view, Values index) {
  const Type type = type_of(view);
  Operation& load = add(Opcode::LoadViewTko, {view}, {tile(type.element, type.shape), token()});
  load.segments = {1, static_cast<std::uint32_t>(index.size()), 0};
  load.operands.insert(load.operands.end(), index.begin(), index.end());
  return load.results[0];
}

void KernelBuilder::store_view(ValueId value, ValueId view, Values index) {
  Operation& store = add(Opcode::StoreViewTko, {value, view}, {token()});
  store.segments = {1, 1, static_cast<std::uint32_t>(index.size()), 0};
  store.operands.insert(store.operands.end(), index.begin(), index.end());
}

Values KernelBuilder::region_op(Opcode opcode, Values operands, std::vector<std::uint32_t> segments,
                                std::vector<TypeId> results,
                                const std::vector<std::pair<std::vector<TypeId>, Body>>& regions) {
  std::vector<tile_ir::Region> written;
  for (const auto& [types, body] : regions) {
    tile_ir::Block block;
    for (const TypeId type : types) block.arguments.push_back(new_value(type));
    blocks_.push_back(&block);
    body(block.arguments);
    blocks_.pop_back();
    written.emplace_back();
    written.back().blocks.push_back(std::move(block));
  }
  Operation& op = add(opcode, std::move(operands), results);
  op.segments = std::move(segments);
  op.regions = std::move(written);
  return op.results;
}

Values KernelBuilder::for_loop(ValueId lower, ValueId upper, ValueId step, const Values& initial, const Body& body) {
  std::vector<TypeId> results;
  for (const ValueId value : initial) results.push_back(function_.values[value]);
  std::vector<TypeId> arguments{function_.values[lower]};
  arguments.insert(arguments.end(), results.begin(), results.end());
  Values operands{lower, upper, step};
  operands.insert(operands.end(), initial.begin(), initial.end());
  return region_op(Opcode::For, operands, {1, 1, 1, static_cast<std::uint32_t>(initial.size())}, results,
                   {{arguments, body}});
}

ValueId KernelBuilder::reduce(ValueId operand, std::int64_t dim, double identity, Opcode combine) {
  Type type = type_of(operand);
  type.shape.erase(type.shape.begin() + dim);
  const ElementType element = type.element;
  const TypeId scalar = tile(element);
  const auto body = [&](const Values& arguments) {
    terminate(Opcode::Yield, {same(combine, {arguments[0], arguments[1]})});
  };
  const Values results = region_op(Opcode::Reduce, {operand}, {1}, {add_type(type)}, {{{scalar, scalar}, body}});
  Operation& op = blocks_.back()->operations.back();
  tile_ir::Attribute identities;
  identities.kind = tile_ir::AttrKind::array;
  identities.children = {float_identity(scalar, element, identity)};
  op.attributes = {{AttrName::dim, integer_attribute(static_cast<std::uint64_t>(dim))},
                   {AttrName::identities, identities}};
  return results[0];
}

tile_ir::Attribute float_identity(TypeId type, ElementType element, double value) {
  tile_ir::Attribute attribute;
  attribute.kind = tile_ir::AttrKind::floating;
  attribute.type = type;
  if (!tile_ir::is_float(element)) {
    attribute.kind = tile_ir::AttrKind::integer;
    attribute.integer = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  } else if (element == ElementType::f64) {
    std::memcpy(&attribute.bits, &value, sizeof(value));
  } else {
    const auto narrow = static_cast<float>(value);
    std::memcpy(&attribute.bits, &narrow, sizeof(narrow));
  }
  return attribute;
}

Result<std::unique_ptr<const Kernel>> KernelBuilder::lower() {
  add(Opcode::Return, {}, {});
  module_->functions = {function_};
  return lower_kernel(module_, module_->functions[0]);
}

LaunchResult run(const Kernel& kernel, const std::vector<const void*>& arguments, Grid grid, const MemoryMap* memory,
                 int threads) {
  return kernel.launch(grid, arguments, {.memory = memory, .threads = threads});
}

void run_ok(KernelBuilder& builder, const std::vector<const void*>& pointers, Grid grid, int threads) {
  const auto kernel = builder.lower();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  std::vector<const void*> arguments;
  for (const void* const& pointer : pointers) arguments.push_back(&pointer);
  const LaunchResult result = run(*kernel.value(), arguments, grid, nullptr, threads);
  EXPECT_EQ(result.outcome, Outcome::ok) << result.report;
}

std::vector<float> ramp(std::size_t count, float scale, float start) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = start + scale * static_cast<float>(i);
  return values;
}

}  // namespace tilegym::cpu::testing
