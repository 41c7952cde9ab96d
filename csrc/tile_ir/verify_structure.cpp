#include <algorithm>
#include <string>
#include <vector>

#include "tile_ir/verify_context.h"

namespace tilegym::tile_ir {

namespace {

/// What may end the block of a region, and therefore where terminators may stand.
struct RegionRule {
  Opcode owner;
  FixedList<Opcode, 4> terminators;
};

constexpr RegionRule kRegions[] = {
    {Opcode::Entry, {Opcode::Return}},
    {Opcode::For, {Opcode::Continue}},
    {Opcode::Loop, {Opcode::Continue, Opcode::Break}},
    {Opcode::If, {Opcode::Yield, Opcode::Break, Opcode::Continue, Opcode::Return}},
    {Opcode::Reduce, {Opcode::Yield}},
    {Opcode::Scan, {Opcode::Yield}},
};

std::string names(const FixedList<Opcode, 4>& terminators) {
  std::string out;
  for (const Opcode terminator : terminators) {
    if (!out.empty()) out += " or ";
    out += name(terminator);
  }
  return out;
}

class Walk {
 public:
  explicit Walk(FunctionContext& context) : context_(context), visible_(context.function.values.size(), false) {}

  void block(const Block& block, Opcode owner) {
    std::vector<ValueId> defined;
    for (const ValueId argument : block.arguments) define(argument, defined);
    for (const Operation& operation : block.operations) {
      if (context_.report.full()) return;
      this->operation(operation, defined);
    }
    terminator(block, owner);
    for (const ValueId value : defined) visible_[value] = false;
  }

 private:
  void define(ValueId value, std::vector<ValueId>& defined) {
    if (value >= visible_.size()) return;
    visible_[value] = true;
    defined.push_back(value);
  }

  void operation(const Operation& operation, std::vector<ValueId>& defined) {
    if (find_op(static_cast<std::uint64_t>(operation.opcode)) == nullptr) {
      context_.report.add("unknown", context_.function.name, operation.byte_offset,
                          {"operation", "one of this version", "an unknown code", "write an older bytecode version"});
      return;
    }
    OpCheck check(context_, operation);
    if (operands_are_visible(check)) {
      verify_operation(check);
      regions(check);
    }
    for (const ValueId result : operation.results) define(result, defined);
  }

  /// Everything after this relies on ids within the table of values.
  bool operands_are_visible(const OpCheck& check) const {
    for (const ValueId operand : check.op.operands) {
      if (operand < visible_.size() && visible_[operand]) continue;
      check.fail({"operands", "values defined before it in its block or around it", "value " + std::to_string(operand),
                  "move the definition up or out of its region"});
      return false;
    }
    return std::ranges::all_of(check.op.results, [&](ValueId result) { return result < visible_.size(); });
  }

  void regions(const OpCheck& check) {
    if (check.op.regions.empty() || find_rule(check.op.opcode) == nullptr) return;
    context_.ancestors.push_back(&check.op);
    for (const Region& region : check.op.regions) {
      for (const Block& block : region.blocks) this->block(block, check.op.opcode);
    }
    context_.ancestors.pop_back();
  }

  void terminator(const Block& block, Opcode owner) const {
    const auto* rule = std::ranges::find(kRegions, owner, &RegionRule::owner);
    if (rule == std::end(kRegions) || block.operations.empty()) return;
    const Operation& last = block.operations.back();
    if (find_op(static_cast<std::uint64_t>(last.opcode)) == nullptr) return;
    if (std::ranges::find(rule->terminators, last.opcode) != rule->terminators.end()) return;
    OpCheck(context_, last)
        .fail({"terminator of " + std::string(name(owner)), names(rule->terminators), std::string(name(last.opcode)),
               "end the region with one of its own terminators"});
  }

  FunctionContext& context_;
  std::vector<bool> visible_;
};

}  // namespace

void verify_body(FunctionContext& context) {
  Walk(context).block(context.function.body, Opcode::Entry);
}

}  // namespace tilegym::tile_ir
