#include "runtime/cargo_messages.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace tilegym::runtime {
namespace {

constexpr std::size_t kErrorLines = 17;  // with the lines around it an error stays below 20

/// Appends a code point in UTF-8. Halves of surrogate pairs, which rustc does not emit, become "?".
void append_utf8(std::string& text, unsigned code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
  } else if (code >= 0xd800 && code < 0xe000) {
    text += '?';
  } else {
    text += {static_cast<char>(0xe0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3f)),
             static_cast<char>(0x80 | (code & 0x3f))};
  }
}

char simple_escape(char letter) {
  constexpr std::string_view kLetters = "nrtbf";
  constexpr std::string_view kMeanings = "\n\r\t\b\f";
  const std::size_t at = kLetters.find(letter);
  return at == std::string_view::npos ? letter : kMeanings[at];
}

/// The text of a JSON string, from after its opening quote to its closing quote.
std::string unescape(std::string_view rest) {
  std::string text;
  for (std::size_t i = 0; i < rest.size() && rest[i] != '"'; ++i) {
    if (rest[i] != '\\' || i + 1 == rest.size()) {
      text += rest[i];
    } else if (rest[++i] != 'u') {
      text += simple_escape(rest[i]);
    } else {
      unsigned code = '?';
      const std::string_view digits = rest.substr(i + 1, 4);
      std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
      append_utf8(text, code);
      i += digits.size();
    }
  }
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// The op whose folder (`<op>_kernel`) a compiler error points into; empty where it points elsewhere.
std::string op_of(const std::string& rendered) {
  const std::size_t end = rendered.find("_kernel/");
  if (end == std::string::npos) {
    return "";
  }
  const std::size_t slash = rendered.find_last_of("/ ", end);
  const std::size_t start = slash == std::string::npos ? 0 : slash + 1;
  return rendered.substr(start, end - start);
}

}  // namespace

std::string message_field(std::string_view line, std::string_view name) {
  // Quotes inside a JSON string are escaped, so this text is found as a member's name only.
  const std::string key = "\"" + std::string(name) + "\":\"";
  const std::size_t at = line.find(key);
  return at == std::string_view::npos ? "" : unescape(line.substr(at + key.size()));
}

std::string summarise_failure(const std::vector<std::string>& compiler_errors,
                              const std::vector<std::string>& cargo_lines, std::size_t limit) {
  std::vector<std::string> lines;
  for (const std::string& rendered : compiler_errors) {
    if (const std::string op = op_of(rendered); !op.empty()) {
      lines.push_back("in op " + op + ":");
    }
    const std::vector<std::string> more = lines_of(rendered);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  if (compiler_errors.empty()) {
    const auto first = std::find_if(cargo_lines.begin(), cargo_lines.end(),
                                    [](const std::string& line) { return line.starts_with("error"); });
    lines.assign(first, cargo_lines.end());
  }
  std::string text;
  for (const std::string& line : lines) {
    if (limit-- == 0) {
      return text + "...";
    }
    text += line + "\n";
  }
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

CargoListener::CargoListener(const std::filesystem::path& log, std::string library, BuildProgress& progress)
    : log_(log), library_name_(std::move(library)), progress_(progress) {}

void CargoListener::on_message(std::string_view line) {
  if (!line.starts_with('{')) {
    log_ << line << '\n';
    return;
  }
  const std::string reason = message_field(line, "reason");
  if (reason == "compiler-artifact") {
    // A crate's build script is an artifact as well, and comes long before the crate itself.
    if (line.find(R"("kind":["custom-build"])") == std::string_view::npos) {
      progress_.crate_done(message_field(line, "package_id"));
    }
    remember_library(line);
  } else if (reason == "compiler-message") {
    const std::string rendered = message_field(line, "rendered");
    log_ << rendered;
    if (message_field(line, "level") == "error") {
      errors_.push_back(rendered);
    }
  }
}

void CargoListener::on_line(std::string_view line) {
  log_ << line << std::endl;  // flushed: who watches the file sees the build move
  lines_.emplace_back(line);
}

std::string CargoListener::summary() const {
  return summarise_failure(errors_, lines_, kErrorLines);
}

void CargoListener::remember_library(std::string_view line) {
  const std::size_t end = line.find("/" + library_name_ + "\"");
  if (end != std::string_view::npos) {
    const std::size_t start = line.rfind('"', end) + 1;
    library_ = unescape(line.substr(start));
  }
}

}  // namespace tilegym::runtime
