#include "cpu_driver/api/options.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>

namespace tilegym::cpu {
namespace {

std::atomic<const Target*> target{&kTargets[kDefaultTarget]};
std::atomic<int> threads{0};
std::atomic<bool> cancelled{false};

std::string target_names() {
  std::string names;
  for (const Target& row : kTargets) names.append(names.empty() ? "" : ", ").append(row.name);
  return names;
}

CUresult set_target(std::string_view value) {
  const auto row = std::find_if(kTargets.begin(), kTargets.end(), [value](const Target& t) { return t.name == value; });
  if (row == kTargets.end()) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "target: wanted one of " + target_names() + ", got '" + std::string(value) + "'");
  }
  target.store(row, std::memory_order_relaxed);
  return CUDA_SUCCESS;
}

CUresult set_threads(std::string_view value) {
  int count = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (error != std::errc{} || end != value.data() + value.size() || count < 0) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "threads: wanted a number, 0 for automatic, got '" + std::string(value) + "'");
  }
  threads.store(count, std::memory_order_relaxed);
  return CUDA_SUCCESS;
}

struct Option {
  std::string_view name;
  const char* variable;
  CUresult (*set)(std::string_view value);
};
constexpr std::array<Option, 2> kOptions{{
    {"target", "TILEGYM_RS_TARGET", set_target},
    {"threads", "TILEGYM_RS_THREADS", set_threads},
}};

}  // namespace

CUresult configure(std::string_view name, std::string_view value) {
  for (const Option& option : kOptions) {
    if (option.name == name) return option.set(value);
  }
  return fail(CUDA_ERROR_INVALID_VALUE, "option: wanted target or threads, got '" + std::string(name) + "'");
}

CUresult configure_from_environment() {
  for (const Option& option : kOptions) {
    const char* value = std::getenv(option.variable);
    if (value != nullptr && *value != '\0') TILEGYM_CU_TRY(option.set(value));
  }
  return CUDA_SUCCESS;
}

const Target& current_target() noexcept {
  return *target.load(std::memory_order_relaxed);
}
int thread_limit() noexcept {
  return threads.load(std::memory_order_relaxed);
}
std::atomic<bool>& cancel_flag() noexcept {
  return cancelled;
}

}  // namespace tilegym::cpu
