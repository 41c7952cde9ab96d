#include "cpu_driver/engine/global_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "cpu_driver/kernels/kernels.h"

namespace tilegym::cpu {
namespace {

constexpr std::size_t kMaxAlignment = 4096;

/// Bytes of the initial value as memory holds it.
void initialise(const tile_ir::Type& type, const tile_ir::Global& global, std::span<std::byte> memory) {
  const std::size_t bytes = tile_ir::byte_size(type.element);
  // tf32 constants carry the 19 bits that count.
  const unsigned shift = type.element == tile_ir::ElementType::tf32 ? 13 : 0;
  for (std::size_t i = 0; i * bytes < memory.size(); ++i) {
    const std::uint64_t bits = tile_ir::element_bits(type, global.bytes, global.splat, i) << shift;
    std::memcpy(memory.data() + i * bytes, &bits, bytes);
  }
}

}  // namespace

GlobalMemory::GlobalMemory(std::vector<Variable> variables, std::size_t bytes, std::size_t alignment)
    : variables_(std::move(variables)),
      alignment_(alignment),
      data_(static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes, 1), std::align_val_t{alignment}))) {}

GlobalMemory::~GlobalMemory() {
  ::operator delete(data_, std::align_val_t{alignment_});
}

Result<std::shared_ptr<const GlobalMemory>> allocate_globals(const tile_ir::Module& module) try {
  std::vector<GlobalMemory::Variable> variables;
  std::size_t end = 0;
  std::size_t largest = kVectorBytes;
  for (const tile_ir::Global& global : module.globals) {
    const tile_ir::Type& type = module.type(global.type);
    const std::size_t alignment = std::max<std::size_t>(global.alignment, 16);
    if (!std::has_single_bit(alignment) || alignment > kMaxAlignment || !type.is_tile() || type.of_pointers) {
      return Error{"global '" + global.name + "': wanted numbers aligned to a power of two up to " +
                   std::to_string(kMaxAlignment) + ", got an alignment of " + std::to_string(global.alignment)};
    }
    largest = std::max(largest, alignment);
    end = (end + alignment - 1) / alignment * alignment;
    const std::size_t bytes = static_cast<std::size_t>(type.element_count()) * tile_ir::byte_size(type.element);
    variables.push_back({global.name, end, bytes});
    end += bytes;
  }
  auto globals = std::make_shared<GlobalMemory>(std::move(variables), end, largest);
  for (std::size_t i = 0; i < module.globals.size(); ++i) {
    initialise(module.type(module.globals[i].type), module.globals[i], globals->memory_of(globals->variables()[i]));
  }
  return std::shared_ptr<const GlobalMemory>(std::move(globals));
} catch (const std::bad_alloc&) {
  return Error{"the module's globals: out of memory"};
}

std::span<std::byte> find_global(const GlobalMemory& globals, std::string_view name) noexcept {
  const auto found = std::ranges::find(globals.variables(), name, &GlobalMemory::Variable::name);
  if (found == globals.variables().end()) return {};
  return globals.memory_of(*found);
}

void add_globals(const GlobalMemory& globals, MemoryMap& map) {
  for (const GlobalMemory::Variable& variable : globals.variables()) {
    const std::span<std::byte> memory = globals.memory_of(variable);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
    map.add({begin, begin + memory.size(), variable.name});
  }
}

}  // namespace tilegym::cpu
