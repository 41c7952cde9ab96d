#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cpu_driver/api/context.h"
#include "cpu_driver/api/private_table.h"
#include "cpu_driver/engine/engine.h"

namespace tilegym::cpu::test {

/// An initialised driver with its primary context current; each test gets a fresh one.
class DriverTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  CUcontext context_ = nullptr;
};

/// The private table.
const PrivateTable& table();
/// The calling thread's last report.
std::string last_report();

using Body =
    std::function<LaunchResult(Grid grid, std::span<const void* const> arguments, const LaunchOptions& options)>;

/// A kernel that runs `body` once a launch, on the thread that executes the launch.
class FakeKernel final : public Kernel {
 public:
  explicit FakeKernel(Body body, std::vector<Parameter> parameters = {})
      : body_(std::move(body)), parameters_(std::move(parameters)) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "fake"; }
  [[nodiscard]] std::span<const Parameter> parameters() const noexcept override { return parameters_; }
  [[nodiscard]] LaunchResult launch(Grid grid, std::span<const void* const> arguments,
                                    const LaunchOptions& options) const override {
    return body_(grid, arguments, options);
  }

 private:
  Body body_;
  std::vector<Parameter> parameters_;
};

/// A live function handle for a fake kernel. Lives until the process ends.
CUfunction make_function(Body body, std::vector<Parameter> parameters = {});
/// A body that succeeds or fails without doing anything.
Body outcome(Outcome outcome, std::string report = "");

/// Launches with a grid of one block.
CUresult launch(CUfunction function, CUstream stream = nullptr, std::vector<void*> arguments = {});

/// Bytes of tests/goldens/tile_ir/<name>.tileirbc.
std::vector<std::byte> golden(const std::string& name);
inline const std::string kSilu = "cutile_silu_and_mul_f16";
inline const char* const kSiluEntry = "silu_and_mul_kernel_entry";

/// A gate that a kernel can be held at. It must outlive the kernel: synchronise after open().
class Gate {
 public:
  void open();
  void wait() const;

 private:
  std::atomic<bool> open_{false};
};

}  // namespace tilegym::cpu::test
