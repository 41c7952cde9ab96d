#include <cstddef>
#include <cstdint>
#include <span>

#include "checks.h"

// Facts, differences and launch counts of valid modules.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tilegym::fuzz::check_reports(std::as_bytes(std::span(data, size)));
  return 0;
}
