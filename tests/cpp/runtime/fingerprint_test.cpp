#include "runtime/fingerprint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "runtime/scoped_place.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;

/// ops/cutile_kernels with a manifest and a source that includes one op.
class FingerprintTest : public ::testing::Test {
 protected:
  FingerprintTest() {
    place_.write("ops/cutile_kernels/Cargo.toml", "[package]");
    place_.write("ops/cutile_kernels/Cargo.lock", "version = 4");
    place_.write("ops/cutile_kernels/src/lib.rs", "include!(\"../../softmax_kernel/kernel.rs\");");
    place_.write("ops/softmax_kernel/kernel.rs", "const N: u32 = 1;");
  }
  [[nodiscard]] std::string now() const { return source_fingerprint(crate_).value(); }

  TempFolder place_;
  fs::path crate_ = place_.path() / "ops/cutile_kernels";
};

TEST_F(FingerprintTest, TouchedFilesKeepIt) {
  const std::string before = now();
  const auto files = source_files(crate_).value();
  for (const fs::path& file : files) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(24));
  }
  EXPECT_EQ(now(), before);
}

TEST_F(FingerprintTest, CopiedTreeKeepsIt) {
  fs::copy(place_.path() / "ops", place_.path() / "copy", fs::copy_options::recursive);
  EXPECT_EQ(source_fingerprint(place_.path() / "copy/cutile_kernels").value(), now());
}

TEST_F(FingerprintTest, ChangedConstantWithAnOldTimeChangesIt) {
  const std::string before = now();
  const fs::path kernel = place_.path() / "ops/softmax_kernel/kernel.rs";
  const auto time = fs::last_write_time(kernel);
  place_.write("ops/softmax_kernel/kernel.rs", "const N: u32 = 2;");
  fs::last_write_time(kernel, time - std::chrono::hours(24));
  EXPECT_NE(now(), before);
}

TEST_F(FingerprintTest, LockFileChangesIt) {
  const std::string before = now();
  place_.write("ops/cutile_kernels/Cargo.lock", "version = 5");
  EXPECT_NE(now(), before);
}

TEST_F(FingerprintTest, NewOpFolderChangesIt) {
  const std::string before = now();
  place_.write("ops/matmul_kernel/ffi.rs", "");
  EXPECT_NE(now(), before);
}

TEST_F(FingerprintTest, RenamedFileChangesIt) {
  const std::string before = now();
  fs::rename(place_.path() / "ops/softmax_kernel/kernel.rs", place_.path() / "ops/softmax_kernel/other.rs");
  EXPECT_NE(now(), before);
}

TEST_F(FingerprintTest, FilesIncludedFromElsewhereCount) {
  place_.write("shared/helpers.rs", "mod deep { include_str!( \"../far/table.txt\" ); }");
  place_.write("far/table.txt", "1");
  place_.write("ops/cutile_kernels/src/more.rs", "#[path = \"../../../shared/helpers.rs\"] mod helpers;");
  const std::string before = now();
  place_.write("far/table.txt", "2");
  EXPECT_NE(now(), before);
}

TEST_F(FingerprintTest, TwoFilesThatIncludeEachOtherEnd) {
  place_.write("a.rs", "include!(\"b.rs\");");
  place_.write("b.rs", "include!(\"a.rs\");");
  place_.write("ops/cutile_kernels/src/lib.rs", "include!(\"../../../a.rs\");");
  const auto files = source_files(crate_).value();
  EXPECT_EQ(std::count(files.begin(), files.end(), place_.path() / "b.rs"), 1);
}

TEST_F(FingerprintTest, BuildOutputAndOtherFilesDoNotCount) {
  const std::string before = now();
  place_.write("ops/cutile_kernels/target/release/build/x/out/generated.rs", "");
  place_.write("ops/softmax_kernel/reports/performance.md", "");
  place_.write("ops/softmax.py", "");
  EXPECT_EQ(now(), before);
}

TEST_F(FingerprintTest, FolderWithoutManifestIsAnErrorWithTheRemedy) {
  const auto fingerprint = source_fingerprint(place_.path() / "nowhere");
  ASSERT_FALSE(fingerprint.ok());
  EXPECT_NE(fingerprint.error().message.find("wanted a crate folder with Cargo.toml"), std::string::npos);
  EXPECT_NE(fingerprint.error().message.find("CUTILE_RS_KERNELS_DIR"), std::string::npos);
}

TEST_F(FingerprintTest, PathBelowTheCrateFolderCounts) {
  place_.write("ops/cutile_kernels/src/lib.rs",
               "include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/../../far/more.rs\"));");
  place_.write("far/more.rs", "1");
  const std::string before = now();
  place_.write("far/more.rs", "2");
  EXPECT_NE(now(), before);
}

TEST_F(FingerprintTest, CratesTakenFromAFolderCount) {
  place_.write("ops/cutile_kernels/Cargo.toml",
               "[dependencies]\nhelpers = { version = \"1\", path = \"../../helpers\" }");
  place_.write("helpers/Cargo.toml", "[dependencies.deeper]\npath=\"../deeper\"");
  place_.write("deeper/Cargo.toml", "[dependencies]\nhelpers = { path = \"../helpers\" }");
  place_.write("deeper/src/lib.rs", "1");
  const std::string before = now();
  place_.write("deeper/src/lib.rs", "2");
  EXPECT_NE(now(), before);
}

TEST_F(FingerprintTest, TestsOfTheCrateDoNotCount) {
  const std::string before = now();
  place_.write("ops/cutile_kernels/tests/launch.rs", "");
  EXPECT_EQ(now(), before);
  place_.write("ops/cutile_kernels/src/tests/mod.rs", "");
  EXPECT_NE(now(), before);
}

TEST(BuildFingerprint, DependsOnCompilerAndOptions) {
  const std::string plain = build_fingerprint("sources", "rustc 1.89.0", "");
  EXPECT_NE(plain, build_fingerprint("sources", "rustc 1.95.0", ""));
  EXPECT_NE(plain, build_fingerprint("sources", "rustc 1.89.0", "features=fast"));
}

}  // namespace
}  // namespace tilegym::runtime
