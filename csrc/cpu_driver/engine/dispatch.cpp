#include <algorithm>
#include <array>

#include "cpu_driver/engine/elementwise_table.h"
#include "cpu_driver/engine/lowering.h"

namespace tilegym::cpu {

using tile_ir::Opcode;

/// The one list of operations that the engine executes; the elementwise ones stand in their own table.
Lowering::Handler Lowering::handler_of(Opcode opcode) noexcept {
  struct Row {
    Opcode opcode;
    Handler handler;
  };
  static constexpr std::array kRows{
      Row{Opcode::Alloca, &Lowering::lower_alloca},
      Row{Opcode::Assert, &Lowering::lower_assert},
      Row{Opcode::Assume, &Lowering::lower_alias},
      Row{Opcode::AtomicCAS, &Lowering::lower_atomic},
      Row{Opcode::AtomicRedViewTko, &Lowering::lower_atomic_view},
      Row{Opcode::AtomicRMW, &Lowering::lower_atomic},
      Row{Opcode::Bitcast, &Lowering::lower_bitcast},
      Row{Opcode::Break, &Lowering::lower_break},
      Row{Opcode::Broadcast, &Lowering::lower_broadcast},
      Row{Opcode::Cat, &Lowering::lower_cat},
      Row{Opcode::Constant, &Lowering::lower_constant},
      Row{Opcode::Continue, &Lowering::lower_continue},
      Row{Opcode::ExtI, &Lowering::lower_integer_width},
      Row{Opcode::Extract, &Lowering::lower_extract},
      Row{Opcode::For, &Lowering::lower_for},
      Row{Opcode::FToF, &Lowering::lower_float_width},
      Row{Opcode::FToI, &Lowering::lower_float_to_integer},
      Row{Opcode::GetGlobal, &Lowering::lower_get_global},
      Row{Opcode::GetIndexSpaceShape, &Lowering::lower_index_space_shape},
      Row{Opcode::GetNumTileBlocks, &Lowering::lower_num_blocks},
      Row{Opcode::GetTensorShape, &Lowering::lower_tensor_shape},
      Row{Opcode::GetTileBlockId, &Lowering::lower_block_id},
      Row{Opcode::If, &Lowering::lower_if},
      Row{Opcode::IntToPtr, &Lowering::lower_alias},
      Row{Opcode::Iota, &Lowering::lower_iota},
      Row{Opcode::IToF, &Lowering::lower_integer_to_float},
      Row{Opcode::JoinTokens, &Lowering::lower_nothing},
      Row{Opcode::LoadPtrTko, &Lowering::lower_load_ptr},
      Row{Opcode::LoadViewTko, &Lowering::lower_load_view},
      Row{Opcode::Loop, &Lowering::lower_loop},
      Row{Opcode::MakeGatherScatterView, &Lowering::lower_make_tile_view},
      Row{Opcode::MakePartitionView, &Lowering::lower_make_tile_view},
      Row{Opcode::MakeStridedView, &Lowering::lower_make_tile_view},
      Row{Opcode::MakeTensorView, &Lowering::lower_make_tensor_view},
      Row{Opcode::MakeToken, &Lowering::lower_nothing},
      Row{Opcode::MmaF, &Lowering::lower_mma},
      Row{Opcode::MmaFScaled, &Lowering::lower_scaled_mma},
      Row{Opcode::MmaI, &Lowering::lower_mma},
      Row{Opcode::Offset, &Lowering::lower_offset},
      Row{Opcode::Pack, &Lowering::lower_pack},
      Row{Opcode::Permute, &Lowering::lower_permute},
      Row{Opcode::Print, &Lowering::lower_print},
      Row{Opcode::PtrToInt, &Lowering::lower_alias},
      Row{Opcode::PtrToPtr, &Lowering::lower_alias},
      Row{Opcode::Reduce, &Lowering::lower_reduce},
      Row{Opcode::Reshape, &Lowering::lower_reshape},
      Row{Opcode::Return, &Lowering::lower_return},
      Row{Opcode::Scan, &Lowering::lower_scan},
      Row{Opcode::StorePtrTko, &Lowering::lower_store_ptr},
      Row{Opcode::StoreViewTko, &Lowering::lower_store_view},
      Row{Opcode::TruncI, &Lowering::lower_integer_width},
      Row{Opcode::Unpack, &Lowering::lower_pack},
      Row{Opcode::Yield, &Lowering::lower_yield},
  };
  const auto* row = std::ranges::find(kRows, opcode, &Row::opcode);
  if (row != kRows.end()) return row->handler;
  return find_elementwise(opcode) != nullptr ? &Lowering::lower_elementwise : nullptr;
}

}  // namespace tilegym::cpu
