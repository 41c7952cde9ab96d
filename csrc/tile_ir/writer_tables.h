#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tile_ir/byte_writer.h"
#include "tile_ir/module.h"

namespace tilegym::tile_ir {

/// The tables of a module under construction; types keep their ids.
class WriterTables {
 public:
  explicit WriterTables(const Module& module);

  std::uint32_t string(std::string_view text) { return strings_.index(std::as_bytes(std::span(text))); }
  std::uint32_t constant(std::span<const std::byte> elements);
  [[nodiscard]] ElementType element_of(std::uint32_t type) const noexcept { return all_[type].element; }

  [[nodiscard]] const TableWriter& strings() const noexcept { return strings_; }
  [[nodiscard]] const TableWriter& types() const noexcept { return types_; }
  [[nodiscard]] const TableWriter& constants() const noexcept { return constants_; }
  [[nodiscard]] const TableWriter& debug() const noexcept { return debug_; }

 private:
  void add_type(const Type& type);
  void add_view(ByteWriter& entry, const Type& type) const;
  void add_debug(const DebugEntry& entry);
  /// Id of an element type, or of a pointer to it; added behind the module's types where they have none.
  std::uint32_t element(ElementType type);
  std::uint32_t pointer(ElementType pointee);
  std::uint32_t find_or_append(TypeKind kind, ElementType element);

  std::uint8_t minor_;
  /// The module's types and those that had to be added.
  std::vector<Type> all_;
  TableWriter strings_;
  TableWriter types_;
  TableWriter constants_;
  TableWriter debug_;
};

}  // namespace tilegym::tile_ir
