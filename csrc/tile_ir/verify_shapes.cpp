#include <set>
#include <string>
#include <vector>

#include "tile_ir/verify_checks.h"

namespace tilegym::tile_ir {

namespace {

std::string dimension(std::string_view what, std::size_t index) {
  return "dimension " + std::to_string(index) + " of " + std::string(what);
}

}  // namespace

void check_broadcast(OpCheck& check) {
  const auto& source = check.operand(0).shape;
  const auto& result = check.result().shape;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == result[i] || source[i] == 1) continue;
    check.fail({dimension("source", i), "1 or " + std::to_string(result[i]) + " like the result",
                std::to_string(source[i]), "only dimensions of size 1 are repeated"});
    return;
  }
}

void check_cat(OpCheck& check) {
  const auto& lhs = check.operand(0).shape;
  const auto& rhs = check.operand(1).shape;
  const auto& result = check.result().shape;
  const std::uint64_t dim = check.op.integer(AttrName::dim);
  if (dim >= lhs.size()) {
    check.fail({"dim", "a dimension below " + std::to_string(lhs.size()), std::to_string(dim),
                "name a dimension of the operands"});
    return;
  }
  for (std::size_t i = 0; i < lhs.size(); ++i) {
    const std::int64_t wanted = i == dim ? lhs[i] + rhs[i] : lhs[i];
    if (result[i] == wanted && (i == dim || rhs[i] == lhs[i])) continue;
    const bool result_fits = result[i] == wanted;
    check.fail({dimension(result_fits ? "rhs" : "result", i), std::to_string(wanted),
                std::to_string(result_fits ? rhs[i] : result[i]), "sizes add up along dim and are equal elsewhere"});
    return;
  }
}

void check_extract(OpCheck& check) {
  const auto& source = check.operand(0).shape;
  const auto& result = check.result().shape;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] % result[i] == 0) continue;
    check.fail({dimension("source", i), "a multiple of " + std::to_string(result[i]), std::to_string(source[i]),
                "extract a part that divides the source"});
    return;
  }
  const std::size_t indices = check.op.group(1).size();
  if (indices == source.size()) return;
  check.fail({"indices", std::to_string(source.size()) + " like the rank of source", std::to_string(indices),
              "give one index a dimension"});
}

void check_join(OpCheck& check) {
  const std::size_t tokens = check.op.operands.size();
  if (tokens < 2) check.fail({"tokens", "two or more", std::to_string(tokens), "use the token itself"});
}

void check_permute(OpCheck& check) {
  const auto& source = check.operand(0).shape;
  const auto& result = check.result().shape;
  const auto& order = check.op.find(AttrName::permutation)->numbers;
  const std::string remedy = "name every dimension of source once";
  if (source.size() < 2) {
    check.fail({"operand 'source'", "rank 2 or more", "rank " + std::to_string(source.size()), "drop the operation"});
    return;
  }
  if (order.size() != source.size()) {
    check.fail({"permutation", std::to_string(source.size()) + " dimensions", std::to_string(order.size()), remedy});
    return;
  }
  std::set<std::int64_t> seen;
  for (const std::int64_t dim : order) {
    if (dim >= 0 && dim < std::ssize(source) && seen.insert(dim).second) continue;
    check.fail({"permutation", "each dimension below " + std::to_string(source.size()) + " once", text(order), remedy});
    return;
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t wanted = source[static_cast<std::size_t>(order[i])];
    if (result[i] == wanted) continue;
    check.fail(
        {dimension("result", i), std::to_string(wanted), std::to_string(result[i]), "permute the shape as well"});
    return;
  }
}

void check_reshape(OpCheck& check) {
  const std::int64_t source = check.operand(0).element_count();
  const std::int64_t result = check.result().element_count();
  if (source == result) return;
  check.fail({"result", std::to_string(source) + " elements like source", std::to_string(result) + " elements",
              "reshape keeps the number of elements"});
}

}  // namespace tilegym::tile_ir
