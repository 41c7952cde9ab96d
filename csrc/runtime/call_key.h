#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/dlpack.h"

namespace tilegym::runtime {

/// Where the elements of a tensor lie: the address of element 0, and the bytes from the first to past the last.
struct MemorySpan {
  std::uint64_t address;
  std::uint64_t first;
  std::uint64_t end;
};

/// The memory of a tensor with strides; nothing where it has elements and no memory, or reaches past the address space.
[[nodiscard]] std::optional<MemorySpan> memory_of(const dlpack::Tensor& tensor) noexcept;

/// What a planned launch may depend on, as plain data on the stack: of each tensor the dtype, device, shape, strides
/// and the alignment of its address up to 16 bytes; which tensors share memory and at what distance; and other values
/// by number. Elements and addresses are no part of it. Calls with equal keys may use one plan.
class CallKey {
 public:
  CallKey() noexcept {}  // leaves the words as they are: clearing them would cost more than filling a few

  /// Adds a tensor. False where it has no memory or does not fit: such a call cannot be planned.
  [[nodiscard]] bool add_tensor(const dlpack::Tensor& tensor) noexcept;
  /// Adds anything else; `kind` tells values of different types apart. False where it does not fit.
  [[nodiscard]] bool add(std::uint64_t kind, std::uint64_t value) noexcept;
  /// Adds how the tensors lie to each other, as the last part. False where it does not fit.
  [[nodiscard]] bool finish() noexcept;

  [[nodiscard]] std::span<const std::uint64_t> words() const noexcept { return {words_.data(), used_}; }
  /// Memory of the tensors, in the order in which they were added.
  [[nodiscard]] std::span<const MemorySpan> spans() const noexcept { return {spans_.data(), tensors_}; }

  static constexpr std::size_t kMaxKeyTensors = 12;

 private:
  static constexpr std::size_t kMaxWords = 192;
  static constexpr std::int32_t kMaxKeyRank = 16;

  std::size_t used_ = 0;
  std::size_t tensors_ = 0;
  std::array<std::uint64_t, kMaxWords> words_;
  std::array<MemorySpan, kMaxKeyTensors> spans_;
};

/// The words of a key that lives on.
using StoredKey = std::vector<std::uint64_t>;

/// Hash and equality of stored keys and of those on the stack, for a look-up without a copy.
struct KeyHash {
  using is_transparent = void;
  [[nodiscard]] std::size_t operator()(std::span<const std::uint64_t> words) const noexcept;
};
struct KeyEqual {
  using is_transparent = void;
  [[nodiscard]] bool operator()(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) const noexcept;
};

}  // namespace tilegym::runtime
