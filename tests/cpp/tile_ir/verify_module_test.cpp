#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tile_ir/goldens.h"
#include "tile_ir/module_edit.h"
#include "tile_ir/verify.h"

namespace tilegym::tile_ir {

namespace {

using enum ElementType;
using test::ModuleEdit;
using test::pointer_tile;
using test::tile_type;

class VerifiedGolden : public testing::TestWithParam<std::string> {};

// NVIDIA's disassembler verifies what it reads and accepts every golden.
TEST_P(VerifiedGolden, IsAccepted) {
  for (const Diagnostic& diagnostic : verify(test::read_golden(GetParam()))) ADD_FAILURE() << diagnostic.text();
}

INSTANTIATE_TEST_SUITE_P(Goldens, VerifiedGolden, testing::ValuesIn(test::golden_names()),
                         [](const auto& golden) { return golden.param; });

TEST(Verify, TextNamesOperationFunctionAndByte) {
  ModuleEdit edit(Opcode::AddF);
  edit.operand(1, tile_type(f32, {8, 4}));
  const std::string place = std::to_string(edit.op().byte_offset);
  EXPECT_EQ(verify(edit.module()).at(0).text(),
            "tile_ir: addf in 'every_operation' at byte " + place +
                ": operand 'rhs': wanted tile<8x8xf32> like operand 'lhs', got tile<8x4xf32>; give both the same type");
}

TEST(Verify, StopsAtTheLimit) {
  ModuleEdit edit(Opcode::AddF);
  for (const std::size_t i : {0u, 1u}) edit.operand(i, tile_type(i32, {8, 8}));
  EXPECT_EQ(verify(edit.module()).size(), 2u);
  EXPECT_EQ(verify(edit.module(), {.limit = 1}).size(), 1u);
}

TEST(Verify, ValuesOfARegionAreNotSeenOutside) {
  ModuleEdit edit(Opcode::Loop);
  const ValueId inside = edit.body().arguments[0];
  ModuleEdit after(Opcode::Return);
  after.op().operands = {inside};
  after.op().segments = {1};
  EXPECT_EQ(after.verdict(), "operands: wanted values defined before it in its block or around it, got value " +
                                 std::to_string(inside) + "; move the definition up or out of its region");
}

TEST(Verify, UnknownValuesAreNamed) {
  ModuleEdit edit(Opcode::AddF);
  edit.op().operands[0] = 1'000'000;
  EXPECT_EQ(edit.verdict(),
            "operands: wanted values defined before it in its block or around it, got value 1000000; move the "
            "definition up or out of its region");
}

TEST(Verify, UnknownOperationsAreNamed) {
  ModuleEdit edit(Opcode::AddF);
  edit.op().opcode = static_cast<Opcode>(0xffff);
  EXPECT_EQ(edit.verdict(),
            "operation: wanted one of this version, got an unknown code; write an older bytecode version");
}

TEST(VerifyTypes, NothingPointsToI4) {
  ModuleEdit edit(Opcode::AddF);
  edit.value(pointer_tile(i4, {}));
  EXPECT_EQ(edit.verdict(),
            "type tile<ptr<i4>>: wanted memory of a type other than i4, got i4; keep packed i4 in memory as i8 and "
            "unpack it");
}

TEST(VerifyTypes, HalfBytesComeInPairs) {
  ModuleEdit edit(Opcode::AddF);
  edit.value(tile_type(f4e2m1fn, {1}));
  EXPECT_EQ(edit.verdict(),
            "type tile<1xf4E2M1FN>: wanted an even number of f4E2M1FN elements, got an odd one; two elements share a "
            "byte: double an extent");
}

TEST(VerifyTypes, IntegersArePaddedWithZeroOnly) {
  ModuleEdit edit(Opcode::MakePartitionView);
  Type tensor = edit.type_of(edit.op().operands[0]);
  tensor.element = i32;
  Type view = edit.type_of(edit.op().results[0]);
  view.element = i32;
  view.tensor_view = edit.kernel().values[edit.value(tensor)];
  edit.value(view);
  EXPECT_EQ(edit.verdict(),
            "padding of type partition_view<tile=(8x16), padding_value = neg_inf, tensor_view<?x64xi32, "
            "strides=[?,1]>, dim_map=[1, 0]>: wanted zero for i32, got neg_inf; only floats have other paddings");
}

TEST(VerifyTypes, UnusedTypesDoNotMatter) {
  ModuleEdit edit(Opcode::AddF);
  edit.module().types.push_back(pointer_tile(i4, {}));
  EXPECT_EQ(edit.verdict(), "accepted");
}

TEST(VerifyTypes, EqualRowsOfTheTableAreOneType) {
  ModuleEdit edit(Opcode::AddF);
  edit.operand(1, tile_type(f32, {8, 8}));
  EXPECT_EQ(edit.verdict(), "accepted");
}

TEST(VerifySymbols, NamesAreUnique) {
  ModuleEdit edit(Opcode::AddF);
  edit.module().globals[0].name = edit.kernel().name;
  EXPECT_EQ(edit.verdict(), "name: wanted one that the module has once, got a second one; rename one of them");
}

TEST(VerifySymbols, OnlyEntriesAreFunctions) {
  ModuleEdit edit(Opcode::AddF);
  edit.kernel().is_entry = false;
  EXPECT_EQ(edit.verdict(), "function: wanted an entry, got another function; set the entry flag");
}

TEST(VerifySymbols, EntriesReturnNothing) {
  ModuleEdit edit(Opcode::AddF);
  edit.module().types[edit.kernel().type].results = {edit.kernel().values[0]};
  EXPECT_EQ(edit.verdict(), "results: wanted none, got 1; store what the kernel computes");
}

TEST(VerifySymbols, ParametersAreScalars) {
  ModuleEdit edit(Opcode::AddF);
  edit.module().types[edit.kernel().type].inputs = {edit.kernel().values[edit.value(tile_type(i32, {4}))]};
  EXPECT_EQ(edit.verdict(), "parameter 0: wanted a tile of rank 0, got tile<4xi32>; pass a pointer and load the tile");
}

TEST(VerifySymbols, GlobalsHaveOneDimension) {
  ModuleEdit edit(Opcode::AddF);
  edit.module().globals[0].type = edit.kernel().values[edit.value(tile_type(i32, {2, 2}))];
  EXPECT_EQ(edit.verdict(), "type: wanted a tile of rank 1, got tile<2x2xi32>; give it one dimension");
}

/// Diagnostics of the entry's first target with one hint changed, hints included.
std::string hint_verdict(std::string target, std::string key, AttrKind kind, std::uint64_t value) {
  ModuleEdit edit(Opcode::AddF);
  Attribute& hints = edit.kernel().optimization_hints->children[0];
  hints.key = target;
  hints.children.resize(1);
  hints.children[0].key = key;
  hints.children[0].kind = kind;
  hints.children[0].integer = value;
  EXPECT_EQ(edit.verdict(), "accepted") << "compilers skip hints that they do not know";
  const auto diagnostics = verify(edit.module(), {.hints = true});
  if (diagnostics.empty()) return "accepted";
  return diagnostics[0].subject + ": wanted " + diagnostics[0].wanted + ", got " + diagnostics[0].got;
}

TEST(VerifyHints, AreCheckedOnRequest) {
  EXPECT_EQ(hint_verdict("sm_100", "occupancy", AttrKind::integer, 32), "accepted");
  EXPECT_EQ(hint_verdict("sm_100a", "occupancy", AttrKind::integer, 1),
            "optimization_hints: wanted a target such as sm_90, or default, got sm_100a");
  EXPECT_EQ(hint_verdict("sm_100", "latency", AttrKind::integer, 1),
            "hint latency of sm_100: wanted a hint among num_cta_in_cga, num_worker_warps_per_cta, occupancy, got an "
            "unknown one");
  EXPECT_EQ(hint_verdict("sm_100", "num_cta_in_cga", AttrKind::string, 0),
            "hint num_cta_in_cga of sm_100: wanted a power of two from 1 to 16, got another attribute");
  EXPECT_EQ(hint_verdict("sm_100", "num_cta_in_cga", AttrKind::boolean, 1),
            "hint num_cta_in_cga of sm_100: wanted a power of two from 1 to 16, got another attribute");
  EXPECT_EQ(hint_verdict("sm_89", "num_cta_in_cga", AttrKind::integer, 2),
            "hint num_cta_in_cga of sm_89: wanted a power of two from 1 to 1, got 2");
  EXPECT_EQ(hint_verdict("default", "occupancy", AttrKind::integer, 33),
            "hint occupancy of default: wanted 1 to 32, got 33");
}

/// The golden with debug entries: a location in each of two subprograms, one in a block of the first, a call site.
class VerifyDebug : public testing::Test {
 protected:
  VerifyDebug() {
    add(DebugKind::file, "kernel.py", "/", 0, 0);              // 1
    add(DebugKind::compile_unit, "", "", 0, 1);                // 2
    add(DebugKind::subprogram, "f", "every_operation", 2, 1);  // 3
    add(DebugKind::subprogram, "g", "helper", 2, 1);           // 4
    add(DebugKind::location, "kernel.py", "", 3, 0);           // 5
    add(DebugKind::location, "kernel.py", "", 4, 0);           // 6
    add(DebugKind::lexical_block, "", "", 3, 1);               // 7
    add(DebugKind::location, "kernel.py", "", 7, 0);           // 8
    add(DebugKind::call_site, "", "", 6, 8);                   // 9
  }
  /// Numbers count from the first entry added here; 0 is no entry.
  void add(DebugKind kind, std::string_view name, std::string_view detail, DebugId scope, DebugId other) {
    edit_.module().debug.push_back({kind, name, detail, row(scope), row(other), 0, 0});
  }
  DebugId row(DebugId number) const { return number == 0 ? 0 : number + before_; }
  std::string verdict(DebugId function, DebugId operation) {
    edit_.kernel().location = row(function);
    edit_.op().location = row(operation);
    return edit_.verdict();
  }

  ModuleEdit edit_{Opcode::AddF};
  const DebugId before_ = static_cast<DebugId>(edit_.module().debug.size() - 1);
};

TEST_F(VerifyDebug, LocationsOfTheFunctionItsBlocksAndCallSitesAreAccepted) {
  EXPECT_EQ(verdict(5, 5), "accepted");
  EXPECT_EQ(verdict(5, 8), "accepted");
  EXPECT_EQ(verdict(5, 9), "accepted");
  EXPECT_EQ(verdict(5, 0), "accepted");
}

TEST_F(VerifyDebug, EqualSubprogramsAreOne) {
  add(DebugKind::subprogram, "f", "every_operation", 2, 1);
  add(DebugKind::location, "kernel.py", "", 10, 0);
  EXPECT_EQ(verdict(5, 11), "accepted");
}

TEST_F(VerifyDebug, FunctionsLieInTheirSubprogram) {
  EXPECT_EQ(verdict(9, 0),
            "location: wanted one in its subprogram, got a call site; give the position of the function itself");
  EXPECT_EQ(verdict(8, 0),
            "location: wanted one in its subprogram, got one in a lexical block; use the subprogram as its scope");
  EXPECT_EQ(verdict(6, 0),
            "linkage name of its subprogram: wanted 'every_operation', got 'helper'; describe each function by a "
            "subprogram of its own");
}

TEST_F(VerifyDebug, OperationsLieInTheSubprogramOfTheirFunction) {
  EXPECT_EQ(verdict(0, 5),
            "location: wanted none, since the function has none, got one in 'f'; give the function a location");
  EXPECT_EQ(verdict(5, 6),
            "location: wanted one in 'f' like the function, got one in 'g'; wrap inlined code in call sites");
}

TEST(Diagnostic, HasNoByteWhereNoOperationIsMeant) {
  ModuleEdit edit(Opcode::AddF);
  edit.kernel().is_entry = false;
  EXPECT_EQ(verify(edit.module()).at(0).text(),
            "tile_ir: entry in 'every_operation': function: wanted an entry, got another function; set the entry flag");
}

}  // namespace

}  // namespace tilegym::tile_ir
