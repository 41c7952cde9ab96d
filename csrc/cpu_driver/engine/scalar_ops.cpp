#include "cpu_driver/engine/scalar_ops.h"

#include <limits>
#include <type_traits>

namespace tilegym::cpu {
namespace {

using tile_ir::Predicate;
using tile_ir::Rounding;
using tile_ir::Signedness;

/// i1: one bit, 0 or 1.
struct Bit {};

template <class T>
struct Width {
  using Signed = T;
  using Unsigned = std::make_unsigned_t<T>;
};
template <>
struct Width<Bit> {
  using Signed = std::uint8_t;
  using Unsigned = std::uint8_t;
};

template <class T>
std::int64_t wrap(std::uint64_t value) noexcept {
  if constexpr (std::is_same_v<T, Bit>) return static_cast<std::int64_t>(value & 1);
  return static_cast<typename Width<T>::Signed>(value);
}
template <class T>
std::uint64_t zero_extend(std::int64_t value) noexcept {
  return static_cast<typename Width<T>::Unsigned>(value);
}
template <class T>
constexpr std::uint64_t kBits = std::is_same_v<T, Bit> ? 1 : 8 * sizeof(typename Width<T>::Unsigned);

#define TILEGYM_SCALAR(name, expression)                                              \
  template <class T>                                                                  \
  std::int64_t name([[maybe_unused]] std::int64_t a, [[maybe_unused]] std::int64_t b, \
                    [[maybe_unused]] std::int64_t c) noexcept {                       \
    [[maybe_unused]] const auto x = static_cast<std::uint64_t>(a);                    \
    [[maybe_unused]] const auto y = static_cast<std::uint64_t>(b);                    \
    return wrap<T>(expression);                                                       \
  }

TILEGYM_SCALAR(add, x + y)
TILEGYM_SCALAR(sub, x - y)
TILEGYM_SCALAR(mul, x* y)
TILEGYM_SCALAR(neg, std::uint64_t{0} - x)
TILEGYM_SCALAR(absolute, a < 0 ? std::uint64_t{0} - x : x)
TILEGYM_SCALAR(bit_and, x& y)
TILEGYM_SCALAR(bit_or, x | y)
TILEGYM_SCALAR(bit_xor, x ^ y)
TILEGYM_SCALAR(copy, x)
TILEGYM_SCALAR(choose, a != 0 ? y : static_cast<std::uint64_t>(c))
TILEGYM_SCALAR(min_signed, a < b ? x : y)
TILEGYM_SCALAR(max_signed, a > b ? x : y)
TILEGYM_SCALAR(min_unsigned, zero_extend<T>(a) < zero_extend<T>(b) ? x : y)
TILEGYM_SCALAR(max_unsigned, zero_extend<T>(a) > zero_extend<T>(b) ? x : y)
TILEGYM_SCALAR(shift_left, zero_extend<T>(b) < kBits<T> ? x << zero_extend<T>(b) : 0)
TILEGYM_SCALAR(shift_right_unsigned, zero_extend<T>(b) < kBits<T> ? zero_extend<T>(a) >> zero_extend<T>(b) : 0)
TILEGYM_SCALAR(shift_right_signed,
               static_cast<std::uint64_t>(a >> (zero_extend<T>(b) < kBits<T> ? zero_extend<T>(b) : kBits<T> - 1)))
TILEGYM_SCALAR(div_unsigned, y == 0 ? 0 : zero_extend<T>(a) / zero_extend<T>(b))
TILEGYM_SCALAR(div_unsigned_up,
               y == 0 ? 0
                      : zero_extend<T>(a) / zero_extend<T>(b) + (zero_extend<T>(a) % zero_extend<T>(b) != 0 ? 1 : 0))
TILEGYM_SCALAR(rem_unsigned, y == 0 ? 0 : zero_extend<T>(a) % zero_extend<T>(b))
// -1 apart: the smallest value divided by it traps.
TILEGYM_SCALAR(div_signed, b == 0 ? 0 : b == -1 ? std::uint64_t{0} - x : static_cast<std::uint64_t>(a / b))
TILEGYM_SCALAR(rem_signed, b == 0 || b == -1 ? 0 : static_cast<std::uint64_t>(a % b))
TILEGYM_SCALAR(mulhi_unsigned,
               static_cast<std::uint64_t>((static_cast<unsigned __int128>(zero_extend<T>(a)) * zero_extend<T>(b)) >>
                                          kBits<T>))
#undef TILEGYM_SCALAR

template <class T>
std::int64_t div_floor(std::int64_t a, std::int64_t b, std::int64_t c) noexcept {
  const std::int64_t quotient = div_signed<T>(a, b, c);
  const bool inexact = rem_signed<T>(a, b, c) != 0;
  return quotient - (inexact && ((a < 0) != (b < 0)) ? 1 : 0);
}
template <class T>
std::int64_t div_ceil(std::int64_t a, std::int64_t b, std::int64_t c) noexcept {
  const std::int64_t quotient = div_signed<T>(a, b, c);
  const bool inexact = rem_signed<T>(a, b, c) != 0;
  return quotient + (inexact && ((a < 0) == (b < 0)) ? 1 : 0);
}

template <class T, Predicate kPredicate, bool kSigned>
std::int64_t compare(std::int64_t a, std::int64_t b, std::int64_t) noexcept {
  const auto decide = [](auto x, auto y) {
    switch (kPredicate) {
      case Predicate::equal:
        return x == y;
      case Predicate::not_equal:
        return x != y;
      case Predicate::less:
        return x < y;
      case Predicate::less_equal:
        return x <= y;
      case Predicate::greater:
        return x > y;
      case Predicate::greater_equal:
        return x >= y;
    }
    return false;
  };
  return (kSigned ? decide(a, b) : decide(zero_extend<T>(a), zero_extend<T>(b))) ? 1 : 0;
}

template <class T, bool kSigned>
ScalarFn find_compare(Predicate predicate) noexcept {
  switch (predicate) {
    case Predicate::equal:
      return compare<T, Predicate::equal, kSigned>;
    case Predicate::not_equal:
      return compare<T, Predicate::not_equal, kSigned>;
    case Predicate::less:
      return compare<T, Predicate::less, kSigned>;
    case Predicate::less_equal:
      return compare<T, Predicate::less_equal, kSigned>;
    case Predicate::greater:
      return compare<T, Predicate::greater, kSigned>;
    case Predicate::greater_equal:
      return compare<T, Predicate::greater_equal, kSigned>;
  }
  return nullptr;
}

template <class T>
ScalarFn find_division(const StripKey& key, bool is_signed) noexcept {
  if (!is_signed) return key.rounding == Rounding::positive_inf ? div_unsigned_up<T> : div_unsigned<T>;
  if (key.rounding == Rounding::negative_inf) return div_floor<T>;
  return key.rounding == Rounding::positive_inf ? div_ceil<T> : div_signed<T>;
}

/// convert: T is the source; the result is wrapped to the target by a second table.
template <class From, class To>
std::int64_t convert_signed(std::int64_t a, std::int64_t, std::int64_t) noexcept {
  if constexpr (std::is_same_v<From, Bit>) return wrap<To>(a != 0 ? ~std::uint64_t{0} : 0);
  return wrap<To>(static_cast<std::uint64_t>(a));
}
template <class From, class To>
std::int64_t convert_unsigned(std::int64_t a, std::int64_t, std::int64_t) noexcept {
  return wrap<To>(zero_extend<From>(a));
}

template <class From>
ScalarFn find_conversion(Lane to, bool is_signed) noexcept {
  switch (to) {
    case Lane::mask:
      return is_signed ? convert_signed<From, Bit> : convert_unsigned<From, Bit>;
    case Lane::i8:
      return is_signed ? convert_signed<From, std::int8_t> : convert_unsigned<From, std::int8_t>;
    case Lane::i16:
      return is_signed ? convert_signed<From, std::int16_t> : convert_unsigned<From, std::int16_t>;
    case Lane::i32:
      return is_signed ? convert_signed<From, std::int32_t> : convert_unsigned<From, std::int32_t>;
    case Lane::i64:
      return is_signed ? convert_signed<From, std::int64_t> : convert_unsigned<From, std::int64_t>;
    default:
      return nullptr;
  }
}

ScalarFn find_conversion(const StripKey& key, bool is_signed) noexcept {
  switch (key.from) {
    case Lane::mask:
      return find_conversion<Bit>(key.lane, is_signed);
    case Lane::i8:
      return find_conversion<std::int8_t>(key.lane, is_signed);
    case Lane::i16:
      return find_conversion<std::int16_t>(key.lane, is_signed);
    case Lane::i32:
      return find_conversion<std::int32_t>(key.lane, is_signed);
    case Lane::i64:
      return find_conversion<std::int64_t>(key.lane, is_signed);
    default:
      return nullptr;
  }
}

template <class T>
ScalarFn find_typed(const StripKey& key) noexcept {
  const bool is_signed = key.signedness == Signedness::signed_;
  switch (key.op) {
    case StripOp::add:
      return add<T>;
    case StripOp::sub:
      return sub<T>;
    case StripOp::mul:
      return mul<T>;
    case StripOp::mulhi:
      return mulhi_unsigned<T>;
    case StripOp::div:
      return find_division<T>(key, is_signed);
    case StripOp::rem:
      return is_signed ? rem_signed<T> : rem_unsigned<T>;
    case StripOp::neg:
      return neg<T>;
    case StripOp::abs:
      return absolute<T>;
    case StripOp::min:
      return is_signed ? min_signed<T> : min_unsigned<T>;
    case StripOp::max:
      return is_signed ? max_signed<T> : max_unsigned<T>;
    case StripOp::and_:
      return bit_and<T>;
    case StripOp::or_:
      return bit_or<T>;
    case StripOp::xor_:
      return bit_xor<T>;
    case StripOp::shl:
      return shift_left<T>;
    case StripOp::shr:
      return is_signed ? shift_right_signed<T> : shift_right_unsigned<T>;
    case StripOp::compare:
      return is_signed ? find_compare<T, true>(key.predicate) : find_compare<T, false>(key.predicate);
    case StripOp::select:
      return choose<T>;
    case StripOp::copy:
      return copy<T>;
    default:
      return nullptr;
  }
}

}  // namespace

ScalarFn find_scalar(const StripKey& key) noexcept {
  if (key.op == StripOp::convert) return find_conversion(key, key.signedness == Signedness::signed_);
  switch (key.lane) {
    case Lane::mask:
      return find_typed<Bit>(key);
    case Lane::i8:
      return find_typed<std::int8_t>(key);
    case Lane::i16:
      return find_typed<std::int16_t>(key);
    case Lane::i32:
      return find_typed<std::int32_t>(key);
    case Lane::i64:
      return find_typed<std::int64_t>(key);
    default:
      return nullptr;
  }
}

std::int64_t scalar_add(std::int64_t a, std::int64_t b, std::int64_t c) noexcept {
  return add<std::int64_t>(a, b, c);
}
std::int64_t scalar_sub(std::int64_t a, std::int64_t b, std::int64_t c) noexcept {
  return sub<std::int64_t>(a, b, c);
}
std::int64_t scalar_mul(std::int64_t a, std::int64_t b, std::int64_t c) noexcept {
  return mul<std::int64_t>(a, b, c);
}
std::int64_t scalar_and(std::int64_t a, std::int64_t b, std::int64_t) noexcept {
  return a & b;
}
std::int64_t scalar_capped_mul(std::int64_t a, std::int64_t b, std::int64_t) noexcept {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  std::int64_t product = 0;
  if (a < 0 || __builtin_mul_overflow(a, b, &product)) return kMost;
  return product < kMost ? product : kMost;
}
std::int64_t scalar_ceil_div(std::int64_t a, std::int64_t b, std::int64_t) noexcept {
  return b == 0 ? 0 : a / b + (a % b != 0 ? 1 : 0);
}
std::int64_t scalar_copy(std::int64_t a, std::int64_t, std::int64_t) noexcept {
  return a;
}

}  // namespace tilegym::cpu
