#include "cpu_driver/engine/liveness.h"

#include <algorithm>

namespace tilegym::cpu {
namespace {

using tile_ir::Block;
using tile_ir::Opcode;
using tile_ir::Operation;

bool is_store(Opcode opcode) {
  switch (opcode) {
    case Opcode::StorePtrTko:
    case Opcode::StoreViewTko:
    case Opcode::AtomicCAS:
    case Opcode::AtomicRMW:
    case Opcode::AtomicRedViewTko:
      return true;
    default:
      return false;
  }
}

bool has_effect(Opcode opcode) {
  switch (opcode) {
    case Opcode::For:
    case Opcode::Loop:
    case Opcode::If:
    case Opcode::Yield:
    case Opcode::Continue:
    case Opcode::Break:
    case Opcode::Return:
    case Opcode::Assert:
    case Opcode::Print:
      return true;
    default:
      return is_store(opcode);
  }
}

/// Backwards, so that users are seen before what they use.
void mark(const Block& block, Liveness& liveness) {
  for (auto op = block.operations.rbegin(); op != block.operations.rend(); ++op) {
    const auto is_used = [&](tile_ir::ValueId value) { return liveness.uses[value] > 0; };
    if (!has_effect(op->opcode) && std::ranges::none_of(op->results, is_used)) continue;
    liveness.live.insert(&*op);
    for (const tile_ir::ValueId operand : op->operands) ++liveness.uses[operand];
    for (const tile_ir::Region& region : op->regions) {
      for (const Block& nested : region.blocks) mark(nested, liveness);
    }
  }
}

void collect(const Operation& op, std::vector<tile_ir::ValueId>& values) {
  for (const tile_ir::Region& region : op.regions) {
    for (const Block& block : region.blocks) {
      for (const Operation& inner : block.operations) {
        values.insert(values.end(), inner.operands.begin(), inner.operands.end());
        collect(inner, values);
      }
    }
  }
}

}  // namespace

Liveness find_live(const tile_ir::Function& entry) {
  Liveness liveness;
  liveness.uses.resize(entry.values.size());
  mark(entry.body, liveness);
  return liveness;
}

bool writes_memory(const Operation& op) {
  if (is_store(op.opcode)) return true;
  return std::ranges::any_of(op.regions, [](const tile_ir::Region& region) {
    return std::ranges::any_of(region.blocks,
                               [](const Block& block) { return std::ranges::any_of(block.operations, writes_memory); });
  });
}

std::vector<tile_ir::ValueId> values_used_inside(const Operation& op) {
  std::vector<tile_ir::ValueId> values;
  collect(op, values);
  return values;
}

}  // namespace tilegym::cpu
