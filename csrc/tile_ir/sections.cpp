#include "tile_ir/sections.h"

#include <algorithm>
#include <bit>
#include <span>
#include <string>
#include <string_view>

#include "tile_ir/reader.h"

namespace tilegym::tile_ir {

namespace {

struct SectionHeader {
  SectionId id = SectionId::end;
  std::size_t length = 0;
};

bool is_text(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) {
    const auto c = std::to_integer<unsigned char>(byte);
    return (c >= 0x20 && c < 0x7f) || (c >= '\t' && c <= '\r');
  });
}

/// What people take for bytecode, with a remedy.
Error no_magic(std::span<const std::byte> got) {
  constexpr std::string_view kElf =
      "\x7f"
      "ELF";
  const auto refuse = [](std::string_view what, std::string_view remedy) {
    Error error = malformed("magic number", "7f 'TileIR' 00", what, 0);
    error.message += remedy;
    return error;
  };
  const std::string_view begin(reinterpret_cast<const char*>(got.data()), got.size());
  if (got.empty()) return refuse("no bytes", "; give the file that the compiler wrote");
  if (begin.starts_with(kElf)) return refuse("an ELF file", "; give the bytecode that the cubin was compiled from");
  if (is_text(got)) return refuse("text", "; give the bytecode that lies beside the text");
  return refuse("other bytes", "; give a file of Tile IR bytecode");
}

Status read_magic(ByteReader& reader) {
  const std::size_t size = std::min(kMagic.size(), reader.remaining());
  TILEGYM_ASSIGN(const auto magic, reader.bytes(size, "magic number"));
  if (is_bytecode(magic)) return {};
  return no_magic(magic);
}

Result<Version> read_version(ByteReader& reader) {
  const std::size_t start = reader.offset();
  Version version;
  TILEGYM_ASSIGN(version.major, reader.byte("major version"));
  TILEGYM_ASSIGN(version.minor, reader.byte("minor version"));
  TILEGYM_ASSIGN(const std::uint64_t tag, reader.fixed(2, "version tag"));
  version.tag = static_cast<std::uint16_t>(tag);
  if (version.major == kFormatMajor && version.minor >= 1 && version.minor <= kNewestMinor) return version;
  const std::string got = std::to_string(version.major) + "." + std::to_string(version.minor);
  Error error = malformed("bytecode version", "13.1 to 13.3", std::string_view(got), start);
  error.message += "; write it as 13.3 (cuTile Python: bytecode_version=\"13.3\")";
  return error;
}

Status skip_alignment(ByteReader& reader) {
  const std::size_t start = reader.offset();
  TILEGYM_ASSIGN(const std::uint64_t alignment, reader.varint("section alignment"));
  // Writers use 4 and 8; a page is more than any table needs and keeps the padding below small.
  constexpr std::uint64_t kMostAlignment = 4096;
  if (!std::has_single_bit(alignment) || alignment > kMostAlignment) {
    return malformed("section alignment", "a power of two up to 4096", alignment, start);
  }
  return reader.align(alignment, "section padding");
}

Result<SectionHeader> read_section_header(ByteReader& reader) {
  const std::size_t start = reader.offset();
  TILEGYM_ASSIGN(const std::uint8_t first, reader.byte("section id"));
  const std::uint8_t id = first & ~kAlignedBit & 0xff;
  const bool aligned = (first & kAlignedBit) != 0;
  if (id >= kSectionCount) return malformed("section id", "0 to 7", id, start);
  SectionHeader header{static_cast<SectionId>(id)};
  if (header.id == SectionId::end) {
    if (aligned) return malformed("end section", "no alignment flag", std::string_view("one"), start);
    return header;
  }
  TILEGYM_ASSIGN(header.length, reader.count(1, "section length"));
  if (aligned) TILEGYM_TRY(skip_alignment(reader));
  return header;
}

}  // namespace

ByteReader Sections::payload(SectionId id) const noexcept {
  const auto& found = payloads[static_cast<std::size_t>(id)];
  return found ? *found : ByteReader({}, size);
}

Result<Sections> locate_sections(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, 0);
  Sections sections;
  TILEGYM_TRY(read_magic(reader));
  TILEGYM_ASSIGN(sections.version, read_version(reader));
  while (true) {
    const std::size_t start = reader.offset();
    TILEGYM_ASSIGN(const SectionHeader header, read_section_header(reader));
    if (header.id == SectionId::end) break;
    auto& slot = sections.payloads[static_cast<std::size_t>(header.id)];
    if (slot) return malformed("section id", "each section once", static_cast<std::uint64_t>(header.id), start);
    const std::size_t payload_start = reader.offset();
    TILEGYM_ASSIGN(const auto payload, reader.bytes(header.length, "section payload"));
    slot.emplace(payload, payload_start);
  }
  sections.size = reader.offset();
  return sections;
}

Result<std::vector<Blob>> read_table(ByteReader section, std::size_t offset_bytes, const char* what) {
  std::vector<Blob> blobs;
  if (section.remaining() == 0) return blobs;
  TILEGYM_ASSIGN(const std::size_t count, section.count(offset_bytes, Subject("number", what)));
  TILEGYM_TRY(section.align(offset_bytes, Subject("padding before offsets", what)));
  std::vector<std::uint64_t> starts(count);
  for (std::uint64_t& start : starts) {
    TILEGYM_ASSIGN(start, section.fixed(offset_bytes, Subject("offset", what)));
  }
  const std::size_t base = section.offset();
  const std::span<const std::byte> data = section.rest();
  blobs.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t end = i + 1 < count ? starts[i + 1] : data.size();
    if (starts[i] > end || end > data.size()) {
      return malformed(Subject("offset", what), "ascending offsets up to " + std::to_string(data.size()), starts[i],
                       base);
    }
    blobs.push_back({data.subspan(starts[i], end - starts[i]), base + starts[i]});
  }
  return blobs;
}

bool is_bytecode(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= kMagic.size() &&
         std::ranges::equal(
             bytes.first(kMagic.size()), kMagic, {}, [](std::byte b) { return std::to_integer<int>(b); },
             [](std::uint8_t b) { return static_cast<int>(b); });
}

}  // namespace tilegym::tile_ir
