#pragma once

#include <span>
#include <vector>

#include "common/result.h"
#include "tile_ir/module.h"
#include "tile_ir/sections.h"

namespace tilegym::tile_ir {

/// Largest number of elements a tile may have (limit of the dialect).
inline constexpr std::int64_t kMaxTileElements = 16'777'216;

/// Decodes the entries of the type section. Every type in the result is sound: element types known, tile extents
/// positive powers of two within kMaxTileElements, references of the right kind, ranks and maps of views consistent.
[[nodiscard]] Result<std::vector<Type>> read_types(std::span<const Blob> entries, Version version);

}  // namespace tilegym::tile_ir
