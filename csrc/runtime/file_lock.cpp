#include "runtime/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>
#include <utility>

namespace tilegym::runtime {
namespace {

constexpr std::chrono::milliseconds kPoll{200};

std::string own_name() {
  std::string command;
  std::getline(std::ifstream("/proc/self/comm"), command);
  return "process " + std::to_string(getpid()) + " (" + command + ")";
}

}  // namespace

Result<FileLock> FileLock::acquire(const std::filesystem::path& path, std::chrono::seconds limit,
                                   const WhileWaiting& waiting) {
  FileLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock.descriptor_ < 0) {
    return Error{"lock file " + path.string() + ": wanted to open it, got: " + std::strerror(errno)};
  }
  const auto start = std::chrono::steady_clock::now();
  while (!lock.try_lock()) {
    const auto waited = std::chrono::steady_clock::now() - start;
    const std::string who = lock.holder();
    if (waited >= limit) {
      return Error{"lock file " + path.string() + ": wanted it within " + std::to_string(limit.count()) + " s, but " +
                   (who.empty() ? "another process" : who) + " still holds it"};
    }
    if (!waiting(who, std::chrono::duration_cast<std::chrono::seconds>(waited))) {
      return Error{"lock file " + path.string() + ": the wait was cancelled"};
    }
    std::this_thread::sleep_for(kPoll);
  }
  lock.write_holder();
  return lock;
}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

bool FileLock::try_lock() const {
  return flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
}

std::string FileLock::holder() const {
  std::array<char, 128> text{};
  const ssize_t size = pread(descriptor_, text.data(), text.size(), 0);
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

// The file is never removed: a waiter may have it open already, and would then lock a file that nobody else sees.
void FileLock::write_holder() const {
  const std::string name = own_name();
  if (ftruncate(descriptor_, 0) != 0 || pwrite(descriptor_, name.data(), name.size(), 0) < 0) {
    return;  // only the name in another process's waiting line is lost
  }
}

}  // namespace tilegym::runtime
