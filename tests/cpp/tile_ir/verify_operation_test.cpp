#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>

#include "tile_ir/module_edit.h"

// Each case breaks one rule of NVIDIA's Ops.td or of the verifiers beside it and quotes what we say about it.
namespace tilegym::tile_ir {

namespace {

using enum ElementType;
using test::ModuleEdit;
using test::pointer_tile;
using test::tile_type;
using test::token_type;

struct Case {
  const char* name;
  Opcode opcode;
  void (*change)(ModuleEdit&);
  const char* verdict;
  std::size_t nth = 0;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class BrokenRule : public testing::TestWithParam<Case> {};

TEST_P(BrokenRule, IsNamedWithWantedGotAndRemedy) {
  ModuleEdit edit(GetParam().opcode, GetParam().nth);
  GetParam().change(edit);
  EXPECT_EQ(edit.verdict(), GetParam().verdict);
}

Attribute number(ElementType type, AttrKind kind, ModuleEdit& edit) {
  Attribute value;
  value.kind = kind;
  Type element;
  element.kind = TypeKind::element;
  element.element = type;
  edit.module().types.push_back(element);
  value.type = static_cast<TypeId>(edit.module().types.size() - 1);
  return value;
}

constexpr Case kTypes[] = {
    {"IntegersForFloats", Opcode::AbsF, [](ModuleEdit& e) { e.operand(0, tile_type(i32, {8, 8})); },
     "operand 'source': wanted a tile of f16, bf16, f32 or f64, got tile<8x8xi32>; convert it or use another "
     "operation"},
    {"ResultOfAnotherKind", Opcode::MakeToken, [](ModuleEdit& e) { e.result(0, tile_type(i32, {})); },
     "result: wanted a token, got tile<i32>; convert it or use another operation"},
    {"PositionInAVariadicGroup", Opcode::Extract, [](ModuleEdit& e) { e.operand(2, tile_type(i64, {})); },
     "operand 'indices' 1: wanted a tile of i32 and rank 0, got tile<i64>; convert it or use another operation"},
    {"OneOfSeveralResults", Opcode::GetTileBlockId, [](ModuleEdit& e) { e.result(2, tile_type(i32, {1})); },
     "result 2: wanted a tile of i32 and rank 0, got tile<1xi32>; convert it or use another operation"},
    {"DifferentOperandTypes", Opcode::AddF, [](ModuleEdit& e) { e.operand(1, tile_type(f32, {8, 4})); },
     "operand 'rhs': wanted tile<8x8xf32> like operand 'lhs', got tile<8x4xf32>; give both the same type"},
    {"DifferentResultType", Opcode::AddI, [](ModuleEdit& e) { e.result(0, tile_type(i64, {8, 8})); },
     "result: wanted tile<8x8xi32> like operand 'lhs', got tile<8x8xi64>; give both the same type"},
    {"DifferentShapes", Opcode::Offset, [](ModuleEdit& e) { e.operand(1, tile_type(i32, {32})); },
     "operand 'offset': wanted the shape [64] of operand 'ptr', got tile<32xi32>; broadcast or reshape one of them"},
    {"DifferentRanks", Opcode::Broadcast, [](ModuleEdit& e) { e.operand(0, tile_type(f32, {64})); },
     "result: wanted the rank 1 of operand 'source', got tile<4x64xf32>; reshape one of them"},
    {"DifferentElements", Opcode::Reshape, [](ModuleEdit& e) { e.operand(0, pointer_tile(f32, {8, 8})); },
     "result: wanted elements of type pointer to f32 like operand 'source', got tile<1x64xf32>; convert one of them"},
    {"LoadOfAnotherPointee", Opcode::LoadPtrTko, [](ModuleEdit& e) { e.operand(0, pointer_tile(i32, {64})); },
     "result 0: wanted a tile of i32 with the shape [64], which operand 'source' points to, got tile<64xf32>; use "
     "pointers to the type of the value"},
    {"PaddingOfAnotherType", Opcode::LoadPtrTko, [](ModuleEdit& e) { e.operand(2, tile_type(f16, {64})); },
     "result 0: wanted tile<64xf16> like operand 'padding_value', got tile<64xf32>; give both the same type", 1},
    {"MaskOfAnotherShape", Opcode::StorePtrTko, [](ModuleEdit& e) { e.operand(2, tile_type(i1, {32})); },
     "operand 'mask': wanted the shape [64] of operand 'destination', got tile<32xi1>; broadcast or reshape one of "
     "them",
     1},
    {"MaskOfAnAtomic", Opcode::AtomicCAS, [](ModuleEdit& e) { e.operand(3, tile_type(i1, {2})); },
     "operand 'mask': wanted the shape [64] of operand 'val', got tile<2xi1>; broadcast or reshape one of them"},
};

constexpr Case kNumbers[] = {
    {"RoundingOfAddition", Opcode::AddF, [](ModuleEdit& e) { e.set(AttrName::rounding_mode, 4); },
     "rounding_mode: wanted one of nearest_even, zero, negative_inf, positive_inf, got approx; choose a value that the "
     "operation has"},
    {"FlushOutsideF32", Opcode::MaxF,
     [](ModuleEdit& e) {
       e.set(AttrName::flush_to_zero, 1);
       for (const std::size_t i : {0u, 1u}) e.operand(i, tile_type(f16, {2}));
       e.result(0, tile_type(f16, {2}));
     },
     "flush_to_zero: wanted a result of f32, got it on tile<2xf16>; leave it out or compute in f32"},
    {"ApproximationOutsideF32", Opcode::TanH,
     [](ModuleEdit& e) {
       e.operand(0, tile_type(f64, {2}));
       e.result(0, tile_type(f64, {2}));
     },
     "rounding_mode approx: wanted a result of f32, got it on tile<2xf64>; leave it out or compute in f32"},
    {"RoundingOfTanH", Opcode::TanH, [](ModuleEdit& e) { e.set(AttrName::rounding_mode, 0); },
     "rounding_mode: wanted one of approx, full, got nearest_even; choose a value that the operation has"},
    {"OverflowOfNegation", Opcode::NegI, [](ModuleEdit& e) { e.set(AttrName::overflow, 2); },
     "overflow: wanted one of none, no_signed_wrap, no_wrap, got no_unsigned_wrap; choose a value that the operation "
     "has"},
    {"UnsignedFloorDivision", Opcode::DivI,
     [](ModuleEdit& e) {
       e.set(AttrName::signedness, 0);
       e.set(AttrName::rounding, 2);
     },
     "rounding: wanted zero or positive_inf for unsigned, got negative_inf; unsigned quotients round to zero"},
    {"BitcastOfAnotherWidth", Opcode::Bitcast, [](ModuleEdit& e) { e.result(0, tile_type(i16, {8, 8})); },
     "result: wanted 32 bits of f32, got 16 bits of i16; cast to a type of the same width"},
    {"BitcastOfTf32", Opcode::Bitcast, [](ModuleEdit& e) { e.operand(0, tile_type(tf32, {8, 8})); },
     "result: wanted 19 bits of tf32, got 32 bits of i32; cast to a type of the same width"},
    {"ExtensionToLess", Opcode::ExtI, [](ModuleEdit& e) { e.result(0, tile_type(i32, {8, 8})); },
     "result: wanted more than the 32 bits of i32, got 32 bits of i32; use trunci or the operand itself"},
    {"TruncationToMore", Opcode::TruncI, [](ModuleEdit& e) { e.result(0, tile_type(i64, {8, 8})); },
     "result: wanted less than the 32 bits of i32, got 64 bits of i64; use exti or the operand itself"},
    {"ConversionToItself", Opcode::FToF, [](ModuleEdit& e) { e.result(0, tile_type(f32, {8, 8})); },
     "result: wanted another type than f32, got the same; use the operand itself"},
    {"RoundingOfConversion", Opcode::FToF, [](ModuleEdit& e) { e.set(AttrName::rounding_mode, 5); },
     "rounding_mode: wanted one of nearest_even, zero, got full; choose the rounding that conversion to f16 has"},
    {"RoundingOfWidening", Opcode::FToF,
     [](ModuleEdit& e) {
       e.set(AttrName::rounding_mode, 4);
       e.result(0, tile_type(f64, {8, 8}));
     },
     "rounding_mode: wanted one of nearest_even, zero, negative_inf, positive_inf, got approx; choose the rounding "
     "that "
     "conversion to f64 has"},
    {"RoundingToExponents", Opcode::FToF, [](ModuleEdit& e) { e.result(0, tile_type(f8e8m0fnu, {8, 8})); },
     "rounding_mode: wanted one of zero, positive_inf, got nearest_even; choose the rounding that conversion to "
     "f8E8M0FNU has"},
    {"IntegerToExponents", Opcode::IToF, [](ModuleEdit& e) { e.result(0, tile_type(f8e8m0fnu, {8, 8})); },
     "result: wanted a tile of floats other than f8E8M0FNU, got f8E8M0FNU; convert to another float first"},
    {"RankOfIota", Opcode::Iota, [](ModuleEdit& e) { e.result(0, tile_type(i32, {4, 4})); },
     "result: wanted a tile of rank 1, got tile<4x4xi32>; reshape or broadcast it afterwards"},
    {"IotaBeyondItsType", Opcode::Iota, [](ModuleEdit& e) { e.result(0, tile_type(i8, {512})); },
     "result: wanted at most 256 elements of i8, got 512; use a wider integer"},
    {"SelectOfHalfBytes", Opcode::Select,
     [](ModuleEdit& e) {
       for (const std::size_t i : {1u, 2u}) e.operand(i, tile_type(f4e2m1fn, {8, 8}));
       e.result(0, tile_type(f4e2m1fn, {8, 8}));
     },
     "result: wanted elements of at least a byte, got f4E2M1FN; select packed i8 instead"},
    {"RankOfPack", Opcode::Pack,
     [](ModuleEdit& e) {
       e.operand(0, tile_type(f32, {2, 4}));
       e.result(0, tile_type(i8, {8, 4}));
     },
     "operand 'source': wanted a tile of rank 1, got tile<2x4xf32>; reshape it"},
    {"PackOfTheSameWidth", Opcode::Pack, [](ModuleEdit& e) { e.operand(0, tile_type(f8e5m2, {32})); },
     "result: wanted elements of another width, got 8 bits of i8; use bitcast"},
    {"BytesOfUnpack", Opcode::Unpack, [](ModuleEdit& e) { e.result(0, tile_type(f32, {16})); },
     "result: wanted 32 bytes like source, got 512 bits; change the number of elements"},
    {"PartOfAByte", Opcode::Pack, [](ModuleEdit& e) { e.operand(0, tile_type(i1, {4})); },
     "result: wanted whole bytes, got 4 bits; change the number of elements"},
    {"AlignmentOfAlloca", Opcode::Alloca, [](ModuleEdit& e) { e.set(AttrName::alignment, 2); },
     "alignment: wanted a power of two of at least 4, got 2; use the size of f32 or a larger power of two"},
    {"RankOfMma", Opcode::MmaF,
     [](ModuleEdit& e) {
       e.operand(0, tile_type(f16, {8}));
       e.operand(1, tile_type(f16, {8}));
       e.operand(2, tile_type(f32, {8}));
       e.result(0, tile_type(f32, {8}));
     },
     "operand 'lhs': wanted rank 2 or 3, got rank 1; reshape the operands to matrices"},
    {"InnerExtentOfMma", Opcode::MmaI, [](ModuleEdit& e) { e.operand(1, tile_type(i8, {16, 8})); },
     "dimension 0 of rhs: wanted 8 like dimension 1 of lhs, got 16; shapes are (m, k) times (k, n) plus (m, n)"},
    {"BatchOfMma", Opcode::MmaF,
     [](ModuleEdit& e) {
       e.operand(0, tile_type(f16, {2, 8, 8}));
       e.operand(1, tile_type(f16, {4, 8, 8}));
       e.operand(2, tile_type(f32, {2, 8, 8}));
       e.result(0, tile_type(f32, {2, 8, 8}));
     },
     "dimension 0 of rhs: wanted 2 like dimension 0 of lhs, got 4; shapes are (m, k) times (k, n) plus (m, n)"},
    {"SumOfMma", Opcode::MmaF,
     [](ModuleEdit& e) {
       for (const std::size_t i : {0u, 1u}) e.operand(i, tile_type(bf16, {8, 8}));
       e.operand(2, tile_type(f16, {8, 8}));
       e.result(0, tile_type(f16, {8, 8}));
     },
     "operand 'acc': wanted a tile of f32 for products of bf16, got f16; accumulate in another type"},
    {"PairOfScales", Opcode::MmaFScaled,
     [](ModuleEdit& e) {
       e.operand(3, tile_type(f8e4m3fn, {8, 1}));
       e.operand(4, tile_type(f8e4m3fn, {1, 8}));
     },
     "operand 'lhs_scale': wanted f8E8M0FNU for f8E4M3FN, got f8E4M3FN; use f8E4M3FN scales with f4E2M1FN only"},
    {"NumberOfScales", Opcode::MmaFScaled,
     [](ModuleEdit& e) {
       e.operand(3, tile_type(f8e8m0fnu, {8, 2}));
       e.operand(4, tile_type(f8e8m0fnu, {2, 8}));
     },
     "scales: wanted one for 32 elements of f8E4M3FN, got 2 for 32; change the extent of the scales along k"},
};

constexpr Case kShapes[] = {
    {"BroadcastOfMoreThanOne", Opcode::Broadcast, [](ModuleEdit& e) { e.operand(0, tile_type(f32, {2, 64})); },
     "dimension 0 of source: wanted 1 or 4 like the result, got 2; only dimensions of size 1 are repeated"},
    {"DimensionOfCat", Opcode::Cat, [](ModuleEdit& e) { e.set(AttrName::dim, 2); },
     "dim: wanted a dimension below 2, got 2; name a dimension of the operands"},
    {"ResultOfCat", Opcode::Cat, [](ModuleEdit& e) { e.result(0, tile_type(f32, {8, 32})); },
     "dimension 1 of result: wanted 16, got 32; sizes add up along dim and are equal elsewhere"},
    {"OperandOfCat", Opcode::Cat, [](ModuleEdit& e) { e.operand(1, tile_type(f32, {4, 8})); },
     "dimension 0 of rhs: wanted 8, got 4; sizes add up along dim and are equal elsewhere"},
    {"PartOfExtract", Opcode::Extract, [](ModuleEdit& e) { e.result(0, tile_type(f32, {16, 8})); },
     "dimension 0 of source: wanted a multiple of 16, got 8; extract a part that divides the source"},
    {"IndicesOfExtract", Opcode::Extract, [](ModuleEdit& e) { e.group(1, {tile_type(i32, {})}); },
     "indices: wanted 2 like the rank of source, got 1; give one index a dimension"},
    {"OneToken", Opcode::JoinTokens, [](ModuleEdit& e) { e.group(0, {token_type()}); },
     "tokens: wanted two or more, got 1; use the token itself"},
    {"RankOfPermute", Opcode::Permute,
     [](ModuleEdit& e) {
       e.operand(0, tile_type(f32, {8}));
       e.result(0, tile_type(f32, {8}));
     },
     "operand 'source': wanted rank 2 or more, got rank 1; drop the operation"},
    {"LengthOfPermutation", Opcode::Permute, [](ModuleEdit& e) { e.attribute(AttrName::permutation).numbers = {0}; },
     "permutation: wanted 2 dimensions, got 1; name every dimension of source once"},
    {"RepeatedDimension", Opcode::Permute, [](ModuleEdit& e) { e.attribute(AttrName::permutation).numbers = {1, 1}; },
     "permutation: wanted each dimension below 2 once, got [1, 1]; name every dimension of source once"},
    {"ResultOfPermute", Opcode::Permute, [](ModuleEdit& e) { e.operand(0, tile_type(f32, {8, 4})); },
     "dimension 0 of result: wanted 4, got 8; permute the shape as well"},
    {"ElementsOfReshape", Opcode::Reshape, [](ModuleEdit& e) { e.result(0, tile_type(f32, {32})); },
     "result: wanted 64 elements like source, got 32 elements; reshape keeps the number of elements"},
};

constexpr Case kAttributes[] = {
    {"OrderOfALoad", Opcode::LoadPtrTko, [](ModuleEdit& e) { e.set(AttrName::memory_ordering_semantics, 3); },
     "memory_ordering_semantics: wanted one of weak, relaxed, acquire, got release; choose a value that the operation "
     "has",
     1},
    {"OrderOfAStore", Opcode::StoreViewTko, [](ModuleEdit& e) { e.set(AttrName::memory_ordering_semantics, 2); },
     "memory_ordering_semantics: wanted one of weak, relaxed, release, got acquire; choose a value that the operation "
     "has",
     1},
    {"OrderOfAnAtomic", Opcode::AtomicRMW, [](ModuleEdit& e) { e.set(AttrName::memory_ordering_semantics, 0); },
     "memory_ordering_semantics: wanted one of relaxed, acquire, release, acq_rel, got weak; choose a value that the "
     "operation has"},
    {"ScopeOfWeak", Opcode::LoadViewTko, [](ModuleEdit& e) { e.set(AttrName::memory_scope, 1); },
     "memory_scope: wanted none for weak, got device; leave it out or use relaxed"},
    {"NoScopeForRelaxed", Opcode::StorePtrTko, [](ModuleEdit& e) { e.drop(AttrName::memory_scope); },
     "memory_scope: wanted one for relaxed, got none; say who else may access the memory", 1},
    {"FloatsWithAnIntegerMode", Opcode::AtomicRMW, [](ModuleEdit& e) { e.set(AttrName::mode, 5); },
     "operand 'arg': wanted one of i32, i64 for max, got f32; choose another mode or type"},
    {"ModeOfAViewReduction", Opcode::AtomicRedViewTko, [](ModuleEdit& e) { e.set(AttrName::mode, 9); },
     "mode: wanted one of and, or, xor, add, addf, max, min, umax, umin, got xchg; choose a value that the operation "
     "has"},
    {"ScopeOfAViewReduction", Opcode::AtomicRedViewTko, [](ModuleEdit& e) { e.set(AttrName::memory_scope, 2); },
     "memory_scope: wanted one of tl_blk, device, got sys; choose a value that the operation has"},
    {"SwapOfHalfWords", Opcode::AtomicCAS,
     [](ModuleEdit& e) {
       e.operand(0, pointer_tile(i16, {64}));
       for (const std::size_t i : {1u, 2u}) e.operand(i, tile_type(i16, {64}));
       e.result(0, tile_type(i16, {64}));
     },
     "operand 'val': wanted one of i32, i64, f32, f64, got i16; swap whole words of 32 or 64 bits"},
    {"ArgumentsOfPrint", Opcode::Print, [](ModuleEdit& e) { e.attribute(AttrName::str).text = "%d %% %5.2f %s"; },
     "arguments: wanted 3 for the conversions of str, got 2; give one tile for each conversion"},
    {"ConversionWithoutEnd", Opcode::Print, [](ModuleEdit& e) { e.attribute(AttrName::str).text = "%i %"; },
     "str: wanted conversions that end in one of diuoxXeEfFgGaAcsSpn%, got one without an end; write %% for a percent "
     "sign"},
    {"UnknownGlobal", Opcode::GetGlobal, [](ModuleEdit& e) { e.attribute(AttrName::name).text = "absent"; },
     "name: wanted a global of the module, got 'absent'; add the global or correct the name"},
    {"TypeOfAGlobal", Opcode::GetGlobal, [](ModuleEdit& e) { e.result(0, pointer_tile(f32, {})); },
     "result: wanted a pointer to i32 like the global 'table', got tile<ptr<f32>>; cast it with ptr_to_ptr afterwards"},
    {"PredicateOfAssume", Opcode::Assume,
     [](ModuleEdit& e) { e.attribute(AttrName::predicate).kind = AttrKind::string; },
     "predicate: wanted div_by, same_elements or bounded, got another attribute; assume one of these"},
    {"Divisor", Opcode::Assume, [](ModuleEdit& e) { e.attribute(AttrName::predicate).numbers[0] = 12; },
     "divisor of div_by: wanted a power of two up to 2^62, got 12; assume a power of two", 1},
    {"EveryAlone", Opcode::Assume, [](ModuleEdit& e) { e.attribute(AttrName::predicate).numbers[3] = 0; },
     "div_by: wanted every and along together, got every alone; give both or none", 2},
    {"AlongBeyondTheRank", Opcode::Assume, [](ModuleEdit& e) { e.attribute(AttrName::predicate).numbers[4] = 2; },
     "along of div_by: wanted a dimension below 2, got 2; name a dimension of the tile", 2},
    {"EveryBeyondTheExtent", Opcode::Assume, [](ModuleEdit& e) { e.attribute(AttrName::predicate).numbers[2] = 9; },
     "every of div_by: wanted 0 to 8, got 9; stay within the dimension", 2},
    {"EveryOfAScalar", Opcode::Assume,
     [](ModuleEdit& e) { e.attribute(AttrName::predicate).numbers = {4, 1, 1, 1, 0}; },
     "operand 'value': wanted a tile of rank 1 or more for div_by with every and along, got tile<i32>; drop the "
     "assumption",
     1},
    {"DividedFloats", Opcode::Assume,
     [](ModuleEdit& e) {
       e.operand(0, tile_type(f32, {}));
       e.result(0, tile_type(f32, {}));
     },
     "operand 'value': wanted a tile of integers or pointers, or a tensor_view for div_by, got tile<f32>; drop the "
     "assumption",
     1},
    {"RankOfSameElements", Opcode::Assume, [](ModuleEdit& e) { e.attribute(AttrName::predicate).numbers = {1, 1}; },
     "same_elements: wanted 1 numbers like the rank, got 2; give one number a dimension"},
    {"SameElementsBeyondTheExtent", Opcode::Assume,
     [](ModuleEdit& e) { e.attribute(AttrName::predicate).numbers = {16}; },
     "number 0 of same_elements: wanted 0 to 8, got 16; stay within the dimension"},
    {"SameElementsOfFloats", Opcode::Assume,
     [](ModuleEdit& e) {
       e.operand(0, tile_type(f32, {8}));
       e.result(0, tile_type(f32, {8}));
     },
     "operand 'value': wanted a tile of integers or pointers for same_elements, got tile<8xf32>; drop the assumption"},
    {"BoundOutsideTheType", Opcode::Assume,
     [](ModuleEdit& e) { e.attribute(AttrName::predicate).numbers = {0, 0, 1, 1ll << 31}; },
     "upper bound: wanted -2147483648 to 2147483647 of i32, got 2147483648; leave the bound out", 3},
    {"BoundsTheWrongWay", Opcode::Assume,
     [](ModuleEdit& e) { e.attribute(AttrName::predicate).numbers = {1, 5, 1, 4}; },
     "lower bound: wanted at most the upper bound 4, got 5; swap the bounds", 3},
    {"BoundedPointers", Opcode::Assume,
     [](ModuleEdit& e) {
       e.operand(0, pointer_tile(f32, {}));
       e.result(0, pointer_tile(f32, {}));
     },
     "operand 'value': wanted a tile of integers for bounded, got tile<ptr<f32>>; drop the assumption", 3},
    {"HintsThatAreNoDictionary", Opcode::LoadPtrTko,
     [](ModuleEdit& e) { e.attribute(AttrName::optimization_hints).children[0].kind = AttrKind::integer; },
     "optimization_hints of sm_90: wanted a dictionary, got another attribute; write sm_90 = {…}", 1},
};

constexpr Case kViews[] = {
    {"BaseOfATensorView", Opcode::MakeTensorView, [](ModuleEdit& e) { e.operand(0, pointer_tile(i8, {})); },
     "operand 'base': wanted a pointer to f32, got tile<ptr<i8>>; cast the pointer with ptr_to_ptr"},
    {"DynamicExtents", Opcode::MakeTensorView, [](ModuleEdit& e) { e.group(1, {}); },
     "operands 'dynamic_shape': wanted 1 for tensor_view<?x64xf32, strides=[?,1]>, got 0; give one for each dimension "
     "that is unknown or indexed"},
    {"DynamicStrides", Opcode::MakeTensorView,
     [](ModuleEdit& e) { e.group(2, {tile_type(i32, {}), tile_type(i32, {})}); },
     "operands 'dynamic_strides': wanted 1 for tensor_view<?x64xf32, strides=[?,1]>, got 2; give one for each "
     "dimension "
     "that is unknown or indexed"},
    {"SizesOfDifferentTypes", Opcode::MakeTensorView, [](ModuleEdit& e) { e.operand(2, tile_type(i64, {})); },
     "operands 'dynamic_shape' and 'dynamic_strides': wanted tile<i32> for all of them, got tile<i64>; convert them to "
     "one type"},
    {"ViewOfAnotherTensor", Opcode::MakePartitionView,
     [](ModuleEdit& e) {
       Type tensor = e.type_of(e.op().operands[0]);
       tensor.shape[1] = 32;
       e.operand(0, tensor);
     },
     "operand 'tensor_view': wanted tensor_view<?x64xf32, strides=[?,1]> of the result, got tensor_view<?x32xf32, "
     "strides=[?,1]>; make the view of its own tensor_view"},
    {"LoadedTile", Opcode::LoadViewTko, [](ModuleEdit& e) { e.result(0, tile_type(f32, {16, 8})); },
     "result 0: wanted tile<8x16xf32>, the tile of the view, got tile<16x8xf32>; use the type of the view's tile"},
    {"StoredTile", Opcode::StoreViewTko, [](ModuleEdit& e) { e.operand(0, tile_type(f16, {8, 16})); },
     "operand 'tile': wanted tile<8x16xf32>, the tile of the view, got tile<8x16xf16>; use the type of the view's "
     "tile"},
    {"ReducedTile", Opcode::AtomicRedViewTko, [](ModuleEdit& e) { e.operand(3, tile_type(f32, {8, 8})); },
     "operand 'value': wanted tile<8x16xf32>, the tile of the view, got tile<8x8xf32>; use the type of the view's "
     "tile"},
    {"NumberOfIndices", Opcode::LoadViewTko, [](ModuleEdit& e) { e.group(1, {tile_type(i32, {})}); },
     "indices: wanted 2 for partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, got 1; give one index a "
     "dimension"},
    {"RankOfAnIndex", Opcode::LoadViewTko, [](ModuleEdit& e) { e.operand(2, tile_type(i32, {1})); },
     "operand 'index' 1: wanted a tile of rank 0, got tile<1xi32>; index the tile, not elements"},
    {"IndicesOfDifferentTypes", Opcode::LoadViewTko, [](ModuleEdit& e) { e.operand(2, tile_type(i64, {})); },
     "operand 'index' 1: wanted tile<i32> like the other indices, got tile<i64>; convert the index"},
    {"IndexOfAGather", Opcode::LoadViewTko,
     [](ModuleEdit& e) {
       Type view = e.type_of(e.op().operands[0]);
       view.kind = TypeKind::gather_scatter_view;
       view.dim_map.clear();
       e.operand(0, view);
       e.operand(1, tile_type(i32, {4}));
     },
     "operand 'index' 0: wanted a tile of rank 1 with 8 row numbers, got tile<4xi32>; give one row number for each row "
     "of the tile"},
    {"ReductionIntoAGather", Opcode::AtomicRedViewTko,
     [](ModuleEdit& e) {
       Type view = e.type_of(e.op().operands[0]);
       view.kind = TypeKind::gather_scatter_view;
       view.padding.reset();
       view.dim_map.clear();
       e.operand(0, view);
     },
     "operand 'view': wanted a partition_view or strided_view, got gather_scatter_view<tile=(8x16), "
     "tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>; use atomic_rmw_tko for scattered elements"},
    {"ResultsOfAShape", Opcode::GetTensorShape, [](ModuleEdit& e) { e.op().results.pop_back(); },
     "results: wanted 2 for tensor_view<?x64xf32, strides=[?,1]>, got 1; give one for each dimension that is unknown "
     "or "
     "indexed"},
};

constexpr Case kRegions[] = {
    {"TypeOfACounter", Opcode::For, [](ModuleEdit& e) { e.body().arguments[0] = e.value(tile_type(i64, {})); },
     "induction variable: wanted tile<i32> like the bounds, got tile<i64>; give it the type of the bounds"},
    {"NoCounter", Opcode::For, [](ModuleEdit& e) { e.body().arguments.clear(); },
     "block arguments: wanted one for the induction variable, got none; add it as the first argument"},
    {"ResultOfAFor", Opcode::For, [](ModuleEdit& e) { e.result(0, tile_type(f64, {})); },
     "results: wanted (tile<f32>) like the initial values, got (tile<f64>); give each initial value one result of its "
     "type"},
    {"CarriedArguments", Opcode::Loop, [](ModuleEdit& e) { e.body().arguments.push_back(e.value(tile_type(f32, {}))); },
     "loop-carried block arguments: wanted (tile<f32>) like the initial values, got (tile<f32>, tile<f32>); give each "
     "initial value one block argument of its type"},
    {"CarriedView", Opcode::Loop,
     [](ModuleEdit& e) {
       Type tensor;
       tensor.kind = TypeKind::tensor_view;
       tensor.element = f32;
       e.operand(0, tensor);
       e.body().arguments[0] = e.value(tensor);
     },
     "loop-carried value 0: wanted a tile or token, got tensor_view<f32>; make the view inside the region"},
    {"ContinueOfAnotherType", Opcode::Continue, [](ModuleEdit& e) { e.operand(0, tile_type(f64, {})); },
     "operands: wanted (tile<f32>) like the results of the for, got (tile<f64>); pass on one value for each"},
    {"BreakOfAnotherType", Opcode::Break, [](ModuleEdit& e) { e.group(0, {}); },
     "operands: wanted (tile<f32>) like the results of the loop, got (); pass on one value for each"},
    {"BreakOfAFor", Opcode::Continue, [](ModuleEdit& e) { e.op().opcode = Opcode::Break; },
     "place: wanted a loop, inside no other operation than if, got the body of for; end that region with its own "
     "terminator"},
    {"YieldOfABranch", Opcode::Yield, [](ModuleEdit& e) { e.operand(0, tile_type(f16, {})); },
     "yield of the then region: wanted (tile<f32>) like the results, got (tile<f16>); yield one value for each result"},
    {"ArgumentsOfABranch", Opcode::If,
     [](ModuleEdit& e) { e.body(1).arguments.push_back(e.value(tile_type(f16, {}))); },
     "else region: wanted no block arguments, got 1; use values from outside"},
    {"NoElse", Opcode::If, [](ModuleEdit& e) { e.op().regions[1].blocks.clear(); },
     "else region: wanted one, since there are results, got none; yield the results there as well"},
    {"TerminatorOfAReduction", Opcode::Reduce,
     [](ModuleEdit& e) { e.body().operations.back().opcode = Opcode::Continue; },
     "place: wanted a for or loop, inside no other operation than if, got the body of reduce; end that region with its "
     "own terminator"},
    {"TerminatorOfAFor", Opcode::Continue, [](ModuleEdit& e) { e.op().opcode = Opcode::Yield; },
     "terminator of for: wanted continue, got yield; end the region with one of its own terminators"},
    {"BreakInTheEntry", Opcode::Return, [](ModuleEdit& e) { e.op().opcode = Opcode::Break; },
     "place: wanted a loop, got the body of the entry; use return"},
    {"ReturnInAFor", Opcode::Continue,
     [](ModuleEdit& e) {
       e.op().opcode = Opcode::Return;
       e.group(0, {});
     },
     "place: wanted the body of the entry, inside no other operation than if and loop, got the body of for; leave that "
     "region first"},
    {"ReturnedValue", Opcode::Return, [](ModuleEdit& e) { e.group(0, {tile_type(i32, {})}); },
     "operands: wanted none, got 1; store what the kernel computes"},
    {"NestedEntry", Opcode::MakeToken, [](ModuleEdit& e) { e.op().opcode = Opcode::Entry; },
     "place: wanted the top of a module, got the body of a function; move it out of the function"},
    {"ResultsOfAReduction", Opcode::Reduce, [](ModuleEdit& e) { e.op().results.pop_back(); },
     "results: wanted 2, one for each of at least one operand, got 1; reduce as many tiles as there are results"},
    {"DimensionOfAReduction", Opcode::Reduce, [](ModuleEdit& e) { e.set(AttrName::dim, 2); },
     "dim: wanted a dimension below 2, got 2; name a dimension of the operands"},
    {"ShapeOfAReduction", Opcode::Reduce, [](ModuleEdit& e) { e.result(1, tile_type(i32, {4})); },
     "result 1: wanted tile<8xi32>, got tile<4xi32>; leave out the reduced dimension"},
    {"ShapeOfAScan", Opcode::Scan, [](ModuleEdit& e) { e.result(0, tile_type(f32, {8})); },
     "results: wanted (tile<8x8xf32>) like the operands, got (tile<8xf32>); a scan keeps types and shapes"},
    {"NumberOfIdentities", Opcode::Scan, [](ModuleEdit& e) { e.attribute(AttrName::identities).children.clear(); },
     "identities: wanted 1, one for each operand, got 0; give each operand its neutral element"},
    {"TypeOfAnIdentity", Opcode::Scan,
     [](ModuleEdit& e) { e.attribute(AttrName::identities).children[0] = number(i32, AttrKind::integer, e); },
     "identity 0: wanted a number of type f32, got i32; write it in the type of the operand"},
    {"IdentityThatIsNoNumber", Opcode::Scan,
     [](ModuleEdit& e) { e.attribute(AttrName::identities).children[0].kind = AttrKind::string; },
     "identity 0: wanted a number of type f32, got another attribute; write it in the type of the operand"},
    {"NumberOfBodyArguments", Opcode::Scan, [](ModuleEdit& e) { e.body().arguments.pop_back(); },
     "block arguments: wanted 2, two for each operand, got 1; take two scalars for each operand"},
    {"TypeOfABodyArgument", Opcode::Scan, [](ModuleEdit& e) { e.body().arguments[1] = e.value(tile_type(f32, {1})); },
     "block argument 1: wanted tile<f32>, got tile<1xf32>; use a scalar of the operand's element type"},
    {"YieldOfAReduction", Opcode::Yield, [](ModuleEdit& e) { e.operand(1, tile_type(i64, {})); },
     "yield of the body: wanted a value of the element type of each of (tile<8x8xf32>, tile<8x8xi32>), got (tile<f32>, "
     "tile<i64>); yield the new running values",
     2},
    {"EffectInAReduction", Opcode::Reduce,
     [](ModuleEdit& e) {
       ModuleEdit assertion(Opcode::Assert);
       Operation& effect = e.body().operations.emplace(e.body().operations.begin(), assertion.op()).operator*();
       effect.operands = {e.value(tile_type(i1, {}))};
     },
     "body: wanted operations without effects on memory, got assert; compute with values only"},
};

const auto kName = [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Types, BrokenRule, testing::ValuesIn(kTypes), kName);
INSTANTIATE_TEST_SUITE_P(Numbers, BrokenRule, testing::ValuesIn(kNumbers), kName);
INSTANTIATE_TEST_SUITE_P(Shapes, BrokenRule, testing::ValuesIn(kShapes), kName);
INSTANTIATE_TEST_SUITE_P(Attributes, BrokenRule, testing::ValuesIn(kAttributes), kName);
INSTANTIATE_TEST_SUITE_P(Views, BrokenRule, testing::ValuesIn(kViews), kName);
INSTANTIATE_TEST_SUITE_P(Regions, BrokenRule, testing::ValuesIn(kRegions), kName);

}  // namespace

}  // namespace tilegym::tile_ir
