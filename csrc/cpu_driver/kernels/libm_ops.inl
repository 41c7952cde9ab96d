// Functions without vector code of ours: the C library's.

constexpr void add_libm_rows(Table& table) {
  using enum StripOp;
  table.set(tan, Lane::f32, by_scalars<PerLane1<float, ::tanf>>);
  table.set(sinh, Lane::f32, by_scalars<PerLane1<float, ::sinhf>>);
  table.set(cosh, Lane::f32, by_scalars<PerLane1<float, ::coshf>>);
  table.set(pow, Lane::f32, by_scalars<PerLane2<float, ::powf>>);
  table.set(atan2, Lane::f32, by_scalars<PerLane2<float, ::atan2f>>);
  table.set(rem, Lane::f32, by_scalars<PerLane2<float, ::fmodf>>);
  table.set(exp, Lane::f64, by_scalars<PerLane1<double, ::exp>>);
  table.set(exp2, Lane::f64, by_scalars<PerLane1<double, ::exp2>>);
  table.set(log, Lane::f64, by_scalars<PerLane1<double, ::log>>);
  table.set(log2, Lane::f64, by_scalars<PerLane1<double, ::log2>>);
  table.set(tanh, Lane::f64, by_scalars<PerLane1<double, ::tanh>>);
  table.set(sin, Lane::f64, by_scalars<PerLane1<double, ::sin>>);
  table.set(cos, Lane::f64, by_scalars<PerLane1<double, ::cos>>);
  table.set(tan, Lane::f64, by_scalars<PerLane1<double, ::tan>>);
  table.set(sinh, Lane::f64, by_scalars<PerLane1<double, ::sinh>>);
  table.set(cosh, Lane::f64, by_scalars<PerLane1<double, ::cosh>>);
  table.set(pow, Lane::f64, by_scalars<PerLane2<double, ::pow>>);
  table.set(atan2, Lane::f64, by_scalars<PerLane2<double, ::atan2>>);
  table.set(rem, Lane::f64, by_scalars<PerLane2<double, ::fmod>>);
}
