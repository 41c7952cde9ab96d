#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/result.h"
#include "tile_ir/scalar_values.h"
#include "tile_ir/stats.h"

namespace tilegym::tile_ir {

/// Counts how often each operation of an entry is executed in a launch, by following its scalar integers. What does not
/// depend on the block or on a loop's turn is followed once and multiplied.
class LaunchTrace {
 public:
  LaunchTrace(const Module& module, const Function& entry, const LaunchValues& launch);

  void run();
  [[nodiscard]] std::uint64_t executions(const Operation& operation) const;
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }

 private:
  /// Bit d: a value depends on the turn of the loop at depth d; kBlockBit: on the tile block.
  using Mask = std::uint64_t;
  static constexpr Mask kBlockBit = Mask{1} << 63;

  enum class Flow : std::uint8_t { next, left_loop, next_turn, left_kernel };

  Mask mark(const Block& block, int depth);
  Mask mark_operation(const Operation& operation, int depth);
  [[nodiscard]] Mask mask_of(const Operation& operation) const;
  void follow_blocks();
  void follow_block(std::array<Known, 3> id, std::uint64_t times);
  Flow follow(const Block& block, std::uint64_t times);
  Flow follow_operation(const Operation& operation, std::uint64_t times);
  Flow follow_for(const Operation& operation, std::uint64_t times);
  Flow follow_turns(const Operation& operation, std::uint64_t turns, std::uint64_t times);
  Flow follow_loop(const Operation& operation, std::uint64_t times);
  Flow follow_if(const Operation& operation, std::uint64_t times);
  void follow_reduction(const Operation& operation, std::uint64_t times);
  void pass(std::span<const ValueId> from, std::span<const ValueId> to);
  void forget(std::span<const ValueId> values);
  /// Each note once.
  void note(std::string text);
  [[nodiscard]] bool spent();

  const Module& module_;
  const Function& entry_;
  const LaunchValues& launch_;
  ScalarValues values_;
  std::vector<Mask> masks_;
  /// Loops whose turns differ in what they execute.
  std::unordered_map<const Operation*, bool> varies_;
  bool blocks_vary_ = false;
  std::unordered_map<const Operation*, std::uint64_t> counts_;
  /// What the last break or continue passed on.
  std::vector<Known> passed_;
  std::uint64_t steps_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace tilegym::tile_ir
