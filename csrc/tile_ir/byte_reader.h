#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/result.h"

namespace tilegym::tile_ir {

/// What a read is for, for its error text ("operand 'mask'" of "load_ptr_tko"). Composed only when the read fails.
struct Subject {
  Subject(const char* text) : item(text) {}  // NOLINT(google-explicit-constructor)
  Subject(std::string_view text, std::string_view of) : item(text), owner(of) {}

  std::string_view item;
  std::string_view owner;
};

/// The one wording of malformed bytecode: "tile_ir: <subject>: wanted <wanted>, got <got> at byte <offset>".
[[nodiscard]] Error malformed(const Subject& subject, std::string_view wanted, std::string_view got,
                              std::size_t offset);
[[nodiscard]] Error malformed(const Subject& subject, std::string_view wanted, std::uint64_t got, std::size_t offset);

/// A bounded cursor over part of the bytecode. Offsets in errors count from the start of the whole buffer; a failed
/// read leaves the cursor where the reading stopped.
class ByteReader {
 public:
  /// `base`: offset of bytes[0] in the whole buffer.
  ByteReader(std::span<const std::byte> bytes, std::size_t base) noexcept : bytes_(bytes), base_(base) {}

  [[nodiscard]] std::size_t remaining() const noexcept { return bytes_.size() - position_; }
  [[nodiscard]] std::size_t offset() const noexcept { return base_ + position_; }

  [[nodiscard]] Result<std::uint8_t> byte(const Subject& subject);
  /// Unsigned LEB128 of at most 64 bits.
  [[nodiscard]] Result<std::uint64_t> varint(const Subject& subject) {
    if (has_short()) return take_short();
    return long_varint(subject);
  }
  /// A varint of at most `limit`.
  [[nodiscard]] Result<std::uint64_t> varint_up_to(std::uint64_t limit, const Subject& subject) {
    if (has_short() && next() <= limit) return take_short();
    return checked_varint_up_to(limit, subject);
  }
  /// A varint that is an index into `size` entries.
  [[nodiscard]] Result<std::uint32_t> index(std::size_t size, const Subject& subject) {
    if (has_short() && next() < size) return static_cast<std::uint32_t>(take_short());
    return checked_index(size, subject);
  }
  /// A varint that counts entries of at least `entry_bytes` each, all of which must fit into the remaining bytes.
  [[nodiscard]] Result<std::size_t> count(std::size_t entry_bytes, const Subject& subject);
  /// A varint with zigzag encoding: bit 0 is the sign.
  [[nodiscard]] Result<std::int64_t> signed_varint(const Subject& subject);
  /// `width` bytes (at most 8), little-endian, zero-extended.
  [[nodiscard]] Result<std::uint64_t> fixed(std::size_t width, const Subject& subject);
  [[nodiscard]] Result<std::span<const std::byte>> bytes(std::size_t count, const Subject& subject);
  /// Skips to the next multiple of `alignment`, counted from the start of this reader's bytes.
  [[nodiscard]] Status align(std::size_t alignment, const Subject& subject);
  /// Everything that is left; the cursor moves to the end.
  [[nodiscard]] std::span<const std::byte> rest() noexcept;

 private:
  // Nearly every number of a module takes one byte; those are read without a call.
  [[nodiscard]] std::uint64_t next() const noexcept { return static_cast<std::uint64_t>(bytes_[position_]); }
  [[nodiscard]] bool has_short() const noexcept { return position_ < bytes_.size() && next() < 0x80; }
  [[nodiscard]] std::uint64_t take_short() noexcept { return static_cast<std::uint64_t>(bytes_[position_++]); }
  [[nodiscard]] Result<std::uint64_t> long_varint(const Subject& subject);
  [[nodiscard]] Result<std::uint64_t> checked_varint_up_to(std::uint64_t limit, const Subject& subject);
  [[nodiscard]] Result<std::uint32_t> checked_index(std::size_t size, const Subject& subject);
  [[nodiscard]] Status need(std::size_t count, const Subject& subject) const;

  std::span<const std::byte> bytes_;
  std::size_t base_;
  std::size_t position_ = 0;
};

}  // namespace tilegym::tile_ir
