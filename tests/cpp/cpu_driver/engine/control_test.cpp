#include <gtest/gtest.h>

#include <vector>

#include "cpu_driver/engine/kernel_builder.h"

namespace tilegym::cpu::testing {
namespace {

ValueId compare(KernelBuilder& k, ValueId a, ValueId b, std::uint64_t predicate) {
  return k.op(Opcode::CmpI, {a, b}, k.tile(ElementType::i1),
              {{AttrName::comparison_predicate, predicate}, {AttrName::signedness, 1}});
}
constexpr std::uint64_t kEqual = 0;
constexpr std::uint64_t kGreater = 4;

/// Runs a kernel of one i32 result and one i32 argument.
template <class Write>
std::int32_t result_of(std::int32_t argument, const Write& write) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::i32);
  const ValueId n = k.parameter(k.tile(ElementType::i32));
  k.store(out, write(k, n));
  const auto kernel = k.lower();
  EXPECT_TRUE(kernel.ok()) << kernel.error().message;
  std::int32_t result = -1;
  std::int32_t* pointer = &result;
  EXPECT_EQ(run(*kernel.value(), {&pointer, &argument}).outcome, Outcome::ok);
  return result;
}

TEST(Control, ForSumsItsRange) {
  const auto sum = [](KernelBuilder& k, ValueId n) {
    return k.for_loop(k.int_constant(1), n, k.int_constant(3), {k.int_constant(0)},
                      [&](const Values& v) { k.terminate(Opcode::Continue, {k.same(Opcode::AddI, {v[1], v[0]})}); })[0];
  };
  EXPECT_EQ(result_of(11, sum), 1 + 4 + 7 + 10);
  EXPECT_EQ(result_of(1, sum), 0);
  EXPECT_EQ(result_of(-5, sum), 0);
}

TEST(Control, CarriedValuesSwapWithoutLoss) {
  const auto fibonacci = [](KernelBuilder& k, ValueId n) {
    return k.for_loop(
        k.int_constant(0), n, k.int_constant(1), {k.int_constant(0), k.int_constant(1)},
        [&](const Values& v) { k.terminate(Opcode::Continue, {v[2], k.same(Opcode::AddI, {v[1], v[2]})}); })[0];
  };
  EXPECT_EQ(result_of(10, fibonacci), 55);
}

TEST(Control, LoopLeavesByBreak) {
  const auto collatz = [](KernelBuilder& k, ValueId n) {
    const TypeId i32 = k.tile(ElementType::i32);
    const ValueId zero = k.int_constant(0);
    const ValueId one = k.int_constant(1);
    const ValueId two = k.int_constant(2);
    const ValueId three = k.int_constant(3);
    return k.region_op(
        Opcode::Loop, {n, zero}, {2}, {i32},
        {{{i32, i32}, [&](const Values& v) {
            k.region_op(Opcode::If, {compare(k, v[0], one, kEqual)}, {1}, {},
                        {{{}, [&](const Values&) { k.terminate(Opcode::Break, {v[1]}); }}});
            const ValueId odd = compare(k, k.same(Opcode::RemI, {v[0], two}, {{AttrName::signedness, 1}}), one, kEqual);
            const Values next = k.region_op(
                Opcode::If, {odd}, {1}, {i32},
                {{{},
                  [&](const Values&) {
                    k.terminate(Opcode::Yield, {k.same(Opcode::AddI, {k.same(Opcode::MulI, {v[0], three}), one})});
                  }},
                 {{}, [&](const Values&) {
                    k.terminate(Opcode::Yield, {k.same(Opcode::DivI, {v[0], two},
                                                       {{AttrName::signedness, 1}, {AttrName::rounding, 1}})});
                  }}});
            k.terminate(Opcode::Continue, {next[0], k.same(Opcode::AddI, {v[1], one})});
          }}})[0];
  };
  EXPECT_EQ(result_of(27, collatz), 111);
}

TEST(Control, ReturnInABranchEndsTheBlock) {
  const auto early = [](KernelBuilder& k, ValueId n) {
    k.region_op(Opcode::If, {compare(k, n, k.int_constant(5), kGreater)}, {1}, {},
                {{{}, [&](const Values&) { k.terminate(Opcode::Return); }}});
    return n;
  };
  EXPECT_EQ(result_of(3, early), 3);
  EXPECT_EQ(result_of(9, early), -1);
}

TEST(Control, BranchesYieldTiles) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId x = k.load(k.pointer_parameter(ElementType::f32), {64});
  const ValueId flag = compare(k, k.block_id()[0], k.int_constant(0), kEqual);
  const ValueId seven = k.constant<float>(k.tile(ElementType::f32, {64}), {7});
  const Values chosen =
      k.region_op(Opcode::If, {flag}, {1}, {k.tile(ElementType::f32, {64})},
                  {{{}, [&](const Values&) { k.terminate(Opcode::Yield, {k.same(Opcode::AddF, {x, x})}); }},
                   {{}, [&](const Values&) { k.terminate(Opcode::Yield, {seven}); }}});
  const ValueId start = k.same(Opcode::MulI, {k.block_id()[0], k.int_constant(64)});
  const ValueId index = k.same(Opcode::AddI, {k.positions({64}), k.splat(start, {64})});
  k.store_ptr(k.offsets(out, index), k.same(Opcode::AddF, {chosen[0], x}));
  const std::vector<float> in = ramp(64);
  std::vector<float> result(128);
  run_ok(k, {result.data(), in.data()}, {2, 1, 1});
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(result[i], 3 * in[i]);
    EXPECT_EQ(result[64 + i], 7 + in[i]);
  }
}

TEST(Control, CarriedTilesAccumulateInNestedLoops) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId x = k.load(k.pointer_parameter(ElementType::f32), {300});
  const ValueId zero = k.int_constant(0);
  const ValueId one = k.int_constant(1);
  const ValueId start = k.constant<float>(k.tile(ElementType::f32, {300}), {1});
  const Values total = k.for_loop(zero, k.int_constant(3), one, {start}, [&](const Values& outer) {
    const Values inner = k.for_loop(zero, k.int_constant(2), one, {outer[1]}, [&](const Values& v) {
      k.terminate(Opcode::Continue, {k.same(Opcode::AddF, {v[1], x})});
    });
    k.terminate(Opcode::Continue, {k.same(Opcode::AddF, {inner[0], inner[0]})});
  });
  k.store(out, total[0]);
  const std::vector<float> in = ramp(300);
  std::vector<float> result(300);
  run_ok(k, {result.data(), in.data()});
  for (std::size_t i = 0; i < 300; ++i) EXPECT_EQ(result[i], 8 + 28 * in[i]) << i;
}

TEST(Control, CarriedTilesSwapWithoutLoss) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId a = k.load(k.pointer_parameter(ElementType::f32), {64});
  const ValueId b = k.same(Opcode::NegF, {a});
  const Values last = k.for_loop(k.int_constant(0), k.int_constant(3), k.int_constant(1), {a, b}, [&](const Values& v) {
    k.terminate(Opcode::Continue, {v[2], k.same(Opcode::AddF, {v[1], v[1]})});
  });
  k.store(out, k.same(Opcode::SubF, {last[0], last[1]}));
  const std::vector<float> in = ramp(64);
  std::vector<float> result(64);
  run_ok(k, {result.data(), in.data()});
  // (a, -a) -> (-a, 2a) -> (2a, -2a) -> (-2a, 4a)
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(result[i], -6 * in[i]) << i;
}

TEST(Control, ValuesFromOutsideSurviveEveryIteration) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId x = k.load(k.pointer_parameter(ElementType::f32), {64});
  const ValueId shifted = k.same(Opcode::AddF, {x, x});
  const TypeId row = k.tile(ElementType::f32, {64});
  const Values total = k.for_loop(
      k.int_constant(0), k.int_constant(4), k.int_constant(1), {k.constant<float>(row, {0})}, [&](const Values& v) {
        const ValueId factor = k.op(Opcode::IToF, {k.splat(v[0], {64})}, row, {{AttrName::signedness, 1}});
        k.terminate(Opcode::Continue, {k.same(Opcode::AddF, {v[1], k.same(Opcode::MulF, {shifted, factor})})});
      });
  k.store(out, total[0]);
  const std::vector<float> in = ramp(64);
  std::vector<float> result(64);
  run_ok(k, {result.data(), in.data()});
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(result[i], 12 * in[i]) << i;
}

}  // namespace
}  // namespace tilegym::cpu::testing
