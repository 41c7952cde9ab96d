#[cutile::module]
pub mod swiglu_module {
    use cutile::core::*;

    /// `out[r, c] = silu(a[r, c]) * b[r, c]`, BLOCK columns of one row per tile block.
    ///
    /// Grid: (rows, ceil(n / BLOCK)). The three matrices have any strides.
    ///
    /// # Safety
    /// The tensors describe memory that lives through the launch, and have the same shape.
    #[cutile::entry()]
    pub unsafe fn swiglu_kernel<E: ElementType, const BLOCK: i32>(
        out: &Tensor<E, { [-1, -1] }>,
        a: &Tensor<E, { [-1, -1] }>,
        b: &Tensor<E, { [-1, -1] }>,
    ) {
        let block: (i32, i32, i32) = get_tile_block_id();
        let a_part: Partition<E, { [1, BLOCK] }> = a.partition(const_shape![1, BLOCK]);
        let b_part: Partition<E, { [1, BLOCK] }> = b.partition(const_shape![1, BLOCK]);
        let a_tile: Tile<E, { [1, BLOCK] }> =
            load_view_tko(&a_part, [block.0, block.1], ordering::Weak, scope::TileBlock, None, tma::Enabled);
        let b_tile: Tile<E, { [1, BLOCK] }> =
            load_view_tko(&b_part, [block.0, block.1], ordering::Weak, scope::TileBlock, None, tma::Enabled);

        // In half precision the activation is rounded to E before the product, as separate silu and mul would.
        let gate: Tile<f32, { [1, BLOCK] }> = convert_tile(a_tile);
        let up: Tile<f32, { [1, BLOCK] }> = convert_tile(b_tile);
        let one: Tile<f32, { [1, BLOCK] }> = constant(1.0f32, const_shape![1, BLOCK]);
        let activation: Tile<f32, { [1, BLOCK] }> = gate / (one + exp(negf(gate)));
        let rounded: Tile<E, { [1, BLOCK] }> = convert_tile(activation);
        let widened: Tile<f32, { [1, BLOCK] }> = convert_tile(rounded);
        let result: Tile<E, { [1, BLOCK] }> = convert_tile(widened * up);

        let mut out_part: PartitionMut<E, { [1, BLOCK] }> = unsafe { out.partition_full_mut(const_shape![1, BLOCK]) };
        unsafe {
            store_view_tko_mut(
                &mut out_part,
                result,
                [block.0, block.1],
                ordering::Weak,
                scope::TileBlock,
                None,
                tma::Enabled,
            );
        }
    }
}
