#include "tile_ir/diff.h"

#include <gtest/gtest.h>

#include <string>

#include "tile_ir/alignment.h"
#include "tile_ir/goldens.h"
#include "tile_ir/op_encoder.h"
#include "tile_ir/reader.h"

namespace tilegym::tile_ir {

namespace {

/// A kernel with that body of bytes.
Module kernel(const test::Bytes& body) {
  Result<Module> module = read_module(test::module_with_body(body, 3));
  EXPECT_TRUE(module.ok()) << module.error().message;
  return std::move(module).value();
}

/// The differences as lines.
std::string lines(const Module& before, const Module& after) {
  static constexpr const char* kKinds[] = {"added", "removed", "changed"};
  std::string text;
  for (const Change& change : diff_modules(before, after)) {
    text += std::string(kKinds[static_cast<int>(change.kind)]) + " " + change.place + " " + change.property + ": " +
            change.before + " -> " + change.after + "\n";
  }
  return text;
}

const test::Bytes kReturn = {0x5c, 0, 0};

test::Bytes body(std::initializer_list<test::Bytes> operations) {
  test::Bytes all;
  for (const test::Bytes& operation : operations) test::put(all, operation);
  test::put(all, kReturn);
  return all;
}

// addi: code, result type, overflow, operands.
const test::Bytes kAdd = {0x03, 1, 0, 0, 1};
const test::Bytes kAddWithoutWrap = {0x03, 1, 3, 0, 1};
const test::Bytes kAddOfOthers = {0x03, 1, 0, 0, 2};
const test::Bytes kAnd = {0x04, 1, 0, 1};

TEST(Diff, IsEmptyForEqualModules) {
  for (const std::string& name : test::golden_names()) {
    EXPECT_EQ(lines(test::read_golden(name), test::read_golden(name)), "") << name;
  }
}

TEST(Diff, NamesAChangedAttribute) {
  EXPECT_EQ(lines(kernel(body({kAdd, kAdd})), kernel(body({kAdd, kAddWithoutWrap}))),
            "changed kernel / addi #1 overflow: none -> no_wrap\n");
}

TEST(Diff, NamesAddedAndRemovedOperations) {
  EXPECT_EQ(lines(kernel(body({kAdd, kAdd})), kernel(body({kAdd, kAnd, kAdd}))),
            "added kernel / andi #0 :  -> result = tile<i32>\n");
  EXPECT_EQ(lines(kernel(body({kAdd, kAnd})), kernel(body({kAdd}))),
            "removed kernel / andi #0 : result = tile<i32> -> \n");
}

TEST(Diff, NamesAnOperandFromElsewhere) {
  EXPECT_EQ(
      lines(kernel(body({kAdd})), kernel(body({kAddOfOthers}))),
      "changed kernel / addi #0 operand rhs: argument of type tile<i32> -> argument of type tile<i32> (another one)\n");
}

TEST(Diff, FollowsValuesThroughWhatWasInserted) {
  // The last operation uses the result of addi, whose number differs between the two.
  const test::Bytes uses_first = {0x04, 1, 5, 5};
  const test::Bytes uses_second = {0x04, 1, 6, 6};
  EXPECT_EQ(lines(kernel(body({kAdd, uses_first})), kernel(body({{0x01, 1, 0}, kAdd, uses_second}))),
            "added kernel / absi #0 :  -> result = tile<i32>\n");
}

TEST(Diff, ComparesNestedBlocks) {
  // loop: code, no results, no operands, one region of one block without arguments.
  const test::Bytes looped = {0x41, 0, 0, 1, 1, 0, 2, 0x03, 1, 0, 0, 1, 0x0a, 0, 0};
  const test::Bytes other = {0x41, 0, 0, 1, 1, 0, 2, 0x03, 1, 1, 0, 1, 0x0a, 0, 0};
  EXPECT_EQ(lines(kernel(body({looped})), kernel(body({other}))),
            "changed kernel / loop #0 / addi #0 overflow: none -> no_signed_wrap\n");
}

TEST(Align, PrefersEqualItems) {
  const AlignmentKey a1{1, 1};
  const AlignmentKey a2{1, 2};
  const AlignmentKey b{2, 3};
  using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
  EXPECT_EQ(align(std::vector{a1, a2}, std::vector{a2}), (Pairs{{1, 0}}));
  EXPECT_EQ(align(std::vector{a1, b}, std::vector{a2, b}), (Pairs{{0, 0}, {1, 1}}));
  EXPECT_EQ(align(std::vector{a1, b}, std::vector{b, a1}).size(), 1u);
}

TEST(Align, PairsLongSequencesInOrder) {
  std::vector<AlignmentKey> before(5000);
  std::vector<AlignmentKey> after(5000);
  for (std::uint32_t i = 0; i < 5000; ++i) {
    before[i] = {i % 7, i};
    after[i] = {i % 7, i + 5000};
  }
  EXPECT_EQ(align(before, after).size(), 5000u);
}

}  // namespace

}  // namespace tilegym::tile_ir
