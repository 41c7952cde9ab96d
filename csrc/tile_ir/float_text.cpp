#include "tile_ir/float_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>
#include <vector>

namespace tilegym::tile_ir {

namespace {

/// What bit patterns with the largest exponent stand for.
enum class Special : std::uint8_t { ieee, all_ones_is_nan, none };

struct Format {
  ElementType type;
  int exponent_bits;
  int fraction_bits;
  int bias;
  Special special;
  bool has_sign = true;
  /// Exponent 0 stands for subnormal numbers and zero.
  bool has_zero = true;
};

constexpr Format kFormats[] = {
    {ElementType::f16, 5, 10, 15, Special::ieee},
    {ElementType::bf16, 8, 7, 127, Special::ieee},
    {ElementType::f32, 8, 23, 127, Special::ieee},
    {ElementType::tf32, 8, 10, 127, Special::ieee},
    {ElementType::f64, 11, 52, 1023, Special::ieee},
    {ElementType::f8e4m3fn, 4, 3, 7, Special::all_ones_is_nan},
    {ElementType::f8e5m2, 5, 2, 15, Special::ieee},
    {ElementType::f8e8m0fnu, 8, 0, 127, Special::all_ones_is_nan, false, false},
    {ElementType::f4e2m1fn, 2, 1, 1, Special::none},
};

enum class Category : std::uint8_t { zero, finite, infinite, nan };

/// significand * 2^exponent
struct Number {
  Category category = Category::zero;
  bool negative = false;
  std::uint64_t significand = 0;
  int exponent = 0;
};

constexpr std::uint64_t mask(int bits) {
  return (std::uint64_t{1} << bits) - 1;
}

const Format& format_of(ElementType type) {
  return *std::ranges::find(kFormats, type, &Format::type);
}

Category category_of_largest(const Format& format, std::uint64_t fraction) {
  switch (format.special) {
    case Special::ieee:
      return fraction == 0 ? Category::infinite : Category::nan;
    case Special::all_ones_is_nan:
      return fraction == mask(format.fraction_bits) ? Category::nan : Category::finite;
    case Special::none:
      break;
  }
  return Category::finite;
}

Number decode(const Format& format, std::uint64_t bits) {
  Number number;
  const std::uint64_t fraction = bits & mask(format.fraction_bits);
  const std::uint64_t biased = (bits >> format.fraction_bits) & mask(format.exponent_bits);
  number.negative = format.has_sign && ((bits >> (format.fraction_bits + format.exponent_bits)) & 1) != 0;
  const bool subnormal = biased == 0 && format.has_zero;
  number.category = subnormal && fraction == 0 ? Category::zero : Category::finite;
  if (biased == mask(format.exponent_bits)) number.category = category_of_largest(format, fraction);
  number.significand = subnormal ? fraction : fraction | (std::uint64_t{1} << format.fraction_bits);
  number.exponent = static_cast<int>(subnormal ? 1 : biased) - format.bias - format.fraction_bits;
  return number;
}

/// An unsigned integer of any size, least significant limb first.
class Big {
 public:
  explicit Big(std::uint64_t value)
      : limbs_{static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)} {
    trim();
  }

  [[nodiscard]] bool is_zero() const noexcept { return limbs_.empty(); }

  [[nodiscard]] unsigned active_bits() const noexcept {
    if (limbs_.empty()) return 0;
    return static_cast<unsigned>(limbs_.size() * 32) - static_cast<unsigned>(std::countl_zero(limbs_.back()));
  }

  void multiply(std::uint32_t factor) {
    std::uint64_t carry = 0;
    for (std::uint32_t& limb : limbs_) {
      carry += std::uint64_t{limb} * factor;
      limb = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) limbs_.push_back(static_cast<std::uint32_t>(carry));
  }

  void multiply_power(std::uint32_t base, int exponent) {
    in_chunks(base, exponent, [this](std::uint32_t power) { multiply(power); });
  }

  void divide_power(std::uint32_t base, int exponent) {
    in_chunks(base, exponent, [this](std::uint32_t power) { divide(power); });
  }

  /// Divides and returns the remainder.
  std::uint32_t divide(std::uint32_t divisor) {
    std::uint64_t rest = 0;
    for (std::size_t i = limbs_.size(); i-- > 0;) {
      rest = rest << 32 | limbs_[i];
      limbs_[i] = static_cast<std::uint32_t>(rest / divisor);
      rest %= divisor;
    }
    trim();
    return static_cast<std::uint32_t>(rest);
  }

 private:
  /// Calls `use` with powers of `base` that fit a limb and whose product is base^exponent.
  template <class Use>
  static void in_chunks(std::uint32_t base, int exponent, Use use) {
    while (exponent > 0) {
      std::uint32_t power = base;
      --exponent;
      for (; exponent > 0 && power <= ~std::uint32_t{0} / base; --exponent) power *= base;
      use(power);
    }
  }

  void trim() {
    while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
  }

  std::vector<std::uint32_t> limbs_;
};

/// digits * 10^exponent; the digits' last one comes first, as characters.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

/// LLVM's way to drop digits before it rounds: never below what `precision` digits need.
void drop_tens(Big& value, int& exponent, unsigned precision) {
  const unsigned required = (precision * 196 + 58) / 59;
  const unsigned bits = value.active_bits();
  if (bits <= required) return;
  const unsigned tens = (bits - required) * 59 / 196;
  value.divide_power(10, static_cast<int>(tens));
  exponent += static_cast<int>(tens);
}

/// Rounds half up to `precision` digits and drops zeros at the end of what was rounded.
void round_digits(Decimal& decimal, std::size_t precision) {
  std::string& digits = decimal.digits;
  const std::size_t count = digits.size();
  if (count <= precision) return;
  std::size_t first = count - precision;
  if (digits[first - 1] < '5') {
    while (first < count && digits[first] == '0') ++first;
  } else {
    std::size_t i = first;
    while (i < count && digits[i] == '9') ++i;
    first = i;
    if (i < count) ++digits[i];
  }
  decimal.exponent += static_cast<int>(first);
  if (first == count) {
    digits = "1";
  } else {
    digits.erase(0, first);
  }
}

Decimal to_decimal(const Number& number, unsigned precision) {
  const int zeros = std::countr_zero(number.significand);
  Big value(number.significand >> zeros);
  int exponent = number.exponent + zeros;
  if (exponent > 0) {
    value.multiply_power(2, exponent);
    exponent = 0;
  } else {
    // n * 2^-e is n * 5^e * 10^-e.
    value.multiply_power(5, -exponent);
  }
  drop_tens(value, exponent, precision);
  Decimal decimal{{}, exponent};
  while (!value.is_zero()) {
    const std::uint32_t digit = value.divide(10);
    if (digit == 0 && decimal.digits.empty()) {
      ++decimal.exponent;
    } else {
      decimal.digits.push_back(static_cast<char>('0' + digit));
    }
  }
  round_digits(decimal, precision);
  return decimal;
}

/// d.ddddde+xx with `precision` digits behind the point.
void append_scientific(std::string& out, const Decimal& decimal, unsigned precision) {
  const std::string& digits = decimal.digits;
  out += digits.back();
  out += '.';
  out.append(digits.rbegin() + 1, digits.rend());
  if (precision > digits.size() - 1) out.append(precision - digits.size() + 1, '0');
  const int exponent = decimal.exponent + static_cast<int>(digits.size()) - 1;
  out += exponent < 0 ? "e-" : "e+";
  const std::string magnitude = std::to_string(exponent < 0 ? -exponent : exponent);
  if (magnitude.size() < 2) out += '0';
  out += magnitude;
}

/// The exact-enough form: scientific with a capital E only for numbers far from 1, no zeros at the end.
void append_general(std::string& out, const Decimal& decimal, unsigned precision) {
  constexpr int kMaxPadding = 3;
  const std::string& digits = decimal.digits;
  const int count = static_cast<int>(digits.size());
  const int top = decimal.exponent + count - 1;
  const bool scientific = decimal.exponent >= 0
                              ? decimal.exponent > kMaxPadding || count + decimal.exponent > static_cast<int>(precision)
                              : top < 0 && -top > kMaxPadding;
  if (scientific) {
    out += digits.back();
    out += '.';
    if (count == 1) out += '0';
    out.append(digits.rbegin() + 1, digits.rend());
    out += top < 0 ? "E-" : "E+";
    out += std::to_string(top < 0 ? -top : top);
    return;
  }
  if (decimal.exponent >= 0) {
    out.append(digits.rbegin(), digits.rend());
    out.append(static_cast<std::size_t>(decimal.exponent), '0');
    return;
  }
  if (top >= 0) {
    out.append(digits.rbegin(), digits.rbegin() + top + 1);
    out += '.';
    out.append(digits.rbegin() + top + 1, digits.rend());
    return;
  }
  out += "0.";
  out.append(static_cast<std::size_t>(-top - 1), '0');
  out.append(digits.rbegin(), digits.rend());
}

void append_hexadecimal(std::string& out, std::uint64_t bits) {
  char buffer[16];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), bits, 16).ptr;
  std::transform(buffer, end, buffer, [](char c) { return c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c; });
  out += "0x";
  out.append(buffer, end);
}

template <class Float, class Bits>
bool leads_back(std::string_view text, std::uint64_t bits) {
  Float value = 0;
  // A number below the smallest is no error here: it just differs.
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::bit_cast<Bits>(value) == static_cast<Bits>(bits);
}

/// Whether reading the text gives the same bits. Six digits tell all values of the narrower formats apart.
bool reads_back(ElementType type, std::string_view text, std::uint64_t bits) {
  if (type == ElementType::f32) return leads_back<float, std::uint32_t>(text, bits);
  if (type == ElementType::f64) return leads_back<double, std::uint64_t>(text, bits);
  return true;
}

}  // namespace

bool append_float(std::string& out, ElementType type, std::uint64_t bits) {
  constexpr unsigned kShortPrecision = 6;
  const Format& format = format_of(type);
  const Number number = decode(format, bits);
  if (number.category == Category::infinite || number.category == Category::nan) {
    append_hexadecimal(out, bits);
    return true;
  }
  const std::size_t start = out.size();
  if (number.negative) out += '-';
  if (number.category == Category::zero) {
    out += "0.000000e+00";
    return false;
  }
  append_scientific(out, to_decimal(number, kShortPrecision), kShortPrecision);
  if (reads_back(type, std::string_view(out).substr(start), bits)) return false;
  out.resize(start);
  if (number.negative) out += '-';
  const unsigned precision = 2 + static_cast<unsigned>(format.fraction_bits + 1) * 59 / 196;
  append_general(out, to_decimal(number, precision), precision);
  if (out.find('.', start) != std::string::npos) return false;
  out.resize(start);
  append_hexadecimal(out, bits);
  return true;
}

bool is_nan(ElementType type, std::uint64_t bits) noexcept {
  return decode(format_of(type), bits).category == Category::nan;
}

std::optional<std::uint64_t> exact_unsigned(ElementType type, std::uint64_t bits) noexcept {
  const Number number = decode(format_of(type), bits);
  if (number.category == Category::zero) return number.negative ? std::nullopt : std::optional<std::uint64_t>(0);
  if (number.category != Category::finite || number.negative) return std::nullopt;
  const int zeros = std::countr_zero(number.significand);
  const std::uint64_t odd = number.significand >> zeros;
  const int exponent = number.exponent + zeros;
  if (exponent < 0 || exponent + std::bit_width(odd) > 64) return std::nullopt;
  return odd << exponent;
}

}  // namespace tilegym::tile_ir
