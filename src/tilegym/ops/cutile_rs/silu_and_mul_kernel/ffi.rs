use crate::ffi_util::{Arg, Direction, FLOATS, Generic, Kernel, Scalar, kernel, op};

static SILU_AND_MUL: Kernel = kernel!(silu_and_mul_module, silu_and_mul_kernel);

op! {
    /// Gated activation: the SiLU of each row's first half times its second half.
    silu_and_mul(
        /// Result, [rows, hidden] with stride 1 in the last dimension.
        out: tensor(Direction::Out, 2, FLOATS),
        /// Input, [rows, 2 * hidden] with stride 1 in the last dimension.
        inp: tensor(Direction::In, 2, FLOATS),
        /// Columns of a tile, a power of two. Longer rows take several tile blocks.
        block_size: i32,
        /// Thread blocks per cluster; -1 is automatic.
        num_cta_in_cga: i32 = Scalar::Integer(-1),
        /// Tile blocks per multiprocessor; -1 is automatic.
        occupancy: i32 = Scalar::Integer(-1),
    ) launches [SILU_AND_MUL] |call| {
        let (rows, hidden) = (out.extent(0), out.extent(1));
        call.expect_shape(&inp, &[rows, hidden.saturating_mul(2)], "twice as wide as out")?;
        call.expect_same_dtype(&out, &inp)?;
        call.expect_contiguous(&out, 1)?;
        call.expect_contiguous(&inp, 1)?;
        call.expect_tile("block_size", block_size)?;
        let options = call.options(num_cta_in_cga, occupancy)?;
        if out.is_empty() {
            return Ok(());
        }
        // The kernel's column numbers, of whole tiles, are 32-bit.
        call.to_i32("argument inp: its width", inp.extent(1))?;
        call.launch(
            &SILU_AND_MUL,
            options,
            call.grid([rows, (hidden as u64).div_ceil(block_size as u64) as i64, 1])?,
            [out.elem(), Generic::Int(block_size)],
            (
                Arg("out_ptr", out.pointer()),
                Arg("inp_ptr", inp.pointer()),
                Arg("hidden", call.to_i32("argument out: its width", hidden)?),
                Arg("inp_row_stride", call.row_stride(&inp)?),
                Arg("out_row_stride", call.row_stride(&out)?),
            ),
        )
    }
}
