#pragma once

#include "cpu_driver/kernels/kernels.h"
#include "tile_ir/module.h"

namespace tilegym::cpu {

/// How an elementwise operation maps to a strip kernel.
struct ElementwiseRow {
  tile_ir::Opcode opcode{};
  StripOp op = StripOp::copy;
  /// The result needs no rounding: it is one of the operands, or a part of one.
  bool exact = false;
  /// The kernel depends on the rounding mode; elsewhere the attribute only allows approximations.
  bool rounded = false;
};

/// Null for operations that are not elementwise.
[[nodiscard]] const ElementwiseRow* find_elementwise(tile_ir::Opcode opcode) noexcept;

/// The kernel key of an operation whose operands have lanes `lane`.
[[nodiscard]] StripKey elementwise_key(const ElementwiseRow& row, const tile_ir::Operation& op, Lane lane);

}  // namespace tilegym::cpu
