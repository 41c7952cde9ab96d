#include <string>

#include "tile_ir/verify_context.h"

namespace tilegym::tile_ir {

namespace {

/// The source position behind a location: the outermost caller of a call site; 0 where it is not known.
DebugId position_of(const Module& module, DebugId id) {
  while (module.debug[id].kind == DebugKind::call_site) id = module.debug[id].other;
  return module.debug[id].kind == DebugKind::location ? id : 0;
}

/// The subprogram around a position; 0 for the unknown one.
DebugId subprogram_of(const Module& module, DebugId location) {
  DebugId id = module.debug[position_of(module, location)].scope;
  while (module.debug[id].kind == DebugKind::lexical_block) id = module.debug[id].scope;
  return id;
}

bool same_file(const DebugEntry& left, const DebugEntry& right) {
  return left.name == right.name && left.detail == right.detail;
}

/// Entries may stand in the section twice.
bool same_subprogram(const Module& module, DebugId left, DebugId right) {
  if (left == right) return true;
  const DebugEntry& a = module.debug[left];
  const DebugEntry& b = module.debug[right];
  const auto file = [&](DebugId id) -> const DebugEntry& { return module.debug[id]; };
  return a.kind == b.kind && same_file(a, b) && a.line == b.line && a.column == b.column &&
         same_file(file(a.other), file(b.other)) && same_file(file(file(a.scope).other), file(file(b.scope).other));
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

}  // namespace

void verify_function_location(const Module& module, const Function& function, Report& report) {
  const DebugEntry& entry = module.debug[function.location];
  if (entry.kind == DebugKind::call_site) {
    report.add("entry", function.name, 0,
               {"location", "one in its subprogram", "a call site", "give the position of the function itself"});
    return;
  }
  if (entry.kind != DebugKind::location) return;
  const DebugEntry& scope = module.debug[entry.scope];
  if (scope.kind != DebugKind::subprogram) {
    report.add("entry", function.name, 0,
               {"location", "one in its subprogram", "one in a lexical block", "use the subprogram as its scope"});
  } else if (scope.detail != function.name) {
    report.add("entry", function.name, 0,
               {"linkage name of its subprogram", quoted(function.name), quoted(scope.detail),
                "describe each function by a subprogram of its own"});
  }
}

void verify_location(const OpCheck& check) {
  const Module& module = check.module();
  const DebugId own = subprogram_of(module, check.op.location);
  if (own == 0) return;
  const DebugId wanted = subprogram_of(module, check.function().location);
  if (wanted == 0) {
    check.fail({"location", "none, since the function has none", "one in " + quoted(module.debug[own].name),
                "give the function a location"});
  } else if (!same_subprogram(module, own, wanted)) {
    check.fail({"location", "one in " + quoted(module.debug[wanted].name) + " like the function",
                "one in " + quoted(module.debug[own].name), "wrap inlined code in call sites"});
  }
}

}  // namespace tilegym::tile_ir
