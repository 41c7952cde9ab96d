#include "tile_ir/function_reader.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace tilegym::tile_ir {

namespace {

/// Kernels nest a handful of loops; the limit keeps hostile input off the stack's end, here and in every consumer.
constexpr int kMaxDepth = 64;

/// Room that a file's word alone is enough for.
constexpr std::size_t kMostReserved = 64;

/// Bytes of an operation as compilers write them, and the most operations of a body that room is kept for.
constexpr std::size_t kUsualBytes = 6;
constexpr std::size_t kMostExpected = std::size_t{1} << 18;

constexpr std::string_view kValueTypes = "a tile, view or token";

bool is_value_type(TypeKind kind) {
  return kind != TypeKind::element && kind != TypeKind::pointer && kind != TypeKind::function;
}

/// Flag bits are assigned in the order in which the parts are read, so each part takes the lowest one left.
bool take_flag(std::uint64_t& flags) {
  const bool set = (flags & 1) != 0;
  flags >>= 1;
  return set;
}

/// A terminator ends every block and stands nowhere else.
Status check_terminator(const Block& block, const ByteReader& reader) {
  const auto first =
      std::ranges::find_if(block.operations, [](const Operation& op) { return is_terminator(op.opcode); });
  if (first != block.operations.end() && std::next(first) == block.operations.end()) return {};
  const bool missing = first == block.operations.end();
  return malformed("block", "break, continue, return or yield as its last operation",
                   std::string_view(missing ? "no such operation" : "one before the last"), reader.offset());
}

}  // namespace

Status FunctionReader::read(ByteReader body) {
  for (const TypeId parameter : tables_.types[function_.type].inputs) {
    if (!is_value_type(tables_.types[parameter].kind)) {
      return malformed("parameter type", kValueTypes, std::string_view("another type"), body.offset());
    }
    function_.body.arguments.push_back(define(parameter));
  }
  // The file does not say how many operations follow; moving a list of megabytes costs more than room that stays empty.
  function_.body.operations.reserve(std::min(body.remaining() / kUsualBytes, kMostExpected));
  body_offset_ = body.offset();
  body_ = ByteReader(body).rest();
  while (body.remaining() > 0 && !function_.unread) TILEGYM_TRY(read_operation(body, function_.body, 0));
  return function_.unread ? Status{} : check_terminator(function_.body, body);
}

Status FunctionReader::read_operation(ByteReader& reader, Block& block, int depth) {
  const std::size_t start = reader.offset();
  Result<const OpSpec*> known = read_opcode(reader);
  if (!known && tables_.keep_unknown) {
    stop(start, std::move(known).error(), block);
    return {};
  }
  TILEGYM_ASSIGN(const OpSpec* spec, std::move(known));
  // Read in its place: reading the regions adds operations to their own blocks only.
  Operation& operation = block.operations.emplace_back();
  operation.byte_offset = static_cast<std::uint32_t>(start);
  operation.opcode = spec->opcode;
  TILEGYM_ASSIGN(operation.location, locations_.next(start));
  TILEGYM_TRY(read_result_types(reader, *spec, operation));
  std::uint64_t flags = 0;
  TILEGYM_TRY(read_attributes(reader, *spec, flags, operation));
  TILEGYM_TRY(spec->segmented() ? read_segments(reader, *spec, flags, operation)
                                : read_joined(reader, *spec, operation));
  TILEGYM_TRY(read_regions(reader, *spec, depth, operation));
  // Until here they are the results' types: a result is in scope behind its operation's regions only.
  for (ValueId& result : operation.results) result = define(result);
  if (spec->results.since > tables_.version.minor) operation.results.push_back(add_value(tables_.token));
  return {};
}

void FunctionReader::stop(std::size_t start, Error reason, Block& block) {
  const std::span<const std::byte> bytes = body_.subspan(start - body_offset_);
  ByteReader code(bytes, start);
  const Result<std::uint64_t> number = code.varint("operation code");
  function_.unread = Unread{number ? number.value() : 0, start, bytes, std::move(reason.message)};
  Operation& operation = block.operations.emplace_back();
  operation.opcode = kUnreadOpcode;
  operation.byte_offset = static_cast<std::uint32_t>(start);
}

Result<const OpSpec*> FunctionReader::read_opcode(ByteReader& reader) const {
  const std::size_t start = reader.offset();
  TILEGYM_ASSIGN(const std::uint64_t code, reader.varint("operation code"));
  const OpSpec* spec = find_op(code);
  if (spec == nullptr) {
    Error error = malformed("operation code", "a known one", code, start);
    error.message += "; write version 13.3, which has no such operation";
    return error;
  }
  if (spec->since <= tables_.version.minor) return spec;
  const std::string since = "13." + std::to_string(spec->since);
  Error error = malformed(Subject("bytecode version", spec->mnemonic), since + " or newer",
                          std::string_view("13." + std::to_string(tables_.version.minor)), start);
  error.message += "; write version " + since;
  return error;
}

Status FunctionReader::read_result_types(ByteReader& reader, const OpSpec& spec, Operation& operation) const {
  const ResultSpec& wanted = spec.results;
  std::size_t count = wanted.since <= tables_.version.minor ? wanted.count : 0;
  if (spec.counts_results()) {
    const std::size_t start = reader.offset();
    const Subject subject("number of results", spec.mnemonic);
    TILEGYM_ASSIGN(const std::size_t got, reader.count(1, subject));
    if (!wanted.variadic && got != count) return malformed(subject, std::to_string(count), got, start);
    count = got;
  }
  operation.results.resize(count);
  for (TypeId& type : operation.results) {
    TILEGYM_ASSIGN(type, read_value_type(reader, Subject("result type", spec.mnemonic)));
  }
  return {};
}

Result<TypeId> FunctionReader::read_value_type(ByteReader& reader, const Subject& subject) const {
  const std::size_t start = reader.offset();
  TILEGYM_ASSIGN(const TypeId id, tables_.read_type(reader, subject));
  if (is_value_type(tables_.types[id].kind)) return id;
  return malformed(subject, kValueTypes, std::string_view("another type"), start);
}

Status FunctionReader::read_attributes(ByteReader& reader, const OpSpec& spec, std::uint64_t& flags,
                                       Operation& operation) const {
  const std::uint8_t minor = tables_.version.minor;
  if (const unsigned bits = spec.flag_bits(minor); bits > 0) {
    TILEGYM_ASSIGN(flags, reader.varint_up_to((1u << bits) - 1, Subject("flags", spec.mnemonic)));
  }
  if (spec.attributes.empty()) return {};
  operation.attributes.reserve(spec.attributes.size());
  const auto result = operation.results.empty() ? std::nullopt : std::optional<TypeId>(operation.results.front());
  for (const AttrSpec& attribute : spec.attributes) {
    const bool known = attribute.since <= minor;
    if (attribute.presence == Presence::added && !known) {
      operation.attributes.push_back({attribute.name, {}});
      operation.attributes.back().value.integer = attribute.fallback;
      continue;
    }
    if (!known || (attribute.flagged() && !take_flag(flags))) continue;
    operation.attributes.push_back({attribute.name, {}});
    Attribute& value = operation.attributes.back().value;
    TILEGYM_TRY(attributes_.read(reader, attribute.name, spec.mnemonic, result, value));
  }
  return {};
}

Status FunctionReader::read_segments(ByteReader& reader, const OpSpec& spec, std::uint64_t flags,
                                     Operation& operation) const {
  for (const GroupSpec& group : spec.operands) {
    std::size_t size = 1;
    if (group.arity == Arity::any) {
      TILEGYM_ASSIGN(size, reader.count(1, Subject(group.name, spec.mnemonic)));
    } else if (group.arity == Arity::maybe) {
      size = group.since <= tables_.version.minor && take_flag(flags) ? 1 : 0;
    }
    TILEGYM_TRY(read_group(reader, spec, group, size, operation));
  }
  return {};
}

Status FunctionReader::read_joined(ByteReader& reader, const OpSpec& spec, Operation& operation) const {
  std::size_t variadic_size = 0;
  if (spec.operand_groups(Arity::any) > 0) {
    const std::size_t start = reader.offset();
    const Subject subject("number of operands", spec.mnemonic);
    const std::size_t others = spec.operand_groups(Arity::one);
    TILEGYM_ASSIGN(const std::size_t total, reader.count(1, subject));
    if (total < others) return malformed(subject, "at least " + std::to_string(others), total, start);
    variadic_size = total - others;
  }
  for (const GroupSpec& group : spec.operands) {
    TILEGYM_TRY(read_group(reader, spec, group, group.arity == Arity::any ? variadic_size : 1, operation));
  }
  return {};
}

Status FunctionReader::read_group(ByteReader& reader, const OpSpec& spec, const GroupSpec& group, std::size_t size,
                                  Operation& operation) const {
  for (std::size_t i = 0; i < size; ++i) {
    TILEGYM_ASSIGN(const std::uint32_t number, reader.index(scope_.size(), Subject(group.name, spec.mnemonic)));
    operation.operands.push_back(scope_[number]);
  }
  operation.segments.push_back(static_cast<std::uint32_t>(size));
  return {};
}

Status FunctionReader::read_regions(ByteReader& reader, const OpSpec& spec, int depth, Operation& operation) {
  if (spec.regions.empty()) return {};
  const std::size_t start = reader.offset();
  const Subject regions("number of regions", spec.mnemonic);
  TILEGYM_ASSIGN(const std::uint64_t count, reader.varint(regions));
  if (count != spec.regions.size()) return malformed(regions, std::to_string(spec.regions.size()), count, start);
  if (depth >= kMaxDepth) return malformed("nesting of regions", "at most 64 levels", std::string_view("more"), start);
  for (const GroupSpec& wanted : spec.regions) {
    const Subject blocks("number of blocks", spec.mnemonic);
    const std::size_t at = reader.offset();
    TILEGYM_ASSIGN(const std::uint64_t got, reader.varint_up_to(1, blocks));
    if (got == 0 && wanted.arity == Arity::one) return malformed(blocks, "1", got, at);
    operation.regions.emplace_back().blocks.resize(got);
    for (Block& block : operation.regions.back().blocks) TILEGYM_TRY(read_block(reader, depth + 1, block));
    if (function_.unread) break;
  }
  return {};
}

Status FunctionReader::read_block(ByteReader& reader, int depth, Block& block) {
  const std::size_t outer = scope_.size();
  TILEGYM_ASSIGN(const std::size_t arguments, reader.count(1, "number of block arguments"));
  for (std::size_t i = 0; i < arguments; ++i) {
    TILEGYM_ASSIGN(const TypeId type, read_value_type(reader, "type of block argument"));
    block.arguments.push_back(define(type));
  }
  TILEGYM_ASSIGN(const std::size_t operations, reader.count(1, "number of operations"));
  block.operations.reserve(std::min(operations, kMostReserved));
  for (std::size_t i = 0; i < operations && !function_.unread; ++i) TILEGYM_TRY(read_operation(reader, block, depth));
  scope_.resize(outer);
  return function_.unread ? Status{} : check_terminator(block, reader);
}

ValueId FunctionReader::define(TypeId type) {
  scope_.push_back(add_value(type));
  return scope_.back();
}

ValueId FunctionReader::add_value(TypeId type) {
  const auto value = static_cast<ValueId>(function_.values.size());
  function_.values.push_back(type);
  return value;
}

}  // namespace tilegym::tile_ir
