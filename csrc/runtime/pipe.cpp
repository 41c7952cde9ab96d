#include "runtime/pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace tilegym::runtime {

void Descriptor::reset() {
  if (number_ >= 0) {
    close(std::exchange(number_, -1));
  }
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{std::string("pipe: ") + std::strerror(errno)};
  }
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

void LineReader::read_some() {
  std::array<char, 65536> buffer;
  const ssize_t size = read(source_.get(), buffer.data(), buffer.size());
  if (size > 0) {
    pending_.append(buffer.data(), static_cast<std::size_t>(size));
    pass_lines();
  } else if (size == 0 || errno != EINTR) {
    if (!pending_.empty()) {
      pass(pending_);
    }
    source_.reset();
  }
}

void LineReader::pass_lines() {
  std::size_t start = 0;
  for (std::size_t end = pending_.find('\n'); end != std::string::npos; end = pending_.find('\n', start)) {
    pass(std::string_view(pending_).substr(start, end - start));
    start = end + 1;
  }
  pending_.erase(0, start);
}

void LineReader::pass(std::string_view line) const {
  if (sink_) {
    sink_(line);
  }
}

}  // namespace tilegym::runtime
