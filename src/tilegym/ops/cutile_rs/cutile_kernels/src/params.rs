//! What a launch hands to the driver, built on the stack.

use core::ffi::{CStr, c_void};
use core::mem::MaybeUninit;

use crate::abi::{MAX_RANK, RangeRow};
use crate::args::MAX_ARGS;
use crate::driver::Driver;
use crate::error::Result;
use crate::tensor::TensorArg;

/// Most values that a kernel's arguments expand to: per tensor an address, its extents and its strides.
pub const MAX_VALUES: usize = MAX_ARGS * (1 + 2 * MAX_RANK);

/// Pointers to the values of a launch, as `cuLaunchKernel` takes them.
pub type Pointers = [MaybeUninit<*mut c_void>; MAX_VALUES];

/// Kernel parameters: one slot per value, of whose low bytes the driver takes as many as the parameter has.
pub struct Params {
    slots: [MaybeUninit<u64>; MAX_VALUES],
    count: usize,
    /// The address of elements is null, or some extent or stride of a tensor is no i32: worth a closer look.
    pub suspect: bool,
}

impl Params {
    #[inline(always)]
    pub fn new() -> Self {
        // The low bytes come first.
        const { assert!(cfg!(target_endian = "little")) };
        Self { slots: [const { MaybeUninit::uninit() }; MAX_VALUES], count: 0, suspect: false }
    }

    #[inline(always)]
    pub fn put(&mut self, value: u64) {
        self.slots[self.count].write(value);
        self.count += 1;
    }

    #[inline(always)]
    pub fn address<const R: i32>(&mut self, tensor: &TensorArg<'_, R>) {
        self.suspect |= tensor.base() == 0 && !tensor.is_empty();
        self.put(tensor.base());
    }

    pub fn values(&self) -> &[u64] {
        // SAFETY: the first `count` slots are written.
        unsafe { core::slice::from_raw_parts(self.slots.as_ptr().cast(), self.count) }
    }

    #[inline(always)]
    pub fn tensor<const R: i32>(&mut self, tensor: &TensorArg<'_, R>) {
        self.address(tensor);
        let mut bits = 0;
        for values in [tensor.extents(), tensor.strides()] {
            for value in values {
                bits |= *value as u64;
                self.put(*value as u64);
            }
        }
        self.suspect |= bits > i32::MAX as u64;
    }

    /// Sets one pointer per value, in order.
    #[inline(always)]
    pub fn point(&mut self, pointers: &mut Pointers) {
        for (pointer, slot) in pointers.iter_mut().zip(&mut self.slots[..self.count]) {
            pointer.write(slot.as_mut_ptr().cast());
        }
    }
}

/// Memory that a launch may touch, one row per tensor.
pub struct Ranges {
    rows: [MaybeUninit<RangeRow>; MAX_ARGS],
    count: usize,
}

impl Ranges {
    #[inline(always)]
    pub fn new() -> Self {
        Self { rows: [const { MaybeUninit::uninit() }; MAX_ARGS], count: 0 }
    }

    /// Adds a tensor's span, unless it is empty.
    #[inline(always)]
    pub fn push<const R: i32>(&mut self, tensor: &TensorArg<'_, R>) -> Result<()> {
        let (pointer, bytes) = tensor.span()?;
        if bytes > 0 {
            self.rows[self.count].write(RangeRow { pointer, bytes, name: tensor.c_name().as_ptr() });
            self.count += 1;
        }
        Ok(())
    }

    /// Tells them to the CPU device, for the calling thread's next launch.
    pub fn declare(&self, driver: &Driver, op: &'static CStr) -> Result<()> {
        declare(&self.rows, self.count, driver, op)
    }
}

/// The first `count` rows must be written.
#[inline(always)]
pub fn declare(rows: &[MaybeUninit<RangeRow>], count: usize, driver: &Driver, op: &'static CStr) -> Result<()> {
    let Some(set_ranges) = driver.private().and_then(|table| table.set_launch_ranges) else {
        return Ok(());
    };
    // SAFETY: the rows are written, and the names are static.
    let status = unsafe { set_ranges(rows.as_ptr().cast(), count, op.as_ptr()) };
    if status == 0 { Ok(()) } else { driver.check("set_launch_ranges", status) }
}
