#include "tile_ir/printer.h"

#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <string>

#include "tile_ir/float_text.h"
#include "tile_ir/goldens.h"
#include "tile_ir/op_encoder.h"
#include "tile_ir/reader.h"

// Texts beside the goldens are the output of NVIDIA's tileirdisasm -g (tests/goldens/tile_ir/texts.py).
namespace tilegym::tile_ir {

namespace {

/// The text without -g: no " loc(...)" at the ends of lines, no definitions.
std::string without_locations(const std::string& text) {
  static const std::regex location(" loc\\(#loc[0-9]*\\)$");
  std::istringstream lines(text);
  std::string plain;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#')) plain += std::regex_replace(line, location, "") + "\n";
  }
  return plain;
}

class Printer : public testing::TestWithParam<std::string> {};

TEST_P(Printer, WritesTheDisassemblersText) {
  const Module module = test::read_golden(GetParam());
  EXPECT_EQ(print_module(module, {.locations = true}), test::golden_text(GetParam()));
  EXPECT_EQ(print_module(module), without_locations(test::golden_text(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Goldens, Printer, testing::ValuesIn(test::golden_names()),
                         [](const auto& golden) { return golden.param; });

TEST(PrintModule, ShowsAnUnknownOperationByNumberAndBytes) {
  // addi, then 0x7e, which no version has: a constant would follow in a known one.
  const auto bytes = test::module_with_body({0x03, 1, 0, 0, 1, 0x7e, 0x01, 0xab}, 3);
  const Result<Module> module = read_module(bytes, {.keep_unknown = true});
  ASSERT_TRUE(module.ok()) << module.error().message;
  const Function& kernel = module.value().functions.at(0);
  ASSERT_TRUE(kernel.unread.has_value());
  EXPECT_EQ(kernel.unread->code, 0x7eu);
  const std::string text = print_module(module.value());
  const std::string line =
      "  unknown operation 126 at byte " + std::to_string(kernel.unread->byte_offset) + ": 7e 01 ab\n";
  EXPECT_NE(text.find("  %0 = addi %arg0, %arg1 : tile<i32>\n" + line + "}\n"), std::string::npos) << text;
}

TEST(PrintModule, ShowsWhatALongerListOfFunctionsHoldsBehindAnUnknownOperation) {
  // The unknown operation stands in the body of a loop: 0x41 loop, no results, no operands, one region of one block.
  const auto bytes = test::module_with_body({0x41, 0, 0, 1, 1, 0, 2, 0x7e, 0x11, 0, 0}, 3);
  const Result<Module> module = read_module(bytes, {.keep_unknown = true});
  ASSERT_TRUE(module.ok()) << module.error().message;
  const std::string text = print_module(module.value());
  EXPECT_NE(text.find("  loop {\n    unknown operation 126 at byte "), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(": 7e 11 00 00\n  }\n}\n")) << text;
}

TEST(ReadModule, RefusesAnUnknownOperationUnlessAskedToKeepIt) {
  const Result<Module> module = read_module(test::module_with_body({0x7e}, 3));
  ASSERT_FALSE(module.ok());
  EXPECT_NE(module.error().message.find("operation code: wanted a known one, got 126"), std::string::npos);
}

struct FloatCase {
  ElementType type;
  std::uint64_t bits;
  const char* text;
};

class FloatText : public testing::TestWithParam<FloatCase> {};

// Texts as the disassembler has them in constants.
TEST_P(FloatText, IsTheDisassemblers) {
  std::string text;
  append_float(text, GetParam().type, GetParam().bits);
  EXPECT_EQ(text, GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(Forms, FloatText,
                         testing::Values(FloatCase{ElementType::f32, 0x3fb8aa3b, "1.44269502"},
                                         FloatCase{ElementType::f32, 0x80000000, "-0.000000e+00"},
                                         FloatCase{ElementType::f32, 0x7f800000, "0x7F800000"},
                                         FloatCase{ElementType::f32, 0x00800000, "1.17549435E-38"},
                                         FloatCase{ElementType::f64, 1, "4.940660e-324"},
                                         FloatCase{ElementType::f64, 0x3fb999999999999a, "1.000000e-01"},
                                         FloatCase{ElementType::tf32, 0x7ffff, "0x7FFFF"},
                                         FloatCase{ElementType::f8e8m0fnu, 0, "5.877470e-39"},
                                         FloatCase{ElementType::f4e2m1fn, 7, "6.000000e+00"}));

}  // namespace

}  // namespace tilegym::tile_ir
