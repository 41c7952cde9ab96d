#pragma once

#include <set>
#include <vector>

#include "tile_ir/module.h"

namespace tilegym::cpu {

/// Operations that have an effect or feed one, and how often they use each value.
struct Liveness {
  std::set<const tile_ir::Operation*> live;
  std::vector<std::uint32_t> uses;
};

[[nodiscard]] Liveness find_live(const tile_ir::Function& entry);

/// Whether the operation or one inside its regions writes memory.
[[nodiscard]] bool writes_memory(const tile_ir::Operation& op);

/// Values that operations inside the regions of `op` use, in order and with repetitions.
[[nodiscard]] std::vector<tile_ir::ValueId> values_used_inside(const tile_ir::Operation& op);

}  // namespace tilegym::cpu
