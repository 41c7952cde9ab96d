use crate::ffi_util::{Arg, Direction, FLOATS, Generic, Kernel, Scalar, kernel, op};

static SWIGLU: Kernel = kernel!(swiglu_module, swiglu_kernel);

op! {
    /// Gated activation of two matrices: silu(a) * b.
    swiglu(
        /// Result, [rows, n] with any strides.
        out: tensor(Direction::Out, 2, FLOATS),
        /// Gate, [rows, n] with any strides.
        a: tensor(Direction::In, 2, FLOATS),
        /// What the gate lets through, [rows, n] with any strides.
        b: tensor(Direction::In, 2, FLOATS),
        /// Columns of a tile, a power of two. Longer rows take several tile blocks.
        block_size: i32,
        /// Thread blocks per cluster; -1 is automatic.
        num_cta_in_cga: i32 = Scalar::Integer(-1),
        /// Tile blocks per multiprocessor; -1 is automatic.
        occupancy: i32 = Scalar::Integer(-1),
    ) launches [SWIGLU] |call| {
        call.expect_shape(&b, a.extents(), "as large as a")?;
        call.expect_shape(&out, a.extents(), "as large as a")?;
        call.expect_same_dtype(&b, &a)?;
        call.expect_same_dtype(&out, &a)?;
        call.expect_tile("block_size", block_size)?;
        let options = call.options(num_cta_in_cga, occupancy)?;
        if out.is_empty() {
            return Ok(());
        }
        let (rows, columns) = (out.extent(0), out.extent(1));
        call.launch(
            &SWIGLU,
            options,
            call.grid([rows, (columns as u64).div_ceil(block_size as u64) as i64, 1])?,
            [out.elem(), Generic::Int(block_size)],
            (Arg("out", out), Arg("a", a), Arg("b", b)),
        )
    }
}
