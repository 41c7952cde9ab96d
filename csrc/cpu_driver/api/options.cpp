#include "cpu_driver/api/options.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>

namespace tilegym::cpu {
namespace {

std::atomic<const Target*> target{&kTargets[kDefaultTarget]};
std::atomic<int> threads{0};
std::atomic<BlockOrder::Kind> order_kind{BlockOrder::Kind::forward};
std::atomic<std::uint64_t> order_seed{0};
std::atomic<bool> cancelled{false};
thread_local const std::atomic<bool>* cancelled_of_thread = nullptr;

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

template <class Number>
bool parse(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

CUresult set_threads(std::string_view value) {
  int count = 0;
  if (!parse(value, count) || count < 0) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "threads: wanted a number, 0 for automatic, got '" + std::string(value) + "'");
  }
  threads.store(count, std::memory_order_relaxed);
  return CUDA_SUCCESS;
}

CUresult set_order(std::string_view value) {
  constexpr std::string_view kShuffled = "shuffled:";
  using Kind = BlockOrder::Kind;
  const bool shuffled = value.starts_with(kShuffled);
  std::uint64_t seed = 0;
  const bool known = shuffled ? parse(value.substr(kShuffled.size()), seed) : value == "forward" || value == "reversed";
  if (!known) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "order: wanted forward, reversed or shuffled:SEED, got '" + std::string(value) + "'");
  }
  order_seed.store(seed, std::memory_order_relaxed);
  const Kind plain = value == "forward" ? Kind::forward : Kind::reversed;
  order_kind.store(shuffled ? Kind::shuffled : plain, std::memory_order_relaxed);
  return CUDA_SUCCESS;
}

struct Option {
  std::string_view name;
  const char* variable;
  CUresult (*set)(std::string_view value);
};
constexpr std::array<Option, 3> kOptions{{
    {"target", "TILEGYM_RS_TARGET", set_target},
    {"threads", "TILEGYM_RS_THREADS", set_threads},
    {"order", "TILEGYM_RS_ORDER", set_order},
}};

}  // namespace

CUresult configure(std::string_view name, std::string_view value) {
  for (const Option& option : kOptions) {
    if (option.name == name) return option.set(value);
  }
  return fail(CUDA_ERROR_INVALID_VALUE, "option: wanted target, threads or order, got '" + std::string(name) + "'");
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
BlockOrder block_order() noexcept {
  return {order_kind.load(std::memory_order_relaxed), order_seed.load(std::memory_order_relaxed)};
}
std::atomic<bool>& cancel_flag() noexcept {
  return cancelled;
}
const std::atomic<bool>& cancel_flag_of_thread() noexcept {
  return cancelled_of_thread == nullptr ? cancelled : *cancelled_of_thread;
}
void watch_cancel_of_thread(const std::atomic<bool>* flag) noexcept {
  cancelled_of_thread = flag;
}

}  // namespace tilegym::cpu
