#include "cpu_driver/api/launch_ranges.h"

#include <cstdint>

#include "common/thread_state.h"

namespace tilegym::cpu {

const std::string LaunchRanges::kNone;

LaunchRanges& LaunchRanges::of_thread() noexcept {
  return ThreadState<LaunchRanges>::get();
}

CUresult LaunchRanges::set(std::span<const RangeRow> rows, const char* op) {
  present_ = false;
  ranges_.clear();
  for (const RangeRow& row : rows) {
    if (row.name == nullptr || row.bytes > UINTPTR_MAX - row.pointer) {
      return fail(CUDA_ERROR_INVALID_VALUE,
                  "range " + std::to_string(ranges_.size()) + ": wanted a name and an end within the address space");
    }
    ranges_.push_back({row.pointer, row.pointer + row.bytes, row.name});
  }
  map_.assign(ranges_);
  op_ = op == nullptr ? "" : op;
  present_ = true;
  return CUDA_SUCCESS;
}

OwnedRanges::OwnedRanges(const LaunchRanges& source) : present_(source.memory() != nullptr), op_(source.op()) {
  if (!present_) return;
  std::vector<MemoryRange> ranges(source.ranges().begin(), source.ranges().end());
  names_.reserve(ranges.size());
  for (MemoryRange& range : ranges) range.name = names_.emplace_back(range.name);
  map_.assign(ranges);
}

}  // namespace tilegym::cpu
