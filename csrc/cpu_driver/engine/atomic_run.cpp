#include <string>

#include "cpu_driver/engine/access.h"
#include "cpu_driver/engine/inspect.h"
#include "cpu_driver/engine/tile_graph.h"
#include "cpu_driver/engine/tile_steps.h"

namespace tilegym::cpu {
namespace {

class AtomicRun {
 public:
  AtomicRun(const AtomicStep& step, Frame& frame) : step_(step), frame_(frame) {}

  bool run() { return step_.access ? run_view() : run_addresses(); }

 private:
  bool run_addresses() {
    const std::int64_t count = element_count(step_.extents);
    for (std::int64_t i = 0; i < count; ++i) {
      if (step_.mask && bits_at(*step_.mask, i, frame_) == 0) {
        if (step_.result) put_bits(*step_.result, i, step_.compare ? bits_at(*step_.compare, i, frame_) : 0, frame_);
      } else if (!apply(static_cast<std::uintptr_t>(bits_at(step_.addresses, i, frame_)), i)) {
        return false;
      }
    }
    return true;
  }

  bool run_view() {
    const std::int64_t lanes = step_.extents.empty() ? 1 : step_.extents.back();
    frame_.index.assign(step_.extents.empty() ? 0 : step_.extents.size() - 1, 0);
    std::int64_t element = 0;
    do {
      for (std::int64_t lane = 0; lane < lanes; ++lane, ++element) {
        std::uintptr_t address = 0;
        if (lane_of_access(*step_.access, frame_.index, lane, frame_, address) && !apply(address, element))
          return false;
      }
    } while (next_row());
    return true;
  }

  bool next_row() {
    for (std::size_t d = frame_.index.size(); d-- > 0;) {
      if (++frame_.index[d] < step_.extents[d]) return true;
      frame_.index[d] = 0;
    }
    return false;
  }

  bool apply(std::uintptr_t address, std::int64_t element) {
    if (!frame_.allowed(address, step_.element_bytes, step_.place)) return false;
    if (address % step_.element_bytes != 0) {
      frame_.fault = {Outcome::illegal_address, step_.place, address, step_.element_bytes,
                      "wanted an address aligned to " + std::to_string(step_.element_bytes) + " bytes, got one " +
                          std::to_string(address % step_.element_bytes) + " bytes past"};
      return false;
    }
    const std::uint64_t compare = step_.compare ? bits_at(*step_.compare, element, frame_) : 0;
    const std::uint64_t old = step_.fn(address, bits_at(step_.operand, element, frame_), compare);
    if (step_.result) put_bits(*step_.result, element, old, frame_);
    return true;
  }

  const AtomicStep& step_;
  Frame& frame_;
};

}  // namespace

bool run_atomic(const AtomicStep& step, Frame& frame) {
  return AtomicRun(step, frame).run();
}

}  // namespace tilegym::cpu
