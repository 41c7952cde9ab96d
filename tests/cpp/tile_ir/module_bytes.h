#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tile_ir/reader.h"

namespace tilegym::tile_ir::test {

using Bytes = std::vector<std::uint8_t>;

/// Appends `value` as an unsigned LEB128 number.
void put_varint(Bytes& out, std::uint64_t value);
void put(Bytes& out, const Bytes& bytes);
/// Appends the low `width` bytes of `value`, lowest first.
void put_fixed(Bytes& out, std::uint64_t value, std::size_t width);

/// Writes modules for tests, also malformed ones: a second, independent account of the file format that knows sections
/// and tables, while the entries of the tables are bytes of the test's choice.
class ModuleBytes {
 public:
  explicit ModuleBytes(std::uint8_t minor = 3) : minor_(minor) {}

  /// Each returns the index of the new entry.
  std::uint32_t string(std::string_view text);
  std::uint32_t type(Bytes entry);
  std::uint32_t constant(const Bytes& elements);

  /// Type entries.
  std::uint32_t element(std::uint8_t tag) { return type({tag}); }
  std::uint32_t pointer(std::uint32_t pointee);
  std::uint32_t tile(std::uint32_t element, std::initializer_list<std::int64_t> shape);
  std::uint32_t function_type(std::initializer_list<std::uint32_t> inputs);

  /// An entry called "kernel" with that body. `hints`: tagged attribute bytes, or none; `location`: its place in the
  /// debug section plus one, or 0.
  void function(std::uint32_t type, const Bytes& body, const Bytes& hints = {}, std::uint64_t location = 0);
  /// The bytes of one row of the global section.
  void global(const Bytes& row) { globals_.push_back(row); }
  /// Adds a section as it stands, after the others.
  void section(std::uint8_t id, const Bytes& payload) { extra_.push_back({id, payload}); }

  [[nodiscard]] std::vector<std::byte> build() const;

 private:
  struct Section {
    std::uint8_t id;
    Bytes payload;
  };

  std::uint8_t minor_;
  std::vector<Bytes> strings_;
  std::vector<Bytes> types_;
  std::vector<Bytes> constants_;
  std::vector<Bytes> functions_;
  std::vector<Bytes> globals_;
  std::vector<Section> extra_;
};

/// Why a module is refused, without the remedy that every refusal ends with; "accepted" where it is read.
[[nodiscard]] std::string refusal_of(const Result<Module>& module);

}  // namespace tilegym::tile_ir::test
