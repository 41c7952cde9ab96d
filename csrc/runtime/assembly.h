#pragma once

#include <functional>
#include <string>

#include "common/result.h"
#include "runtime/image_cache_entry.h"
#include "runtime/process.h"
#include "runtime/tileiras.h"

/// Tile IR bytecode to cubins inside this process: the cache first, then tileiras.
namespace tilegym::runtime {

struct AssemblyJob {
  std::string title;   ///< what is compiled, for messages: op, kernel, types, tile sizes
  std::string target;  ///< such as "sm_90"
  std::string bytecode;
};

struct Assembly {
  enum class Outcome { done, failed, cancelled };
  Outcome outcome = Outcome::failed;
  std::string cubin{};   ///< where done
  std::string reason{};  ///< where not: compiler, how it ended, what it said, where the bytecode is kept
};

/// Compiles bytecode. Nothing of a compiler that fails, dies or writes nothing is kept but the bytecode.
Assembly assemble(const AssemblyJob& job);

/// The image of a GPU for an image of the CPU device, under the same key: a new entry beside the one given.
Result<CacheEntry> assemble_entry(const CacheEntry& bytecode);

/// Name of the entry that holds a compiler's image for a key.
std::string cubin_entry_name(const std::string& key, const Tileiras& compiler);

/// Asked a few times a second while a compiler runs; false ends it. By default nobody asks.
void set_assembly_poll(bool (*keep_going)());

/// "exit status 5" or "SIGSEGV (Segmentation fault)".
std::string ending_text(const Outcome& outcome);

}  // namespace tilegym::runtime
