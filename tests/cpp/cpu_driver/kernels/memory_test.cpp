#include "cpu_driver/kernels/narrow_formats.h"

namespace tilegym::cpu::testing {
namespace {

using Memory = KernelTest;
TILEGYM_AT_EVERY_LEVEL(Memory);

/// Codes as they lie in memory, 16 bits or one byte each.
template <class Code>
std::vector<Code> all_codes() {
  std::vector<Code> codes(std::size_t{1} << (sizeof(Code) * 8));
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<Code>(i);
  return codes;
}

/// Calls `visit(begin, lanes)` for strips of every length in turn, so that the tails differ.
template <class Visit>
void in_strips(std::size_t count, Visit visit) {
  std::size_t length = 1;
  for (std::size_t begin = 0; begin < count; length = length % kStripLanes + 1) {
    const std::size_t lanes = std::min(length, count - begin);
    visit(begin, lanes);
    begin += lanes;
  }
}

template <class Code>
void expect_codes(const Format& format) {
  const auto codes = all_codes<Code>();
  in_strips(codes.size(), [&](std::size_t begin, std::size_t lanes) {
    const auto memory = make_memory(std::vector<Code>(codes.begin() + begin, codes.begin() + begin + lanes));
    const auto values = make_register<float>({}, lanes);
    find_load(format.element)(values.get(), memory.get(), lanes);
    const auto back = make_memory(std::vector<Code>(lanes, 0));
    find_store(format.element)(back.get(), values.get(), lanes);
    for (std::size_t i = 0; i < lanes; ++i) {
      const double wanted = format.decode(codes[begin + i]);
      ASSERT_TRUE(same(values[i], static_cast<float>(wanted))) << codes[begin + i];
      if (!std::isnan(wanted))
        ASSERT_EQ(back[i], codes[begin + i]);
      else
        ASSERT_TRUE(std::isnan(format.decode(back[i])));
    }
  });
}

TEST_P(Memory, EveryCodeOfANarrowFormatLoadsAndStoresExactly) {
  for (const Format& format : kFormats) {
    if (format.bits == 16) expect_codes<std::uint16_t>(format);
    if (format.bits == 8) expect_codes<std::uint8_t>(format);
  }
}

template <class Code>
void expect_store_rounds(const Format& format) {
  const Rounder rounder(format);
  const auto values = rounding_inputs(format);
  in_strips(values.size(), [&](std::size_t begin, std::size_t lanes) {
    const auto strip = make_register(std::vector<float>(values.begin() + begin, values.begin() + begin + lanes), lanes);
    const auto memory = make_memory(std::vector<Code>(lanes, 0));
    find_store(format.element)(memory.get(), strip.get(), lanes);
    for (std::size_t i = 0; i < lanes; ++i) {
      const double wanted = rounder.round(strip[i], Rounding::nearest_even);
      ASSERT_TRUE(same(format.decode(memory[i]), wanted)) << std::hexfloat << strip[i];
    }
  });
}

TEST_P(Memory, StoreRoundsToNearestEvenAndKeepsNan) {
  for (const Format& format : kFormats) {
    if (format.bits == 16) expect_store_rounds<std::uint16_t>(format);
    if (format.bits == 8) expect_store_rounds<std::uint8_t>(format);
  }
}

template <class T>
void expect_verbatim(ElementType element) {
  for (std::size_t lanes = 1; lanes <= kStripLanes; ++lanes) {
    const auto memory = make_memory(random_values<T>(lanes, static_cast<unsigned>(lanes)));
    const auto strip = make_register<T>({}, lanes);
    find_load(element)(strip.get(), memory.get(), lanes);
    const auto back = make_memory(std::vector<T>(lanes));
    find_store(element)(back.get(), strip.get(), lanes);
    ASSERT_EQ(std::memcmp(back.get(), memory.get(), lanes * sizeof(T)), 0) << lanes;
    ASSERT_EQ(std::memcmp(strip.get(), memory.get(), lanes * sizeof(T)), 0) << lanes;
  }
}

TEST_P(Memory, OtherTypesPassUnchangedAtEveryLength) {
  expect_verbatim<float>(ElementType::f32);
  expect_verbatim<float>(ElementType::tf32);
  expect_verbatim<double>(ElementType::f64);
  expect_verbatim<std::int8_t>(ElementType::i8);
  expect_verbatim<std::int16_t>(ElementType::i16);
  expect_verbatim<std::int32_t>(ElementType::i32);
  expect_verbatim<std::int64_t>(ElementType::i64);
}

TEST_P(Memory, AnyByteButZeroIsTrue) {
  const std::uint8_t bytes[] = {0, 1, 2, 255};
  const auto mask = make_register<std::uint8_t>({}, 4);
  find_load(ElementType::i1)(mask.get(), bytes, 4);
  EXPECT_EQ(std::vector<std::uint8_t>(mask.get(), mask.get() + 4), (std::vector<std::uint8_t>{0, 1, 1, 1}));
}

TEST_P(Memory, E8M0HoldsPowersOfTwo) {
  const auto codes = all_codes<std::uint8_t>();
  const auto values = make_register<float>({}, kStripLanes);
  find_load(ElementType::f8e8m0fnu)(values.get(), codes.data(), kStripLanes);
  std::vector<std::uint8_t> back(kStripLanes);
  find_store(ElementType::f8e8m0fnu)(back.data(), values.get(), kStripLanes);
  for (int code = 0; code < 255; ++code) ASSERT_EQ(values[code], std::ldexp(1.0F, code - 127));
  EXPECT_TRUE(std::isnan(values[255]));
  EXPECT_EQ(back, codes);
}

TEST_P(Memory, FourBitElementsArePackedLowHalfFirst) {
  const std::uint8_t bytes[] = {0x31, 0xf8};
  const auto floats = make_register<float>({}, 4);
  find_load(ElementType::f4e2m1fn)(floats.get(), bytes, 4);
  EXPECT_EQ(std::vector<float>(floats.get(), floats.get() + 4), (std::vector<float>{0.5F, 1.5F, -0.0F, -6}));
  const auto integers = make_register<std::int8_t>({}, 4);
  find_load(ElementType::i4)(integers.get(), bytes, 4);
  EXPECT_EQ(std::vector<std::int8_t>(integers.get(), integers.get() + 4), (std::vector<std::int8_t>{1, 3, -8, -1}));
  const auto back = make_memory(std::vector<std::uint8_t>{0xaa, 0xaa});
  find_store(ElementType::i4)(back.get(), integers.get(), 3);
  EXPECT_EQ(back[0], 0x31);
  EXPECT_EQ(back[1], 0xa8);
}

}  // namespace
}  // namespace tilegym::cpu::testing
