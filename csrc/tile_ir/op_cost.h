#pragma once

#include <cstdint>
#include <string_view>

#include "tile_ir/module.h"

namespace tilegym::tile_ir {

/// What one execution of an operation costs, without its regions.
struct OpCost {
  /// Floating-point operations and the element type they are of; matrix products are told apart.
  std::uint64_t flops = 0;
  ElementType type = ElementType::f32;
  bool matrix = false;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  /// How often the body of a reduction or scan is executed.
  std::uint64_t body_runs = 0;
};

[[nodiscard]] OpCost cost_of(const Module& module, const Function& function, const Operation& operation);

}  // namespace tilegym::tile_ir
