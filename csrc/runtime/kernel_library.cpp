#include "runtime/kernel_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/manifest.h"

namespace tilegym::runtime {
namespace {

constexpr const char* kCudaDriver = "libcuda.so.1";

}  // namespace

Result<KernelLibrary::Functions> KernelLibrary::find_functions(const SharedObject& library) {
  Functions functions{};
  TILEGYM_TRY(library.symbol("cutile_bind_driver", functions.bind_driver));
  TILEGYM_TRY(library.symbol("cutile_bind_host", functions.bind_host));
  TILEGYM_TRY(library.symbol("cutile_last_error", functions.last_error));
  TILEGYM_TRY(library.symbol("cutile_counters", functions.counters));
  return functions;
}

Result<std::shared_ptr<KernelLibrary>> KernelLibrary::load(const std::string& path, const std::string& stand_in,
                                                           const HostTable& host, const std::string& fingerprint) {
  TILEGYM_ASSIGN(SharedObject file, SharedObject::open("kernel library", path));
  const Manifest* manifest = nullptr;
  TILEGYM_TRY(file.symbol(kManifestSymbol, manifest));
  TILEGYM_TRY(check_manifest(*manifest, file.path()));
  TILEGYM_TRY(check_sources(*manifest, fingerprint, file.path()));
  TILEGYM_ASSIGN(const Functions functions, find_functions(file));
  TILEGYM_ASSIGN(CpuDevice cpu_device, CpuDevice::open(stand_in));
  file.keep();
  std::shared_ptr<KernelLibrary> library(
      new KernelLibrary(std::move(file), manifest, functions, std::move(cpu_device)));
  TILEGYM_TRY(library->bind_host(host));
  TILEGYM_TRY(library->bind_driver(DriverKind::cpu, library->cpu_device_.path()));
  return library;
}

Result<const OpRow*> KernelLibrary::find(std::string_view name) const {
  const auto ops = ops_of(*manifest_);
  const auto op = std::ranges::find(ops, name, [](const OpRow& row) { return std::string_view(row.name); });
  if (op != ops.end()) return &*op;
  std::vector<std::string_view> names;
  for (const OpRow& row : ops) names.emplace_back(row.name);
  return Error{
      fmt::format("kernel library '{}': wanted the op '{}', it has: {}", path(), name, fmt::join(names, ", "))};
}

Status KernelLibrary::bind_host(const HostTable& host) const {
  if (functions_.bind_host(&host) == static_cast<std::int32_t>(ReturnCode::ok)) return {};
  return Error{fmt::format("kernel library '{}': it refused the host's services: {}", path(), last_error())};
}

Status KernelLibrary::bind_driver(DriverKind kind, const std::string& driver) const {
  if (functions_.bind_driver(static_cast<std::int32_t>(kind), driver.c_str()) ==
      static_cast<std::int32_t>(ReturnCode::ok)) {
    return {};
  }
  return Error{fmt::format("kernel library '{}': it cannot use the driver '{}': {}", path(), driver, last_error())};
}

Status KernelLibrary::ensure_driver(DriverKind kind) {
  if (kind == DriverKind::cpu || cuda_bound_.load(std::memory_order_acquire)) return {};
  const std::scoped_lock lock(cuda_mutex_);
  if (cuda_bound_.load(std::memory_order_relaxed)) return {};
  TILEGYM_TRY(bind_driver(DriverKind::cuda, kCudaDriver));
  cuda_bound_.store(true, std::memory_order_release);
  return {};
}

void KernelLibrary::set_successor(std::shared_ptr<KernelLibrary> successor) {
  const std::scoped_lock lock(successor_mutex_);
  successor_ = std::move(successor);
}

std::shared_ptr<KernelLibrary> KernelLibrary::newest(std::shared_ptr<KernelLibrary> library) {
  while (true) {
    std::shared_ptr<KernelLibrary> next;
    {
      const std::scoped_lock lock(library->successor_mutex_);
      next = library->successor_;
    }
    if (next == nullptr) return library;
    library = std::move(next);
  }
}

Counters KernelLibrary::counters() const noexcept {
  Counters counters{};
  functions_.counters(&counters);
  return counters;
}

std::string KernelLibrary::last_error() const {
  const char* text = functions_.last_error();
  return text == nullptr ? "" : text;
}

}  // namespace tilegym::runtime
