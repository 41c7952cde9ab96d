#include "runtime/build_progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace tilegym::runtime {
namespace {

constexpr std::chrono::milliseconds kTerminalPeriod{500};
constexpr std::chrono::milliseconds kLogPeriod{15000};
constexpr std::chrono::seconds kWaitingPeriod{4};

void write_error(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

BuildProgress::BuildProgress(std::string_view subject) : subject_(subject), terminal_(isatty(STDERR_FILENO) == 1) {}

void BuildProgress::crate_done(std::string_view package_id) {
  done_.emplace(package_id);
}

void BuildProgress::set_activity(std::string_view activity) {
  activity_ = activity;
}

std::chrono::seconds BuildProgress::elapsed() const {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start_);
}

std::string BuildProgress::line() const {
  std::string text = "tilegym: " + subject_ + ": " + std::to_string(done_.size());
  if (total_ != 0) {
    text += "/" + std::to_string(std::max(total_, done_.size()));
  }
  return text + " crates, " + minutes_text(elapsed()) + (activity_.empty() ? "" : ", " + activity_);
}

void BuildProgress::tick() {
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::milliseconds period = terminal_ ? kTerminalPeriod : kLogPeriod;
  if (now - shown_ >= period) {
    shown_ = now;
    write_error(terminal_ ? "\r\x1b[K" + line() : line() + "\n");
  }
}

void BuildProgress::finish(std::string_view outcome) {
  activity_ = outcome;
  write_error((terminal_ ? "\r\x1b[K" : "") + line() + "\n");
}

void WaitingLine::show(const std::string& holder, std::chrono::seconds waited) {
  if (waited < next_) {
    return;
  }
  next_ = waited + kWaitingPeriod;
  const std::string who = holder.empty() ? "another process" : holder;
  write_error("tilegym: waiting for " + who + " to build the kernel library, " + minutes_text(waited) + " of at most " +
              minutes_text(limit_) + "\n");
}

std::string minutes_text(std::chrono::seconds time) {
  const std::string seconds = std::to_string(time.count() % 60);
  return std::to_string(time.count() / 60) + (seconds.size() == 1 ? ":0" : ":") + seconds;
}

}  // namespace tilegym::runtime
