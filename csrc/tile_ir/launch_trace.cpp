#include "tile_ir/launch_trace.h"

#include <algorithm>
#include <limits>

#include "tile_ir/op_cost.h"

namespace tilegym::tile_ir {

namespace {

/// Operations that may be followed one by one; then the rest is estimated.
constexpr std::uint64_t kMostSteps = 20'000'000;
/// Tile blocks that stand for all where there are too many to follow.
constexpr std::uint64_t kSampledBlocks = 64;

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::uint64_t>::max() : result;
}

bool is_loop(Opcode opcode) {
  return opcode == Opcode::For || opcode == Opcode::Loop;
}

const Block* region_block(const Operation& operation, std::size_t index) {
  if (index >= operation.regions.size() || operation.regions[index].blocks.empty()) return nullptr;
  return &operation.regions[index].blocks.front();
}

/// Turns of a `for` with these bounds.
std::uint64_t turns_of(std::int64_t lower, std::int64_t upper, std::int64_t step) {
  if (step <= 0 || lower >= upper) return 0;
  const auto distance = static_cast<std::uint64_t>(upper) - static_cast<std::uint64_t>(lower);
  return (distance - 1) / static_cast<std::uint64_t>(step) + 1;
}

}  // namespace

LaunchTrace::LaunchTrace(const Module& module, const Function& entry, const LaunchValues& launch)
    : module_(module), entry_(entry), launch_(launch), values_(module, entry), masks_(entry.values.size(), 0) {}

std::uint64_t LaunchTrace::executions(const Operation& operation) const {
  const auto found = counts_.find(&operation);
  return found == counts_.end() ? 0 : found->second;
}

void LaunchTrace::run() {
  blocks_vary_ = (mark(entry_.body, 0) & kBlockBit) != 0;
  values_.set_grid(launch_.grid);
  follow_blocks();
}

/// What the decisions in a block depend on.
LaunchTrace::Mask LaunchTrace::mark(const Block& block, int depth) {
  Mask decisions = 0;
  for (const Operation& operation : block.operations) decisions |= mark_operation(operation, depth);
  return decisions;
}

LaunchTrace::Mask LaunchTrace::mark_operation(const Operation& operation, int depth) {
  Mask mask = operation.opcode == Opcode::GetTileBlockId ? kBlockBit : 0;
  mask |= mask_of(operation);
  const bool loop = is_loop(operation.opcode);
  const int inner_depth = loop ? std::min(depth + 1, 62) : depth;
  const Mask turn = Mask{1} << inner_depth;
  Mask decisions = 0;
  for (const Region& region : operation.regions) {
    for (const Block& block : region.blocks) {
      // What a turn passes to the next is not followed here: it may depend on anything around it.
      for (const ValueId argument : block.arguments) masks_[argument] = loop ? mask | turn | kBlockBit : mask;
      decisions |= mark(block, inner_depth);
    }
  }
  if (operation.opcode == Opcode::For) decisions |= mask;
  if (operation.opcode == Opcode::If) decisions |= masks_[operation.operands[0]];
  // The turns of a `loop` end by a decision of its own.
  if (operation.opcode == Opcode::Loop) decisions |= turn;
  if (loop) varies_[&operation] = (decisions & turn) != 0;
  for (const ValueId result : operation.results) masks_[result] = mask | (loop ? kBlockBit : decisions);
  return loop ? decisions & ~turn : decisions;
}

LaunchTrace::Mask LaunchTrace::mask_of(const Operation& operation) const {
  Mask mask = 0;
  for (const ValueId operand : operation.operands) mask |= masks_[operand];
  return mask;
}

void LaunchTrace::follow_blocks() {
  const auto& grid = launch_.grid;
  const std::uint64_t blocks =
      product(product(static_cast<std::uint64_t>(grid[0]), static_cast<std::uint64_t>(grid[1])),
              static_cast<std::uint64_t>(grid[2]));
  if (!blocks_vary_) return follow_block({}, blocks);
  const auto id = [&](std::uint64_t index) -> std::array<Known, 3> {
    const auto x = static_cast<std::uint64_t>(grid[0]);
    const auto y = static_cast<std::uint64_t>(grid[1]);
    return {static_cast<std::int64_t>(index % x), static_cast<std::int64_t>(index / x % y),
            static_cast<std::int64_t>(index / x / y)};
  };
  const std::uint64_t operations = std::max<std::uint64_t>(1, entry_.body.operations.size());
  if (blocks <= kMostSteps / operations) {
    for (std::uint64_t i = 0; i < blocks; ++i) follow_block(id(i), 1);
    return;
  }
  const std::uint64_t samples = std::min(blocks, kSampledBlocks);
  note("tile blocks differ and are too many to follow: " + std::to_string(samples) + " of them stand for all");
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::uint64_t share = blocks / samples + (i < blocks % samples ? 1 : 0);
    follow_block(id(i * (blocks / samples)), share);
  }
}

void LaunchTrace::follow_block(std::array<Known, 3> id, std::uint64_t times) {
  values_.set_block(id);
  for (std::size_t i = 0; i < entry_.body.arguments.size(); ++i) {
    values_.set(entry_.body.arguments[i], i < launch_.arguments.size() ? launch_.arguments[i] : std::nullopt);
  }
  follow(entry_.body, times);
}

LaunchTrace::Flow LaunchTrace::follow(const Block& block, std::uint64_t times) {
  for (const Operation& operation : block.operations) {
    if (const Flow flow = follow_operation(operation, times); flow != Flow::next) return flow;
  }
  return Flow::next;
}

LaunchTrace::Flow LaunchTrace::follow_operation(const Operation& operation, std::uint64_t times) {
  std::uint64_t& count = counts_[&operation];
  if (__builtin_add_overflow(count, times, &count)) count = std::numeric_limits<std::uint64_t>::max();
  ++steps_;
  switch (operation.opcode) {
    case Opcode::For:
      return follow_for(operation, times);
    case Opcode::Loop:
      return follow_loop(operation, times);
    case Opcode::If:
      return follow_if(operation, times);
    case Opcode::Reduce:
    case Opcode::Scan:
      follow_reduction(operation, times);
      return Flow::next;
    case Opcode::Break:
    case Opcode::Continue:
    case Opcode::Yield:
      passed_.clear();
      for (const ValueId value : operation.operands) passed_.push_back(values_[value]);
      if (operation.opcode == Opcode::Yield) return Flow::next;
      return operation.opcode == Opcode::Break ? Flow::left_loop : Flow::next_turn;
    case Opcode::Return:
      return Flow::left_kernel;
    default:
      values_.evaluate(operation);
      return Flow::next;
  }
}

LaunchTrace::Flow LaunchTrace::follow_for(const Operation& operation, std::uint64_t times) {
  const Known lower = values_[operation.operands[0]];
  const Known upper = values_[operation.operands[1]];
  const Known step = values_[operation.operands[2]];
  const Block* body = region_block(operation, 0);
  if (body == nullptr || body->arguments.empty()) return Flow::next;
  if (lower && upper && step) {
    const std::uint64_t turns = turns_of(*lower, *upper, *step);
    if (varies_[&operation] && !spent()) return follow_turns(operation, turns, times);
    forget(body->arguments);
    forget(operation.results);
    if (turns == 0) pass(operation.group(3), operation.results);
    return turns == 0 ? Flow::next : (follow(*body, product(times, turns)), forget(operation.results), Flow::next);
  }
  note("for at byte " + std::to_string(operation.byte_offset) +
       ": its bounds are not known from the launch; counted as one turn");
  forget(body->arguments);
  follow(*body, times);
  forget(operation.results);
  return Flow::next;
}

LaunchTrace::Flow LaunchTrace::follow_turns(const Operation& operation, std::uint64_t turns, std::uint64_t times) {
  const Block& body = *region_block(operation, 0);
  const std::span<const ValueId> carried = std::span(body.arguments).subspan(1);
  const std::int64_t lower = *values_[operation.operands[0]];
  const std::int64_t step = *values_[operation.operands[2]];
  pass(operation.group(3), carried);
  for (std::uint64_t i = 0; i < turns; ++i) {
    if (spent()) {
      follow(body, product(times, turns - i));
      break;
    }
    values_.set(body.arguments[0], lower + static_cast<std::int64_t>(i) * step);
    if (follow(body, times) == Flow::left_kernel) return Flow::left_kernel;
    for (std::size_t k = 0; k < carried.size(); ++k) {
      values_.set(carried[k], k < passed_.size() ? passed_[k] : std::nullopt);
    }
  }
  pass(carried, operation.results);
  return Flow::next;
}

LaunchTrace::Flow LaunchTrace::follow_loop(const Operation& operation, std::uint64_t times) {
  const Block* body = region_block(operation, 0);
  if (body == nullptr) return Flow::next;
  pass(operation.group(0), body->arguments);
  const std::size_t before = notes_.size();
  while (true) {
    const Flow flow = follow(*body, times);
    if (flow == Flow::left_kernel) return flow;
    if (flow == Flow::left_loop) break;
    if (notes_.size() != before || spent()) {
      note("loop at byte " + std::to_string(operation.byte_offset) +
           ": where it ends is not known from the launch; the turns that could be followed are counted");
      forget(operation.results);
      return Flow::next;
    }
    for (std::size_t k = 0; k < body->arguments.size(); ++k) {
      values_.set(body->arguments[k], k < passed_.size() ? passed_[k] : std::nullopt);
    }
  }
  for (std::size_t k = 0; k < operation.results.size(); ++k) {
    values_.set(operation.results[k], k < passed_.size() ? passed_[k] : std::nullopt);
  }
  return Flow::next;
}

LaunchTrace::Flow LaunchTrace::follow_if(const Operation& operation, std::uint64_t times) {
  const Known condition = values_[operation.operands[0]];
  if (condition) {
    const Block* chosen = region_block(operation, *condition != 0 ? 0 : 1);
    const Flow flow = chosen == nullptr ? Flow::next : follow(*chosen, times);
    if (flow != Flow::next) return flow;
    for (std::size_t k = 0; k < operation.results.size(); ++k) {
      values_.set(operation.results[k], k < passed_.size() ? passed_[k] : std::nullopt);
    }
    return Flow::next;
  }
  note("if at byte " + std::to_string(operation.byte_offset) +
       ": its condition is not known from the launch; both branches are counted");
  for (std::size_t i = 0; i < operation.regions.size(); ++i) {
    if (const Block* block = region_block(operation, i); block != nullptr) follow(*block, times);
  }
  forget(operation.results);
  return Flow::next;
}

void LaunchTrace::follow_reduction(const Operation& operation, std::uint64_t times) {
  const std::uint64_t runs = cost_of(module_, entry_, operation).body_runs;
  const Block* body = region_block(operation, 0);
  forget(operation.results);
  if (body == nullptr || runs == 0) return;
  forget(body->arguments);
  follow(*body, product(times, runs));
}

void LaunchTrace::pass(std::span<const ValueId> from, std::span<const ValueId> to) {
  for (std::size_t i = 0; i < to.size(); ++i) values_.set(to[i], i < from.size() ? values_[from[i]] : std::nullopt);
}

void LaunchTrace::forget(std::span<const ValueId> values) {
  for (const ValueId value : values) values_.set(value, std::nullopt);
}

bool LaunchTrace::spent() {
  if (steps_ < kMostSteps) return false;
  note("the launch is too long to follow: after " + std::to_string(kMostSteps) + " operations turns are multiplied");
  return true;
}

void LaunchTrace::note(std::string text) {
  if (std::ranges::find(notes_, text) == notes_.end()) notes_.push_back(std::move(text));
}

}  // namespace tilegym::tile_ir
