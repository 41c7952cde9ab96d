#pragma once

#include "validation/device/job.h"
#include "validation/device/lanes.h"

/// Elements of every type, and where those of a walk lie.
namespace tilegym::validation::device {

TILEGYM_DEVICE float brain_value(std::uint16_t bits) {
  return bits_as_float(std::uint32_t{bits} << 16);
}

// Exponent and mantissa of an e4m3fn as those of a float, whose exponent is 120 too low: subnormals come out right.
TILEGYM_DEVICE float e4m3_value(std::uint8_t bits) {
  const std::uint32_t magnitude = bits & 0x7FU;
  const float scaled = bits_as_float(magnitude << 20) * 0x1p120F;
  const float value = magnitude == 0x7FU ? bits_as_float(0x7FC00000U) : scaled;
  return (bits & 0x80U) != 0 ? -value : value;
}
// An e5m2 is the upper half of an f16.
TILEGYM_DEVICE float e5m2_value(std::uint8_t bits) {
  return half_value(static_cast<std::uint16_t>(bits << 8));
}

/// Two bytes of one of the types that take as many, exact as a float.
TILEGYM_DEVICE float value_of(ElementType type, std::uint16_t bits) {
  if (type == ElementType::f16) return half_value(bits);
  if (type == ElementType::bf16) return brain_value(bits);
  return static_cast<float>(static_cast<std::int16_t>(bits));
}
TILEGYM_DEVICE float value_of(ElementType type, std::uint8_t bits) {
  if (type == ElementType::f8e4m3fn) return e4m3_value(bits);
  if (type == ElementType::f8e5m2) return e5m2_value(bits);
  if (type == ElementType::i8) return static_cast<float>(static_cast<std::int8_t>(bits));
  return static_cast<float>(bits);
}
/// Precondition: an f32, the only type of four bytes that fits into a float.
TILEGYM_DEVICE float value_of(ElementType, std::uint32_t bits) {
  return bits_as_float(bits);
}

template <class Value>
TILEGYM_DEVICE Value read(ElementType type, const unsigned char* address) {
  switch (type) {
    case ElementType::f64:
      return static_cast<Value>(load_bits<double>(address));
    case ElementType::f32:
      return static_cast<Value>(load_bits<float>(address));
    case ElementType::i64:
      return static_cast<Value>(load_bits<std::int64_t>(address));
    case ElementType::i32:
      return static_cast<Value>(load_bits<std::int32_t>(address));
    case ElementType::f16:
    case ElementType::bf16:
    case ElementType::i16:
      return static_cast<Value>(value_of(type, load_bits<std::uint16_t>(address)));
    default:
      return static_cast<Value>(value_of(type, load_bits<std::uint8_t>(address)));
  }
}

/// A position of the walk, as bytes from either array's first element and as an element in row-major order.
struct Place {
  std::int64_t actual;
  std::int64_t expected;
  std::int64_t element;
};

/// Number is uint32 where all positions fit: 64-bit divisions are slow.
template <class Number>
TILEGYM_DEVICE Place place_by(const Job& job, std::int64_t position) {
  Place place{0, 0, 0};
  auto rest = static_cast<Number>(position);
  for (int dim = job.rank - 1; dim > 0; --dim) {
    const auto extent = static_cast<Number>(job.extents[dim]);
    const Number outer = rest / extent;
    const auto index = static_cast<std::int64_t>(rest - outer * extent);
    place.actual += index * job.actual.strides[dim];
    place.expected += index * job.expected.strides[dim];
    place.element += index * job.steps[dim];
    rest = outer;
  }
  const auto index = static_cast<std::int64_t>(rest);
  return {place.actual + index * job.actual.strides[0], place.expected + index * job.expected.strides[0],
          place.element + index * job.steps[0]};
}

TILEGYM_DEVICE Place place_of(const Job& job, std::int64_t position) {
  return job.size <= 0xFFFFFFFFLL ? place_by<std::uint32_t>(job, position) : place_by<std::uint64_t>(job, position);
}

template <class Value>
struct Two {
  Value actual;
  Value expected;
};

template <class Value>
TILEGYM_DEVICE Two<Value> read_pair(const Job& job, const Place& place) {
  return {read<Value>(job.actual.type, job.actual.data + place.actual),
          read<Value>(job.expected.type, job.expected.data + place.expected)};
}

}  // namespace tilegym::validation::device
