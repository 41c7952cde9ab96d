#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tilegym::tile_ir {

/// One item of a sequence to be aligned: what kind it is, and all that is said about it, as numbers that are equal
/// where the things are.
struct AlignmentKey {
  std::uint32_t kind = 0;
  std::uint32_t whole = 0;
};

/// Pairs of indices, ascending in both, whose items are of the same kind; as many pairs as possible, equal ones before
/// others. Long stretches without equal items are paired in their order, kind by kind.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> align(std::span<const AlignmentKey> before,
                                                                     std::span<const AlignmentKey> after);

}  // namespace tilegym::tile_ir
