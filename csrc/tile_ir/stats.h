#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "tile_ir/module.h"

namespace tilegym::tile_ir {

/// What a launch knows: the grid, and the value of each parameter that is an integer and known.
struct LaunchValues {
  std::array<std::int64_t, 3> grid = {1, 1, 1};
  std::vector<std::optional<std::int64_t>> arguments;
};

/// What one launch does, over all tile blocks. Loops are followed with the launch's values; memory traffic counts whole
/// tiles, also those that masks or the edges of a tensor cut, and every access, whether a cache has the data or not.
struct Stats {
  /// Operations in the text of the entry, and operations executed.
  std::map<std::string, std::uint64_t> operations;
  std::map<std::string, std::uint64_t> executed;
  /// Floating-point operations by element type: one an element, two for fma; reductions and scans count their bodies.
  std::map<std::string, std::uint64_t> flops;
  /// Operations of matrix products by element type of the factors: 2 * M * N * K.
  std::map<std::string, std::uint64_t> matrix_flops;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  /// What could not be followed; the counts are exact where this is empty.
  std::vector<std::string> notes;
};

/// The statistics of `entry`, one of the module's functions. An error where the grid has an extent below 1.
[[nodiscard]] Result<Stats> launch_stats(const Module& module, const Function& entry, const LaunchValues& launch);

}  // namespace tilegym::tile_ir
