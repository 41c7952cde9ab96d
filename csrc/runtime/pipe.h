#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "common/result.h"

namespace tilegym::runtime {

/// A file descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }

  void reset();
  [[nodiscard]] int get() const { return number_; }  ///< -1: closed

 private:
  int number_;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

/// A pipe that programs started later do not inherit.
Result<Pipe> make_pipe();

/// Cuts the bytes of a pipe into lines and passes them on, without their ends.
class LineReader {
 public:
  /// An empty sink drops the lines; the sink must outlive the reader.
  LineReader(Descriptor source, const std::function<void(std::string_view)>& sink)
      : source_(std::move(source)), sink_(sink) {}

  [[nodiscard]] int descriptor() const { return source_.get(); }

  /// Waits for bytes and takes them. At the end of the stream passes on an unfinished last line and closes.
  void read_some();

 private:
  void pass_lines();
  void pass(std::string_view line) const;

  Descriptor source_;
  const std::function<void(std::string_view)>& sink_;
  std::string pending_;
};

}  // namespace tilegym::runtime
