#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "common/result.h"

namespace tilegym::runtime {

/// What a waiting process asks back. `holder` names the process that has the lock ("process 123 (pytest)"), or is empty
/// where the holder has not written its name yet. Returning false ends the wait.
using WhileWaiting = std::function<bool(const std::string& holder, std::chrono::seconds waited)>;

/// An exclusive lock on a file between processes, and between holders inside one process. The kernel drops it when the
/// holder ends, however it ends; child processes do not inherit it.
class FileLock {
 public:
  /// Waits until the lock is free or `limit` is over; calls `waiting` about five times a second. Errors: the file
  /// cannot be opened; the limit is over (the text names the holder); the wait was ended by `waiting`.
  static Result<FileLock> acquire(const std::filesystem::path& path, std::chrono::seconds limit,
                                  const WhileWaiting& waiting);

  FileLock(FileLock&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  [[nodiscard]] bool try_lock() const;
  [[nodiscard]] std::string holder() const;
  void write_holder() const;

  int descriptor_;
};

/// The process that holds a lock on a file, "process 123 (cargo)"; empty where nobody does or the kernel does not tell.
std::string lock_holder(const std::filesystem::path& path);

}  // namespace tilegym::runtime
