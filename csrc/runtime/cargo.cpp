#include "runtime/cargo.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include "runtime/cargo_messages.h"
#include "runtime/file_lock.h"
#include "runtime/process.h"
#include "runtime/settings.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;
// PR_SET_PDEATHSIG reaches one process only: this shell, which then takes cargo and its compilers along. A compiler
// that lived on would write into the target folder under the next cargo's hands.
constexpr const char* kGuard = R"(trap 'kill -9 0' TERM; "$0" "$@" & wait $!)";
constexpr int kShellSignal = 128;  // a shell's exit status for a signal is this and the signal

/// One cargo at work: what it is told, what it says, and how long it may wait for others.
class CargoRun {
 public:
  CargoRun(const CargoBuild& build, const Toolchain& toolchain, const std::function<bool()>& keep_going)
      : build_(build), toolchain_(toolchain), keep_going_(keep_going) {
    progress_.tick();
  }

  /// Number of crates in the build; 0 where cargo cannot tell, which the build itself then explains. Fetches them
  /// first.
  std::size_t count_crates() {
    std::set<std::string> crates;
    const auto on_crate = [&](std::string_view line) {
      if (const std::size_t version = line.find(" v"); version != std::string_view::npos) {
        crates.emplace(line.substr(0, line.find(' ', version + 1)));
      }
    };
    const Result<Outcome> outcome = run({"tree", "--locked", "--prefix=none", "--edges=normal,build"}, on_crate);
    return outcome.ok() && outcome.value().succeeded() ? crates.size() : 0;
  }

  Result<fs::path> build() {
    progress_.set_total(count_crates());
    listener_.forget_lines();
    const auto on_message = [&](std::string_view line) {
      blocked_.reset();
      listener_.on_message(line);
    };
    TILEGYM_ASSIGN(const Outcome outcome, run({"build", "--release", "--locked", "--message-format=json"}, on_message));
    if (outcome.succeeded() && !listener_.library().empty()) {
      progress_.finish("done");
      return listener_.library();
    }
    progress_.finish(outcome.cancelled ? "cancelled" : "failed");
    return failure(outcome);
  }

 private:
  using Line = std::function<void(std::string_view)>;

  Result<Outcome> run(std::vector<std::string> arguments, const Line& on_output) {
    if (!build_.options.features.empty()) {
      arguments.push_back("--features=" + build_.options.features);
    }
    arguments.insert(arguments.begin(), {"/bin/sh", "-c", kGuard, toolchain_.rust->cargo.string()});
    Command command{std::move(arguments), toolchain_.environment, build_.crate};
    command.environment["CARGO_TARGET_DIR"] = build_.target.string();
    command.environment["TILEGYM_SOURCE_FINGERPRINT"] = build_.source_fingerprint;
    return run_process(command, {on_output, [&](std::string_view line) { on_line(line); }, [&] { return go_on(); }});
  }

  void on_line(std::string_view line) {
    const std::string_view text = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    blocked_.reset();
    if (text.starts_with("Blocking waiting for file lock")) {
      blocked_ = Clock::now();
      waited_ = WaitingLine(build_.options.wait);
    }
    listener_.on_line(line);
    progress_.set_activity(text);
  }

  bool go_on() {
    progress_.tick();
    if (blocked_) {
      const auto waited = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - *blocked_);
      waited_.show(holder(), waited);
      out_of_time_ = waited >= build_.options.wait;
    }
    return !out_of_time_ && keep_going_();
  }

  /// Who holds one of cargo's locks: those of the target folder's profiles, else the one on its downloads.
  [[nodiscard]] std::string holder() const {
    std::vector<fs::path> locks{build_.target / ".cargo-lock", build_.target / "release" / ".cargo-lock"};
    const char* home = std::getenv("CARGO_HOME");
    locks.push_back((home != nullptr && *home != '\0' ? fs::path(home) : home_folder() / ".cargo") / ".package-cache");
    for (const fs::path& lock : locks) {
      if (std::string found = lock_holder(lock); !found.empty()) {
        return found;
      }
    }
    return "";
  }

  [[nodiscard]] Error failure(const Outcome& outcome) const {
    if (out_of_time_) {
      const std::string who = holder();
      return Error{"kernel library: wanted cargo's lock on " + build_.target.string() + " within " +
                   std::to_string(build_.options.wait.count()) + " s, but " + (who.empty() ? "another process" : who) +
                   " still holds it; end that process, or raise TILEGYM_RS_BUILD_WAIT"};
    }
    if (outcome.cancelled) {
      return Error{"kernel library: the build was cancelled"};
    }
    const bool killed = outcome.signal != 0 || outcome.exit_code > kShellSignal;
    const int number = outcome.signal != 0 ? outcome.signal : outcome.exit_code - (killed ? kShellSignal : 0);
    return Error{"kernel library: cargo build failed after " + minutes_text(progress_.elapsed()) + " (" +
                 (killed ? "signal " : "exit status ") + std::to_string(number) +
                 "); full log: " + build_.log.string() + "\n" + listener_.summary()};
  }

  using Clock = std::chrono::steady_clock;
  const CargoBuild& build_;
  const Toolchain& toolchain_;
  const std::function<bool()>& keep_going_;
  BuildProgress progress_{"building the kernel library"};
  CargoListener listener_{build_.log, build_.library, progress_};
  WaitingLine waited_{build_.options.wait};
  std::optional<Clock::time_point> blocked_;
  bool out_of_time_ = false;
};

}  // namespace

std::string BuildOptions::identity() const {
  return features.empty() && variables.empty() ? "" : "features=" + features + variables;
}

Result<BuildOptions> read_build_options() {
  TILEGYM_ASSIGN(std::string features, read_text("features"));
  TILEGYM_ASSIGN(const std::int64_t wait, read_integer("build_wait"));
  std::set<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (name == "RUSTFLAGS" || name == "CARGO_ENCODED_RUSTFLAGS" || name == "CARGO_BUILD_RUSTFLAGS" ||
        name == "CARGO_BUILD_TARGET" || name.starts_with("CARGO_PROFILE_RELEASE_")) {
      variables.emplace(text);
    }
  }
  std::string text;
  for (const std::string& variable : variables) {
    text += " " + variable;
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return BuildOptions{std::move(features), std::move(text), std::chrono::seconds(wait)};
}

Result<fs::path> run_cargo(const CargoBuild& build, const Toolchain& toolchain,
                           const std::function<bool()>& keep_going) {
  return CargoRun(build, toolchain, keep_going).build();
}

}  // namespace tilegym::runtime
