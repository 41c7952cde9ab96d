#[cutile::module]
pub mod bmm_module {
    use cutile::core::*;

    /// Row and column of tile number `tile`. Tiles are numbered so that GROUP_SIZE_M consecutive row tiles share the
    /// columns of `b` they read, which keeps both operands in cache.
    fn place_of<const GROUP_SIZE_M: i32>(tile: i32, tiles_m: i32, tiles_n: i32) -> (i32, i32) {
        let group_tiles: i32 = GROUP_SIZE_M * tiles_n;
        let group_start: i32 = (tile / group_tiles) * GROUP_SIZE_M;
        let group_rows: i32 = min(tiles_m - group_start, GROUP_SIZE_M);
        let in_group: i32 = tile % group_tiles;
        (group_start + in_group % group_rows, in_group / group_rows)
    }

    /// One tile of a batch's product: `tiles_k` steps of BK along k, summed in f32. Operands past an edge read as zero.
    fn tile_of_product<E: ElementType, const BM: i32, const BN: i32, const BK: i32, const CAST_TF32: i32>(
        a: &Tensor<E, { [-1, -1, -1] }>,
        b: &Tensor<E, { [-1, -1, -1] }>,
        batch: i32,
        tile_m: i32,
        tile_n: i32,
        tiles_k: i32,
    ) -> Tile<E, { [1, BM, BN] }> {
        let a_part: Partition<E, { [1, BM, BK] }> = a.partition(const_shape![1, BM, BK]);
        let b_part: Partition<E, { [1, BK, BN] }> = b.partition(const_shape![1, BK, BN]);
        let mut acc: Tile<f32, { [BM, BN] }> = constant(0.0f32, const_shape![BM, BN]);
        for tile_k in 0i32..tiles_k {
            let a_loaded: Tile<E, { [1, BM, BK] }> =
                load_view_tko(&a_part, [batch, tile_m, tile_k], ordering::Weak, scope::TileBlock, None, tma::Enabled);
            let b_loaded: Tile<E, { [1, BK, BN] }> =
                load_view_tko(&b_part, [batch, tile_k, tile_n], ordering::Weak, scope::TileBlock, None, tma::Enabled);
            let a_tile: Tile<E, { [BM, BK] }> = a_loaded.reshape(const_shape![BM, BK]);
            let b_tile: Tile<E, { [BK, BN] }> = b_loaded.reshape(const_shape![BK, BN]);
            if CAST_TF32 == 1i32 {
                let a_tf32: Tile<tf32, { [BM, BK] }> = convert_tile(a_tile);
                let b_tf32: Tile<tf32, { [BK, BN] }> = convert_tile(b_tile);
                acc = mmaf(a_tf32, b_tf32, acc);
            } else {
                acc = mmaf(a_tile, b_tile, acc);
            }
        }
        let narrow: Tile<E, { [BM, BN] }> = convert_tile(acc);
        let result: Tile<E, { [1, BM, BN] }> = narrow.reshape(const_shape![1, BM, BN]);
        result
    }

    /// `c[q] = a[q] @ b[q]` for every batch q, one BM x BN tile of `c` per tile block.
    ///
    /// Grid: (q * ceil(m / BM) * ceil(n / BN)), the batches one after another.
    ///
    /// # Safety
    /// The tensors describe memory that lives through the launch and have the shapes that `m`, `n` and `k` tell, and the
    /// grid is as above.
    #[cutile::entry()]
    pub unsafe fn bmm_non_persistent_kernel<
        E: ElementType,
        const BM: i32,
        const BN: i32,
        const BK: i32,
        const GROUP_SIZE_M: i32,
        const CAST_TF32: i32,
    >(
        c: &Tensor<E, { [-1, -1, -1] }>,
        a: &Tensor<E, { [-1, -1, -1] }>,
        b: &Tensor<E, { [-1, -1, -1] }>,
        m: i32,
        n: i32,
        k: i32,
    ) {
        let tiles_m: i32 = (m + BM - 1i32) / BM;
        let tiles_n: i32 = (n + BN - 1i32) / BN;
        let tiles_k: i32 = (k + BK - 1i32) / BK;
        let batch_tiles: i32 = tiles_m * tiles_n;
        let mut c_part: PartitionMut<E, { [1, BM, BN] }> = unsafe { c.partition_full_mut(const_shape![1, BM, BN]) };

        let tile: i32 = get_tile_block_id().0;
        let batch: i32 = tile / batch_tiles;
        let place: (i32, i32) = place_of::<GROUP_SIZE_M>(tile % batch_tiles, tiles_m, tiles_n);
        let result: Tile<E, { [1, BM, BN] }> =
            tile_of_product::<E, BM, BN, BK, CAST_TF32>(a, b, batch, place.0, place.1, tiles_k);
        unsafe {
            store_view_tko_mut(
                &mut c_part,
                result,
                [batch, place.0, place.1],
                ordering::Weak,
                scope::TileBlock,
                None,
                tma::Enabled,
            );
        }
    }

    /// `c[q] = a[q] @ b[q]` by a fixed number of tile blocks, each computing every grid-th tile of `c`.
    ///
    /// Grid: any positive number of blocks.
    ///
    /// # Safety
    /// The tensors describe memory that lives through the launch and have the shapes that `batches`, `m`, `n` and `k`
    /// tell.
    #[cutile::entry()]
    pub unsafe fn bmm_static_persistent_kernel<
        E: ElementType,
        const BM: i32,
        const BN: i32,
        const BK: i32,
        const GROUP_SIZE_M: i32,
        const CAST_TF32: i32,
    >(
        c: &Tensor<E, { [-1, -1, -1] }>,
        a: &Tensor<E, { [-1, -1, -1] }>,
        b: &Tensor<E, { [-1, -1, -1] }>,
        batches: i32,
        m: i32,
        n: i32,
        k: i32,
    ) {
        let tiles_m: i32 = (m + BM - 1i32) / BM;
        let tiles_n: i32 = (n + BN - 1i32) / BN;
        let tiles_k: i32 = (k + BK - 1i32) / BK;
        let batch_tiles: i32 = tiles_m * tiles_n;
        let mut c_part: PartitionMut<E, { [1, BM, BN] }> = unsafe { c.partition_full_mut(const_shape![1, BM, BN]) };

        let tiles: i32 = batch_tiles * batches;
        let first: i32 = get_tile_block_id().0;
        let step: i32 = get_num_tile_blocks().0;
        for tile in (first..tiles).step_by(step as usize) {
            let batch: i32 = tile / batch_tiles;
            let place: (i32, i32) = place_of::<GROUP_SIZE_M>(tile % batch_tiles, tiles_m, tiles_n);
            let result: Tile<E, { [1, BM, BN] }> =
                tile_of_product::<E, BM, BN, BK, CAST_TF32>(a, b, batch, place.0, place.1, tiles_k);
            unsafe {
                store_view_tko_mut(
                    &mut c_part,
                    result,
                    [batch, place.0, place.1],
                    ordering::Weak,
                    scope::TileBlock,
                    None,
                    tma::Enabled,
                );
            }
        }
    }
}
