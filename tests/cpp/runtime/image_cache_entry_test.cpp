#include "runtime/image_cache_entry.h"

#include <gtest/gtest.h>

namespace tilegym::runtime {
namespace {

const CacheEntry kEntry{entry_name("key", "tileirbc"), "arch=sm_90\n", std::string("pay\0load", 8)};

TEST(CacheEntry, ComesBackAsItWas) {
  const Result<CacheEntry> back = decode_entry(encode_entry(kEntry));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back.value().name, kEntry.name);
  EXPECT_EQ(back.value().description, kEntry.description);
  EXPECT_EQ(back.value().payload, kEntry.payload);
}

TEST(CacheEntry, EveryFlippedByteIsSeen) {
  const std::string whole = encode_entry(kEntry);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    EXPECT_FALSE(decode_entry(changed).ok()) << "byte " << at;
  }
}

TEST(CacheEntry, EveryOtherLengthIsSeen) {
  const std::string whole = encode_entry(kEntry);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(decode_entry(whole.substr(0, size)).ok()) << size << " bytes";
  }
  EXPECT_FALSE(decode_entry(whole + "x").ok());
}

TEST(CacheEntry, AnotherFormatVersionIsNamed) {
  std::string whole = encode_entry(kEntry);
  whole[8] = 9;
  const Result<CacheEntry> entry = decode_entry(whole);
  ASSERT_FALSE(entry.ok());
  EXPECT_EQ(entry.error().message, "cache entry: wanted format version 1, got 9");
}

TEST(CacheEntry, NamesAreDigitsAndAKind) {
  EXPECT_TRUE(is_entry_name(kEntry.name));
  EXPECT_TRUE(is_entry_name(entry_name("key", "0123456789abcdef.cubin")));
  const std::string good = kEntry.name;
  for (const std::string& name :
       {std::string(), std::string("../evil"), good.substr(0, 66), "/" + good, good.substr(0, 3) + "." + good.substr(4),
        good + "/../../x", good.substr(0, 65) + ".A", good.substr(0, 65) + "." + std::string(80, 'a')}) {
    EXPECT_FALSE(is_entry_name(name)) << name;
  }
}

TEST(CacheEntry, AForeignNameIsRefused) {
  CacheEntry entry = kEntry;
  entry.name = "../../outside";
  EXPECT_FALSE(decode_entry(encode_entry(entry)).ok());
}

}  // namespace
}  // namespace tilegym::runtime
