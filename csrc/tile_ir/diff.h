#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tile_ir/module.h"

namespace tilegym::tile_ir {

enum class ChangeKind : std::uint8_t { added, removed, changed };

/// One difference between two modules.
struct Change {
  ChangeKind kind{};
  /// The way to it: "softmax / for #0 / addf #3", the number counting operations of that name in their block.
  std::string place;
  /// The operation ("addf"), or "module", "global", "entry".
  std::string subject;
  /// What of the subject differs: an attribute, "result", "operand lhs", ...; empty for an operation as a whole.
  std::string property;
  std::string before;
  std::string after;
};

/// The differences, found by structure: functions by name, operations of a block by the longest common sequence, values
/// by the operations that were found to correspond. Names of values, locations and the order of tables make none.
/// Operations at which reading stopped are compared by their bytes.
[[nodiscard]] std::vector<Change> diff_modules(const Module& before, const Module& after);

}  // namespace tilegym::tile_ir
