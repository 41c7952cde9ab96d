#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "tile_ir/verify_checks.h"

namespace tilegym::tile_ir {

namespace {

bool is_view(const Type& type) {
  return type.kind != TypeKind::tile && type.kind != TypeKind::token;
}

/// Values that leave a region or run round a loop: tiles and tokens only.
void verify_carried(const OpCheck& check, std::span<const ValueId> values, std::string_view what) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_view(check.type(values[i]))) continue;
    check.fail({std::string(what) + " " + std::to_string(i), "a tile or token", text(check, values[i]),
                "make the view inside the region"});
    return;
  }
}

void verify_loop_values(const OpCheck& check, std::span<const ValueId> arguments, std::span<const ValueId> initial) {
  if (!same_types(check, arguments, initial)) {
    check.fail({"loop-carried block arguments", text(check, initial) + " like the initial values",
                text(check, arguments), "give each initial value one block argument of its type"});
  }
  verify_carried(check, arguments, "loop-carried value");
  verify_carried(check, check.op.results, "result");
}

/// The loop that a break or continue belongs to: nothing but `if` may stand between them.
const Operation* enclosing_loop(const OpCheck& check, std::initializer_list<Opcode> loops, const std::string& wanted) {
  const auto around = check.ancestors();
  for (auto operation = around.rbegin(); operation != around.rend(); ++operation) {
    if (std::ranges::find(loops, (*operation)->opcode) != loops.end()) return *operation;
    if ((*operation)->opcode == Opcode::If) continue;
    check.fail({"place", wanted + ", inside no other operation than if",
                "the body of " + std::string(name((*operation)->opcode)), "end that region with its own terminator"});
    return nullptr;
  }
  check.fail({"place", wanted, "the body of the entry", "use return"});
  return nullptr;
}

void verify_leaving(const OpCheck& check, std::span<const ValueId> wanted, std::string_view whose) {
  if (same_types(check, check.op.operands, wanted)) return;
  check.fail({"operands", text(check, wanted) + " like the " + std::string(whose), text(check, check.op.operands),
              "pass on one value for each"});
}

void verify_branch(const OpCheck& check, const Region& region, std::string_view name) {
  if (region.blocks.empty()) return;
  const Block& block = region.blocks.front();
  if (!block.arguments.empty()) {
    check.fail({std::string(name) + " region", "no block arguments", std::to_string(block.arguments.size()),
                "use values from outside"});
  }
  if (block.operations.empty() || block.operations.back().opcode != Opcode::Yield) return;
  const auto& yielded = block.operations.back().operands;
  if (same_types(check, yielded, check.op.results)) return;
  check.fail({"yield of the " + std::string(name) + " region", text(check, check.op.results) + " like the results",
              text(check, yielded), "yield one value for each result"});
}

}  // namespace

void check_break(OpCheck& check) {
  const Operation* loop = enclosing_loop(check, {Opcode::Loop}, "a loop");
  if (loop != nullptr) verify_leaving(check, loop->results, "results of the loop");
}

void check_continue(OpCheck& check) {
  const Operation* loop = enclosing_loop(check, {Opcode::For, Opcode::Loop}, "a for or loop");
  if (loop == nullptr) return;
  const bool counted = loop->opcode == Opcode::For;
  verify_leaving(check, counted ? loop->results : loop->operands, counted ? "results of the for" : "initial values");
}

void check_return(OpCheck& check) {
  for (const Operation* operation : check.ancestors()) {
    if (operation->opcode == Opcode::If || operation->opcode == Opcode::Loop) continue;
    check.fail({"place", "the body of the entry, inside no other operation than if and loop",
                "the body of " + std::string(name(operation->opcode)), "leave that region first"});
    return;
  }
  const std::size_t operands = check.op.operands.size();
  if (operands > 0) check.fail({"operands", "none", std::to_string(operands), "store what the kernel computes"});
}

void check_for(OpCheck& check) {
  const Block& body = check.op.body();
  const auto initial = check.op.group(3);
  if (body.arguments.empty()) {
    check.fail({"block arguments", "one for the induction variable", "none", "add it as the first argument"});
    return;
  }
  const ValueId counter = body.arguments.front();
  if (!same_type(check.module(), check.type_id(counter), check.type_id(check.op.operands[0]))) {
    check.fail({"induction variable", text(check, check.op.operands[0]) + " like the bounds", text(check, counter),
                "give it the type of the bounds"});
  }
  if (!same_types(check, initial, check.op.results)) {
    check.fail({"results", text(check, initial) + " like the initial values", text(check, check.op.results),
                "give each initial value one result of its type"});
  }
  verify_loop_values(check, std::span(body.arguments).subspan(1), initial);
}

void check_loop(OpCheck& check) {
  verify_loop_values(check, check.op.body().arguments, check.op.operands);
}

void check_if(OpCheck& check) {
  verify_carried(check, check.op.results, "result");
  verify_branch(check, check.op.regions[0], "then");
  verify_branch(check, check.op.regions[1], "else");
  if (!check.op.regions[1].blocks.empty() || check.op.results.empty()) return;
  check.fail({"else region", "one, since there are results", "none", "yield the results there as well"});
}

}  // namespace tilegym::tile_ir
