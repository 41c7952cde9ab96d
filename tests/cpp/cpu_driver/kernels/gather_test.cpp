#include "cpu_driver/kernels/support.h"

namespace tilegym::cpu::testing {
namespace {

using Gather = KernelTest;
TILEGYM_AT_EVERY_LEVEL(Gather);

template <class T>
std::vector<std::int64_t> addresses_of(const T* base, const std::vector<int>& elements) {
  std::vector<std::int64_t> addresses;
  for (const int element : elements) addresses.push_back(reinterpret_cast<std::int64_t>(base + element));
  return addresses;
}

TEST_P(Gather, ReadsEachAddressAndWidens) {
  const std::uint16_t memory[] = {0x3c00, 0x4000, 0xc200};  // 1, 2, -3 as f16
  const auto addresses = addresses_of(memory, {2, 0, 1, 2});
  const auto out = make_register<float>({}, 4);
  find_gather(ElementType::f16)(out.get(), addresses.data(), nullptr, nullptr, 4);
  EXPECT_EQ(std::vector<float>(out.get(), out.get() + 4), (std::vector<float>{-3, 1, 2, -3}));
}

TEST_P(Gather, MaskedLanesAreNotReadAndTakeThePadding) {
  const std::int32_t memory[] = {10, 20};
  auto addresses = addresses_of(memory, {1, 0, 0});
  addresses[1] = 8;
  const std::uint8_t mask[] = {1, 0, 1};
  const std::int32_t padding = -7;
  const auto out = make_register<std::int32_t>({}, 3);
  const GatherFn gather = find_gather(ElementType::i32);
  gather(out.get(), addresses.data(), mask, &padding, 3);
  EXPECT_EQ(std::vector<std::int32_t>(out.get(), out.get() + 3), (std::vector<std::int32_t>{20, -7, 10}));
  gather(out.get(), addresses.data(), mask, nullptr, 3);
  EXPECT_EQ(out[1], 0);
}

TEST_P(Gather, ScatterWritesOnlyMaskedLanesAndTheLastOfEqualAddresses) {
  std::uint16_t memory[] = {0x1111, 0x2222, 0x3333};
  const auto addresses = addresses_of(memory, {0, 2, 2, 1});
  const auto values = make_register(std::vector<float>{1, 2, 3, 4}, 4);
  const std::uint8_t mask[] = {1, 1, 1, 0};
  find_scatter(ElementType::bf16)(addresses.data(), values.get(), mask, 4);
  EXPECT_EQ(memory[0], 0x3f80);
  EXPECT_EQ(memory[1], 0x2222);
  EXPECT_EQ(memory[2], 0x4040);
}

TEST_P(Gather, AddressesOfFourBitElementsCountHalfBytes) {
  std::uint8_t memory[] = {0x21, 0x43};
  const auto half = [&](int i) { return static_cast<std::int64_t>(2 * reinterpret_cast<std::uintptr_t>(memory)) + i; };
  const std::int64_t addresses[] = {half(3), half(0), half(2)};
  const auto lanes = make_register(std::vector<float>(3), 3);
  find_gather(ElementType::f4e2m1fn)(lanes.get(), addresses, nullptr, nullptr, 3);
  EXPECT_EQ(lanes.get()[0], 2.0F);
  EXPECT_EQ(lanes.get()[1], 0.5F);
  EXPECT_EQ(lanes.get()[2], 1.5F);
  const std::uint8_t mask[] = {1, 0, 0};
  find_scatter(ElementType::f4e2m1fn)(addresses, make_register(std::vector<float>{-6, 1, 1}, 3).get(), mask, 3);
  EXPECT_EQ(memory[0], 0x21);
  EXPECT_EQ(memory[1], 0xf3);
}

}  // namespace
}  // namespace tilegym::cpu::testing
