#include "tile_ir/alignment.h"

#include <algorithm>

namespace tilegym::tile_ir {

namespace {

using Pair = std::pair<std::size_t, std::size_t>;
using Keys = std::span<const AlignmentKey>;

/// Cells of the table that the exact way may fill; beyond, sequences are paired in order.
constexpr std::size_t kMostCells = 4'000'000;

std::uint32_t score(const AlignmentKey& a, const AlignmentKey& b) {
  // More for an equal item than for any one of the same kind, so that a change is said of as few items as possible.
  return a.kind != b.kind ? 0 : a.whole == b.whole ? 3 : 2;
}

/// The best common sequence by dynamic programming.
void align_exactly(Keys before, Keys after, std::size_t base_before, std::size_t base_after, std::vector<Pair>& out) {
  const std::size_t width = after.size() + 1;
  std::vector<std::uint32_t> best((before.size() + 1) * width, 0);
  const auto cell = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return best[i * width + j]; };
  for (std::size_t i = before.size(); i-- > 0;) {
    for (std::size_t j = after.size(); j-- > 0;) {
      const std::uint32_t gain = score(before[i], after[j]);
      cell(i, j) = std::max(cell(i + 1, j), cell(i, j + 1));
      if (gain > 0) cell(i, j) = std::max(cell(i, j), gain + cell(i + 1, j + 1));
    }
  }
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < before.size() && j < after.size()) {
    const std::uint32_t gain = score(before[i], after[j]);
    if (gain > 0 && cell(i, j) == gain + cell(i + 1, j + 1)) {
      out.emplace_back(base_before + i++, base_after + j++);
    } else if (cell(i, j) == cell(i + 1, j)) {
      ++i;
    } else {
      ++j;
    }
  }
}

/// Each item with the next one of its kind, never backwards.
void align_in_order(Keys before, Keys after, std::size_t base_before, std::size_t base_after, std::vector<Pair>& out) {
  constexpr std::size_t kReach = 256;
  std::size_t next = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::size_t limit = std::min(after.size(), next + kReach);
    for (std::size_t j = next; j < limit; ++j) {
      if (score(before[i], after[j]) == 0) continue;
      out.emplace_back(base_before + i, base_after + j);
      next = j + 1;
      break;
    }
  }
}

}  // namespace

std::vector<Pair> align(Keys before, Keys after) {
  const auto equal = [](const AlignmentKey& a, const AlignmentKey& b) { return score(a, b) == 3; };
  std::vector<Pair> pairs;
  std::size_t front = 0;
  const std::size_t shorter = std::min(before.size(), after.size());
  while (front < shorter && equal(before[front], after[front])) ++front;
  std::size_t back = 0;
  while (back < shorter - front && equal(before[before.size() - 1 - back], after[after.size() - 1 - back])) ++back;
  for (std::size_t i = 0; i < front; ++i) pairs.emplace_back(i, i);
  const Keys middle_before = before.subspan(front, before.size() - front - back);
  const Keys middle_after = after.subspan(front, after.size() - front - back);
  const bool small = (middle_before.size() + 1) <= kMostCells / (middle_after.size() + 1);
  (small ? align_exactly : align_in_order)(middle_before, middle_after, front, front, pairs);
  for (std::size_t i = back; i-- > 0;) pairs.emplace_back(before.size() - 1 - i, after.size() - 1 - i);
  return pairs;
}

}  // namespace tilegym::tile_ir
