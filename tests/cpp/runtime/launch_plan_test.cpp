#include "runtime/launch_plan.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/fakes.h"
#include "runtime/tensor_builder.h"

namespace tilegym::runtime {
namespace {

alignas(64) std::array<float, 256> memory;

StoredKey key_of(std::initializer_list<const dlpack::Tensor*> tensors) {
  CallKey key;
  for (const dlpack::Tensor* tensor : tensors) EXPECT_TRUE(key.add_tensor(*tensor));
  EXPECT_TRUE(key.finish());
  return {key.words().begin(), key.words().end()};
}

StoredKey key_of(const TensorBuilder& tensor) {
  return key_of({&tensor.get()});
}

TEST(CallKey, AddressesOfOneAlignmentAreAlike) {
  EXPECT_EQ(key_of(TensorBuilder(&memory[0], {2, 3}, {3, 1})), key_of(TensorBuilder(&memory[4], {2, 3}, {3, 1})));
}

TEST(CallKey, EverythingElseOfATensorTellsKeysApart) {
  const dlpack::Device far{dlpack::DeviceType::cuda, 0};
  const std::vector<StoredKey> keys{
      key_of(TensorBuilder(&memory[0], {2, 3}, {3, 1})),
      key_of(TensorBuilder(&memory[1], {2, 3}, {3, 1})),
      key_of(TensorBuilder(&memory[2], {2, 3}, {3, 1})),
      key_of(TensorBuilder(&memory[0], {3, 2}, {3, 1})),
      key_of(TensorBuilder(&memory[0], {2, 3}, {1, 2})),
      key_of(TensorBuilder(&memory[0], {6}, {1})),
      key_of(TensorBuilder(&memory[0], {2, 3}, {3, 1}, kInt64)),
      key_of(TensorBuilder(&memory[0], {2, 3}, {3, 1}, kUint8)),
      key_of(TensorBuilder(&memory[0], {2, 3}, {3, 1}, kFloat32, far)),
      key_of(TensorBuilder(&memory[0], {2, 3}, {3, 1}, kFloat32, {dlpack::DeviceType::cuda, 1}))};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(keys[i], keys[j]) << i << " and " << j;
  }
}

TEST(CallKey, DistanceCountsOnlyWhereMemoryIsShared) {
  const TensorBuilder first(&memory[0], {4, 8}, {16, 1});
  const TensorBuilder beside(&memory[8], {4, 8}, {16, 1});
  const TensorBuilder after(&memory[64], {4, 8}, {16, 1});
  const TensorBuilder far(&memory[128], {4, 8}, {16, 1});
  const auto pair = [&first](const TensorBuilder& other) { return key_of({&first.get(), &other.get()}); };
  EXPECT_EQ(pair(after), pair(far));
  EXPECT_NE(pair(beside), pair(after));
  EXPECT_NE(pair(first), pair(beside));
}

TEST(CallKey, WhatCannotBePlannedIsTold) {
  CallKey key;
  EXPECT_FALSE(key.add_tensor(TensorBuilder(nullptr, {2}, {1}).get()));
  EXPECT_FALSE(key.add_tensor(TensorBuilder(memory.data(), {1LL << 62, 4}, {1LL << 62, 1}).get()));
  EXPECT_FALSE(key.add_tensor(TensorBuilder(memory.data(), {2}, {1}).without_strides().get()));
  EXPECT_TRUE(key.add_tensor(TensorBuilder(nullptr, {0, 2}, {2, 1}).get()));
  bool fits = true;
  for (int i = 0; fits && i < 1000; ++i) fits = key.add(1, 2);
  EXPECT_FALSE(fits);
}

TEST(CallKey, LookUpNeedsNoCopy) {
  CallKey key;
  ASSERT_TRUE(key.add(3, 4) && key.finish());
  const StoredKey stored(key.words().begin(), key.words().end());
  EXPECT_EQ(KeyHash()(key.words()), KeyHash()(stored));
  EXPECT_TRUE(KeyEqual()(key.words(), stored));
}

/// What `echo` saw: the descriptor of x, then count, device and stream.
struct Echo {
  TensorDesc desc;
  std::array<std::int64_t, 3> rest;
};

std::optional<LaunchPlan> plan_echo(std::array<std::int64_t, 16>& out, const dlpack::Tensor& x,
                                    const dlpack::Tensor& origin) {
  const OpRow* op = load_fake()->find("echo").value();
  const TensorBuilder target(out.data(), {16}, {1}, kInt64);
  OpCall call(*op);
  EXPECT_TRUE(call.set_tensor(0, target.get()).ok() && call.set_tensor(1, x).ok() && call.set_integer(2, 9).ok());
  call.complete(1);
  const std::array<MemorySpan, 2> spans{*memory_of(origin), *memory_of(target.get())};
  return LaunchPlan::of(call, spans);
}

TEST(LaunchPlan, RunsAgainOnOtherMemory) {
  std::array<std::int64_t, 16> out{};
  std::array<std::int64_t, 16> other{};
  const TensorBuilder whole(&memory[0], {4, 8}, {8, 1});
  const TensorBuilder part(&memory[9], {3, 2}, {8, 1});
  const auto plan = plan_echo(out, part.get(), whole.get());
  ASSERT_TRUE(plan.has_value());
  const std::array<std::uint64_t, 2> addresses{reinterpret_cast<std::uintptr_t>(&memory[128]),
                                               reinterpret_cast<std::uintptr_t>(other.data())};
  ASSERT_EQ(plan->launch(addresses, 77), 0);
  Echo echo{};
  std::memcpy(static_cast<void*>(&echo), other.data(), sizeof(echo));
  EXPECT_EQ(echo.desc.ptr, reinterpret_cast<std::uintptr_t>(&memory[128 + 9]));
  EXPECT_EQ(echo.desc.strides[0], 8);
  EXPECT_EQ(echo.rest, (std::array<std::int64_t, 3>{9, -1, 77}));
  EXPECT_EQ(out[0], 0);
}

TEST(LaunchPlan, ACopyIsNoViewOfTheCallersTensors) {
  std::array<std::int64_t, 16> out{};
  const TensorBuilder origin(&memory[0], {4, 8}, {8, 1});
  EXPECT_FALSE(plan_echo(out, TensorBuilder(&memory[64], {4, 8}, {8, 1}).get(), origin.get()).has_value());
  EXPECT_FALSE(plan_echo(out, TensorBuilder(&memory[16], {4, 8}, {8, 1}).get(), origin.get()).has_value());
}

}  // namespace
}  // namespace tilegym::runtime
