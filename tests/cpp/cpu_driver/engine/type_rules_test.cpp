#include <gtest/gtest.h>

#include <string>

#include "cpu_driver/engine/kernel_builder.h"

namespace tilegym::cpu::testing {
namespace {

/// Lowers a kernel of one ill-typed operation over a loaded f32 tile [4, 8]; the text of the refusal.
template <class Write>
std::string refusal(const Write& write) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId x = k.load(k.pointer_parameter(ElementType::f32), {4, 8});
  k.store(out, write(k, x));
  const auto kernel = k.lower();
  return kernel.ok() ? "accepted" : kernel.error().message;
}

void expect_refused(const std::string& text, const std::string& op) {
  EXPECT_EQ(text.find("tile op " + op + " at byte "), 0U) << text;
  EXPECT_NE(text.find("do not fit together"), std::string::npos) << text;
}

TEST(TypeRules, OperandsOfDifferentShapes) {
  expect_refused(refusal([](KernelBuilder& k, ValueId x) {
                   return k.same(Opcode::AddF, {x, k.constant<float>(k.tile(ElementType::f32, {8, 4}), {1})});
                 }),
                 "addf");
}

TEST(TypeRules, FloatsInAnIntegerOperation) {
  expect_refused(refusal([](KernelBuilder& k, ValueId x) { return k.same(Opcode::AddI, {x, x}); }), "addi");
}

TEST(TypeRules, ReshapeToAnotherCount) {
  expect_refused(refusal([](KernelBuilder& k, ValueId x) { return k.reshape(x, {4, 16}); }), "reshape");
}

TEST(TypeRules, BroadcastOfALongDimension) {
  expect_refused(refusal([](KernelBuilder& k, ValueId x) { return k.broadcast(x, {8, 8}); }), "broadcast");
}

TEST(TypeRules, ReductionAlongAMissingDimension) {
  expect_refused(refusal([](KernelBuilder& k, ValueId x) {
                   const ValueId sum = k.reduce(x, 1, 0, Opcode::AddF);
                   k.last().attributes[0].value.integer = 2;
                   return sum;
                 }),
                 "reduce");
}

TEST(TypeRules, ProductOfUnequalInnerExtents) {
  expect_refused(refusal([](KernelBuilder& k, ValueId x) {
                   const TypeId square = k.tile(ElementType::f32, {4, 8});
                   return k.op(Opcode::MmaF, {x, x, k.constant<float>(square, {0})}, square);
                 }),
                 "mmaf");
}

TEST(TypeRules, TileOfTooManyElements) {
  expect_refused(refusal([](KernelBuilder& k, ValueId) {
                   const std::int64_t large = std::int64_t{1} << 30;
                   return k.constant<float>(k.tile(ElementType::f32, {large, large}), {1});
                 }),
                 "constant");
}

TEST(TypeRules, LoopThatChangesTheTypeItCarries) {
  const std::string text = refusal([](KernelBuilder& k, ValueId x) {
    return k.for_loop(k.int_constant(0), k.int_constant(2), k.int_constant(1), {x},
                      [&](const Values&) { k.terminate(Opcode::Continue, {k.int_constant(1)}); })[0];
  });
  EXPECT_EQ(text, "a loop or branch yields a value of another type than it carries");
}

TEST(TypeRules, PrintInsideAReduction) {
  const std::string text = refusal([](KernelBuilder& k, ValueId x) {
    const TypeId scalar = k.tile(ElementType::f32);
    const Values sums = k.region_op(Opcode::Reduce, {x}, {1}, {k.tile(ElementType::f32, {4})},
                                    {{{scalar, scalar}, [&](const Values& v) {
                                        const ValueId index = k.op(Opcode::FToI, {v[0]}, k.tile(ElementType::i32));
                                        k.add(Opcode::Print, {index}, {}).segments = {1, 0};
                                        k.terminate(Opcode::Yield, {v[1]});
                                      }}});
    tile_ir::Attribute identities;
    identities.children = {float_identity(scalar, ElementType::f32, 0)};
    tile_ir::Attribute dim;
    dim.integer = 1;
    k.last().attributes = {{AttrName::dim, dim}, {AttrName::identities, identities}};
    return k.broadcast(k.reshape(sums[0], {4, 1}), {4, 8});
  });
  EXPECT_EQ(text, "tile op print_tko on values of a reduction is not executed by the CPU device yet");
}

TEST(Lowering, LongChainsAreCutIntoRegions) {
  const std::string text = refusal([](KernelBuilder& k, ValueId x) {
    ValueId value = x;
    for (int i = 0; i < 20000; ++i) value = k.same(Opcode::NegF, {value});
    return value;
  });
  EXPECT_EQ(text, "accepted");
}

}  // namespace
}  // namespace tilegym::cpu::testing
