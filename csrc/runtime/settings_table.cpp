#include "runtime/settings_table.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>

namespace tilegym::runtime {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = error == std::errc() && end == text.data() + text.size() && value >= 0;
  return good ? std::optional(value) : std::nullopt;
}

namespace {

using Kind = SettingKind;
constexpr std::string_view kLogLevels = "trace|debug|info|warning|error|critical|off";

constexpr auto kRows = std::to_array<SettingRow>({
    {"autobuild", "CUTILE_RS_AUTOBUILD", "", Kind::flag, "1", "",
     "build the kernel library when it is missing or stale"},
    {"kernels_dir", "CUTILE_RS_KERNELS_DIR", "", Kind::path, "", "",
     "crate folder to build instead of the package's own"},
    {"watch", "TILEGYM_RS_WATCH", "", Kind::flag, "0", "", "reload the kernel library when its sources change"},
    {"features", "TILEGYM_RS_FEATURES", "", Kind::text, "", "",
     "features of the crate to build with, separated by commas"},
    {"build_wait", "TILEGYM_RS_BUILD_WAIT", "", Kind::integer, "1800", "",
     "seconds to wait for another process that builds the kernel library"},
    {"cache_dir", "TILEGYM_RS_CACHE_DIR", "", Kind::path, "", "", "cache folder"},
    {"cache", "TILEGYM_RS_CACHE", "", Kind::choice, "on", "on|off|refresh",
     "compiled kernels: kept and reused, or never kept, or compiled anew at every call and kept"},
    {"cache_max", "TILEGYM_RS_CACHE_MAX", "", Kind::bytes, "2147483648", "", "size limit of the cache; 0: none"},
    {"cache_seeds", "TILEGYM_RS_CACHE_SEEDS", "", Kind::text, "", "",
     "more cache folders to read compiled kernels from, separated by colons"},
    {"cache_record", "TILEGYM_RS_CACHE_RECORD", "", Kind::path, "", "",
     "folder that gets a copy of every compiled kernel in use"},
    {"trusted_owners", "TILEGYM_RS_TRUSTED_OWNERS", "", Kind::text, "", "",
     "users, separated by commas, whose files may be loaded beside one's own and root's"},
    {"device", "TILEGYM_RS_DEVICE", "", Kind::choice, "auto", "auto|cuda|cpu", "device of tests and tools"},
    {"target", "TILEGYM_RS_TARGET", "", Kind::choice, "sm_90", "sm_80|sm_90|sm_100|sm_120",
     "GPU that the CPU device stands in for"},
    {"threads", "TILEGYM_RS_THREADS", "", Kind::integer, "0", "", "threads of the CPU device; 0: one per core"},
    {"order", "TILEGYM_RS_ORDER", "", Kind::text, "forward", "",
     "order of tile blocks on the CPU device: forward, reversed or shuffled:SEED"},
    {"checks", "TILEGYM_RS_CHECKS", "", Kind::text, "", "", "checks of the CPU device, separated by commas"},
    {"log", "TILEGYM_RS_LOG", "TILEGYM_LOG_LEVEL", Kind::choice, "warning", kLogLevels, "lowest level that is logged"},
    {"tileiras", "CUTILE_TILEIRAS_PATH", "", Kind::path, "", "", "the tileiras compiler"},
    {"tileiras_behind", "TILEGYM_RS_TILEIRAS", "", Kind::path, "", "",
     "the compiler behind our caching front, where CUTILE_TILEIRAS_PATH or PATH name that"},
    {"toolkit", "CUDA_TOOLKIT_PATH", "", Kind::path, "", "", "CUDA toolkit folder with include/cuda.h"},
    {"backend", "CUTILE_TUTORIALS_BACKEND", "", Kind::text, "", "", "default backend of the ops"},
    {"alias_cutile", "TILEGYM_ALIAS_CUTILE", "", Kind::text, "", "", "backend that the name cutile stands for"},
    {"disable_fallback", "DISABLE_FALLBACK", "", Kind::flag, "0", "", "never fall back to another backend"},
    {"disable_autotune", "TILEGYM_DISABLE_AUTOTUNE", "", Kind::flag, "0", "",
     "take the first configuration of each op"},
});

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

bool has_word(std::string_view words, std::string_view word) {
  const std::string fenced = "|" + std::string(words) + "|";
  return !word.empty() && word.find('|') == std::string_view::npos &&
         fenced.find("|" + std::string(word) + "|") != std::string::npos;
}

// Each converter gives the canonical text, or nothing for a value that its kind does not take.
using Canonical = std::optional<std::string>;

Canonical flag_text(std::string_view text) {
  const std::string word = lower(text);
  if (has_word("1|true|on|yes", word)) {
    return "1";
  }
  return has_word("0|false|off|no", word) ? Canonical("0") : std::nullopt;
}

Canonical integer_text(std::string_view text) {
  const auto value = whole_number(text);
  return value ? Canonical(std::to_string(*value)) : std::nullopt;
}

Canonical bytes_text(std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  int shift = 0;
  if (!text.empty()) {
    const auto unit = kUnits.find(static_cast<char>(std::toupper(static_cast<unsigned char>(text.back()))));
    if (unit != std::string_view::npos) {
      shift = 10 * (static_cast<int>(unit) + 1);
      text.remove_suffix(1);
    }
  }
  const auto value = whole_number(text);
  if (!value || *value > (std::numeric_limits<std::int64_t>::max() >> shift)) {
    return std::nullopt;
  }
  return std::to_string(*value << shift);
}

}  // namespace

std::span<const SettingRow> setting_rows() {
  return kRows;
}

const SettingRow* find_setting_row(std::string_view name) {
  const auto* row = std::find_if(kRows.begin(), kRows.end(), [&](const SettingRow& candidate) {
    return candidate.key == name || candidate.variable == name || (!name.empty() && candidate.alias == name);
  });
  return row == kRows.end() ? nullptr : row;
}

std::optional<std::string> canonical_text(const SettingRow& row, std::string_view text) {
  switch (row.kind) {
    case Kind::flag:
      return flag_text(text);
    case Kind::integer:
      return integer_text(text);
    case Kind::bytes:
      return bytes_text(text);
    case Kind::choice:
      return has_word(row.choices, lower(text)) ? Canonical(lower(text)) : std::nullopt;
    case Kind::text:
    case Kind::path:
      return std::string(text);
  }
  return std::nullopt;
}

std::string wanted_by(const SettingRow& row) {
  switch (row.kind) {
    case Kind::flag:
      return "1 or 0";
    case Kind::integer:
      return "a whole number, 0 or more";
    case Kind::bytes:
      return "a size such as 500M or 2G";
    case Kind::choice:
      return "one of " + std::string(row.choices);
    default:
      return "text";
  }
}

}  // namespace tilegym::runtime
