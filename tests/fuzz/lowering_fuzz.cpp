#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "common/check.h"
#include "cpu_driver/engine/engine.h"
#include "tile_ir/reader.h"
#include "tile_ir/verify.h"

// The engine's plans of valid modules.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilegym;
  auto read = tile_ir::read_module(std::as_bytes(std::span(data, size)));
  if (!read.ok() || !tile_ir::verify(read.value(), {.limit = 1}).empty()) return 0;
  const auto module = std::make_shared<const tile_ir::Module>(std::move(read).value());
  for (const tile_ir::Function& function : module->functions) {
    const auto kernel = cpu::lower_kernel(module, function);
    TILEGYM_CHECK(kernel.ok() || !kernel.error().message.empty());
  }
  return 0;
}
