#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tile_ir/opcodes.h"
#include "tile_ir/types.h"

/// Strip kernels: straight-line SIMD loops over at most kStripLanes values, chosen once when a plan is built. They know
/// nothing of plans, memory maps or threads.
namespace tilegym::cpu {

/// Lanes of a strip. 256 f32 lanes are 1 KiB: a dozen live strips stay in the first-level cache, and the dispatch cost
/// of about 2 ns is paid once per 256 elements (measured best among 16 to 2048).
inline constexpr std::size_t kStripLanes = 256;
/// Alignment of every strip register and arena buffer; kernels may read and write whole 64-byte vectors past `lanes`
/// inside the register's padding.
inline constexpr std::size_t kVectorBytes = 64;

/// How a value is held in a strip register. f16, bf16, tf32 and the 8-bit and 4-bit floats are held as f32 and rounded
/// to their own precision after every operation; mask is one byte per lane, 0 or 1 (i1); i8 to i64 are held at width.
enum class Lane : std::uint8_t { f32, f64, i8, i16, i32, i64, mask };

[[nodiscard]] std::size_t lane_bytes(Lane lane) noexcept;
/// The lane kind that holds values of an element type (i4 is held as i8; pointers as i64).
[[nodiscard]] Lane lane_of(tile_ir::ElementType type) noexcept;

enum class StripOp : std::uint8_t {
  // float and integer arithmetic (the lane decides which)
  add,
  sub,
  mul,
  div,
  rem,
  fma,
  neg,
  abs,
  min,
  max,
  // integer only
  mulhi,
  and_,
  or_,
  xor_,
  shl,
  shr,
  // float only
  floor,
  ceil,
  sqrt,
  rsqrt,
  exp,
  exp2,
  log,
  log2,
  sin,
  cos,
  tan,
  sinh,
  cosh,
  tanh,
  pow,
  atan2,
  // comparison (result lane is mask) and choice (a: mask, b, c: values)
  compare,
  select,
  // conversion between lanes (`from` to `lane`)
  convert,
  // rounding of f32 lanes to the precision of `element` (f16, bf16, tf32, f8...), result stays f32
  round_to,
  // copy; with a scalar operand: fill
  copy,
  // dst[i] = a + b * i, a and b scalars (integer lanes)
  ramp,
};

/// Everything that selects one strip kernel. Fields an operation does not use keep their defaults.
struct StripKey {
  StripOp op = StripOp::copy;
  Lane lane = Lane::f32;                                     ///< lane of the result; of the operands for `compare`
  Lane from = Lane::f32;                                     ///< convert: lane of the operand
  std::uint8_t scalar_operands = 0;                          ///< bit i set: operand i is one value, not a strip
  tile_ir::ElementType element = tile_ir::ElementType::f32;  ///< round_to: target precision
  tile_ir::Rounding rounding = tile_ir::Rounding::nearest_even;
  tile_ir::Signedness signedness = tile_ir::Signedness::signed_;
  tile_ir::Predicate predicate = tile_ir::Predicate::equal;
  tile_ir::Ordering ordering = tile_ir::Ordering::ordered;
  bool flush_to_zero = false;
  bool propagate_nan = false;  ///< min, max: NaN wins; otherwise the number wins (IEEE 754 maximumNumber)
};

/// dst[i] = op(a[i], b[i], c[i]) for i < lanes. dst may equal any operand. Unused operands are null.
using StripFn = void (*)(void* dst, const void* a, const void* b, const void* c, std::size_t lanes) noexcept;
/// The kernel for `key` at the current level, or null where this operation does not exist for that lane.
[[nodiscard]] StripFn find_strip(const StripKey& key) noexcept;

/// Contiguous memory to lanes (widening) and back (rounding to nearest even, exact for values already rounded; i1 is
/// one byte). `memory` has the alignment of its element only; nothing outside [memory, memory + lanes) is touched.
using LoadFn = void (*)(void* dst, const void* memory, std::size_t lanes) noexcept;
using StoreFn = void (*)(void* memory, const void* src, std::size_t lanes) noexcept;
[[nodiscard]] LoadFn find_load(tile_ir::ElementType element) noexcept;
[[nodiscard]] StoreFn find_store(tile_ir::ElementType element) noexcept;

/// lanes[i] = *(element*)(addresses[i]) where mask[i] (null: everywhere), else `padding` (one lane value; null: zero).
using GatherFn = void (*)(void* dst, const std::int64_t* addresses, const std::uint8_t* mask, const void* padding,
                          std::size_t lanes) noexcept;
using ScatterFn = void (*)(const std::int64_t* addresses, const void* src, const std::uint8_t* mask,
                           std::size_t lanes) noexcept;
[[nodiscard]] GatherFn find_gather(tile_ir::ElementType element) noexcept;
[[nodiscard]] ScatterFn find_scatter(tile_ir::ElementType element) noexcept;

/// A row-major matrix in memory in its own element format (not widened).
struct MatrixView {
  const void* data = nullptr;
  std::int64_t row_stride = 0;  ///< elements
};

/// c[m x n] += a[m x k] * b[k x n]; c row-major f32 (or i32 for i8) with stride n. `scratch` holds mma_scratch_bytes.
using MmaFn = void (*)(void* c, MatrixView a, MatrixView b, std::int64_t m, std::int64_t n, std::int64_t k,
                       void* scratch) noexcept;
struct MmaKey {
  tile_ir::ElementType a = tile_ir::ElementType::f32;  ///< also of b
  tile_ir::ElementType accumulator = tile_ir::ElementType::f32;
  tile_ir::Signedness lhs = tile_ir::Signedness::signed_;
  tile_ir::Signedness rhs = tile_ir::Signedness::signed_;
};
[[nodiscard]] MmaFn find_mma(const MmaKey& key) noexcept;
[[nodiscard]] std::size_t mma_scratch_bytes(const MmaKey& key, std::int64_t m, std::int64_t n, std::int64_t k) noexcept;

/// Instruction set the kernels use; chosen once from CPUID, or lowered by TILEGYM_RS_ISA (plain, avx2, avx512, amx).
enum class Isa : std::uint8_t { plain, avx2, avx512, amx };
[[nodiscard]] Isa current_isa() noexcept;
[[nodiscard]] std::string_view name(Isa isa) noexcept;
/// For tests: use at most `isa`; false where the processor lacks it. Affects later find_* calls only.
bool set_isa(Isa isa) noexcept;

}  // namespace tilegym::cpu
