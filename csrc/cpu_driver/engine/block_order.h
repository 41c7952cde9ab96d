#pragma once

#include <cstdint>

namespace tilegym::cpu {

/// The order in which a launch hands out its tile blocks. No result may depend on it.
struct BlockOrder {
  enum class Kind : std::uint8_t { forward, reversed, shuffled };

  Kind kind = Kind::forward;
  std::uint64_t seed = 0;  ///< of a shuffled order

  friend bool operator==(const BlockOrder&, const BlockOrder&) = default;
};

/// Position to block number, for launches of any size: nothing is stored per block. Reading from several threads is
/// safe.
class BlockSequence {
 public:
  BlockSequence(BlockOrder order, std::uint64_t blocks) noexcept;

  /// The block at `position`, both in [0, blocks); every block has one position.
  [[nodiscard]] std::uint64_t block_at(std::uint64_t position) const noexcept;

 private:
  [[nodiscard]] std::uint64_t shuffle(std::uint64_t value) const noexcept;

  BlockOrder order_;
  std::uint64_t blocks_;
  unsigned half_bits_ = 0;
};

}  // namespace tilegym::cpu
