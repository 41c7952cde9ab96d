#include "cpu_driver/engine/inspect.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "cpu_driver/engine/lowering.h"

namespace tilegym::cpu {
namespace {

/// One element as a number: `real` for float lanes, else `integer`.
struct Number {
  bool is_real = false;
  double real = 0;
  std::int64_t integer = 0;
};

Number number_in(Lane lane, const void* lanes) {
  Number number;
  float narrow = 0;
  if (lane == Lane::f32) {
    std::memcpy(&narrow, lanes, sizeof(narrow));
    return {true, narrow, 0};
  }
  if (lane == Lane::f64) {
    number.is_real = true;
    std::memcpy(&number.real, lanes, sizeof(number.real));
    return number;
  }
  std::memcpy(&number.integer, lanes, lane_bytes(lane));
  const auto shift = static_cast<int>(64 - 8 * lane_bytes(lane));
  number.integer = static_cast<std::int64_t>(static_cast<std::uint64_t>(number.integer) << shift) >> shift;
  return number;
}

Number element(const InspectedTile& tile, std::int64_t i, const Frame& frame) {
  const Lane lane = lane_of(tile.element);
  if (tile.is_slot) return number_in(lane, &frame.slots[tile.slot]);
  alignas(kVectorBytes) std::array<std::byte, 16 * kVectorBytes> lanes{};
  const std::byte* memory =
      frame.buffers[tile.buffer] + i * static_cast<std::int64_t>(tile_ir::byte_size(tile.element));
  find_load(tile.element)(lanes.data(), memory, 1);
  return number_in(lane, lanes.data());
}

/// A format expression "%...": flags, width and precision are kept, the length and conversion follow the element.
struct Expression {
  std::string flags = {};
  char conversion = 'f';
};

void append_number(std::string& text, const Expression& expression, const Number& number) {
  std::array<char, 512> piece{};
  const bool integral = std::string_view("diuxXoc").find(expression.conversion) != std::string_view::npos;
  if (number.is_real) {
    const std::string format = "%" + expression.flags + (integral ? 'g' : expression.conversion);
    std::snprintf(piece.data(), piece.size(), format.c_str(), number.real);
  } else {
    const std::string format =
        "%" + expression.flags + "ll" + (integral && expression.conversion != 'c' ? expression.conversion : 'd');
    std::snprintf(piece.data(), piece.size(), format.c_str(), static_cast<long long>(number.integer));
  }
  text += piece.data();
}

void append_tile(std::string& text, const Expression& expression, const InspectedTile& tile, const Frame& frame) {
  const std::int64_t count = element_count(tile.shape);
  const std::vector<std::int64_t> strides = row_major(tile.shape);
  for (std::int64_t i = 0; i < count; ++i) {
    if (i > 0) text += ", ";
    for (std::size_t d = 0; d < tile.shape.size(); ++d) {
      if (i % (strides[d] * tile.shape[d]) == 0) text += '[';
    }
    append_number(text, expression, element(tile, i, frame));
    for (std::size_t d = 0; d < tile.shape.size(); ++d) {
      if ((i + 1) % (strides[d] * tile.shape[d]) == 0) text += ']';
    }
  }
}

/// Reads the expression that starts after a '%'; moves `position` behind it.
Expression read_expression(std::string_view format, std::size_t& position) {
  Expression expression;
  constexpr std::string_view kFlags = "-+ #0123456789.";
  while (position < format.size() && kFlags.find(format[position]) != std::string_view::npos) {
    // Long widths would only overflow the piece.
    if (expression.flags.size() < 8) expression.flags += format[position];
    ++position;
  }
  while (position < format.size() && std::string_view("hlLqjzt").find(format[position]) != std::string_view::npos)
    ++position;
  constexpr std::string_view kConversions = "diuxXocfFeEgGaA";
  const char conversion = position < format.size() ? format[position++] : 'f';
  expression.conversion = kConversions.find(conversion) == std::string_view::npos ? 'g' : conversion;
  return expression;
}

}  // namespace

std::uint64_t bits_at(const InspectedTile& tile, std::int64_t i, const Frame& frame) {
  if (tile.is_slot) return memory_bits(tile.element, frame.slot(tile.slot));
  const auto bytes = tile_ir::byte_size(tile.element);
  std::uint64_t bits = 0;
  std::memcpy(&bits, frame.buffers[tile.buffer] + static_cast<std::size_t>(i) * bytes, bytes);
  return bits;
}

void put_bits(const InspectedTile& tile, std::int64_t i, std::uint64_t bits, Frame& frame) {
  const auto bytes = tile_ir::byte_size(tile.element);
  if (!tile.is_slot) {
    std::memcpy(frame.buffers[tile.buffer] + static_cast<std::size_t>(i) * bytes, &bits, bytes);
    return;
  }
  frame.slots[tile.slot] = lane_bits(tile.element, bits);
}

bool check_assertion(const AssertStep& step, Frame& frame) {
  const std::int64_t count = element_count(step.condition.shape);
  for (std::int64_t i = 0; i < count; ++i) {
    if (element(step.condition, i, frame).integer != 0) continue;
    frame.fault = {Outcome::assertion, step.place, 0, 0, step.message + " (element " + std::to_string(i) + ")"};
    return false;
  }
  return true;
}

void print(const PrintStep& step, const Frame& frame) {
  std::string text;
  std::size_t next = 0;
  for (std::size_t i = 0; i < step.format.size();) {
    const char character = step.format[i++];
    if (character != '%') {
      text += character;
    } else if (i < step.format.size() && step.format[i] == '%') {
      text += '%';
      ++i;
    } else {
      const Expression expression = read_expression(step.format, i);
      if (next < step.arguments.size()) append_tile(text, expression, step.arguments[next++], frame);
    }
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace tilegym::cpu
