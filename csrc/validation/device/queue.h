#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/result.h"
#include "validation/device/job.h"

namespace tilegym::validation::device {

/// The way to a GPU, in order: one stream of one device. Addresses named `device` are the device's.
class Queue {
 public:
  Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  virtual ~Queue() = default;

  [[nodiscard]] virtual int multiprocessors() const noexcept = 0;
  [[nodiscard]] virtual Status clear(void* device, std::size_t bytes) = 0;
  [[nodiscard]] virtual Status write(void* device, const void* host, std::size_t bytes) = 0;
  /// Starts a kernel of kernels.h.
  [[nodiscard]] virtual Status launch(const std::string& kernel, int thread_blocks, const Job& job) = 0;
  /// Waits for everything before.
  [[nodiscard]] virtual Status read(void* host, const void* device, std::size_t bytes) = 0;
};

}  // namespace tilegym::validation::device
