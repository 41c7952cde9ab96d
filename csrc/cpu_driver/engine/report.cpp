#include "cpu_driver/engine/report.h"

namespace tilegym::cpu {

std::string describe_fault(const Plan& plan, const Frame& frame, const std::array<std::uint32_t, 3>& block) {
  const Fault& fault = frame.fault;
  std::string text = "kernel " + plan.name + ", tile block (";
  for (std::size_t d = 0; d < 3; ++d) text += (d > 0 ? ", " : "") + std::to_string(block[d]);
  text += "): ";
  text += tile_ir::name(fault.place.opcode);
  text += " at byte " + std::to_string(fault.place.byte_offset) + ": ";
  if (fault.outcome == Outcome::assertion) return text + "assertion failed: " + fault.text;
  if (!fault.text.empty()) return text + "illegal address: " + fault.text;
  return text + "illegal address: " + frame.memory->describe(fault.address, fault.bytes);
}

}  // namespace tilegym::cpu
