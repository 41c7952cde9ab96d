#include "tile_ir/writer.h"

#include <gtest/gtest.h>

#include <string>

#include "tile_ir/goldens.h"
#include "tile_ir/op_encoder.h"
#include "tile_ir/printer.h"
#include "tile_ir/reader.h"

namespace tilegym::tile_ir {

namespace {

class Writer : public testing::TestWithParam<std::string> {};

TEST_P(Writer, KeepsTheText) {
  const Module module = test::read_golden(GetParam());
  const Result<std::vector<std::byte>> written = write_module(module);
  ASSERT_TRUE(written.ok()) << written.error().message;
  const Result<Module> again = read_module(written.value());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(print_module(again.value(), {.locations = true}), test::golden_text(GetParam()));
  EXPECT_EQ(again.value().version, module.version);
  EXPECT_EQ(again.value().producer, module.producer);
}

INSTANTIATE_TEST_SUITE_P(Goldens, Writer, testing::ValuesIn(test::golden_names()),
                         [](const auto& golden) { return golden.param; });

/// What reading and writing `bytes` gives; fails the test where it is refused.
std::vector<std::byte> written_again(const std::vector<std::byte>& bytes) {
  const Result<Module> module = read_module(bytes);
  EXPECT_TRUE(module.ok()) << module.error().message;
  Result<std::vector<std::byte>> written = write_module(module.value());
  EXPECT_TRUE(written.ok()) << written.error().message;
  return written.ok() ? std::move(written).value() : std::vector<std::byte>{};
}

TEST(WriteModule, GivesTheSameBytesFromThenOn) {
  for (const OpSpec& spec : op_table()) {
    for (std::uint8_t minor = spec.since; minor <= 3; ++minor) {
      for (const test::Parts parts : {test::Parts::required, test::Parts::all}) {
        const std::vector<std::byte> once = written_again(test::module_with(spec, minor, parts));
        EXPECT_EQ(written_again(once), once) << spec.mnemonic << " in 13." << int{minor};
      }
    }
  }
}

/// The newest golden, claimed to be of another version.
Result<std::vector<std::byte>> written_as(std::uint8_t minor) {
  Module module = test::read_golden("every_operation_13_3");
  module.globals.clear();
  module.version.minor = minor;
  return write_module(module);
}

TEST(WriteModule, NamesWhatAnOlderVersionCannotSay) {
  const Result<std::vector<std::byte>> written = written_as(2);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().message, "tile_ir: writing exp: version 13.2 has no rounding_mode; write a newer version");
}

TEST(WriteModule, RefusesAPrivateGlobalInAnOlderVersion) {
  Module module = test::read_golden("hand_made_globals");
  module.version.minor = 2;
  const Result<std::vector<std::byte>> written = write_module(module);
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().message.find("neither private nor constant globals"), std::string::npos);
}

TEST(WriteModule, RefusesAnOperationThatWasNotRead) {
  const Result<Module> module = read_module(test::module_with_body({0x7e}, 3), {.keep_unknown = true});
  ASSERT_TRUE(module.ok());
  const Result<std::vector<std::byte>> written = write_module(module.value());
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().message.find("wanted a known one, got 126"), std::string::npos);
}

}  // namespace

}  // namespace tilegym::tile_ir
