#include <cstddef>
#include <cstdint>
#include <span>

#include "checks.h"

// Reader, printer, verifier and writer of Tile IR bytecode.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tilegym::fuzz::check_module(std::as_bytes(std::span(data, size)));
  return 0;
}
