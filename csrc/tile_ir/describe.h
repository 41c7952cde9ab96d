#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tile_ir/module.h"

namespace tilegym::tile_ir {

using Property = std::pair<std::string, std::string>;

/// What an operation says beside its operands, each part by name and as text: attributes that are there
/// ("rounding_mode", "approx"), and types of results ("result", "tile<4xf32>").
[[nodiscard]] std::vector<Property> properties(const Module& module, const Function& function,
                                               const Operation& operation);

[[nodiscard]] std::string type_text(const Module& module, TypeId type);

}  // namespace tilegym::tile_ir
