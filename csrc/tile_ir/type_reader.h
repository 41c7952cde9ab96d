#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/result.h"
#include "tile_ir/module.h"
#include "tile_ir/sections.h"

namespace tilegym::tile_ir {

/// Largest number of elements a tile may have (limit of the dialect).
inline constexpr std::int64_t kMaxTileElements = 16'777'216;

/// Tags of the types that are not elements; element tags are the values of ElementType.
enum class TypeTag : std::uint8_t {
  pointer = 12,
  tile = 13,
  tensor_view = 14,
  partition_view = 15,
  function = 16,
  token = 17,
  gather_scatter_view = 20,
  strided_view = 21,
};

/// Decodes the entries of the type section. Every type in the result is sound: element types known, tile extents
/// positive powers of two within kMaxTileElements, references of the right kind, ranks and maps of views consistent.
[[nodiscard]] Result<std::vector<Type>> read_types(std::span<const Blob> entries, Version version);

}  // namespace tilegym::tile_ir
