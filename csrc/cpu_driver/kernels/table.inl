// The table of strip kernels: a row for each operation, a column for each lane.

using Resolver = StripFn (*)(const StripKey&) noexcept;
inline constexpr std::size_t kStripOps = static_cast<std::size_t>(StripOp::ramp) + 1;

struct Table {
  Resolver of[kStripOps][kLanes] = {};
  constexpr void set(StripOp op, Lane lane, Resolver resolver) {
    of[static_cast<std::size_t>(op)][static_cast<std::size_t>(lane)] = resolver;
  }
};
