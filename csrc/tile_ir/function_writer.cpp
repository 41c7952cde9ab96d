#include "tile_ir/function_writer.h"

#include <string>

#include "tile_ir/attribute_reader.h"
#include "tile_ir/dense.h"

namespace tilegym::tile_ir {

namespace {

Error cannot_write(const OpSpec& spec, const Version& version, std::string_view what) {
  return Error{"tile_ir: writing " + std::string(spec.mnemonic) + ": version 13." + std::to_string(version.minor) +
               " has no " + std::string(what) + "; write a newer version"};
}

void write_pair(ByteWriter& out, const Attribute& value, std::size_t first) {
  const bool low = value.numbers[first] != 0;
  const bool high = value.numbers[first + 2] != 0;
  out.byte((low ? 1u : 0u) | (high ? 2u : 0u));
  if (low) out.signed_varint(value.numbers[first + 1]);
  if (high) out.signed_varint(value.numbers[first + 3]);
}

void write_numbers(ByteWriter& out, const Attribute& value, std::size_t width) {
  out.varint(value.numbers.size());
  for (const std::int64_t number : value.numbers) out.fixed(static_cast<std::uint64_t>(number), width);
}

AttrTag tag_of(AttrKind kind) {
  switch (kind) {
    case AttrKind::integer:
      return AttrTag::integer;
    case AttrKind::floating:
      return AttrTag::floating;
    case AttrKind::string:
      return AttrTag::string;
    case AttrKind::type:
      return AttrTag::type;
    case AttrKind::array:
    case AttrKind::i32_array:
      return AttrTag::array;
    case AttrKind::dense:
      return AttrTag::dense;
    case AttrKind::div_by:
      return AttrTag::div_by;
    case AttrKind::same_elements:
      return AttrTag::same_elements;
    case AttrKind::dictionary:
      return AttrTag::dictionary;
    case AttrKind::optimization_hints:
      return AttrTag::optimization_hints;
    case AttrKind::bounded:
      return AttrTag::bounded;
    case AttrKind::boolean:
      return AttrTag::boolean;
  }
  return AttrTag::integer;
}

}  // namespace

void AttributeWriter::write(ByteWriter& out, AttrName name, const Attribute& value, bool typed) {
  switch (info(name).encoding) {
    case AttrEncoding::unit:
      return;
    case AttrEncoding::number:
      return out.varint(value.integer);
    case AttrEncoding::boolean:
      return out.byte(value.integer);
    case AttrEncoding::string:
      return out.varint(tables_.string(value.text));
    case AttrEncoding::type:
      return out.varint(value.type);
    case AttrEncoding::i32_array:
      return write_numbers(out, value, 4);
    case AttrEncoding::dense:
      if (typed) out.varint(value.type);
      return out.varint(tables_.constant(value.bytes));
    case AttrEncoding::array:
      return write_array(out, value);
    case AttrEncoding::hints:
      return write_dictionary(out, value);
    case AttrEncoding::tagged:
      return write_tagged(out, value);
  }
}

void AttributeWriter::write_tagged(ByteWriter& out, const Attribute& value) {
  out.varint(static_cast<std::uint64_t>(tag_of(value.kind)));
  write_value(out, value);
}

void AttributeWriter::write_value(ByteWriter& out, const Attribute& value) {
  switch (value.kind) {
    case AttrKind::integer:
      out.varint(value.type);
      return out.varint(value.integer);
    case AttrKind::floating:
      return write_floating(out, value);
    case AttrKind::boolean:
      return out.byte(value.integer);
    case AttrKind::string:
      return out.varint(tables_.string(value.text));
    case AttrKind::type:
      return out.varint(value.type);
    case AttrKind::array:
      return write_array(out, value);
    case AttrKind::i32_array:
      return write_numbers(out, value, 4);
    case AttrKind::dense:
      out.varint(value.type);
      return out.varint(tables_.constant(value.bytes));
    case AttrKind::div_by:
      out.varint(static_cast<std::uint64_t>(value.numbers[0]));
      return write_pair(out, value, 1);
    case AttrKind::same_elements:
      return write_numbers(out, value, 8);
    case AttrKind::dictionary:
    case AttrKind::optimization_hints:
      return write_dictionary(out, value);
    case AttrKind::bounded:
      return write_pair(out, value, 0);
  }
}

void AttributeWriter::write_floating(ByteWriter& out, const Attribute& value) {
  out.varint(value.type);
  if (significant_bits(tables_.element_of(value.type)) <= 8) {
    out.byte(value.bits);
  } else {
    out.signed_varint(static_cast<std::int64_t>(value.bits));
  }
}

void AttributeWriter::write_dictionary(ByteWriter& out, const Attribute& value) {
  out.varint(value.children.size());
  for (const Attribute& child : value.children) {
    out.varint(tables_.string(child.key));
    write_tagged(out, child);
  }
}

void AttributeWriter::write_array(ByteWriter& out, const Attribute& value) {
  out.varint(value.children.size());
  for (const Attribute& child : value.children) write_tagged(out, child);
}

Status FunctionWriter::write(ByteWriter& out) {
  if (function_.unread) return Error{"tile_ir: writing " + function_.name + ": " + function_.unread->reason};
  locations_.push_back(function_.location);
  for (const ValueId parameter : function_.body.arguments) number(parameter);
  for (const Operation& operation : function_.body.operations) TILEGYM_TRY(write_operation(out, operation));
  return {};
}

Status FunctionWriter::write_operation(ByteWriter& out, const Operation& operation) {
  const OpSpec* spec = find_op(static_cast<std::uint64_t>(operation.opcode));
  if (spec == nullptr) return Error{"tile_ir: writing " + function_.name + ": an operation that is not known"};
  TILEGYM_TRY(check(*spec, operation));
  locations_.push_back(operation.location);
  out.varint(static_cast<std::uint64_t>(operation.opcode));
  write_results(out, *spec, operation);
  if (spec->flag_bits(module_.version.minor) > 0) out.varint(flags(*spec, operation));
  write_attributes(out, *spec, operation);
  write_operands(out, *spec, operation);
  TILEGYM_TRY(write_regions(out, *spec, operation));
  if (has_results(*spec)) {
    for (const ValueId result : operation.results) number(result);
  }
  return {};
}

Status FunctionWriter::check(const OpSpec& spec, const Operation& operation) const {
  const unsigned minor = module_.version.minor;
  if (spec.since > minor) return cannot_write(spec, module_.version, "such operation");
  for (const AttrSpec& attribute : spec.attributes) {
    if (attribute.since <= minor) continue;
    const bool said = attribute.presence == Presence::added
                          ? operation.integer(attribute.name, attribute.fallback) != attribute.fallback
                          : operation.find(attribute.name) != nullptr;
    if (said) return cannot_write(spec, module_.version, name(attribute.name));
  }
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    if (spec.operands[i].since > minor && !operation.group(i).empty()) {
      return cannot_write(spec, module_.version, spec.operands[i].name);
    }
  }
  return {};
}

void FunctionWriter::write_results(ByteWriter& out, const OpSpec& spec, const Operation& operation) const {
  const std::size_t count = has_results(spec) ? operation.results.size() : 0;
  if (spec.counts_results()) out.varint(count);
  for (std::size_t i = 0; i < count; ++i) out.varint(function_.values[operation.results[i]]);
}

std::uint64_t FunctionWriter::flags(const OpSpec& spec, const Operation& operation) const {
  std::uint64_t word = 0;
  unsigned bit = 0;
  const auto add = [&](std::uint8_t since, bool present) {
    if (since > module_.version.minor) return;
    word |= std::uint64_t{present ? 1u : 0u} << bit++;
  };
  for (const AttrSpec& attribute : spec.attributes) {
    if (attribute.flagged()) add(attribute.since, operation.find(attribute.name) != nullptr);
  }
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    if (spec.operands[i].arity == Arity::maybe) add(spec.operands[i].since, !operation.group(i).empty());
  }
  return word;
}

void FunctionWriter::write_attributes(ByteWriter& out, const OpSpec& spec, const Operation& operation) {
  for (const AttrSpec& attribute : spec.attributes) {
    const Attribute* value = operation.find(attribute.name);
    if (value == nullptr || attribute.since > module_.version.minor) continue;
    attributes_.write(out, attribute.name, *value, operation.results.empty());
  }
}

void FunctionWriter::write_operands(ByteWriter& out, const OpSpec& spec, const Operation& operation) const {
  if (!spec.segmented() && spec.operand_groups(Arity::any) > 0) out.varint(operation.operands.size());
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    const std::span<const ValueId> group = operation.group(i);
    if (spec.segmented() && spec.operands[i].arity == Arity::any) out.varint(group.size());
    for (const ValueId value : group) out.varint(numbers_[value]);
  }
}

Status FunctionWriter::write_regions(ByteWriter& out, const OpSpec& spec, const Operation& operation) {
  if (spec.regions.empty()) return {};
  out.varint(operation.regions.size());
  for (const Region& region : operation.regions) {
    out.varint(region.blocks.size());
    for (const Block& block : region.blocks) TILEGYM_TRY(write_block(out, block));
  }
  return {};
}

Status FunctionWriter::write_block(ByteWriter& out, const Block& block) {
  const std::uint32_t outer = next_;
  out.varint(block.arguments.size());
  for (const ValueId argument : block.arguments) {
    out.varint(function_.values[argument]);
    number(argument);
  }
  out.varint(block.operations.size());
  for (const Operation& operation : block.operations) TILEGYM_TRY(write_operation(out, operation));
  next_ = outer;
  return {};
}

}  // namespace tilegym::tile_ir
