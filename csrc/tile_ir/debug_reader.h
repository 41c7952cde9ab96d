#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "tile_ir/byte_reader.h"
#include "tile_ir/module.h"

namespace tilegym::tile_ir {

/// The debug section: its entries, and for each function one index per location in the order of the reading (the
/// function itself, then its operations, parents before children).
struct DebugTables {
  std::vector<DebugEntry> entries = std::vector<DebugEntry>(1);
  std::vector<std::uint32_t> starts;
  std::vector<DebugId> indices;
};

/// Every entry of the result is sound: references are of the right kind and without cycles, at most kMaxDebugDepth
/// deep.
[[nodiscard]] Result<DebugTables> read_debug(ByteReader section, std::span<const std::string_view> strings);

inline constexpr int kMaxDebugDepth = 1024;

/// Hands out the locations of one function.
class LocationCursor {
 public:
  /// `index` as the function's header has it: 0 for none, else a function of the debug section plus one.
  [[nodiscard]] static Result<LocationCursor> open(const DebugTables& tables, std::uint64_t index, std::size_t offset);
  /// `offset`: of what the location is for, for errors.
  [[nodiscard]] Result<DebugId> next(std::size_t offset);

 private:
  LocationCursor(const DebugTables* tables, std::size_t position) : tables_(tables), position_(position) {}

  const DebugTables* tables_;  ///< null: everything is at the unknown location
  std::size_t position_;
};

}  // namespace tilegym::tile_ir
