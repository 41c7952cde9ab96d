#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "tile_ir/module_bytes.h"
#include "tile_ir/reader.h"

// One case for each diagnostic about the header, the sections and the tables of a module.
namespace tilegym::tile_ir {

namespace {

using test::Bytes;
using test::ModuleBytes;

std::string refusal(const std::vector<std::byte>& bytes) {
  return test::refusal_of(read_module(bytes));
}

/// A module that is accepted: one kernel that returns.
ModuleBytes small_module(std::uint8_t minor = 3) {
  ModuleBytes module(minor);
  module.function(module.function_type({}), {0x5c, 0, 0});
  return module;
}

std::vector<std::byte> with_byte(std::vector<std::byte> bytes, std::size_t at, int value) {
  bytes.at(at) = static_cast<std::byte>(value);
  return bytes;
}

/// Refusal of a module with this type entry as type 0.
std::string type_refusal(const Bytes& entry, std::uint8_t minor = 3) {
  ModuleBytes module(minor);
  module.type(entry);
  module.function(module.function_type({}), {0x5c, 0, 0});
  return refusal(module.build());
}

TEST(BadHeader, TheSmallModuleItselfIsAccepted) {
  EXPECT_EQ(refusal(small_module().build()), "accepted");
}

TEST(BadHeader, OtherMagicNumber) {
  EXPECT_EQ(refusal(with_byte(small_module().build(), 1, 'X')),
            "tile_ir: magic number: wanted 7f 'TileIR' 00, got other bytes at byte 0");
}

TEST(BadHeader, NoBytes) {
  EXPECT_EQ(refusal({}), "tile_ir: magic number: wanted 7f 'TileIR' 00, got no bytes at byte 0");
}

/// What people take for bytecode, and what the refusal says.
struct Mistake {
  const char* bytes;
  const char* got;
  const char* remedy;
};

class MistakenFile : public testing::TestWithParam<Mistake> {};

TEST_P(MistakenFile, IsNamedWithARemedy) {
  const auto text = std::as_bytes(std::span(std::string_view(GetParam().bytes)));
  const Result<Module> module = read_module(text);
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.error().message, std::string("tile_ir: magic number: wanted 7f 'TileIR' 00, got ") + GetParam().got +
                                        " at byte 0; " + GetParam().remedy);
}

constexpr const char* kOfText = "give the bytecode that lies beside the text";

INSTANTIATE_TEST_SUITE_P(BadHeader, MistakenFile,
                         testing::Values(Mistake{"", "no bytes", "give the file that the compiler wrote"},
                                         Mistake{"cuda_tile.module @kernels {}", "text", kOfText},
                                         Mistake{"entry @k() {}", "text", kOfText},
                                         Mistake{"// RUN: cuda-tile-opt", "text", kOfText},
                                         Mistake{"\x7f"
                                                 "ELF\x02",
                                                 "an ELF file", "give the bytecode that the cubin was compiled from"},
                                         Mistake{"global @g", "text", kOfText},
                                         Mistake{"PK\x03\x04", "other bytes", "give a file of Tile IR bytecode"}));

TEST(BadHeader, AnotherVersionIsNamedWithARemedy) {
  const Result<Module> module = read_module(with_byte(small_module().build(), 9, 5));
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.error().message,
            "tile_ir: bytecode version: wanted 13.1 to 13.3, got 13.5 at byte 8; write it as 13.3 (cuTile Python: "
            "bytecode_version=\"13.3\")");
}

TEST(BadHeader, VersionsOutsideTheKnownOnesAreNamed) {
  const auto version_refusal = [](int major, int minor) {
    return refusal(with_byte(with_byte(small_module().build(), 8, major), 9, minor));
  };
  EXPECT_EQ(version_refusal(13, 4), "tile_ir: bytecode version: wanted 13.1 to 13.3, got 13.4 at byte 8");
  EXPECT_EQ(version_refusal(14, 0), "tile_ir: bytecode version: wanted 13.1 to 13.3, got 14.0 at byte 8");
  EXPECT_EQ(version_refusal(13, 0), "tile_ir: bytecode version: wanted 13.1 to 13.3, got 13.0 at byte 8");
}

TEST(BadSections, UnknownId) {
  EXPECT_EQ(refusal(with_byte(small_module().build(), 12, 9)), "tile_ir: section id: wanted 0 to 7, got 9 at byte 12");
}

TEST(BadSections, LengthPastTheEnd) {
  EXPECT_EQ(refusal(with_byte(small_module().build(), 13, 0x7f)),
            "tile_ir: section length: wanted at most 45 in the bytes that are left, got 127 at byte 13");
}

TEST(BadSections, AlignmentThatIsNoPowerOfTwo) {
  EXPECT_EQ(refusal(with_byte(small_module().build(), 14, 6)),
            "tile_ir: section alignment: wanted a power of two up to 4096, got 6 at byte 14");
}

TEST(BadSections, AlignedEnd) {
  std::vector<std::byte> bytes = small_module().build();
  EXPECT_EQ(refusal(with_byte(bytes, bytes.size() - 1, 0x80)),
            "tile_ir: end section: wanted no alignment flag, got one at byte 58");
}

TEST(BadSections, TheSameTwice) {
  ModuleBytes module = small_module();
  module.section(1, {0});
  EXPECT_EQ(refusal(module.build()), "tile_ir: section id: wanted each section once, got 1 at byte 58");
}

TEST(BadSections, NoFunctions) {
  ModuleBytes module;
  module.string("x");
  EXPECT_EQ(refusal(module.build()),
            "tile_ir: module: wanted a string and a function section, got one missing at byte 26");
}

TEST(BadSections, BytesAfterTheEnd) {
  std::vector<std::byte> bytes = small_module().build();
  bytes.push_back(std::byte{0});
  EXPECT_EQ(refusal(bytes), "tile_ir: end of module: wanted no more bytes, got 1 at byte 59");
}

TEST(BadTables, MoreEntriesThanBytes) {
  ModuleBytes module = small_module();
  module.section(4, {9});
  EXPECT_EQ(refusal(module.build()),
            "tile_ir: number of constants: wanted at most 0 in the bytes that are left, got 9 at byte 60");
}

TEST(BadTables, OffsetsThatGoBack) {
  ModuleBytes module = small_module();
  Bytes table = {2, 0, 0, 0, 0, 0, 0, 0};
  test::put_fixed(table, 3, 8);
  test::put_fixed(table, 1, 8);
  test::put(table, {1, 1, 1, 1});
  module.section(4, table);
  EXPECT_EQ(refusal(module.build()),
            "tile_ir: offset of constants: wanted ascending offsets up to 4, got 3 at byte 84");
}

TEST(BadTypes, UnknownTag) {
  EXPECT_EQ(type_refusal({23}), "tile_ir: type tag: wanted 0 to 22, got 23 at byte 40");
}

TEST(BadTypes, TagOfANewerVersion) {
  EXPECT_EQ(type_refusal({19}, 2), "tile_ir: type tag: wanted one that version 13.2 has, got 19 at byte 40");
  EXPECT_EQ(type_refusal({18}, 1), "tile_ir: type tag: wanted one that version 13.1 has, got 18 at byte 40");
}

TEST(BadTypes, BytesAfterTheType) {
  EXPECT_EQ(type_refusal({3, 3}), "tile_ir: type: wanted its end, got more bytes at byte 40");
}

TEST(BadTypes, IndexPastTheTable) {
  EXPECT_EQ(type_refusal({12, 2}), "tile_ir: type index in a type: wanted an index below 2, got 2 at byte 41");
}

TEST(BadTypes, PointerToAPointer) {
  EXPECT_EQ(type_refusal({12, 0}), "tile_ir: type index in a type: wanted a type of the right kind, got 0 at byte 40");
}

TEST(BadTypes, FunctionWithinAFunction) {
  const std::string refused = "tile_ir: type index in a function type: wanted a type that is no function, got ";
  EXPECT_EQ(type_refusal({16, 1, 0, 0}), refused + "0 at byte 40");
  EXPECT_EQ(type_refusal({16, 0, 1, 1}), refused + "1 at byte 40");
}

TEST(BadTypes, TileExtentThatIsNoPowerOfTwo) {
  ModuleBytes module;
  module.tile(module.element(7), {3});
  module.function(module.function_type({}), {0x5c, 0, 0});
  EXPECT_EQ(refusal(module.build()), "tile_ir: tile shape: wanted powers of two, got 3 at byte 45");
}

TEST(BadTypes, TileWithTooManyElements) {
  ModuleBytes module;
  module.tile(module.element(7), {1 << 20, 1 << 20, 1 << 30});
  module.function(module.function_type({}), {0x5c, 0, 0});
  EXPECT_EQ(refusal(module.build()), "tile_ir: tile shape: wanted at most 16777216 elements, got more at byte 45");
}

/// Type 0: f32, type 1: a tensor view of rank 1, type 2: `view`.
std::string view_refusal(const Bytes& view) {
  ModuleBytes module;
  module.element(7);
  module.type({14, 0, 1, 8, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0});
  module.type(view);
  module.function(module.function_type({}), {0x5c, 0, 0});
  return refusal(module.build());
}

TEST(BadTypes, TheViewOfTheseTestsIsAccepted) {
  EXPECT_EQ(view_refusal({15, 1, 1, 4, 0, 0, 0, 1, 1, 0, 0, 0, 0, 4}), "accepted");
}

TEST(BadTypes, UnknownFlagOfAView) {
  EXPECT_EQ(view_refusal({15, 2, 1, 4, 0, 0, 0, 1, 1, 0, 0, 0, 0, 4}),
            "tile_ir: flags of view type: wanted at most 1, got 2 at byte 70");
}

TEST(BadTypes, UnknownPadding) {
  EXPECT_EQ(view_refusal({15, 1, 1, 4, 0, 0, 0, 1, 1, 0, 0, 0, 0, 5}),
            "tile_ir: padding value: wanted at most 4, got 5 at byte 82");
}

TEST(BadTypes, DimensionOutsideTheTensor) {
  EXPECT_EQ(view_refusal({15, 0, 1, 4, 0, 0, 0, 1, 1, 1, 0, 0, 0}),
            "tile_ir: dimension map: wanted every tensor dimension once, got dimension 1 at byte 69");
}

TEST(BadTypes, MapOfAnotherRank) {
  EXPECT_EQ(view_refusal({15, 0, 1, 4, 0, 0, 0, 1, 0}), "tile_ir: rank of dimension map: wanted 1, got 0 at byte 69");
}

TEST(BadTypes, ViewOfAnotherRankThanItsTensor) {
  EXPECT_EQ(view_refusal({15, 0, 2, 4, 0, 0, 0, 4, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0, 0, 0}),
            "tile_ir: rank of view type: wanted 1 like its tensor, at least 1, got 2 at byte 69");
}

TEST(BadTypes, FewerStridesThanExtents) {
  EXPECT_EQ(type_refusal({14, 1, 1, 8, 0, 0, 0, 0, 0, 0, 0, 0}),
            "tile_ir: rank of tensor view strides: wanted 1, got 0 at byte 40");
}

TEST(BadTypes, EmptyTensorExtent) {
  EXPECT_EQ(type_refusal({14, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
            "tile_ir: tensor view shape: wanted positive numbers, got 0 at byte 40");
}

TEST(BadTypes, SparseDimensionOutsideTheTile) {
  EXPECT_EQ(view_refusal({20, 0, 1, 4, 0, 0, 0, 1, 1}),
            "tile_ir: sparse dimension: wanted an index below 1, got 1 at byte 77");
}

TEST(BadTypes, NegativeStride) {
  EXPECT_EQ(view_refusal({21, 0, 1, 4, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 1, 1, 0, 0, 0, 0}),
            "tile_ir: traversal strides: wanted positive numbers, got -1 at byte 69");
}

TEST(BadGlobals, UnknownVisibility) {
  ModuleBytes module = small_module();
  const auto tile = static_cast<std::uint8_t>(module.tile(module.element(3), {}));
  const auto value = static_cast<std::uint8_t>(module.constant({7, 0, 0, 0}));
  module.global({0, tile, value, 0, 2, 0});
  EXPECT_EQ(refusal(module.build()), "tile_ir: visibility of global: wanted at most 1, got 2 at byte 19");
}

TEST(BadGlobals, TypeThatIsNoTile) {
  ModuleBytes module = small_module();
  module.constant({0});
  module.global({0, 0, 0, 0, 0, 0});
  EXPECT_EQ(refusal(module.build()),
            "tile_ir: value of global: wanted a tile of numbers as its type, got another type at byte 17");
}

}  // namespace

}  // namespace tilegym::tile_ir
