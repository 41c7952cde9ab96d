#pragma once

#include "tile_ir/verify_context.h"

/// The checks that verify_rules.def names. Each runs where the type classes and relations of its row hold.
namespace tilegym::tile_ir {

// verify_assume.cpp
void check_assumption(OpCheck& check);

// verify_attributes.cpp
void check_atomic_mode(OpCheck& check);
void check_compare_and_swap(OpCheck& check);
void check_format(OpCheck& check);
void check_global_use(OpCheck& check);
void check_scope(OpCheck& check);

// verify_hints.cpp
void check_hints(OpCheck& check);

// verify_mma.cpp
void check_mma_elements(OpCheck& check);
void check_mma_shapes(OpCheck& check);
void check_scales(OpCheck& check);

// verify_numbers.cpp
void check_alloca(OpCheck& check);
void check_bitcast(OpCheck& check);
void check_extension(OpCheck& check);
void check_float_conversion(OpCheck& check);
void check_integer_division(OpCheck& check);
void check_integer_to_float(OpCheck& check);
void check_iota(OpCheck& check);
void check_packing(OpCheck& check);
void check_select(OpCheck& check);
void check_truncation(OpCheck& check);

// verify_reductions.cpp
void check_reduce(OpCheck& check);
void check_scan(OpCheck& check);

// verify_regions.cpp
void check_break(OpCheck& check);
void check_continue(OpCheck& check);
void check_for(OpCheck& check);
void check_if(OpCheck& check);
void check_loop(OpCheck& check);
void check_return(OpCheck& check);

// verify_shapes.cpp
void check_broadcast(OpCheck& check);
void check_cat(OpCheck& check);
void check_extract(OpCheck& check);
void check_join(OpCheck& check);
void check_permute(OpCheck& check);
void check_reshape(OpCheck& check);

// verify_views.cpp
void check_shape_results(OpCheck& check);
void check_tensor_view(OpCheck& check);
void check_view_load(OpCheck& check);
void check_view_of_tensor(OpCheck& check);
void check_view_reduction(OpCheck& check);
void check_view_store(OpCheck& check);

}  // namespace tilegym::tile_ir
