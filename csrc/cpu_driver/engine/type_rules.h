#pragma once

#include "common/result.h"
#include "tile_ir/module.h"

namespace tilegym::cpu {

/// Whether the types of an operation's operands, results and region arguments fit together. The bytecode reader checks
/// counts, indices and attributes, not this; lowering relies on it. The error names operation and byte offset.
[[nodiscard]] Status check_types(const tile_ir::Module& module, const tile_ir::Function& function,
                                 const tile_ir::Operation& op);

}  // namespace tilegym::cpu
