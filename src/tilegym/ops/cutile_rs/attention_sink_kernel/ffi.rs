use crate::ffi_util::{Arg, DTypes, Direction, F32, FLOATS, Generic, I32, Kernel, Scalar, kernel, op};

static ATTENTION_SINK: Kernel = kernel!(attention_sink_module, attention_sink_kernel);

const INTEGER: DTypes = DTypes::of(&[I32]);

op! {
    /// Causal attention over grouped heads whose softmax has one sink logit a head.
    attention_sink(
        /// Result, [batches, queries, heads, groups, d] with any strides.
        out: tensor(Direction::Out, 5, FLOATS),
        /// Queries, [batches, queries, heads, groups, d] with any strides.
        q: tensor(Direction::In, 5, FLOATS),
        /// Keys, [batches, keys, heads, d] with any strides.
        k: tensor(Direction::In, 4, FLOATS),
        /// Values, [batches, keys, heads, d] with any strides.
        v: tensor(Direction::In, 4, FLOATS),
        /// Sink logits, [heads * groups], before scaling by log2(e).
        sinks: tensor(Direction::In, 1, FLOATS),
        /// Position of the first query among the keys, [1]; empty: start_q is it.
        start: tensor(Direction::In, 1, INTEGER),
        /// Position of the first query where start is empty.
        start_q: i32 = Scalar::Integer(0),
        /// Keys a query sees, itself included; 0: all before it.
        window: i32 = Scalar::Integer(0),
        /// Factor of the products before the softmax.
        scale: f32,
        /// Queries of a tile, a power of two.
        tile_m: i32,
        /// Keys of a tile, a power of two.
        tile_n: i32,
        /// Thread blocks per cluster; -1 is automatic.
        num_cta_in_cga: i32 = Scalar::Integer(-1),
        /// Tile blocks per multiprocessor; -1 is automatic.
        occupancy: i32 = Scalar::Integer(-1),
        /// 1: f32 operands are rounded to tf32 before they are multiplied. 0: multiplied as they are.
        allow_tf32: i32 = Scalar::Integer(0),
    ) launches [ATTENTION_SINK] |call| {
        let (batches, queries, heads, groups, d) = (q.extent(0), q.extent(1), q.extent(2), q.extent(3), q.extent(4));
        let keys = k.extent(1);
        call.expect_shape(&out, q.extents(), "as large as q")?;
        call.expect_shape(&k, &[batches, keys, heads, d], "batches, heads and depth of q")?;
        call.expect_shape(&v, k.extents(), "as large as k")?;
        call.expect_shape(&sinks, &[heads.saturating_mul(groups)], "one per head of q")?;
        let in_memory = !start.is_empty();
        if in_memory {
            call.expect_shape(&start, &[1], "one position")?;
        }
        call.expect_same_dtype(&out, &q)?;
        call.expect_same_dtype(&k, &q)?;
        call.expect_same_dtype(&v, &q)?;
        call.expect_same_dtype(&sinks, &q)?;
        call.expect_tile("tile_m", tile_m)?;
        call.expect_tile("tile_n", tile_n)?;
        let options = call.options(num_cta_in_cga, occupancy)?;
        if out.is_empty() {
            return Ok(());
        }
        let tile_d = (call.to_i32("argument q: its depth", d)? as u32).next_power_of_two() as i32;
        // Positions are 32-bit in the kernel, and rounded up to whole tiles.
        let last = keys.max(i64::from(start_q.max(0)).saturating_add(queries));
        call.to_i32("the last position", last.saturating_add(i64::from(tile_m)).saturating_add(i64::from(tile_n)))?;
        let tiles = (queries as u64).div_ceil(tile_m as u64) as i64;
        call.launch(
            &ATTENTION_SINK,
            options,
            call.grid([tiles, heads.saturating_mul(groups), batches])?,
            [
                q.elem(),
                Generic::Int(tile_m),
                Generic::Int(tile_n),
                Generic::Int(tile_d),
                Generic::Int(i32::from(q.dtype() == F32 && allow_tf32 != 0)),
                Generic::Int(i32::from(in_memory)),
            ],
            (
                Arg("out", out),
                Arg("q", q),
                Arg("k", k),
                Arg("v", v),
                Arg("sinks", sinks),
                Arg("start_ptr", start.pointer()),
                Arg("start_q", start_q),
                Arg("keys", call.to_i32("argument k: its keys", keys)?),
                Arg("groups", call.to_i32("argument q: its groups", groups)?),
                Arg("window", window),
                Arg("log2_scale", scale * std::f32::consts::LOG2_E),
            ),
        )
    }
}
