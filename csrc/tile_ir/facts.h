#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tile_ir/module.h"

namespace tilegym::tile_ir {

/// What decides how fast and how exact a module's kernels are, gathered over all entries: the ground of the rules that
/// compare a generated kernel with its reference.
struct Facts {
  std::vector<std::string> entries;
  /// Operations by mnemonic; and of those, the ones that flush subnormals, and that say how to round, by the way.
  std::map<std::string, std::uint64_t> operations;
  std::map<std::string, std::uint64_t> flush_to_zero;
  std::map<std::string, std::map<std::string, std::uint64_t>> rounding;
  /// Entry hints by name: the first value, by the order of targets.
  std::map<std::string, std::int64_t> entry_hints;
  /// Hints of loads and stores by name and value ("allow_tma", "false").
  std::map<std::string, std::map<std::string, std::uint64_t>> access_hints;
  /// Types of one-dimensional tiles of numbers; of the accumulators of matrix products; identities of reductions.
  std::set<std::string> row_tiles;
  std::set<std::string> accumulators;
  std::set<std::string> identities;
  /// Element types of all values.
  std::set<std::string> elements;
  /// Facts that `assume` states: div_by of pointers, and of integers of rank 0.
  std::uint64_t pointer_div_by = 0;
  std::uint64_t scalar_div_by = 0;
  /// A block id is divided: neighbouring blocks work on tiles that share data.
  bool swizzled = false;
  /// How often each layout stands in the text: "strides=[?,1]", "tile=(8x16)", "dim_map=[1, 0]".
  std::map<std::string, std::uint64_t> layouts;
};

[[nodiscard]] Facts gather_facts(const Module& module);

}  // namespace tilegym::tile_ir
