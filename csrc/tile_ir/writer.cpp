#include "tile_ir/writer.h"

#include <algorithm>
#include <span>
#include <utility>

#include "tile_ir/byte_writer.h"
#include "tile_ir/function_writer.h"
#include "tile_ir/sections.h"
#include "tile_ir/writer_tables.h"

namespace tilegym::tile_ir {

namespace {

using Locations = std::vector<std::vector<DebugId>>;

void put_section(ByteWriter& out, SectionId id, const ByteWriter& payload, std::size_t alignment) {
  const auto number = static_cast<std::uint8_t>(id);
  out.byte(alignment > 1 ? number | kAlignedBit : number);
  out.varint(payload.size());
  if (alignment > 1) {
    out.varint(alignment);
    out.align(alignment);
  }
  out.bytes(payload.data());
}

void put_table(ByteWriter& out, SectionId id, const TableWriter& table, std::size_t offset_bytes) {
  ByteWriter payload;
  table.write(payload, offset_bytes);
  put_section(out, id, payload, offset_bytes);
}

/// A function without debug information has the location index 0, others the place of their locations plus one.
Status put_function(ByteWriter& out, const Module& module, const Function& function, WriterTables& tables,
                    Locations& locations) {
  ByteWriter body;
  FunctionWriter writer(module, function, tables);
  TILEGYM_TRY(writer.write(body));
  const bool located = std::ranges::any_of(writer.locations(), [](DebugId id) { return id != 0; });
  if (located) locations.push_back(writer.locations());
  out.varint(tables.string(function.name));
  out.varint(function.type);
  out.byte((function.is_private ? kPrivateFlag : 0) | (function.is_entry ? kEntryFlag : 0) |
           (function.optimization_hints ? kHintsFlag : 0));
  out.varint(located ? locations.size() : 0);
  if (function.optimization_hints) AttributeWriter(tables).write_tagged(out, *function.optimization_hints);
  out.varint(body.size());
  out.bytes(body.data());
  return {};
}

Result<ByteWriter> functions_payload(const Module& module, WriterTables& tables, Locations& locations) {
  ByteWriter payload;
  payload.varint(module.functions.size());
  for (const Function& function : module.functions) {
    TILEGYM_TRY(put_function(payload, module, function, tables, locations));
  }
  return payload;
}

ByteWriter globals_payload(const Module& module, WriterTables& tables) {
  ByteWriter payload;
  payload.varint(module.globals.size());
  for (const Global& global : module.globals) {
    payload.varint(tables.string(global.name));
    payload.varint(global.type);
    payload.varint(tables.constant(global.bytes));
    payload.varint(global.alignment);
    if (module.version.minor < 3) continue;
    payload.varint(global.is_private ? 1 : 0);
    payload.varint(global.constant ? 1 : 0);
  }
  return payload;
}

ByteWriter debug_payload(const WriterTables& tables, const Locations& locations) {
  ByteWriter payload;
  payload.varint(locations.size());
  payload.align(4);
  std::uint64_t start = 0;
  for (const std::vector<DebugId>& function : locations) {
    payload.fixed(start, 4);
    start += function.size();
  }
  payload.varint(start);
  payload.align(8);
  for (const std::vector<DebugId>& function : locations) {
    for (const DebugId id : function) payload.fixed(id, 8);
  }
  tables.debug().write(payload, 4);
  return payload;
}

void put_header(ByteWriter& out, const Version& version) {
  out.bytes(std::as_bytes(std::span(kMagic)));
  out.byte(version.major);
  out.byte(version.minor);
  out.fixed(version.tag, 2);
}

Status check_globals(const Module& module) {
  for (const Global& global : module.globals) {
    if (module.version.minor < 3 && (global.is_private || global.constant)) {
      return Error{"tile_ir: writing global " + global.name +
                   ": versions before 13.3 have neither private nor constant globals; write 13.3"};
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::byte>> write_module(const Module& module) {
  TILEGYM_TRY(check_globals(module));
  WriterTables tables(module);
  Locations locations;
  TILEGYM_ASSIGN(const ByteWriter functions, functions_payload(module, tables, locations));
  const ByteWriter globals = globals_payload(module, tables);
  ByteWriter producer;
  if (!module.producer.empty()) producer.varint(tables.string(module.producer));

  ByteWriter out;
  put_header(out, module.version);
  put_section(out, SectionId::functions, functions, 8);
  if (!module.globals.empty()) put_section(out, SectionId::globals, globals, 1);
  if (tables.constants().size() > 0) put_table(out, SectionId::constants, tables.constants(), 8);
  if (!locations.empty()) put_section(out, SectionId::debug, debug_payload(tables, locations), 8);
  if (tables.types().size() > 0) put_table(out, SectionId::types, tables.types(), 4);
  if (producer.size() > 0) put_section(out, SectionId::producer, producer, 1);
  put_table(out, SectionId::strings, tables.strings(), 4);
  out.byte(static_cast<std::uint64_t>(SectionId::end));
  return out.take();
}

}  // namespace tilegym::tile_ir
