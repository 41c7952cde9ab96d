#[cutile::module]
pub mod matmul_module {
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

    /// One tile of the product: `tiles_k` steps of BK along k, summed in f32. Operands past an edge read as zero.
    fn tile_of_product<E: ElementType, const BM: i32, const BN: i32, const BK: i32, const CAST_TF32: i32>(
        a: &Tensor<E, { [-1, -1] }>,
        b: &Tensor<E, { [-1, -1] }>,
        tile_m: i32,
        tile_n: i32,
        tiles_k: i32,
    ) -> Tile<E, { [BM, BN] }> {
        let a_part: Partition<E, { [BM, BK] }> = a.partition(const_shape![BM, BK]);
        let b_part: Partition<E, { [BK, BN] }> = b.partition(const_shape![BK, BN]);
        let mut acc: Tile<f32, { [BM, BN] }> = constant(0.0f32, const_shape![BM, BN]);
        for tile_k in 0i32..tiles_k {
            let a_tile: Tile<E, { [BM, BK] }> =
                load_view_tko(&a_part, [tile_m, tile_k], ordering::Weak, scope::TileBlock, None, tma::Enabled);
            let b_tile: Tile<E, { [BK, BN] }> =
                load_view_tko(&b_part, [tile_k, tile_n], ordering::Weak, scope::TileBlock, None, tma::Enabled);
            if CAST_TF32 == 1i32 {
                let a_tf32: Tile<tf32, { [BM, BK] }> = convert_tile(a_tile);
                let b_tf32: Tile<tf32, { [BK, BN] }> = convert_tile(b_tile);
                acc = mmaf(a_tf32, b_tf32, acc);
            } else {
                acc = mmaf(a_tile, b_tile, acc);
            }
        }
        let result: Tile<E, { [BM, BN] }> = convert_tile(acc);
        result
    }

    /// `c = a @ b`, one BM x BN tile of `c` per tile block.
    ///
    /// Grid: (ceil(m / BM) * ceil(n / BN)).
    ///
    /// # Safety
    /// The tensors describe memory that lives through the launch, their shapes match, and the grid is as above.
    #[cutile::entry()]
    pub unsafe fn matmul_non_persistent_kernel<
        E: ElementType,
        const BM: i32,
        const BN: i32,
        const BK: i32,
        const GROUP_SIZE_M: i32,
        const CAST_TF32: i32,
    >(
        c: &Tensor<E, { [-1, -1] }>,
        a: &Tensor<E, { [-1, -1] }>,
        b: &Tensor<E, { [-1, -1] }>,
    ) {
        let a_part: Partition<E, { [BM, BK] }> = a.partition(const_shape![BM, BK]);
        let b_part: Partition<E, { [BK, BN] }> = b.partition(const_shape![BK, BN]);
        let tiles_m: i32 = num_tiles(&a_part, 0i32);
        let tiles_k: i32 = num_tiles(&a_part, 1i32);
        let tiles_n: i32 = num_tiles(&b_part, 1i32);
        let mut c_part: PartitionMut<E, { [BM, BN] }> = unsafe { c.partition_full_mut(const_shape![BM, BN]) };

        let place: (i32, i32) = place_of::<GROUP_SIZE_M>(get_tile_block_id().0, tiles_m, tiles_n);
        let result: Tile<E, { [BM, BN] }> =
            tile_of_product::<E, BM, BN, BK, CAST_TF32>(a, b, place.0, place.1, tiles_k);
        unsafe {
            store_view_tko_mut(
                &mut c_part,
                result,
                [place.0, place.1],
                ordering::Weak,
                scope::TileBlock,
                None,
                tma::Enabled,
            );
        }
    }

    /// `c = a @ b` by a fixed number of tile blocks, each computing every grid-th tile of `c`.
    ///
    /// Grid: any positive number of blocks.
    ///
    /// # Safety
    /// The tensors describe memory that lives through the launch and have the shapes that `m`, `n` and `k` tell.
    #[cutile::entry()]
    pub unsafe fn matmul_static_persistent_kernel<
        E: ElementType,
        const BM: i32,
        const BN: i32,
        const BK: i32,
        const GROUP_SIZE_M: i32,
        const CAST_TF32: i32,
    >(
        c: &Tensor<E, { [-1, -1] }>,
        a: &Tensor<E, { [-1, -1] }>,
        b: &Tensor<E, { [-1, -1] }>,
        m: i32,
        n: i32,
        k: i32,
    ) {
        let tiles_m: i32 = (m + BM - 1i32) / BM;
        let tiles_n: i32 = (n + BN - 1i32) / BN;
        let tiles_k: i32 = (k + BK - 1i32) / BK;
        let tiles: i32 = tiles_m * tiles_n;
        let mut c_part: PartitionMut<E, { [BM, BN] }> = unsafe { c.partition_full_mut(const_shape![BM, BN]) };

        let first: i32 = get_tile_block_id().0;
        let step: i32 = get_num_tile_blocks().0;
        for tile in (first..tiles).step_by(step as usize) {
            let place: (i32, i32) = place_of::<GROUP_SIZE_M>(tile, tiles_m, tiles_n);
            let result: Tile<E, { [BM, BN] }> =
                tile_of_product::<E, BM, BN, BK, CAST_TF32>(a, b, place.0, place.1, tiles_k);
            unsafe {
                store_view_tko_mut(
                    &mut c_part,
                    result,
                    [place.0, place.1],
                    ordering::Weak,
                    scope::TileBlock,
                    None,
                    tma::Enabled,
                );
            }
        }
    }
}
