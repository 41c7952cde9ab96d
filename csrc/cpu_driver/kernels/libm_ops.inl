// Functions without vector code of ours: the C library's, in the next wider type where its own are more than a unit
// off.

template <class T, class Wide, Wide (*kFunction)(Wide) noexcept>
T narrowed(T x) noexcept {
  return static_cast<T>(kFunction(static_cast<Wide>(x)));
}
template <class T, class Wide, Wide (*kFunction)(Wide, Wide) noexcept>
T narrowed(T x, T y) noexcept {
  return static_cast<T>(kFunction(static_cast<Wide>(x), static_cast<Wide>(y)));
}

constexpr void add_libm_rows(Table& table) {
  using enum StripOp;
  table.set(tan, Lane::f32, by_scalars<PerLane1<float, narrowed<float, double, ::tan>>>);
  table.set(sinh, Lane::f32, by_scalars<PerLane1<float, narrowed<float, double, ::sinh>>>);
  table.set(cosh, Lane::f32, by_scalars<PerLane1<float, narrowed<float, double, ::cosh>>>);
  table.set(pow, Lane::f32, by_scalars<PerLane2<float, ::powf>>);
  table.set(atan2, Lane::f32, by_scalars<PerLane2<float, narrowed<float, double, ::atan2>>>);
  table.set(rem, Lane::f32, by_scalars<PerLane2<float, ::fmodf>>);
  table.set(exp, Lane::f64, by_scalars<PerLane1<double, ::exp>>);
  table.set(exp2, Lane::f64, by_scalars<PerLane1<double, ::exp2>>);
  table.set(log, Lane::f64, by_scalars<PerLane1<double, ::log>>);
  table.set(log2, Lane::f64, by_scalars<PerLane1<double, ::log2>>);
  table.set(tanh, Lane::f64, by_scalars<PerLane1<double, narrowed<double, long double, ::tanhl>>>);
  table.set(sin, Lane::f64, by_scalars<PerLane1<double, ::sin>>);
  table.set(cos, Lane::f64, by_scalars<PerLane1<double, ::cos>>);
  table.set(tan, Lane::f64, by_scalars<PerLane1<double, ::tan>>);
  table.set(sinh, Lane::f64, by_scalars<PerLane1<double, narrowed<double, long double, ::sinhl>>>);
  table.set(cosh, Lane::f64, by_scalars<PerLane1<double, narrowed<double, long double, ::coshl>>>);
  table.set(pow, Lane::f64, by_scalars<PerLane2<double, ::pow>>);
  table.set(atan2, Lane::f64, by_scalars<PerLane2<double, ::atan2>>);
  table.set(rem, Lane::f64, by_scalars<PerLane2<double, ::fmod>>);
}
