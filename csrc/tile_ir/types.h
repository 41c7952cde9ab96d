#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace tilegym::tile_ir {

/// Scalar element types of Tile IR. The value is the type tag of the bytecode's type section.
enum class ElementType : std::uint8_t {
  i1 = 0,
  i8 = 1,
  i16 = 2,
  i32 = 3,
  i64 = 4,
  f16 = 5,
  bf16 = 6,
  f32 = 7,
  tf32 = 8,
  f64 = 9,
  f8e4m3fn = 10,
  f8e5m2 = 11,
  f8e8m0fnu = 18,
  f4e2m1fn = 19,
  i4 = 22,
};

/// Name as the textual IR spells it ("f32", "i64", ...).
[[nodiscard]] std::string_view name(ElementType type) noexcept;
/// Width of one value in bits (i1: 1, tf32: 32, f4e2m1fn: 4).
[[nodiscard]] int bit_width(ElementType type) noexcept;
/// Bytes one value takes in memory; sub-byte types are packed and report 1.
[[nodiscard]] std::size_t byte_size(ElementType type) noexcept;
[[nodiscard]] bool is_float(ElementType type) noexcept;

/// What a view yields outside its tensor.
enum class Padding : std::uint8_t { zero = 0, neg_zero = 1, nan = 2, pos_inf = 3, neg_inf = 4 };

enum class TypeKind : std::uint8_t {
  element,
  pointer,
  tile,
  tensor_view,
  partition_view,
  strided_view,
  gather_scatter_view,
  function,
  token,
};

/// Index into Module::types.
using TypeId = std::uint32_t;

/// Marks an extent or stride known only at run time.
inline constexpr std::int64_t kDynamic = std::numeric_limits<std::int64_t>::min();

/// One row of the type section. Fields that a kind does not use are empty.
struct Type {
  TypeKind kind = TypeKind::token;
  /// element: itself; pointer: pointee; tile: element or pointee; every view: element of the tensor.
  ElementType element = ElementType::i32;
  /// tile only: the elements are pointers to `element`.
  bool of_pointers = false;
  /// tile and tensor_view: extents (kDynamic where unknown); other views: tile shape.
  std::vector<std::int64_t> shape;
  /// tensor_view: strides in elements (kDynamic where unknown); strided_view: traversal strides.
  std::vector<std::int64_t> strides;
  /// partition_view and strided_view: tensor dimension of each tile dimension.
  std::vector<std::int32_t> dim_map;
  std::optional<Padding> padding;
  /// views other than tensor_view: the type of the tensor view below.
  TypeId tensor_view = 0;
  /// gather_scatter_view: the dimension addressed by an index tile.
  std::int32_t sparse_dim = 0;
  /// function: parameter and result types.
  std::vector<TypeId> inputs;
  std::vector<TypeId> results;

  [[nodiscard]] bool is_tile() const noexcept { return kind == TypeKind::tile; }
  [[nodiscard]] bool is_scalar_tile() const noexcept { return is_tile() && shape.empty(); }
  /// Number of elements of a tile (1 for rank 0).
  [[nodiscard]] std::int64_t element_count() const noexcept;
};

}  // namespace tilegym::tile_ir
