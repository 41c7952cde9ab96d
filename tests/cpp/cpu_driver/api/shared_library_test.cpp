#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "cpu_driver/api/driver_test.h"

namespace tilegym::cpu::test {
namespace {

std::filesystem::path library_path() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libtilegym_cpu_driver.so";
}

/// The library opened beside this executable, which holds functions of the same names.
class SharedLibrary : public testing::Test {
 protected:
  void SetUp() override {
    handle_ = dlopen(library_path().c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle_, nullptr) << dlerror();
  }

  template <class Function>
  Function* symbol(const char* name, Function*) {
    return reinterpret_cast<Function*>(dlsym(handle_, name));
  }

  void* handle_ = nullptr;
};

std::set<std::string> exported_symbols() {
  const std::string command = "nm -D --defined-only '" + library_path().string() + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::set<std::string> names;
  std::array<char, 256> line{};
  while (std::fgets(line.data(), line.size(), pipe.get()) != nullptr) {
    std::string text(line.data());
    text.erase(text.find_last_not_of('\n') + 1);
    names.insert(text.substr(text.find_last_of(' ') + 1));
  }
  return names;
}

std::set<std::string> table_symbols() {
  return {
#define DRIVER_CALL(name, symbol, since, per_thread) #symbol, #per_thread,
#include "cpu_driver/api/driver_calls.def"
#undef DRIVER_CALL
  };
}

TEST_F(SharedLibrary, ExportsWhatTheTableListsAndNothingElse) {
  EXPECT_EQ(exported_symbols(), table_symbols());
}

TEST_F(SharedLibrary, BindsItsOwnFunctionsNotTheExecutables) {
  auto* init = symbol("cuInit", &cuInit);
  auto* count = symbol("cuDeviceGetCount", &cuDeviceGetCount);
  ASSERT_NE(init, &cuInit);
  int devices = 0;
  // The executable's driver may be initialised by now; the library's own is not until its own cuInit.
  cuInit(0);
  EXPECT_EQ(count(&devices), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(init(0), CUDA_SUCCESS);
  EXPECT_EQ(count(&devices), CUDA_SUCCESS);
}

TEST_F(SharedLibrary, StaysLoadedAfterDlclose) {
  auto* version = symbol("cuDriverGetVersion", &cuDriverGetVersion);
  ASSERT_EQ(dlclose(handle_), 0);
  int number = 0;
  EXPECT_EQ(version(&number), CUDA_SUCCESS);
  EXPECT_EQ(number, CUDA_VERSION);
}

}  // namespace
}  // namespace tilegym::cpu::test
