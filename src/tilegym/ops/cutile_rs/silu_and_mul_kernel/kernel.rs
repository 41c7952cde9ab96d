#[cutile::module]
pub mod silu_and_mul_module {
    use cutile::core::*;

    /// `out[r, c] = silu(inp[r, c]) * inp[r, hidden + c]`, BLOCK columns of one row per tile block.
    ///
    /// Grid: (rows, ceil(hidden / BLOCK)). Columns are contiguous; rows are `inp_row_stride` and `out_row_stride`
    /// elements apart. Row offsets are 64-bit, since rows * stride exceeds 32 bits for large activations.
    ///
    /// # Safety
    /// Both pointers lead to such rows, as many as the grid has, which live through the launch.
    #[cutile::entry()]
    pub unsafe fn silu_and_mul_kernel<E: ElementType, const BLOCK: i32>(
        out_ptr: *mut E,
        inp_ptr: *mut E,
        hidden: i32,
        inp_row_stride: i32,
        out_row_stride: i32,
    ) {
        let block: (i32, i32, i32) = get_tile_block_id();
        let row: Tile<i64, { [] }> = exti(scalar_to_tile::<i32>(block.0));
        let inp_step: Tile<i64, { [] }> = exti(scalar_to_tile::<i32>(inp_row_stride));
        let out_step: Tile<i64, { [] }> = exti(scalar_to_tile::<i32>(out_row_stride));

        let first_column: Tile<i32, { [BLOCK] }> = broadcast_scalar(block.1 * BLOCK, const_shape![BLOCK]);
        let lanes: Tile<i32, { [BLOCK] }> = iota(const_shape![BLOCK]);
        let columns: Tile<i32, { [BLOCK] }> = first_column + lanes;
        let end: Tile<i32, { [BLOCK] }> = broadcast_scalar(hidden, const_shape![BLOCK]);
        let inside: Tile<bool, { [BLOCK] }> = lt_tile(columns, end);

        let inp_base: PointerTile<*mut E, { [] }> = pointer_to_tile(inp_ptr);
        let gate_row: PointerTile<*mut E, { [] }> = inp_base.offset_tile(row * inp_step);
        let up_row: PointerTile<*mut E, { [] }> = gate_row.offset(hidden);
        let gate_first: PointerTile<*mut E, { [1] }> = gate_row.reshape(const_shape![1]);
        let up_first: PointerTile<*mut E, { [1] }> = up_row.reshape(const_shape![1]);
        let gate_lanes: PointerTile<*mut E, { [BLOCK] }> = gate_first.broadcast(const_shape![BLOCK]);
        let up_lanes: PointerTile<*mut E, { [BLOCK] }> = up_first.broadcast(const_shape![BLOCK]);
        let gate_ptrs: PointerTile<*mut E, { [BLOCK] }> = gate_lanes.offset_tile(columns);
        let up_ptrs: PointerTile<*mut E, { [BLOCK] }> = up_lanes.offset_tile(columns);
        let (gate_loaded, _gate_token): (Tile<E, { [BLOCK] }>, Token) = load_ptr_tko(
            gate_ptrs,
            ordering::Weak,
            None::<scope::TileBlock>,
            Some(inside),
            None::<E>,
            None::<Token>,
            Latency::<3>,
        );
        let (up_loaded, _up_token): (Tile<E, { [BLOCK] }>, Token) = load_ptr_tko(
            up_ptrs,
            ordering::Weak,
            None::<scope::TileBlock>,
            Some(inside),
            None::<E>,
            None::<Token>,
            Latency::<3>,
        );

        // In half precision the activation is rounded to E before the product, as separate silu and mul would.
        let gate: Tile<f32, { [BLOCK] }> = convert_tile(gate_loaded);
        let up: Tile<f32, { [BLOCK] }> = convert_tile(up_loaded);
        let one: Tile<f32, { [BLOCK] }> = constant(1.0f32, const_shape![BLOCK]);
        let activation: Tile<f32, { [BLOCK] }> = gate / (one + exp(negf(gate)));
        let rounded: Tile<E, { [BLOCK] }> = convert_tile(activation);
        let widened: Tile<f32, { [BLOCK] }> = convert_tile(rounded);
        let result: Tile<E, { [BLOCK] }> = convert_tile(widened * up);

        let out_base: PointerTile<*mut E, { [] }> = pointer_to_tile(out_ptr);
        let out_row: PointerTile<*mut E, { [] }> = out_base.offset_tile(row * out_step);
        let out_first: PointerTile<*mut E, { [1] }> = out_row.reshape(const_shape![1]);
        let out_lanes: PointerTile<*mut E, { [BLOCK] }> = out_first.broadcast(const_shape![BLOCK]);
        let out_ptrs: PointerTile<*mut E, { [BLOCK] }> = out_lanes.offset_tile(columns);
        let _stored: Token = store_ptr_tko(
            out_ptrs,
            result,
            ordering::Weak,
            None::<scope::TileBlock>,
            Some(inside),
            None::<Token>,
            Latency::<3>,
        );
    }
}
