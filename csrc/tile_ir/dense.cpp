#include "tile_ir/dense.h"

#include "tile_ir/module.h"

namespace tilegym::tile_ir {

namespace {

std::size_t element_bytes(ElementType type) {
  return (significant_bits(type) + 7) / 8;
}

std::optional<DenseForm> bit_form(std::size_t count, std::span<const std::byte> bytes) {
  // One byte is ambiguous for up to eight elements: writers mean all of them by 00 and ff, and a bit each otherwise.
  const bool uniform = bytes.size() == 1 && (bytes[0] == std::byte{0x00} || bytes[0] == std::byte{0xff});
  if (bytes.size() == 1 && (uniform || count == 1 || count > 8)) return DenseForm::splat;
  return bytes.size() == (count + 7) / 8 ? std::optional(DenseForm::packed) : std::nullopt;
}

}  // namespace

unsigned significant_bits(ElementType type) noexcept {
  return type == ElementType::tf32 ? 19 : static_cast<unsigned>(bit_width(type));
}

std::uint64_t largest(unsigned bits) noexcept {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

std::optional<DenseForm> dense_form(const Type& tile, std::span<const std::byte> bytes) noexcept {
  const auto count = static_cast<std::size_t>(tile.element_count());
  if (tile.element == ElementType::i1) return bit_form(count, bytes);
  const std::size_t width = element_bytes(tile.element);
  if (bytes.size() == width) return DenseForm::splat;
  return bytes.size() == width * count ? std::optional(DenseForm::full) : std::nullopt;
}

std::uint64_t element_bits(const Type& tile, std::span<const std::byte> bytes, bool splat, std::size_t index) noexcept {
  if (splat) index = 0;
  if (tile.element == ElementType::i1) return std::to_integer<std::uint64_t>(bytes[index / 8] >> (index % 8)) & 1;
  const std::size_t width = element_bytes(tile.element);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < width; ++i) bits |= std::to_integer<std::uint64_t>(bytes[index * width + i]) << (8 * i);
  return bits & largest(significant_bits(tile.element));
}

}  // namespace tilegym::tile_ir
