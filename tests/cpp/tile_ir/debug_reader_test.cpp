#include <gtest/gtest.h>

#include <string>

#include "tile_ir/goldens.h"
#include "tile_ir/module_bytes.h"
#include "tile_ir/reader.h"

namespace tilegym::tile_ir {

namespace {

using test::Bytes;

/// A debug section with one function at the start of `indices`, and these entries.
Bytes debug_section(const std::vector<std::uint64_t>& indices, const std::vector<Bytes>& entries) {
  Bytes out = {1, 0xcb, 0xcb, 0xcb, 0, 0, 0, 0};
  test::put_varint(out, indices.size());
  while (out.size() % 8 != 0) out.push_back(0xcb);
  for (const std::uint64_t index : indices) test::put_fixed(out, index, 8);
  test::put_varint(out, entries.size());
  while (out.size() % 4 != 0) out.push_back(0xcb);
  std::uint64_t offset = 0;
  for (const Bytes& entry : entries) {
    test::put_fixed(out, offset, 4);
    offset += entry.size();
  }
  for (const Bytes& entry : entries) test::put(out, entry);
  return out;
}

/// What reading a kernel says that holds nothing but a return; its locations are that debug section.
std::string refusal(const std::vector<std::uint64_t>& indices, const std::vector<Bytes>& entries) {
  test::ModuleBytes bytes;
  const std::uint32_t type = bytes.function_type({});
  bytes.function(type, {0x5c, 0, 0}, {}, 1);
  bytes.section(3, debug_section(indices, entries));
  const Result<Module> module = read_module(bytes.build());
  return module.ok() ? "read" : module.error().message.substr(0, module.error().message.find(" at byte"));
}

const Bytes kFile = {2, 0, 0};
const Bytes kUnit = {1, 1};
const Bytes kSubprogram = {5, 1, 3, 0, 0, 2, 4};
const Bytes kLocation = {4, 3, 0, 7, 9};

TEST(DebugSection, GivesEachOperationItsLocation) {
  EXPECT_EQ(refusal({4, 0}, {kFile, kUnit, kSubprogram, kLocation}), "read");
}

TEST(DebugSection, RefusesTooFewLocations) {
  EXPECT_EQ(refusal({0}, {kFile}), "tile_ir: location of operation: wanted a debug index for each, got too few");
}

TEST(DebugSection, RefusesALocationThatIsNone) {
  EXPECT_EQ(refusal({1, 0}, {kFile}), "tile_ir: location of operation: wanted the index of a location, got 1");
  EXPECT_EQ(refusal({9, 0}, {kFile}), "tile_ir: location of operation: wanted the index of a location, got 9");
}

TEST(DebugSection, RefusesReferencesOfTheWrongKind) {
  EXPECT_EQ(refusal({0, 0}, {kFile, {1, 2}}),
            "tile_ir: reference of debug entry: wanted an entry of the right kind, got another");
}

TEST(DebugSection, RefusesCycles) {
  // Two call sites that are each other's callee.
  EXPECT_EQ(refusal({0, 0}, {{6, 2, 0}, {6, 1, 0}}), "tile_ir: reference of debug entry: wanted no cycle, got one");
}

TEST(DebugSection, RefusesReferencesPastTheTable) {
  EXPECT_EQ(refusal({0, 0}, {{1, 5}}), "tile_ir: file of compile unit: wanted an index below 2, got 5");
}

TEST(DebugSection, TakesAnEntryOfAnUnknownTagForTheUnknownLocation) {
  EXPECT_EQ(refusal({1, 1}, {{99}}), "read");
}

TEST(DebugSection, KeepsEveryField) {
  const Module module = test::read_golden("hand_made_debug_info");
  ASSERT_GT(module.debug.size(), 4u);
  EXPECT_EQ(module.debug[0].kind, DebugKind::unknown);
  EXPECT_EQ(module.debug[1].kind, DebugKind::file);
  EXPECT_EQ(module.debug[1].name, "quo\"te\n.py");
  EXPECT_EQ(module.debug[1].detail, "back\\slash");
  EXPECT_NE(module.functions.at(0).location, 0u);
}

}  // namespace

}  // namespace tilegym::tile_ir
