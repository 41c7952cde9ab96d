#[cutile::module]
pub mod attention_sink_module {
    use cutile::core::*;

    /// Causal attention with one learned sink a head: every row's softmax has one more logit, which carries no value.
    ///
    /// `out[b, i, h, g] = sum_j p[i, j] v[b, j, h]`, `p[i, j] = exp(s[i, j]) / (sum_j exp(s[i, j]) + exp(sinks[h, g]))`,
    /// `s[i, j] = scale * dot(q[b, i, h, g], k[b, j, h])` over the keys `j <= start + i`, and `j > start + i - window`
    /// where `window` is not 0.
    ///
    /// Grid: (ceil(queries / TILE_M), heads * groups, batches). `q` and `out` are [batches, queries, heads, groups, d],
    /// `k` and `v` [batches, keys, heads, d], `sinks` [heads * groups]; d <= TILE_D, whose lanes past d read as zero.
    /// `start` is `start_q`, or what lies at `start_ptr` where START_IN_MEMORY is 1. One pass over the keys keeps a
    /// running maximum, a running sum and the unscaled result, in powers of two: `log2_scale` is `scale * log2(e)`.
    ///
    /// # Safety
    /// The tensors describe memory that lives through the launch and have the shapes above, and `start_ptr` leads to an
    /// i32 where it is read.
    #[cutile::entry()]
    pub unsafe fn attention_sink_kernel<
        E: ElementType,
        const TILE_M: i32,
        const TILE_N: i32,
        const TILE_D: i32,
        const CAST_TF32: i32,
        const START_IN_MEMORY: i32,
    >(
        out: &Tensor<E, { [-1, -1, -1, -1, -1] }>,
        q: &Tensor<E, { [-1, -1, -1, -1, -1] }>,
        k: &Tensor<E, { [-1, -1, -1, -1] }>,
        v: &Tensor<E, { [-1, -1, -1, -1] }>,
        sinks: &Tensor<E, { [-1] }>,
        start_ptr: *mut i32,
        start_q: i32,
        keys: i32,
        groups: i32,
        window: i32,
        log2_scale: f32,
    ) {
        let block: (i32, i32, i32) = get_tile_block_id();
        let head: i32 = block.1 / groups;
        let group: i32 = block.1 % groups;
        let start: i32 = if START_IN_MEMORY == 1i32 {
            let start_at: PointerTile<*mut i32, { [] }> = pointer_to_tile(start_ptr);
            let (start_tile, _start_token): (Tile<i32, { [] }>, Token) = load_ptr_tko(
                start_at,
                ordering::Weak,
                None::<scope::TileBlock>,
                None,
                None::<i32>,
                None::<Token>,
                Latency::<0>,
            );
            tile_to_scalar(start_tile)
        } else {
            start_q
        };

        let q_part: Partition<E, { [1, TILE_M, 1, 1, TILE_D] }> = q.partition(const_shape![1, TILE_M, 1, 1, TILE_D]);
        let q_loaded: Tile<E, { [1, TILE_M, 1, 1, TILE_D] }> = load_view_tko(
            &q_part,
            [block.2, block.0, head, group, 0i32],
            ordering::Weak,
            scope::TileBlock,
            None,
            tma::Enabled,
        );
        let q_tile: Tile<E, { [TILE_M, TILE_D] }> = q_loaded.reshape(const_shape![TILE_M, TILE_D]);
        let k_part: Partition<E, { [1, TILE_D, 1, TILE_N] }> =
            k.partition_permuted(const_shape![1, TILE_D, 1, TILE_N], const_array![0, 3, 2, 1]);
        let v_part: Partition<E, { [1, TILE_N, 1, TILE_D] }> = v.partition(const_shape![1, TILE_N, 1, TILE_D]);

        let sink_part: Partition<E, { [1] }> = sinks.partition(const_shape![1]);
        let sink_loaded: Tile<E, { [1] }> =
            load_view_tko(&sink_part, [block.1], ordering::Weak, scope::TileBlock, None, tma::Enabled);
        let sink_wide: Tile<f32, { [1] }> = convert_tile(sink_loaded);
        let log2_e: Tile<f32, { [1] }> = constant(1.442_695_f32, const_shape![1]);
        let sink: Tile<f32, { [TILE_M, 1] }> =
            (sink_wide * log2_e).reshape(const_shape![1, 1]).broadcast(const_shape![TILE_M, 1]);

        let first_row: i32 = start + block.0 * TILE_M;
        let row_lanes: Tile<i32, { [TILE_M] }> = iota(const_shape![TILE_M]);
        let rows: Tile<i32, { [TILE_M] }> = row_lanes + broadcast_scalar(first_row, const_shape![TILE_M]);
        let row_of: Tile<i32, { [TILE_M, TILE_N] }> =
            rows.reshape(const_shape![TILE_M, 1]).broadcast(const_shape![TILE_M, TILE_N]);
        let reach: i32 = if window > 0i32 { window } else { 2_147_483_647i32 };
        let key_lanes: Tile<i32, { [TILE_N] }> = iota(const_shape![TILE_N]);
        let all_keys: Tile<i32, { [TILE_M, TILE_N] }> = broadcast_scalar(keys, const_shape![TILE_M, TILE_N]);
        let reach_of: Tile<i32, { [TILE_M, TILE_N] }> = broadcast_scalar(reach, const_shape![TILE_M, TILE_N]);

        // Key tiles that some row of this block sees: from the first row's window to the last row itself.
        let end: i32 = max(min(first_row + TILE_M, keys), 0i32);
        let begin: i32 = if window > 0i32 { max(first_row - window + 1i32, 0i32) } else { 0i32 };
        let first_tile: i32 = begin / TILE_N;
        let end_tile: i32 = (end + TILE_N - 1i32) / TILE_N;

        let minus_infinity: Tile<f32, { [TILE_M, TILE_N] }> = constant(f32::NEG_INFINITY, const_shape![TILE_M, TILE_N]);
        let scale_of: Tile<f32, { [TILE_M, TILE_N] }> = broadcast_scalar(log2_scale, const_shape![TILE_M, TILE_N]);
        // The lowest finite value where the sink is -inf: a tile of hidden keys would otherwise compute -inf - -inf.
        let lowest: Tile<f32, { [TILE_M, 1] }> = constant(-3.402_823_5e38f32, const_shape![TILE_M, 1]);
        let mut running_max: Tile<f32, { [TILE_M, 1] }> = max_tile(sink, lowest);
        let mut running_sum: Tile<f32, { [TILE_M, 1] }> = exp2(sink - running_max, ftz::Disabled);
        let mut acc: Tile<f32, { [TILE_M, TILE_D] }> = constant(0.0f32, const_shape![TILE_M, TILE_D]);
        for tile in first_tile..end_tile {
            let k_loaded: Tile<E, { [1, TILE_D, 1, TILE_N] }> = load_view_tko(
                &k_part,
                [block.2, 0i32, head, tile],
                ordering::Weak,
                scope::TileBlock,
                None,
                tma::Enabled,
            );
            let k_tile: Tile<E, { [TILE_D, TILE_N] }> = k_loaded.reshape(const_shape![TILE_D, TILE_N]);
            let mut scores: Tile<f32, { [TILE_M, TILE_N] }> = constant(0.0f32, const_shape![TILE_M, TILE_N]);
            if CAST_TF32 == 1i32 {
                let q_tf32: Tile<tf32, { [TILE_M, TILE_D] }> = convert_tile(q_tile);
                let k_tf32: Tile<tf32, { [TILE_D, TILE_N] }> = convert_tile(k_tile);
                scores = mmaf(q_tf32, k_tf32, scores);
            } else {
                scores = mmaf(q_tile, k_tile, scores);
            }

            let tile_keys: Tile<i32, { [TILE_N] }> = key_lanes + broadcast_scalar(tile * TILE_N, const_shape![TILE_N]);
            let key_of: Tile<i32, { [TILE_M, TILE_N] }> =
                tile_keys.reshape(const_shape![1, TILE_N]).broadcast(const_shape![TILE_M, TILE_N]);
            let causal: Tile<bool, { [TILE_M, TILE_N] }> = le_tile(key_of, row_of);
            let near: Tile<bool, { [TILE_M, TILE_N] }> = lt_tile(row_of - key_of, reach_of);
            let there: Tile<bool, { [TILE_M, TILE_N] }> = lt_tile(key_of, all_keys);
            let seen: Tile<bool, { [TILE_M, TILE_N] }> = causal & near & there;
            let logits: Tile<f32, { [TILE_M, TILE_N] }> = select(seen, scores * scale_of, minus_infinity);

            let tile_max: Tile<f32, { [TILE_M] }> = reduce_max(logits, 1i32);
            let new_max: Tile<f32, { [TILE_M, 1] }> = max_tile(running_max, tile_max.reshape(const_shape![TILE_M, 1]));
            let powers: Tile<f32, { [TILE_M, TILE_N] }> =
                exp2(logits - new_max.broadcast(const_shape![TILE_M, TILE_N]), ftz::Disabled);
            let tile_sum: Tile<f32, { [TILE_M] }> = reduce_sum(powers, 1i32);
            let shrink: Tile<f32, { [TILE_M, 1] }> = exp2(running_max - new_max, ftz::Disabled);
            running_sum = running_sum * shrink + tile_sum.reshape(const_shape![TILE_M, 1]);
            running_max = new_max;
            acc = acc * shrink.broadcast(const_shape![TILE_M, TILE_D]);

            let v_loaded: Tile<E, { [1, TILE_N, 1, TILE_D] }> = load_view_tko(
                &v_part,
                [block.2, tile, head, 0i32],
                ordering::Weak,
                scope::TileBlock,
                None,
                tma::Enabled,
            );
            let v_tile: Tile<E, { [TILE_N, TILE_D] }> = v_loaded.reshape(const_shape![TILE_N, TILE_D]);
            let weights: Tile<E, { [TILE_M, TILE_N] }> = convert_tile(powers);
            if CAST_TF32 == 1i32 {
                let p_tf32: Tile<tf32, { [TILE_M, TILE_N] }> = convert_tile(weights);
                let v_tf32: Tile<tf32, { [TILE_N, TILE_D] }> = convert_tile(v_tile);
                acc = mmaf(p_tf32, v_tf32, acc);
            } else {
                acc = mmaf(weights, v_tile, acc);
            }
        }

        let one: Tile<f32, { [TILE_M, 1] }> = constant(1.0f32, const_shape![TILE_M, 1]);
        let norm: Tile<f32, { [TILE_M, TILE_D] }> = (one / running_sum).broadcast(const_shape![TILE_M, TILE_D]);
        let narrow: Tile<E, { [TILE_M, TILE_D] }> = convert_tile(acc * norm);
        let result: Tile<E, { [1, TILE_M, 1, 1, TILE_D] }> = narrow.reshape(const_shape![1, TILE_M, 1, 1, TILE_D]);
        let mut out_part: PartitionMut<E, { [1, TILE_M, 1, 1, TILE_D] }> =
            unsafe { out.partition_full_mut(const_shape![1, TILE_M, 1, 1, TILE_D]) };
        unsafe {
            store_view_tko_mut(
                &mut out_part,
                result,
                [block.2, block.0, head, group, 0i32],
                ordering::Weak,
                scope::TileBlock,
                None,
                tma::Enabled,
            );
        }
    }
}
