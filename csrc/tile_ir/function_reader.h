#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/result.h"
#include "tile_ir/attribute_reader.h"
#include "tile_ir/byte_reader.h"
#include "tile_ir/module.h"
#include "tile_ir/op_table.h"

namespace tilegym::tile_ir {

/// Decodes the body of one function by the table of operations.
///
/// The file numbers values by position: parameters, then block arguments and results as they appear; a block's numbers
/// are given back where the block ends, so a number names different values in different blocks. Here every value gets
/// an id of its own.
class FunctionReader {
 public:
  /// Fills `body` and `values` of `function`, whose `type` is set. Precondition: it is a function type of `tables`.
  /// `locations` stands behind the function's own.
  FunctionReader(const Tables& tables, LocationCursor locations, Function& function)
      : tables_(tables), attributes_(tables), locations_(locations), function_(function) {}

  [[nodiscard]] Status read(ByteReader body);

 private:
  [[nodiscard]] Status read_operation(ByteReader& reader, Block& block, int depth);
  /// Ends the reading at an unknown operation: everything from `start` on is kept as bytes.
  void stop(std::size_t start, Error reason, Block& block);
  [[nodiscard]] Result<const OpSpec*> read_opcode(ByteReader& reader) const;
  /// Fills the results, which are their types until they are defined.
  [[nodiscard]] Status read_result_types(ByteReader& reader, const OpSpec& spec, Operation& operation) const;
  [[nodiscard]] Result<TypeId> read_value_type(ByteReader& reader, const Subject& subject) const;
  [[nodiscard]] Status read_attributes(ByteReader& reader, const OpSpec& spec, std::uint64_t& flags,
                                       Operation& operation) const;
  [[nodiscard]] Status read_segments(ByteReader& reader, const OpSpec& spec, std::uint64_t flags,
                                     Operation& operation) const;
  [[nodiscard]] Status read_joined(ByteReader& reader, const OpSpec& spec, Operation& operation) const;
  [[nodiscard]] Status read_group(ByteReader& reader, const OpSpec& spec, const GroupSpec& group, std::size_t size,
                                  Operation& operation) const;
  [[nodiscard]] Status read_regions(ByteReader& reader, const OpSpec& spec, int depth, Operation& operation);
  [[nodiscard]] Status read_block(ByteReader& reader, int depth, Block& block);
  /// Gives a fresh value the next number of the file.
  ValueId define(TypeId type);
  /// A value that has no number in the file.
  ValueId add_value(TypeId type);

  const Tables& tables_;
  AttributeReader attributes_;
  LocationCursor locations_;
  Function& function_;
  std::span<const std::byte> body_;
  std::size_t body_offset_ = 0;
  /// Value of every number that is in scope.
  std::vector<ValueId> scope_;
};

}  // namespace tilegym::tile_ir
