// Rounding to f16 by converting there and back, for levels that have the instructions; same bits as the generic code.
template <>
TILEGYM_INLINE Vec<float> round_to<F16, Rounding::nearest_even>(Vec<float> v) {
  return through_f16<_MM_FROUND_TO_NEAREST_INT>(v);
}
template <>
TILEGYM_INLINE Vec<float> round_to<F16, Rounding::zero>(Vec<float> v) {
  return through_f16<_MM_FROUND_TO_ZERO>(v);
}
template <>
TILEGYM_INLINE Vec<float> round_to<F16, Rounding::negative_inf>(Vec<float> v) {
  return through_f16<_MM_FROUND_TO_NEG_INF>(v);
}
template <>
TILEGYM_INLINE Vec<float> round_to<F16, Rounding::positive_inf>(Vec<float> v) {
  return through_f16<_MM_FROUND_TO_POS_INF>(v);
}
