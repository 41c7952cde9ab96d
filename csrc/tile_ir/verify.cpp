#include "tile_ir/verify.h"

#include <set>
#include <string>
#include <utility>

#include "tile_ir/verify_context.h"

namespace tilegym::tile_ir {

namespace {

constexpr std::string_view kEntryHints[] = {"num_cta_in_cga", "num_worker_warps_per_cta", "occupancy"};

/// Lists and shapes of hostile modules are as long as the module.
std::string shortened(std::string text) {
  constexpr std::size_t kMostBytes = 500;
  if (text.size() > kMostBytes) text.replace(kMostBytes, std::string::npos, "...");
  return text;
}

void verify_signature(const Module& module, const Function& function, Report& report) {
  const Type& signature = module.types[function.type];
  if (!function.is_entry) {
    report.add("entry", function.name, 0, {"function", "an entry", "another function", "set the entry flag"});
  }
  if (!signature.results.empty()) {
    report.add("entry", function.name, 0,
               {"results", "none", std::to_string(signature.results.size()), "store what the kernel computes"});
  }
  for (std::size_t i = 0; i < signature.inputs.size() && !report.full(); ++i) {
    const Type& type = module.types[signature.inputs[i]];
    if (!type.is_tile() || type.shape.empty()) continue;
    report.add(
        "entry", function.name, 0,
        {"parameter " + std::to_string(i), "a tile of rank 0", text(module, type), "pass a pointer and load the tile"});
  }
}

void verify_entry_hints(const Function& function, const VerifyOptions& options, Report& report) {
  if (!function.optimization_hints) return;
  std::vector<Finding> findings;
  verify_hints(*function.optimization_hints, kEntryHints, options.hints, "optimization_hints", findings);
  for (Finding& finding : findings) report.add("entry", function.name, 0, std::move(finding));
}

void verify_global(const Module& module, const Global& global, Report& report) {
  const Type& type = module.types[global.type];
  if (type.is_tile() && type.shape.size() == 1) return;
  report.add("global", global.name, 0, {"type", "a tile of rank 1", text(module, type), "give it one dimension"});
}

}  // namespace

std::string Diagnostic::text() const {
  std::string out = "tile_ir: " + operation;
  if (!symbol.empty()) out += " in '" + symbol + "'";
  if (byte_offset != 0) out += " at byte " + std::to_string(byte_offset);
  return out + ": " + subject + ": wanted " + wanted + ", got " + got + "; " + remedy;
}

GlobalsByName::GlobalsByName(const Module& module) {
  for (const Global& global : module.globals) globals_.emplace(global.name, &global);
}

const Global* GlobalsByName::find(std::string_view name) const {
  const auto found = globals_.find(name);
  return found == globals_.end() ? nullptr : found->second;
}

void Report::add(std::string_view operation, std::string_view symbol, std::size_t byte_offset, Finding finding) {
  if (full()) return;
  diagnostics_.push_back({std::string(operation), shortened(std::string(symbol)), shortened(std::move(finding.subject)),
                          shortened(std::move(finding.wanted)), shortened(std::move(finding.got)),
                          std::move(finding.remedy), byte_offset});
}

void verify_symbols(const Module& module, const VerifyOptions& options, Report& report) {
  std::set<std::string_view> names;
  const auto take = [&](std::string_view kind, const std::string& name) {
    if (names.insert(name).second) return;
    report.add(kind, name, 0, {"name", "one that the module has once", "a second one", "rename one of them"});
  };
  for (const Global& global : module.globals) {
    take("global", global.name);
    verify_global(module, global, report);
  }
  for (const Function& function : module.functions) {
    take("entry", function.name);
    verify_signature(module, function, report);
    verify_function_location(module, function, report);
    verify_entry_hints(function, options, report);
  }
}

std::vector<Diagnostic> verify(const Module& module, const VerifyOptions& options) {
  Report report(options.limit);
  verify_types(module, report);
  verify_symbols(module, options, report);
  const GlobalsByName globals(module);
  for (const Function& function : module.functions) {
    if (report.full()) break;
    FunctionContext context{module, function, options, globals, report, {}};
    verify_body(context);
  }
  return std::move(report).take();
}

}  // namespace tilegym::tile_ir
