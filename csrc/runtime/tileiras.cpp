#include "runtime/tileiras.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "runtime/image_cache_files.h"
#include "runtime/process.h"
#include "runtime/settings.h"
#include "runtime/tileiras_identity.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;
constexpr const char* kProgram = "tileiras";
/// Our front is far smaller, every compiler far larger; scripts are small and searched in no time.
constexpr std::uintmax_t kLargestFront = 16 << 20;

std::mutex folders_mutex;
std::vector<fs::path>& added_folders() {
  static std::vector<fs::path> folders;
  return folders;
}

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

bool is_front(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return !error && size < kLargestFront && file_holds(path, kFrontMarker);
}

bool is_compiler(const fs::path& path) {
  return is_program(path) && !is_front(path);
}

std::optional<fs::path> first_compiler(const std::vector<fs::path>& candidates) {
  const auto found = std::ranges::find_if(candidates, is_compiler);
  return found == candidates.end() ? std::nullopt : std::optional(*found);
}

/// A program named by a setting; nothing where that names our front.
Result<std::optional<fs::path>> chosen(std::string_view setting) {
  TILEGYM_ASSIGN(const Setting value, read_setting(setting));
  if (value.text.empty()) {
    return std::optional<fs::path>();
  }
  const bool is_name = value.text.find('/') == std::string::npos;
  const std::vector<fs::path> found = is_name ? find_programs(value.text) : std::vector<fs::path>{value.text};
  if (found.empty() || !is_program(found.front())) {
    return Error{
        fmt::format("tileiras: wanted a program that can be run in {}, got '{}'; set it to a tileiras, or unset it",
                    value.row->variable, value.text)};
  }
  return is_front(found.front()) ? std::optional<fs::path>() : std::optional(found.front());
}

void add_toolkits(std::vector<fs::path>& candidates) {
  const Result<std::string> toolkit = read_text("toolkit");
  const char* home = std::getenv("CUDA_HOME");
  for (const std::string& folder : {toolkit.ok() ? toolkit.value() : "", std::string(home == nullptr ? "" : home),
                                    std::string("/usr/local/cuda")}) {
    if (!folder.empty()) {
      candidates.push_back(fs::path(folder) / "bin" / kProgram);
    }
  }
}

std::vector<fs::path> usual_places() {
  std::vector<fs::path> candidates;
  {
    const std::scoped_lock lock(folders_mutex);
    for (const fs::path& folder : added_folders()) {
      candidates.push_back(folder / kProgram);
    }
  }
  const std::vector<fs::path> on_path = find_programs(kProgram);
  candidates.insert(candidates.end(), on_path.begin(), on_path.end());
  add_toolkits(candidates);
  return candidates;
}

Result<fs::path> search() {
  for (const char* setting : {"tileiras", "tileiras_behind"}) {
    TILEGYM_ASSIGN(std::optional<fs::path> path, chosen(setting));
    if (path) {
      return *std::move(path);
    }
  }
  if (std::optional<fs::path> path = first_compiler(usual_places())) {
    return *std::move(path);
  }
  return Error{
      "tileiras: wanted the Tile IR compiler in CUTILE_TILEIRAS_PATH, the nvidia-cuda-tileiras wheel, PATH or a CUDA "
      "toolkit of 13.1 or later, found none; install it with: pip install nvidia-cuda-tileiras, or bring the kernels "
      "compiled: tilegym-rs cache import"};
}

}  // namespace

Result<Tileiras> find_tileiras() {
  TILEGYM_ASSIGN(const fs::path path, search());
  return identify_tileiras(path);
}

void add_tileiras_folder(const fs::path& folder) {
  const std::scoped_lock lock(folders_mutex);
  std::vector<fs::path>& folders = added_folders();
  if (std::ranges::find(folders, folder) == folders.end()) {
    folders.push_back(folder);
  }
}

}  // namespace tilegym::runtime
