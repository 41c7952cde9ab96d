#include "runtime/toolchain.h"

#include <algorithm>
#include <cstdlib>

#include "runtime/process.h"
#include "runtime/settings.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;
using Folders = std::vector<fs::path>;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_libclang(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with("libclang") && name.find(".so") != std::string::npos && !name.starts_with("libclang-cpp");
}

bool holds_libclang(const fs::path& folder) {
  std::error_code error;
  if (fs::is_regular_file(folder, error)) {
    return is_libclang(folder);
  }
  const fs::directory_iterator entries(folder, error);
  return !error && std::any_of(begin(entries), end(entries), [](const auto& entry) { return is_libclang(entry); });
}

bool holds_headers(const fs::path& toolkit) {
  std::error_code error;
  return fs::is_regular_file(toolkit / "include" / "cuda.h", error) &&
         fs::is_regular_file(toolkit / "include" / "curand.h", error);
}

Folders system_libclang_folders() {
  Folders folders;
  std::error_code error;
  for (fs::directory_iterator entry("/usr/lib", error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with("llvm-")) {
      folders.push_back(entry->path() / "lib");
    }
  }
  std::sort(folders.rbegin(), folders.rend());
  folders.insert(folders.end(), {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"});
  return folders;
}

/// A part that is a folder: the variable's value decides where it is set, else the first of `others` that holds it.
struct FolderPart {
  const char* name;
  const char* variable;
  const char* wanted;
  const char* remedy;
  bool (*holds)(const fs::path&);
};

constexpr FolderPart kLibclang{"libclang", "LIBCLANG_PATH", "a folder with libclang.so",
                               "install it with: pip install libclang, or apt-get install libclang-dev",
                               holds_libclang};
constexpr FolderPart kHeaders{"CUDA headers", "CUDA_TOOLKIT_PATH", "a folder with include/cuda.h and include/curand.h",
                              "install them with: pip install nvidia-cuda-runtime nvidia-cuda-crt nvidia-curand",
                              holds_headers};

void find_folder(const FolderPart& part, const std::string& chosen, const Folders& others, Toolchain& result) {
  const Folders places = chosen.empty() ? others : Folders{chosen};
  const auto found = std::find_if(places.begin(), places.end(), part.holds);
  if (found != places.end()) {
    const std::string place = fs::absolute(*found).string();  // cargo runs build scripts in folders of its own
    result.environment[part.variable] = place;
    result.checks.push_back({part.name, true, place});
    return;
  }
  const std::string got = chosen.empty() ? "none in the installed wheels and the system folders"
                                         : std::string(part.variable) + "=" + chosen + ", which lacks it";
  const std::string remedy = chosen.empty() ? part.remedy : "correct or unset " + std::string(part.variable);
  result.checks.push_back(
      {part.name, false, std::string(part.name) + ": wanted " + part.wanted + ", got " + got + "; " + remedy});
}

void find_rust(const fs::path& cache, Toolchain& result) {
  Result<RustCompiler> rust = find_rust_compiler(cache);
  if (!rust) {
    result.checks.push_back({"cargo", false, rust.error().message});
    return;
  }
  const std::string version = rust->version.substr(0, rust->version.find('\n'));
  result.checks.push_back({"cargo", true, rust->cargo.string() + " with " + version});
  result.environment["PATH"] = rust->cargo.parent_path().string() + ":" + variable("PATH");
  result.rust = std::move(rust).value();
}

/// The libclang wheel brings no headers of its own; gcc's serve bindgen as well.
void find_c_compiler(Toolchain& result) {
  const auto compilers = find_programs("cc");
  if (compilers.empty()) {
    result.checks.push_back(
        {"C compiler", false,
         "C compiler: wanted cc on PATH, got none; install it with: apt-get install gcc libc6-dev"});
    return;
  }
  result.checks.push_back({"C compiler", true, compilers.front().string()});
  const Result<std::string> headers = output_of({{compilers.front().string(), "-print-file-name=include"}});
  if (headers.ok() && variable("BINDGEN_EXTRA_CLANG_ARGS").empty()) {
    result.environment["BINDGEN_EXTRA_CLANG_ARGS"] = "-isystem " + headers.value();
  }
}

void find_headers(const Folders& wheels, Toolchain& result) {
  const Result<std::string> setting = read_text("toolkit");
  if (!setting) {
    result.checks.push_back({kHeaders.name, false, setting.error().message});
    return;
  }
  Folders others;
  if (const std::string home = variable("CUDA_HOME"); !home.empty()) {
    others.emplace_back(home);
  }
  others.insert(others.end(), wheels.begin(), wheels.end());
  others.emplace_back("/usr/local/cuda");
  find_folder(kHeaders, setting.value(), others, result);
}

}  // namespace

Status Toolchain::complete() const {
  std::string missing;
  for (const ToolCheck& check : checks) {
    missing += check.found ? "" : "\n  " + check.text;
  }
  return missing.empty() ? Status() : Status(Error{"the kernel library cannot be built here:" + missing});
}

Toolchain find_toolchain(const fs::path& cache, const WheelFolders& wheels) {
  Toolchain result;
  find_rust(cache, result);
  find_c_compiler(result);
  Folders libclang = wheels.libclang;
  const Folders system = system_libclang_folders();
  libclang.insert(libclang.end(), system.begin(), system.end());
  find_folder(kLibclang, variable("LIBCLANG_PATH"), libclang, result);
  find_headers(wheels.cuda, result);
  return result;
}

}  // namespace tilegym::runtime
