#include "runtime/toolchain.h"

#include <gtest/gtest.h>

#include "runtime/scoped_place.h"
#include "runtime/settings.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;

/// Three places that may hold the CUDA headers: each is taken where those before it are not named or lack them.
TEST(Toolchain, CudaHeadersAreSoughtInOrder) {
  const TempFolder place;
  const fs::path named = place.path() / "named";
  const fs::path home = place.path() / "home";
  const fs::path wheel = place.path() / "wheel";
  for (const fs::path& toolkit : {named, home, wheel}) {
    place.write(toolkit / "include/cuda.h", "");
    place.write(toolkit / "include/curand.h", "");
  }
  const auto found = [&] {
    forget_setting_files();
    return find_toolchain(place.path(), {{wheel}, {}}).environment["CUDA_TOOLKIT_PATH"];
  };
  const ScopedVariable path("PATH", place.path().string());
  {
    const ScopedVariable toolkit("CUDA_TOOLKIT_PATH", named.string());
    const ScopedVariable cuda_home("CUDA_HOME", home.string());
    EXPECT_EQ(found(), named);
  }
  const ScopedVariable toolkit("CUDA_TOOLKIT_PATH", std::nullopt);
  {
    const ScopedVariable cuda_home("CUDA_HOME", home.string());
    EXPECT_EQ(found(), home);
    fs::remove(home / "include/cuda.h");
    EXPECT_EQ(found(), wheel);
  }
  const ScopedVariable cuda_home("CUDA_HOME", std::nullopt);
  EXPECT_EQ(found(), wheel);
}

TEST(Toolchain, EveryMissingPartHasItsRemedyInOneLine) {
  const TempFolder place;
  const ScopedVariable path("PATH", place.path().string());
  const ScopedVariable toolkit("CUDA_TOOLKIT_PATH", (place.path() / "nowhere").string());
  const ScopedVariable libclang("LIBCLANG_PATH", (place.path() / "nowhere").string());
  const Toolchain toolchain = find_toolchain(place.path(), {});
  for (const ToolCheck& check : toolchain.checks) {
    EXPECT_FALSE(check.found) << check.name;
    EXPECT_NE(check.text.find(": wanted "), std::string::npos) << check.text;
    EXPECT_NE(check.text.find(", got "), std::string::npos) << check.text;
    EXPECT_NE(check.text.find("; "), std::string::npos) << check.text;
    EXPECT_EQ(check.text.find('\n'), std::string::npos) << check.text;
  }
  EXPECT_EQ(toolchain.checks.size(), 4U);
}

}  // namespace
}  // namespace tilegym::runtime
