#[cutile::module]
pub mod probe_module {
    use cutile::core::*;

    /// Copies the corner of a tensor of rank 3, shifted.
    ///
    /// # Safety
    /// Both tensors hold at least one element.
    #[cutile::entry()]
    pub unsafe fn shift_kernel<E: ElementType>(
        out: &Tensor<E, { [-1, -1, -1] }>,
        x: &Tensor<E, { [-1, -1, -1] }>,
        by: f32,
        _long: i64,
    ) {
        let x_part: Partition<E, { [1, 1, 16] }> = x.partition(const_shape![1, 1, 16]);
        let tile: Tile<E, { [1, 1, 16] }> = x_part.load([0i32, 0i32, 0i32]);
        let wide: Tile<f32, { [1, 1, 16] }> = convert_tile(tile);
        let shift: Tile<f32, { [1, 1, 16] }> = broadcast_scalar(by, const_shape![1, 1, 16]);
        let result: Tile<E, { [1, 1, 16] }> = convert_tile(wide + shift);
        let mut out_part: PartitionMut<E, { [1, 1, 16] }> = unsafe { out.partition_full_mut(const_shape![1, 1, 16]) };
        unsafe { out_part.store(result, [0i32, 0i32, 0i32]) };
    }

    /// Copies a tensor whose last extent is part of its type.
    ///
    /// # Safety
    /// Both tensors hold at least one row.
    #[cutile::entry()]
    pub unsafe fn static_extent_kernel<E: ElementType>(out: &Tensor<E, { [8, -1] }>, x: &Tensor<E, { [8, -1] }>) {
        let x_part: Partition<E, { [8, 16] }> = x.partition(const_shape![8, 16]);
        let tile: Tile<E, { [8, 16] }> = x_part.load([0i32, 0i32]);
        let mut out_part: PartitionMut<E, { [8, 16] }> = unsafe { out.partition_full_mut(const_shape![8, 16]) };
        unsafe { out_part.store(tile, [0i32, 0i32]) };
    }
}
