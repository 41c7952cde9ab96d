#include "cpu_driver/engine/atomic_table.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <type_traits>

namespace tilegym::cpu {
namespace {

using tile_ir::ElementType;

template <class T>
std::atomic_ref<T> memory_at(std::uintptr_t address) noexcept {
  return std::atomic_ref<T>(*reinterpret_cast<T*>(address));
}

/// Replaces the value until no other thread came between. `next` maps old bits to new ones.
template <class T, class Next>
std::uint64_t replace(std::uintptr_t address, Next next) noexcept {
  const std::atomic_ref<T> memory = memory_at<T>(address);
  T old = memory.load();
  while (!memory.compare_exchange_weak(old, next(old))) {
  }
  return old;
}

template <class T>
std::uint64_t and_bits(std::uintptr_t address, std::uint64_t operand, std::uint64_t) noexcept {
  return memory_at<T>(address).fetch_and(static_cast<T>(operand));
}
template <class T>
std::uint64_t or_bits(std::uintptr_t address, std::uint64_t operand, std::uint64_t) noexcept {
  return memory_at<T>(address).fetch_or(static_cast<T>(operand));
}
template <class T>
std::uint64_t xor_bits(std::uintptr_t address, std::uint64_t operand, std::uint64_t) noexcept {
  return memory_at<T>(address).fetch_xor(static_cast<T>(operand));
}
template <class T>
std::uint64_t add(std::uintptr_t address, std::uint64_t operand, std::uint64_t) noexcept {
  return memory_at<T>(address).fetch_add(static_cast<T>(operand));
}
template <class T>
std::uint64_t exchange(std::uintptr_t address, std::uint64_t operand, std::uint64_t) noexcept {
  return memory_at<T>(address).exchange(static_cast<T>(operand));
}
template <class T>
std::uint64_t compare_exchange(std::uintptr_t address, std::uint64_t operand, std::uint64_t compare) noexcept {
  auto old = static_cast<T>(compare);
  memory_at<T>(address).compare_exchange_strong(old, static_cast<T>(operand));
  return old;
}

/// T: the type that the bits are compared as.
template <class T, bool kMax>
std::uint64_t extremum(std::uintptr_t address, std::uint64_t operand, std::uint64_t) noexcept {
  using U = std::make_unsigned_t<T>;
  const auto value = static_cast<T>(operand);
  return replace<U>(address, [value](U old) {
    const bool keeps = kMax ? static_cast<T>(old) >= value : static_cast<T>(old) <= value;
    return keeps ? old : static_cast<U>(value);
  });
}

template <class F, class U>
std::uint64_t add_float(std::uintptr_t address, std::uint64_t operand, std::uint64_t) noexcept {
  const F value = std::bit_cast<F>(static_cast<U>(operand));
  return replace<U>(address, [value](U old) { return std::bit_cast<U>(std::bit_cast<F>(old) + value); });
}

/// Sums of two 16-bit floats are rounded to them correctly through f32.
template <ElementType kElement>
std::uint64_t add_half(std::uintptr_t address, std::uint64_t operand, std::uint64_t) noexcept {
  constexpr std::size_t kVector = kVectorBytes / sizeof(float);
  const LoadFn load = find_load(kElement);
  const StoreFn store = find_store(kElement);
  alignas(kVectorBytes) std::array<float, kVector> lanes{};
  const auto value = static_cast<std::uint16_t>(operand);
  load(lanes.data(), &value, 1);
  const float right = lanes[0];
  return replace<std::uint16_t>(address, [&](std::uint16_t old) {
    load(lanes.data(), &old, 1);
    lanes[0] += right;
    std::uint16_t sum = 0;
    store(&sum, lanes.data(), 1);
    return sum;
  });
}

template <class S>
constexpr std::array<AtomicFn, 11> integer_row() {
  using U = std::make_unsigned_t<S>;
  return {and_bits<U>,
          or_bits<U>,
          xor_bits<U>,
          add<U>,
          nullptr,
          extremum<S, true>,
          extremum<S, false>,
          extremum<U, true>,
          extremum<U, false>,
          exchange<U>,
          compare_exchange<U>};
}

template <class U>
constexpr std::array<AtomicFn, 11> float_row(AtomicFn sum, bool exchanges) {
  std::array<AtomicFn, 11> row{};
  row[static_cast<std::size_t>(AtomicMode::addf)] = sum;
  if (!exchanges) return row;
  row[static_cast<std::size_t>(AtomicMode::exchange)] = exchange<U>;
  row[static_cast<std::size_t>(AtomicMode::compare_exchange)] = compare_exchange<U>;
  return row;
}

struct Row {
  ElementType element;
  std::array<AtomicFn, 11> by_mode;
};

constexpr std::array kRows{
    Row{ElementType::i32, integer_row<std::int32_t>()},
    Row{ElementType::i64, integer_row<std::int64_t>()},
    Row{ElementType::f16, float_row<std::uint16_t>(add_half<ElementType::f16>, false)},
    Row{ElementType::bf16, float_row<std::uint16_t>(add_half<ElementType::bf16>, false)},
    Row{ElementType::f32, float_row<std::uint32_t>(add_float<float, std::uint32_t>, true)},
    Row{ElementType::f64, float_row<std::uint64_t>(add_float<double, std::uint64_t>, true)},
};

}  // namespace

AtomicFn find_atomic(AtomicMode mode, ElementType element) noexcept {
  const auto* row = std::ranges::find(kRows, element, &Row::element);
  return row == kRows.end() ? nullptr : row->by_mode[static_cast<std::size_t>(mode)];
}

}  // namespace tilegym::cpu
