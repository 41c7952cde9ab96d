#include "runtime/cargo_messages.h"

#include <gtest/gtest.h>

namespace tilegym::runtime {
namespace {

TEST(MessageField, GivesTheValueUnescaped) {
  EXPECT_EQ(message_field(R"({"reason":"x","rendered":"a \"b\"\n\tc\\d"})", "rendered"), "a \"b\"\n\tc\\d");
}

TEST(MessageField, DecodesCodePoints) {
  EXPECT_EQ(message_field(R"({"rendered":"\u0041\u00e9\u2026"})", "rendered"), "A\u00e9\u2026");
}

TEST(MessageField, IsNotMisledByTextThatLooksLikeAMember) {
  EXPECT_EQ(message_field(R"({"message":"say \"level\":\"error\"","level":"warning"})", "level"), "warning");
}

TEST(MessageField, AbsentOrNullMembersAreEmpty) {
  EXPECT_EQ(message_field(R"({"rendered":null})", "rendered"), "");
  EXPECT_EQ(message_field("{}", "rendered"), "");
}

TEST(MessageField, CutTextEndsWhereItIsCut) {
  EXPECT_EQ(message_field(R"({"rendered":"abc)", "rendered"), "abc");
  EXPECT_EQ(message_field(R"({"rendered":"abc\)", "rendered"), "abc\\");
  EXPECT_EQ(message_field(R"({"rendered":"\u00)", "rendered"), std::string(1, '\0'));
}

TEST(SummariseFailure, PrefersCompilerErrors) {
  EXPECT_EQ(summarise_failure({"error: a\n --> src/lib.rs:1:2\n"}, {"   Compiling syn", "error: could not compile"}, 9),
            "error: a\n --> src/lib.rs:1:2");
}

TEST(SummariseFailure, NamesTheOpOfAKernelSource) {
  EXPECT_EQ(summarise_failure({"error: a\n --> src/../../silu_and_mul_kernel/ffi.rs:1:2\n"}, {}, 9),
            "in op silu_and_mul:\nerror: a\n --> src/../../silu_and_mul_kernel/ffi.rs:1:2");
}

TEST(SummariseFailure, StartsCargosWordsAtItsError) {
  EXPECT_EQ(summarise_failure({}, {"   Compiling syn", "error: no network", "Caused by:", "  x"}, 9),
            "error: no network\nCaused by:\n  x");
}

TEST(SummariseFailure, MarksWhatIsCutOff) {
  EXPECT_EQ(summarise_failure({"1\n2\n3\n"}, {}, 2), "1\n2\n...");
}

TEST(SummariseFailure, NothingSaidIsEmpty) {
  EXPECT_EQ(summarise_failure({}, {}, 9), "");
}

}  // namespace
}  // namespace tilegym::runtime
