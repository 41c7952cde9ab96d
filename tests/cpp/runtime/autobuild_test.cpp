#include "runtime/autobuild.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "runtime/file_lock.h"
#include "runtime/fingerprint.h"
#include "runtime/scoped_place.h"
#include "runtime/settings.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;

// Stands in for cargo: says what it does in `runs`, and acts as `$TILEGYM_TEST_CARGO` tells it.
constexpr const char* kCargo = R"sh(
[ "$1" = build ] || { echo "cutile_kernels v0.1.0"; echo "syn v2.0.1 (*)";
exit 0;
}
echo "$*" >> "$TILEGYM_TEST_RUNS"
eval "$TILEGYM_TEST_CARGO"
mkdir -p "$CARGO_TARGET_DIR/release"
printf 'built %s' "$TILEGYM_SOURCE_FINGERPRINT" > "$CARGO_TARGET_DIR/release/libcutile_kernels.so"
echo '{"reason":"compiler-artifact","package_id":"libc","target":{"kind":["custom-build"]},"filenames":["/x/script"]}'
echo '{"reason":"compiler-artifact","package_id":"syn 2.0.1","filenames":["/x/libsyn.rlib"],"fresh":false}'
echo "{\"reason\":\"compiler-artifact\",\"package_id\":\"k\",\"filenames\":[\"$CARGO_TARGET_DIR/release/libcutile_kernels.so\"]}"
)sh";

/// A crate, a cache, a toolchain and headers, all made of files in one folder.
class AutobuildTest : public ::testing::Test {
 protected:
  AutobuildTest() {
    forget_setting_files();
    place_.write("ops/cutile_kernels/Cargo.toml", "[package]");
    place_.write("ops/softmax_kernel/kernel.rs", "const N: u32 = 1;");
    place_.write("cuda/include/cuda.h", "");
    place_.write("cuda/include/curand.h", "");
    place_.write("clang/libclang.so", "");
    place_.script("bin/cargo", kCargo);
    place_.script("bin/rustc", "echo 'rustc 1.95.0'; echo 'release: 1.95.0'");
    place_.script("bin/cc", "echo /usr/include");
    request_.crate = root_ / "ops/cutile_kernels";
    request_.wheels = {{root_ / "cuda"}, {root_ / "clang"}};
  }

  Result<LibraryFile> ensure() {
    ::testing::internal::CaptureStderr();
    Result<LibraryFile> library = ensure_library(request_);
    said_ = ::testing::internal::GetCapturedStderr();
    return library;
  }
  std::string failure() {
    const Result<LibraryFile> library = ensure();
    return library.ok() ? "no error" : library.error().message;
  }
  [[nodiscard]] long runs() const {
    const std::string text = file_text(root_ / "runs");
    return std::count(text.begin(), text.end(), '\n');
  }

  TempFolder place_;
  fs::path root_ = place_.path();
  BuildRequest request_;
  std::string said_;
  ScopedVariable path_{"PATH", (root_ / "bin").string() + ":/usr/bin:/bin"};
  ScopedVariable cache_{"TILEGYM_RS_CACHE_DIR", (root_ / "cache").string()};
  ScopedVariable runs_{"TILEGYM_TEST_RUNS", (root_ / "runs").string()};
  ScopedVariable cargo_{"TILEGYM_TEST_CARGO", ":"};
  ScopedVariable crate_{"CUTILE_RS_KERNELS_DIR", std::nullopt};
  ScopedVariable autobuild_{"CUTILE_RS_AUTOBUILD", std::nullopt};
  ScopedVariable wait_{"TILEGYM_RS_BUILD_WAIT", std::nullopt};
  ScopedVariable features_{"TILEGYM_RS_FEATURES", std::nullopt};
  ScopedVariable flags_{"RUSTFLAGS", std::nullopt};
  ScopedVariable libclang_{"LIBCLANG_PATH", std::nullopt};
  ScopedVariable toolkit_{"CUDA_TOOLKIT_PATH", std::nullopt};
  ScopedVariable home_{"CUDA_HOME", std::nullopt};
};

TEST_F(AutobuildTest, FirstCallBuildsAndTheSecondStartsNoCargo) {
  const LibraryFile first = ensure().value();
  EXPECT_TRUE(first.built);
  EXPECT_EQ(file_text(first.path), "built " + source_fingerprint(request_.crate).value());
  EXPECT_NE(said_.find("2/2 crates"), std::string::npos) << said_;
  const LibraryFile second = ensure().value();
  EXPECT_FALSE(second.built);
  EXPECT_EQ(second.path, first.path);
  EXPECT_EQ(runs(), 1);
  EXPECT_EQ(said_, "");
}

TEST_F(AutobuildTest, SecondCallAsksNoCompilerForItsVersion) {
  place_.script("bin/rustc", "echo asked >> \"$TILEGYM_TEST_RUNS\"; echo 'release: 1.95.0'");
  ASSERT_TRUE(ensure().ok());
  const long before = runs();
  ASSERT_TRUE(ensure().ok());
  EXPECT_EQ(runs(), before);
}

TEST_F(AutobuildTest, CargoKeepsTheLockFileAndBuildsForRelease) {
  ASSERT_TRUE(ensure().ok());
  EXPECT_EQ(file_text(root_ / "runs"), "build --release --locked --message-format=json\n");
}

TEST_F(AutobuildTest, NothingIsWrittenBesideTheSources) {
  ASSERT_TRUE(ensure().ok());
  EXPECT_EQ(std::distance(fs::recursive_directory_iterator(root_ / "ops"), {}), 4);
}

TEST_F(AutobuildTest, ChangedSourceBuildsAnewAndBothLibrariesStay) {
  const fs::path first = ensure().value().path;
  place_.write("ops/softmax_kernel/kernel.rs", "const N: u32 = 2;");
  const LibraryFile second = ensure().value();
  EXPECT_TRUE(second.built);
  EXPECT_TRUE(fs::exists(first));
  place_.write("ops/softmax_kernel/kernel.rs", "const N: u32 = 1;");
  EXPECT_EQ(ensure().value().path, first);
  EXPECT_EQ(runs(), 2);
}

TEST_F(AutobuildTest, AnotherCompilerBuildsAnew) {
  ASSERT_TRUE(ensure().ok());
  place_.script("bin/rustc", "echo 'rustc 1.96.0-new'; echo 'release: 1.96.0'");
  EXPECT_TRUE(ensure().value().built);
}

TEST_F(AutobuildTest, OverrideOfTheCrateFolderIsBuilt) {
  place_.write("copy/cutile_kernels/Cargo.toml", "[package] # changed");
  const ScopedVariable variable("CUTILE_RS_KERNELS_DIR", (root_ / "copy/cutile_kernels").string());
  EXPECT_EQ(ensure().value().source_fingerprint, source_fingerprint(root_ / "copy/cutile_kernels").value());
}

TEST_F(AutobuildTest, AutobuildOffIsAnErrorWithTheRemedy) {
  const ScopedVariable variable("CUTILE_RS_AUTOBUILD", "0");
  EXPECT_NE(failure().find("CUTILE_RS_AUTOBUILD is off; run `tilegym-rs build`"), std::string::npos);
  EXPECT_EQ(runs(), 0);
  request_.always_build = true;
  EXPECT_TRUE(ensure().ok());
}

TEST_F(AutobuildTest, MissingCargoIsNamedWithItsRemedy) {
  fs::remove(root_ / "bin/cargo");
  const ScopedVariable path("PATH", (root_ / "bin").string());
  EXPECT_NE(failure().find("cargo and rustc: wanted version 1.89 or later on PATH, got none; install"),
            std::string::npos);
}

TEST_F(AutobuildTest, OldCompilerIsNamedWithItsVersion) {
  place_.script("bin/rustc", "echo 'release: 1.63.0'");
  const ScopedVariable path("PATH", (root_ / "bin").string());
  EXPECT_NE(failure().find("got 1.63 in " + (root_ / "bin").string()), std::string::npos);
}

TEST_F(AutobuildTest, LaterCompilerOnPathIsTakenWhereTheFirstIsTooOld) {
  place_.script("old/cargo", "exit 1");
  place_.script("old/rustc", "echo 'release: 1.63.0'");
  const ScopedVariable path("PATH", (root_ / "old").string() + ":" + (root_ / "bin").string() + ":/usr/bin:/bin");
  EXPECT_TRUE(ensure().ok());
}

TEST_F(AutobuildTest, EveryMissingPartHasOneLine) {
  const ScopedVariable clang("LIBCLANG_PATH", (root_ / "ops").string());
  const ScopedVariable toolkit("CUDA_TOOLKIT_PATH", (root_ / "clang").string());
  const std::string text = failure();
  EXPECT_NE(text.find("\n  libclang: wanted a folder with libclang.so, got LIBCLANG_PATH="), std::string::npos);
  EXPECT_NE(text.find("\n  CUDA headers: wanted a folder with include/cuda.h"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
}

TEST_F(AutobuildTest, CompileErrorShowsPlaceAndOpAndTheLogFile) {
  const ScopedVariable cargo("TILEGYM_TEST_CARGO", R"sh(
printf '%s\n' '{"reason":"compiler-message","message":{"level":"warning","rendered":"warning: unused\n"}}'
printf '%s\n' '{"reason":"compiler-message","message":{"level":"error","rendered":"error: expected `;`\n --> src/../../softmax_kernel/kernel.rs:3:5\n"}}'
exit 101)sh");
  const std::string text = failure();
  EXPECT_NE(text.find("(exit status 101); full log: " + (root_ / "cache/logs/build-").string()), std::string::npos);
  EXPECT_NE(text.find("\nin op softmax:\nerror: expected `;`\n --> src/../../softmax_kernel/kernel.rs:3:5"),
            std::string::npos)
      << text;
  const std::string log = text.substr(text.find("/cache/logs/") + 1, text.find('\n') - text.find("/cache/logs/") - 1);
  EXPECT_NE(file_text(root_ / log).find("warning: unused"), std::string::npos);
}

TEST_F(AutobuildTest, LongErrorStaysBelowTwentyLines) {
  const ScopedVariable cargo("TILEGYM_TEST_CARGO", R"sh(
echo "error: cannot download"; for i in $(seq 100); do echo "error: line $i" >&2; done; exit 101)sh");
  const std::string text = failure();
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 20);
  EXPECT_NE(text.find("error: line 1\n"), std::string::npos);
}

TEST_F(AutobuildTest, FailedBuildIsTriedAgain) {
  {
    const ScopedVariable cargo("TILEGYM_TEST_CARGO", "exit 101");
    EXPECT_FALSE(ensure().ok());
  }
  EXPECT_TRUE(ensure().value().built);
}

TEST_F(AutobuildTest, SourceChangedDuringTheBuildIsBuiltAgain) {
  const std::string edit = "echo changed > " + (root_ / "ops/softmax_kernel/kernel.rs").string();
  const ScopedVariable cargo("TILEGYM_TEST_CARGO", edit);
  const LibraryFile library = ensure().value();
  EXPECT_EQ(library.source_fingerprint, source_fingerprint(request_.crate).value());
  EXPECT_EQ(file_text(library.path), "built " + library.source_fingerprint);
  EXPECT_EQ(runs(), 2);
}

TEST_F(AutobuildTest, SourceThatChangesDuringEveryBuildIsGivenUp) {
  const std::string edit = "echo more >> " + (root_ / "ops/softmax_kernel/kernel.rs").string();
  const ScopedVariable cargo("TILEGYM_TEST_CARGO", edit);
  EXPECT_NE(failure().find("changed during each of 3; call again"), std::string::npos);
  EXPECT_EQ(runs(), 3);
}

TEST_F(AutobuildTest, CancelledBuildEndsCargo) {
  const ScopedVariable cargo("TILEGYM_TEST_CARGO", "sleep 600");
  request_.keep_going = [this] { return runs() == 0; };
  EXPECT_NE(failure().find("cancelled"), std::string::npos);
}

TEST_F(AutobuildTest, ManyThreadsBuildOnce) {
  ::testing::internal::CaptureStderr();
  std::vector<std::thread> threads;
  std::atomic<int> built{0};
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] { built += ensure_library(request_).value().built ? 1 : 0; });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(built, 1);
  EXPECT_EQ(runs(), 1);
}

TEST_F(AutobuildTest, WaitsForTheHolderOfTheLockAndNamesItUpToTheLimit) {
  fs::create_directories(root_ / "cache");
  const auto lock = FileLock::acquire(root_ / "cache/build.lock", std::chrono::seconds(0),
                                      [](const std::string&, std::chrono::seconds) { return true; });
  const ScopedVariable limit("TILEGYM_RS_BUILD_WAIT", "1");
  EXPECT_NE(failure().find("wanted it within 1 s, but process " + std::to_string(getpid())), std::string::npos);
  EXPECT_NE(said_.find("tilegym: waiting for process " + std::to_string(getpid())), std::string::npos) << said_;
  EXPECT_EQ(runs(), 0);
}

TEST_F(AutobuildTest, ResultOfTheOtherBuilderIsTakenAfterTheWait) {
  const fs::path built = ensure().value().path;
  fs::rename(built, root_ / "kept");
  auto lock = std::make_optional(FileLock::acquire(root_ / "cache/build.lock", std::chrono::seconds(0),
                                                   [](const std::string&, std::chrono::seconds) { return true; })
                                     .value());
  request_.keep_going = [&] {
    if (lock) {
      fs::rename(root_ / "kept", built);
      lock.reset();
    }
    return true;
  };
  EXPECT_FALSE(ensure().value().built);
  EXPECT_EQ(runs(), 1);
}

TEST_F(AutobuildTest, PrebuiltLibraryOfTheSameSourcesNeedsNoCargo) {
  request_.prebuilt = root_ / "lib";
  place_.write("lib/libcutile_kernels.so", "");
  place_.write("lib/libcutile_kernels.fingerprint", source_fingerprint(request_.crate).value() + "\n");
  EXPECT_EQ(ensure().value().path, root_ / "lib/libcutile_kernels.so");
  EXPECT_EQ(runs(), 0);
}

TEST_F(AutobuildTest, PrebuiltLibraryOfOtherSourcesIsNotTaken) {
  request_.prebuilt = root_ / "lib";
  place_.write("lib/libcutile_kernels.so", "");
  place_.write("lib/libcutile_kernels.fingerprint", "0123\n");
  EXPECT_TRUE(ensure().value().built);
}

TEST_F(AutobuildTest, PrebuiltLibraryIsTakenWhereThereAreNoSources) {
  request_.crate.clear();
  request_.prebuilt = root_ / "lib";
  place_.write("lib/libcutile_kernels.so", "");
  EXPECT_EQ(ensure().value().path, root_ / "lib/libcutile_kernels.so");
}

TEST_F(AutobuildTest, NeitherSourcesNorLibraryIsAnError) {
  request_.crate.clear();
  EXPECT_NE(failure().find("got neither"), std::string::npos);
}

TEST_F(AutobuildTest, FeaturesReachCargoAndBuildAnotherLibrary) {
  const fs::path plain = ensure().value().path;
  const ScopedVariable features("TILEGYM_RS_FEATURES", "fast,small");
  EXPECT_NE(ensure().value().path, plain);
  EXPECT_NE(file_text(root_ / "runs").find("--features=fast,small\n"), std::string::npos);
}

TEST_F(AutobuildTest, VariablesOfCargoReachItAndBuildAnotherLibrary) {
  const fs::path plain = ensure().value().path;
  const ScopedVariable flags("RUSTFLAGS", "-Ctarget-cpu=native");
  const ScopedVariable offline("CARGO_NET_OFFLINE", "true");
  const ScopedVariable proxy("https_proxy", "socks5://there:1");
  const ScopedVariable cargo("TILEGYM_TEST_CARGO",
                             R"(echo "$RUSTFLAGS $CARGO_NET_OFFLINE $https_proxy" >> "$TILEGYM_TEST_RUNS")");
  EXPECT_NE(ensure().value().path, plain);
  EXPECT_NE(file_text(root_ / "runs").find("-Ctarget-cpu=native true socks5://there:1\n"), std::string::npos);
}

TEST_F(AutobuildTest, BuiltLibraryIsFoundWhereTheCompilerIsGone) {
  const fs::path built = ensure().value().path;
  fs::remove(root_ / "bin/cargo");
  const ScopedVariable path("PATH", (root_ / "bin").string());
  EXPECT_EQ(ensure().value().path, built);
  place_.write("ops/softmax_kernel/kernel.rs", "const N: u32 = 2;");
  EXPECT_NE(failure().find("cargo and rustc: wanted"), std::string::npos);
}

TEST_F(AutobuildTest, CargoThatWaitsForALockIsSaidAndEndsAtTheLimit) {
  const ScopedVariable limit("TILEGYM_RS_BUILD_WAIT", "1");
  const fs::path lock = place_.write("cache/target/release/.cargo-lock", "");
  const auto held =
      FileLock::acquire(lock, std::chrono::seconds(0), [](const std::string&, std::chrono::seconds) { return true; });
  const ScopedVariable cargo("TILEGYM_TEST_CARGO",
                             "echo '    Blocking waiting for file lock on build directory' >&2; sleep 600");
  const std::string text = failure();
  const std::string self = "process " + std::to_string(getpid()) + " (";
  EXPECT_NE(said_.find("tilegym: waiting for " + self), std::string::npos) << said_;
  EXPECT_NE(text.find("wanted cargo's lock on " + (root_ / "cache/target").string() + " within 1 s, but " + self),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("raise TILEGYM_RS_BUILD_WAIT"), std::string::npos);
}

TEST_F(AutobuildTest, CargoThatGetsTheLockInTimeGoesOn) {
  const ScopedVariable cargo("TILEGYM_TEST_CARGO",
                             "echo '    Blocking waiting for file lock on build directory' >&2; sleep 0.3");
  EXPECT_TRUE(ensure().value().built);
  EXPECT_NE(said_.find("tilegym: waiting for another process"), std::string::npos) << said_;
}

TEST_F(AutobuildTest, SignalThatEndsCargoIsNamed) {
  const ScopedVariable cargo("TILEGYM_TEST_CARGO", "kill -9 $$");
  EXPECT_NE(failure().find("(signal 9); full log: "), std::string::npos);
}

TEST_F(AutobuildTest, LeastRecentlyUsedLibrariesGoWhereTheLimitIsReached) {
  const ScopedVariable limit("TILEGYM_RS_CACHE_MAX", "150K");
  const ScopedVariable cargo("TILEGYM_TEST_CARGO", R"sh(
mkdir -p "$CARGO_TARGET_DIR/release"; : > "$CARGO_TARGET_DIR/release/libcutile_kernels.so")sh");
  std::vector<fs::path> built;
  for (const char* text : {"first", "second", "third"}) {
    place_.write("ops/softmax_kernel/kernel.rs", text);
    built.push_back(ensure().value().path);
    fs::resize_file(built.back(), 60 * 1024);
    fs::last_write_time(built.back().parent_path(), fs::file_time_type::clock::now() - std::chrono::hours(9));
  }
  place_.write("ops/softmax_kernel/kernel.rs", "first");
  EXPECT_EQ(ensure().value().path, built[0]);  // used again: now the youngest
  place_.write("ops/softmax_kernel/kernel.rs", "fourth");
  ASSERT_TRUE(ensure().value().built);
  EXPECT_TRUE(fs::exists(built[0]));
  EXPECT_NE(fs::exists(built[1]), fs::exists(built[2]));
}

TEST_F(AutobuildTest, TargetFolderCountsAndGoesUnlessACargoWorksInIt) {
  const ScopedVariable limit("TILEGYM_RS_CACHE_MAX", "1K");
  place_.write("cache/target/release/deps/big", std::string(4096, 'x'));
  const fs::path lock = place_.write("cache/target/debug/.cargo-lock", "");
  {
    const auto held =
        FileLock::acquire(lock, std::chrono::seconds(0), [](const std::string&, std::chrono::seconds) { return true; });
    ASSERT_TRUE(ensure().value().built);
    EXPECT_TRUE(fs::exists(root_ / "cache/target/release/deps/big"));
  }
  place_.write("ops/softmax_kernel/kernel.rs", "more");
  const LibraryFile library = ensure().value();
  EXPECT_TRUE(library.built && fs::exists(library.path));
  EXPECT_FALSE(fs::exists(root_ / "cache/target"));
}

TEST_F(AutobuildTest, WhatKilledProcessesLeaveIsRemoved) {
  place_.write("cache/.removed-12/kernels.so", "x");
  const fs::path old = place_.write("cache/kernels/abc/.libcutile_kernels.so.12.0", "x");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  const fs::path young = place_.write("cache/kernels/abc/.libcutile_kernels.so.13.0", "x");
  ASSERT_TRUE(ensure().ok());
  EXPECT_FALSE(fs::exists(root_ / "cache/.removed-12"));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
}

TEST_F(AutobuildTest, FindLibraryBuildsNothing) {
  EXPECT_FALSE(find_library(request_).value().has_value());
  EXPECT_EQ(runs(), 0);
  const fs::path built = ensure().value().path;
  EXPECT_EQ(find_library(request_).value()->path, built);
}

}  // namespace
}  // namespace tilegym::runtime
