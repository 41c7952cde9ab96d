#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "common/check.h"
#include "cpu_driver/engine/engine.h"
#include "tile_ir/printer.h"
#include "tile_ir/reader.h"
#include "tile_ir/verify.h"
#include "tile_ir/writer.h"

namespace {

using namespace tilegym;

void print(std::span<const std::byte> bytes) {
  const auto module = tile_ir::read_module(bytes, {.keep_unknown = true});
  if (!module.ok()) return;
  (void)tile_ir::print_module(module.value());
  (void)tile_ir::print_module(module.value(), {.locations = true});
}

/// What was written reads back as the same text.
void write(const tile_ir::Module& module) {
  const auto written = tile_ir::write_module(module);
  if (!written.ok()) return;
  const auto again = tile_ir::read_module(written.value());
  TILEGYM_CHECK(again.ok());
  TILEGYM_CHECK(tile_ir::print_module(again.value()) == tile_ir::print_module(module));
}

void lower(const std::shared_ptr<const tile_ir::Module>& module) {
  for (const tile_ir::Function& function : module->functions) {
    const auto kernel = cpu::lower_kernel(module, function);
    TILEGYM_CHECK(kernel.ok() || !kernel.error().message.empty());
  }
}

}  // namespace

// Everything that happens to bytecode of unknown origin before a kernel runs.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  print(bytes);
  auto read = tile_ir::read_module(bytes);
  if (!read.ok()) return 0;
  const auto module = std::make_shared<const tile_ir::Module>(std::move(read).value());
  const auto diagnostics = tile_ir::verify(*module, {.hints = true});
  for (const tile_ir::Diagnostic& diagnostic : diagnostics) TILEGYM_CHECK(!diagnostic.text().empty());
  if (!tile_ir::verify(*module, {.limit = 1}).empty()) return 0;
  write(*module);
  lower(module);
  return 0;
}
