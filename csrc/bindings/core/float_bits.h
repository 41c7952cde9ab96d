#pragma once

#include <cstdint>
#include <optional>

#include "tile_ir/types.h"

namespace tilegym::bindings {

/// The bits of `value` in a floating type, rounded once, to nearest even. Values beyond the range become infinity; a
/// type without infinities has no bits for them, as it has none for values that its missing sign or zero leaves out.
/// Precondition: is_float(type).
[[nodiscard]] std::optional<std::uint64_t> bits_of(tile_ir::ElementType type, double value);

}  // namespace tilegym::bindings
