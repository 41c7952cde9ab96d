//! A checked tensor argument of an op.

use core::ffi::CStr;

use crate::abi::{MAX_RANK, TensorDesc};
use crate::args::Pointer;
use crate::dtype::dtype_bytes;
use crate::error::{Error, Result};
use crate::launch::Generic;
use crate::repeat::Notes;

/// The rank of arguments whose op takes any.
pub const ANY_RANK: i32 = -1;

/// A tensor argument whose rank and dtype its op accepts. Only [`crate::op::Call::tensor`] makes one, so the rank is
/// within the descriptor. `R` is the rank that the op asks for: a constant, so that loops over dimensions unroll.
#[derive(Clone, Copy)]
pub struct TensorArg<'a, const R: i32> {
    desc: &'a TensorDesc,
    name: &'static CStr,
    notes: Option<&'a Notes>,
}

impl<'a, const R: i32> TensorArg<'a, R> {
    /// `desc.ndim` is within 0..=MAX_RANK, and is R unless that is ANY_RANK.
    #[inline(always)]
    pub(crate) fn new(desc: &'a TensorDesc, name: &'static CStr) -> Self {
        const { assert!(R <= MAX_RANK as i32) };
        debug_assert!(R == ANY_RANK || desc.ndim == R);
        Self { desc, name, notes: None }
    }

    /// The same, for a body that is watched.
    #[inline(always)]
    pub(crate) fn noted(self, notes: &'a Notes) -> Self {
        Self { notes: Some(notes), ..self }
    }

    pub(crate) fn any_rank(&self) -> TensorArg<'a, ANY_RANK> {
        TensorArg { desc: self.desc, name: self.name, notes: self.notes }
    }

    /// The address of element 0, for kernels that take a pointer.
    #[inline(always)]
    pub fn pointer(self) -> Pointer<'a, R> {
        Pointer(self)
    }

    /// The element type as a kernel's generic argument.
    #[inline(always)]
    pub fn elem(&self) -> Generic {
        Generic::Elem(self.dtype())
    }

    /// The descriptor. It holds the address: see [`TensorArg::address`].
    pub fn desc(&self) -> &'a TensorDesc {
        self.look();
        self.desc
    }

    fn look(&self) {
        if let Some(notes) = self.notes {
            notes.look();
        }
    }

    pub fn c_name(&self) -> &'static CStr {
        self.name
    }

    pub fn name(&self) -> &'static str {
        self.name.to_str().unwrap_or("?")
    }

    #[inline(always)]
    pub fn rank(&self) -> usize {
        if R == ANY_RANK { (self.desc.ndim as usize).min(MAX_RANK) } else { R as usize }
    }

    /// The address of element 0. A body that asks for it runs at each call, since what it does may depend on it.
    pub fn address(&self) -> u64 {
        self.look();
        self.desc.ptr
    }

    /// The address, for what is done alike for every address of a class.
    #[inline(always)]
    pub(crate) fn base(&self) -> u64 {
        self.desc.ptr
    }

    #[inline(always)]
    pub fn dtype(&self) -> i32 {
        self.desc.dtype
    }

    /// Elements per dimension.
    #[inline(always)]
    pub fn extents(&self) -> &'a [i64] {
        &self.desc.shape[..self.rank()]
    }

    /// Elements between neighbours, per dimension.
    #[inline(always)]
    pub fn strides(&self) -> &'a [i64] {
        &self.desc.strides[..self.rank()]
    }

    #[inline(always)]
    pub fn extent(&self, dim: usize) -> i64 {
        self.extents()[dim]
    }

    #[inline(always)]
    pub fn stride(&self, dim: usize) -> i64 {
        self.strides()[dim]
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.extents().contains(&0)
    }

    /// First byte and length of the memory that the view's elements occupy; negative strides reach below element 0.
    #[inline(always)]
    pub fn span(&self) -> Result<(u64, u64)> {
        if self.is_empty() {
            return Ok((self.desc.ptr, 0));
        }
        self.span_of_elements().ok_or_else(|| self.beyond_memory())
    }

    /// Of a tensor that has elements; None where an address takes more than 64 bits.
    #[inline(always)]
    fn span_of_elements(&self) -> Option<(u64, u64)> {
        let size = dtype_bytes(self.desc.dtype).unwrap_or(1) as i64;
        let (mut low, mut high) = (0i64, 0i64);
        for (extent, stride) in self.extents().iter().zip(self.strides()) {
            let reach = (extent - 1).checked_mul(*stride)?;
            low = low.checked_add(reach.min(0))?;
            high = high.checked_add(reach.max(0))?;
        }
        let first = self.desc.ptr.checked_add_signed(low.checked_mul(size)?)?;
        let bytes = high.checked_sub(low)?.checked_add(1)?.checked_mul(size)? as u64;
        first.checked_add(bytes)?;
        Some((first, bytes))
    }

    #[cold]
    #[inline(never)]
    fn beyond_memory(&self) -> Error {
        Error::invalid(format!(
            "argument {}: wanted a view within the address space, got shape {:?} with strides {:?} at {:#x}",
            self.name(),
            self.extents(),
            self.strides(),
            self.desc.ptr
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::{F16, F32};

    fn span(ptr: u64, dtype: i32, shape: &[i64], strides: &[i64]) -> Result<(u64, u64)> {
        let mut desc =
            TensorDesc { ptr, ndim: shape.len() as i32, shape: [0; MAX_RANK], strides: [0; MAX_RANK], dtype };
        desc.shape[..shape.len()].copy_from_slice(shape);
        desc.strides[..strides.len()].copy_from_slice(strides);
        TensorArg::<ANY_RANK>::new(&desc, c"x").span()
    }

    #[test]
    fn a_padded_matrix_ends_with_its_last_element() {
        assert_eq!(span(0x1000, F32, &[3, 5], &[8, 1]).unwrap(), (0x1000, (2 * 8 + 5) * 4));
    }

    #[test]
    fn a_scalar_spans_one_element() {
        assert_eq!(span(0x1000, F16, &[], &[]).unwrap(), (0x1000, 2));
    }

    #[test]
    fn a_broadcast_spans_one_element() {
        assert_eq!(span(0x1000, F16, &[4, 4], &[0, 0]).unwrap(), (0x1000, 2));
    }

    #[test]
    fn negative_strides_begin_below_the_address() {
        assert_eq!(span(0x1000, F32, &[4, 2], &[-2, 1]).unwrap(), (0x1000 - 24, 32));
    }

    #[test]
    fn an_empty_tensor_spans_nothing() {
        assert_eq!(span(0, F32, &[0, 1 << 62], &[1 << 62, 1]).unwrap(), (0, 0));
    }

    #[test]
    fn a_span_beyond_the_address_space_is_refused() {
        let error = span(0x1000, F32, &[1 << 62, 2], &[1 << 62, 1]).unwrap_err();
        assert!(error.text.contains("argument x: wanted a view within the address space"), "{}", error.text);
        assert!(span(0x10, F32, &[2, 16], &[-64, 1]).is_err());
    }
}
