#include "cpu_driver/engine/memory_map.h"

#include <gtest/gtest.h>

#include <array>

namespace tilegym::cpu {
namespace {

const std::array<MemoryRange, 2> kRanges{{{1000, 1040, "out"}, {2000, 2400, "x"}}};

TEST(MemoryMap, ContainsWholeRange) {
  EXPECT_TRUE(MemoryMap(kRanges).contains(1000, 1040));
}
TEST(MemoryMap, RejectsOneByteBefore) {
  EXPECT_FALSE(MemoryMap(kRanges).contains(999, 1004));
}
TEST(MemoryMap, RejectsOneBytePast) {
  EXPECT_FALSE(MemoryMap(kRanges).contains(1037, 1041));
}
TEST(MemoryMap, RejectsSpanAcrossTwoRanges) {
  EXPECT_FALSE(MemoryMap(kRanges).contains(1000, 2400));
}
TEST(MemoryMap, EmptySpanIsInsideAnywhere) {
  EXPECT_TRUE(MemoryMap(kRanges).contains(5, 5));
}
TEST(MemoryMap, ReversedSpanIsOutside) {
  EXPECT_FALSE(MemoryMap(kRanges).contains(1010, 1004));
}
TEST(MemoryMap, EmptyMapContainsNoByte) {
  EXPECT_FALSE(MemoryMap().contains(0, 1));
}

TEST(MemoryMap, AssignReplacesRanges) {
  MemoryMap map(kRanges);
  map.assign(std::array<MemoryRange, 1>{{{10, 20, "y"}}});
  EXPECT_TRUE(map.contains(10, 20));
  EXPECT_FALSE(map.contains(1000, 1004));
}

TEST(MemoryMap, DescribesAddressPastTheEndWithElement) {
  EXPECT_EQ(MemoryMap(kRanges).describe(1044, 4),
            "address 0x414, nearest to argument 'out' (40 bytes): 4 bytes past the end, element 11 of 10");
}

TEST(MemoryMap, DescribesTheFirstAddressOutside) {
  EXPECT_EQ(MemoryMap(kRanges).describe(1040),
            "address 0x410, nearest to argument 'out' (40 bytes): directly behind the end");
}

TEST(MemoryMap, DescribesAddressBeforeTheStart) {
  EXPECT_EQ(MemoryMap(kRanges).describe(1990, 4),
            "address 0x7c6, nearest to argument 'x' (400 bytes): 10 bytes before the start");
}

TEST(MemoryMap, DescribesAddressInside) {
  EXPECT_EQ(MemoryMap(kRanges).describe(2008), "address 0x7d8, nearest to argument 'x' (400 bytes): inside, at byte 8");
}

TEST(MemoryMap, DescribesWithoutRanges) {
  EXPECT_EQ(MemoryMap().describe(16), "address 0x10: the launch has no accessible memory");
}

}  // namespace
}  // namespace tilegym::cpu
