#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

/// Freshness of the kernel library is decided by content, never by file times.
namespace tilegym::runtime {

/// Files that decide what the crate builds to, sorted: its sources, manifests and lock file, without its tests, benches
/// and examples; the Rust files of the op folders beside it (`*_kernel`); the crates that its manifests take from a
/// folder; and whatever those include by a literal path or one below CARGO_MANIFEST_DIR. Error: `crate` holds no
/// Cargo.toml.
Result<std::vector<std::filesystem::path>> source_files(const std::filesystem::path& crate);

/// Names relative to the crate and contents of source_files(), and the version of the ABI between C++ and Rust: 64
/// hexadecimal digits. A file that changes while it is read gives either fingerprint.
Result<std::string> source_fingerprint(const std::filesystem::path& crate);

/// The sources, the compiler and what else cargo was told, such as features: what a built library is filed under.
std::string build_fingerprint(std::string_view source_fingerprint, std::string_view rustc_version,
                              std::string_view options);

}  // namespace tilegym::runtime
