#include "tile_ir/verify_rules.h"

#include <algorithm>
#include <array>
#include <span>

#include "tile_ir/verify_checks.h"

namespace tilegym::tile_ir {

namespace {

template <class Value>
constexpr std::uint32_t bits(std::initializer_list<Value> values) {
  std::uint32_t set = 0;
  for (const Value value : values) set |= std::uint32_t{1} << static_cast<unsigned>(value);
  return set;
}

// The words of verify_rules.def's columns.
namespace columns {

using enum ElementType;
using enum AttrName;
using enum Effects;

constexpr std::uint32_t kIntegers = bits({i1, i8, i16, i32, i64});
constexpr std::uint32_t kFloats = bits({f16, bf16, f32, f64});
constexpr std::uint32_t kAllFloats = kFloats | bits({tf32, f8e4m3fn, f8e5m2, f8e8m0fnu, f4e2m1fn});

constexpr TypeClass of_elements(std::string_view name, std::uint32_t elements) {
  return {name, elements};
}
constexpr TypeClass scalars(std::string_view name, std::uint32_t elements) {
  return {name, elements, false, true};
}
constexpr TypeClass of_kinds(std::string_view name, std::initializer_list<TypeKind> kinds) {
  return {name, 0, false, false, static_cast<std::uint16_t>(bits(kinds))};
}

constexpr TypeClass kAny = {"a value", 0, false, false, 0xffff};
constexpr TypeClass kTile = of_kinds("a tile", {TypeKind::tile});
constexpr TypeClass kToken = of_kinds("a token", {TypeKind::token});
constexpr TypeClass kTensorView = of_kinds("a tensor_view", {TypeKind::tensor_view});
constexpr TypeClass kPartitionView = of_kinds("a partition_view", {TypeKind::partition_view});
constexpr TypeClass kStridedView = of_kinds("a strided_view", {TypeKind::strided_view});
constexpr TypeClass kGatherScatterView = of_kinds("a gather_scatter_view", {TypeKind::gather_scatter_view});
constexpr TypeClass kTileView =
    of_kinds("a partition_view, strided_view or gather_scatter_view",
             {TypeKind::partition_view, TypeKind::strided_view, TypeKind::gather_scatter_view});
constexpr TypeClass kPointers = {"a tile of pointers", 0, true};
constexpr TypeClass kScalarPointer = {"a tile of one pointer and rank 0", 0, true, true};
constexpr TypeClass kBool = of_elements("a tile of i1", bits({i1}));
constexpr TypeClass kI8 = of_elements("a tile of i8", bits({i8}));
constexpr TypeClass kI32 = of_elements("a tile of i32", bits({i32}));
constexpr TypeClass kI64 = of_elements("a tile of i64", bits({i64}));
constexpr TypeClass kF32 = of_elements("a tile of f32", bits({f32}));
constexpr TypeClass kInt = of_elements("a tile of i1, i8, i16, i32 or i64", kIntegers);
constexpr TypeClass kIntOrI4 = of_elements("a tile of i1, i4, i8, i16, i32 or i64", kIntegers | bits({i4}));
constexpr TypeClass kFloat = of_elements("a tile of f16, bf16, f32 or f64", kFloats);
constexpr TypeClass kAnyFloat = of_elements("a tile of floats", kAllFloats);
constexpr TypeClass kNumber = of_elements("a tile of floats or of integers other than i4", kAllFloats | kIntegers);
constexpr TypeClass kNumberOrI4 = of_elements("a tile of numbers", kAllFloats | kIntegers | bits({i4}));
constexpr TypeClass kMmaFloat =
    of_elements("a tile of f16, bf16, f32, f64, tf32, f8E4M3FN or f8E5M2", kFloats | bits({tf32, f8e4m3fn, f8e5m2}));
constexpr TypeClass kMmaSum = of_elements("a tile of f16, f32 or f64", bits({f16, f32, f64}));
constexpr TypeClass kScaledFloat =
    of_elements("a tile of f8E4M3FN, f8E5M2 or f4E2M1FN", bits({f8e4m3fn, f8e5m2, f4e2m1fn}));
constexpr TypeClass kScale = of_elements("a tile of f8E4M3FN or f8E8M0FNU", bits({f8e4m3fn, f8e8m0fnu}));
constexpr TypeClass kScalarBool = scalars("a tile of i1 and rank 0", bits({i1}));
constexpr TypeClass kScalarI32 = scalars("a tile of i32 and rank 0", bits({i32}));
constexpr TypeClass kScalarInt = scalars("a tile of i1, i8, i16, i32 or i64 and rank 0", kIntegers);

constexpr Parts o0 = 1, o1 = 2, o2 = 4, o3 = 8, o4 = 16, r0 = 1 << kFirstResultBit;
constexpr Relation same_type(unsigned parts) {
  return {Agreement::type, static_cast<Parts>(parts)};
}
constexpr Relation same_shape(unsigned parts) {
  return {Agreement::shape, static_cast<Parts>(parts)};
}
constexpr Relation same_rank(unsigned parts) {
  return {Agreement::rank, static_cast<Parts>(parts)};
}
constexpr Relation same_element(unsigned parts) {
  return {Agreement::element, static_cast<Parts>(parts)};
}
constexpr Relation pointee(unsigned parts) {
  return {Agreement::pointee, static_cast<Parts>(parts)};
}

// Sets of attribute values: bit v is the value v.
constexpr std::uint32_t kSet = 1 << 1;
constexpr std::uint32_t kEven = bits({Rounding::nearest_even});
constexpr std::uint32_t kZero = bits({Rounding::zero});
constexpr std::uint32_t kNegative = bits({Rounding::negative_inf});
constexpr std::uint32_t kPositive = bits({Rounding::positive_inf});
constexpr std::uint32_t kIeee = kEven | kZero | kNegative | kPositive;
constexpr std::uint32_t kApprox = bits({Rounding::approx});
constexpr std::uint32_t kFull = bits({Rounding::full});
constexpr std::uint32_t kIntToZero = bits({Rounding::nearest_int_to_zero});
constexpr std::uint32_t kNegationOverflow = 0b1011;  // none, no_signed_wrap, no_wrap
constexpr std::uint32_t kRelaxed = 1 << 1;
constexpr std::uint32_t kLoadOrders = 0b00111;    // weak, relaxed, acquire
constexpr std::uint32_t kStoreOrders = 0b01011;   // weak, relaxed, release
constexpr std::uint32_t kAtomicOrders = 0b11110;  // relaxed, acquire, release, acq_rel
constexpr std::uint32_t kBlock = 1 << 0;
constexpr std::uint32_t kDevice = 1 << 1;
constexpr std::uint32_t kReductionModes = 0x1ff;  // all but xchg
constexpr AttrRule values(AttrName attribute, std::uint32_t set) {
  return {attribute, set, false};
}
constexpr AttrRule f32_only(AttrName attribute, std::uint32_t set) {
  return {attribute, set, true};
}

// A row names type classes; the list holds pointers to them.
template <std::size_t capacity>
struct Classes : FixedList<const TypeClass*, capacity> {
  template <class... T>
  constexpr Classes(const T&... classes) : FixedList<const TypeClass*, capacity>{&classes...} {}
};

#define TILE_IR_ROWS(...) {__VA_ARGS__}
#define TILE_IR_UNWRAP(...) __VA_ARGS__
constexpr OpRule kRules[] = {
#define TILE_IR_RULE(identifier, memory, operands, results, relations, attributes, checks) \
  {Opcode::identifier,                                                                     \
   memory,                                                                                 \
   Classes<5>(TILE_IR_UNWRAP operands),                                                    \
   Classes<3>(TILE_IR_UNWRAP results),                                                     \
   TILE_IR_ROWS relations,                                                                 \
   TILE_IR_ROWS attributes,                                                                \
   TILE_IR_ROWS checks},
#include "tile_ir/verify_rules.def"
#undef TILE_IR_RULE
};
#undef TILE_IR_UNWRAP
#undef TILE_IR_ROWS

}  // namespace columns

constexpr auto kCodeOf = [](const OpRule& rule) { return static_cast<unsigned>(rule.opcode); };
static_assert(std::ranges::is_sorted(columns::kRules, std::ranges::less{}, kCodeOf), "find_rule searches by halves");

struct ValueNames {
  AttrName attribute;
  FixedList<std::string_view, 10> names;
};

constexpr FixedList<std::string_view, 10> kRoundings = {"nearest_even", "zero", "negative_inf",       "positive_inf",
                                                        "approx",       "full", "nearest_int_to_zero"};
constexpr ValueNames kValueNames[] = {
    {AttrName::rounding_mode, kRoundings},
    {AttrName::rounding, kRoundings},
    {AttrName::overflow, {"none", "no_signed_wrap", "no_unsigned_wrap", "no_wrap"}},
    {AttrName::memory_ordering_semantics, {"weak", "relaxed", "acquire", "release", "acq_rel"}},
    {AttrName::memory_scope, {"tl_blk", "device", "sys"}},
    {AttrName::mode, {"and", "or", "xor", "add", "addf", "max", "min", "umax", "umin", "xchg"}},
};

}  // namespace

bool TypeClass::accepts(const Type& type) const noexcept {
  if ((kinds >> static_cast<unsigned>(type.kind) & 1) != 0) return true;
  if (!type.is_tile() || (scalar && !type.shape.empty())) return false;
  return type.of_pointers ? pointers : (elements >> static_cast<unsigned>(type.element) & 1) != 0;
}

const OpRule* find_rule(Opcode opcode) noexcept {
  const auto* row =
      std::ranges::lower_bound(columns::kRules, static_cast<unsigned>(opcode), std::ranges::less{}, kCodeOf);
  return row != std::end(columns::kRules) && row->opcode == opcode ? row : nullptr;
}

std::string_view value_name(AttrName attribute, std::uint64_t value) noexcept {
  const auto* row = std::ranges::find(kValueNames, attribute, &ValueNames::attribute);
  return row != std::end(kValueNames) && value < row->names.size() ? row->names[value] : std::string_view();
}

std::string value_names(AttrName attribute, std::uint32_t values) {
  std::string out;
  for (unsigned value = 0; value < 32; ++value) {
    if ((values >> value & 1) == 0) continue;
    out.append(out.empty() ? "" : ", ").append(value_name(attribute, value));
  }
  return out;
}

}  // namespace tilegym::tile_ir
