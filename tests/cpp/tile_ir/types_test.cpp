#include "tile_ir/types.h"

#include <gtest/gtest.h>

namespace tilegym::tile_ir {

namespace {

TEST(ElementTypes, HaveTheNamesOfTheTextualForm) {
  EXPECT_EQ(name(ElementType::i1), "i1");
  EXPECT_EQ(name(ElementType::bf16), "bf16");
  EXPECT_EQ(name(ElementType::tf32), "tf32");
  EXPECT_EQ(name(ElementType::f8e4m3fn), "f8E4M3FN");
  EXPECT_EQ(name(ElementType::f8e8m0fnu), "f8E8M0FNU");
  EXPECT_EQ(name(static_cast<ElementType>(12)), "unknown");
}

TEST(ElementTypes, HaveWidths) {
  EXPECT_EQ(bit_width(ElementType::i1), 1);
  EXPECT_EQ(bit_width(ElementType::f4e2m1fn), 4);
  EXPECT_EQ(bit_width(ElementType::tf32), 32);
  EXPECT_EQ(byte_size(ElementType::i1), 1u);
  EXPECT_EQ(byte_size(ElementType::i4), 1u);
  EXPECT_EQ(byte_size(ElementType::f16), 2u);
  EXPECT_EQ(byte_size(ElementType::f64), 8u);
}

TEST(ElementTypes, AreFloatsOrIntegers) {
  EXPECT_TRUE(is_float(ElementType::f8e5m2));
  EXPECT_TRUE(is_float(ElementType::tf32));
  EXPECT_FALSE(is_float(ElementType::i64));
  EXPECT_FALSE(is_float(ElementType::i4));
}

TEST(Types, CountTheElementsOfATile) {
  Type tile;
  tile.kind = TypeKind::tile;
  EXPECT_EQ(tile.element_count(), 1);
  EXPECT_TRUE(tile.is_scalar_tile());
  tile.shape = {4, 1, 8};
  EXPECT_EQ(tile.element_count(), 32);
  EXPECT_FALSE(tile.is_scalar_tile());
}

}  // namespace

}  // namespace tilegym::tile_ir
