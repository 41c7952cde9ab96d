#include "runtime/tileiras_command.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "runtime/sha256.h"

namespace tilegym::runtime {
namespace {

enum class Role {
  flag,     ///< no value
  value,    ///< a value that decides the result
  read,     ///< a file that decides the result
  output,   ///< where the cubin goes
  remarks,  ///< where remarks go
};

struct Option {
  std::string_view name;
  std::string_view meaning;  ///< the option it is an alias of, or itself
  Role role;
};

// tileiras 13.1 to 13.5. Options that print something, or that write elsewhere, are left out on purpose.
constexpr auto kOptions = std::to_array<Option>({
    {"gpu-name", "gpu-name", Role::value},
    {"arch", "gpu-name", Role::value},
    {"opt-level", "opt-level", Role::value},
    {"O", "opt-level", Role::value},
    {"device-debug", "device-debug", Role::flag},
    {"g", "device-debug", Role::flag},
    {"lineinfo", "lineinfo", Role::flag},
    {"host-arch", "host-arch", Role::value},
    {"host-os", "host-os", Role::value},
    {"sanitize", "sanitize", Role::value},
    {"preview", "preview", Role::value},
    {"remark-format", "remark-format", Role::value},
    {"remarks", "remarks", Role::value},
    {"remarks-analysis", "remarks-analysis", Role::value},
    {"remarks-failed", "remarks-failed", Role::value},
    {"remarks-missed", "remarks-missed", Role::value},
    {"remarks-passed", "remarks-passed", Role::value},
    {"apply-controls", "apply-controls", Role::read},
    {"l", "l", Role::read},
    {"output-file", "output-file", Role::output},
    {"o", "output-file", Role::output},
    {"remarks-output-file", "remarks-output-file", Role::remarks},
});

const Option* find_option(std::string_view name) {
  const auto* found = std::ranges::find(kOptions, name, &Option::name);
  return found == kOptions.end() ? nullptr : found;
}

struct Split {
  const Option* option = nullptr;
  std::optional<std::string> value{};
};

/// "--name", "--name=value", or a value that follows a one-letter option at once ("-O3").
Split split(std::string_view argument) {
  const std::string_view body = argument.substr(argument.starts_with("--") ? 2 : 1);
  const std::size_t equals = body.find('=');
  const Option* whole = find_option(body.substr(0, equals));
  if (whole != nullptr) {
    return {whole,
            equals == std::string_view::npos ? std::nullopt : std::optional<std::string>(body.substr(equals + 1))};
  }
  const Option* letter = find_option(body.substr(0, 1));
  const bool joined = letter != nullptr && letter->role != Role::flag && !argument.starts_with("--");
  return joined ? Split{letter, std::string(body.substr(1))} : Split{};
}

void apply(TileirasCommand& command, const Option& option, const std::string& value) {
  switch (option.role) {
    case Role::output:
      command.output = value;
      return;
    case Role::remarks:
      command.remarks = value;
      return;
    case Role::read:
      command.read.push_back(value);
      command.options.emplace_back(option.meaning);
      return;
    case Role::flag:
    case Role::value:
      command.options.push_back(std::string(option.meaning) + "=" + value);
  }
}

}  // namespace

std::optional<TileirasCommand> parse_tileiras_command(std::span<const std::string> arguments) {
  TileirasCommand command;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (!argument.starts_with('-')) {
      if (!command.input.empty()) {
        return std::nullopt;
      }
      command.input = argument;
      continue;
    }
    auto [option, value] = split(argument);
    if (option == nullptr || argument == "-") {
      return std::nullopt;
    }
    if (!value && option->role != Role::flag) {
      if (++i == arguments.size()) {
        return std::nullopt;
      }
      value = arguments[i];
    }
    apply(command, *option, value.value_or(""));
  }
  return command.input.empty() || command.output.empty() ? std::nullopt : std::optional(std::move(command));
}

std::string tileiras_key(const std::string& identity, std::span<const std::string> options,
                         std::span<const std::string> read, const std::string& bytecode) {
  std::string key = "cubin of bytecode\n" + identity;
  for (const std::string& option : options) {
    key += "option " + option + "\n";
  }
  for (const std::string& content : read) {
    key += "reads " + Sha256().update(content).hex() + "\n";
  }
  return key + "bytecode " + Sha256().update(bytecode).hex() + "\n";
}

}  // namespace tilegym::runtime
