#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "tile_ir/verify_checks.h"

namespace tilegym::tile_ir {

namespace {

/// Element type of an attribute that is a number; nothing for others.
std::optional<ElementType> number_type(const OpCheck& check, const Attribute& value) {
  if (value.kind == AttrKind::boolean) return ElementType::i1;
  if (value.kind != AttrKind::integer && value.kind != AttrKind::floating) return std::nullopt;
  return check.module().types[value.type].element;
}

bool is_half(ElementType type) {
  return type == ElementType::f16 || type == ElementType::bf16;
}

void verify_identities(const OpCheck& check, const Attribute& identities) {
  const auto& operands = check.op.operands;
  if (identities.children.size() != operands.size()) {
    check.fail({"identities", std::to_string(operands.size()) + ", one for each operand",
                std::to_string(identities.children.size()), "give each operand its neutral element"});
    return;
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Type& type = check.type(operands[i]);
    const auto got = number_type(check, identities.children[i]);
    // The two half precisions stand for each other here.
    if (!type.of_pointers && got && (*got == type.element || (is_half(*got) && is_half(type.element)))) continue;
    check.fail({"identity " + std::to_string(i), "a number of type " + std::string(name(type.element)),
                got ? std::string(name(*got)) : "another attribute", "write it in the type of the operand"});
    return;
  }
}

bool verify_operand_count(const OpCheck& check) {
  const std::size_t operands = check.op.operands.size();
  const std::size_t results = check.op.results.size();
  if (operands > 0 && operands == results) return true;
  check.fail({"results", std::to_string(std::max<std::size_t>(operands, 1)) + ", one for each of at least one operand",
              std::to_string(results), "reduce as many tiles as there are results"});
  return false;
}

bool verify_dimension(const OpCheck& check) {
  const std::size_t rank = check.operand(0).shape.size();
  const std::uint64_t dim = check.op.integer(AttrName::dim);
  if (dim < rank) return true;
  check.fail(
      {"dim", "a dimension below " + std::to_string(rank), std::to_string(dim), "name a dimension of the operands"});
  return false;
}

/// Two scalars for each operand, of its element type: the running value and the next element.
bool verify_body_arguments(const OpCheck& check, const Block& body) {
  const auto& operands = check.op.operands;
  if (body.arguments.size() != 2 * operands.size()) {
    check.fail({"block arguments", std::to_string(2 * operands.size()) + ", two for each operand",
                std::to_string(body.arguments.size()), "take two scalars for each operand"});
    return false;
  }
  for (std::size_t i = 0; i < body.arguments.size(); ++i) {
    const Type& wanted = check.type(operands[i / 2]);
    const Type& got = check.type(body.arguments[i]);
    if (got.is_scalar_tile() && got.element == wanted.element && got.of_pointers == wanted.of_pointers) continue;
    Type scalar = wanted;
    scalar.shape.clear();
    check.fail({"block argument " + std::to_string(i), text(check.module(), scalar), text(check, body.arguments[i]),
                "use a scalar of the operand's element type"});
    return false;
  }
  return true;
}

void verify_body_result(const OpCheck& check, const Block& body) {
  const Operation& last = body.operations.back();
  if (last.opcode != Opcode::Yield) return;
  const auto fits = [&](ValueId yielded, ValueId operand) {
    const Type& got = check.type(yielded);
    const Type& wanted = check.type(operand);
    return got.is_tile() && got.element == wanted.element && got.of_pointers == wanted.of_pointers;
  };
  if (std::ranges::equal(last.operands, check.op.operands, fits)) return;
  check.fail({"yield of the body", "a value of the element type of each of " + text(check, check.op.operands),
              text(check, last.operands), "yield the new running values"});
}

/// The first operation of a block that has effects on memory, regions included; null where there is none.
const Operation* find_effect(const Block& block) {
  for (const Operation& operation : block.operations) {
    const OpRule* rule = find_rule(operation.opcode);
    if (rule == nullptr || rule->effects == Effects::free || is_terminator(operation.opcode)) continue;
    if (rule->effects == Effects::effects) return &operation;
    for (const Region& region : operation.regions) {
      for (const Block& inner : region.blocks) {
        if (const Operation* found = find_effect(inner)) return found;
      }
    }
  }
  return nullptr;
}

void verify_body_effects(const OpCheck& check, const Block& body) {
  const Operation* found = find_effect(body);
  if (found == nullptr) return;
  check.fail(
      {"body", "operations without effects on memory", std::string(name(found->opcode)), "compute with values only"});
}

/// What reductions and scans share; false where the results cannot be judged.
bool verify_aggregate(const OpCheck& check) {
  if (!verify_operand_count(check)) return false;
  verify_identities(check, *check.op.find(AttrName::identities));
  const Block& body = check.op.body();
  if (verify_body_arguments(check, body)) verify_body_result(check, body);
  verify_body_effects(check, body);
  return verify_dimension(check);
}

}  // namespace

void check_reduce(OpCheck& check) {
  if (!verify_aggregate(check)) return;
  const auto dim = static_cast<std::ptrdiff_t>(check.op.integer(AttrName::dim));
  for (std::size_t i = 0; i < check.op.results.size(); ++i) {
    Type wanted = check.type(check.op.operands[i]);
    wanted.shape.erase(wanted.shape.begin() + dim);
    const Type& got = check.result(i);
    if (got.shape == wanted.shape && got.element == wanted.element && got.of_pointers == wanted.of_pointers) continue;
    check.fail({result_text(check, i), text(check.module(), wanted), text(check, check.op.results[i]),
                "leave out the reduced dimension"});
    return;
  }
}

void check_scan(OpCheck& check) {
  if (!verify_aggregate(check) || same_types(check, check.op.operands, check.op.results)) return;
  check.fail({"results", text(check, check.op.operands) + " like the operands", text(check, check.op.results),
              "a scan keeps types and shapes"});
}

}  // namespace tilegym::tile_ir
