#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

/// A command line of tileiras, as far as a cache of its results must understand it.
namespace tilegym::runtime {

struct TileirasCommand {
  std::string input;                 ///< path of the bytecode
  std::string output;                ///< path of the cubin
  std::string remarks;               ///< path of the remarks file; empty for none
  std::vector<std::string> options;  ///< all others as "name=value", aliases resolved, in their order
  std::vector<std::string> read;     ///< files named by options, which decide the result by their content
};

/// Reads the arguments behind the program's name. Nothing where they ask for something else than one cubin from one
/// file, or hold an option that is not known here.
std::optional<TileirasCommand> parse_tileiras_command(std::span<const std::string> arguments);

/// The key of a result: what a compiler makes of bytecode under options. `read` holds the content of the files read.
std::string tileiras_key(const std::string& identity, std::span<const std::string> options,
                         std::span<const std::string> read, const std::string& bytecode);

}  // namespace tilegym::runtime
