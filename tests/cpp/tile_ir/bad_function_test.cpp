#include <gtest/gtest.h>

#include <string>

#include "tile_ir/op_encoder.h"
#include "tile_ir/reader.h"

// One case for each diagnostic about functions, operations and attributes. Surroundings and their indices:
// module_with_body().
namespace tilegym::tile_ir {

namespace {

using test::Bytes;

/// The refusal of a kernel with that body followed by a return, its offset counted from the body's first byte.
std::string refusal(Bytes body, std::uint8_t minor = 3) {
  test::put(body, {0x5c, 0, 0});
  const Result<Module> module = read_module(test::module_with_body(body, minor));
  if (module.ok()) return "accepted";
  const std::string text = test::refusal_of(module);
  // Header, section header and the function's row; the length of the body takes a second byte from 128 on.
  const std::size_t body_start = body.size() < 128 ? 22 : 23;
  const std::size_t split = text.rfind(' ') + 1;
  return text.substr(0, split) + std::to_string(std::stoul(text.substr(split)) - body_start);
}

/// `depth` ifs inside each other.
Bytes nested(int depth) {
  Bytes body;
  for (int i = 0; i < depth; ++i) test::put(body, {0x32, 0, 0, 2, 1, 0, 2});
  test::put(body, {0x44, 1});
  for (int i = 0; i < depth; ++i) test::put(body, {0x6d, 0, 0, 0});
  return body;
}

TEST(BadOperation, UnknownCode) {
  EXPECT_EQ(refusal({0x76}), "tile_ir: operation code: wanted a known one, got 118 at byte 0");
  EXPECT_EQ(refusal({0x80, 0x60}), "tile_ir: operation code: wanted a known one, got 12288 at byte 0");
}

TEST(BadOperation, CodeOfANewerVersion) {
  EXPECT_EQ(refusal({0x6e, 1, 0, 0}, 1),
            "tile_ir: bytecode version of atan2: wanted 13.2 or newer, got 13.1 at byte 0");
}

TEST(BadOperation, ResultTypePastTheTable) {
  EXPECT_EQ(refusal({0x00, 9, 0}), "tile_ir: result type of absf: wanted an index below 3, got 9 at byte 1");
}

TEST(BadOperation, ResultTypeThatNoValueHas) {
  EXPECT_EQ(refusal({0x00, 0, 0}),
            "tile_ir: result type of absf: wanted a tile, view or token, got another type at byte 1");
}

TEST(BadOperation, AnotherNumberOfResults) {
  EXPECT_EQ(refusal({0x26, 2, 1, 1, 1, 0}), "tile_ir: number of results of extract: wanted 1, got 2 at byte 1");
}

TEST(BadOperation, UnknownFlag) {
  EXPECT_EQ(refusal({0x02, 1, 2, 0, 0, 0}), "tile_ir: flags of addf: wanted at most 1, got 2 at byte 2");
}

TEST(BadOperation, OperandThatIsNotDefinedYet) {
  EXPECT_EQ(refusal({0x04, 1, 0, 5}), "tile_ir: rhs of andi: wanted an index below 5, got 5 at byte 3");
}

TEST(BadOperation, OperandOfABlockThatHasEnded) {
  // if { yield of a token made inside }, then a use of the token's number outside
  EXPECT_EQ(refusal({0x32, 0, 0, 2, 1, 0, 2, 0x44, 1, 0x6d, 0, 0, 0, 0x00, 1, 5}),
            "tile_ir: source of absf: wanted an index below 5, got 5 at byte 15");
}

TEST(BadOperation, TooFewOperands) {
  EXPECT_EQ(refusal({0x29, 0, 0, 2, 0, 0}), "tile_ir: number of operands of for: wanted at least 3, got 2 at byte 3");
}

TEST(BadOperation, CutShort) {
  EXPECT_EQ(refusal({0x03, 1}), "tile_ir: overflow of addi: wanted at most 3, got 92 at byte 2");
}

TEST(BadRegion, AnotherNumberOfRegions) {
  EXPECT_EQ(refusal({0x32, 0, 0, 1}), "tile_ir: number of regions of if: wanted 2, got 1 at byte 3");
}

TEST(BadRegion, MoreThanOneBlock) {
  EXPECT_EQ(refusal({0x32, 0, 0, 2, 2}), "tile_ir: number of blocks of if: wanted at most 1, got 2 at byte 4");
}

TEST(BadRegion, NoBlockWhereOneIsNeeded) {
  EXPECT_EQ(refusal({0x32, 0, 0, 2, 0}), "tile_ir: number of blocks of if: wanted 1, got 0 at byte 4");
}

TEST(BadRegion, NoTerminator) {
  EXPECT_EQ(refusal({0x32, 0, 0, 2, 1, 0, 1, 0x44, 1, 0}),
            "tile_ir: block: wanted break, continue, return or yield as its last operation, got no such operation at "
            "byte 9");
}

TEST(BadRegion, TerminatorBeforeTheEnd) {
  EXPECT_EQ(refusal({0x5c, 0, 0}),
            "tile_ir: block: wanted break, continue, return or yield as its last operation, got one before the last at "
            "byte 6");
}

TEST(BadRegion, NestingIsAcceptedUpToTheLimitOnly) {
  EXPECT_EQ(refusal(nested(64)), "accepted");
  EXPECT_EQ(refusal(nested(65)), "tile_ir: nesting of regions: wanted at most 64 levels, got more at byte 451");
}

TEST(BadAttribute, EnumOutOfRange) {
  EXPECT_EQ(refusal({0x02, 1, 0, 7, 0, 0}), "tile_ir: rounding_mode of addf: wanted at most 6, got 7 at byte 3");
}

TEST(BadAttribute, StringPastTheTable) {
  EXPECT_EQ(refusal({0x05, 2, 0}), "tile_ir: message of assert: wanted an index below 2, got 2 at byte 1");
}

TEST(BadAttribute, BooleanOutOfRange) {
  EXPECT_EQ(refusal({0x5e, 0, 0, 2}), "tile_ir: reverse of scan: wanted 0 or 1, got 2 at byte 3");
}

TEST(BadAttribute, ConstantPastTheTable) {
  EXPECT_EQ(refusal({0x10, 1, 1}), "tile_ir: value of constant: wanted an index below 1, got 1 at byte 2");
}

TEST(BadAttribute, UnknownTag) {
  EXPECT_EQ(refusal({0x06, 1, 13, 0}), "tile_ir: attribute tag: wanted 1 to 12, got 13 at byte 2");
}

TEST(BadAttribute, FlagsOfBounds) {
  EXPECT_EQ(refusal({0x06, 1, 12, 4, 0}), "tile_ir: bounds of bounded: wanted flags 0 to 3, got 4 at byte 3");
}

TEST(BadAttribute, FlagsOfDivisibility) {
  EXPECT_EQ(refusal({0x06, 1, 8, 16, 4, 0}),
            "tile_ir: every and along of div_by: wanted flags 0 to 3, got 4 at byte 4");
}

TEST(BadAttribute, IntegerThatNeedsMoreBits) {
  EXPECT_EQ(refusal({0x06, 1, 1, 0, 0x80, 0x80, 0x80, 0x80, 0x10, 0}),
            "tile_ir: integer attribute: wanted at most 4294967295, got 4294967296 at byte 4");
}

TEST(BadAttribute, IntegerOfAnotherType) {
  EXPECT_EQ(refusal({0x06, 1, 1, 1, 0}),
            "tile_ir: type of integer attribute: wanted an integer type, got another type at byte 3");
}

TEST(BadAttribute, FloatOfAnotherType) {
  EXPECT_EQ(refusal({0x06, 1, 2, 0, 0}),
            "tile_ir: type of float attribute: wanted a float type, got another type at byte 3");
}

TEST(BadAttribute, TheSameKeyTwice) {
  EXPECT_EQ(refusal({0x06, 1, 10, 2, 0, 3, 1, 0, 3, 1, 0}),
            "tile_ir: dictionary key: wanted each key once, got text at byte 7");
}

TEST(BadAttribute, ArraysInArraysWithoutEnd) {
  Bytes body = {0x06, 1};
  for (int i = 0; i < 40; ++i) test::put(body, {6, 1});
  test::put(body, {3, 1, 0});
  EXPECT_EQ(refusal(body), "tile_ir: nesting of attributes: wanted at most 16 levels, got more at byte 36");
}

TEST(BadFunction, TypeThatIsNoFunction) {
  test::ModuleBytes module;
  module.function(module.element(3), {0x5c, 0, 0});
  const Result<Module> read = read_module(module.build());
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(test::refusal_of(read), "tile_ir: function type: wanted a function type, got another type at byte 18");
}

/// The refusal of a kernel that assumes a predicate which is a 4-bit float of these bits.
std::string float_refusal(std::uint8_t bits) {
  test::ModuleBytes module;
  module.element(19);
  const auto tile = static_cast<std::uint8_t>(module.tile(module.element(3), {}));
  module.function(module.function_type({tile}), {0x06, tile, 2, 0, bits, 0, 0x5c, 0, 0});
  const Result<Module> read = read_module(module.build());
  return test::refusal_of(read);
}

TEST(BadAttribute, FloatThatNeedsMoreBits) {
  EXPECT_EQ(float_refusal(0x0f), "accepted");
  EXPECT_EQ(float_refusal(0x10), "tile_ir: float attribute: wanted 4 bits, got 16 at byte 25");
}

TEST(BadFunction, ParameterTypeThatNoValueHas) {
  test::ModuleBytes module;
  module.function(module.function_type({module.element(3)}), {0x5c, 0, 0});
  const Result<Module> read = read_module(module.build());
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(test::refusal_of(read),
            "tile_ir: parameter type: wanted a tile, view or token, got another type at byte 22");
}

TEST(BadFunction, HintsOfAnotherKind) {
  test::ModuleBytes module;
  module.function(module.function_type({}), {0x5c, 0, 0}, {3, 1});
  const Result<Module> read = read_module(module.build());
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(test::refusal_of(read),
            "tile_ir: hints of function: wanted optimization hints, got another attribute at byte 21");
}

TEST(BadFunction, UnknownFlag) {
  test::ModuleBytes module;
  module.function(module.function_type({}), {0x5c, 0, 0});
  std::vector<std::byte> bytes = module.build();
  bytes.at(19) = std::byte{8};
  const Result<Module> read = read_module(bytes);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(test::refusal_of(read), "tile_ir: function flags: wanted 0 to 7, got 8 at byte 19");
}

TEST(BadFunction, EmptyName) {
  test::ModuleBytes module;
  module.string("");
  module.function(module.function_type({}), {0x5c, 0, 0});
  std::vector<std::byte> bytes = module.build();
  bytes.at(17) = std::byte{0};
  const Result<Module> read = read_module(bytes);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(test::refusal_of(read), "tile_ir: function name: wanted a name, got an empty one at byte 17");
}

TEST(BadFunction, EmptyBody) {
  test::ModuleBytes module;
  module.function(module.function_type({}), {});
  const Result<Module> read = read_module(module.build());
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(test::refusal_of(read),
            "tile_ir: block: wanted break, continue, return or yield as its last operation, got no such operation at "
            "byte 22");
}

}  // namespace

}  // namespace tilegym::tile_ir
