#include <algorithm>
#include <bit>
#include <string>

#include "tile_ir/dense.h"
#include "tile_ir/verify_checks.h"

namespace tilegym::tile_ir {

namespace {

bool is_integer_tile(const Type& type) {
  return type.is_tile() && !type.of_pointers && !is_float(type.element);
}

bool is_integer_or_pointer_tile(const Type& type) {
  return is_integer_tile(type) || (type.is_tile() && type.of_pointers);
}

void refuse_constrained(const OpCheck& check, const std::string& predicate, const std::string& wanted) {
  check.fail(
      {"operand 'value'", wanted + " for " + predicate, text(check, check.op.operands[0]), "drop the assumption"});
}

/// Accessors of an optional pair of Attribute::numbers: {has, value}.
bool has(const Attribute& value, std::size_t at) {
  return value.numbers[at] != 0;
}

void verify_div_by(const OpCheck& check, const Attribute& predicate) {
  const Type& type = check.operand(0);
  const auto divisor = static_cast<std::uint64_t>(predicate.numbers[0]);
  if (!std::has_single_bit(divisor) || divisor > std::uint64_t{1} << 62) {
    check.fail({"divisor of div_by", "a power of two up to 2^62", std::to_string(divisor), "assume a power of two"});
    return;
  }
  const bool every = has(predicate, 1);
  if (every != has(predicate, 3)) {
    check.fail({"div_by", "every and along together", every ? "every alone" : "along alone", "give both or none"});
    return;
  }
  const bool is_tensor = type.kind == TypeKind::tensor_view;
  if (!is_tensor && !is_integer_or_pointer_tile(type)) {
    refuse_constrained(check, "div_by", "a tile of integers or pointers, or a tensor_view");
    return;
  }
  if (!every) return;
  if (is_tensor || type.shape.empty()) {
    refuse_constrained(check, "div_by with every and along", "a tile of rank 1 or more");
    return;
  }
  const std::int64_t along = predicate.numbers[4];
  if (along < 0 || along >= std::ssize(type.shape)) {
    check.fail({"along of div_by", "a dimension below " + std::to_string(type.shape.size()), std::to_string(along),
                "name a dimension of the tile"});
    return;
  }
  const std::int64_t extent = type.shape[static_cast<std::size_t>(along)];
  if (predicate.numbers[2] >= 0 && predicate.numbers[2] <= extent) return;
  check.fail({"every of div_by", "0 to " + std::to_string(extent), std::to_string(predicate.numbers[2]),
              "stay within the dimension"});
}

void verify_same_elements(const OpCheck& check, const Attribute& predicate) {
  const Type& type = check.operand(0);
  if (!is_integer_or_pointer_tile(type)) {
    refuse_constrained(check, "same_elements", "a tile of integers or pointers");
    return;
  }
  if (predicate.numbers.size() != type.shape.size()) {
    check.fail({"same_elements", std::to_string(type.shape.size()) + " numbers like the rank",
                std::to_string(predicate.numbers.size()), "give one number a dimension"});
    return;
  }
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (predicate.numbers[i] >= 0 && predicate.numbers[i] <= type.shape[i]) continue;
    check.fail({"number " + std::to_string(i) + " of same_elements", "0 to " + std::to_string(type.shape[i]),
                std::to_string(predicate.numbers[i]), "stay within the dimension"});
    return;
  }
}

void verify_bounded(const OpCheck& check, const Attribute& predicate) {
  const Type& type = check.operand(0);
  if (!is_integer_tile(type)) {
    refuse_constrained(check, "bounded", "a tile of integers");
    return;
  }
  const auto highest = static_cast<std::int64_t>(largest(significant_bits(type.element)) >> 1);
  const std::int64_t lowest = -highest - 1;
  for (const std::size_t at : {std::size_t{0}, std::size_t{2}}) {
    const std::int64_t bound = predicate.numbers[at + 1];
    if (!has(predicate, at) || (bound >= lowest && bound <= highest)) continue;
    check.fail({at == 0 ? "lower bound" : "upper bound",
                std::to_string(lowest) + " to " + std::to_string(highest) + " of " + std::string(name(type.element)),
                std::to_string(bound), "leave the bound out"});
    return;
  }
  if (!has(predicate, 0) || !has(predicate, 2) || predicate.numbers[1] <= predicate.numbers[3]) return;
  check.fail({"lower bound", "at most the upper bound " + std::to_string(predicate.numbers[3]),
              std::to_string(predicate.numbers[1]), "swap the bounds"});
}

}  // namespace

void check_assumption(OpCheck& check) {
  const Attribute& predicate = *check.op.find(AttrName::predicate);
  switch (predicate.kind) {
    case AttrKind::div_by:
      return verify_div_by(check, predicate);
    case AttrKind::same_elements:
      return verify_same_elements(check, predicate);
    case AttrKind::bounded:
      return verify_bounded(check, predicate);
    default:
      check.fail({"predicate", "div_by, same_elements or bounded", "another attribute", "assume one of these"});
  }
}

}  // namespace tilegym::tile_ir
