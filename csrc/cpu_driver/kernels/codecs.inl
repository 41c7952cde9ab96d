// Element formats that are narrower in memory than in a lane: a vector of lanes from and to kCount<float> codes.

struct F16Codec {
  using Code = std::uint16_t;
  TILEGYM_INLINE static Vec<float> widen(const Code* from) { return widen_f16(from); }
  TILEGYM_INLINE static void narrow(Code* to, Vec<float> v) { narrow_f16(to, v); }
};

struct Bf16Codec {
  using Code = std::uint16_t;
  TILEGYM_INLINE static Vec<float> widen(const Code* from) { return as_float(widen_u16(from) << 16); }
  /// Nearest even on the bit pattern; a NaN is made quiet, so that dropping bits cannot turn it into infinity.
  TILEGYM_INLINE static void narrow(Code* to, Vec<float> v) {
    const Vec<std::int32_t> bits = bits_of(v);
    const Vec<std::int32_t> rounded = v == v ? add_bits(bits, ((bits >> 16) & 1) + 0x7fff) : bits | 0x400000;
    narrow_u16(to, (Vec<std::int32_t>)((Vec<std::uint32_t>)rounded >> 16));
  }
};

template <class Format>
struct ByteCodec {
  using Code = std::uint8_t;
  TILEGYM_INLINE static Vec<float> widen(const Code* from) { return decode<Format>(widen_u8(from)); }
  TILEGYM_INLINE static void narrow(Code* to, Vec<float> v) {
    narrow_u8(to, encode<Format>(round_to<Format, Rounding::nearest_even>(v)));
  }
};

/// Powers of two: the exponent field of f32.
struct E8M0Codec {
  using Code = std::uint8_t;
  TILEGYM_INLINE static Vec<float> widen(const Code* from) {
    const Vec<std::int32_t> code = widen_u8(from);
    const Vec<std::int32_t> bits = code == 0 ? splat(kSmallestPowerBits) : code << 23;
    return as_float(code == 255 ? splat(0x7fc00000) : bits);
  }
  TILEGYM_INLINE static void narrow(Code* to, Vec<float> v) {
    narrow_u8(to, bits_of(round_to_power<Rounding::nearest_even>(v)) >> 23);
  }
};
