#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "fuzz/checks.h"

namespace tilegym::fuzz {

namespace {

/// The inputs that tools/fuzz has packed: each its length in four bytes, lowest first, then its bytes.
std::vector<std::vector<std::byte>> corpus() {
  std::ifstream file(TILEGYM_GOLDENS "/../fuzz/tile_ir.corpus", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::span<const std::byte> rest = std::as_bytes(std::span(all));
  std::vector<std::vector<std::byte>> inputs;
  while (rest.size() >= 4) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i) size |= std::to_integer<std::size_t>(rest[i]) << (8 * i);
    const auto input = rest.subspan(4, size);
    inputs.emplace_back(input.begin(), input.end());
    rest = rest.subspan(4 + size);
  }
  return inputs;
}

// What holds of every input is checked inside, and ends the process where it does not.
TEST(FuzzCorpus, EveryInputIsReadPrintedVerifiedAndWritten) {
  const auto inputs = corpus();
  ASSERT_GT(inputs.size(), 100u);
  for (const std::vector<std::byte>& input : inputs) check_module(input);
}

TEST(FuzzCorpus, EveryValidInputIsComparedAndCounted) {
  for (const std::vector<std::byte>& input : corpus()) check_reports(input);
}

}  // namespace

}  // namespace tilegym::fuzz
