#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tile_ir/opcodes.h"
#include "tile_ir/types.h"

/// Strip kernels: straight-line SIMD loops over at most kStripLanes values, chosen once when a plan is built. They know
/// nothing of plans, memory maps or threads: any thread may call any kernel, and none allocates or fails. Callers run
/// in the default float mode (nearest even, subnormals kept); a kernel with another mode restores it.
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

/// Results wrap around (integers) or are correctly rounded (floats) where nothing else is said. The mask lane computes
/// modulo 2; as a signed number its 1 is -1.
enum class StripOp : std::uint8_t {
  /// Float and integer arithmetic (the lane decides which). Integer division by zero gives 0, for rem too; the smallest
  /// value divided by -1 is itself. rem has the sign of the dividend. div of integers rounds to zero, or to the
  /// infinity that `rounding` names. fma is float only; for `element` f16 or bf16 its result is rounded to odd in f32,
  /// which makes a following round_to to that element correctly rounded.
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
  /// Integer only. mulhi is unsigned. A shift amount is unsigned; amounts of the width or more leave 0, or the sign
  /// when a signed value is shifted right.
  mulhi,
  and_,
  or_,
  xor_,
  shl,
  shr,
  /// Float only. In f32 exp, exp2, log, log2, sin and cos are within 1 ulp, tanh within 1.1; the rest, and
  /// f64, is within 0.52: the C library's, or rounded from a wider type.
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
  /// Comparison (the result is a mask) and choice (a: mask, b where it is set, c elsewhere).
  compare,
  select,
  /// From lane `from` to `lane`. Integers are extended by `signedness` or truncated; to float they round to nearest
  /// even; to f32 lanes of a narrower `element` they, and f64, round to odd, as for fma. Floats become integers towards
  /// zero, the nearest limit out of range, 0 for NaN. A mask takes the lowest bit.
  convert,
  /// f32 lanes to the precision of `element`; the result stays f32. Beyond the largest value f16, bf16, tf32 and f8e5m2
  /// go to infinity (or not, as the mode says); f8e4m3fn, f4e2m1fn and f8e8m0fnu, which have none, stop at their
  /// largest value, infinities too. NaN stays NaN, but for f4e2m1fn, which has none: its largest value. f8e8m0fnu has
  /// no sign.
  round_to,
  /// Copy; with a scalar operand: fill.
  copy,
  /// dst[i] = a + b * i, a and b scalars (integer lanes).
  ramp,
};

/// Everything that selects one strip kernel. Fields an operation does not use keep their defaults.
struct StripKey {
  StripOp op = StripOp::copy;
  Lane lane = Lane::f32;                                     ///< lane of the result; of the operands for `compare`
  Lane from = Lane::f32;                                     ///< convert: lane of the operand
  std::uint8_t scalar_operands = 0;                          ///< bit i set: operand i is one value, not a strip
  tile_ir::ElementType element = tile_ir::ElementType::f32;  ///< round_to: target precision; fma, convert: see there
  /// add, sub, mul, div, sqrt, fma, round_to: approx and full give the nearest value. div of integers: see there.
  tile_ir::Rounding rounding = tile_ir::Rounding::nearest_even;
  tile_ir::Signedness signedness = tile_ir::Signedness::signed_;
  tile_ir::Predicate predicate = tile_ir::Predicate::equal;
  tile_ir::Ordering ordering = tile_ir::Ordering::ordered;
  /// add, sub, mul, div, fma, sqrt, rsqrt, exp, exp2, min, max: subnormal operands and results become signed zeros.
  bool flush_to_zero = false;
  bool propagate_nan = false;  ///< min, max: NaN wins; otherwise the number wins (IEEE 754 maximumNumber); -0 < +0
};

/// dst[i] = op(a[i], b[i], c[i]) for i < lanes <= kStripLanes. dst may equal any operand, of whatever width, but may
/// not overlap one otherwise. Unused operands are null; a scalar operand is read as one value.
using StripFn = void (*)(void* dst, const void* a, const void* b, const void* c, std::size_t lanes) noexcept;
/// The kernel for `key` at the current level, or null where this operation does not exist for that lane.
[[nodiscard]] StripFn find_strip(const StripKey& key) noexcept;

/// Contiguous memory to lanes (widening) and back (rounding to nearest even, exact for values already rounded; i1 is
/// one byte, any but 0 is true). `memory` has the alignment of its element only; nothing outside [memory, memory +
/// lanes) is touched. Values that a store rounds become what round_to makes of them. i4 (sign-extended) and f4e2m1fn
/// lie two in a byte, the first in the low half, `memory` beginning with a whole byte.
using LoadFn = void (*)(void* dst, const void* memory, std::size_t lanes) noexcept;
using StoreFn = void (*)(void* memory, const void* src, std::size_t lanes) noexcept;
[[nodiscard]] LoadFn find_load(tile_ir::ElementType element) noexcept;
[[nodiscard]] StoreFn find_store(tile_ir::ElementType element) noexcept;

/// dst[i] = *(element*)(addresses[i]) where mask[i] (null: everywhere), else `padding` (one lane value; null: zero).
/// Addresses need no alignment; those of other lanes are not touched. Scatter goes in the order of lanes. The
/// addresses of 4-bit elements count half bytes, the low half first.
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

/// c[m x n] += a[m x k] * b[k x n] for any extents; c is row-major with stride n in lanes of the accumulator (an f16
/// accumulator in f32 lanes, to be rounded by the caller). Nothing outside the three matrices is touched. `scratch`
/// holds mma_scratch_bytes, aligned to kVectorBytes. Floats are summed in the order of k by fused multiply-adds, so
/// that the vector width does not show; plain rounds products too, and amx sums bf16 in an order of its own, without
/// subnormals.
using MmaFn = void (*)(void* c, MatrixView a, MatrixView b, std::int64_t m, std::int64_t n, std::int64_t k,
                       void* scratch) noexcept;
/// Pairs of operand and accumulator: f32, tf32 and bf16 with f32; f16, f8e4m3fn and f8e5m2 with f32 or f16; f64 with
/// f64; i8 with i32, of either signedness. tf32 takes any f32 values and rounds them as round_to does.
struct MmaKey {
  tile_ir::ElementType a = tile_ir::ElementType::f32;  ///< also of b
  tile_ir::ElementType accumulator = tile_ir::ElementType::f32;
  tile_ir::Signedness lhs = tile_ir::Signedness::signed_;
  tile_ir::Signedness rhs = tile_ir::Signedness::signed_;
};
/// Null for a pair that is not supported.
[[nodiscard]] MmaFn find_mma(const MmaKey& key) noexcept;
[[nodiscard]] std::size_t mma_scratch_bytes(const MmaKey& key, std::int64_t m, std::int64_t n, std::int64_t k) noexcept;

/// Instruction set the kernels use; chosen once from CPUID, or lowered by TILEGYM_RS_ISA (plain, avx2, avx512, amx).
enum class Isa : std::uint8_t { plain, avx2, avx512, amx };
[[nodiscard]] Isa current_isa() noexcept;
[[nodiscard]] std::string_view name(Isa isa) noexcept;
/// For tests: use at most `isa`; false where the processor lacks it. Affects later find_* calls only.
bool set_isa(Isa isa) noexcept;

}  // namespace tilegym::cpu
