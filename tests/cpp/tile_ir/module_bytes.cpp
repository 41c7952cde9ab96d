#include "tile_ir/module_bytes.h"

#include <utility>

namespace tilegym::tile_ir::test {

namespace {

std::uint32_t append(std::vector<Bytes>& table, Bytes entry) {
  table.push_back(std::move(entry));
  return static_cast<std::uint32_t>(table.size() - 1);
}

void pad(Bytes& out, std::size_t alignment) {
  while (out.size() % alignment != 0) out.push_back(0xcb);
}

Bytes table_payload(const std::vector<Bytes>& entries, std::size_t offset_bytes) {
  Bytes payload;
  put_varint(payload, entries.size());
  pad(payload, offset_bytes);
  std::uint64_t offset = 0;
  for (const Bytes& entry : entries) {
    put_fixed(payload, offset, offset_bytes);
    offset += entry.size();
  }
  for (const Bytes& entry : entries) put(payload, entry);
  return payload;
}

Bytes list_payload(const std::vector<Bytes>& entries) {
  Bytes payload;
  put_varint(payload, entries.size());
  for (const Bytes& entry : entries) put(payload, entry);
  return payload;
}

void put_section(Bytes& out, std::uint8_t id, const Bytes& payload, std::uint8_t alignment) {
  out.push_back(alignment > 1 ? id | 0x80 : id);
  put_varint(out, payload.size());
  if (alignment > 1) {
    out.push_back(alignment);
    pad(out, alignment);
  }
  put(out, payload);
}

}  // namespace

void put_varint(Bytes& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<std::uint8_t>(value));
}

void put(Bytes& out, const Bytes& bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void put_fixed(Bytes& out, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

std::uint32_t ModuleBytes::string(std::string_view text) {
  return append(strings_, Bytes(text.begin(), text.end()));
}

std::uint32_t ModuleBytes::type(Bytes entry) {
  return append(types_, std::move(entry));
}

std::uint32_t ModuleBytes::constant(const Bytes& elements) {
  Bytes entry;
  put_varint(entry, elements.size());
  put(entry, elements);
  return append(constants_, std::move(entry));
}

std::uint32_t ModuleBytes::pointer(std::uint32_t pointee) {
  Bytes entry = {12};
  put_varint(entry, pointee);
  return type(std::move(entry));
}

std::uint32_t ModuleBytes::tile(std::uint32_t element, std::initializer_list<std::int64_t> shape) {
  Bytes entry = {13};
  put_varint(entry, element);
  put_varint(entry, shape.size());
  for (const std::int64_t extent : shape) put_fixed(entry, static_cast<std::uint64_t>(extent), 8);
  return type(std::move(entry));
}

std::uint32_t ModuleBytes::function_type(std::initializer_list<std::uint32_t> inputs) {
  Bytes entry = {16};
  put_varint(entry, inputs.size());
  for (const std::uint32_t input : inputs) put_varint(entry, input);
  put_varint(entry, 0);
  return type(std::move(entry));
}

void ModuleBytes::function(std::uint32_t type, const Bytes& body, const Bytes& hints, std::uint64_t location) {
  Bytes row;
  put_varint(row, string("kernel"));
  put_varint(row, type);
  row.push_back(hints.empty() ? 2 : 6);
  put_varint(row, location);
  put(row, hints);
  put_varint(row, body.size());
  put(row, body);
  functions_.push_back(std::move(row));
}

std::vector<std::byte> ModuleBytes::build() const {
  Bytes out = {0x7f, 'T', 'i', 'l', 'e', 'I', 'R', 0, 13, minor_, 0, 0};
  if (!globals_.empty()) put_section(out, 6, list_payload(globals_), 1);
  if (!functions_.empty()) put_section(out, 2, list_payload(functions_), 8);
  if (!constants_.empty()) put_section(out, 4, table_payload(constants_, 8), 8);
  if (!types_.empty()) put_section(out, 5, table_payload(types_, 4), 4);
  if (!strings_.empty()) put_section(out, 1, table_payload(strings_, 4), 4);
  for (const Section& section : extra_) put_section(out, section.id, section.payload, 1);
  out.push_back(0);
  std::vector<std::byte> bytes(out.size());
  for (std::size_t i = 0; i < out.size(); ++i) bytes[i] = static_cast<std::byte>(out[i]);
  return bytes;
}

std::string refusal_of(const Result<Module>& module) {
  if (module.ok()) return "accepted";
  const std::string& text = module.error().message;
  const std::size_t remedy = text.rfind("; ");
  return remedy == std::string::npos ? text + " without a remedy" : text.substr(0, remedy);
}

}  // namespace tilegym::tile_ir::test
