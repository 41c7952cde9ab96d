#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tile_ir/module.h"

namespace tilegym::tile_ir {

using Known = std::optional<std::int64_t>;

/// Values of integer tiles of rank 0 as far as a launch determines them, and the extents of views.
class ScalarValues {
 public:
  ScalarValues(const Module& module, const Function& function)
      : module_(module), function_(function), values_(function.values.size()) {}

  void set_grid(const std::array<std::int64_t, 3>& grid) { grid_ = grid; }
  /// The block that is followed; nothing: any.
  void set_block(const std::array<Known, 3>& block) { block_ = block; }

  [[nodiscard]] Known operator[](ValueId value) const { return values_[value]; }
  void set(ValueId value, Known known) { values_[value] = known; }
  /// Gives an operation's results their values, or makes them unknown.
  void evaluate(const Operation& operation);

 private:
  using Extents = std::vector<Known>;

  [[nodiscard]] Known result_of(const Operation& operation) const;
  [[nodiscard]] Known binary(const Operation& operation) const;
  [[nodiscard]] Known compare(const Operation& operation) const;
  [[nodiscard]] Known constant(const Operation& operation) const;
  [[nodiscard]] Known resized(const Operation& operation) const;
  void evaluate_view(const Operation& operation);
  void set_all(const Operation& operation, const std::array<Known, 3>& known);
  void set_extents(const Operation& operation);
  [[nodiscard]] int width(ValueId value) const;

  const Module& module_;
  const Function& function_;
  std::vector<Known> values_;
  std::map<ValueId, Extents> extents_;
  std::array<std::int64_t, 3> grid_ = {1, 1, 1};
  std::array<Known, 3> block_;
};

}  // namespace tilegym::tile_ir
