#include "runtime/call_key.h"

#include <algorithm>
#include <bit>

namespace tilegym::runtime {
namespace {

/// No distance of tensors that share memory: that is shorter than either of them.
constexpr std::uint64_t kApart = std::uint64_t{1} << 63;

std::uint64_t layout_word(const dlpack::Tensor& tensor, std::uint64_t address) noexcept {
  const auto alignment = static_cast<std::uint64_t>(std::countr_zero(address | 16));
  return static_cast<std::uint64_t>(tensor.dtype.code) | std::uint64_t{tensor.dtype.bits} << 8 |
         std::uint64_t{tensor.dtype.lanes} << 16 | static_cast<std::uint64_t>(tensor.ndim) << 32 | alignment << 40;
}

std::uint64_t device_word(dlpack::Device device) noexcept {
  return static_cast<std::uint32_t>(device.type) | std::uint64_t{static_cast<std::uint32_t>(device.id)} << 32;
}

}  // namespace

std::optional<MemorySpan> memory_of(const dlpack::Tensor& tensor) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset;
  std::int64_t below = 0;
  std::int64_t above = 0;
  for (std::int32_t dim = 0; dim < tensor.ndim; ++dim) {
    if (tensor.shape[dim] == 0) return MemorySpan{address, address, address};
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(tensor.shape[dim] - 1, tensor.strides[dim], &reach)) return std::nullopt;
    std::int64_t& side = reach < 0 ? below : above;
    if (__builtin_add_overflow(side, reach, &side)) return std::nullopt;
  }
  // Elements of less than a byte count as one: a span may be too long, never too short.
  const std::int64_t size = std::max(tensor.dtype.bits * tensor.dtype.lanes / 8, 1);
  if (__builtin_mul_overflow(below, size, &below) || __builtin_mul_overflow(above, size, &above)) return std::nullopt;
  if (tensor.data == nullptr) return std::nullopt;
  return MemorySpan{address, address + static_cast<std::uint64_t>(below),
                    address + static_cast<std::uint64_t>(above + size)};
}

bool CallKey::add(std::uint64_t kind, std::uint64_t value) noexcept {
  if (used_ + 2 > kMaxWords) return false;
  words_[used_++] = kind;
  words_[used_++] = value;
  return true;
}

bool CallKey::add_tensor(const dlpack::Tensor& tensor) noexcept {
  if (tensor.ndim < 0 || tensor.ndim > kMaxKeyRank || tensor.strides == nullptr || tensors_ == kMaxKeyTensors) {
    return false;
  }
  const auto rank = static_cast<std::size_t>(tensor.ndim);
  const auto memory = memory_of(tensor);
  if (!memory || used_ + 2 + 2 * rank > kMaxWords) return false;
  spans_[tensors_++] = *memory;
  words_[used_++] = layout_word(tensor, memory->address);
  words_[used_++] = device_word(tensor.device);
  const auto append = [this, rank](const std::int64_t* values) {
    for (std::size_t dim = 0; dim < rank; ++dim) words_[used_++] = static_cast<std::uint64_t>(values[dim]);
  };
  append(tensor.shape);
  append(tensor.strides);
  return true;
}

bool CallKey::finish() noexcept {
  if (used_ + tensors_ * (tensors_ - 1) / 2 > kMaxWords) return false;
  for (std::size_t later = 1; later < tensors_; ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const MemorySpan& a = spans_[earlier];
      const MemorySpan& b = spans_[later];
      words_[used_++] = a.end <= b.first || b.end <= a.first ? kApart : b.address - a.address;
    }
  }
  return true;
}

std::size_t KeyHash::operator()(std::span<const std::uint64_t> words) const noexcept {
  std::uint64_t hash = words.size();
  for (const std::uint64_t word : words) hash = (std::rotl(hash, 5) ^ word) * 0x9e37'79b9'7f4a'7c15;
  return hash ^ hash >> 32;
}

bool KeyEqual::operator()(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) const noexcept {
  return std::ranges::equal(a, b);
}

}  // namespace tilegym::runtime
