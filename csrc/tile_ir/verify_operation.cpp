#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tile_ir/verify_context.h"

namespace tilegym::tile_ir {

namespace {

/// One operand or result. Its name is composed only where something is wrong.
struct Part {
  ValueId value;
  const GroupSpec* group;  ///< null: a result
  std::size_t index;
};

std::string name(const OpCheck& check, const Part& part) {
  return part.group != nullptr ? operand_text(*part.group, part.index) : result_text(check, part.index);
}

ShortList<Part, 4> parts_of(const OpCheck& check, Parts set) {
  ShortList<Part, 4> parts;
  for (std::size_t group = 0; group < check.spec.operands.size(); ++group) {
    if ((set >> group & 1) == 0) continue;
    const auto values = check.op.group(group);
    for (std::size_t i = 0; i < values.size(); ++i) parts.push_back({values[i], &check.spec.operands[group], i});
  }
  for (std::size_t i = 0; i < check.op.results.size(); ++i) {
    if ((set >> (kFirstResultBit + i) & 1) != 0) parts.push_back({check.op.results[i], nullptr, i});
  }
  return parts;
}

bool agrees(const OpCheck& check, Agreement agreement, ValueId first, ValueId other) {
  const Type& a = check.type(first);
  const Type& b = check.type(other);
  switch (agreement) {
    case Agreement::type:
      return same_type(check.module(), check.type_id(first), check.type_id(other));
    case Agreement::shape:
      return a.shape == b.shape;
    case Agreement::rank:
      return a.shape.size() == b.shape.size();
    case Agreement::element:
      return a.element == b.element && a.of_pointers == b.of_pointers;
    case Agreement::pointee:
      return a.element == b.element && !b.of_pointers && a.shape == b.shape;
  }
  return true;
}

/// What the other part has to be, and how to get there.
std::pair<std::string, std::string> wish(const OpCheck& check, Agreement agreement, const Part& first) {
  const Type& type = check.type(first.value);
  switch (agreement) {
    case Agreement::type:
      return {text(check, first.value) + " like " + name(check, first), "give both the same type"};
    case Agreement::shape:
      return {"the shape " + text(type.shape) + " of " + name(check, first), "broadcast or reshape one of them"};
    case Agreement::rank:
      return {"the rank " + std::to_string(type.shape.size()) + " of " + name(check, first), "reshape one of them"};
    case Agreement::element:
      return {"elements of type " + std::string(type.of_pointers ? "pointer to " : "") +
                  std::string(name(type.element)) + " like " + name(check, first),
              "convert one of them"};
    case Agreement::pointee:
      return {"a tile of " + std::string(name(type.element)) + " with the shape " + text(type.shape) + ", which " +
                  name(check, first) + " points to",
              "use pointers to the type of the value"};
  }
  return {};
}

bool verify_class(const OpCheck& check, const TypeClass& wanted, ValueId value, const auto& subject) {
  if (wanted.accepts(check.type(value))) return true;
  check.fail({subject(), std::string(wanted.name), text(check, value), "convert it or use another operation"});
  return false;
}

bool verify_classes(const OpCheck& check, const OpRule& rule) {
  bool good = true;
  for (std::size_t group = 0; group < rule.operands.size(); ++group) {
    const auto values = check.op.group(group);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto subject = [&] { return operand_text(check.spec.operands[group], i); };
      good = verify_class(check, *rule.operands[group], values[i], subject) && good;
    }
  }
  for (std::size_t i = 0; i < check.op.results.size() && !rule.results.empty(); ++i) {
    const auto subject = [&] { return result_text(check, i); };
    const std::size_t column = std::min(i, rule.results.size() - 1);
    good = verify_class(check, *rule.results[column], check.op.results[i], subject) && good;
  }
  return good;
}

bool verify_relation(const OpCheck& check, const Relation& relation) {
  const auto parts = parts_of(check, relation.parts);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (agrees(check, relation.agreement, parts[0].value, parts[i].value)) continue;
    auto [wanted, remedy] = wish(check, relation.agreement, parts[0]);
    check.fail({name(check, parts[i]), std::move(wanted), text(check, parts[i].value), std::move(remedy)});
    return false;
  }
  return true;
}

void verify_attribute(const OpCheck& check, const AttrRule& rule) {
  const Attribute* attribute = check.op.find(rule.attribute);
  if (attribute == nullptr) return;
  const bool in_set = attribute->integer < 32 && (rule.values >> attribute->integer & 1) != 0;
  const std::string subject(name(rule.attribute));
  if (!rule.needs_f32) {
    if (in_set) return;
    check.fail({subject, "one of " + value_names(rule.attribute, rule.values),
                std::string(value_name(rule.attribute, attribute->integer)), "choose a value that the operation has"});
  } else if (in_set && check.result().element != ElementType::f32) {
    const std::string_view value = value_name(rule.attribute, attribute->integer);
    const std::string got = "it on " + text(check, check.op.results.front());
    check.fail({value.empty() ? subject : subject + " " + std::string(value), "a result of f32", got,
                "leave it out or compute in f32"});
  }
}

}  // namespace

void OpCheck::fail(Finding finding) const {
  context_.report.add(spec.mnemonic, function().name, op.byte_offset, std::move(finding));
}

bool same_types(const OpCheck& check, std::span<const ValueId> left, std::span<const ValueId> right) {
  return std::ranges::equal(
      left, right, [&](ValueId a, ValueId b) { return same_type(check.module(), check.type_id(a), check.type_id(b)); });
}

std::string text(const OpCheck& check, ValueId value) {
  return text(check.module(), check.type(value));
}

std::string text(const OpCheck& check, std::span<const ValueId> values) {
  std::string out;
  for (const ValueId value : values) out += (out.empty() ? "" : ", ") + text(check, value);
  return "(" + out + ")";
}

std::string operand_text(const GroupSpec& group, std::size_t index) {
  const std::string number = group.arity == Arity::any ? " " + std::to_string(index) : "";
  return "operand '" + std::string(group.name) + "'" + number;
}

std::string result_text(const OpCheck& check, std::size_t index) {
  return check.op.results.size() == 1 ? "result" : "result " + std::to_string(index);
}

void verify_operation(OpCheck& check) {
  const OpRule* rule = find_rule(check.op.opcode);
  if (rule == nullptr) {
    check.fail({"place", "the top of a module", "the body of a function", "move it out of the function"});
    return;
  }
  if (check.op.location != 0) verify_location(check);
  if (!verify_classes(check, *rule)) return;
  bool good = true;
  for (const Relation& relation : rule->relations) good = verify_relation(check, relation) && good;
  for (const AttrRule& attribute : rule->attributes) verify_attribute(check, attribute);
  if (!good) return;
  for (const Check& run : rule->checks) run(check);
}

}  // namespace tilegym::tile_ir
