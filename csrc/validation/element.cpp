#include "validation/element.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "common/check.h"

namespace tilegym::validation {
namespace {

/// Powers of two by biased exponent, such that mantissa times power is the value: exact, and free of subnormal doubles,
/// which a process may have switched off.
template <int kExponentBits, int kMantissaBits>
constexpr auto make_scales() {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  std::array<double, 1 << kExponentBits> scales{};
  for (int exponent = 0; exponent < (1 << kExponentBits); ++exponent) {
    const int power = std::max(exponent, 1) - kBias - kMantissaBits;
    double scale = 1;
    for (int i = 0; i < power; ++i) scale *= 2;
    for (int i = 0; i > power; --i) scale /= 2;
    scales[static_cast<std::size_t>(exponent)] = scale;
  }
  return scales;
}

/// The finite value of a small floating point format: sign, exponent bits, mantissa bits, from the top.
template <int kExponentBits, int kMantissaBits>
double decode(unsigned bits) noexcept {
  static constexpr auto kScales = make_scales<kExponentBits, kMantissaBits>();
  constexpr unsigned kImplicitOne = 1U << kMantissaBits;
  const unsigned exponent = bits >> kMantissaBits & ((1U << kExponentBits) - 1);
  const unsigned mantissa = (bits & (kImplicitOne - 1)) | (exponent != 0 ? kImplicitOne : 0);
  const double magnitude = mantissa * kScales[exponent];
  return (bits >> (kExponentBits + kMantissaBits) & 1U) != 0 ? -magnitude : magnitude;
}

/// Formats with IEEE infinities and NaNs in the highest exponent.
template <int kExponentBits, int kMantissaBits>
double decode_ieee(unsigned bits) noexcept {
  constexpr unsigned kTop = ((1U << kExponentBits) - 1) << kMantissaBits;
  constexpr unsigned kMantissaMask = (1U << kMantissaBits) - 1;
  if ((bits & kTop) != kTop) return decode<kExponentBits, kMantissaBits>(bits);
  if ((bits & kMantissaMask) != 0) return std::numeric_limits<double>::quiet_NaN();
  const bool negative = (bits >> (kExponentBits + kMantissaBits)) != 0;
  return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

// e4m3fn has no infinity; all ones below the sign are its NaN.
double decode_e4m3fn(unsigned bits) noexcept {
  return (bits & 0x7FU) == 0x7FU ? std::numeric_limits<double>::quiet_NaN() : decode<4, 3>(bits);
}

template <class T>
T read(const std::byte* address) noexcept {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

template <ElementType kType>
double to_double(const std::byte* address) noexcept {
  if constexpr (kType == ElementType::f64) return read<double>(address);
  if constexpr (kType == ElementType::f32) return read<float>(address);
  if constexpr (kType == ElementType::f16) return decode_ieee<5, 10>(read<std::uint16_t>(address));
  if constexpr (kType == ElementType::bf16) return std::bit_cast<float>(read<std::uint16_t>(address) * 0x10000U);
  if constexpr (kType == ElementType::f8e4m3fn) return decode_e4m3fn(read<std::uint8_t>(address));
  if constexpr (kType == ElementType::f8e5m2) return decode_ieee<5, 2>(read<std::uint8_t>(address));
  if constexpr (kType == ElementType::i64) return static_cast<double>(read<std::int64_t>(address));
  if constexpr (kType == ElementType::i32) return read<std::int32_t>(address);
  if constexpr (kType == ElementType::i16) return read<std::int16_t>(address);
  if constexpr (kType == ElementType::i8) return read<std::int8_t>(address);
  if constexpr (kType == ElementType::u8 || kType == ElementType::boolean) return read<std::uint8_t>(address);
}

template <ElementType kType>
std::int64_t to_integer(const std::byte* address) noexcept {
  if constexpr (kType == ElementType::i64) return read<std::int64_t>(address);
  return static_cast<std::int64_t>(to_double<kType>(address));
}

template <class Out>
using Loader = void (*)(const std::byte*, std::int64_t, std::size_t, Out*) noexcept;

template <ElementType kType, std::size_t kSize>
void load_doubles(const std::byte* first, std::int64_t stride, std::size_t count, double* out) noexcept {
  const std::int64_t step = stride * static_cast<std::int64_t>(kSize);
  for (std::size_t i = 0; i < count; ++i) out[i] = to_double<kType>(first + static_cast<std::int64_t>(i) * step);
}

template <ElementType kType, std::size_t kSize>
void load_integers(const std::byte* first, std::int64_t stride, std::size_t count, std::int64_t* out) noexcept {
  const std::int64_t step = stride * static_cast<std::int64_t>(kSize);
  for (std::size_t i = 0; i < count; ++i) out[i] = to_integer<kType>(first + static_cast<std::int64_t>(i) * step);
}

struct TypeRow {
  ElementType type;
  std::string_view name;
  std::size_t size;
  Loader<double> doubles;
  Loader<std::int64_t> integers;  ///< null for floating point types
};

template <ElementType kType, std::size_t kSize>
constexpr TypeRow floating(std::string_view name) {
  return {kType, name, kSize, load_doubles<kType, kSize>, nullptr};
}

template <ElementType kType, std::size_t kSize>
constexpr TypeRow integer(std::string_view name) {
  return {kType, name, kSize, load_doubles<kType, kSize>, load_integers<kType, kSize>};
}

// In the order of ElementType.
constexpr std::array kTypes{
    floating<ElementType::f64, 8>("float64"),
    floating<ElementType::f32, 4>("float32"),
    floating<ElementType::f16, 2>("float16"),
    floating<ElementType::bf16, 2>("bfloat16"),
    floating<ElementType::f8e4m3fn, 1>("float8_e4m3fn"),
    floating<ElementType::f8e5m2, 1>("float8_e5m2"),
    integer<ElementType::i64, 8>("int64"),
    integer<ElementType::i32, 4>("int32"),
    integer<ElementType::i16, 2>("int16"),
    integer<ElementType::i8, 1>("int8"),
    integer<ElementType::u8, 1>("uint8"),
    integer<ElementType::boolean, 1>("bool"),
};

const TypeRow& row_of(ElementType type) noexcept {
  return kTypes[static_cast<std::size_t>(type)];
}

}  // namespace

std::size_t size_of(ElementType type) noexcept {
  return row_of(type).size;
}

std::string_view name_of(ElementType type) noexcept {
  return row_of(type).name;
}

bool is_integer(ElementType type) noexcept {
  return row_of(type).integers != nullptr;
}

void load(ElementType type, const std::byte* first, std::int64_t stride, std::size_t count, double* out) noexcept {
  row_of(type).doubles(first, stride, count, out);
}

void load(ElementType type, const std::byte* first, std::int64_t stride, std::size_t count,
          std::int64_t* out) noexcept {
  TILEGYM_CHECK(is_integer(type));
  row_of(type).integers(first, stride, count, out);
}

}  // namespace tilegym::validation
