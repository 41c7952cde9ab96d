#include "tile_ir/byte_reader.h"

#include <string>

namespace tilegym::tile_ir {

namespace {

constexpr unsigned kVarintBits = 64;

std::string at_most(std::uint64_t limit) {
  return "at most " + std::to_string(limit);
}

}  // namespace

Error malformed(const Subject& subject, std::string_view wanted, std::string_view got, std::size_t offset) {
  std::string text = "tile_ir: ";
  text += subject.item;
  if (!subject.owner.empty()) {
    text += " of ";
    text += subject.owner;
  }
  text += ": wanted ";
  text += wanted;
  text += ", got ";
  text += got;
  text += " at byte " + std::to_string(offset);
  return Error{std::move(text)};
}

Error malformed(const Subject& subject, std::string_view wanted, std::uint64_t got, std::size_t offset) {
  return malformed(subject, wanted, std::string_view(std::to_string(got)), offset);
}

Status ByteReader::need(std::size_t count, const Subject& subject) const {
  if (count <= remaining()) return {};
  const std::string got = std::to_string(remaining()) + " bytes";
  return malformed(subject, std::to_string(count) + " bytes", std::string_view(got), offset());
}

Result<std::uint8_t> ByteReader::byte(const Subject& subject) {
  TILEGYM_TRY(need(1, subject));
  return static_cast<std::uint8_t>(bytes_[position_++]);
}

Result<std::uint64_t> ByteReader::long_varint(const Subject& subject) {
  const std::size_t start = offset();
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < kVarintBits; shift += 7) {
    TILEGYM_ASSIGN(const std::uint64_t next, byte(subject));
    const std::uint64_t low = next & 0x7f;
    if ((low << shift) >> shift != low) break;
    value |= low << shift;
    if ((next & 0x80) == 0) return value;
  }
  return malformed(subject, "a number of at most 64 bits", std::string_view("a longer one"), start);
}

Result<std::uint64_t> ByteReader::checked_varint_up_to(std::uint64_t limit, const Subject& subject) {
  const std::size_t start = offset();
  TILEGYM_ASSIGN(const std::uint64_t value, varint(subject));
  if (value > limit) return malformed(subject, at_most(limit), value, start);
  return value;
}

Result<std::uint32_t> ByteReader::checked_index(std::size_t size, const Subject& subject) {
  const std::size_t start = offset();
  TILEGYM_ASSIGN(const std::uint64_t value, varint(subject));
  if (value >= size) return malformed(subject, "an index below " + std::to_string(size), value, start);
  return static_cast<std::uint32_t>(value);
}

Result<std::size_t> ByteReader::count(std::size_t entry_bytes, const Subject& subject) {
  const std::size_t start = offset();
  TILEGYM_ASSIGN(const std::uint64_t value, varint(subject));
  const std::size_t room = remaining() / entry_bytes;
  if (value > room) return malformed(subject, at_most(room) + " in the bytes that are left", value, start);
  return static_cast<std::size_t>(value);
}

Result<std::int64_t> ByteReader::signed_varint(const Subject& subject) {
  TILEGYM_ASSIGN(const std::uint64_t value, varint(subject));
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

Result<std::uint64_t> ByteReader::fixed(std::size_t width, const Subject& subject) {
  TILEGYM_TRY(need(width, subject));
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    value |= static_cast<std::uint64_t>(bytes_[position_ + i]) << (8 * i);
  }
  position_ += width;
  return value;
}

Result<std::span<const std::byte>> ByteReader::bytes(std::size_t count, const Subject& subject) {
  TILEGYM_TRY(need(count, subject));
  const std::span<const std::byte> taken = bytes_.subspan(position_, count);
  position_ += count;
  return taken;
}

Status ByteReader::align(std::size_t alignment, const Subject& subject) {
  const std::size_t padding = (alignment - position_ % alignment) % alignment;
  TILEGYM_TRY(need(padding, subject));
  position_ += padding;
  return {};
}

std::span<const std::byte> ByteReader::rest() noexcept {
  const std::span<const std::byte> taken = bytes_.subspan(position_);
  position_ = bytes_.size();
  return taken;
}

}  // namespace tilegym::tile_ir
