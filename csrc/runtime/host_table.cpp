#include "runtime/host_table.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>

#include "runtime/assembly.h"
#include "runtime/image_cache.h"
#include "runtime/log.h"
#include "runtime/settings.h"

namespace tilegym::runtime {
namespace {

std::string_view view(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

/// A copy that lives until release.
const std::uint8_t* leak(std::string_view bytes) {
  auto* copy = new std::uint8_t[bytes.size()];
  std::memcpy(copy, bytes.data(), bytes.size());
  return copy;
}

/// The lines of a key that describe the kernel.
std::string description_in(std::string_view key) {
  return std::string(key.substr(0, key.find("\n\n"))) + "\n";
}

/// Runs a service; what it throws (memory is short) becomes its failure, since nothing may be thrown at the library.
template <class T, class Body>
T guarded(T failed, Body body) noexcept {
  try {
    return body();
  } catch (const std::exception& error) {
    log(LogLevel::error, error.what());
    return failed;
  }
}

std::optional<std::string> find_for(DriverKind kind, const std::string& key) {
  if (kind == DriverKind::cpu) {
    return find_image(entry_name(key, "tileirbc"));
  }
  const Result<Tileiras> compiler = find_tileiras();
  // Where there is no compiler, what another machine's compiler made is all there can be.
  return compiler.ok() ? find_image(cubin_entry_name(key, compiler.value()))
                       : find_similar_image(entry_name(key, ""), ".cubin");
}

std::optional<std::string> name_for(DriverKind kind, const std::string& key) {
  if (kind == DriverKind::cpu) {
    return entry_name(key, "tileirbc");
  }
  const Result<Tileiras> compiler = find_tileiras();
  return compiler.ok() ? std::optional(cubin_entry_name(key, compiler.value())) : std::nullopt;
}

std::size_t lookup_for_library(DriverKind kind, const std::uint8_t* key, std::size_t key_size,
                               const std::uint8_t** image) noexcept {
  return guarded(std::size_t{0}, [&] {
    const std::optional<std::string> found = find_for(kind, std::string(view(key, key_size)));
    *image = found && !found->empty() ? leak(*found) : nullptr;
    return found ? found->size() : 0;
  });
}

void release_for_library(const std::uint8_t* image) noexcept {
  delete[] image;
}

void store_for_library(DriverKind kind, const std::uint8_t* key, std::size_t key_size, const std::uint8_t* image,
                       std::size_t image_size) noexcept {
  guarded(false, [&] {
    const std::string_view text = view(key, key_size);
    if (std::optional<std::string> name = name_for(kind, std::string(text))) {
      store_image({*std::move(name), description_in(text), std::string(view(image, image_size))});
    }
    return true;
  });
}

ReturnCode code_of(Assembly::Outcome outcome) {
  switch (outcome) {
    case Assembly::Outcome::done:
      return ReturnCode::ok;
    case Assembly::Outcome::cancelled:
      return ReturnCode::cancelled;
    case Assembly::Outcome::failed:
      break;
  }
  return ReturnCode::launch_failed;
}

std::int32_t assemble_for_library(const char* title, const char* target, const std::uint8_t* bytecode,
                                  std::size_t bytecode_size, const std::uint8_t** image, std::size_t* image_size,
                                  const char** reason) noexcept {
  thread_local std::string text;
  *reason = "the host ran out of memory";
  return guarded(static_cast<std::int32_t>(ReturnCode::launch_failed), [&] {
    Assembly assembly = assemble({title, target, std::string(view(bytecode, bytecode_size))});
    text = std::move(assembly.reason);
    *reason = text.c_str();
    if (assembly.outcome == Assembly::Outcome::done) {
      *image_size = assembly.cubin.size();
      *image = leak(assembly.cubin);
    }
    return static_cast<std::int32_t>(code_of(assembly.outcome));
  });
}

void log_from_library(std::int32_t level, const char* text, std::size_t length) noexcept {
  constexpr auto kLast = static_cast<std::int32_t>(LogLevel::error);
  log(static_cast<LogLevel>(std::clamp(level, 0, kLast)), {text, length});
}

const char* setting_for_library(const char* name) noexcept {
  thread_local std::string text;
  const auto setting = read_setting(name);
  if (!setting) {
    log_once(LogLevel::warning, setting.error().message);
    return nullptr;
  }
  text = setting.value().text;
  return text.empty() ? nullptr : text.c_str();
}

}  // namespace

const HostTable& host_table() noexcept {
  static const HostTable table{.size = sizeof(HostTable),
                               .lookup = lookup_for_library,
                               .release = release_for_library,
                               .store = store_for_library,
                               .log = log_from_library,
                               .setting = setting_for_library,
                               .assemble = assemble_for_library};
  return table;
}

}  // namespace tilegym::runtime
