#include "runtime/tileiras_command.h"

#include <gtest/gtest.h>

namespace tilegym::runtime {
namespace {

using Texts = std::vector<std::string>;

TEST(TileirasCommand, SpellingsOfOneCommandAreEqual) {
  const Texts wanted{"gpu-name=sm_90", "opt-level=3"};
  for (const Texts& arguments :
       {Texts{"--gpu-name", "sm_90", "--opt-level", "3", "-o", "out", "in"},
        Texts{"in", "-o", "out", "--gpu-name=sm_90", "-O3"},
        Texts{"--arch=sm_90", "-O", "3", "in", "--output-file=out"}, Texts{"-arch", "sm_90", "-O=3", "-oout", "in"}}) {
    const std::optional<TileirasCommand> command = parse_tileiras_command(arguments);
    ASSERT_TRUE(command) << arguments.front();
    EXPECT_EQ(command->options, wanted) << arguments.front();
    EXPECT_EQ(command->input, "in");
    EXPECT_EQ(command->output, "out");
  }
}

TEST(TileirasCommand, FilesThatOptionsNameAreToldApart) {
  const auto command =
      parse_tileiras_command(Texts{"in", "-o", "out", "-l", "lib", "--apply-controls=acf", "--remarks=all",
                                   "--remark-format=yaml", "--remarks-output-file=notes", "--lineinfo"});
  ASSERT_TRUE(command);
  EXPECT_EQ(command->read, (Texts{"lib", "acf"}));
  EXPECT_EQ(command->remarks, "notes");
  EXPECT_EQ(command->options, (Texts{"l", "apply-controls", "remarks=all", "remark-format=yaml", "lineinfo="}));
}

TEST(TileirasCommand, WhatIsNotOneCompilationIsNotUnderstood) {
  for (const Texts& arguments :
       {Texts{}, Texts{"--version"}, Texts{"in"}, Texts{"-o", "out"}, Texts{"in", "-o"}, Texts{"-", "-o", "out"},
        Texts{"a", "b", "-o", "out"}, Texts{"in", "-o", "out", "--new-option"}, Texts{"in", "-o", "out", "-x"},
        Texts{"in", "-o", "out", "--list-versions"}}) {
    EXPECT_FALSE(parse_tileiras_command(arguments)) << (arguments.empty() ? "" : arguments.back());
  }
}

TEST(TileirasCommand, EveryPartTellsKeysApart) {
  const Texts options{"gpu-name=sm_90"};
  const std::string key = tileiras_key("compiler", options, {}, "bytecode");
  EXPECT_EQ(key, tileiras_key("compiler", options, {}, "bytecode"));
  EXPECT_NE(key, tileiras_key("another", options, {}, "bytecode"));
  EXPECT_NE(key, tileiras_key("compiler", Texts{"gpu-name=sm_100"}, {}, "bytecode"));
  EXPECT_NE(key, tileiras_key("compiler", options, Texts{"library"}, "bytecode"));
  EXPECT_NE(key, tileiras_key("compiler", options, {}, "bytecodE"));
}

}  // namespace
}  // namespace tilegym::runtime
