#pragma once

#include <map>
#include <vector>

#include "common/result.h"
#include "cpu_driver/engine/emitter.h"
#include "cpu_driver/engine/region_scan.h"
#include "cpu_driver/engine/region_space.h"

namespace tilegym::cpu {

/// Byte offsets of strip registers; a register that is released is handed out again to lanes of the same size.
class RegisterFile {
 public:
  [[nodiscard]] std::uint32_t take(std::size_t lane_bytes);
  /// A register that no strip has used: it keeps its lanes from strip to strip.
  [[nodiscard]] std::uint32_t take_lasting(std::size_t lane_bytes);
  void release(std::uint32_t offset, std::size_t lane_bytes) { free_[lane_bytes].push_back(offset); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::map<std::size_t, std::vector<std::uint32_t>> free_;
  std::size_t bytes_ = 0;
};

/// Where a region writes a node's lanes: a row-major buffer over the shape.
struct PlannedOut {
  BufferId buffer = 0;
  /// The node's kernel may write the buffer itself; otherwise its register is copied at the end of each strip.
  bool direct = true;
};

/// Turns the nodes of one region into instructions.
class RegionEmitter {
 public:
  RegionEmitter(const Graph& graph, Emitter& emitter, const RegionOutputs& outputs, const RegionScan& scan,
                std::map<NodeId, PlannedOut> outs);

  [[nodiscard]] Result<Region> emit();
  /// The body of a scan instead of a region.
  [[nodiscard]] Status emit_scan(const ReduceOut& combination, ScanStep& step);
  [[nodiscard]] std::size_t register_bytes() const noexcept { return registers_.bytes(); }

 private:
  /// A node's operand location; `scalar`: one value, not a strip.
  struct Place {
    LocationId location = kNoLocation;
    bool scalar = false;
  };

  void count_reads();
  Status emit_node(NodeId id);
  Status emit_compute(NodeId id);
  Status emit_ramp(NodeId id);
  Status emit_load(NodeId id);
  Status emit_gather(NodeId id);
  Status emit_move(NodeId id);
  Status emit_outputs();
  Status emit_store(const StoreOut& store);
  [[nodiscard]] bool computed_last(const StoreOut& store, LocationId src) const;
  Status emit_reduce(const ReduceOut& reduce);
  Status emit_body(const ReduceOut& reduce, Reduction& reduction);
  /// Emits what the body yields; `accumulators` are the registers that are then set to it, all at once.
  [[nodiscard]] Result<std::vector<LocationId>> emit_yields(const ReduceOut& reduce,
                                                            const std::vector<LocationId>& accumulators);
  Status write_out(NodeId id, const PlannedOut& out);

  [[nodiscard]] Place place_of(NodeId id);
  [[nodiscard]] Place place_buffer(const Node& node);
  /// The node's lanes as a strip; a scalar is spread over a register first.
  [[nodiscard]] LocationId strip_of(NodeId id);
  /// Location for the result of a node: its out buffer or a register. Operands read for the last time are released.
  [[nodiscard]] LocationId destination(NodeId id);
  [[nodiscard]] ReducedOperand reduced_operand(const ReduceOut& reduce, std::size_t index, bool fold);
  [[nodiscard]] LocationId accumulator_location(const ReduceOut& reduce, std::size_t index, std::uint32_t bytes);
  [[nodiscard]] LocationId new_register(Lane lane);
  [[nodiscard]] LocationId lasting_register(Lane lane);
  [[nodiscard]] LocationId add(Location location);
  [[nodiscard]] LocationId out_location(const PlannedOut& out, tile_ir::ElementType format);
  void read(NodeId id);
  [[nodiscard]] bool aligned(const Location& location) const;
  [[nodiscard]] std::uint32_t add_access(const Access& access);
  [[nodiscard]] Linear pick(const Linear& linear);
  [[nodiscard]] std::vector<Wrap> pick(const std::vector<Wrap>& wraps);
  [[nodiscard]] std::vector<std::int64_t> outer(const std::vector<std::int64_t>& strides) const;

  const Graph& graph_;
  Emitter& emitter_;
  const RegionOutputs& outputs_;
  const RegionScan& scan_;
  std::map<NodeId, PlannedOut> outs_;
  RegionSpace space_;
  Region region_;
  RegisterFile registers_;
  std::map<NodeId, Place> places_;
  std::map<NodeId, std::uint32_t> reads_left_;
  /// Instructions are appended here: the region's, or a reduction body's.
  std::vector<Instr>* instrs_;
};

}  // namespace tilegym::cpu
