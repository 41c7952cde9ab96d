#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tile_ir/verify_checks.h"

namespace tilegym::tile_ir {

namespace {

constexpr std::string_view kPointerHints[] = {"latency"};
constexpr std::string_view kViewHints[] = {"latency", "allow_tma"};

struct HintRange {
  std::string_view key;
  std::uint64_t least, most;
  bool power_of_two;
};

constexpr HintRange kHintRanges[] = {
    {"num_cta_in_cga", 1, 16, true}, {"num_worker_warps_per_cta", 1, 32, true},
    {"occupancy", 1, 32, false},     {"latency", 1, 10, false},
    {"allow_tma", 0, 1, false},
};

constexpr std::string_view kTargets[] = {"default", "sm_80",  "sm_86",  "sm_87",  "sm_88",  "sm_89", "sm_90",
                                         "sm_100",  "sm_103", "sm_107", "sm_110", "sm_120", "sm_121"};

Finding hint_finding(std::string_view target, const Attribute& hint, std::string wanted, std::string got) {
  const std::string subject = "hint " + std::string(hint.key) + " of " + std::string(target);
  return {subject, std::move(wanted), std::move(got), "leave the hint out"};
}

void verify_hint(std::string_view target, const Attribute& hint, std::span<const std::string_view> keys,
                 std::vector<Finding>& findings) {
  const auto* range = std::ranges::find(kHintRanges, hint.key, &HintRange::key);
  if (range == std::end(kHintRanges) || std::ranges::find(keys, hint.key) == keys.end()) {
    std::string known;
    for (const std::string_view key : keys) known += (known.empty() ? "" : ", ") + std::string(key);
    findings.push_back(hint_finding(target, hint, "a hint among " + known, "an unknown one"));
    return;
  }
  // Clusters came with sm_90.
  const bool single = range->key == "num_cta_in_cga" && target.starts_with("sm_8");
  const std::uint64_t most = single ? 1 : range->most;
  const AttrKind wanted = range->key == "allow_tma" ? AttrKind::boolean : AttrKind::integer;
  const bool number = hint.kind == wanted;
  const bool in_range = number && hint.integer >= range->least && hint.integer <= most;
  if (in_range && (!range->power_of_two || std::has_single_bit(hint.integer))) return;
  findings.push_back(hint_finding(target, hint,
                                  (range->power_of_two ? "a power of two from " : "") + std::to_string(range->least) +
                                      " to " + std::to_string(most),
                                  number ? std::to_string(hint.integer) : "another attribute"));
}

}  // namespace

void verify_hints(const Attribute& hints, std::span<const std::string_view> keys, bool values,
                  const std::string& subject, std::vector<Finding>& findings) {
  for (const Attribute& target : hints.children) {
    const std::string name(target.key);
    if (target.kind != AttrKind::dictionary) {
      findings.push_back({subject + " of " + name, "a dictionary", "another attribute", "write " + name + " = {…}"});
    } else if (values && std::ranges::find(kTargets, target.key) == std::end(kTargets)) {
      findings.push_back({subject, "a target such as sm_90, or default", name, "name a known target"});
    } else if (values) {
      for (const Attribute& hint : target.children) verify_hint(target.key, hint, keys, findings);
    }
  }
}

void check_hints(OpCheck& check) {
  const Attribute* hints = check.op.find(AttrName::optimization_hints);
  if (hints == nullptr) return;
  const bool view = check.op.opcode == Opcode::LoadViewTko || check.op.opcode == Opcode::StoreViewTko;
  std::vector<Finding> findings;
  verify_hints(*hints, view ? std::span(kViewHints) : std::span<const std::string_view>(kPointerHints),
               check.options().hints, "optimization_hints", findings);
  for (Finding& finding : findings) check.fail(std::move(finding));
}

}  // namespace tilegym::tile_ir
