#include "runtime/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "runtime/pipe.h"

namespace tilegym::runtime {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kPollMilliseconds = 100;
constexpr std::chrono::seconds kGrace{2};

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!added.contains(std::string(text.substr(0, text.find('='))))) {
      result.emplace_back(text);
    }
  }
  for (const auto& [name, value] : added) {
    result.push_back(name + "=" + value);
  }
  return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

/// Everything the child needs, made before the fork: between fork and exec only async-signal-safe calls are allowed.
struct Launch {
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string folder;
  pid_t parent = getpid();
  std::vector<char*> argv = pointers_to(arguments);
  std::vector<char*> envp = pointers_to(environment);
};

[[noreturn]] void become(const Launch& launch, int output, int error, int failure) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int nothing = open("/dev/null", O_RDONLY);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const bool ready = getppid() == launch.parent && dup2(nothing, 0) >= 0 && dup2(output, 1) >= 0 &&
                     dup2(error, 2) >= 0 && (launch.folder.empty() || chdir(launch.folder.c_str()) == 0);
  if (ready) {
    execve(launch.program.c_str(), launch.argv.data(), launch.envp.data());
  }
  const int reason = errno;
  [[maybe_unused]] const ssize_t told = write(failure, &reason, sizeof reason);
  _exit(127);
}

struct Child {
  pid_t pid;
  Descriptor output;
  Descriptor error;
};

Result<Child> start(const Launch& launch) {
  TILEGYM_ASSIGN(Pipe output, make_pipe());
  TILEGYM_ASSIGN(Pipe error, make_pipe());
  TILEGYM_ASSIGN(Pipe failure, make_pipe());
  const pid_t pid = fork();
  if (pid == 0) {
    become(launch, output.write.get(), error.write.get(), failure.write.get());
  }
  if (pid < 0) {
    return Error{launch.program + ": cannot be started: " + std::strerror(errno)};
  }
  setpgid(pid, pid);  // also here, so that the group exists before anybody may signal it
  failure.write.reset();
  int reason = 0;
  // The write end closes at exec, so this read ends with nothing where the program has started.
  if (read(failure.read.get(), &reason, sizeof reason) == sizeof reason) {
    waitpid(pid, nullptr, 0);
    return Error{launch.program + ": cannot be started: " + std::strerror(reason)};
  }
  return Child{pid, std::move(output.read), std::move(error.read)};
}

/// Ends a process group: asks first, insists after a while.
class Terminator {
 public:
  explicit Terminator(pid_t group) : group_(group) {}

  void advance() {
    const auto now = Clock::now();
    if (!active_) {
      active_ = true;
      asked_ = now;
      kill(-group_, SIGTERM);
    } else if (now - asked_ > kGrace) {
      kill(-group_, SIGKILL);
    }
  }
  [[nodiscard]] bool active() const { return active_; }

 private:
  pid_t group_;
  bool active_ = false;
  Clock::time_point asked_;
};

void read_ready(LineReader& output, LineReader& error) {
  std::array<pollfd, 2> ready{{{output.descriptor(), POLLIN, 0}, {error.descriptor(), POLLIN, 0}}};
  if (poll(ready.data(), ready.size(), kPollMilliseconds) <= 0) {
    return;
  }
  if (ready[0].revents != 0) {
    output.read_some();
  }
  if (ready[1].revents != 0) {
    error.read_some();
  }
}

Outcome outcome_of(int status, bool cancelled) {
  if (WIFSIGNALED(status)) {
    return {-1, WTERMSIG(status), cancelled};
  }
  return {WEXITSTATUS(status), 0, cancelled};
}

Outcome watch(Child child, const Watcher& watcher) {
  LineReader output(std::move(child.output), watcher.on_output);
  LineReader error(std::move(child.error), watcher.on_error);
  Terminator terminator(child.pid);
  int status = 0;
  bool ended = false;
  // A grandchild may keep the pipes open after the program has ended, so the program's own end decides.
  while (!ended) {
    read_ready(output, error);
    if (terminator.active() || (watcher.keep_going && !watcher.keep_going())) {
      terminator.advance();
    }
    ended = waitpid(child.pid, &status, WNOHANG) != 0;
  }
  while (output.descriptor() >= 0 || error.descriptor() >= 0) {
    pollfd rest{output.descriptor() >= 0 ? output.descriptor() : error.descriptor(), POLLIN, 0};
    if (poll(&rest, 1, 0) <= 0) {
      break;
    }
    (output.descriptor() >= 0 ? output : error).read_some();
  }
  return outcome_of(status, terminator.active());
}

std::string resolve(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    return program;
  }
  const auto found = find_programs(program);
  return found.empty() ? program : found.front().string();
}

}  // namespace

Result<Outcome> run_process(const Command& command, const Watcher& watcher) {
  const Launch launch{resolve(command.arguments.front()), command.arguments, merged_environment(command.environment),
                      command.folder.string()};
  TILEGYM_ASSIGN(Child child, start(launch));
  return watch(std::move(child), watcher);
}

Result<std::string> output_of(const Command& command) {
  std::string text;
  std::string complaint;
  const Watcher watcher{[&](std::string_view line) { text.append(line).append("\n"); },
                        [&](std::string_view line) { complaint.append(line).append("\n"); },
                        {}};
  TILEGYM_ASSIGN(const Outcome outcome, run_process(command, watcher));
  if (!outcome.succeeded()) {
    return Error{command.arguments.front() + ": wanted exit status 0, got " + std::to_string(outcome.exit_code) + ": " +
                 complaint};
  }
  text.erase(text.find_last_not_of(" \n") + 1);
  return text;
}

std::vector<std::filesystem::path> find_programs(std::string_view name) {
  std::vector<std::filesystem::path> found;
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "/usr/bin:/bin" : variable;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    const std::filesystem::path candidate = std::filesystem::path(folder) / name;
    std::error_code error;
    if (!folder.empty() && std::filesystem::is_regular_file(candidate, error) && access(candidate.c_str(), X_OK) == 0) {
      found.push_back(candidate);
    }
  }
  return found;
}

}  // namespace tilegym::runtime
