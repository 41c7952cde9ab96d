#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "cpu_driver/engine/kernel_builder.h"

namespace tilegym::cpu::testing {
namespace {

MemoryRange range_of(const std::vector<float>& values, std::string_view name) {
  const auto begin = reinterpret_cast<std::uintptr_t>(values.data());
  return {begin, begin + values.size() * sizeof(float), name};
}

/// Copies a tile of `count` elements through pointers; the memory map covers both vectors.
LaunchResult copy(std::int64_t count, const std::vector<float>& from, std::vector<float>& to) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId in = k.pointer_parameter(ElementType::f32);
  k.store(out, k.load(in, {count}));
  const auto kernel = k.lower();
  const std::vector<MemoryRange> ranges{range_of(to, "out"), range_of(from, "in")};
  const MemoryMap memory(ranges);
  const float* source = from.data();
  float* target = to.data();
  return run(*kernel.value(), {&target, &source}, {1, 1, 1}, &memory);
}

TEST(Fault, AccessInsideTheRangesIsFine) {
  const std::vector<float> from = ramp(256);
  std::vector<float> to(256);
  EXPECT_EQ(copy(256, from, to).outcome, Outcome::ok);
  EXPECT_EQ(to, from);
}

TEST(Fault, LoadPastTheEndNamesOperationAndArgument) {
  const std::vector<float> from = ramp(200);
  std::vector<float> to(256);
  const LaunchResult result = copy(256, from, to);
  EXPECT_EQ(result.outcome, Outcome::illegal_address);
  for (const char* part : {"kernel", "load_ptr_tko", "tile block (0, 0, 0)", "'in'", "element 200 of 200"}) {
    EXPECT_NE(result.report.find(part), std::string::npos) << part << " is missing in: " << result.report;
  }
}

TEST(Fault, NothingIsStoredOutsideTheRanges) {
  const std::vector<float> from = ramp(256);
  std::vector<float> to(100, 3);
  const LaunchResult result = copy(256, from, to);
  EXPECT_EQ(result.outcome, Outcome::illegal_address);
  EXPECT_NE(result.report.find("store_ptr_tko"), std::string::npos) << result.report;
  EXPECT_EQ(to, std::vector<float>(100, 3));
}

TEST(Fault, GatheredAddressesAreChecked) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId in = k.pointer_parameter(ElementType::f32);
  const ValueId index = k.constant<std::int32_t>(k.tile(ElementType::i32, {4}), {0, 3, -1, 2});
  k.store(out, k.load_ptr(k.offsets(in, index)));
  const std::vector<float> from = ramp(4);
  std::vector<float> to(4);
  const std::vector<MemoryRange> ranges{range_of(to, "out"), range_of(from, "in")};
  const MemoryMap memory(ranges);
  const float* source = from.data();
  float* target = to.data();
  const auto kernel = k.lower();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const LaunchResult result = run(*kernel.value(), {&target, &source}, {1, 1, 1}, &memory);
  EXPECT_EQ(result.outcome, Outcome::illegal_address);
  EXPECT_NE(result.report.find("4 bytes before the start"), std::string::npos) << result.report;
}

TEST(Fault, FailedAssertionGivesItsMessage) {
  KernelBuilder k;
  const ValueId limit = k.parameter(k.tile(ElementType::i32));
  const ValueId below = k.op(Opcode::CmpI, {k.positions({8}), k.splat(limit, {8})}, k.tile(ElementType::i1, {8}),
                             {{AttrName::comparison_predicate, 2}, {AttrName::signedness, 1}});
  Operation& check = k.add(Opcode::Assert, {below}, {});
  tile_ir::Attribute message;
  message.text = "too many";
  check.attributes.push_back({AttrName::message, message});
  const auto kernel = k.lower();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const std::int32_t enough = 8;
  EXPECT_EQ(run(*kernel.value(), {&enough}).outcome, Outcome::ok);
  const std::int32_t few = 5;
  const LaunchResult result = run(*kernel.value(), {&few});
  EXPECT_EQ(result.outcome, Outcome::assertion);
  EXPECT_NE(result.report.find("too many (element 5)"), std::string::npos) << result.report;
}

TEST(Fault, CancelFlagEndsTheLaunch) {
  KernelBuilder k;
  k.store(k.pointer_parameter(ElementType::i32), k.int_constant(1));
  const auto kernel = k.lower();
  std::int32_t value = 0;
  std::int32_t* pointer = &value;
  const std::atomic<bool> cancel{true};
  const std::vector<const void*> arguments{&pointer};
  const LaunchResult result = kernel.value()->launch({4, 1, 1}, arguments, {.cancel = &cancel});
  EXPECT_EQ(result.outcome, Outcome::cancelled);
  EXPECT_EQ(value, 0);
}

TEST(Fault, CancelFlagEndsALoopWithinABlock) {
  KernelBuilder k;
  const TypeId i32 = k.tile(ElementType::i32);
  k.store(k.pointer_parameter(ElementType::i32), k.int_constant(1));
  k.region_op(Opcode::Loop, {k.int_constant(0)}, {1}, {i32},
              {{{i32}, [&](const Values& v) { k.terminate(Opcode::Continue, {v[0]}); }}});
  const auto kernel = k.lower();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  alignas(4) std::int32_t started = 0;
  std::int32_t* pointer = &started;
  std::atomic<bool> cancel{false};
  LaunchResult result;
  std::thread endless([&] {
    const std::vector<const void*> arguments{&pointer};
    result = kernel.value()->launch({1, 1, 1}, arguments, {.cancel = &cancel});
  });
  while (std::atomic_ref(started).load() == 0) std::this_thread::yield();
  cancel = true;
  endless.join();
  EXPECT_EQ(result.outcome, Outcome::cancelled);
}

TEST(Fault, TooFewArgumentsAreRefused) {
  KernelBuilder k;
  k.store(k.pointer_parameter(ElementType::i32), k.int_constant(1));
  const auto kernel = k.lower();
  EXPECT_EQ(run(*kernel.value(), {}).outcome, Outcome::internal);
}

}  // namespace
}  // namespace tilegym::cpu::testing
