#include "tile_ir/reader.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "tile_ir/attribute_reader.h"
#include "tile_ir/byte_reader.h"
#include "tile_ir/debug_reader.h"
#include "tile_ir/function_reader.h"
#include "tile_ir/mapped_file.h"
#include "tile_ir/sections.h"
#include "tile_ir/type_reader.h"

namespace tilegym::tile_ir {

namespace {

/// For every error that has none of its own.
constexpr std::string_view kRemedy = "; the module is cut short, damaged or written wrongly: write it anew";

constexpr std::uint8_t kAllFlags = kPrivateFlag | kEntryFlag | kHintsFlag;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Older versions have no result for operations that gained one later; the module has it in every version.
TypeId token_type(std::vector<Type>& types) {
  const auto found = std::ranges::find(types, TypeKind::token, &Type::kind);
  if (found != types.end()) return static_cast<TypeId>(std::distance(types.begin(), found));
  types.emplace_back().kind = TypeKind::token;
  return static_cast<TypeId>(types.size() - 1);
}

Result<Tables> read_tables(const Sections& sections, Module& module) {
  Tables tables;
  tables.version = sections.version;
  TILEGYM_ASSIGN(const auto strings, read_table(sections.payload(SectionId::strings), 4, "strings"));
  for (const Blob& text : strings) tables.strings.push_back(as_text(text.bytes));
  TILEGYM_ASSIGN(const auto types, read_table(sections.payload(SectionId::types), 4, "types"));
  TILEGYM_ASSIGN(module.types, read_types(types, sections.version));
  const std::size_t in_file = module.types.size();
  tables.token = token_type(module.types);
  tables.types = std::span(module.types).first(in_file);
  TILEGYM_ASSIGN(tables.constants, read_table(sections.payload(SectionId::constants), 8, "constants"));
  TILEGYM_ASSIGN(tables.debug, read_debug(sections.payload(SectionId::debug), tables.strings));
  return tables;
}

Result<std::string> read_symbol(ByteReader& reader, const Tables& tables, const Subject& subject) {
  const std::size_t start = reader.offset();
  TILEGYM_ASSIGN(const std::string_view symbol, tables.read_string(reader, subject));
  if (symbol.empty()) return malformed(subject, "a name", std::string_view("an empty one"), start);
  return std::string(symbol);
}

Result<Attribute> read_hints(ByteReader& section, const Tables& tables) {
  const std::size_t start = section.offset();
  TILEGYM_ASSIGN(Attribute hints, AttributeReader(tables).read_tagged(section));
  if (hints.kind == AttrKind::optimization_hints) return hints;
  return malformed("hints of function", "optimization hints", std::string_view("another attribute"), start);
}

Result<Function> read_function(ByteReader& section, const Tables& tables) {
  Function function;
  TILEGYM_ASSIGN(function.name, read_symbol(section, tables, "function name"));
  const std::size_t type_start = section.offset();
  TILEGYM_ASSIGN(function.type, tables.read_type(section, "function type"));
  if (tables.types[function.type].kind != TypeKind::function) {
    return malformed("function type", "a function type", std::string_view("another type"), type_start);
  }
  TILEGYM_ASSIGN(const std::uint8_t flags, section.byte("function flags"));
  if (flags > kAllFlags) return malformed("function flags", "0 to 7", flags, section.offset() - 1);
  function.is_entry = (flags & kEntryFlag) != 0;
  function.is_private = (flags & kPrivateFlag) != 0;
  const std::size_t location_start = section.offset();
  TILEGYM_ASSIGN(const std::uint64_t location, section.varint("location of function"));
  TILEGYM_ASSIGN(LocationCursor locations, LocationCursor::open(tables.debug, location, location_start));
  TILEGYM_ASSIGN(function.location, locations.next(location_start));
  if (function.is_entry && (flags & kHintsFlag) != 0) {
    TILEGYM_ASSIGN(function.optimization_hints, read_hints(section, tables));
  }
  TILEGYM_ASSIGN(const std::size_t length, section.count(1, "length of function body"));
  const std::size_t start = section.offset();
  TILEGYM_ASSIGN(const auto body, section.bytes(length, "function body"));
  TILEGYM_TRY(FunctionReader(tables, locations, function).read(ByteReader(body, start)));
  return function;
}

Result<Global> read_global(ByteReader& section, const Tables& tables) {
  Global global;
  TILEGYM_ASSIGN(global.name, read_symbol(section, tables, "global name"));
  TILEGYM_ASSIGN(global.type, tables.read_type(section, "global type"));
  TILEGYM_ASSIGN(const Attribute value, tables.read_constant(section, global.type, "value of global"));
  global.bytes = value.bytes;
  global.splat = value.splat;
  TILEGYM_ASSIGN(global.alignment, section.varint("alignment of global"));
  if (tables.version.minor >= 3) {
    TILEGYM_ASSIGN(const std::uint64_t visibility, section.varint_up_to(1, "visibility of global"));
    TILEGYM_ASSIGN(const std::uint64_t constant, section.varint_up_to(1, "constant flag of global"));
    global.is_private = visibility == 1;
    global.constant = constant == 1;
  }
  return global;
}

/// Reads a section that is a count and that many entries; writers may pad its end.
template <class Entry, class ReadEntry>
Status read_list(ByteReader section, const Tables& tables, const char* what, std::vector<Entry>& entries,
                 ReadEntry read_entry) {
  if (section.remaining() == 0) return {};
  TILEGYM_ASSIGN(const std::size_t count, section.count(1, Subject("number", what)));
  for (std::size_t i = 0; i < count; ++i) {
    TILEGYM_ASSIGN(Entry entry, read_entry(section, tables));
    entries.push_back(std::move(entry));
  }
  return {};
}

Status read_producer(ByteReader section, const Tables& tables, std::string& producer) {
  if (section.remaining() == 0) return {};
  TILEGYM_ASSIGN(const std::string_view text, tables.read_string(section, "producer"));
  producer = text;
  return {};
}

}  // namespace

Result<std::size_t> bytecode_size(const std::byte* data) noexcept {
  // Nobody told how long the memory is: the section headers are taken at their word, up to what a module can have.
  const std::size_t limit = std::min<std::size_t>(kMaxModuleBytes, ~reinterpret_cast<std::uintptr_t>(data));
  TILEGYM_ASSIGN(const Sections sections, locate_sections({data, limit}));
  return sections.size;
}

Result<Module> read_module(std::span<const std::byte> bytes, ReadOptions options) {
  const auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  return read_module(copy, *copy, options);
}

Result<Module> read_file(const std::filesystem::path& path, ReadOptions options) {
  TILEGYM_ASSIGN(MappedFile file, map_file(path));
  return read_module(std::move(file.storage), file.bytes, options);
}

namespace {

Result<Module> read_whole(std::shared_ptr<const void> storage, std::span<const std::byte> bytes, ReadOptions options) {
  if (bytes.size() > kMaxModuleBytes) {
    Error error = malformed("module", std::to_string(kMaxModuleBytes) + " bytes or less", bytes.size(), 0);
    error.message += "; split it";
    return error;
  }
  Module module;
  module.storage = std::move(storage);
  TILEGYM_ASSIGN(const Sections sections, locate_sections(bytes));
  if (sections.size != bytes.size()) {
    return malformed("end of module", "no more bytes", bytes.size() - sections.size, sections.size);
  }
  for (const SectionId id : {SectionId::strings, SectionId::functions}) {
    if (!sections.payloads[static_cast<std::size_t>(id)]) {
      return malformed("module", "a string and a function section", std::string_view("one missing"), sections.size);
    }
  }
  module.version = sections.version;
  TILEGYM_ASSIGN(Tables tables, read_tables(sections, module));
  tables.keep_unknown = options.keep_unknown;
  TILEGYM_TRY(read_producer(sections.payload(SectionId::producer), tables, module.producer));
  TILEGYM_TRY(read_list(sections.payload(SectionId::globals), tables, "globals", module.globals, read_global));
  TILEGYM_TRY(read_list(sections.payload(SectionId::functions), tables, "functions", module.functions, read_function));
  module.debug = std::move(tables.debug.entries);
  return module;
}

}  // namespace

Result<Module> read_module(std::shared_ptr<const void> storage, std::span<const std::byte> bytes, ReadOptions options) {
  Result<Module> module = read_whole(std::move(storage), bytes, options);
  if (module.ok()) return module;
  Error error = std::move(module).error();
  if (error.message.find("; ") == std::string::npos) error.message += kRemedy;
  return error;
}

}  // namespace tilegym::tile_ir
