// A tileiras that answers from the cache of compiled kernels and asks the real one otherwise. Takes its arguments, and
// ends as it does. Programs find it by CUTILE_TILEIRAS_PATH or by PATH under the compiler's own name.

#include "runtime/tileiras.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "runtime/image_cache.h"
#include "runtime/process.h"
#include "runtime/tileiras_command.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

volatile std::sig_atomic_t stopped_by = 0;

extern "C" void stop(int signal) {
  stopped_by = signal;
}

int complain(const std::string& text) {
  std::fprintf(stderr, "%s: %s\n", kFrontMarker, text.c_str());
  return 1;
}

/// Ends as a signal would have ended the program, so that the caller sees what happened.
int die_of(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  return 128 + signal;
}

/// Becomes the compiler.
int hand_over(const Tileiras& compiler, const Arguments& arguments) {
  const std::string path = compiler.path.string();
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  execv(path.c_str(), argv.data());
  return complain("'" + path + "' cannot be run; set TILEGYM_RS_TILEIRAS to a tileiras");
}

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    return std::nullopt;
  }
  return std::string{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

bool write_file(const std::string& path, const std::string& bytes) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream << bytes;
  stream.close();
  return static_cast<bool>(stream);
}

/// A file that the compiler writes, and its entry in the cache.
struct Product {
  std::string path;
  CacheEntry entry;
};

/// The products of a command; nothing where a file it reads is not there, of which the compiler may complain.
std::optional<std::vector<Product>> products_of(const TileirasCommand& command, const Tileiras& compiler) {
  const std::optional<std::string> bytecode = read_file(command.input);
  Arguments read;
  for (const std::string& path : command.read) {
    if (std::optional<std::string> content = read_file(path)) {
      read.push_back(*std::move(content));
    }
  }
  if (!bytecode || read.size() != command.read.size()) {
    return std::nullopt;
  }
  const std::string key = tileiras_key(compiler.identity, command.options, read, *bytecode);
  std::vector<Product> products{{command.output, {entry_name(key, "cubin"), key, {}}}};
  if (!command.remarks.empty()) {
    products.push_back({command.remarks, {entry_name(key, "remarks"), key, {}}});
  }
  return products;
}

bool find_all(std::vector<Product>& products) {
  for (Product& product : products) {
    std::optional<std::string> found = find_image(product.entry.name);
    if (!found) {
      return false;
    }
    product.entry.payload = *std::move(found);
  }
  return true;
}

int deliver(const std::vector<Product>& products) {
  for (const Product& product : products) {
    if (!write_file(product.path, product.entry.payload)) {
      return complain("'" + product.path + "' cannot be written");
    }
  }
  return 0;
}

void keep(std::vector<Product>& products) {
  for (Product& product : products) {
    std::optional<std::string> bytes = read_file(product.path);
    if (!bytes || bytes->empty()) {
      return;
    }
    product.entry.payload = *std::move(bytes);
  }
  for (const Product& product : products) {
    store_image(product.entry);
  }
}

int compile(const Tileiras& compiler, const Arguments& arguments, std::vector<Product>& products) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    std::signal(signal, stop);
  }
  bool silent = true;
  const auto pass_to = [&silent](std::FILE* stream) {
    return [&silent, stream](std::string_view line) {
      silent = false;
      std::fprintf(stream, "%.*s\n", static_cast<int>(line.size()), line.data());
    };
  };
  Command command{{compiler.path.string()}};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  const Result<Outcome> outcome =
      run_process(command, {pass_to(stdout), pass_to(stderr), [] { return stopped_by == 0; }});
  if (!outcome) {
    return complain(outcome.error().message);
  }
  if (stopped_by != 0 || outcome.value().signal != 0) {
    return die_of(stopped_by != 0 ? stopped_by : outcome.value().signal);
  }
  // A hit says nothing, so what the compiler had something to say about is not kept.
  if (outcome.value().succeeded() && silent) {
    keep(products);
  }
  return outcome.value().exit_code;
}

int run(const Arguments& arguments) {
  const Result<Tileiras> compiler = find_tileiras();
  if (!compiler) {
    return complain(compiler.error().message);
  }
  const std::optional<TileirasCommand> command = parse_tileiras_command(arguments);
  std::optional<std::vector<Product>> products;
  if (command) {
    products = products_of(*command, compiler.value());
  }
  if (!products) {
    return hand_over(compiler.value(), arguments);
  }
  return find_all(*products) ? deliver(*products) : compile(compiler.value(), arguments, *products);
}

/// The compiler's wheel lies beside the package that this program came with.
void look_beside_the_package() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    add_tileiras_folder(program.parent_path() / "../../nvidia/cu13/bin");
  }
}

}  // namespace
}  // namespace tilegym::runtime

int main(int count, char** arguments) {
  tilegym::runtime::look_beside_the_package();
  return tilegym::runtime::run({arguments + 1, arguments + count});
}
