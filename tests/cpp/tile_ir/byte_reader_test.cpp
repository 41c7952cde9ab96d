#include "tile_ir/byte_reader.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace tilegym::tile_ir {

namespace {

constexpr std::size_t kBase = 100;

/// Owns the bytes of a reader.
class Input {
 public:
  explicit Input(std::initializer_list<int> bytes) {
    for (const int byte : bytes) bytes_.push_back(static_cast<std::byte>(byte));
  }
  ByteReader reader() const { return {bytes_, kBase}; }

 private:
  std::vector<std::byte> bytes_;
};

TEST(ByteReader, VarintsTakeSevenBitsAByte) {
  const Input input({0x00, 0x7f, 0x80, 0x01, 0xe5, 0x8e, 0x26});
  ByteReader reader = input.reader();
  EXPECT_EQ(reader.varint("x").value(), 0u);
  EXPECT_EQ(reader.varint("x").value(), 127u);
  EXPECT_EQ(reader.varint("x").value(), 128u);
  EXPECT_EQ(reader.varint("x").value(), 624485u);
  EXPECT_EQ(reader.remaining(), 0u);
}

TEST(ByteReader, TheLargestVarintHasSixtyFourBits) {
  const Input input({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01});
  EXPECT_EQ(input.reader().varint("x").value(), std::numeric_limits<std::uint64_t>::max());
}

TEST(ByteReader, RefusesASixtyFifthBit) {
  const Input input({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02});
  EXPECT_EQ(input.reader().varint("x").error().message,
            "tile_ir: x: wanted a number of at most 64 bits, got a longer one at byte 100");
}

TEST(ByteReader, RefusesAnEleventhByte) {
  const Input input({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00});
  EXPECT_EQ(input.reader().varint("x").error().message,
            "tile_ir: x: wanted a number of at most 64 bits, got a longer one at byte 100");
}

TEST(ByteReader, RefusesAVarintWithoutEnd) {
  const Input input({0x80, 0x80});
  EXPECT_EQ(input.reader().varint(Subject("token", "load")).error().message,
            "tile_ir: token of load: wanted 1 bytes, got 0 bytes at byte 102");
}

TEST(ByteReader, SignedVarintsKeepTheSignInBitZero) {
  const Input input({0x00, 0x01, 0x02, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01});
  ByteReader reader = input.reader();
  EXPECT_EQ(reader.signed_varint("x").value(), 0);
  EXPECT_EQ(reader.signed_varint("x").value(), -1);
  EXPECT_EQ(reader.signed_varint("x").value(), 1);
  EXPECT_EQ(reader.signed_varint("x").value(), -64);
  EXPECT_EQ(reader.signed_varint("x").value(), std::numeric_limits<std::int64_t>::min());
}

TEST(ByteReader, FixedNumbersAreLittleEndian) {
  const Input input({0x78, 0x56, 0x34, 0x12, 0xff});
  ByteReader reader = input.reader();
  EXPECT_EQ(reader.fixed(4, "x").value(), 0x12345678u);
  EXPECT_EQ(reader.fixed(2, "x").error().message, "tile_ir: x: wanted 2 bytes, got 1 bytes at byte 104");
}

TEST(ByteReader, IndicesLieBelowTheSize) {
  const Input input({2, 3});
  ByteReader reader = input.reader();
  EXPECT_EQ(reader.index(3, "x").value(), 2u);
  EXPECT_EQ(reader.index(3, "x").error().message, "tile_ir: x: wanted an index below 3, got 3 at byte 101");
}

TEST(ByteReader, CountsMustFitIntoWhatIsLeft) {
  const Input input({2, 0, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(input.reader().count(4, "x").value(), 2u);
  EXPECT_EQ(input.reader().count(8, "x").error().message,
            "tile_ir: x: wanted at most 1 in the bytes that are left, got 2 at byte 100");
}

TEST(ByteReader, AlignsFromItsOwnStart) {
  const Input input({1, 2, 3, 4, 5});
  ByteReader reader = input.reader();
  ASSERT_TRUE(reader.byte("x").ok());
  ASSERT_TRUE(reader.align(4, "x").ok());
  EXPECT_EQ(reader.offset(), kBase + 4);
  ASSERT_TRUE(reader.align(4, "x").ok());
  EXPECT_EQ(reader.offset(), kBase + 4);
}

TEST(ByteReader, RestEndsTheReading) {
  const Input input({1, 2, 3});
  ByteReader reader = input.reader();
  ASSERT_TRUE(reader.byte("x").ok());
  EXPECT_EQ(reader.rest().size(), 2u);
  EXPECT_EQ(reader.remaining(), 0u);
}

}  // namespace

}  // namespace tilegym::tile_ir
