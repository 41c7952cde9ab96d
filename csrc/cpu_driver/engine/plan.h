#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cpu_driver/engine/engine.h"
#include "cpu_driver/kernels/kernels.h"
#include "tile_ir/module.h"

/// A lowered entry: flat data that the executor walks once per tile block. Scalars live in 64-bit slots (integers
/// sign-extended, floats as one lane value in the low bytes), tiles that cross a region boundary in buffers of the
/// worker's arena. Nothing here is written after lowering.
namespace tilegym::cpu {

using SlotId = std::uint32_t;
using BufferId = std::uint32_t;

/// The operation a step comes from, for reports.
struct OpPlace {
  tile_ir::Opcode opcode{};
  std::uint32_t byte_offset = 0;
};

using ScalarFn = std::int64_t (*)(std::int64_t a, std::int64_t b, std::int64_t c) noexcept;

struct ScalarInstr {
  ScalarFn fn = nullptr;
  SlotId dst = 0;
  SlotId a = 0;
  SlotId b = 0;
  SlotId c = 0;
};

/// base + sum(strides[d] * index[d]) over the dimensions of an iteration space, outermost first.
struct Linear {
  SlotId base = 0;
  std::vector<SlotId> strides = {};
};

/// A term of a linear form that comes from arithmetic of `bits` bits: where `index` leaves that width the form is off
/// by scale * (index wrapped to the width - index).
struct Wrap {
  Linear index = {};
  std::uint8_t bits = 32;
  bool is_signed = true;
  SlotId scale = 0;
};

/// Lanes outside `index predicate limit` are not accessed. Compared as signed 64-bit values.
struct Bound {
  Linear index = {};
  SlotId limit = 0;
  tile_ir::Predicate predicate = tile_ir::Predicate::less;
  std::vector<Wrap> wraps = {};
};

/// Memory addressed linearly: `address` in bytes, strides per dimension of the iteration space.
struct Access {
  tile_ir::ElementType element = tile_ir::ElementType::f32;
  Linear address = {};
  std::vector<Bound> bounds = {};
  OpPlace place = {};
  std::vector<Wrap> wraps = {};
};

/// The values of an index tile.
struct Ramp {
  Linear value = {};
  std::vector<Wrap> wraps = {};
};

/// Where an instruction finds an operand.
enum class LocationKind : std::uint8_t {
  strip_register,  // index: byte offset in the worker's register file
  slot,            // index: slot; one value
  buffer_strip,    // index: buffer; lanes follow the inner dimension
  buffer_row,      // index: buffer; one value per row
};

struct Location {
  LocationKind kind = LocationKind::strip_register;
  std::uint32_t index = 0;
  std::uint32_t element_bytes = 0;
  /// Elements per outer dimension of the region (buffers only).
  std::vector<std::int64_t> strides = {};
};

/// Index into Region::locations.
using LocationId = std::uint32_t;
inline constexpr LocationId kNoLocation = ~LocationId{0};

struct ComputeInstr {
  StripFn fn = nullptr;
  LocationId dst = kNoLocation;
  LocationId a = kNoLocation;
  LocationId b = kNoLocation;
  LocationId c = kNoLocation;
};
/// Memory format to lanes or back (LoadFn and StoreFn share their type); `row`: one value.
struct MoveInstr {
  LoadFn fn = nullptr;
  LocationId dst = kNoLocation;
  LocationId src = kNoLocation;
  bool row = false;
};
struct RampInstr {
  StripFn fn = nullptr;
  LocationId dst = kNoLocation;
  std::uint32_t ramp = 0;
};
/// Linear load; lanes outside the bounds get `padding` (a location, or zero).
struct LoadInstr {
  LoadFn load = nullptr;
  GatherFn gather = nullptr;
  StripFn fill = nullptr;    ///< copy with a scalar operand, for the padding
  StripFn select = nullptr;  ///< applies padding that differs per lane
  LocationId dst = kNoLocation;
  LocationId padding = kNoLocation;
  bool padding_is_strip = false;
  /// Aligned memory may stand for the register itself.
  bool in_place = false;
  std::uint32_t lane_bytes = 0;
  std::uint32_t access = 0;
};
struct StoreInstr {
  StoreFn store = nullptr;
  ScatterFn scatter = nullptr;
  LocationId src = kNoLocation;
  /// Aligned memory may stand for the register that the value is computed in.
  bool in_place = false;
  std::uint32_t lane_bytes = 0;
  std::uint32_t access = 0;
};
/// Load from a strip of addresses under a strip of masks. Addresses of 4-bit elements count half bytes.
struct GatherInstr {
  GatherFn fn = nullptr;
  StripFn select = nullptr;  ///< applies padding that differs per lane
  LocationId dst = kNoLocation;
  LocationId addresses = kNoLocation;
  LocationId mask = kNoLocation;
  LocationId padding = kNoLocation;
  bool padding_is_strip = false;
  bool half_bytes = false;
  std::uint32_t element_bytes = 0;
  OpPlace place = {};
};
struct ScatterInstr {
  ScatterFn fn = nullptr;
  LocationId addresses = kNoLocation;
  LocationId src = kNoLocation;
  LocationId mask = kNoLocation;
  bool half_bytes = false;
  std::uint32_t element_bytes = 0;
  OpPlace place = {};
};
/// The first lane of a register to a slot (a region of one lane).
struct SlotInstr {
  Lane lane = Lane::f32;
  SlotId dst = 0;
  LocationId src = kNoLocation;
};
/// The lanes of `src` into the accumulator strips of Region::reductions[reduction].
struct AccumulateInstr {
  std::uint32_t reduction = 0;
};

using Instr = std::variant<ComputeInstr, MoveInstr, RampInstr, LoadInstr, StoreInstr, GatherInstr, ScatterInstr,
                           SlotInstr, AccumulateInstr>;

/// One operand of a reduction.
struct ReducedOperand {
  Lane lane = Lane::f32;
  SlotId identity = 0;
  StripFn fill = nullptr;
  LocationId element = kNoLocation;      ///< argument of the body: incoming lanes
  LocationId accumulator = kNoLocation;  ///< argument of the body: running lanes
  LocationId result = kNoLocation;       ///< what the body yields, before it is copied to the accumulator
  LocationId source = kNoLocation;       ///< strip that is reduced
  StripFn copy = nullptr;
  /// Where a row's result goes: a slot, or an element of a buffer (buffer_row location).
  LocationId destination = kNoLocation;
};

/// A reduction along the inner dimension: strips are combined lane by lane, then the lanes by halving, so the order of
/// operations depends neither on the instruction set nor on the number of threads. Along an outer dimension, `dim`, the
/// accumulators are strips of a buffer, and `fold` is false. The first elements are what the accumulators begin with:
/// a smallest number that passes over NaN is NaN where there is nothing else, whatever the identity.
struct Reduction {
  std::vector<ReducedOperand> operands = {};
  std::vector<Instr> body = {};
  bool fold = true;
  std::size_t dim = 0;
};

/// Elementwise work over one iteration space, run strip by strip along the last extent. A tile is loaded as a whole
/// before it is stored: where a load overlaps the store at run time, the store waits for the last strip.
struct Region {
  std::vector<std::int64_t> extents = {};
  std::vector<Location> locations = {};
  std::vector<Access> accesses = {};
  std::vector<Ramp> ramps = {};
  std::vector<Instr> instrs = {};
  std::vector<Reduction> reductions = {};
  /// The last instruction, a linear store, is all that the region is for: strips that it masks out need not run.
  bool stores_only = false;
  /// Locations whose address depends on the row, and those that also move along it.
  std::vector<LocationId> row_locations = {};
  std::vector<LocationId> strip_locations = {};
};

struct Step;
using Steps = std::vector<Step>;

struct ScalarStep {
  std::vector<ScalarInstr> instrs = {};
};
struct RegionStep {
  Region region = {};
};

/// A run-time offset into a buffer: index * stride elements; an index of `count` or more reads slice 0.
struct SliceIndex {
  SlotId index = 0;
  std::int64_t stride = 0;
  std::int64_t count = 1;
};

/// One side of a whole-tile copy: a buffer with static strides in elements, or memory.
struct TileSide {
  bool in_memory = false;
  BufferId buffer = 0;
  std::int64_t offset = 0;
  std::vector<std::int64_t> strides = {};
  std::vector<SliceIndex> slices = {};
  Access access = {};
};

/// dst[index] = src[index] over `extents`, elements copied bit by bit. Source elements outside the bounds of
/// `src.access` become `padding`. The target is always a buffer.
struct CopyStep {
  std::vector<std::int64_t> extents = {};
  std::uint32_t element_bytes = 0;
  TileSide dst = {};
  TileSide src = {};
  std::uint64_t padding = 0;
};

/// One operand of a scan: row-major buffers of lanes.
struct ScannedOperand {
  Lane lane = Lane::f32;
  BufferId source = 0;
  BufferId result = 0;
  StripFn copy = nullptr;
  LocationId element = kNoLocation;      ///< argument of the body: incoming lanes
  LocationId accumulator = kNoLocation;  ///< argument of the body: running lanes
  LocationId yielded = kNoLocation;
};

/// An inclusive scan along the middle dimension of (outer, count, inner), element after element, so that every prefix
/// has one order of operations. `body` holds the combination; it reads registers and slots only.
struct ScanStep {
  std::int64_t outer = 1;
  std::int64_t count = 1;
  std::int64_t inner = 1;
  bool reverse = false;
  Region body = {};
  std::vector<ScannedOperand> operands = {};
};

/// Lanes to packed memory format or back, strip by strip. Both buffers begin with element 0.
struct RecodeStep {
  LoadFn fn = nullptr;
  BufferId dst = 0;
  BufferId src = 0;
  std::int64_t count = 0;
  std::int64_t dst_strip_bytes = 0;
  std::int64_t src_strip_bytes = 0;
};

/// A tile of 4-bit elements between memory and a row-major buffer of lanes. `access` counts half bytes. Elements
/// outside its bounds become `padding`, or are not stored.
struct PackedStep {
  bool stores = false;
  std::vector<std::int64_t> extents = {};
  Access access = {};
  BufferId buffer = 0;
  std::uint32_t lane_bytes = 0;
  LoadFn load = nullptr;
  StoreFn store = nullptr;
  GatherFn gather = nullptr;
  ScatterFn scatter = nullptr;
  StripFn fill = nullptr;
  SlotId padding = 0;
};

struct MmaStep {
  MmaFn fn = nullptr;
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::uint32_t element_bytes = 0;
  BufferId accumulator = 0;
  std::uint32_t accumulator_bytes = 4;
  /// lhs and rhs as copies into row-major buffers; a source that is in bounds and row-major is read in place instead.
  std::array<CopyStep, 2> operands = {};
  BufferId scratch = 0;
};

struct ForStep {
  SlotId induction = 0;
  SlotId lower = 0;
  SlotId upper = 0;
  SlotId step = 0;
  /// The counter wraps at this width.
  Lane lane = Lane::i32;
  bool unsigned_compare = false;
  std::unique_ptr<Steps> body = {};
};
struct LoopStep {
  std::unique_ptr<Steps> body = {};
};
struct IfStep {
  SlotId condition = 0;
  std::unique_ptr<Steps> then_body = {};
  std::unique_ptr<Steps> else_body = {};
};
enum class Jump : std::uint8_t { none, continue_, break_, return_, fault };
struct JumpStep {
  Jump jump = Jump::none;
};
/// A tile that a step looks at from outside: one value in a slot (whatever the tile's shape), or a row-major buffer.
struct InspectedTile {
  bool is_slot = true;
  SlotId slot = 0;
  BufferId buffer = 0;
  std::vector<std::int64_t> shape = {};
  tile_ir::ElementType element = tile_ir::ElementType::i32;
};
/// One element, atomically: reads the old bits at `address`, writes what the mode makes of them. Bits are in memory
/// format, zero-extended.
using AtomicFn = std::uint64_t (*)(std::uintptr_t address, std::uint64_t operand, std::uint64_t compare) noexcept;

/// An atomic operation for every element of a tile, in their order. Elements come from a tile of addresses under an
/// optional mask, or from `access` over `extents`.
struct AtomicStep {
  AtomicFn fn = nullptr;
  std::uint32_t element_bytes = 4;
  std::vector<std::int64_t> extents = {};
  std::optional<Access> access = {};
  InspectedTile addresses = {};
  std::optional<InspectedTile> mask = {};
  InspectedTile operand = {};
  /// compare-and-swap: what memory is compared with; also the result of elements that the mask excludes.
  std::optional<InspectedTile> compare = {};
  /// Where the old values go, if they are wanted.
  std::optional<InspectedTile> result = {};
  OpPlace place = {};
};
struct AssertStep {
  InspectedTile condition = {};
  std::string message = {};
  OpPlace place = {};
};
struct PrintStep {
  std::string format = {};
  std::vector<InspectedTile> arguments = {};
};

struct Step : std::variant<ScalarStep, RegionStep, CopyStep, MmaStep, ForStep, LoopStep, IfStep, JumpStep, AssertStep,
                           PrintStep, ScanStep, RecodeStep, AtomicStep, PackedStep> {
  using variant::variant;
};

struct PlannedParameter {
  Parameter parameter = {};
  tile_ir::ElementType element = tile_ir::ElementType::i64;
  SlotId slot = 0;
};

/// Memory of a tile block that `address` points to. `buffer` is `alignment` bytes longer than `bytes`.
struct Allocation {
  SlotId address = 0;
  BufferId buffer = 0;
  std::size_t bytes = 0;
  std::size_t alignment = 1;
};

class GlobalMemory;

struct Plan {
  std::string name = {};
  std::vector<PlannedParameter> parameters = {};
  /// First contents of the slots: constants in place, everything else zero.
  std::vector<std::int64_t> slots = {};
  /// Grid extents and tile block ids, set by the executor.
  std::array<SlotId, 3> block_id{};
  std::array<SlotId, 3> num_blocks{};
  /// Byte offsets of the buffers in the arena.
  std::vector<std::size_t> buffers = {};
  std::size_t arena_bytes = 0;
  std::size_t register_bytes = 0;
  /// Contents of dense constants, copied to their buffers when a worker's arena is set up for this plan.
  std::vector<std::pair<BufferId, std::vector<std::byte>>> constants = {};
  std::vector<Allocation> allocations = {};
  /// An allocation may be read by other tile blocks, so all of them run on one worker.
  bool shares_allocations = false;
  /// The module's globals, where the entry uses any.
  std::shared_ptr<const GlobalMemory> globals = {};
  Steps body = {};
};

}  // namespace tilegym::cpu
