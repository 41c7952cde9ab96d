#include "tile_ir/op_table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tile_ir/op_encoder.h"
#include "tile_ir/reader.h"

namespace tilegym::tile_ir {

namespace {

using test::Bytes;
using test::module_with_body;
using test::Parts;

/// The kernel's first operation; fails the test where the module is refused. Its texts and bytes end with the module.
Operation first_operation(const std::vector<std::byte>& bytes) {
  Result<Module> module = read_module(bytes);
  if (!module.ok()) {
    ADD_FAILURE() << module.error().message;
    return {};
  }
  return std::move(module->functions.at(0).body.operations.at(0));
}

std::vector<std::byte> module_of(const Bytes& body, std::uint8_t minor = 3) {
  Bytes whole = body;
  test::put(whole, {0x5c, 0, 0});
  return module_with_body(whole, minor);
}

Operation operation_of(const Bytes& body, std::uint8_t minor = 3) {
  return first_operation(module_of(body, minor));
}

TEST(OpTable, EveryRowIsReadInEveryVersionThatHasIt) {
  for (const OpSpec& spec : op_table()) {
    for (std::uint8_t minor = spec.since; minor <= 3; ++minor) {
      for (const Parts parts : {Parts::required, Parts::all}) {
        SCOPED_TRACE(std::string(spec.mnemonic) + " in 13." + std::to_string(minor));
        const Operation operation = first_operation(test::module_with(spec, minor, parts));
        EXPECT_EQ(operation.opcode, spec.opcode);
        EXPECT_EQ(operation.segments.size(), spec.operands.size());
        EXPECT_EQ(operation.regions.size(), spec.regions.size());
        for (std::size_t i = 0; i < operation.operands.size(); ++i) EXPECT_EQ(operation.operands[i], i % 5);
      }
    }
  }
}

TEST(OpTable, AllPartsPresentMeansEveryAttributeOfTheVersion) {
  for (const OpSpec& spec : op_table()) {
    SCOPED_TRACE(spec.mnemonic);
    const Operation operation = first_operation(test::module_with(spec, 3, Parts::all));
    EXPECT_EQ(operation.attributes.size(), spec.attributes.size());
  }
}

TEST(OpTable, OlderVersionsRefuseNewerOperations) {
  for (const OpSpec& spec : op_table()) {
    if (spec.since == 1) continue;
    const auto minor = static_cast<std::uint8_t>(spec.since - 1);
    const Result<Module> module = read_module(test::module_with(spec, minor, Parts::required));
    ASSERT_FALSE(module.ok()) << spec.mnemonic;
    EXPECT_NE(module.error().message.find("bytecode version of " + std::string(spec.mnemonic)), std::string::npos)
        << module.error().message;
  }
}

TEST(OpTable, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const OpSpec& spec : op_table()) names.insert(spec.mnemonic);
  EXPECT_EQ(names.size(), op_table().size());
}

TEST(OpTable, FindsRowsByCode) {
  EXPECT_EQ(find_op(0x00)->mnemonic, "absf");
  EXPECT_EQ(find_op(0x75)->mnemonic, "atomic_red_view_tko");
  EXPECT_EQ(find_op(0x19), nullptr);
  EXPECT_EQ(find_op(0x100000002), nullptr);
}

TEST(OpTable, NamesOperationsAndAttributes) {
  EXPECT_EQ(name(Opcode::MakeTensorView), "make_tensor_view");
  EXPECT_EQ(name(static_cast<Opcode>(0x19)), "unknown");
  EXPECT_EQ(name(AttrName::memory_ordering_semantics), "memory_ordering_semantics");
}

// Bytes written by hand after the dialect's definition, so that a wrong row cannot hide behind an encoder that reads
// it.

TEST(KnownBytes, AddFWithFlushToZero) {
  const Operation add = operation_of({0x02, 1, 0x01, 2, 3, 4});
  EXPECT_TRUE(add.flag(AttrName::flush_to_zero));
  EXPECT_EQ(add.integer(AttrName::rounding_mode), 2u);
  EXPECT_EQ(add.operands, std::vector<ValueId>({3, 4}));
}

TEST(KnownBytes, StoreWithMaskButNoToken) {
  // flags: bit 0 scope, 1 hints, 2 mask, 3 token
  const Operation store = operation_of({0x65, 1, 0x04, 0, 0, 1, 2});
  EXPECT_EQ(store.segments, std::vector<std::uint32_t>({1, 1, 1, 0}));
}

TEST(KnownBytes, PrintIn13_1HasNoFlagsAndAnUnnumberedResult) {
  const Operation print = operation_of({0x55, 0, 0, 2, 3, 4}, 1);
  EXPECT_EQ(print.segments, std::vector<std::uint32_t>({2, 0}));
  EXPECT_EQ(print.results.size(), 1u);
}

TEST(KnownBytes, PrintIn13_2HasFlagsAndResult) {
  const Operation print = operation_of({0x55, 1, 1, 0x01, 0, 2, 3, 4, 0}, 2);
  EXPECT_EQ(print.segments, std::vector<std::uint32_t>({2, 1}));
  EXPECT_EQ(print.results.size(), 1u);
}

TEST(KnownBytes, AllocaInSharedMemory) {
  const Operation memory = operation_of({0x71, 1, 0x01, 0x80, 0x01, 16});
  EXPECT_TRUE(memory.flag(AttrName::global));
  EXPECT_EQ(memory.integer(AttrName::num_elem), 128u);
  EXPECT_EQ(memory.integer(AttrName::alignment), 16u);
}

TEST(KnownBytes, IfWithoutElseKeepsAnEmptyRegion) {
  const Operation branch = operation_of({0x32, 0, 0, 2, 1, 0, 1, 0x6d, 0, 0, 0});
  ASSERT_EQ(branch.regions.size(), 2u);
  EXPECT_EQ(branch.regions[0].blocks.size(), 1u);
  EXPECT_TRUE(branch.regions[1].blocks.empty());
}

TEST(KnownBytes, GlobalStoresItsTypeBeforeItsValue) {
  const Result<Module> module = read_module(module_of({0x31, 0x01, 0, 1, 0, 8, 1}));
  ASSERT_TRUE(module.ok()) << module.error().message;
  const Operation& global = module->functions.at(0).body.operations.at(0);
  EXPECT_EQ(global.find(AttrName::sym_name)->text, "text");
  EXPECT_EQ(global.find(AttrName::value)->type, 1u);
  EXPECT_TRUE(global.flag(AttrName::constant));
  EXPECT_EQ(global.integer(AttrName::symbol_visibility), 1u);
}

}  // namespace

}  // namespace tilegym::tile_ir
