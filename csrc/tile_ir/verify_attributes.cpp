#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "tile_ir/verify_checks.h"

namespace tilegym::tile_ir {

namespace {

using Elements = FixedList<ElementType, 4>;

void verify_element(const OpCheck& check, std::size_t group, const Elements& allowed, const std::string& whose,
                    std::string remedy) {
  const ElementType element = check.operand(group).element;
  if (std::ranges::find(allowed, element) != allowed.end()) return;
  std::string names;
  for (const ElementType type : allowed) names += (names.empty() ? "" : ", ") + std::string(name(type));
  check.fail({operand_text(check.spec.operands[group], 0), "one of " + names + whose, std::string(name(element)),
              std::move(remedy)});
}

/// Number of arguments that a format takes, or nothing where a conversion has no end.
std::optional<std::size_t> count_conversions(std::string_view format) {
  constexpr std::string_view kEnds = "diuoxXeEfFgGaAcsSpn%";
  std::size_t count = 0;
  for (std::size_t at = format.find('%'); at != std::string_view::npos; at = format.find('%', at)) {
    const std::size_t end = format.find_first_of(kEnds, at + 1);
    if (end == std::string_view::npos) return std::nullopt;
    const bool is_percent = format.substr(at, end - at + 1) == "%%";
    count += is_percent ? 0 : 1;
    // A conversion may hold the sign of the next one; only "%%" is passed as a whole.
    at += is_percent ? 2 : 1;
  }
  return count;
}

}  // namespace

void check_atomic_mode(OpCheck& check) {
  using enum ElementType;
  const std::string mode(value_name(AttrName::mode, check.op.integer(AttrName::mode)));
  const Elements allowed = mode == "addf"   ? Elements{f16, bf16, f32, f64}
                           : mode == "xchg" ? Elements{i32, i64, f32, f64}
                                            : Elements{i32, i64};
  const std::size_t value = check.op.opcode == Opcode::AtomicRMW ? 1 : 2;
  verify_element(check, value, allowed, " for " + mode, "choose another mode or type");
}

void check_compare_and_swap(OpCheck& check) {
  using enum ElementType;
  verify_element(check, 2, {i32, i64, f32, f64}, "", "swap whole words of 32 or 64 bits");
}

void check_format(OpCheck& check) {
  const std::string_view format = check.op.find(AttrName::str)->text;
  const std::size_t arguments = check.op.group(0).size();
  const auto wanted = count_conversions(format);
  if (!wanted) {
    check.fail({"str", "conversions that end in one of diuoxXeEfFgGaAcsSpn%", "one without an end",
                "write %% for a percent sign"});
  } else if (*wanted != arguments) {
    check.fail({"arguments", std::to_string(*wanted) + " for the conversions of str", std::to_string(arguments),
                "give one tile for each conversion"});
  }
}

void check_global_use(OpCheck& check) {
  const std::string symbol(check.op.find(AttrName::name)->text);
  const Global* found = check.global(symbol);
  if (found == nullptr) {
    check.fail({"name", "a global of the module", "'" + symbol + "'", "add the global or correct the name"});
    return;
  }
  const ElementType element = check.module().types[found->type].element;
  if (check.result().element == element) return;
  check.fail({"result", "a pointer to " + std::string(name(element)) + " like the global '" + symbol + "'",
              text(check, check.op.results[0]), "cast it with ptr_to_ptr afterwards"});
}

void check_scope(OpCheck& check) {
  const std::uint64_t order = check.op.integer(AttrName::memory_ordering_semantics);
  const Attribute* scope = check.op.find(AttrName::memory_scope);
  if ((order == 0) == (scope == nullptr)) return;
  const std::string order_name(value_name(AttrName::memory_ordering_semantics, order));
  if (scope != nullptr) {
    check.fail({"memory_scope", "none for weak", std::string(value_name(AttrName::memory_scope, scope->integer)),
                "leave it out or use relaxed"});
  } else {
    check.fail({"memory_scope", "one for " + order_name, "none", "say who else may access the memory"});
  }
}

}  // namespace tilegym::tile_ir
