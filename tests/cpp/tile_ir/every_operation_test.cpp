#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tile_ir/goldens.h"
#include "tile_ir/op_table.h"
#include "tile_ir/reader.h"

// every_operation_13_<minor> was written by cuTile Python's writer. Expected facts are what NVIDIA's disassembler
// prints for the same bytes.
namespace tilegym::tile_ir {

namespace {

using test::find_all;
using test::read_golden;

class EveryOperation : public testing::TestWithParam<int> {};

TEST_P(EveryOperation, IsReadInItsVersions) {
  const Module module = read_golden("every_operation_13_" + std::to_string(GetParam()));
  std::set<std::string_view> found;
  for (const auto& [name, count] : test::histogram(module.functions.at(0))) found.insert(name);
  // Entries, globals and modules have places of their own in the file and never stand in a function.
  found.insert({"entry", "global", "module"});
  std::set<std::string_view> wanted;
  for (const OpSpec& spec : op_table()) {
    if (spec.since <= GetParam()) wanted.insert(spec.mnemonic);
  }
  EXPECT_EQ(found, wanted);
}

INSTANTIATE_TEST_SUITE_P(Versions, EveryOperation, testing::Values(1, 2, 3));

/// The newest golden, read once.
class Facts : public testing::Test {
 protected:
  const Operation& first(Opcode opcode) const { return *find_all(kernel(), opcode).at(0); }
  const Operation& second(Opcode opcode) const { return *find_all(kernel(), opcode).at(1); }
  const Function& kernel() const { return module_.functions.at(0); }
  const Type& result_type(const Operation& operation, std::size_t index = 0) const {
    return module_.type_of(kernel(), operation.results.at(index));
  }

  const Module module_ = read_golden("every_operation_13_3");
};

TEST_F(Facts, RoundingAndFlushOfFloatArithmetic) {
  EXPECT_EQ(first(Opcode::AddF).integer(AttrName::rounding_mode), 0u);
  EXPECT_TRUE(first(Opcode::AddF).flag(AttrName::flush_to_zero));
  EXPECT_EQ(first(Opcode::SubF).integer(AttrName::rounding_mode), 1u);
  EXPECT_FALSE(first(Opcode::SubF).flag(AttrName::flush_to_zero));
  EXPECT_EQ(first(Opcode::MulF).integer(AttrName::rounding_mode), 2u);
  EXPECT_EQ(first(Opcode::Fma).integer(AttrName::rounding_mode), 3u);
  EXPECT_EQ(first(Opcode::DivF).integer(AttrName::rounding_mode), 4u);
  EXPECT_EQ(first(Opcode::Exp).integer(AttrName::rounding_mode), 4u);
  EXPECT_EQ(first(Opcode::TanH).integer(AttrName::rounding_mode), 4u);
  EXPECT_EQ(first(Opcode::FToI).integer(AttrName::rounding_mode), 6u);
}

TEST_F(Facts, EachFlagHasABitOfItsOwn) {
  EXPECT_TRUE(first(Opcode::MaxF).flag(AttrName::propagate_nan));
  EXPECT_FALSE(first(Opcode::MaxF).flag(AttrName::flush_to_zero));
  EXPECT_FALSE(first(Opcode::MinF).flag(AttrName::propagate_nan));
  EXPECT_TRUE(first(Opcode::MinF).flag(AttrName::flush_to_zero));
}

TEST_F(Facts, OverflowOfIntegerArithmetic) {
  EXPECT_EQ(first(Opcode::AddI).integer(AttrName::overflow), 3u);
  EXPECT_EQ(first(Opcode::SubI).integer(AttrName::overflow), 1u);
  EXPECT_EQ(first(Opcode::MulI).integer(AttrName::overflow), 2u);
  EXPECT_EQ(first(Opcode::ShLI).integer(AttrName::overflow), 0u);
  EXPECT_EQ(first(Opcode::NegI).integer(AttrName::overflow), 1u);
}

TEST_F(Facts, SignednessAndRoundingOfIntegerDivision) {
  EXPECT_EQ(first(Opcode::DivI).integer(AttrName::signedness), 1u);
  EXPECT_EQ(first(Opcode::DivI).integer(AttrName::rounding), 3u);
  EXPECT_EQ(first(Opcode::MmaI).integer(AttrName::signedness_lhs), 1u);
  EXPECT_EQ(first(Opcode::MmaI).integer(AttrName::signedness_rhs), 0u);
}

TEST_F(Facts, PredicatesOfComparisons) {
  EXPECT_EQ(first(Opcode::CmpF).integer(AttrName::comparison_predicate), 4u);
  EXPECT_EQ(first(Opcode::CmpF).integer(AttrName::comparison_ordering), 0u);
  EXPECT_EQ(first(Opcode::CmpI).integer(AttrName::comparison_predicate), 3u);
  EXPECT_EQ(first(Opcode::CmpI).integer(AttrName::signedness), 0u);
}

TEST_F(Facts, PredicatesOfAssumptions) {
  const auto assumptions = find_all(kernel(), Opcode::Assume);
  ASSERT_EQ(assumptions.size(), 4u);
  const auto predicate = [&](std::size_t index) { return *assumptions[index]->find(AttrName::predicate); };
  EXPECT_EQ(predicate(0).kind, AttrKind::same_elements);
  EXPECT_EQ(predicate(0).numbers, std::vector<std::int64_t>({4}));
  EXPECT_EQ(predicate(1).kind, AttrKind::div_by);
  EXPECT_EQ(predicate(1).numbers, std::vector<std::int64_t>({16, 0, 0, 0, 0}));
  EXPECT_EQ(predicate(2).numbers, std::vector<std::int64_t>({4, 1, 2, 1, 1}));
  EXPECT_EQ(predicate(3).kind, AttrKind::bounded);
  EXPECT_EQ(predicate(3).numbers, std::vector<std::int64_t>({1, -1, 1, 4096}));
}

TEST_F(Facts, AbsentOperandsLeaveEmptyGroups) {
  const Operation& load = first(Opcode::LoadPtrTko);
  EXPECT_EQ(load.segments, std::vector<std::uint32_t>({1, 0, 0, 0}));
  EXPECT_FALSE(load.optional(1).has_value());
  EXPECT_EQ(load.find(AttrName::memory_scope), nullptr);
  EXPECT_EQ(load.integer(AttrName::memory_ordering_semantics), 0u);
}

TEST_F(Facts, PresentOperandsStandInTheirGroups) {
  const Operation& load = second(Opcode::LoadPtrTko);
  EXPECT_EQ(load.segments, std::vector<std::uint32_t>({1, 1, 1, 1}));
  EXPECT_EQ(module_.type_of(kernel(), *load.optional(1)).element, ElementType::i1);
  EXPECT_EQ(module_.type_of(kernel(), *load.optional(2)).element, ElementType::f32);
  EXPECT_EQ(module_.type_of(kernel(), *load.optional(3)).kind, TypeKind::token);
  EXPECT_EQ(load.integer(AttrName::memory_ordering_semantics), 1u);
  EXPECT_EQ(load.integer(AttrName::memory_scope), 1u);
}

TEST_F(Facts, AnAbsentMaskDoesNotShiftTheToken) {
  const Operation& atomic = first(Opcode::AtomicRMW);
  EXPECT_EQ(atomic.segments, std::vector<std::uint32_t>({1, 1, 0, 1}));
  EXPECT_EQ(atomic.integer(AttrName::mode), 4u);
  EXPECT_EQ(module_.type_of(kernel(), *atomic.optional(3)).kind, TypeKind::token);
  EXPECT_EQ(first(Opcode::AtomicCAS).segments, std::vector<std::uint32_t>({1, 1, 1, 1, 0}));
  EXPECT_EQ(first(Opcode::AtomicRedViewTko).segments, std::vector<std::uint32_t>({1, 2, 1, 1}));
}

TEST_F(Facts, HintsOfMemoryOperations) {
  const Attribute& hints = *second(Opcode::LoadPtrTko).find(AttrName::optimization_hints);
  ASSERT_EQ(hints.children.size(), 1u);
  EXPECT_EQ(hints.children[0].key, "sm_90");
  EXPECT_EQ(hints.children[0].children.at(0).key, "latency");
  EXPECT_EQ(hints.children[0].children.at(0).integer, 3u);
  const Attribute& view_hints = *second(Opcode::LoadViewTko).find(AttrName::optimization_hints);
  EXPECT_EQ(view_hints.children.at(0).children.at(0).key, "allow_tma");
  EXPECT_EQ(view_hints.children.at(0).children.at(0).integer, 0u);
}

TEST_F(Facts, HintsOfTheEntry) {
  ASSERT_TRUE(kernel().optimization_hints.has_value());
  const Attribute& target = kernel().optimization_hints->children.at(0);
  EXPECT_EQ(target.key, "sm_90");
  EXPECT_EQ(target.children.at(0).key, "num_cta_in_cga");
  EXPECT_EQ(target.children.at(0).integer, 2u);
  EXPECT_EQ(target.children.at(1).integer, 4u);
}

TEST_F(Facts, TextsAndNames) {
  EXPECT_EQ(first(Opcode::Assert).find(AttrName::message)->text, "all of it");
  EXPECT_EQ(first(Opcode::Print).find(AttrName::str)->text, "%i of %i");
  EXPECT_EQ(first(Opcode::Print).segments, std::vector<std::uint32_t>({2, 1}));
  EXPECT_EQ(first(Opcode::GetGlobal).find(AttrName::name)->text, "table");
}

TEST_F(Facts, NumbersOfShapeOperations) {
  EXPECT_EQ(first(Opcode::Cat).integer(AttrName::dim), 1u);
  EXPECT_EQ(first(Opcode::Permute).find(AttrName::permutation)->numbers, std::vector<std::int64_t>({1, 0}));
  EXPECT_EQ(first(Opcode::Alloca).integer(AttrName::num_elem), 300u);
  EXPECT_EQ(first(Opcode::Alloca).integer(AttrName::alignment), 128u);
  EXPECT_FALSE(first(Opcode::Alloca).flag(AttrName::global));
}

TEST_F(Facts, OnlyTheThirdProductAccumulatesFast) {
  const auto products = find_all(kernel(), Opcode::MmaF);
  ASSERT_EQ(products.size(), 3u);
  EXPECT_FALSE(products[0]->flag(AttrName::fast_acc));
  EXPECT_FALSE(products[1]->flag(AttrName::fast_acc));
  EXPECT_TRUE(products[2]->flag(AttrName::fast_acc));
}

TEST_F(Facts, LoopOperandsAndArguments) {
  const Operation& loop = first(Opcode::For);
  EXPECT_EQ(loop.segments, std::vector<std::uint32_t>({1, 1, 1, 1}));
  EXPECT_TRUE(loop.flag(AttrName::unsigned_cmp));
  ASSERT_EQ(loop.body().arguments.size(), 2u);
  EXPECT_EQ(module_.type_of(kernel(), loop.body().arguments[0]).element, ElementType::i32);
  EXPECT_EQ(module_.type_of(kernel(), loop.body().arguments[1]).element, ElementType::f32);
}

TEST_F(Facts, IdentitiesOfReductions) {
  const Operation& reduce = first(Opcode::Reduce);
  EXPECT_EQ(reduce.integer(AttrName::dim), 1u);
  EXPECT_EQ(reduce.results.size(), 2u);
  const Attribute& identities = *reduce.find(AttrName::identities);
  ASSERT_EQ(identities.children.size(), 2u);
  EXPECT_EQ(identities.children[0].kind, AttrKind::floating);
  EXPECT_EQ(identities.children[0].bits, 0xc0000000u);
  EXPECT_EQ(identities.children[1].kind, AttrKind::integer);
  EXPECT_EQ(identities.children[1].integer, 0xffffffffu);
  EXPECT_TRUE(first(Opcode::Scan).flag(AttrName::reverse));
}

TEST_F(Facts, TensorViews) {
  const Type& tensor = result_type(first(Opcode::MakeTensorView));
  EXPECT_EQ(tensor.shape, std::vector<std::int64_t>({kDynamic, 64}));
  EXPECT_EQ(tensor.strides, std::vector<std::int64_t>({kDynamic, 1}));
  EXPECT_EQ(first(Opcode::MakeTensorView).segments, std::vector<std::uint32_t>({1, 1, 1}));
  EXPECT_EQ(first(Opcode::GetTensorShape).results.size(), 2u);
}

TEST_F(Facts, PartitionViews) {
  const Type& turned = result_type(first(Opcode::MakePartitionView));
  EXPECT_EQ(turned.shape, std::vector<std::int64_t>({8, 16}));
  EXPECT_EQ(turned.dim_map, std::vector<std::int32_t>({1, 0}));
  EXPECT_EQ(turned.padding, Padding::neg_inf);
  EXPECT_EQ(turned.element, ElementType::f32);
  EXPECT_EQ(module_.type(turned.tensor_view).kind, TypeKind::tensor_view);
  EXPECT_FALSE(result_type(second(Opcode::MakePartitionView)).padding.has_value());
}

TEST_F(Facts, StridedAndSparseViews) {
  const Type& strided = result_type(first(Opcode::MakeStridedView));
  EXPECT_EQ(strided.kind, TypeKind::strided_view);
  EXPECT_EQ(strided.strides, std::vector<std::int64_t>({4, 16}));
  EXPECT_EQ(strided.padding, Padding::nan);
  const Type& sparse = result_type(first(Opcode::MakeGatherScatterView));
  EXPECT_EQ(sparse.kind, TypeKind::gather_scatter_view);
  EXPECT_EQ(sparse.sparse_dim, 0);
  EXPECT_EQ(sparse.padding, Padding::zero);
}

TEST_F(Facts, GlobalsWithTheirFlags) {
  ASSERT_EQ(module_.globals.size(), 1u);
  const Global& table = module_.globals[0];
  EXPECT_EQ(table.name, "table");
  EXPECT_EQ(table.alignment, 16u);
  EXPECT_TRUE(table.constant);
  EXPECT_TRUE(table.is_private);
  EXPECT_EQ(element_bits(module_.type(table.type), table.bytes, table.splat, 3), 0xfffffff9u);
}

TEST(OlderVersions, MissingAttributesHaveTheirOldMeaning) {
  const Module module = read_golden("every_operation_13_1");
  const Function& kernel = module.functions.at(0);
  const auto first = [&](Opcode opcode) -> const Operation& { return *find_all(kernel, opcode).at(0); };
  EXPECT_EQ(first(Opcode::Exp).integer(AttrName::rounding_mode), 5u);
  EXPECT_EQ(first(Opcode::TanH).integer(AttrName::rounding_mode), 5u);
  EXPECT_EQ(first(Opcode::NegI).integer(AttrName::overflow, 9), 0u);
  EXPECT_FALSE(first(Opcode::For).flag(AttrName::unsigned_cmp));
  EXPECT_FALSE(module.globals.at(0).constant);
}

// The disassembler shows the result that 13.2 added, though nothing in the file can refer to it.
TEST(OlderVersions, PrintingTakesNoTokenIn13_1) {
  const Module module = read_golden("every_operation_13_1");
  const Operation& print = *find_all(module.functions.at(0), Opcode::Print).at(0);
  ASSERT_EQ(print.results.size(), 1u);
  EXPECT_EQ(module.type_of(module.functions.at(0), print.results[0]).kind, TypeKind::token);
  EXPECT_EQ(print.segments, std::vector<std::uint32_t>({2, 0}));
}

TEST(OlderVersions, PaddingOfViewsLiesElsewhereBefore13_3) {
  const Module module = read_golden("every_operation_13_2");
  const Function& kernel = module.functions.at(0);
  const auto views = find_all(kernel, Opcode::MakePartitionView);
  ASSERT_EQ(views.size(), 2u);
  EXPECT_EQ(module.type_of(kernel, views[0]->results.at(0)).padding, Padding::neg_inf);
  EXPECT_FALSE(module.type_of(kernel, views[1]->results.at(0)).padding.has_value());
}

}  // namespace

}  // namespace tilegym::tile_ir
