#pragma once

#include <ucontext.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "validation/device/queue.h"

/// The kernels of csrc/validation/device on this processor: each lane is a context of its own, and lanes take turns
/// from one meeting point of a warp or of a thread block to the next.
namespace tilegym::validation::device {

class Emulator {
 public:
  static Emulator& instance() {
    static Emulator emulator;
    return emulator;
  }

  void run(int blocks, const std::function<void()>& body) {
    body_ = &body;
    blocks_ = blocks;
    for (block_ = 0; block_ < blocks; ++block_) run_block();
  }

  [[nodiscard]] int thread() const { return thread_; }
  [[nodiscard]] int block() const { return block_; }
  [[nodiscard]] int blocks() const { return blocks_; }

  /// What the lane at that distance passes to the same call.
  std::uint64_t exchange(std::uint64_t value, int distance) {
    const int turn = meetings_[thread_]++ % 2;
    slots_[turn][thread_] = value;
    yield();
    return slots_[turn][thread_ ^ distance];
  }

  void wait_for_block() {
    const int wanted = ++barriers_[thread_] * kThreads;
    for (++arrived_; arrived_ < wanted;) yield();
  }

 private:
  static constexpr int kThreads = kLanes * kWarps;
  static constexpr std::size_t kStack = 1 << 16;

  void run_block() {
    stacks_.resize(kThreads);
    arrived_ = 0;
    running_ = kThreads;
    for (int i = 0; i < kThreads; ++i) {
      if (!stacks_[i]) stacks_[i] = std::make_unique<std::byte[]>(kStack);
      meetings_[i] = barriers_[i] = 0;
      done_[i] = false;
      getcontext(&lanes_[i]);
      lanes_[i].uc_stack.ss_sp = stacks_[i].get();
      lanes_[i].uc_stack.ss_size = kStack;
      lanes_[i].uc_link = &scheduler_;
      makecontext(&lanes_[i], &Emulator::enter, 0);
    }
    while (running_ > 0) {
      for (thread_ = 0; thread_ < kThreads; ++thread_) {
        if (!done_[thread_]) swapcontext(&scheduler_, &lanes_[thread_]);
      }
    }
  }

  static void enter() {
    Emulator& self = instance();
    (*self.body_)();
    self.done_[self.thread_] = true;
    --self.running_;
  }

  void yield() {
    const int thread = thread_;
    swapcontext(&lanes_[thread], &scheduler_);
  }

  const std::function<void()>* body_ = nullptr;
  int blocks_ = 0;
  int block_ = 0;
  int thread_ = 0;
  int running_ = 0;
  int arrived_ = 0;
  ucontext_t scheduler_{};
  ucontext_t lanes_[kThreads]{};
  std::vector<std::unique_ptr<std::byte[]>> stacks_;
  bool done_[kThreads]{};
  int meetings_[kThreads]{};
  int barriers_[kThreads]{};
  std::uint64_t slots_[2][kThreads]{};
};

// What lanes.h asks for.
#define TILEGYM_DEVICE inline
#define TILEGYM_APART inline
#define TILEGYM_KERNEL [[maybe_unused]] static void
#define TILEGYM_PARAMETER const
#define TILEGYM_SHARED static
#define TILEGYM_UNROLL

inline int lane_index() {
  return Emulator::instance().thread() % kLanes;
}
inline int warp_index() {
  return Emulator::instance().thread() / kLanes;
}
inline int block_index() {
  return Emulator::instance().block();
}
inline int block_count() {
  return Emulator::instance().blocks();
}
inline void wait_for_block() {
  Emulator::instance().wait_for_block();
}
inline void publish() {}

template <class T>
T from_lane(T value, int distance) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = Emulator::instance().exchange(bits, distance);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline bool every_lane(bool here) {
  for (int distance = kLanes / 2; distance > 0; distance /= 2) here = from_lane(here, distance) && here;
  return here;
}
template <class T>
T add_to(T* place, T value) {
  const T before = *place;
  *place += value;
  return before;
}
inline void raise_to(std::uint64_t* place, std::uint64_t value) {
  if (value > *place) *place = value;
}
template <class T>
T published(const T* place) {
  return *place;
}
inline float bits_as_float(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
inline double bits_as_double(std::uint64_t bits) {
  return std::bit_cast<double>(bits);
}
inline std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value);
}
inline float half_value(std::uint16_t bits) {
  double value = 0;
  load(ElementType::f16, reinterpret_cast<const std::byte*>(&bits), 1, 1, &value);
  return static_cast<float>(value);
}
inline float nearly_inverse(float value) {
  return std::fabs(value) < 0x1p-126F ? std::copysign(HUGE_VALF, value) : 1 / value;
}
inline float multiply_add(float a, float b, float c) {
  return std::fma(a, b, c);
}
inline double multiply_add(double a, double b, double c) {
  return std::fma(a, b, c);
}

}  // namespace tilegym::validation::device

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include "validation/device/kernels.h"
#pragma GCC diagnostic pop

namespace tilegym::validation::device {

/// A queue whose device is the emulator: its memory is this process's.
class EmulatedQueue final : public Queue {
 public:
  std::vector<std::string> launched;

  [[nodiscard]] int multiprocessors() const noexcept override { return 2; }
  Status clear(void* device, std::size_t bytes) override {
    std::memset(device, 0, bytes);
    return {};
  }
  Status write(void* device, const void* host, std::size_t bytes) override {
    std::memcpy(device, host, bytes);
    return {};
  }
  Status read(void* host, const void* device, std::size_t bytes) override {
    std::memcpy(host, device, bytes);
    return {};
  }
  Status launch(const std::string& kernel, int thread_blocks, const Job& job) override {
    launched.push_back(kernel);
    for (const auto& [name, body] : kKernels) {
      if (name != kernel) continue;
      Emulator::instance().run(thread_blocks, [&] { body(job); });
      return {};
    }
    return Error{"no kernel " + kernel};
  }

 private:
  struct Kernel {
    std::string name;
    void (*body)(Job);
  };
  inline static const Kernel kKernels[] = {
      {"tilegym_compare_any_f32", tilegym_compare_any_f32},
      {"tilegym_compare_any_f64", tilegym_compare_any_f64},
      {"tilegym_compare_any_i64", tilegym_compare_any_i64},
      {"tilegym_compare_packed_1_1", tilegym_compare_packed_1_1},
      {"tilegym_compare_packed_2_2", tilegym_compare_packed_2_2},
      {"tilegym_compare_packed_2_4", tilegym_compare_packed_2_4},
      {"tilegym_compare_packed_4_2", tilegym_compare_packed_4_2},
      {"tilegym_compare_packed_4_4", tilegym_compare_packed_4_4},
      {"tilegym_fetch_f64", tilegym_fetch_f64},
      {"tilegym_fetch_i64", tilegym_fetch_i64},
  };
};

}  // namespace tilegym::validation::device
