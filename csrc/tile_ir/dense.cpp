#include "tile_ir/dense.h"

#include <cstdint>

#include "tile_ir/module.h"

namespace tilegym::tile_ir {

namespace {

/// A byte that stands for eight equal i1 elements, or for one.
bool is_uniform(std::byte value) {
  return value == std::byte{0x00} || value == std::byte{0xff};
}

}  // namespace

std::size_t dense_element_bytes(ElementType type) noexcept {
  // tf32 has 19 significant bits, which the format rounds up to whole bytes; it takes 4 only in memory.
  return type == ElementType::tf32 ? 3 : byte_size(type);
}

std::optional<DenseForm> dense_form(const Type& tile, std::span<const std::byte> bytes) noexcept {
  const auto count = static_cast<std::size_t>(tile.element_count());
  const std::size_t element = dense_element_bytes(tile.element);
  if (tile.element == ElementType::i1 && count > 1) {
    if (bytes.size() == 1 && is_uniform(bytes[0])) return DenseForm::splat;
    if (bytes.size() == (count + 7) / 8) return DenseForm::packed;
  }
  if (bytes.size() == element) return DenseForm::splat;
  if (bytes.size() == element * count) return DenseForm::full;
  return std::nullopt;
}

std::uint64_t element_bits(const Type& tile, std::span<const std::byte> bytes, bool splat, std::size_t index) noexcept {
  if (tile.element == ElementType::i1) {
    if (splat) return bytes[0] == std::byte{0} ? 0 : 1;
    if (dense_form(tile, bytes) == DenseForm::packed) {
      return std::to_integer<std::uint64_t>((bytes[index / 8] >> (index % 8)) & std::byte{1});
    }
    return bytes[index] == std::byte{0} ? 0 : 1;
  }
  const std::size_t width = dense_element_bytes(tile.element);
  const std::size_t start = splat ? 0 : index * width;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < width; ++i) bits |= std::to_integer<std::uint64_t>(bytes[start + i]) << (8 * i);
  return bits;
}

}  // namespace tilegym::tile_ir
