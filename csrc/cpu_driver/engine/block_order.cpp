#include "cpu_driver/engine/block_order.h"

#include <algorithm>
#include <bit>

namespace tilegym::cpu {
namespace {

/// Finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit of the result depends on every bit of the argument.
std::uint64_t mix(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

}  // namespace

BlockSequence::BlockSequence(BlockOrder order, std::uint64_t blocks) noexcept
    : order_(order),
      blocks_(blocks),
      half_bits_((std::max(2U, static_cast<unsigned>(std::bit_width(blocks))) + 1) / 2) {}

std::uint64_t BlockSequence::block_at(std::uint64_t position) const noexcept {
  switch (order_.kind) {
    case BlockOrder::Kind::reversed:
      return blocks_ - 1 - position;
    case BlockOrder::Kind::shuffled:
      // A bijection of a power of four above the number of blocks, followed until it comes back into range: at most
      // four steps on average.
      do {
        position = shuffle(position);
      } while (position >= blocks_);
      return position;
    case BlockOrder::Kind::forward:
      break;
  }
  return position;
}

/// A Feistel network over two halves: a bijection whatever the round function is.
std::uint64_t BlockSequence::shuffle(std::uint64_t value) const noexcept {
  constexpr std::uint64_t kRounds = 4;
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_;
  std::uint64_t right = value & mask;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    const std::uint64_t next = left ^ (mix(right + mix(order_.seed + round)) & mask);
    left = right;
    right = next;
  }
  return (left << half_bits_) | right;
}

}  // namespace tilegym::cpu
