#include "tile_ir/byte_writer.h"

#include <utility>

namespace tilegym::tile_ir {

void ByteWriter::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) byte((value & 0x7f) | 0x80);
  byte(value);
}

void ByteWriter::signed_varint(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  varint(value < 0 ? ~(bits << 1) : bits << 1);
}

void ByteWriter::fixed(std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) byte((value >> (8 * i)) & 0xff);
}

void ByteWriter::bytes(std::span<const std::byte> more) {
  bytes_.insert(bytes_.end(), more.begin(), more.end());
}

void ByteWriter::align(std::size_t alignment) {
  constexpr std::uint64_t kPadding = 0xcb;
  while (bytes_.size() % alignment != 0) byte(kPadding);
}

std::uint32_t TableWriter::index(std::span<const std::byte> entry) {
  std::string text(reinterpret_cast<const char*>(entry.data()), entry.size());
  const auto [found, fresh] = known_.try_emplace(text, static_cast<std::uint32_t>(entries_.size()));
  if (fresh) entries_.push_back(std::move(text));
  return found->second;
}

void TableWriter::add(std::span<const std::byte> entry) {
  entries_.emplace_back(reinterpret_cast<const char*>(entry.data()), entry.size());
}

void TableWriter::write(ByteWriter& out, std::size_t offset_bytes) const {
  out.varint(entries_.size());
  out.align(offset_bytes);
  std::uint64_t offset = 0;
  for (const std::string& entry : entries_) {
    out.fixed(offset, offset_bytes);
    offset += entry.size();
  }
  for (const std::string& entry : entries_) out.bytes(std::as_bytes(std::span(entry)));
}

}  // namespace tilegym::tile_ir
