#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/result.h"
#include "tile_ir/byte_reader.h"
#include "tile_ir/module.h"

namespace tilegym::tile_ir {

enum class SectionId : std::uint8_t {
  end = 0,
  strings = 1,
  functions = 2,
  debug = 3,
  constants = 4,
  types = 5,
  globals = 6,
  producer = 7,
};
inline constexpr std::size_t kSectionCount = 8;

inline constexpr std::array<std::uint8_t, 8> kMagic = {0x7f, 'T', 'i', 'l', 'e', 'I', 'R', 0x00};

/// Bit of a section's id that says that its alignment follows.
inline constexpr std::uint8_t kAlignedBit = 0x80;

// Flags of a function.
inline constexpr std::uint8_t kPrivateFlag = 1;
inline constexpr std::uint8_t kEntryFlag = 2;
inline constexpr std::uint8_t kHintsFlag = 4;

/// Newest minor version of format 13 that is understood; 1 is the oldest.
inline constexpr std::uint8_t kFormatMajor = 13;
inline constexpr std::uint8_t kNewestMinor = 3;

/// Where the sections of a module lie. Sections may stand in any order: functions come before the tables they use.
struct Sections {
  Version version;
  std::array<std::optional<ByteReader>, kSectionCount> payloads;
  /// Bytes from the magic number to the end marker.
  std::size_t size = 0;

  /// The payload of a section, or an empty reader where the module has none.
  [[nodiscard]] ByteReader payload(SectionId id) const noexcept;
};

/// Reads the header and every section header; payloads are skipped. Bytes after the end marker are not looked at.
[[nodiscard]] Result<Sections> locate_sections(std::span<const std::byte> bytes);

/// One entry of a table section.
struct Blob {
  std::span<const std::byte> bytes;
  std::size_t offset = 0;  ///< of bytes[0] in the whole buffer
};

/// Reads a table section: count, padding, one offset of `offset_bytes` (4 or 8) an entry, then the entries' bytes.
/// `what` names the entries in errors.
[[nodiscard]] Result<std::vector<Blob>> read_table(ByteReader section, std::size_t offset_bytes, const char* what);

}  // namespace tilegym::tile_ir
