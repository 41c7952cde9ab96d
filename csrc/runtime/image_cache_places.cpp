#include "runtime/image_cache_places.h"

#include <string>
#include <string_view>

#include "runtime/cache_folder.h"
#include "runtime/log.h"
#include "runtime/settings.h"
#include "runtime/trust.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;

/// Seeds that are there and trusted; the setting separates them with colons.
void add_seeds(std::string_view list, std::vector<fs::path>& folders) {
  while (!list.empty()) {
    const fs::path seed = list.substr(0, list.find(':'));
    list.remove_prefix(std::min(seed.native().size() + 1, list.size()));
    if (seed.empty()) {
      continue;
    }
    const Status trusted = check_trusted_folder("cache seed", seed);
    if (trusted.ok()) {
      folders.push_back(seed);
    } else {
      log_once(LogLevel::warning, trusted.error().message + "; it is not used");
    }
  }
}

Result<CachePlaces> find_places() {
  TILEGYM_ASSIGN(const std::string mode, read_text("cache"));
  TILEGYM_ASSIGN(const std::string record, read_text("cache_record"));
  CachePlaces places;
  if (!record.empty()) {
    places.record = record;
  }
  if (mode == "off") {
    return places;
  }
  TILEGYM_ASSIGN(places.read, cache_folders());
  TILEGYM_ASSIGN(const std::string seeds, read_text("cache_seeds"));
  places.lookups = mode == "on";
  places.write = places.read.back();
  add_seeds(seeds, places.read);
  return places;
}

}  // namespace

CachePlaces cache_places() {
  Result<CachePlaces> places = find_places();
  if (places.ok()) {
    return std::move(places).value();
  }
  log_once(LogLevel::warning, "cache of compiled kernels: it is off: " + places.error().message);
  return {};
}

fs::path images_in(const fs::path& root) {
  return root / "images";
}

}  // namespace tilegym::runtime
