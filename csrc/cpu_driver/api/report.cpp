#include "cpu_driver/api/report.h"

#include "common/thread_state.h"

namespace tilegym::cpu {
namespace {

struct LastFailure {
  std::string text;
};

std::string& text_of_last_failure() {
  return ThreadState<LastFailure>::get().text;
}

thread_local const char* running_call = "";

}  // namespace

CUresult report(CUresult code, std::string_view text) noexcept {
  try {
    text_of_last_failure() = text;
  } catch (...) {
    text_of_last_failure().clear();
  }
  return code;
}

CUresult fail(CUresult code, std::string_view text) noexcept {
  report(code, running_call);
  try {
    text_of_last_failure().append(": ").append(text);
  } catch (...) {
    text_of_last_failure().clear();
  }
  return code;
}

const std::string& last_report() noexcept {
  return text_of_last_failure();
}

void enter_call(const char* name) noexcept {
  running_call = name;
}

}  // namespace tilegym::cpu
