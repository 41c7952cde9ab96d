#pragma once

#include <memory>
#include <string>

#include "common/result.h"

namespace tilegym::runtime {

/// Closes a library unless it is to stay in the process.
struct LibraryCloser {
  bool kept = false;
  void operator()(void* handle) const noexcept;
};

/// A library opened with dlopen, its symbols kept out of the process's global scope. It is closed on destruction unless
/// kept.
class SharedObject {
 public:
  /// Opens the file at `path`; `what` names its role in error texts, such as "kernel library". Refuses what another
  /// user could have put there (trust.h).
  [[nodiscard]] static Result<SharedObject> open(std::string what, const std::string& path);

  /// Sets `out` to the address of an exported symbol; the error names file and symbol.
  template <class Pointer>
  [[nodiscard]] Status symbol(const char* name, Pointer& out) const {
    TILEGYM_ASSIGN(void* address, find(name));
    out = reinterpret_cast<Pointer>(address);
    return {};
  }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }  ///< absolute

  /// Leaves the library in the process for good: its threads and tables may outlive every owner.
  void keep() noexcept { handle_.get_deleter().kept = true; }

 private:
  SharedObject(std::string what, std::string path, void* handle)
      : what_(std::move(what)), path_(std::move(path)), handle_(handle) {}
  [[nodiscard]] Result<void*> find(const char* name) const;

  std::string what_;
  std::string path_;
  std::unique_ptr<void, LibraryCloser> handle_;
};

}  // namespace tilegym::runtime
