// Prints the text of Tile IR bytecode: what `tilegym-rs ir dump` does, without a Python process around it.

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tile_ir/printer.h"
#include "tile_ir/reader.h"
#include "tile_ir/verify.h"

namespace tilegym {
namespace {

constexpr const char* kUsage =
    "usage: tilegym-ir dump [-g] [--verify] FILE...\n"
    "Prints the text of Tile IR bytecode (versions 13.1 to 13.3) and nothing else; '-' is standard input.\n"
    "  -g, --print-debug-info  with the location of every operation\n"
    "  --verify                print only modules that keep the rules of the dialect\n"
    "The exit status is 1 where a file is not bytecode, an operation is not known or a rule is broken.\n";

constexpr int kBadArguments = 2;

struct Options {
  tile_ir::PrintOptions print;
  bool verify = false;
  std::vector<std::string> files;
};

int complain(const std::string& file, const std::string& text) {
  std::fprintf(stderr, "tilegym-rs: %s: %s\n", file.c_str(), text.c_str());
  return 1;
}

bool write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// An operation that is not known ends its function; the text shows where.
int report_unknown(const std::string& file, const tile_ir::Module& module) {
  int status = 0;
  for (const tile_ir::Function& function : module.functions) {
    if (function.unread) status = complain(file, "entry '" + function.name + "': " + function.unread->reason);
  }
  return status;
}

int report_broken_rules(const std::string& file, const tile_ir::Module& module) {
  int status = 0;
  for (const tile_ir::Diagnostic& found : tile_ir::verify(module)) status = complain(file, found.text());
  return status;
}

int dump(const std::string& file, const Options& options) {
  // Never destroyed: the memory of the last module goes with the process, which takes no time.
  static auto* const current = new std::optional<tile_ir::Module>;
  current->reset();
  Result<tile_ir::Module> read = tile_ir::read_file(file == "-" ? "/dev/stdin" : file, {.keep_unknown = true});
  if (!read) return complain(file, read.error().message);
  const tile_ir::Module& module = current->emplace(std::move(read).value());
  const int unknown = report_unknown(file, module);
  if (options.verify && (unknown != 0 || report_broken_rules(file, module) != 0)) return 1;
  if (write_all(tile_ir::print_module(module, options.print))) return unknown;
  return complain("standard output", std::string("cannot write: ") + std::strerror(errno));
}

bool parse(std::span<char*> words, Options& options) {
  for (const std::string_view word : words) {
    if (word == "-g" || word == "--print-debug-info") {
      options.print.locations = true;
    } else if (word == "--verify") {
      options.verify = true;
    } else if (word.starts_with('-') && word != "-") {
      return false;
    } else {
      options.files.emplace_back(word);
    }
  }
  return !options.files.empty();
}

int run(std::span<char*> words) {
  Options options;
  if (words.empty() || std::string_view(words.front()) != "dump" || !parse(words.subspan(1), options)) {
    std::fputs(kUsage, stderr);
    return kBadArguments;
  }
  int status = 0;
  for (const std::string& file : options.files) status |= dump(file, options);
  return status;
}

}  // namespace
}  // namespace tilegym

int main(int count, char** words) {
  // Python ignores it, and a reader that has seen enough is no error.
  std::signal(SIGPIPE, SIG_DFL);
  return tilegym::run({words + 1, words + count});
}
