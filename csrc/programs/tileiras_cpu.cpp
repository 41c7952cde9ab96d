// The tileiras of the CPU device: takes the compiler's arguments and passes the bytecode through as an image that the
// stand-in driver loads. Bytecode that the device does not read is refused, as a compiler that is too old would.

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cpu_driver/api/image.h"
#include "tile_ir/reader.h"

namespace tilegym {
namespace {

/// What the real compiler ends with where it cannot read its input.
constexpr int kBadInput = 3;
constexpr int kBadArguments = 1;

// Programs keep compiled kernels by this text, apart from those of a GPU's compiler.
constexpr const char* kVersion =
    "tileiras: the CPU device of tilegym\n"
    "Passes Tile IR bytecode 13.1 to 13.3 through\n";

/// Options that take no value. Every other one has it behind '=' or in the next argument.
constexpr std::array<std::string_view, 3> kFlags{"device-debug", "g", "lineinfo"};

struct Command {
  std::string input;
  std::string output;
  bool asks_version = false;
};

int complain(const std::string& text, int status) {
  std::fprintf(stderr, "error: %s\n", text.c_str());
  return status;
}

bool is_flag(std::string_view name) {
  for (const std::string_view flag : kFlags) {
    if (flag == name) return true;
  }
  return false;
}

/// Options start with one or two dashes; -O3 has its value attached.
Result<Command> parse(std::span<char*> arguments) {
  Command command;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view word = arguments[i];
    if (!word.starts_with('-')) {
      command.input = word;
      continue;
    }
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    const std::string_view name = word.substr(0, word.find('='));
    if (name == "version") command.asks_version = true;
    if (name == "version" || is_flag(name) || (name.size() > 1 && name.front() == 'O')) continue;
    std::string_view value;
    if (name.size() < word.size()) {
      value = word.substr(name.size() + 1);
    } else if (++i < arguments.size()) {
      value = arguments[i];
    } else {
      return Error{"option " + std::string(word) + ": wanted a value, got none"};
    }
    if (name == "o" || name == "output-file") command.output = value;
  }
  return command;
}

Result<std::vector<char>> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{"cannot open input file '" + path + "'"};
  return std::vector<char>{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool write_image(const std::string& path, const std::vector<char>& bytecode) {
  const cpu::ImageHeader header{cpu::kImageMagic, cpu::kImageVersion, 0, bytecode.size()};
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(&header), sizeof(header));
  file.write(bytecode.data(), static_cast<std::streamsize>(bytecode.size()));
  file.close();
  return static_cast<bool>(file);
}

int run(std::span<char*> arguments) {
  const Result<Command> command = parse(arguments);
  if (!command) return complain(command.error().message, kBadArguments);
  if (command.value().asks_version) return std::fputs(kVersion, stdout) < 0 ? kBadArguments : 0;
  if (command.value().input.empty() || command.value().output.empty()) {
    return complain("wanted a bytecode file and -o with a file to write", kBadArguments);
  }
  const Result<std::vector<char>> bytecode = read_file(command.value().input);
  if (!bytecode) return complain(bytecode.error().message, kBadInput);
  const Result<tile_ir::Module> module = tile_ir::read_module(std::as_bytes(std::span(bytecode.value())));
  if (!module) return complain(module.error().message, kBadInput);
  if (write_image(command.value().output, bytecode.value())) return 0;
  return complain("cannot write output file '" + command.value().output + "'", kBadInput);
}

}  // namespace
}  // namespace tilegym

int main(int count, char** arguments) {
  return tilegym::run({arguments + 1, arguments + count});
}
