#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "common/result.h"
#include "runtime/driver_binding.h"
#include "runtime/kernel_abi.h"
#include "runtime/shared_object.h"

namespace tilegym::runtime {

/// A loaded libcutile_kernels.so: its ops and the drivers it launches through. Members may be called from any thread.
/// The code stays in the process when the object goes.
class KernelLibrary {
 public:
  /// Loads the library at `path`, checks its manifest, gives it the host's services and binds the CPU device to the
  /// stand-in driver at `stand_in`. `host` must live as long as the process. `fingerprint` is that of the sources which
  /// the library must have been made from; "" leaves that open.
  [[nodiscard]] static Result<std::shared_ptr<KernelLibrary>> load(const std::string& path, const std::string& stand_in,
                                                                   const HostTable& host,
                                                                   const std::string& fingerprint = "");

  [[nodiscard]] const std::string& path() const noexcept { return library_.path(); }
  [[nodiscard]] const Manifest& manifest() const noexcept { return *manifest_; }
  /// The op of that name; the error lists those there are.
  [[nodiscard]] Result<const OpRow*> find(std::string_view name) const;

  [[nodiscard]] const CpuDevice& cpu_device() const noexcept { return cpu_device_; }
  /// Binds the driver of a kind of device on first use. A failure is not remembered: the next call tries again.
  [[nodiscard]] Status ensure_driver(DriverKind kind);

  /// Gives the place of this library to a newer one; what callers hold of this one then goes to that.
  void set_successor(std::shared_ptr<KernelLibrary> successor);
  /// The library at the end of the line of successors of `library`, which is `library` itself where there is none.
  [[nodiscard]] static std::shared_ptr<KernelLibrary> newest(std::shared_ptr<KernelLibrary> library);

  [[nodiscard]] Counters counters() const noexcept;
  /// Why the calling thread's last failed call failed; empty where the library says nothing.
  [[nodiscard]] std::string last_error() const;

 private:
  struct Functions {
    BindDriverFn bind_driver;
    BindHostFn bind_host;
    LastErrorFn last_error;
    CountersFn counters;
  };

  KernelLibrary(SharedObject library, const Manifest* manifest, Functions functions, CpuDevice cpu_device)
      : library_(std::move(library)), manifest_(manifest), functions_(functions), cpu_device_(std::move(cpu_device)) {}
  [[nodiscard]] static Result<Functions> find_functions(const SharedObject& library);
  [[nodiscard]] Status bind_host(const HostTable& host) const;
  [[nodiscard]] Status bind_driver(DriverKind kind, const std::string& path) const;

  SharedObject library_;
  const Manifest* manifest_;
  Functions functions_;
  CpuDevice cpu_device_;
  mutable std::mutex successor_mutex_;
  std::shared_ptr<KernelLibrary> successor_;
  std::mutex cuda_mutex_;
  std::atomic<bool> cuda_bound_ = false;
};

}  // namespace tilegym::runtime
