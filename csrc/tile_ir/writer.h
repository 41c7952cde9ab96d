#pragma once

#include <cstddef>
#include <vector>

#include "common/result.h"
#include "tile_ir/module.h"

namespace tilegym::tile_ir {

/// The module as bytecode of its version: reading it gives the same text and the same meaning. Tables are written anew,
/// so the bytes need not be those that were read.
/// An error where the module holds what its version cannot say, or an operation at which reading stopped.
[[nodiscard]] Result<std::vector<std::byte>> write_module(const Module& module);

}  // namespace tilegym::tile_ir
