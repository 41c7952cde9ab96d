#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "tile_ir/byte_writer.h"
#include "tile_ir/sections.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t capacity);

namespace {

using namespace tilegym;
using namespace tilegym::tile_ir;

using Bytes = std::vector<std::byte>;

/// The payloads of a module's sections.
struct Parts {
  Version version;
  std::array<std::optional<Bytes>, kSectionCount> sections;
};

std::optional<Parts> take_apart(std::span<const std::byte> bytes) {
  const auto sections = locate_sections(bytes);
  if (!sections.ok()) return std::nullopt;
  Parts parts{sections.value().version, {}};
  for (std::size_t id = 1; id < kSectionCount; ++id) {
    if (!sections.value().payloads[id]) continue;
    const auto payload = sections.value().payload(static_cast<SectionId>(id)).rest();
    parts.sections[id].emplace(payload.begin(), payload.end());
  }
  return parts;
}

Bytes put_together(const Parts& parts) {
  ByteWriter out;
  out.bytes(std::as_bytes(std::span(kMagic)));
  out.byte(parts.version.major);
  out.byte(parts.version.minor);
  out.fixed(parts.version.tag, 2);
  for (std::size_t id = 1; id < kSectionCount; ++id) {
    if (!parts.sections[id]) continue;
    out.byte(id | kAlignedBit);
    out.varint(parts.sections[id]->size());
    out.varint(8);
    out.align(8);
    out.bytes(*parts.sections[id]);
  }
  out.byte(static_cast<std::uint64_t>(SectionId::end));
  return out.take();
}

void mutate(Bytes& bytes, std::size_t most) {
  const std::size_t size = bytes.size();
  bytes.resize(std::max(most, size));
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), size, bytes.size()));
}

/// Where the body of the function that starts at the reader lies in the section; nothing where it has hints, which
/// stand before the body and have no length.
struct Body {
  std::size_t length_at = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::optional<Body> find_body(ByteReader& reader) {
  const auto name = reader.varint("name");
  const auto type = reader.varint("type");
  const auto flags = reader.byte("flags");
  const auto location = reader.varint("location");
  if (!name || !type || !flags || !location || (flags.value() & kHintsFlag) != 0) return std::nullopt;
  Body body{.length_at = reader.offset()};
  const auto length = reader.count(1, "length");
  if (!length) return std::nullopt;
  body.begin = reader.offset();
  body.end = body.begin + length.value();
  (void)reader.bytes(length.value(), "body");
  return body;
}

std::optional<Body> pick_body(const Bytes& functions, std::minstd_rand& random) {
  ByteReader reader(functions, 0);
  const auto count = reader.count(1, "functions");
  if (!count || count.value() == 0) return std::nullopt;
  std::optional<Body> body;
  for (std::size_t left = random() % count.value() + 1; left > 0; --left) {
    body = find_body(reader);
    if (!body) break;
  }
  return body;
}

/// Changes the code of one function and the length before it.
void mutate_functions(Bytes& functions, std::size_t most, std::minstd_rand& random) {
  const std::optional<Body> body = pick_body(functions, random);
  if (!body) return mutate(functions, most);
  const std::span<const std::byte> all = functions;
  Bytes code(all.begin() + body->begin, all.begin() + body->end);
  mutate(code, code.size() + 64);
  ByteWriter out;
  out.bytes(all.first(body->length_at));
  out.varint(code.size());
  out.bytes(code);
  out.bytes(all.subspan(body->end));
  functions = out.take();
}

std::size_t pick_section(const Parts& parts, std::minstd_rand& random) {
  std::vector<std::size_t> present;
  for (std::size_t id = 1; id < kSectionCount; ++id) {
    if (parts.sections[id]) present.push_back(id);
  }
  // The code is most of what there is to read.
  const auto functions = static_cast<std::size_t>(SectionId::functions);
  if (present.empty() || (parts.sections[functions] && random() % 2 == 0)) return functions;
  return present[random() % present.size()];
}

}  // namespace

// Most changes of a byte break a length before it, and nothing behind it is read. This one changes a section or the code
// of a function and writes the lengths anew; every fourth time it leaves the bytes to libFuzzer.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t capacity,
                                               unsigned int seed) {
  std::minstd_rand random(seed);
  std::optional<Parts> parts;
  if (random() % 4 != 0) parts = take_apart(std::as_bytes(std::span(data, size)));
  if (!parts) return LLVMFuzzerMutate(data, size, capacity);
  const std::size_t id = pick_section(*parts, random);
  if (!parts->sections[id]) return LLVMFuzzerMutate(data, size, capacity);
  Bytes& section = *parts->sections[id];
  if (static_cast<SectionId>(id) == SectionId::functions) {
    mutate_functions(section, section.size() + 64, random);
  } else {
    mutate(section, section.size() + 64);
  }
  if (random() % 16 == 0) parts->version.minor = static_cast<std::uint8_t>(1 + random() % kNewestMinor);
  const Bytes whole = put_together(*parts);
  if (whole.size() > capacity) return LLVMFuzzerMutate(data, size, capacity);
  std::memcpy(data, whole.data(), whole.size());
  return whole.size();
}
