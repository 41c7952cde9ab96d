#include "runtime/autobuild.h"

#include <chrono>
#include <fstream>
#include <optional>
#include <vector>

#include "runtime/build_progress.h"
#include "runtime/build_sweep.h"
#include "runtime/cache_folder.h"
#include "runtime/cargo.h"
#include "runtime/file_lock.h"
#include "runtime/fingerprint.h"
#include "runtime/settings.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;
constexpr int kAttempts = 3;  // builds that see their sources change before we give up
constexpr const char* kFingerprintName = "libcutile_kernels.fingerprint";

/// First line of the file that tells what a library was made from; empty where there is none.
std::string made_from(const fs::path& folder) {
  std::string sources;
  std::getline(std::ifstream(folder / kFingerprintName), sources);
  return sources;
}

/// What is to be had and where; the folder names are: kernels/<fingerprint>/, target/, logs/.
struct Plan {
  fs::path crate;
  std::string sources;
  BuildOptions options;
  std::vector<fs::path> caches;
  std::optional<RustCompiler> rust;

  [[nodiscard]] const fs::path& cache() const { return caches.back(); }
  [[nodiscard]] std::string name() const {
    return build_fingerprint(sources, rust ? rust->version : "", options.identity());
  }
  [[nodiscard]] fs::path place() const { return fs::path("kernels") / name() / kLibraryName; }
  [[nodiscard]] std::optional<LibraryFile> find() const {
    const std::optional<fs::path> found = rust ? find_cached(caches, place()) : find_by_sources();
    if (!found) {
      return std::nullopt;
    }
    mark_used(found->parent_path());
    return LibraryFile{*found, sources, false};
  }

 private:
  /// Where no compiler can be asked for its version, any compiler's library of these sources is right.
  [[nodiscard]] std::optional<fs::path> find_by_sources() const {
    for (const fs::path& cache : caches) {
      std::error_code error;
      for (fs::directory_iterator entry(cache / "kernels", error); !error && entry != fs::directory_iterator();
           entry.increment(error)) {
        if (made_from(entry->path()) == sources + " " + options.identity() &&
            fs::is_regular_file(entry->path() / kLibraryName, error)) {
          return entry->path() / kLibraryName;
        }
      }
    }
    return std::nullopt;
  }
};

/// The package's own library, where it was made from these sources or there are no sources to compare with.
std::optional<LibraryFile> find_prebuilt(const fs::path& folder, const std::string& sources) {
  const std::string made = made_from(folder);
  std::error_code error;
  const bool fits = sources.empty() || made == sources;
  if (folder.empty() || !fits || !fs::is_regular_file(folder / kLibraryName, error)) {
    return std::nullopt;
  }
  return LibraryFile{folder / kLibraryName, made, false};
}

Result<fs::path> crate_of(const BuildRequest& request) {
  TILEGYM_ASSIGN(const std::string chosen, read_text("kernels_dir"));
  return chosen.empty() ? request.crate : fs::path(chosen);
}

Status may_build(const BuildRequest& request, const Plan& plan) {
  TILEGYM_ASSIGN(const bool autobuild, read_flag("autobuild"));
  if (autobuild || request.always_build) {
    return {};
  }
  return Error{"kernel library: wanted one built from " + plan.crate.string() + ", found none in " +
               plan.caches.front().string() + ", and CUTILE_RS_AUTOBUILD is off; run `tilegym-rs build`"};
}

Result<FileLock> lock_builds(const Plan& plan, const std::function<bool()>& keep_going) {
  WaitingLine line(plan.options.wait);
  return FileLock::acquire(plan.cache() / "build.lock", plan.options.wait,
                           [&](const std::string& holder, std::chrono::seconds waited) {
                             line.show(holder, waited);
                             return keep_going();
                           });
}

/// Nothing where the sources have changed since the plan: cargo reads them after we did, and what it built must not be
/// filed under a fingerprint that is not its own.
Result<std::optional<LibraryFile>> build(const Plan& plan, const Toolchain& toolchain,
                                         const std::function<bool()>& keep_going) {
  std::error_code error;
  fs::create_directories(plan.cache() / "logs", error);
  const fs::path log = plan.cache() / "logs" / ("build-" + plan.name().substr(0, 12) + ".log");
  const fs::path target = plan.cache() / "target";
  const CargoBuild job{plan.crate, target, log, plan.sources, kLibraryName, plan.options};
  TILEGYM_ASSIGN(const fs::path made, run_cargo(job, toolchain, keep_going));
  TILEGYM_ASSIGN(const std::string sources_now, source_fingerprint(plan.crate));
  if (sources_now != plan.sources) {
    return std::optional<LibraryFile>();
  }
  const fs::path published = plan.cache() / plan.place();
  TILEGYM_TRY(publish_file(published.parent_path() / kFingerprintName, plan.sources + " " + plan.options.identity()));
  TILEGYM_TRY(publish_copy(made, published));
  mark_used(target);
  TILEGYM_ASSIGN(const std::int64_t limit, read_integer("cache_max"));
  sweep_builds(plan.cache(), static_cast<std::uintmax_t>(limit), published.parent_path());
  return std::optional(LibraryFile{published, plan.sources, true});
}

/// Builds unless somebody else has, by the time that the lock is ours.
Result<std::optional<LibraryFile>> build_once(const Plan& plan, const BuildRequest& request) {
  const Toolchain toolchain = find_toolchain(plan.cache(), request.wheels);
  TILEGYM_TRY(toolchain.complete());
  TILEGYM_ASSIGN([[maybe_unused]] const FileLock lock, lock_builds(plan, request.keep_going));
  if (std::optional<LibraryFile> found = plan.find()) {
    return found;
  }
  return build(plan, toolchain, request.keep_going);
}

Result<Plan> make_plan(fs::path crate, std::string sources) {
  TILEGYM_ASSIGN(BuildOptions options, read_build_options());
  TILEGYM_ASSIGN(std::vector<fs::path> caches, cache_folders());
  // A missing compiler is reported with everything else that is missing, once it is clear that a build is needed.
  Result<RustCompiler> rust = find_rust_compiler(caches.back());
  return Plan{std::move(crate), std::move(sources), std::move(options), std::move(caches),
              rust.ok() ? std::optional(std::move(rust).value()) : std::nullopt};
}

/// What a look at package and cache gives: a library, or the plan to build one.
struct Search {
  std::optional<LibraryFile> library;
  std::optional<Plan> plan;
};

Result<Search> search(const BuildRequest& request) {
  TILEGYM_ASSIGN(fs::path crate, crate_of(request));
  std::string sources;
  if (!crate.empty()) {
    TILEGYM_ASSIGN(sources, source_fingerprint(crate));
  }
  TILEGYM_ASSIGN(const std::string features, read_text("features"));
  std::optional<LibraryFile> prebuilt = find_prebuilt(request.prebuilt, sources);
  if (prebuilt && features.empty()) {
    return Search{std::move(prebuilt), std::nullopt};
  }
  if (crate.empty()) {
    return Error{"kernel library: wanted one in " + request.prebuilt.string() +
                 " or sources to build it from, got neither; install tilegym anew, or set CUTILE_RS_KERNELS_DIR"};
  }
  TILEGYM_ASSIGN(Plan plan, make_plan(std::move(crate), std::move(sources)));
  std::optional<LibraryFile> cached = plan.find();
  return Search{std::move(cached), std::move(plan)};
}

}  // namespace

Result<std::optional<LibraryFile>> find_library(const BuildRequest& request) {
  TILEGYM_ASSIGN(Search found, search(request));
  return std::move(found.library);
}

Result<LibraryFile> ensure_library(const BuildRequest& request) {
  fs::path crate;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    TILEGYM_ASSIGN(Search found, search(request));
    if (found.library) {
      return *std::move(found.library);
    }
    TILEGYM_TRY(may_build(request, *found.plan));
    TILEGYM_ASSIGN(std::optional<LibraryFile> built, build_once(*found.plan, request));
    if (built) {
      return *std::move(built);
    }
    crate = found.plan->crate;
  }
  return Error{"kernel library: wanted sources that stay as they are during a build, but " + crate.string() +
               " changed during each of " + std::to_string(kAttempts) + "; call again when it is at rest"};
}

}  // namespace tilegym::runtime
