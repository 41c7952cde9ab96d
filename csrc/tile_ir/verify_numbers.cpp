#include <algorithm>
#include <bit>
#include <string>

#include "tile_ir/dense.h"
#include "tile_ir/verify_checks.h"

namespace tilegym::tile_ir {

namespace {

std::string bits_text(ElementType type) {
  return std::to_string(significant_bits(type)) + " bits of " + std::string(name(type));
}

/// What a float format can hold: bits of the significand and exponents of normal numbers.
struct FloatFormat {
  ElementType type;
  int precision, least_exponent, greatest_exponent;
};

constexpr FloatFormat kFormats[] = {
    {ElementType::f64, 53, -1022, 1023}, {ElementType::f32, 24, -126, 127}, {ElementType::tf32, 11, -126, 127},
    {ElementType::bf16, 8, -126, 127},   {ElementType::f16, 11, -14, 15},   {ElementType::f8e5m2, 3, -14, 15},
    {ElementType::f8e4m3fn, 4, -6, 8},   {ElementType::f4e2m1fn, 2, 0, 2},  {ElementType::f8e8m0fnu, 1, -127, 127},
};

bool holds(ElementType wide, ElementType narrow) {
  const auto& to = *std::ranges::find(kFormats, wide, &FloatFormat::type);
  const auto& from = *std::ranges::find(kFormats, narrow, &FloatFormat::type);
  return to.precision >= from.precision && to.least_exponent <= from.least_exponent &&
         to.greatest_exponent >= from.greatest_exponent;
}

constexpr std::uint32_t bits(std::initializer_list<Rounding> modes) {
  std::uint32_t set = 0;
  for (const Rounding mode : modes) set |= std::uint32_t{1} << static_cast<unsigned>(mode);
  return set;
}

/// Rounding modes of a conversion, as a set. The public dialect has nearest_even alone; compilers have had more since.
std::uint32_t conversion_roundings(ElementType from, ElementType to) {
  using enum Rounding;
  if (to == ElementType::f8e8m0fnu) return bits({zero, positive_inf});
  if (bit_width(to) <= 8) return bits({nearest_even});
  const bool exact = holds(to, from) || (from == ElementType::f64 && to == ElementType::f32);
  return exact ? bits({nearest_even, zero, negative_inf, positive_inf}) : bits({nearest_even, zero});
}

}  // namespace

void check_alloca(OpCheck& check) {
  const std::uint64_t alignment = check.op.integer(AttrName::alignment);
  const ElementType element = check.result().element;
  // Smaller types than a byte have no size of their own here.
  const std::uint64_t size = element == ElementType::i1 ? 1 : significant_bits(element) / 8;
  if (std::has_single_bit(alignment) && alignment >= size) return;
  check.fail({"alignment", "a power of two of at least " + std::to_string(std::max<std::uint64_t>(size, 1)),
              std::to_string(alignment),
              "use the size of " + std::string(name(element)) + " or a larger power of two"});
}

void check_bitcast(OpCheck& check) {
  const ElementType from = check.operand(0).element;
  const ElementType to = check.result().element;
  if (significant_bits(from) == significant_bits(to)) return;
  check.fail({"result", bits_text(from), bits_text(to), "cast to a type of the same width"});
}

void check_extension(OpCheck& check) {
  const ElementType from = check.operand(0).element;
  const ElementType to = check.result().element;
  if (bit_width(to) > bit_width(from)) return;
  check.fail({"result", "more than the " + bits_text(from), bits_text(to), "use trunci or the operand itself"});
}

void check_truncation(OpCheck& check) {
  const ElementType from = check.operand(0).element;
  const ElementType to = check.result().element;
  if (bit_width(to) < bit_width(from)) return;
  check.fail({"result", "less than the " + bits_text(from), bits_text(to), "use exti or the operand itself"});
}

void check_float_conversion(OpCheck& check) {
  const ElementType from = check.operand(0).element;
  const ElementType to = check.result().element;
  if (from == to) {
    check.fail({"result", "another type than " + std::string(name(to)), "the same", "use the operand itself"});
    return;
  }
  const std::uint32_t allowed = conversion_roundings(from, to);
  const std::uint64_t mode = check.op.integer(AttrName::rounding_mode);
  if ((allowed >> mode & 1) != 0) return;
  check.fail({"rounding_mode", "one of " + value_names(AttrName::rounding_mode, allowed),
              std::string(value_name(AttrName::rounding_mode, mode)),
              "choose the rounding that conversion to " + std::string(name(to)) + " has"});
}

void check_integer_division(OpCheck& check) {
  const bool is_unsigned = check.op.integer(AttrName::signedness) == static_cast<std::uint64_t>(Signedness::unsigned_);
  const auto mode = static_cast<Rounding>(check.op.integer(AttrName::rounding));
  if (!is_unsigned || mode != Rounding::negative_inf) return;
  check.fail({"rounding", "zero or positive_inf for unsigned", "negative_inf", "unsigned quotients round to zero"});
}

void check_integer_to_float(OpCheck& check) {
  if (check.result().element != ElementType::f8e8m0fnu) return;
  check.fail({"result", "a tile of floats other than f8E8M0FNU", "f8E8M0FNU", "convert to another float first"});
}

void check_iota(OpCheck& check) {
  const Type& result = check.result();
  if (result.shape.size() != 1) {
    check.fail({"result", "a tile of rank 1", text(check.module(), result), "reshape or broadcast it afterwards"});
    return;
  }
  const unsigned bits = significant_bits(result.element);
  if (bits >= 64 || static_cast<std::uint64_t>(result.shape[0]) <= std::uint64_t{1} << bits) return;
  check.fail(
      {"result",
       "at most " + std::to_string(std::uint64_t{1} << bits) + " elements of " + std::string(name(result.element)),
       std::to_string(result.shape[0]), "use a wider integer"});
}

void check_packing(OpCheck& check) {
  const Type& source = check.operand(0);
  const Type& result = check.result();
  if (source.shape.size() != 1) {
    check.fail({"operand 'source'", "a tile of rank 1", text(check.module(), source), "reshape it"});
    return;
  }
  if (significant_bits(source.element) == significant_bits(result.element)) {
    check.fail({"result", "elements of another width", bits_text(result.element), "use bitcast"});
    return;
  }
  const std::int64_t source_bits = bit_width(source.element) * source.element_count();
  const std::int64_t result_bits = bit_width(result.element) * result.element_count();
  if (source_bits % 8 == 0 && source_bits == result_bits) return;
  check.fail({"result", source_bits % 8 == 0 ? std::to_string(source_bits / 8) + " bytes like source" : "whole bytes",
              std::to_string(source_bits % 8 == 0 ? result_bits : source_bits) + " bits",
              "change the number of elements"});
}

void check_select(OpCheck& check) {
  const Type& result = check.result();
  if (result.of_pointers || result.element != ElementType::f4e2m1fn) return;
  check.fail({"result", "elements of at least a byte", "f4E2M1FN", "select packed i8 instead"});
}

}  // namespace tilegym::tile_ir
