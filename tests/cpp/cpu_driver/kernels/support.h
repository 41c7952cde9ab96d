#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "cpu_driver/kernels/kernels.h"

namespace tilegym::cpu::testing {

using tile_ir::ElementType;
using tile_ir::Ordering;
using tile_ir::Predicate;
using tile_ir::Rounding;
using tile_ir::Signedness;

/// A test that runs once per instruction set; skipped where the processor lacks it.
class KernelTest : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!set_isa(GetParam())) GTEST_SKIP() << name(GetParam()) << " is not supported here";
  }
  void TearDown() override { set_isa(best_); }

 private:
  Isa best_ = current_isa();
};

#define TILEGYM_AT_EVERY_LEVEL(Suite)                                                                      \
  INSTANTIATE_TEST_SUITE_P(Levels, Suite, ::testing::Values(Isa::plain, Isa::avx2, Isa::avx512, Isa::amx), \
                           [](const auto& level) { return std::string(name(level.param)); })

/// Heap memory of exactly `bytes`, so that the address sanitizer sees the first byte beyond.
struct Free {
  void operator()(void* p) const { std::free(p); }
};
template <class T>
using Buffer = std::unique_ptr<T[], Free>;

/// As a strip register: aligned, padded to whole 64-byte vectors.
template <class T>
Buffer<T> make_register(const std::vector<T>& values, std::size_t lanes) {
  const std::size_t bytes =
      (std::max<std::size_t>(lanes, 1) * sizeof(T) + kVectorBytes - 1) / kVectorBytes * kVectorBytes;
  Buffer<T> buffer(static_cast<T*>(std::aligned_alloc(kVectorBytes, bytes)));
  std::memset(static_cast<void*>(buffer.get()), 0x5a, bytes);
  std::copy(values.begin(), values.end(), buffer.get());
  return buffer;
}

/// As memory: the size of the values and not a byte more, at the alignment of one element.
template <class T>
Buffer<T> make_memory(const std::vector<T>& values) {
  Buffer<T> buffer(static_cast<T*>(std::malloc(values.size() * sizeof(T))));
  std::copy(values.begin(), values.end(), buffer.get());
  return buffer;
}

/// One operand of a strip: lanes [begin, begin + lanes) in a register, or its only value where it is a scalar.
template <class T>
Buffer<T> make_operand(const std::vector<T>& values, bool scalar, std::size_t begin, std::size_t lanes) {
  if (scalar) return make_memory(std::vector<T>{values[0]});
  if (values.empty()) return nullptr;
  return make_register(std::vector<T>(values.begin() + begin, values.begin() + begin + lanes), lanes);
}

/// op(a, b, c) by the kernel for `key`, strip by strip. Where a bit of key.scalar_operands is set, the first value of
/// the operand counts for all lanes.
template <class To, class A, class B = A>
std::vector<To> run(const StripKey& key, const std::vector<A>& a, const std::vector<B>& b = {},
                    const std::vector<B>& c = {}) {
  const StripFn kernel = find_strip(key);
  if (kernel == nullptr)
    throw std::runtime_error("no kernel for operation " + std::to_string(static_cast<int>(key.op)));
  const auto scalar = [&key](int operand) { return (key.scalar_operands >> operand & 1) != 0; };
  const std::size_t count = std::max({a.size(), b.size(), c.size()});
  std::vector<To> results;
  for (std::size_t begin = 0; begin < count; begin += kStripLanes) {
    const std::size_t lanes = std::min(kStripLanes, count - begin);
    const auto x = make_operand(a, scalar(0), begin, lanes);
    const auto y = make_operand(b, scalar(1), begin, lanes);
    const auto z = make_operand(c, scalar(2), begin, lanes);
    const auto out = make_register<To>({}, lanes);
    kernel(out.get(), x.get(), y.get(), z.get(), lanes);
    results.insert(results.end(), out.get(), out.get() + lanes);
  }
  return results;
}

/// Bit equality, except that every NaN equals every other.
template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  }
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
void append(std::vector<T>& values, std::initializer_list<T> more) {
  for (const T value : more) values.push_back(value);
}

template <class T>
std::vector<T> special_floats() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           1,
                           T(1.5),
                           T(0.5),
                           T(2.5),
                           3,
                           T(0.1),
                           T(1) + Limits::epsilon(),
                           Limits::min(),
                           Limits::denorm_min(),
                           Limits::min() - Limits::denorm_min(),
                           Limits::max(),
                           Limits::infinity(),
                           T(1e10),
                           T(1e-10)};
  for (std::size_t i = 0, end = values.size(); i < end; ++i) values.push_back(-values[i]);
  values.push_back(Limits::quiet_NaN());
  return values;
}

template <class T>
std::vector<T> special_integers() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {0, 1, 2, 3, 7, 8, 15, 31, 63, 100};
  append(values, {Limits::max(), T(Limits::max() - 1), Limits::min(), T(Limits::min() + 1), T(-1), T(-2), T(-7),
                  T(-100), T(Limits::max() / 2)});
  return values;
}

/// Values with every exponent and sign, not only those around 1.
template <class T>
std::vector<T> random_values(std::size_t count, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    const std::uint64_t bits = random();
    std::memcpy(&value, &bits, sizeof(T));
  }
  return values;
}

/// Every pair of `values` as two strips.
template <class T>
std::pair<std::vector<T>, std::vector<T>> all_pairs(const std::vector<T>& values) {
  std::pair<std::vector<T>, std::vector<T>> pairs;
  for (const T a : values) {
    for (const T b : values) {
      pairs.first.push_back(a);
      pairs.second.push_back(b);
    }
  }
  return pairs;
}

}  // namespace tilegym::cpu::testing
