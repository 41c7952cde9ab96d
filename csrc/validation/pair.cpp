#include "validation/pair.h"

namespace tilegym::validation {
namespace {

constexpr UlpUnit binary_format(int exponent_bits, int mantissa_bits) {
  UlpUnit unit;
  for (int i = 2; i < 1 << (exponent_bits - 1); ++i) unit.floor /= 2;
  for (int i = 0; i < mantissa_bits; ++i) unit.scale *= 2;
  return unit;
}

// A floor above every integer: the unit is 1 everywhere.
constexpr UlpUnit kIntegers{0x1p100, 0x1p100};

}  // namespace

UlpUnit ulp_unit(ElementType type) noexcept {
  switch (type) {
    case ElementType::f64:
      return {std::numeric_limits<double>::min(), 0x1p52};
    case ElementType::f32:
      return binary_format(8, 23);
    case ElementType::f16:
      return binary_format(5, 10);
    case ElementType::bf16:
      return binary_format(8, 7);
    case ElementType::f8e4m3fn:
      return binary_format(4, 3);
    case ElementType::f8e5m2:
      return binary_format(5, 2);
    default:
      return kIntegers;
  }
}

}  // namespace tilegym::validation
