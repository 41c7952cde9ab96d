#include "checks.h"

#include "common/check.h"
#include "tile_ir/diff.h"
#include "tile_ir/facts.h"
#include "tile_ir/printer.h"
#include "tile_ir/reader.h"
#include "tile_ir/stats.h"
#include "tile_ir/verify.h"
#include "tile_ir/writer.h"

namespace tilegym::fuzz {

namespace {

using namespace tile_ir;

/// An operation that is not known ends a function's text, not the reading.
void print_unknown(std::span<const std::byte> bytes, const Error& error) {
  TILEGYM_CHECK(error.message.find(" at byte ") != std::string::npos);
  const Result<Module> module = read_module(bytes, {.keep_unknown = true});
  if (module.ok()) (void)print_module(module.value(), {.locations = true});
}

void write(const Module& module) {
  const auto written = write_module(module);
  if (!written.ok()) return;
  const Result<Module> again = read_module(written.value());
  TILEGYM_CHECK(again.ok());
  for (const bool locations : {false, true}) {
    TILEGYM_CHECK(print_module(again.value(), {locations}) == print_module(module, {locations}));
  }
}

}  // namespace

void check_module(std::span<const std::byte> bytes) {
  const Result<Module> module = read_module(bytes);
  if (!module.ok()) return print_unknown(bytes, module.error());
  const auto diagnostics = verify(module.value(), {.hints = true});
  for (const Diagnostic& diagnostic : diagnostics) TILEGYM_CHECK(!diagnostic.text().empty());
  write(module.value());
}

void check_reports(std::span<const std::byte> bytes) {
  const Result<Module> module = read_module(bytes);
  if (!module.ok() || !verify(module.value(), {.limit = 1}).empty()) return;
  (void)gather_facts(module.value());
  TILEGYM_CHECK(diff_modules(module.value(), module.value()).empty());
  for (const Function& function : module.value().functions) {
    const auto counted = launch_stats(module.value(), function, {.grid = {2, 1, 1}, .arguments = {1, 8, 8, 8}});
    TILEGYM_CHECK(counted.ok());
  }
}

}  // namespace tilegym::fuzz
