#include "runtime/assembly.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/host_table.h"
#include "runtime/image_cache.h"
#include "runtime/image_cache_files.h"
#include "runtime/scoped_place.h"
#include "runtime/settings.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;
using Outcome = Assembly::Outcome;

/// A compiler that hands its input on, behind the target's name, and counts its runs.
constexpr const char* kCopy = R"(
[ "$1" = --version ] && { echo "tileiras: a fake one"; echo "tools, release 13.9, V13.9.1"; exit 0; }
echo run >> "$(dirname "$0")/runs"
target=$2
while [ "$1" != -o ]; do shift; done
{ echo "$target"; cat "$3"; } > "$2")";

class AssemblyTest : public ::testing::Test {
 protected:
  AssemblyTest() {
    forget_setting_files();
    fs::create_directories(place_.path() / "tmp");
  }

  void use(const std::string& body) {
    compiler_ = place_.script("bin/tileiras", body);
    setenv("CUTILE_TILEIRAS_PATH", compiler_.c_str(), 1);
  }
  [[nodiscard]] std::size_t runs() const {
    const std::string text = file_text(place_.path() / "bin/runs");
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
  }
  [[nodiscard]] bool nothing_left() const { return fs::is_empty(place_.path() / "tmp"); }
  /// Entries but the note of what the compiler says.
  [[nodiscard]] static std::size_t cubins() {
    const auto entries = all_entries();
    return static_cast<std::size_t>(
        std::ranges::count_if(entries, [](const CacheEntry& entry) { return entry.name.ends_with("cubin"); }));
  }

  TempFolder place_;
  fs::path compiler_;
  const AssemblyJob job_{"k<E = f32, BLOCK = 64>(x: f32 [8])", "sm_90", "bytecode"};
  ScopedVariable folder_{"TILEGYM_RS_CACHE_DIR", (place_.path() / "cache").string()};
  ScopedVariable mode_{"TILEGYM_RS_CACHE", std::nullopt};
  ScopedVariable temporary_{"TMPDIR", (place_.path() / "tmp").string()};
  ScopedVariable tileiras_{"CUTILE_TILEIRAS_PATH", std::nullopt};
  ScopedVariable behind_{"TILEGYM_RS_TILEIRAS", std::nullopt};
};

TEST_F(AssemblyTest, ACubinIsMadeOnceForEachTarget) {
  use(kCopy);
  for (int round = 0; round < 2; ++round) {
    const Assembly made = assemble(job_);
    EXPECT_EQ(made.outcome, Outcome::done) << made.reason;
    EXPECT_EQ(made.cubin, "sm_90\nbytecode");
  }
  EXPECT_EQ(runs(), 1);
  EXPECT_EQ(assemble({job_.title, "sm_100", job_.bytecode}).cubin, "sm_100\nbytecode");
  EXPECT_EQ(runs(), 2);
  EXPECT_TRUE(nothing_left());
}

TEST_F(AssemblyTest, AnotherCompilerInTheSamePlaceStartsAnew) {
  use(kCopy);
  EXPECT_EQ(assemble(job_).outcome, Outcome::done);
  use(std::string(kCopy) + "\necho changed >> \"$2\"");
  EXPECT_EQ(assemble(job_).cubin, "sm_90\nbytecodechanged\n");
}

/// A compiler that does not deliver, and words that the reason must hold.
struct Failing {
  const char* name;
  const char* body;
  std::vector<std::string> words;
};
class FailingCompiler : public AssemblyTest, public ::testing::WithParamInterface<Failing> {};

TEST_P(FailingCompiler, IsToldWithAllThatHelps) {
  use(std::string("[ \"$1\" = --version ] && { echo release 13.9; exit; }\n") + GetParam().body);
  const Assembly made = assemble(job_);
  EXPECT_EQ(made.outcome, Outcome::failed);
  const std::string& reason = made.reason;
  for (const std::string& word : GetParam().words) {
    EXPECT_NE(reason.find(word), std::string::npos) << word << " in: " << reason;
  }
  EXPECT_EQ(reason.find(job_.title + ": tileiras for sm_90: "), 0) << reason;
  EXPECT_NE(reason.find("compiler: " + compiler_.string() + " (release 13.9)"), std::string::npos) << reason;
  EXPECT_TRUE(nothing_left());
  EXPECT_EQ(cubins(), 0);
  const std::size_t start = reason.find("bytecode kept in: ") + 18;
  EXPECT_EQ(file_text(reason.substr(start, reason.find('\n', start) - start)), job_.bytecode) << reason;
  use(kCopy);
  EXPECT_EQ(assemble(job_).outcome, Outcome::done) << "a failure is not remembered";
}

INSTANTIATE_TEST_SUITE_P(
    Each, FailingCompiler,
    ::testing::Values(Failing{"ExitStatus",
                              "echo out of registers >&2; exit 5",
                              {"it ended with exit status 5", "it said: out of registers"}},
                      Failing{"Signal", "kill -SEGV $$", {"it ended with signal SIGSEGV (Segmentation fault)"}},
                      Failing{"NoOutput", "exit 0", {"it ended well but wrote no cubin", "it said: nothing"}},
                      Failing{"PartialOutput",
                              "while [ \"$1\" != -o ]; do shift; done; echo half > \"$2\"; exit 1",
                              {"it ended with exit status 1"}}),
    [](const auto& test) { return test.param.name; });

TEST_F(AssemblyTest, AProgramThatIsNoneNamesTheSetting) {
  const ScopedVariable variable("CUTILE_TILEIRAS_PATH", (place_.path() / "absent").string());
  const Assembly made = assemble(job_);
  EXPECT_EQ(made.outcome, Outcome::failed);
  EXPECT_NE(made.reason.find("CUTILE_TILEIRAS_PATH, got '" + (place_.path() / "absent").string()), std::string::npos)
      << made.reason;
}

TEST_F(AssemblyTest, NoCompilerSaysWhereItIsSought) {
  const ScopedVariable path("PATH", place_.path().string());
  const ScopedVariable home("CUDA_HOME", std::nullopt);
  if (fs::exists("/usr/local/cuda/bin/tileiras")) {
    GTEST_SKIP() << "this machine has a toolkit with tileiras";
  }
  EXPECT_NE(assemble(job_).reason.find("found none; install it with: pip install nvidia-cuda-tileiras"),
            std::string::npos);
}

TEST_F(AssemblyTest, TheFrontIsPassedOver) {
  place_.script("front/tileiras", std::string("echo ") + kFrontMarker);
  place_.script("real/tileiras", kCopy);
  const ScopedVariable front("CUTILE_TILEIRAS_PATH", (place_.path() / "front/tileiras").string());
  const ScopedVariable path(
      "PATH", (place_.path() / "front").string() + ":" + (place_.path() / "real").string() + ":/usr/bin:/bin");
  EXPECT_EQ(find_tileiras().value().path, place_.path() / "real/tileiras");
  const ScopedVariable behind("TILEGYM_RS_TILEIRAS", place_.script("behind", kCopy).string());
  EXPECT_EQ(find_tileiras().value().path, place_.path() / "behind");
}

TEST_F(AssemblyTest, ACancelledCompilerIsEndedAndLeavesNothing) {
  use("[ \"$1\" = --version ] && exit 0\nexec sleep 60");
  set_assembly_poll([] { return false; });
  EXPECT_EQ(assemble(job_).outcome, Outcome::cancelled);
  set_assembly_poll(nullptr);
  EXPECT_TRUE(nothing_left());
  EXPECT_EQ(cubins(), 0);
}

TEST_F(AssemblyTest, AnImageOfTheCpuDeviceBecomesTheGpusOne) {
  use(kCopy);
  const CacheEntry bytecode{entry_name("key", "tileirbc"), "kernel=m::k\ngenerics=f32\narch=sm_90\n", "bytecode"};
  const Result<CacheEntry> cubin = assemble_entry(bytecode);
  ASSERT_TRUE(cubin.ok()) << cubin.error().message;
  EXPECT_EQ(cubin.value().name, cubin_entry_name("key", find_tileiras().value()));
  EXPECT_EQ(cubin.value().payload, "sm_90\nbytecode");
  EXPECT_FALSE(assemble_entry(cubin.value()).ok());
}

/// The image that a kernel library finds for a key.
std::string looked_up(DriverKind kind, const std::string& key) {
  const std::uint8_t* image = nullptr;
  const std::size_t size =
      host_table().lookup(kind, reinterpret_cast<const std::uint8_t*>(key.data()), key.size(), &image);
  const std::string found(reinterpret_cast<const char*>(image), size);
  host_table().release(image);
  return found;
}

void store(DriverKind kind, const std::string& key, const std::string& image) {
  host_table().store(kind, reinterpret_cast<const std::uint8_t*>(key.data()), key.size(),
                     reinterpret_cast<const std::uint8_t*>(image.data()), image.size());
}

TEST_F(AssemblyTest, ALibraryFindsTheImagesOfItsKind) {
  use(kCopy);
  const std::string key = "kernel=m::k\narch=sm_90\n\nsource";
  EXPECT_EQ(looked_up(DriverKind::cpu, key), "");
  store(DriverKind::cpu, key, "bytecode");
  store(DriverKind::cuda, key, "cubin");
  EXPECT_EQ(looked_up(DriverKind::cpu, key), "bytecode");
  EXPECT_EQ(looked_up(DriverKind::cuda, key), "cubin");
  EXPECT_EQ(looked_up(DriverKind::cuda, key + "."), "");
  use(std::string(kCopy) + "\n# another compiler");
  EXPECT_EQ(looked_up(DriverKind::cuda, key), "") << "another compiler, another image";
}

TEST_F(AssemblyTest, WithoutACompilerAnotherMachinesCubinIsTaken) {
  const std::string key = "kernel=m::k\narch=sm_90\n\nsource";
  use(kCopy);
  store(DriverKind::cuda, key, "cubin");
  const ScopedVariable variable("CUTILE_TILEIRAS_PATH", (place_.path() / "absent").string());
  EXPECT_EQ(looked_up(DriverKind::cuda, key), "cubin");
}

TEST_F(AssemblyTest, ALibraryGetsCodesAndReasons) {
  use("[ \"$1\" = --version ] && exit 0\nexit 5");
  const std::uint8_t* image = nullptr;
  std::size_t size = 0;
  const char* reason = nullptr;
  const auto* bytecode = reinterpret_cast<const std::uint8_t*>("code");
  EXPECT_EQ(host_table().assemble("k", "sm_90", bytecode, 4, &image, &size, &reason), -3);
  EXPECT_NE(std::string(reason).find("exit status 5"), std::string::npos) << reason;
  use(kCopy);
  EXPECT_EQ(host_table().assemble("k", "sm_90", bytecode, 4, &image, &size, &reason), 0);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(image), size), "sm_90\ncode");
  host_table().release(image);
}

}  // namespace
}  // namespace tilegym::runtime
