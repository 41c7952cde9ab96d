#include "runtime/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

namespace tilegym::runtime {
namespace {

constexpr std::chrono::milliseconds kPoll{200};

std::string name_of(pid_t process) {
  std::string command;
  std::getline(std::ifstream("/proc/" + std::to_string(process) + "/comm"), command);
  return "process " + std::to_string(process) + (command.empty() ? "" : " (" + command + ")");
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
    std::string who = lock.holder();
    if (who.empty()) {
      who = lock_holder(path);
    }
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

// A line of /proc/locks: "1: FLOCK  ADVISORY  WRITE 123 fe:01:456 0 EOF"; a waiting process has "->" after the number.
// Devices are not compared: what stat tells of layered file systems differs from what the kernel locks.
std::string lock_holder(const std::filesystem::path& path) {
  struct stat entry{};
  if (stat(path.c_str(), &entry) != 0) {
    return "";
  }
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, mode, access, place;
    pid_t process = 0;
    words >> number >> kind >> mode >> access >> process >> place;
    const std::string inode = place.substr(place.rfind(':') + 1);
    if (words && kind != "->" && process > 0 && inode == std::to_string(entry.st_ino)) {
      return name_of(process);
    }
  }
  return "";
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
  const std::string name = name_of(getpid());
  if (ftruncate(descriptor_, 0) != 0 || pwrite(descriptor_, name.data(), name.size(), 0) < 0) {
    return;  // only the name in another process's waiting line is lost
  }
}

}  // namespace tilegym::runtime
