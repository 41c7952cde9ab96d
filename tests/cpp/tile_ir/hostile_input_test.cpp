#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <vector>

#include "tile_ir/goldens.h"
#include "tile_ir/reader.h"
#include "tile_ir/verify.h"

namespace tilegym::tile_ir {

namespace {

class HostileInput : public testing::TestWithParam<std::string> {};

/// Copies into memory of exactly that size, so that a sanitizer sees a read past the end.
Result<Module> read_copy(std::span<const std::byte> bytes) {
  const std::vector<std::byte> copy(bytes.begin(), bytes.end());
  return read_module(copy);
}

TEST_P(HostileInput, EveryTruncationIsAnError) {
  const std::vector<std::byte> whole = test::golden(GetParam());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Result<Module> module = read_copy(std::span(whole).first(size));
    ASSERT_FALSE(module.ok()) << size;
    ASSERT_NE(module.error().message.find(" at byte "), std::string::npos) << module.error().message;
  }
}

TEST_P(HostileInput, NoChangedByteCrashes) {
  const std::vector<std::byte> whole = test::golden(GetParam());
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {0x01, 0x80}) {
      std::vector<std::byte> changed = whole;
      changed[at] ^= static_cast<std::byte>(change);
      refused += read_copy(changed).ok() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, whole.size() / 2);
}

TEST_P(HostileInput, NoHugeNumberIsTrusted) {
  // The largest 64-bit number as a varint, a number that fits into no 64 bits, and the largest 32-bit one.
  const std::vector<std::vector<int>> numbers = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
                                                 {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
                                                 {0xff, 0xff, 0xff, 0xff, 0x0f}};
  const std::vector<std::byte> whole = test::golden(GetParam());
  for (std::size_t at = 0; at < whole.size(); at += 11) {
    for (const std::vector<int>& number : numbers) {
      std::vector<std::byte> changed = whole;
      for (std::size_t i = 0; i < number.size() && at + i < changed.size(); ++i) {
        changed[at + i] = static_cast<std::byte>(number[i]);
      }
      const Result<Module> module = read_copy(changed);
      if (module.ok()) continue;
      ASSERT_NE(module.error().message.find(" at byte "), std::string::npos) << module.error().message;
    }
  }
}

TEST_P(HostileInput, WhatIsReadIsVerified) {
  const std::vector<std::byte> whole = test::golden(GetParam());
  for (std::size_t at = 0; at < whole.size(); at += 5) {
    std::vector<std::byte> changed = whole;
    changed[at] ^= std::byte{0x02};
    const Result<Module> module = read_copy(changed);
    if (!module.ok()) continue;
    for (const Diagnostic& diagnostic : verify(module.value())) ASSERT_FALSE(diagnostic.wanted.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Goldens, HostileInput, testing::ValuesIn(test::golden_names()),
                         [](const auto& golden) { return golden.param; });

}  // namespace

}  // namespace tilegym::tile_ir
