// The table of strip kernels: one row per operation, one column per lane, filled by type families.

/// One of two resolvers by the signedness of the key.
template <StripFn (*kSigned)(const StripKey&) noexcept, StripFn (*kUnsigned)(const StripKey&) noexcept>
StripFn by_signedness(const StripKey& key) noexcept {
  return key.signedness == Signedness::signed_ ? kSigned(key) : kUnsigned(key);
}

template <class T, Predicate kPredicate, bool kOrdered, std::size_t... kScalars>
StripFn pick_compare(unsigned scalars, std::index_sequence<kScalars...>) noexcept {
  constexpr StripFn kKernels[] = {compare_strip<T, kPredicate, kOrdered, kScalars>...};
  return kKernels[scalars % 4];
}

template <class T, bool kOrdered, std::size_t... kPredicates>
StripFn by_predicate(const StripKey& key, std::index_sequence<kPredicates...>) noexcept {
  constexpr StripFn (*kPick[])(unsigned, std::make_index_sequence<4>) noexcept = {
      pick_compare<T, static_cast<Predicate>(kPredicates), kOrdered>...};
  return kPick[static_cast<std::size_t>(key.predicate) % 6](key.scalar_operands, std::make_index_sequence<4>{});
}

template <class T>
StripFn comparison(const StripKey& key) noexcept {
  constexpr std::make_index_sequence<6> kPredicates;
  const bool ordered = !std::is_floating_point_v<T> || key.ordering == Ordering::ordered;
  return ordered ? by_predicate<T, true>(key, kPredicates)
                 : by_predicate<T, !std::is_floating_point_v<T>>(key, kPredicates);
}

template <class T, std::size_t... kScalars>
StripFn pick_select(unsigned scalars, std::index_sequence<kScalars...>) noexcept {
  constexpr StripFn kKernels[] = {select_strip<T, kScalars>...};
  return kKernels[scalars % 8];
}

template <class T>
StripFn selection(const StripKey& key) noexcept {
  return pick_select<T>(key.scalar_operands, std::make_index_sequence<8>{});
}

template <StripFn kKernel>
StripFn only(const StripKey&) noexcept {
  return kKernel;
}

template <class T>
constexpr void add_float_rows(Table& table, Lane lane) {
  using enum StripOp;
  table.set(add, lane, by_rounding<Add<T>>);
  table.set(sub, lane, by_rounding<Sub<T>>);
  table.set(mul, lane, by_rounding<Mul<T>>);
  table.set(div, lane, by_rounding<Div<T>>);
  table.set(fma, lane, by_rounding<Fma<T>>);
  table.set(sqrt, lane, by_rounding<Sqrt<T>>);
  table.set(rsqrt, lane, by_flush<Rsqrt<T>>);
  table.set(neg, lane, by_scalars<Neg<T>>);
  table.set(abs, lane, by_scalars<Abs<T>>);
  table.set(floor, lane, by_scalars<Floor<T>>);
  table.set(ceil, lane, by_scalars<Ceil<T>>);
  table.set(min, lane, extremum<T, false>);
  table.set(max, lane, extremum<T, true>);
}

/// f32 has vector code for the frequent functions; the rest, and f64, is the C library's, lane by lane.
constexpr void add_math_rows(Table& table) {
  using enum StripOp;
  table.set(exp, Lane::f32, by_flush<Exp>);
  table.set(exp2, Lane::f32, by_flush<Exp2>);
  table.set(log, Lane::f32, by_scalars<Log>);
  table.set(log2, Lane::f32, by_scalars<Log2>);
  table.set(tanh, Lane::f32, by_scalars<Tanh>);
  table.set(sin, Lane::f32, by_scalars<Circular<0, ::sinf>>);
  table.set(cos, Lane::f32, by_scalars<Circular<1, ::cosf>>);
  table.set(fma, Lane::f32, float_fma);
  table.set(round_to, Lane::f32, round_to_element);
}

template <class S, class U>
constexpr void add_integer_rows(Table& table, Lane lane) {
  using enum StripOp;
  table.set(add, lane, by_scalars<Add<U>>);
  table.set(sub, lane, by_scalars<Sub<U>>);
  table.set(mul, lane, by_scalars<Mul<U>>);
  table.set(mulhi, lane, by_scalars<PerLane2<U, high_product<U>>>);
  table.set(div, lane, by_signedness<integer_division<S>, integer_division<U>>);
  table.set(rem, lane, by_signedness<by_scalars<PerLane2<S, remainder<S>>>, by_scalars<PerLane2<U, remainder<U>>>>);
  table.set(neg, lane, by_scalars<IntNeg<U>>);
  table.set(abs, lane, by_scalars<IntAbs<U>>);
  table.set(min, lane, by_signedness<by_scalars<IntMin<S>>, by_scalars<IntMin<U>>>);
  table.set(max, lane, by_signedness<by_scalars<IntMax<S>>, by_scalars<IntMax<U>>>);
  table.set(shl, lane, by_scalars<Shl<U>>);
  table.set(shr, lane, by_signedness<by_scalars<Shr<S>>, by_scalars<Shr<U>>>);
  table.set(ramp, lane, only<ramp_strip<U>>);
}

/// i1: arithmetic modulo 2 on bytes 0 and 1. A signed 1 is -1, so minimum and maximum change places.
constexpr void add_mask_rows(Table& table) {
  using enum StripOp;
  using U = std::uint8_t;
  for (const StripOp op : {add, sub}) table.set(op, Lane::mask, by_scalars<Xor<U>>);
  for (const StripOp op : {mul, div}) table.set(op, Lane::mask, by_scalars<And<U>>);
  for (const StripOp op : {mulhi, rem}) table.set(op, Lane::mask, by_scalars<Zero<U>>);
  for (const StripOp op : {neg, abs}) table.set(op, Lane::mask, by_scalars<Same<U>>);
  table.set(min, Lane::mask, by_signedness<by_scalars<Or<U>>, by_scalars<And<U>>>);
  table.set(max, Lane::mask, by_signedness<by_scalars<And<U>>, by_scalars<Or<U>>>);
  table.set(shl, Lane::mask, by_scalars<AndNot<U>>);
  table.set(shr, Lane::mask, by_signedness<by_scalars<First<U>>, by_scalars<AndNot<U>>>);
}

template <class U>
constexpr void add_bitwise_rows(Table& table, Lane lane) {
  using enum StripOp;
  table.set(and_, lane, by_scalars<And<U>>);
  table.set(or_, lane, by_scalars<Or<U>>);
  table.set(xor_, lane, by_scalars<Xor<U>>);
}

/// Signed masks are 0 and -1: their order is the reverse of that of the bytes.
inline StripFn mask_comparison(const StripKey& key) noexcept {
  using enum Predicate;
  constexpr Predicate kReversed[] = {equal, not_equal, greater, greater_equal, less, less_equal};
  StripKey bytes = key;
  if (key.signedness == Signedness::signed_) bytes.predicate = kReversed[static_cast<std::size_t>(key.predicate) % 6];
  return comparison<std::uint8_t>(bytes);
}

/// What every lane has. T is the value type, U an unsigned type as wide.
template <Lane kLane, class T, class U>
constexpr void add_common_rows(Table& table) {
  using enum StripOp;
  constexpr bool kSignMatters = std::is_integral_v<T> && std::is_signed_v<T>;
  constexpr Resolver kCompare = kSignMatters ? by_signedness<comparison<T>, comparison<U>> : comparison<T>;
  table.set(compare, kLane, kLane == Lane::mask ? mask_comparison : kCompare);
  table.set(select, kLane, selection<U>);
  table.set(convert, kLane, conversion_to<kLane>);
  table.set(copy, kLane, by_scalars<Same<U>>);
}

template <Lane kLane, class S, class U>
constexpr void add_integer_lane(Table& table) {
  add_integer_rows<S, U>(table, kLane);
  add_bitwise_rows<U>(table, kLane);
  add_common_rows<kLane, S, U>(table);
}

constexpr Table make_table() {
  Table table;
  add_float_rows<float>(table, Lane::f32);
  add_float_rows<double>(table, Lane::f64);
  add_math_rows(table);
  add_libm_rows(table);
  add_common_rows<Lane::f32, float, std::uint32_t>(table);
  add_common_rows<Lane::f64, double, std::uint64_t>(table);
  add_integer_lane<Lane::i8, std::int8_t, std::uint8_t>(table);
  add_integer_lane<Lane::i16, std::int16_t, std::uint16_t>(table);
  add_integer_lane<Lane::i32, std::int32_t, std::uint32_t>(table);
  add_integer_lane<Lane::i64, std::int64_t, std::uint64_t>(table);
  add_mask_rows(table);
  add_bitwise_rows<std::uint8_t>(table, Lane::mask);
  add_common_rows<Lane::mask, std::uint8_t, std::uint8_t>(table);
  return table;
}

StripFn find_strip(const StripKey& key) noexcept {
  static constexpr Table kTable = make_table();
  const Resolver resolver = kTable.of[static_cast<std::size_t>(key.op)][static_cast<std::size_t>(key.lane)];
  return resolver != nullptr ? resolver(key) : nullptr;
}
