#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <utility>

#include "tile_ir/goldens.h"
#include "tile_ir/module_bytes.h"
#include "tile_ir/reader.h"

namespace tilegym::tile_ir {

namespace {

using test::find_all;
using test::histogram;
using test::ModuleBytes;
using test::read_golden;

using Counts = std::map<std::string_view, int>;

// Expected facts are those that NVIDIA's disassembler prints for the same bytes.

TEST(ReadModule, FindsEveryOperationOfAPointerKernel) {
  const Module module = read_golden("cutile_silu_and_mul_f16");
  ASSERT_EQ(module.functions.size(), 1u);
  const Counts wanted = {{"addf", 1},
                         {"assume", 10},
                         {"broadcast", 4},
                         {"cmpi", 1},
                         {"divf", 1},
                         {"exp2", 1},
                         {"constant", 21},
                         {"exti", 3},
                         {"ftof", 3},
                         {"iota", 1},
                         {"get_tile_block_id", 1},
                         {"load_ptr_tko", 2},
                         {"mulf", 3},
                         {"muli", 2},
                         {"offset", 6},
                         {"reshape", 4},
                         {"return", 1},
                         {"store_ptr_tko", 1}};
  EXPECT_EQ(histogram(module.functions[0]), wanted);
}

TEST(ReadModule, FindsEveryOperationOfNestedLoops) {
  const Module module = read_golden("cutile_static_persistent_matmul_bf16");
  ASSERT_EQ(module.functions.size(), 1u);
  // The outer loop ends with a continue without operands, which the disassembler leaves out.
  const Counts wanted = {{"addi", 4},      {"assume", 31},        {"cmpi", 1},
                         {"constant", 34}, {"continue", 2},       {"divi", 5},
                         {"for", 2},       {"ftof", 1},           {"get_num_tile_blocks", 1},
                         {"if", 1},        {"load_view_tko", 2},  {"get_tile_block_id", 1},
                         {"mmaf", 1},      {"make_token", 3},     {"make_partition_view", 3},
                         {"muli", 3},      {"remi", 2},           {"make_tensor_view", 3},
                         {"return", 1},    {"store_view_tko", 1}, {"subi", 4},
                         {"yield", 2}};
  EXPECT_EQ(histogram(module.functions[0]), wanted);
}

TEST(ReadModule, KeepsNameAndParametersOfAnEntry) {
  const Module module = read_golden("cutile_silu_and_mul_f16");
  const Function* entry = module.find("silu_and_mul_kernel_entry");
  ASSERT_NE(entry, nullptr);
  EXPECT_TRUE(entry->is_entry);
  ASSERT_EQ(entry->body.arguments.size(), 5u);
  EXPECT_TRUE(module.type_of(*entry, 0).of_pointers);
  EXPECT_EQ(module.type_of(*entry, 0).element, ElementType::f16);
  EXPECT_EQ(module.type_of(*entry, 2).element, ElementType::i32);
}

TEST(ReadModule, GivesEveryValueOneDefinition) {
  const Module module = read_golden("cutile_static_persistent_matmul_bf16");
  const Function& entry = module.functions.at(0);
  const Operation& loop = *find_all(entry, Opcode::For).at(0);
  const Operation& choice = *find_all(entry, Opcode::If).at(0);
  const Operation& remainder = *find_all(entry, Opcode::RemI).at(0);
  // %19 = remi %loopIdx, %18, where %18 is the result of the if.
  EXPECT_EQ(remainder.group(0)[0], loop.body().arguments.at(0));
  EXPECT_EQ(remainder.group(1)[0], choice.results.at(0));
}

TEST(ReadModule, KeepsItsViewsWhenItMoves) {
  Module module = read_golden("every_operation_13_3");
  const Module moved = std::move(module);
  const Operation& print = *find_all(moved.functions.at(0), Opcode::Print).at(0);
  EXPECT_EQ(print.find(AttrName::str)->text, "%i of %i");
}

TEST(ReadModule, DoesNotNeedTheBytesAfterwards) {
  std::vector<std::byte> bytes = test::golden("every_operation_13_3");
  const Result<Module> module = read_module(bytes);
  ASSERT_TRUE(module.ok());
  std::ranges::fill(bytes, std::byte{0xee});
  EXPECT_EQ(find_all(module->functions.at(0), Opcode::Assert).at(0)->find(AttrName::message)->text, "all of it");
}

TEST(ReadModule, ReadsWhoWroteIt) {
  ModuleBytes bytes;
  bytes.function(bytes.function_type({}), {0x5c, 0, 0});
  bytes.section(7, {static_cast<std::uint8_t>(bytes.string("somebody 1.0"))});
  const Result<Module> module = read_module(bytes.build());
  ASSERT_TRUE(module.ok()) << module.error().message;
  EXPECT_EQ(module->producer, "somebody 1.0");
}

TEST(ReadModule, TakesHintsOfAnEntry) {
  ModuleBytes bytes;
  const auto target = static_cast<std::uint8_t>(bytes.string("sm_90"));
  const auto key = static_cast<std::uint8_t>(bytes.string("occupancy"));
  const auto i32 = static_cast<std::uint8_t>(bytes.element(3));
  bytes.function(bytes.function_type({}), {0x5c, 0, 0}, {11, 1, target, 10, 1, key, 1, i32, 4});
  const Result<Module> module = read_module(bytes.build());
  ASSERT_TRUE(module.ok()) << module.error().message;
  EXPECT_EQ(module->functions.at(0).optimization_hints->children.at(0).children.at(0).integer, 4u);
}

TEST(ReadModule, ReadsSeveralFunctions) {
  ModuleBytes bytes;
  const std::uint32_t type = bytes.function_type({});
  bytes.function(type, {0x5c, 0, 0});
  bytes.function(type, {0x44, static_cast<std::uint8_t>(bytes.type({17})), 0x5c, 0, 0});
  const Result<Module> module = read_module(bytes.build());
  ASSERT_TRUE(module.ok()) << module.error().message;
  ASSERT_EQ(module->functions.size(), 2u);
  EXPECT_EQ(module->functions[0].values.size(), 0u);
  EXPECT_EQ(module->functions[1].values.size(), 1u);
}

TEST(Operation, RecordsWhereItLies) {
  const std::vector<std::byte> bytes = test::golden("cutile_silu_and_mul_f16");
  const Module module = read_golden("cutile_silu_and_mul_f16");
  for (const Operation& operation : module.functions.at(0).body.operations) {
    EXPECT_EQ(std::to_integer<int>(bytes.at(operation.byte_offset)), static_cast<int>(operation.opcode));
  }
}

TEST(Operation, FallsBackWhereAnAttributeIsAbsent) {
  Operation operation;
  EXPECT_EQ(operation.find(AttrName::overflow), nullptr);
  EXPECT_EQ(operation.integer(AttrName::overflow, 3), 3u);
  EXPECT_FALSE(operation.flag(AttrName::flush_to_zero));
}

TEST(Module, FindsFunctionsByName) {
  const Module module = read_golden("every_operation_13_1");
  EXPECT_EQ(module.find("every_operation"), &module.functions[0]);
  EXPECT_EQ(module.find("another"), nullptr);
}

TEST(IsBytecode, LooksAtTheMagicNumberOnly) {
  std::vector<std::byte> bytes = test::golden("cutile_silu_and_mul_f16");
  EXPECT_TRUE(is_bytecode(bytes));
  EXPECT_TRUE(is_bytecode(std::span(bytes).first(8)));
  EXPECT_FALSE(is_bytecode(std::span(bytes).first(7)));
  bytes[0] = std::byte{0};
  EXPECT_FALSE(is_bytecode(bytes));
}

TEST(ReadFile, ReadsAPipeToItsEnd) {
  const std::vector<std::byte> bytes = test::golden("cutile_silu_and_mul_f16");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  // The module fits into a pipe's buffer.
  ASSERT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ::close(ends[1]);
  const Result<Module> module = read_file("/dev/fd/" + std::to_string(ends[0]));
  ::close(ends[0]);
  ASSERT_TRUE(module.ok()) << module.error().message;
  EXPECT_EQ(module.value().functions.size(), read_module(bytes).value().functions.size());
}

TEST(ReadFile, AFolderIsRefused) {
  const Result<Module> module = read_file("/");
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.error().message,
            "tile_ir: file /: cannot read it: Is a directory; give a readable file of Tile IR bytecode");
}

TEST(BytecodeSize, RefusesWhatIsNoBytecode) {
  const std::vector<std::byte> bytes(16);
  const Result<std::size_t> found = bytecode_size(bytes.data());
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().message,
            "tile_ir: magic number: wanted 7f 'TileIR' 00, got other bytes at byte 0; give a file of Tile IR bytecode");
}

TEST(BytecodeSize, CountsUpToTheEndMarker) {
  std::vector<std::byte> bytes = test::golden("cutile_silu_and_mul_f16");
  const std::size_t size = bytes.size();
  bytes.resize(size + 64, std::byte{0xee});
  const Result<std::size_t> found = bytecode_size(bytes.data());
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value(), size);
}

}  // namespace

}  // namespace tilegym::tile_ir
