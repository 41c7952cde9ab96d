#include "bindings/core/float_bits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

namespace tilegym::bindings {
namespace {

using tile_ir::ElementType;

/// A format of sign, exponent and mantissa from the top; bit patterns in ascending order of magnitude.
struct Format {
  ElementType type;
  int mantissa_bits;
  int bias;
  std::uint64_t sign;      ///< the sign bit; 0: none
  std::uint64_t largest;   ///< bits of the largest finite value
  std::uint64_t infinity;  ///< 0: none
  std::uint64_t nan;       ///< 0: none
  int shift;               ///< of the bits in memory (tf32 lies in the upper bits of an f32)
};

constexpr Format kFormats[] = {
    {ElementType::f16, 10, 15, 0x8000, 0x7BFF, 0x7C00, 0x7E00, 0},
    {ElementType::bf16, 7, 127, 0x8000, 0x7F7F, 0x7F80, 0x7FC0, 0},
    {ElementType::tf32, 10, 127, 0x40000, 0x3FBFF, 0x3FC00, 0x3FE00, 13},
    {ElementType::f8e5m2, 2, 15, 0x80, 0x7B, 0x7C, 0x7E, 0},
    {ElementType::f8e4m3fn, 3, 7, 0x80, 0x7E, 0, 0x7F, 0},
    {ElementType::f4e2m1fn, 1, 1, 0x8, 0x7, 0, 0, 0},
};

/// Magnitude to bits by the place of its last mantissa bit: steps of a binade have one size, so the count of steps is
/// the pattern, and a carry into the next binade comes out right by itself.
std::uint64_t round_magnitude(const Format& format, double magnitude) {
  const int smallest = 1 - format.bias;
  const int exponent = magnitude == 0.0 ? smallest : std::max(std::ilogb(magnitude), smallest);
  const double steps = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  const auto binades = static_cast<std::uint64_t>(exponent - smallest);
  return (binades << format.mantissa_bits) + static_cast<std::uint64_t>(steps);
}

std::optional<std::uint64_t> bits_in(const Format& format, double value) {
  const std::uint64_t sign = std::signbit(value) ? format.sign : 0;
  std::uint64_t bits = 0;
  if (std::isnan(value)) {
    bits = format.nan;
  } else {
    bits = std::isinf(value) ? format.largest + 1 : round_magnitude(format, std::fabs(value));
    if (bits > format.largest) bits = format.infinity;
    if (bits == 0 && std::fabs(value) > 1.0) return std::nullopt;
  }
  if (std::isnan(value) && bits == 0) return std::nullopt;
  return (bits | sign) << format.shift;
}

/// Powers of two from 2^-127 to 2^127; no sign, no zero.
std::optional<std::uint64_t> exponent_bits(double value) {
  constexpr int kBias = 127;
  constexpr std::uint64_t kNan = 0xFF;
  if (std::isnan(value)) return kNan;
  if (!(value > 0.0) || std::isinf(value)) return std::nullopt;
  const double exponent = std::nearbyint(std::log2(value));
  if (exponent < -kBias || exponent > kBias || std::ldexp(1.0, static_cast<int>(exponent)) != value)
    return std::nullopt;
  return static_cast<std::uint64_t>(exponent + kBias);
}

}  // namespace

std::optional<std::uint64_t> bits_of(ElementType type, double value) {
  if (type == ElementType::f64) return std::bit_cast<std::uint64_t>(value);
  if (type == ElementType::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type == ElementType::f8e8m0fnu) return exponent_bits(value);
  const auto* format =
      std::find_if(std::begin(kFormats), std::end(kFormats), [type](const Format& row) { return row.type == type; });
  return format == std::end(kFormats) ? std::nullopt : bits_in(*format, value);
}

}  // namespace tilegym::bindings
