#pragma once

#include <cstdint>
#include <vector>

#include "common/result.h"
#include "tile_ir/byte_writer.h"
#include "tile_ir/module.h"
#include "tile_ir/op_table.h"
#include "tile_ir/writer_tables.h"

namespace tilegym::tile_ir {

/// Encodes attribute values.
class AttributeWriter {
 public:
  explicit AttributeWriter(WriterTables& tables) : tables_(tables) {}

  /// Without a tag, as operations store it. `typed`: the operation has no result that would give a constant its type.
  void write(ByteWriter& out, AttrName name, const Attribute& value, bool typed);
  void write_tagged(ByteWriter& out, const Attribute& value);

 private:
  void write_value(ByteWriter& out, const Attribute& value);
  void write_floating(ByteWriter& out, const Attribute& value);
  void write_dictionary(ByteWriter& out, const Attribute& value);
  void write_array(ByteWriter& out, const Attribute& value);

  WriterTables& tables_;
};

/// Encodes the body of one function by the table of operations, the reverse of FunctionReader.
class FunctionWriter {
 public:
  FunctionWriter(const Module& module, const Function& function, WriterTables& tables)
      : module_(module), function_(function), attributes_(tables), numbers_(function.values.size()) {}

  [[nodiscard]] Status write(ByteWriter& out);
  /// Of the function and its operations, in the order of the file.
  [[nodiscard]] const std::vector<DebugId>& locations() const noexcept { return locations_; }

 private:
  [[nodiscard]] Status write_operation(ByteWriter& out, const Operation& operation);
  [[nodiscard]] Status check(const OpSpec& spec, const Operation& operation) const;
  void write_results(ByteWriter& out, const OpSpec& spec, const Operation& operation) const;
  void write_attributes(ByteWriter& out, const OpSpec& spec, const Operation& operation);
  void write_operands(ByteWriter& out, const OpSpec& spec, const Operation& operation) const;
  [[nodiscard]] Status write_regions(ByteWriter& out, const OpSpec& spec, const Operation& operation);
  [[nodiscard]] Status write_block(ByteWriter& out, const Block& block);
  [[nodiscard]] std::uint64_t flags(const OpSpec& spec, const Operation& operation) const;
  [[nodiscard]] bool has_results(const OpSpec& spec) const { return spec.results.since <= module_.version.minor; }
  void number(ValueId value) { numbers_[value] = next_++; }

  const Module& module_;
  const Function& function_;
  AttributeWriter attributes_;
  /// Number in the file of each value that is in scope.
  std::vector<std::uint32_t> numbers_;
  std::uint32_t next_ = 0;
  std::vector<DebugId> locations_;
};

}  // namespace tilegym::tile_ir
