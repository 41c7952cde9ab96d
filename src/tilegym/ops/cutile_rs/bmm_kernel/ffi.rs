use crate::ffi_util::{Arg, Direction, F32, FLOATS, Generic, Kernel, Scalar, kernel, op};

static NON_PERSISTENT: Kernel = kernel!(bmm_module, bmm_non_persistent_kernel);
static STATIC_PERSISTENT: Kernel = kernel!(bmm_module, bmm_static_persistent_kernel);

op! {
    /// Matrix products of a batch, with f32 accumulation.
    bmm(
        /// Result, [batches, m, n] with any strides.
        c: tensor(Direction::Out, 3, FLOATS),
        /// Left operands, [batches, m, k] with any strides.
        a: tensor(Direction::In, 3, FLOATS),
        /// Right operands, [batches, k, n] with any strides.
        b: tensor(Direction::In, 3, FLOATS),
        /// Rows of a tile of c, a power of two.
        bm: i32,
        /// Columns of a tile of c, a power of two.
        bn: i32,
        /// Depth of a step along k, a power of two.
        bk: i32,
        /// Row tiles that are computed together for the sake of the cache.
        group_size_m: i32 = Scalar::Integer(8),
        /// Tile blocks: one per tile of c, or any number when persistent.
        num_programs: i32,
        /// Thread blocks per cluster; -1 is automatic.
        num_cta_in_cga: i32 = Scalar::Integer(-1),
        /// Tile blocks per multiprocessor; -1 is automatic.
        occupancy: i32 = Scalar::Integer(-1),
        /// 1: a fixed number of tile blocks shares the tiles. 0: one tile each.
        persistent: i32 = Scalar::Integer(0),
        /// 1: f32 operands are rounded to tf32 before they are multiplied. 0: multiplied as they are.
        allow_tf32: i32 = Scalar::Integer(0),
    ) launches [NON_PERSISTENT, STATIC_PERSISTENT] |call| {
        let (batches, m, k, n) = (a.extent(0), a.extent(1), a.extent(2), b.extent(2));
        call.expect_shape(&b, &[batches, k, n], "the batches of a, as many rows as a has columns")?;
        call.expect_shape(&c, &[batches, m, n], "batches and rows of a, columns of b")?;
        call.expect_same_dtype(&b, &a)?;
        call.expect_same_dtype(&c, &a)?;
        for (name, extent) in [("bm", bm), ("bn", bn), ("bk", bk)] {
            call.expect_tile(name, extent)?;
        }
        call.expect_positive("group_size_m", group_size_m)?;
        let options = call.options(num_cta_in_cga, occupancy)?;
        if c.is_empty() {
            return Ok(());
        }
        let tiles = |extent: i64, tile: i32| (extent as u64).div_ceil(tile as u64) as i64;
        let (tiles_m, tiles_n) = (tiles(m, bm), tiles(n, bn));
        call.to_i32("tiles of a group", tiles_n.saturating_mul(i64::from(group_size_m)))?;
        let batch_tiles = tiles_m.saturating_mul(tiles_n);
        let all_tiles = call.to_i32("tiles of argument c", batch_tiles.saturating_mul(batches))?;
        let generics = [
            a.elem(),
            Generic::Int(bm),
            Generic::Int(bn),
            Generic::Int(bk),
            Generic::Int(group_size_m),
            Generic::Int(i32::from(a.dtype() == F32 && allow_tf32 != 0)),
        ];
        // In 32 bits, the kernels round extents up to whole tiles.
        let whole = |name, extent: i64, tile: i32| {
            call.to_i32(name, extent.saturating_add(i64::from(tile)))?;
            call.to_i32(name, extent)
        };
        let m = Arg("m", whole("rows of argument a", m, bm)?);
        let n = Arg("n", whole("columns of argument b", n, bn)?);
        let k = Arg("k", whole("columns of argument a", k, bk)?);
        let (c, a, b) = (Arg("c", c), Arg("a", a), Arg("b", b));
        let grid = call.grid([i64::from(num_programs), 1, 1])?;
        if persistent == 0 {
            call.expect_equal("num_programs", num_programs, all_tiles, "one per tile of c")?;
            return call.launch(&NON_PERSISTENT, options, grid, generics, (c, a, b, m, n, k));
        }
        // The persistent kernel steps past the last tile by up to a grid.
        call.to_i32("tiles of argument c and num_programs", i64::from(all_tiles) + i64::from(num_programs))?;
        let batches = Arg("batches", call.to_i32("batches of argument c", batches)?);
        call.launch(&STATIC_PERSISTENT, options, grid, generics, (c, a, b, batches, m, n, k))
    }
}
