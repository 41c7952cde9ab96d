#include "cpu_driver/engine/region_emit.h"

#include <algorithm>
#include <utility>

#include "common/check.h"

namespace tilegym::cpu {
namespace {

StripFn copy_kernel(Lane lane, bool from_scalar) {
  return find_strip({.op = StripOp::copy, .lane = lane, .scalar_operands = std::uint8_t{from_scalar}});
}

std::uint32_t format_bytes(tile_ir::ElementType format) {
  return static_cast<std::uint32_t>(tile_ir::byte_size(format));
}

}  // namespace

std::uint32_t RegisterFile::take(std::size_t lane_bytes) {
  std::vector<std::uint32_t>& available = free_[lane_bytes];
  if (!available.empty()) {
    const std::uint32_t offset = available.back();
    available.pop_back();
    return offset;
  }
  return take_lasting(lane_bytes);
}

std::uint32_t RegisterFile::take_lasting(std::size_t lane_bytes) {
  const auto offset = static_cast<std::uint32_t>(bytes_);
  bytes_ += kStripLanes * lane_bytes + kVectorBytes;
  return offset;
}

RegionEmitter::RegionEmitter(const Graph& graph, Emitter& emitter, const RegionOutputs& outputs, const RegionScan& scan,
                             std::map<NodeId, PlannedOut> outs)
    : graph_(graph),
      emitter_(emitter),
      outputs_(outputs),
      scan_(scan),
      outs_(std::move(outs)),
      space_(graph, emitter, outputs, scan),
      instrs_(&region_.instrs) {}

Result<Region> RegionEmitter::emit() {
  region_.extents = space_.extents();
  count_reads();
  for (const NodeId id : scan_.order) TILEGYM_TRY(emit_node(id));
  TILEGYM_TRY(emit_outputs());
  region_.stores_only =
      outputs_.store && outputs_.store->access && !outputs_.reduce && outputs_.slots.empty() && outs_.empty();
  for (std::size_t i = 0; i < region_.locations.size(); ++i) {
    const LocationKind kind = region_.locations[i].kind;
    const auto id = static_cast<LocationId>(i);
    if (kind == LocationKind::buffer_strip) region_.strip_locations.push_back(id);
    if (kind == LocationKind::buffer_strip || kind == LocationKind::buffer_row) region_.row_locations.push_back(id);
  }
  return std::move(region_);
}

void RegionEmitter::count_reads() {
  for (const NodeId id : scan_.order) {
    for (const NodeId operand : graph_[id].operands) ++reads_left_[operand];
  }
  for (const NodeId root : consumed_roots(outputs_)) ++reads_left_[root];
  for (const auto& [id, out] : outs_) ++reads_left_[id];
  for (const auto& [id, slot] : outputs_.slots) ++reads_left_[id];
}

Status RegionEmitter::emit_node(NodeId id) {
  switch (graph_[id].kind) {
    case NodeKind::ramp:
      return emit_ramp(id);
    case NodeKind::load:
      return emit_load(id);
    case NodeKind::gather:
      return emit_gather(id);
    case NodeKind::compute:
      return emit_compute(id);
    case NodeKind::move:
      return emit_move(id);
    default:
      break;
  }
  TILEGYM_CHECK(false && "node kind has no instruction");
  return {};
}

Status RegionEmitter::emit_compute(NodeId id) {
  const Node& node = graph_[id];
  StripKey key = node.key;
  std::array<LocationId, 3> operands{kNoLocation, kNoLocation, kNoLocation};
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const Place place = place_of(node.operands[i]);
    operands[i] = place.location;
    if (place.scalar) key.scalar_operands = static_cast<std::uint8_t>(key.scalar_operands | (1u << i));
  }
  // Not every kernel takes every operand as a scalar: spread them one after the other until one fits.
  StripFn fn = find_strip(key);
  for (std::size_t i = 0; fn == nullptr && i < node.operands.size(); ++i) {
    if ((key.scalar_operands >> i & 1) == 0) continue;
    operands[i] = strip_of(node.operands[i]);
    key.scalar_operands = static_cast<std::uint8_t>(key.scalar_operands & ~(1u << i));
    fn = find_strip(key);
  }
  if (fn == nullptr) return unsupported(node.place, tile_ir::name(node.element));
  instrs_->push_back(ComputeInstr{fn, destination(id), operands[0], operands[1], operands[2]});
  return {};
}

Status RegionEmitter::emit_ramp(NodeId id) {
  const Node& node = graph_[id];
  const StripFn fn = find_strip({.op = StripOp::ramp, .lane = node.lane, .scalar_operands = 3});
  if (fn == nullptr) return unsupported(node.place, tile_ir::name(node.element));
  instrs_->push_back(RampInstr{fn, destination(id), static_cast<std::uint32_t>(region_.ramps.size())});
  region_.ramps.push_back({pick(node.linear), pick(node.wraps)});
  return {};
}

Status RegionEmitter::emit_load(NodeId id) {
  const Node& node = graph_[id];
  LoadInstr instr{.load = find_load(node.access.element),
                  .gather = find_gather(node.access.element),
                  .fill = copy_kernel(node.lane, true),
                  .select = find_strip({.op = StripOp::select, .lane = node.lane}),
                  .lane_bytes = static_cast<std::uint32_t>(lane_bytes(node.lane)),
                  .access = add_access(node.access)};
  if (instr.load == nullptr || instr.gather == nullptr) {
    return unsupported(node.place, tile_ir::name(node.access.element));
  }
  if (!node.operands.empty()) {
    const Place padding = place_of(node.operands[0]);
    instr.padding = padding.location;
    instr.padding_is_strip = !padding.scalar;
  }
  instr.dst = destination(id);
  instr.in_place =
      stored_as_lanes(node.access.element) && region_.locations[instr.dst].kind == LocationKind::strip_register;
  instrs_->push_back(instr);
  return {};
}

Status RegionEmitter::emit_gather(NodeId id) {
  const Node& node = graph_[id];
  GatherInstr instr{.fn = find_gather(node.access.element),
                    .select = find_strip({.op = StripOp::select, .lane = node.lane}),
                    .half_bytes = tile_ir::bit_width(node.access.element) == 4,
                    .element_bytes = format_bytes(node.access.element),
                    .place = node.place};
  if (instr.fn == nullptr) return unsupported(node.place, tile_ir::name(node.access.element));
  instr.addresses = strip_of(node.operands[0]);
  if (node.operands[1] != kNoNode) instr.mask = strip_of(node.operands[1]);
  if (node.operands[2] != kNoNode) {
    const Place padding = place_of(node.operands[2]);
    instr.padding = padding.location;
    instr.padding_is_strip = !padding.scalar;
  }
  // Lanes land while addresses, mask and padding are still read.
  const LocationId dst = new_register(node.lane);
  for (const NodeId operand : node.operands) read(operand);
  places_[id] = {dst, false};
  if (const auto out = outs_.find(id); out != outs_.end()) out->second.direct = false;
  instr.dst = dst;
  instrs_->push_back(instr);
  return {};
}

Status RegionEmitter::emit_move(NodeId id) {
  const Node& node = graph_[id];
  const LocationId src = strip_of(node.operands[0]);
  instrs_->push_back(MoveInstr{node.move, destination(id), src, false});
  return {};
}

LocationId RegionEmitter::destination(NodeId id) {
  const Node& node = graph_[id];
  for (const NodeId operand : node.operands) read(operand);
  const auto out = outs_.find(id);
  if (out != outs_.end() && out->second.direct) {
    const LocationId location = out_location(out->second, format_of(node.lane));
    if (stored_as_lanes(buffer_format(node.element)) && aligned(region_.locations[location])) {
      places_[id] = {location, false};
      return location;
    }
    out->second.direct = false;
  }
  const LocationId location = new_register(node.lane);
  places_[id] = {location, false};
  return location;
}

RegionEmitter::Place RegionEmitter::place_of(NodeId id) {
  const auto known = places_.find(id);
  if (known != places_.end()) return known->second;
  const Node& node = graph_[id];
  Place place;
  if (node.kind == NodeKind::uniform) {
    place = {add({LocationKind::slot, node.slot, 0, {}}), true};
  } else {
    TILEGYM_CHECK(node.kind == NodeKind::buffer);
    place = place_buffer(node);
  }
  places_[id] = place;
  return place;
}

RegionEmitter::Place RegionEmitter::place_buffer(const Node& node) {
  emitter_.touch(node.buffer);
  const std::vector<std::int64_t> strides = space_.pick(node.strides, std::int64_t{0});
  const bool row = strides.back() == 0;
  TILEGYM_CHECK(row || strides.back() == 1);
  const LocationId memory = add({row ? LocationKind::buffer_row : LocationKind::buffer_strip, node.buffer,
                                 format_bytes(node.format), outer(strides)});
  if (stored_as_lanes(node.format) && (row || aligned(region_.locations[memory]))) return {memory, row};
  const LocationId lanes = new_register(node.lane);
  instrs_->push_back(MoveInstr{find_load(node.format), lanes, memory, row});
  return {lanes, row};
}

LocationId RegionEmitter::strip_of(NodeId id) {
  const Place place = place_of(id);
  if (!place.scalar) return place.location;
  // Not remembered: other readers of the value go on using the scalar.
  const LocationId spread = new_register(graph_[id].lane);
  instrs_->push_back(
      ComputeInstr{copy_kernel(graph_[id].lane, true), spread, place.location, kNoLocation, kNoLocation});
  return spread;
}

void RegionEmitter::read(NodeId id) {
  const auto left = reads_left_.find(id);
  if (left == reads_left_.end() || left->second == 0 || --left->second > 0) return;
  const auto place = places_.find(id);
  if (place == places_.end()) return;
  const Location& location = region_.locations[place->second.location];
  if (location.kind == LocationKind::strip_register) registers_.release(location.index, lane_bytes(graph_[id].lane));
}

LocationId RegionEmitter::new_register(Lane lane) {
  const std::size_t bytes = lane_bytes(lane);
  return add({LocationKind::strip_register, registers_.take(bytes), static_cast<std::uint32_t>(bytes), {}});
}

LocationId RegionEmitter::lasting_register(Lane lane) {
  const std::size_t bytes = lane_bytes(lane);
  return add({LocationKind::strip_register, registers_.take_lasting(bytes), static_cast<std::uint32_t>(bytes), {}});
}

LocationId RegionEmitter::add(Location location) {
  region_.locations.push_back(std::move(location));
  return static_cast<LocationId>(region_.locations.size() - 1);
}

LocationId RegionEmitter::out_location(const PlannedOut& out, tile_ir::ElementType format) {
  const std::vector<std::int64_t> strides = space_.pick(row_major(outputs_.shape), std::int64_t{1});
  return add({LocationKind::buffer_strip, out.buffer, format_bytes(format), outer(strides)});
}

bool RegionEmitter::aligned(const Location& location) const {
  for (std::size_t d = 0; d < location.strides.size(); ++d) {
    const auto bytes = static_cast<std::size_t>(location.strides[d]) * location.element_bytes;
    if (region_.extents[d] > 1 && bytes % kVectorBytes != 0) return false;
  }
  return true;
}

std::uint32_t RegionEmitter::add_access(const Access& access) {
  Access picked{access.element, pick(access.address), access.bounds, access.place, pick(access.wraps)};
  for (Bound& bound : picked.bounds) {
    bound.index = pick(bound.index);
    bound.wraps = pick(bound.wraps);
  }
  region_.accesses.push_back(std::move(picked));
  return static_cast<std::uint32_t>(region_.accesses.size() - 1);
}

Linear RegionEmitter::pick(const Linear& linear) {
  return {linear.base, space_.pick(linear.strides, emitter_.constant(0))};
}

std::vector<Wrap> RegionEmitter::pick(const std::vector<Wrap>& wraps) {
  std::vector<Wrap> picked = wraps;
  for (Wrap& wrap : picked) wrap.index = pick(wrap.index);
  return picked;
}

std::vector<std::int64_t> RegionEmitter::outer(const std::vector<std::int64_t>& strides) const {
  return {strides.begin(), strides.end() - 1};
}

}  // namespace tilegym::cpu
