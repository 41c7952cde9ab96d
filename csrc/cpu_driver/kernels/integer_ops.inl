// Integer arithmetic: wraps around, never traps. T says whether operands are signed where that matters; the rest is
// computed unsigned, because signed overflow is undefined in C++.

TILEGYM_STRIP_OP(And, 2, (Vec<T> a, Vec<T> b) { return a & b; })
TILEGYM_STRIP_OP(Or, 2, (Vec<T> a, Vec<T> b) { return a | b; })
TILEGYM_STRIP_OP(Xor, 2, (Vec<T> a, Vec<T> b) { return a ^ b; })
TILEGYM_STRIP_OP(AndNot, 2, (Vec<T> a, Vec<T> b) { return a & ~b; })
TILEGYM_STRIP_OP(Zero, 2, (Vec<T>, Vec<T>) { return Vec<T>{}; })
TILEGYM_STRIP_OP(Same, 1, (Vec<T> a) { return a; })
TILEGYM_STRIP_OP(First, 2, (Vec<T> a, Vec<T>) { return a; })
TILEGYM_STRIP_OP(IntNeg, 1, (Vec<T> a) { return -a; })
TILEGYM_STRIP_OP(IntAbs, 1, (Vec<T> a) { return (Vec<Bits<T>>)a < 0 ? -a : a; })
TILEGYM_STRIP_OP(IntMin, 2, (Vec<T> a, Vec<T> b) { return a < b ? a : b; })
TILEGYM_STRIP_OP(IntMax, 2, (Vec<T> a, Vec<T> b) { return a > b ? a : b; })

template <class T>
inline constexpr T kWidth = static_cast<T>(sizeof(T) * 8);

/// The amount counts as unsigned; shifting by the width or more leaves zero.
TILEGYM_STRIP_OP(Shl, 2, (Vec<T> a, Vec<T> b) { return b < kWidth<T> ? a << (b & (kWidth<T> - 1)) : Vec<T>{}; })

/// Shifting by the width or more leaves zero, or the sign where T is signed.
TILEGYM_STRIP_OP(
    Shr, 2, (Vec<T> a, Vec<T> b) {
      using U = std::make_unsigned_t<T>;
      const auto amount = (Vec<U>)b < kWidth<U> ? b : broadcast(static_cast<T>(kWidth<T> - 1));
      const Vec<T> shifted = a >> amount;
      if constexpr (std::is_signed_v<T>) return shifted;
      return b < kWidth<T> ? shifted : Vec<T>{};
    })

/// Rounds towards zero. Division by zero gives 0; the smallest value divided by -1 wraps to itself.
template <class T>
constexpr T quotient(T x, T y) noexcept {
  if (y == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (y == -1) return static_cast<T>(std::make_unsigned_t<T>{0} - static_cast<std::make_unsigned_t<T>>(x));
  }
  return static_cast<T>(x / y);
}

/// Sign of the dividend; 0 for division by zero.
template <class T>
constexpr T remainder(T x, T y) noexcept {
  if (y == 0 || (std::is_signed_v<T> && y == static_cast<T>(-1))) return 0;
  return static_cast<T>(x % y);
}

template <class T>
constexpr T floor_quotient(T x, T y) noexcept {
  return static_cast<T>(quotient(x, y) - (remainder(x, y) != 0 && (x < 0) != (y < 0)));
}

template <class T>
constexpr T ceil_quotient(T x, T y) noexcept {
  return static_cast<T>(quotient(x, y) + (remainder(x, y) != 0 && (x < 0) == (y < 0)));
}

/// Upper half of the product of unsigned values.
template <class T>
constexpr T high_product(T x, T y) noexcept {
  __extension__ using Wide = unsigned __int128;
  return static_cast<T>((static_cast<Wide>(x) * y) >> (sizeof(T) * 8));
}

template <class T>
StripFn integer_division(const StripKey& key) noexcept {
  switch (key.rounding) {
    case Rounding::negative_inf:
      return by_scalars<PerLane2<T, floor_quotient<T>>>(key);
    case Rounding::positive_inf:
      return by_scalars<PerLane2<T, ceil_quotient<T>>>(key);
    default:
      return by_scalars<PerLane2<T, quotient<T>>>(key);
  }
}
