#include "cpu_driver/api/driver_test.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <utility>

#include "cpu_driver/api/module.h"

namespace tilegym::cpu::test {

void DriverTest::SetUp() {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
}

void DriverTest::TearDown() {
  table().set_cancelled(0);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
}

const PrivateTable& table() {
  CUuuid id{};
  std::memcpy(id.bytes, kPrivateTableId, sizeof(kPrivateTableId));
  const void* found = nullptr;
  EXPECT_EQ(cuGetExportTable(&found, &id), CUDA_SUCCESS);
  return *static_cast<const PrivateTable*>(found);
}

std::string last_report() {
  std::string text(table().last_report(nullptr, 0) + 1, '\0');
  text.resize(table().last_report(text.data(), text.size()));
  return text;
}

CUfunction make_function(Body body, std::vector<Parameter> parameters) {
  auto kernel = std::make_unique<const FakeKernel>(std::move(body), std::move(parameters));
  return functions().insert(std::make_shared<Function>(std::move(kernel), nullptr));
}

Body outcome(Outcome outcome, std::string report) {
  return [=](Grid, std::span<const void* const>, const LaunchOptions&) { return LaunchResult{outcome, report}; };
}

CUresult launch(CUfunction function, CUstream stream, std::vector<void*> arguments) {
  return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments.data(), nullptr);
}

std::vector<std::byte> golden(const std::string& name) {
  const auto path = std::filesystem::path(TILEGYM_GOLDENS) / "tile_ir" / (name + ".tileirbc");
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  const std::vector<char> text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void Gate::open() {
  open_.store(true);
  open_.notify_all();
}

void Gate::wait() const {
  open_.wait(false);
}

}  // namespace tilegym::cpu::test
