#pragma once

#include <vector>

#include "cpu_driver/engine/emitter.h"
#include "cpu_driver/engine/region_scan.h"

namespace tilegym::cpu {

/// The iteration space of a region: adjacent dimensions that every operand walks through as one are merged, so the
/// inner extent is as long as possible.
class RegionSpace {
 public:
  RegionSpace(const Graph& graph, const Emitter& emitter, const RegionOutputs& outputs, const RegionScan& scan);

  [[nodiscard]] const std::vector<std::int64_t>& extents() const noexcept { return extents_; }
  [[nodiscard]] std::int64_t inner() const noexcept { return extents_.back(); }
  [[nodiscard]] bool has_rows() const noexcept;
  /// Strides per dimension of the shape, picked per extent; one stride of `zero` for a shape without dimensions.
  template <class T>
  [[nodiscard]] std::vector<T> pick(const std::vector<T>& strides, T zero) const {
    std::vector<T> result;
    for (const std::size_t d : last_) result.push_back(strides[d]);
    if (last_.empty()) result.push_back(zero);
    return result;
  }

 private:
  std::vector<std::int64_t> extents_;
  /// Innermost shape dimension of each extent.
  std::vector<std::size_t> last_;
};

}  // namespace tilegym::cpu
