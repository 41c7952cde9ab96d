#include "runtime/image_cache_entry.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "runtime/sha256.h"

namespace tilegym::runtime {
namespace {

static_assert(std::endian::native == std::endian::little, "entries are little-endian");

constexpr std::string_view kMagic = "TILEGYMC";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kDigestSize = 64;
constexpr std::size_t kShard = 2;
constexpr std::size_t kStem = 62;
constexpr std::size_t kLongestKind = 40;

/// What precedes the digest.
struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t name_size;
  std::uint64_t description_size;
  std::uint64_t payload_size;
};
static_assert(sizeof(Header) == 32);
constexpr std::size_t kBody = sizeof(Header) + kDigestSize;

std::string digest_of(std::string_view header, std::string_view body) {
  return Sha256().update(header).update(body).hex();
}

Error broken(const std::string& wanted, const std::string& got) {
  return Error{"cache entry: wanted " + wanted + ", got " + got};
}

Result<Header> read_header(std::string_view bytes) {
  if (bytes.size() < kBody) {
    return broken("at least " + std::to_string(kBody) + " bytes", std::to_string(bytes.size()));
  }
  Header header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::string_view(header.magic, sizeof header.magic) != kMagic) {
    return broken("the magic number " + std::string(kMagic), "something else");
  }
  if (header.version != kVersion) {
    return broken("format version " + std::to_string(kVersion), std::to_string(header.version));
  }
  return header;
}

/// Checked one by one, so that no sum of lying sizes can overflow.
bool sizes_fit(const Header& header, std::size_t body) {
  return header.name_size <= body && header.description_size <= body - header.name_size &&
         header.payload_size == body - header.name_size - header.description_size;
}

bool is_hex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_kind(std::string_view text) {
  const auto fits = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.'; };
  return !text.empty() && text.size() <= kLongestKind && std::ranges::all_of(text, fits);
}

}  // namespace

std::string encode_entry(const CacheEntry& entry) {
  Header header{.magic = {},
                .version = kVersion,
                .name_size = static_cast<std::uint32_t>(entry.name.size()),
                .description_size = entry.description.size(),
                .payload_size = entry.payload.size()};
  std::memcpy(header.magic, kMagic.data(), sizeof header.magic);
  const std::string_view head(reinterpret_cast<const char*>(&header), sizeof header);
  const std::string body = entry.name + entry.description + entry.payload;
  return std::string(head) + digest_of(head, body) + body;
}

Result<CacheEntry> decode_entry(std::string_view bytes) {
  TILEGYM_ASSIGN(const Header header, read_header(bytes));
  const std::string_view body = bytes.substr(kBody);
  if (!sizes_fit(header, body.size())) {
    return broken("a file as long as its header says", std::to_string(bytes.size()) + " bytes");
  }
  if (digest_of(bytes.substr(0, sizeof header), body) != bytes.substr(sizeof header, kDigestSize)) {
    return broken("bytes that fit their SHA-256", "changed ones");
  }
  const std::string_view rest = body.substr(header.name_size);
  CacheEntry entry{std::string(body.substr(0, header.name_size)), std::string(rest.substr(0, header.description_size)),
                   std::string(rest.substr(header.description_size))};
  if (!is_entry_name(entry.name)) {
    return broken("a name of hexadecimal digits and a kind", "another");
  }
  return entry;
}

std::string entry_name(std::string_view key, std::string_view kind) {
  const std::string digest = Sha256().update(key).hex();
  return digest.substr(0, kShard) + "/" + digest.substr(kShard) + "." + std::string(kind);
}

bool is_entry_name(std::string_view name) {
  constexpr std::size_t kDot = kShard + 1 + kStem;
  return name.size() > kDot && name[kShard] == '/' && name[kDot] == '.' && is_hex(name.substr(0, kShard)) &&
         is_hex(name.substr(kShard + 1, kStem)) && is_kind(name.substr(kDot + 1));
}

}  // namespace tilegym::runtime
