#include "tile_ir/debug_reader.h"

#include <algorithm>
#include <string>

#include "tile_ir/sections.h"

namespace tilegym::tile_ir {

namespace {

constexpr auto kLastKind = static_cast<std::uint64_t>(DebugKind::call_site);

bool is_scope(DebugKind kind) {
  return kind == DebugKind::lexical_block || kind == DebugKind::subprogram;
}

bool is_location(DebugKind kind) {
  return kind == DebugKind::unknown || kind == DebugKind::location || kind == DebugKind::call_site;
}

bool is_file(DebugKind kind) {
  return kind == DebugKind::file;
}

bool is_compile_unit(DebugKind kind) {
  return kind == DebugKind::compile_unit;
}

using Accepts = bool (*)(DebugKind);

/// What the two references of a kind must be; null: the kind has no such reference.
struct References {
  Accepts scope = nullptr;
  Accepts other = nullptr;
};

References references(DebugKind kind) {
  switch (kind) {
    case DebugKind::compile_unit:
      return {nullptr, is_file};
    case DebugKind::lexical_block:
      return {is_scope, is_file};
    case DebugKind::location:
      return {is_scope, nullptr};
    case DebugKind::subprogram:
      return {is_compile_unit, is_file};
    case DebugKind::call_site:
      return {is_location, is_location};
    case DebugKind::unknown:
    case DebugKind::file:
      break;
  }
  return {};
}

class EntryReader {
 public:
  EntryReader(const Blob& blob, std::size_t entries, std::span<const std::string_view> strings)
      : reader_(blob.bytes, blob.offset), entries_(entries), strings_(strings) {}

  Result<DebugEntry> read() {
    TILEGYM_ASSIGN(const std::uint64_t tag, reader_.varint("debug entry tag"));
    // Other tags stand for the unknown location, as NVIDIA's reader has it.
    if (tag <= kLastKind) entry_.kind = static_cast<DebugKind>(tag);
    TILEGYM_TRY(read_fields());
    return entry_;
  }

 private:
  Status read_fields() {
    switch (entry_.kind) {
      case DebugKind::unknown:
        return {};
      case DebugKind::compile_unit:
        return reference("file of compile unit", entry_.other);
      case DebugKind::file:
        TILEGYM_TRY(text("name of debug file", entry_.name));
        return text("directory of debug file", entry_.detail);
      case DebugKind::lexical_block:
        TILEGYM_TRY(reference("scope of lexical block", entry_.scope));
        TILEGYM_TRY(reference("file of lexical block", entry_.other));
        return line_and_column("lexical block");
      case DebugKind::location:
        TILEGYM_TRY(reference("scope of location", entry_.scope));
        TILEGYM_TRY(text("file of location", entry_.name));
        return line_and_column("location");
      case DebugKind::subprogram:
        return read_subprogram();
      case DebugKind::call_site:
        TILEGYM_TRY(reference("callee of call site", entry_.scope));
        return reference("caller of call site", entry_.other);
    }
    return {};
  }

  Status read_subprogram() {
    TILEGYM_TRY(reference("file of subprogram", entry_.other));
    TILEGYM_TRY(number(Subject("line", "subprogram"), entry_.line));
    TILEGYM_TRY(text("name of subprogram", entry_.name));
    TILEGYM_TRY(text("linkage name of subprogram", entry_.detail));
    TILEGYM_TRY(reference("compile unit of subprogram", entry_.scope));
    return number(Subject("scope line", "subprogram"), entry_.column);
  }

  Status line_and_column(const char* owner) {
    TILEGYM_TRY(number(Subject("line", owner), entry_.line));
    return number(Subject("column", owner), entry_.column);
  }

  /// Lines and columns have 32 bits in the dialect; NVIDIA's reader drops the others.
  Status number(const Subject& subject, std::uint32_t& value) {
    TILEGYM_ASSIGN(const std::uint64_t wide, reader_.varint(subject));
    value = static_cast<std::uint32_t>(wide);
    return {};
  }

  Status reference(const char* subject, DebugId& id) {
    TILEGYM_ASSIGN(id, reader_.index(entries_, subject));
    return {};
  }

  Status text(const char* subject, std::string_view& value) {
    TILEGYM_ASSIGN(const std::uint32_t index, reader_.index(strings_.size(), subject));
    value = strings_[index];
    return {};
  }

  ByteReader reader_;
  std::size_t entries_;
  std::span<const std::string_view> strings_;
  DebugEntry entry_;
};

/// Checks the references of every entry, each entry once.
class ReferenceCheck {
 public:
  ReferenceCheck(std::span<const DebugEntry> entries, std::span<const Blob> blobs)
      : entries_(entries), blobs_(blobs), depth_(entries.size(), kNew) {
    depth_[0] = 1;
  }

  Status run() {
    for (DebugId id = 1; id < entries_.size(); ++id) {
      TILEGYM_ASSIGN([[maybe_unused]] const int depth, visit(id, 0));
    }
    return {};
  }

 private:
  static constexpr int kNew = -1;
  static constexpr int kOpen = -2;

  /// Depth of what hangs below the entry; `level`: of the entry below the one where the visit began.
  Result<int> visit(DebugId id, int level) {
    if (depth_[id] == kOpen) return wrong(id, "no cycle", "one");
    if (level > kMaxDebugDepth) return wrong(id, "at most 1024 levels", "more");
    if (depth_[id] != kNew) return depth_[id];
    depth_[id] = kOpen;
    const References wanted = references(entries_[id].kind);
    TILEGYM_ASSIGN(const int scope, follow(id, wanted.scope, entries_[id].scope, level));
    TILEGYM_ASSIGN(const int other, follow(id, wanted.other, entries_[id].other, level));
    depth_[id] = std::max(scope, other) + 1;
    if (depth_[id] > kMaxDebugDepth) return wrong(id, "at most 1024 levels", "more");
    return depth_[id];
  }

  Result<int> follow(DebugId from, Accepts accepts, DebugId to, int level) {
    if (accepts == nullptr) return 0;
    if (!accepts(entries_[to].kind)) return wrong(from, "an entry of the right kind", "another");
    return visit(to, level + 1);
  }

  Error wrong(DebugId id, std::string_view wanted, std::string_view got) const {
    return malformed("reference of debug entry", wanted, got, blobs_[id - 1].offset);
  }

  std::span<const DebugEntry> entries_;
  std::span<const Blob> blobs_;
  std::vector<int> depth_;
};

Status read_indices(ByteReader& section, DebugTables& tables) {
  TILEGYM_ASSIGN(const std::size_t functions, section.count(4, "number of functions in debug section"));
  TILEGYM_TRY(section.align(4, "padding of debug section"));
  tables.starts.resize(functions);
  for (std::uint32_t& start : tables.starts) {
    TILEGYM_ASSIGN(const std::uint64_t value, section.fixed(4, "offset of function in debug section"));
    start = static_cast<std::uint32_t>(value);
  }
  TILEGYM_ASSIGN(const std::size_t indices, section.count(8, "number of debug indices"));
  TILEGYM_TRY(section.align(8, "padding of debug indices"));
  tables.indices.resize(indices);
  for (DebugId& index : tables.indices) {
    const std::size_t start = section.offset();
    TILEGYM_ASSIGN(const std::uint64_t value, section.fixed(8, "debug index"));
    if (value > ~DebugId{0}) return malformed("debug index", "32 bits", value, start);
    index = static_cast<DebugId>(value);
  }
  return {};
}

}  // namespace

Result<DebugTables> read_debug(ByteReader section, std::span<const std::string_view> strings) {
  DebugTables tables;
  if (section.remaining() == 0) return tables;
  TILEGYM_TRY(read_indices(section, tables));
  TILEGYM_ASSIGN(const std::vector<Blob> blobs, read_table(section, 4, "debug entries"));
  for (const Blob& blob : blobs) {
    TILEGYM_ASSIGN(const DebugEntry entry, EntryReader(blob, blobs.size() + 1, strings).read());
    tables.entries.push_back(entry);
  }
  TILEGYM_TRY(ReferenceCheck(tables.entries, blobs).run());
  return tables;
}

Result<LocationCursor> LocationCursor::open(const DebugTables& tables, std::uint64_t index, std::size_t offset) {
  if (index == 0) return LocationCursor(nullptr, 0);
  if (index > tables.starts.size()) {
    return malformed("location of function", "at most " + std::to_string(tables.starts.size()), index, offset);
  }
  return LocationCursor(&tables, tables.starts[index - 1]);
}

Result<DebugId> LocationCursor::next(std::size_t offset) {
  if (tables_ == nullptr) return 0;
  if (position_ >= tables_->indices.size()) {
    return malformed("location of operation", "a debug index for each", std::string_view("too few"), offset);
  }
  const DebugId id = tables_->indices[position_++];
  if (id >= tables_->entries.size() || !is_location(tables_->entries[id].kind)) {
    return malformed("location of operation", "the index of a location", id, offset);
  }
  return id;
}

}  // namespace tilegym::tile_ir
