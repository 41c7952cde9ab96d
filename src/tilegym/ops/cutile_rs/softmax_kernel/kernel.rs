#[cutile::module]
pub mod softmax_module {
    use cutile::core::*;

    /// Softmax of one row per tile block, for rows that fit one tile.
    ///
    /// Grid: (rows). `x` and `out` are `[rows, n]` with any strides and `n <= BLOCK`. Lanes past the row's end read
    /// as -inf: they never win the maximum and add nothing to the sum.
    ///
    /// # Safety
    /// `out` and `x` describe memory that lives through the launch, have the same shape, and are no wider than BLOCK.
    #[cutile::entry()]
    pub unsafe fn softmax_single_tile_kernel<E: ElementType, const BLOCK: i32>(
        out: &Tensor<E, { [-1, -1] }>,
        x: &Tensor<E, { [-1, -1] }>,
    ) {
        let row: i32 = get_tile_block_id().0;
        let x_part: Partition<E, { [1, BLOCK] }> =
            make_partition_view(x, const_shape![1, BLOCK], padding::NegInf, dim_map::Identity, get_tensor_token(x));
        let loaded: Tile<E, { [1, BLOCK] }> =
            load_view_tko(&x_part, [row, 0i32], ordering::Weak, scope::TileBlock, None, tma::Enabled);
        let values: Tile<f32, { [1, BLOCK] }> = convert_tile(loaded);

        let row_max: Tile<f32, { [1] }> = reduce_max(values, 1i32);
        let shift: Tile<f32, { [1, BLOCK] }> = row_max.reshape(const_shape![1, 1]).broadcast(const_shape![1, BLOCK]);
        let powers: Tile<f32, { [1, BLOCK] }> = exp(values - shift);
        let row_sum: Tile<f32, { [1] }> = reduce_sum(powers, 1i32);

        // One division a row: the rounding of the reciprocal costs at most one more ulp than dividing every lane.
        let one: Tile<f32, { [1] }> = constant(1.0f32, const_shape![1]);
        let scale: Tile<f32, { [1, BLOCK] }> =
            (one / row_sum).reshape(const_shape![1, 1]).broadcast(const_shape![1, BLOCK]);
        let result: Tile<E, { [1, BLOCK] }> = convert_tile(powers * scale);

        let mut out_part: PartitionMut<E, { [1, BLOCK] }> = unsafe { out.partition_full_mut(const_shape![1, BLOCK]) };
        unsafe {
            store_view_tko_mut(
                &mut out_part,
                result,
                [row, 0i32],
                ordering::Weak,
                scope::TileBlock,
                None,
                tma::Enabled,
            );
        }
    }

    /// Softmax of one row per tile block, for rows of any length, in chunks of BLOCK columns.
    ///
    /// Grid: (rows). The first pass keeps a running maximum and a sum that is rescaled whenever the maximum grows;
    /// the second pass writes. The row is read twice and never held as a whole.
    ///
    /// # Safety
    /// `out` and `x` describe memory that lives through the launch and have the same shape.
    #[cutile::entry()]
    pub unsafe fn softmax_chunked_kernel<E: ElementType, const BLOCK: i32>(
        out: &Tensor<E, { [-1, -1] }>,
        x: &Tensor<E, { [-1, -1] }>,
    ) {
        let row: i32 = get_tile_block_id().0;
        let x_part: Partition<E, { [1, BLOCK] }> =
            make_partition_view(x, const_shape![1, BLOCK], padding::NegInf, dim_map::Identity, get_tensor_token(x));
        let chunks: i32 = num_tiles(&x_part, 1i32);

        // The lowest finite value, not -inf: a chunk of nothing but -inf would otherwise compute -inf - -inf. A whole
        // row of -inf still ends as 0 * (1 / 0), which is NaN.
        let mut running_max: Tile<f32, { [1] }> = constant(-3.402_823_5e38f32, const_shape![1]);
        let mut running_sum: Tile<f32, { [1] }> = constant(0.0f32, const_shape![1]);
        for chunk in 0i32..chunks {
            let loaded: Tile<E, { [1, BLOCK] }> =
                load_view_tko(&x_part, [row, chunk], ordering::Weak, scope::TileBlock, None, tma::Enabled);
            let values: Tile<f32, { [1, BLOCK] }> = convert_tile(loaded);
            let chunk_max: Tile<f32, { [1] }> = reduce_max(values, 1i32);
            let new_max: Tile<f32, { [1] }> = max_tile(running_max, chunk_max);
            let shift: Tile<f32, { [1, BLOCK] }> =
                new_max.reshape(const_shape![1, 1]).broadcast(const_shape![1, BLOCK]);
            let powers: Tile<f32, { [1, BLOCK] }> = exp(values - shift);
            let chunk_sum: Tile<f32, { [1] }> = reduce_sum(powers, 1i32);
            running_sum = running_sum * exp(running_max - new_max) + chunk_sum;
            running_max = new_max;
        }

        let one: Tile<f32, { [1] }> = constant(1.0f32, const_shape![1]);
        let scale: Tile<f32, { [1, BLOCK] }> =
            (one / running_sum).reshape(const_shape![1, 1]).broadcast(const_shape![1, BLOCK]);
        let shift: Tile<f32, { [1, BLOCK] }> =
            running_max.reshape(const_shape![1, 1]).broadcast(const_shape![1, BLOCK]);
        let mut out_part: PartitionMut<E, { [1, BLOCK] }> = unsafe { out.partition_full_mut(const_shape![1, BLOCK]) };
        for chunk in 0i32..chunks {
            let loaded: Tile<E, { [1, BLOCK] }> =
                load_view_tko(&x_part, [row, chunk], ordering::Weak, scope::TileBlock, None, tma::Enabled);
            let values: Tile<f32, { [1, BLOCK] }> = convert_tile(loaded);
            let powers: Tile<f32, { [1, BLOCK] }> = exp(values - shift);
            let result: Tile<E, { [1, BLOCK] }> = convert_tile(powers * scale);
            unsafe {
                store_view_tko_mut(
                    &mut out_part,
                    result,
                    [row, chunk],
                    ordering::Weak,
                    scope::TileBlock,
                    None,
                    tma::Enabled,
                );
            }
        }
    }
}
