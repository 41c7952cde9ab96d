#pragma once

#include <chrono>
#include <set>
#include <string>
#include <string_view>

namespace tilegym::runtime {

/// Shows how far a build is, on standard error: one line that is written over where that is a terminal, else a line now
/// and then. One thread uses it.
class BuildProgress {
 public:
  explicit BuildProgress(std::string_view subject);

  /// Number of crates to build; 0: not known.
  void set_total(std::size_t total) { total_ = total; }
  void crate_done(std::string_view package_id);
  void set_activity(std::string_view activity);  ///< "Compiling syn v2.0.1"

  /// To be called often; writes when there is something to show.
  void tick();

  /// Ends the line with an outcome such as "done" or "failed".
  void finish(std::string_view outcome);

  [[nodiscard]] std::chrono::seconds elapsed() const;

 private:
  [[nodiscard]] std::string line() const;

  std::string subject_;
  std::string activity_;
  std::set<std::string, std::less<>> done_;
  std::size_t total_ = 0;
  bool terminal_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point shown_{};
};

/// Says now and then, on standard error, whom this process waits for.
class WaitingLine {
 public:
  explicit WaitingLine(std::chrono::seconds limit) : limit_(limit) {}

  /// To be called often. `holder` is "process 123 (pytest)", or empty where it is not known.
  void show(const std::string& holder, std::chrono::seconds waited);

 private:
  std::chrono::seconds limit_;
  std::chrono::seconds next_{0};
};

/// "1:23"
std::string minutes_text(std::chrono::seconds time);

}  // namespace tilegym::runtime
