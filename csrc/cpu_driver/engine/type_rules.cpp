#include "cpu_driver/engine/type_rules.h"

#include <algorithm>
#include <array>
#include <string>

#include "cpu_driver/engine/elementwise_table.h"
#include "cpu_driver/engine/tile_graph.h"

namespace tilegym::cpu {
namespace {

using tile_ir::AttrName;
using tile_ir::ElementType;
using tile_ir::Opcode;
using tile_ir::Type;
using tile_ir::TypeKind;
using tile_ir::ValueId;

/// The dialect's own limit; it also keeps every size in range.
constexpr std::int64_t kMaxTileElements = std::int64_t{1} << 24;

/// One operation with its types.
class Typed {
 public:
  Typed(const tile_ir::Module& module, const tile_ir::Function& function, const tile_ir::Operation& op)
      : module_(module), function_(function), op_(op) {}

  [[nodiscard]] const tile_ir::Operation& op() const { return op_; }
  [[nodiscard]] const Type& of(ValueId value) const { return module_.type_of(function_, value); }
  [[nodiscard]] const Type& type(tile_ir::TypeId id) const { return module_.type(id); }
  [[nodiscard]] const Type& operand(std::size_t i) const { return of(op_.operands[i]); }
  [[nodiscard]] const Type& result(std::size_t i = 0) const { return of(op_.results[i]); }
  [[nodiscard]] const Type& grouped(std::size_t group) const { return of(op_.group(group)[0]); }
  [[nodiscard]] bool all(std::span<const ValueId> values, bool (*test)(const Type&)) const {
    return std::ranges::all_of(values, [&](ValueId value) { return test(of(value)); });
  }

 private:
  const tile_ir::Module& module_;
  const tile_ir::Function& function_;
  const tile_ir::Operation& op_;
};

bool is_number(const Type& type) {
  return type.is_tile() && !type.of_pointers;
}
bool is_integer(const Type& type) {
  return is_number(type) && !tile_ir::is_float(type.element);
}
bool is_real(const Type& type) {
  return is_number(type) && tile_ir::is_float(type.element);
}
bool is_pointer(const Type& type) {
  return type.is_tile() && type.of_pointers;
}
bool is_bit(const Type& type) {
  return is_number(type) && type.element == ElementType::i1;
}
bool is_scalar_integer(const Type& type) {
  return is_integer(type) && type.shape.empty();
}
bool same_shape(const Type& a, const Type& b) {
  return a.is_tile() && b.is_tile() && a.shape == b.shape;
}
bool same_element(const Type& a, const Type& b) {
  return a.element == b.element && a.of_pointers == b.of_pointers;
}
bool same_tile(const Type& a, const Type& b) {
  return same_shape(a, b) && same_element(a, b);
}
bool is_tile_view(const Type& type) {
  return type.kind == TypeKind::partition_view || type.kind == TypeKind::strided_view ||
         type.kind == TypeKind::gather_scatter_view;
}

bool sound_extents(const Type& type) {
  if (!type.is_tile() && !is_tile_view(type)) return true;
  std::int64_t count = 1;
  for (const std::int64_t extent : type.shape) {
    if (extent <= 0 || extent > kMaxTileElements) return false;
    count *= extent;
    if (count > kMaxTileElements) return false;
  }
  return true;
}

bool works_on_floats(Opcode opcode) {
  constexpr std::array kIntegerOps{Opcode::AbsI, Opcode::AddI, Opcode::AndI,   Opcode::CmpI, Opcode::DivI, Opcode::MaxI,
                                   Opcode::MinI, Opcode::MulI, Opcode::MulhiI, Opcode::NegI, Opcode::OrI,  Opcode::RemI,
                                   Opcode::ShLI, Opcode::ShRI, Opcode::SubI,   Opcode::XOrI};
  return std::ranges::find(kIntegerOps, opcode) == kIntegerOps.end();
}

bool elementwise(const Typed& t) {
  const Opcode opcode = t.op().opcode;
  const auto& operands = t.op().operands;
  if (opcode == Opcode::Select) {
    return is_bit(t.operand(0)) && same_shape(t.operand(0), t.result()) && same_tile(t.operand(1), t.result()) &&
           same_tile(t.operand(2), t.result());
  }
  const bool uniform = std::ranges::all_of(operands, [&](ValueId v) { return same_tile(t.of(v), t.operand(0)); });
  if (!uniform || !t.all(operands, works_on_floats(opcode) ? is_real : is_integer)) return false;
  if (opcode != Opcode::CmpF && opcode != Opcode::CmpI) return same_tile(t.operand(0), t.result());
  return is_bit(t.result()) && same_shape(t.operand(0), t.result());
}

bool conversion(const Typed& t, bool (*from)(const Type&), bool (*to)(const Type&)) {
  return from(t.operand(0)) && to(t.result()) && same_shape(t.operand(0), t.result());
}
bool integer_width(const Typed& t) {
  return conversion(t, is_integer, is_integer);
}
bool float_width(const Typed& t) {
  return conversion(t, is_real, is_real);
}
bool integer_to_float(const Typed& t) {
  return conversion(t, is_integer, is_real);
}
bool float_to_integer(const Typed& t) {
  return conversion(t, is_real, is_integer);
}
bool bits(const Typed& t) {
  return conversion(t, is_number, is_number) &&
         tile_ir::bit_width(t.operand(0).element) == tile_ir::bit_width(t.result().element);
}
bool is_address(const Type& type) {
  return is_integer(type) && type.element == ElementType::i64;
}
bool integer_to_pointer(const Typed& t) {
  return conversion(t, is_address, is_pointer);
}
bool pointer_to_integer(const Typed& t) {
  return conversion(t, is_pointer, is_address);
}
bool pointer_to_pointer(const Typed& t) {
  return conversion(t, is_pointer, is_pointer);
}

bool assume(const Typed& t) {
  return same_tile(t.operand(0), t.result());
}
bool iota(const Typed& t) {
  return is_integer(t.result()) && t.result().shape.size() == 1;
}
bool constant(const Typed& t) {
  return is_number(t.result());
}
bool offset(const Typed& t) {
  return is_pointer(t.operand(0)) && is_integer(t.operand(1)) && same_shape(t.operand(0), t.operand(1)) &&
         same_tile(t.operand(0), t.result());
}
bool assertion(const Typed& t) {
  return is_bit(t.operand(0));
}
bool print(const Typed& t) {
  return t.all(t.op().group(0), [](const Type& type) { return type.is_tile(); });
}
bool scalar_results(const Typed& t) {
  return t.all(t.op().results, is_scalar_integer);
}

/// What memory holds behind a pointer tile, as a tile.
bool points_to(const Type& pointers, const Type& values) {
  return is_pointer(pointers) && is_number(values) && same_shape(pointers, values) &&
         pointers.element == values.element;
}
bool masks(const Typed& t, std::optional<ValueId> mask, const Type& values) {
  return !mask || (is_bit(t.of(*mask)) && same_shape(t.of(*mask), values));
}
bool load_pointer(const Typed& t) {
  const std::optional<ValueId> padding = t.op().optional(2);
  return points_to(t.grouped(0), t.result()) && masks(t, t.op().optional(1), t.result()) &&
         (!padding || same_tile(t.of(*padding), t.result()));
}
bool store_pointer(const Typed& t) {
  return points_to(t.grouped(0), t.grouped(1)) && masks(t, t.op().optional(2), t.grouped(1));
}

bool atomic(const Typed& t) {
  const bool swaps = t.op().opcode == Opcode::AtomicCAS;
  for (std::size_t group = 1; group < (swaps ? 3U : 2U); ++group) {
    if (!same_tile(t.grouped(group), t.result())) return false;
  }
  return points_to(t.grouped(0), t.result()) && masks(t, t.op().optional(swaps ? 3 : 2), t.result());
}
bool memory_of_kernel(const Typed& t) {
  return is_pointer(t.result()) && t.result().shape.empty();
}
/// The same bits as a tile of bytes and as a tile of numbers of another width, both of rank 1.
bool packing(const Typed& t) {
  const bool packs = t.op().opcode == Opcode::Pack;
  const Type& numbers = packs ? t.operand(0) : t.result();
  const Type& bytes = packs ? t.result() : t.operand(0);
  if (!is_number(numbers) || !is_integer(bytes) || bytes.element != ElementType::i8) return false;
  const std::int64_t bits = tile_ir::bit_width(numbers.element);
  return numbers.shape.size() == 1 && bytes.shape.size() == 1 && numbers.shape[0] * bits == bytes.shape[0] * 8;
}

bool reshape(const Typed& t) {
  return t.operand(0).is_tile() && t.result().is_tile() && same_element(t.operand(0), t.result()) &&
         element_count(t.operand(0).shape) == element_count(t.result().shape);
}
bool broadcast(const Typed& t) {
  const Type& from = t.operand(0);
  const Type& to = t.result();
  if (!from.is_tile() || !to.is_tile() || !same_element(from, to) || from.shape.size() != to.shape.size()) return false;
  return std::ranges::equal(from.shape, to.shape, [](std::int64_t a, std::int64_t b) { return a == b || a == 1; });
}
bool permute(const Typed& t) {
  const Type& from = t.operand(0);
  const tile_ir::Attribute* attribute = t.op().find(AttrName::permutation);
  if (!from.is_tile() || !t.result().is_tile() || !same_element(from, t.result()) || attribute == nullptr) return false;
  const std::vector<std::int64_t>& order = attribute->numbers;
  const std::size_t rank = from.shape.size();
  if (order.size() != rank || t.result().shape.size() != rank) return false;
  std::vector<bool> seen(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    const auto source = static_cast<std::size_t>(order[d]);
    if (source >= rank || seen[source] || from.shape[source] != t.result().shape[d]) return false;
    seen[source] = true;
  }
  return true;
}
bool cat(const Typed& t) {
  const auto dim = static_cast<std::size_t>(t.op().integer(AttrName::dim));
  const Type& left = t.operand(0);
  const Type& right = t.operand(1);
  const Type& to = t.result();
  const bool tiles =
      left.is_tile() && right.is_tile() && to.is_tile() && same_element(left, right) && same_element(left, to);
  if (!tiles || left.shape.size() != to.shape.size() || right.shape.size() != to.shape.size() ||
      dim >= to.shape.size()) {
    return false;
  }
  for (std::size_t d = 0; d < to.shape.size(); ++d) {
    const bool fits = d == dim ? left.shape[d] + right.shape[d] == to.shape[d]
                               : left.shape[d] == to.shape[d] && right.shape[d] == to.shape[d];
    if (!fits) return false;
  }
  return true;
}
bool extract(const Typed& t) {
  const Type& from = t.operand(0);
  const Type& to = t.result();
  if (!from.is_tile() || !to.is_tile() || !same_element(from, to) || from.shape.size() != to.shape.size()) return false;
  const std::span<const ValueId> indices = std::span(t.op().operands).subspan(1);
  return indices.size() == from.shape.size() && t.all(indices, is_scalar_integer) &&
         std::ranges::equal(from.shape, to.shape, [](std::int64_t a, std::int64_t b) { return a % b == 0; });
}

struct Rule {
  Opcode opcode;
  bool (*holds)(const Typed& t);
};

bool product(const Typed& t) {
  const Type& a = t.operand(0);
  const Type& b = t.operand(1);
  const Type& c = t.operand(2);
  const std::size_t rank = c.shape.size();
  const bool tiles = is_number(a) && is_number(b) && same_tile(c, t.result()) && same_element(a, b);
  if (!tiles || rank < 2 || rank > 3 || a.shape.size() != rank || b.shape.size() != rank) return false;
  const bool batches = rank == 2 || (a.shape[0] == c.shape[0] && b.shape[0] == c.shape[0]);
  return batches && a.shape[rank - 2] == c.shape[rank - 2] && b.shape[rank - 1] == c.shape[rank - 1] &&
         a.shape[rank - 1] == b.shape[rank - 2];
}

/// What reductions and scans have in common: operands of one shape, and a body that yields what it takes.
bool combines(const Typed& t) {
  if (t.op().regions.empty() || t.op().regions[0].blocks.empty()) return false;
  const auto dim = static_cast<std::size_t>(t.op().integer(AttrName::dim));
  const std::vector<ValueId>& arguments = t.op().body().arguments;
  const std::size_t count = t.op().operands.size();
  if (count == 0 || t.op().results.size() != count || arguments.size() != 2 * count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const Type& from = t.operand(i);
    if (!is_number(from) || !same_shape(from, t.operand(0)) || dim >= from.shape.size()) return false;
    Type scalar = from;
    scalar.shape.clear();
    if (!same_tile(scalar, t.of(arguments[2 * i])) || !same_tile(scalar, t.of(arguments[2 * i + 1]))) return false;
  }
  const std::vector<tile_ir::Operation>& body = t.op().body().operations;
  if (body.empty() || body.back().opcode != Opcode::Yield || body.back().operands.size() != count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (!same_tile(t.of(body.back().operands[i]), t.of(arguments[2 * i]))) return false;
  }
  return true;
}

bool scaled_product(const Typed& t) {
  const std::size_t rank = t.operand(2).shape.size();
  if (!product(t) || !is_real(t.operand(0)) || !same_element(t.operand(3), t.operand(4))) return false;
  if (t.operand(2).element != ElementType::f32 || lane_of(t.operand(0).element) != Lane::f32) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    const Type& numbers = t.operand(i);
    const Type& scale = t.operand(i + 3);
    const std::size_t k = rank - 1 - i;
    if (!is_real(scale) || lane_of(scale.element) != Lane::f32 || scale.shape.size() != rank) return false;
    for (std::size_t d = 0; d < rank; ++d) {
      if (d == k ? numbers.shape[d] % scale.shape[d] != 0 : numbers.shape[d] != scale.shape[d]) return false;
    }
  }
  return t.operand(3).shape[rank - 1] == t.operand(4).shape[rank - 2];
}

bool reduction(const Typed& t) {
  if (!combines(t)) return false;
  const auto dim = static_cast<std::ptrdiff_t>(t.op().integer(AttrName::dim));
  for (std::size_t i = 0; i < t.op().operands.size(); ++i) {
    Type rest = t.operand(i);
    rest.shape.erase(rest.shape.begin() + dim);
    if (!same_tile(rest, t.result(i))) return false;
  }
  return true;
}

bool scan(const Typed& t) {
  if (!combines(t)) return false;
  for (std::size_t i = 0; i < t.op().operands.size(); ++i) {
    if (!same_tile(t.operand(i), t.result(i))) return false;
  }
  return true;
}

bool make_tensor_view(const Typed& t) {
  const Type& base = t.grouped(0);
  const Type& view = t.result();
  return is_pointer(base) && base.shape.empty() && view.kind == TypeKind::tensor_view && base.element == view.element &&
         view.shape.size() == view.strides.size() && t.all(t.op().group(1), is_scalar_integer) &&
         t.all(t.op().group(2), is_scalar_integer);
}
bool make_tile_view(const Typed& t) {
  const Type& tensor = t.operand(0);
  const Type& view = t.result();
  const std::size_t rank = view.shape.size();
  if (tensor.kind != TypeKind::tensor_view || !is_tile_view(view) || tensor.shape.size() != rank) return false;
  if (view.kind == TypeKind::strided_view && (view.strides.size() != rank || std::ranges::min(view.strides) <= 0)) {
    return false;
  }
  if (t.type(view.tensor_view).element != tensor.element) return false;
  std::vector<bool> seen(rank);
  for (const std::int32_t d : view.dim_map) {
    const auto dim = static_cast<std::size_t>(d);
    if (dim >= rank || seen[dim]) return false;
    seen[dim] = true;
  }
  if (view.kind == TypeKind::gather_scatter_view && static_cast<std::size_t>(view.sparse_dim) >= rank) return false;
  return view.dim_map.empty() || view.dim_map.size() == rank;
}
bool index_space(const Typed& t) {
  return is_tile_view(t.operand(0)) && t.op().results.size() == t.operand(0).shape.size() && scalar_results(t);
}
bool tensor_shape(const Typed& t) {
  return t.operand(0).kind == TypeKind::tensor_view && t.op().results.size() == t.operand(0).shape.size() &&
         scalar_results(t);
}
bool through_view(const Typed& t, const Type& tile, const Type& view, std::span<const ValueId> index) {
  if (!is_tile_view(view) || !is_number(tile) || tile.shape != view.shape || index.size() != view.shape.size() ||
      tile.element != t.type(view.tensor_view).element) {
    return false;
  }
  for (std::size_t d = 0; d < index.size(); ++d) {
    const Type& position = t.of(index[d]);
    const bool picks = view.kind == TypeKind::gather_scatter_view && d == static_cast<std::size_t>(view.sparse_dim);
    if (!is_integer(position)) return false;
    if (picks ? position.shape != std::vector{view.shape[d]} : !position.shape.empty()) return false;
  }
  return true;
}
bool load_view(const Typed& t) {
  return through_view(t, t.result(), t.grouped(0), t.op().group(1));
}
bool atomic_view(const Typed& t) {
  return t.grouped(0).kind != TypeKind::gather_scatter_view &&
         through_view(t, t.grouped(2), t.grouped(0), t.op().group(1));
}
bool store_view(const Typed& t) {
  return through_view(t, t.grouped(0), t.grouped(1), t.op().group(2));
}

bool counted_loop(const Typed& t) {
  const std::vector<ValueId>& arguments = t.op().body().arguments;
  for (std::size_t group = 0; group < 3; ++group) {
    if (!is_scalar_integer(t.grouped(group)) || !same_tile(t.grouped(group), t.grouped(0))) return false;
  }
  return arguments.size() == t.op().results.size() + 1 && same_tile(t.of(arguments[0]), t.grouped(0));
}
bool branch(const Typed& t) {
  return is_bit(t.operand(0)) && t.operand(0).shape.empty() && !t.op().regions[0].blocks.empty();
}

constexpr std::array kRules{Rule{Opcode::Alloca, memory_of_kernel},
                            Rule{Opcode::Assert, assertion},
                            Rule{Opcode::AtomicCAS, atomic},
                            Rule{Opcode::AtomicRedViewTko, atomic_view},
                            Rule{Opcode::AtomicRMW, atomic},
                            Rule{Opcode::GetGlobal, memory_of_kernel},
                            Rule{Opcode::MakeGatherScatterView, make_tile_view},
                            Rule{Opcode::MmaFScaled, scaled_product},
                            Rule{Opcode::Pack, packing},
                            Rule{Opcode::Scan, scan},
                            Rule{Opcode::Unpack, packing},
                            Rule{Opcode::Assume, assume},
                            Rule{Opcode::Bitcast, bits},
                            Rule{Opcode::Broadcast, broadcast},
                            Rule{Opcode::Cat, cat},
                            Rule{Opcode::Constant, constant},
                            Rule{Opcode::ExtI, integer_width},
                            Rule{Opcode::Extract, extract},
                            Rule{Opcode::For, counted_loop},
                            Rule{Opcode::FToF, float_width},
                            Rule{Opcode::FToI, float_to_integer},
                            Rule{Opcode::GetIndexSpaceShape, index_space},
                            Rule{Opcode::GetNumTileBlocks, scalar_results},
                            Rule{Opcode::GetTensorShape, tensor_shape},
                            Rule{Opcode::GetTileBlockId, scalar_results},
                            Rule{Opcode::If, branch},
                            Rule{Opcode::IntToPtr, integer_to_pointer},
                            Rule{Opcode::Iota, iota},
                            Rule{Opcode::IToF, integer_to_float},
                            Rule{Opcode::LoadPtrTko, load_pointer},
                            Rule{Opcode::LoadViewTko, load_view},
                            Rule{Opcode::MakePartitionView, make_tile_view},
                            Rule{Opcode::MakeStridedView, make_tile_view},
                            Rule{Opcode::MakeTensorView, make_tensor_view},
                            Rule{Opcode::MmaF, product},
                            Rule{Opcode::MmaI, product},
                            Rule{Opcode::Offset, offset},
                            Rule{Opcode::Permute, permute},
                            Rule{Opcode::Print, print},
                            Rule{Opcode::PtrToInt, pointer_to_integer},
                            Rule{Opcode::PtrToPtr, pointer_to_pointer},
                            Rule{Opcode::Reduce, reduction},
                            Rule{Opcode::Reshape, reshape},
                            Rule{Opcode::StorePtrTko, store_pointer},
                            Rule{Opcode::StoreViewTko, store_view},
                            Rule{Opcode::TruncI, integer_width}};

bool holds(const Typed& t) {
  if (!t.all(t.op().operands, sound_extents) || !t.all(t.op().results, sound_extents)) return false;
  const auto* rule = std::ranges::find(kRules, t.op().opcode, &Rule::opcode);
  if (rule != kRules.end()) return rule->holds(t);
  return find_elementwise(t.op().opcode) == nullptr || elementwise(t);
}

}  // namespace

Status check_types(const tile_ir::Module& module, const tile_ir::Function& function, const tile_ir::Operation& op) {
  if (holds(Typed(module, function, op))) return {};
  return Error{"tile op " + std::string(tile_ir::name(op.opcode)) + " at byte " + std::to_string(op.byte_offset) +
               ": the types of its operands and results do not fit together"};
}

}  // namespace tilegym::cpu
