use crate::ffi_util::{Arg, Direction, FLOATS, Generic, Kernel, Scalar, kernel, op};

static SINGLE_TILE: Kernel = kernel!(softmax_module, softmax_single_tile_kernel);
static CHUNKED: Kernel = kernel!(softmax_module, softmax_chunked_kernel);

op! {
    /// Softmax over the last dimension of a matrix, computed in f32.
    softmax(
        /// Result, [rows, n] with any strides.
        out: tensor(Direction::Out, 2, FLOATS),
        /// Input, [rows, n] with any strides.
        x: tensor(Direction::In, 2, FLOATS),
        /// Columns of a tile, a power of two. Longer rows are done in chunks of it.
        block_size: i32,
        /// Thread blocks per cluster; -1 is automatic.
        num_cta_in_cga: i32 = Scalar::Integer(-1),
        /// Tile blocks per multiprocessor; -1 is automatic.
        occupancy: i32 = Scalar::Integer(-1),
    ) launches [SINGLE_TILE, CHUNKED] |call| {
        call.expect_shape(&out, x.extents(), "as large as x")?;
        call.expect_same_dtype(&out, &x)?;
        call.expect_tile("block_size", block_size)?;
        let options = call.options(num_cta_in_cga, occupancy)?;
        if x.is_empty() {
            return Ok(());
        }
        let kernel = if x.extent(1) <= i64::from(block_size) { &SINGLE_TILE } else { &CHUNKED };
        call.launch(
            kernel,
            options,
            call.grid([x.extent(0), 1, 1])?,
            [x.elem(), Generic::Int(block_size)],
            (Arg("out", out), Arg("x", x)),
        )
    }
}
