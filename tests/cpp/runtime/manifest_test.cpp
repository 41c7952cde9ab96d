#include "runtime/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tilegym::runtime {
namespace {

using testing::HasSubstr;

std::int32_t nothing(const Arg*, std::size_t) {
  return 0;
}

ParamRow param(ParamKind kind, const char* name = "p") {
  return {name, nullptr, kind, Direction::in, -1, 1, 0, 0, {.integer = 0}};
}

ParamRow param(ParamKind kind, const char* name, Arg value) {
  ParamRow row = param(kind, name);
  row.has_default = 1;
  row.default_value = value;
  return row;
}

OpRow op(const std::vector<ParamRow>& params) {
  return {"op", nullptr, params.data(), params.size(), nullptr, 0, nothing};
}

std::string error_of(const OpRow& row) {
  const Manifest manifest{kAbiVersion, sizeof(TensorDesc), kMaxRank, 1, &row, "", ""};
  const Status status = check_manifest(manifest, "k.so");
  return status.ok() ? "ok" : status.error().message;
}

TEST(CheckManifest, OpsAtTheLimitsAreTaken) {
  std::vector<ParamRow> params(kMaxTensors, param(ParamKind::tensor));
  params.resize(kMaxParams, param(ParamKind::i32));
  EXPECT_EQ(error_of(op(params)), "ok");
}

TEST(CheckManifest, TooManyParametersAreRefused) {
  EXPECT_THAT(error_of(op(std::vector<ParamRow>(kMaxParams + 1, param(ParamKind::i32)))),
              HasSubstr("op 'op' has 33 parameters, at most 32 can be passed"));
}

TEST(CheckManifest, TooManyTensorsAreRefused) {
  EXPECT_THAT(error_of(op(std::vector<ParamRow>(kMaxTensors + 1, param(ParamKind::tensor)))),
              HasSubstr("op 'op' has 17 tensors, at most 16 can be passed"));
}

TEST(CheckManifest, NamelessRowsAreRefused) {
  EXPECT_THAT(error_of(op({param(ParamKind::i32, nullptr)})), HasSubstr("has a parameter without a name"));
  OpRow nameless = op({});
  nameless.name = nullptr;
  EXPECT_THAT(error_of(nameless), HasSubstr("lacks a name or a function"));
}

TEST(CheckManifest, OpWithoutAFunctionIsRefused) {
  OpRow broken = op({});
  broken.packed = nullptr;
  EXPECT_THAT(error_of(broken), HasSubstr("lacks a name or a function"));
}

TEST(CheckManifest, OtherMaximalRankIsRefused) {
  const Manifest manifest{kAbiVersion, sizeof(TensorDesc), 4, 0, nullptr, "", ""};
  const Status status = check_manifest(manifest, "k.so");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("kernel library 'k.so': wanted maximal rank 5, got 4; rebuild it"));
}

TEST(CheckSources, BothFingerprintsAreNamed) {
  const Manifest manifest{kAbiVersion, sizeof(TensorDesc), kMaxRank, 0, nullptr, "old", "0.2.0"};
  EXPECT_TRUE(check_sources(manifest, "old", "k.so").ok());
  EXPECT_TRUE(check_sources(manifest, "", "k.so").ok());
  EXPECT_THAT(check_sources(manifest, "new", "k.so").error().message, HasSubstr("fingerprint 'new', got 'old'"));
}

TEST(SignatureText, ShowsDefaultsAndLeavesOutWhatTheRuntimeFillsIn) {
  const std::vector<ParamRow> params{param(ParamKind::tensor, "x"), param(ParamKind::i32, "n", {.integer = -1}),
                                     param(ParamKind::f32, "scale", {.floating = 0.5}), param(ParamKind::device),
                                     param(ParamKind::stream)};
  EXPECT_EQ(signature_text(op(params)), "op(x, n=-1, scale=0.5)");
}

}  // namespace
}  // namespace tilegym::runtime
