#pragma once

#include <cstddef>
#include <span>

/// What happens to bytecode of unknown origin, and what has to hold then. Each ends the process where it does not hold.
namespace tilegym::fuzz {

/// Reads, prints, verifies and writes: every diagnostic says what is wrong, and what was written reads back as the same
/// text.
void check_module(std::span<const std::byte> bytes);

/// Gathers the facts, the differences and the launch counts of a valid module: it does not differ from itself.
void check_reports(std::span<const std::byte> bytes);

}  // namespace tilegym::fuzz
