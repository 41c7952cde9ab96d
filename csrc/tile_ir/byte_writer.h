#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tilegym::tile_ir {

/// Bytes under construction, in the encodings that ByteReader reads.
class ByteWriter {
 public:
  void byte(std::uint64_t value) { bytes_.push_back(static_cast<std::byte>(value)); }
  void varint(std::uint64_t value);
  void signed_varint(std::int64_t value);
  /// `width` bytes, little-endian.
  void fixed(std::uint64_t value, std::size_t width);
  void bytes(std::span<const std::byte> more);
  /// Pads to the next multiple of `alignment`.
  void align(std::size_t alignment);

  [[nodiscard]] const std::vector<std::byte>& data() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  [[nodiscard]] std::vector<std::byte> take() noexcept { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// A table section under construction: every different entry once.
class TableWriter {
 public:
  /// Index of the entry, which is added where it is new.
  std::uint32_t index(std::span<const std::byte> entry);
  /// Adds an entry even where an equal one is there.
  void add(std::span<const std::byte> entry);
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  /// Count, padding, an offset of `offset_bytes` each, the entries.
  void write(ByteWriter& out, std::size_t offset_bytes) const;

 private:
  std::vector<std::string> entries_;
  std::unordered_map<std::string, std::uint32_t> known_;
};

}  // namespace tilegym::tile_ir
