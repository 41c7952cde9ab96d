#include "tile_ir/stats.h"

#include <limits>
#include <string>

#include "tile_ir/launch_trace.h"
#include "tile_ir/op_cost.h"

namespace tilegym::tile_ir {

namespace {

void add(std::uint64_t& sum, std::uint64_t amount, std::uint64_t times) {
  std::uint64_t total = 0;
  if (__builtin_mul_overflow(amount, times, &total) || __builtin_add_overflow(sum, total, &sum)) {
    sum = std::numeric_limits<std::uint64_t>::max();
  }
}

class Collector {
 public:
  Collector(const Module& module, const Function& entry, const LaunchTrace& trace, Stats& stats)
      : module_(module), entry_(entry), trace_(trace), stats_(stats) {}

  void collect(const Block& block) {
    for (const Operation& operation : block.operations) {
      if (operation.opcode == kUnreadOpcode) continue;
      collect(operation);
      for (const Region& region : operation.regions) {
        for (const Block& inner : region.blocks) collect(inner);
      }
    }
  }

 private:
  void collect(const Operation& operation) {
    const std::string mnemonic(name(operation.opcode));
    const std::uint64_t times = trace_.executions(operation);
    ++stats_.operations[mnemonic];
    add(stats_.executed[mnemonic], 1, times);
    const OpCost cost = cost_of(module_, entry_, operation);
    add(stats_.bytes_read, cost.bytes_read, times);
    add(stats_.bytes_written, cost.bytes_written, times);
    if (cost.flops == 0) return;
    auto& flops = cost.matrix ? stats_.matrix_flops : stats_.flops;
    add(flops[std::string(name(cost.type))], cost.flops, times);
  }

  const Module& module_;
  const Function& entry_;
  const LaunchTrace& trace_;
  Stats& stats_;
};

}  // namespace

Result<Stats> launch_stats(const Module& module, const Function& entry, const LaunchValues& launch) {
  for (const std::int64_t extent : launch.grid) {
    if (extent < 1) return Error{"tile_ir: grid: wanted extents of at least 1, got " + std::to_string(extent)};
  }
  LaunchTrace trace(module, entry, launch);
  trace.run();
  Stats stats;
  Collector(module, entry, trace, stats).collect(entry.body);
  stats.notes = trace.notes();
  if (entry.unread) stats.notes.push_back("operations behind an unknown one are not counted: " + entry.unread->reason);
  return stats;
}

}  // namespace tilegym::tile_ir
