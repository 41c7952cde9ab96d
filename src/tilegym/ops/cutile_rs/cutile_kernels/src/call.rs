//! Checks of an op's arguments, done before anything is launched. Messages name op, argument, wanted and got.

use core::ffi::CStr;
use core::fmt::Arguments;

use crate::abi::{MAX_RANK, TensorDesc, rc};
use crate::dtype::{DTypes, dtype_str};
use crate::error::{Error, Result};
use crate::launch::{Call, Grid, Options};
use crate::repeat::Notes;
use crate::tensor::{ANY_RANK, TensorArg};

/// Limits of the launch grid, per axis.
const GRID_LIMITS: [i64; 3] = [i32::MAX as i64, 65_535, 65_535];

/// Tile IR's limit.
const MAX_TILE_ELEMENTS: i32 = 1 << 24;

impl Call {
    pub fn new(op: &'static CStr, device: i32, stream: u64) -> Self {
        Self { op, device, stream, notes: Notes::default() }
    }

    /// What the body has done so far.
    pub fn into_notes(self) -> Notes {
        self.notes
    }

    pub fn name(&self) -> &'static str {
        self.op.to_str().unwrap_or("?")
    }

    /// The device id: an ordinal, or -1 for the CPU device.
    pub fn device(&self) -> i32 {
        self.device
    }

    #[cold]
    #[inline(never)]
    pub fn invalid(&self, text: Arguments<'_>) -> Error {
        Error::invalid(format!("{}: {text}", self.name()))
    }

    /// A descriptor as an argument of this call: there, of the wanted rank and an accepted dtype.
    ///
    /// # Safety
    /// `desc` is null or points at a descriptor that lives as long as the result.
    #[inline(always)]
    pub unsafe fn tensor<'a, const R: i32>(
        &'a self,
        name: &'static CStr,
        desc: *const TensorDesc,
        dtypes: DTypes,
    ) -> Result<TensorArg<'a, R>> {
        // SAFETY: by the caller's promise.
        let Some(desc) = (unsafe { desc.as_ref() }) else {
            return Err(self.null_desc(name));
        };
        let limit = MAX_RANK as u32;
        if desc.ndim as u32 > limit || (R != ANY_RANK && desc.ndim != R) {
            return Err(self.wrong_rank(name, R, desc.ndim));
        }
        let tensor = TensorArg::new(desc, name).noted(&self.notes);
        if !dtypes.contains(desc.dtype) {
            dtypes.refuse(self.name(), tensor.name(), desc.dtype)?;
        }
        if tensor.extents().iter().any(|extent| *extent < 0) {
            return Err(self.negative_extent(&tensor));
        }
        Ok(tensor)
    }

    #[cold]
    fn null_desc(&self, name: &CStr) -> Error {
        let name = name.to_string_lossy();
        Error::new(rc::NULL_POINTER, format!("{}: argument {name}: wanted a tensor, got null", self.name()))
    }

    #[cold]
    fn wrong_rank(&self, name: &CStr, wanted: i32, got: i32) -> Error {
        let wanted = if wanted < 0 { format!("0 to {MAX_RANK}") } else { wanted.to_string() };
        self.invalid(format_args!("argument {}: wanted rank {wanted}, got rank {got}", name.to_string_lossy()))
    }

    #[cold]
    fn negative_extent<const R: i32>(&self, tensor: &TensorArg<'_, R>) -> Error {
        self.invalid(format_args!(
            "argument {}: wanted extents of at least 0, got {:?}",
            tensor.name(),
            tensor.extents()
        ))
    }

    #[cold]
    #[inline(never)]
    fn wrong_shape<const R: i32>(&self, tensor: &TensorArg<'_, R>, wanted: &[i64], why: &str) -> Error {
        let (name, got) = (tensor.name(), tensor.extents());
        self.invalid(format_args!("argument {name}: wanted shape {wanted:?} ({why}), got {got:?}"))
    }

    #[cold]
    #[inline(never)]
    fn wrong_dtype<const R: i32, const S: i32>(&self, tensor: &TensorArg<'_, R>, other: &TensorArg<'_, S>) -> Error {
        let name = |code| dtype_str(code).unwrap_or("?");
        let (wanted, got) = (name(other.dtype()), name(tensor.dtype()));
        let text = format!("{}: argument {}: wanted dtype {wanted}", self.name(), tensor.name());
        Error::new(rc::UNSUPPORTED_DTYPE, format!("{text} as argument {}, got {got}", other.name()))
    }

    #[cold]
    #[inline(never)]
    fn wrong_stride<const R: i32>(&self, tensor: &TensorArg<'_, R>, dim: usize) -> Error {
        let (name, stride) = (tensor.name(), tensor.stride(dim));
        self.invalid(format_args!("argument {name}: wanted stride 1 in dimension {dim}, got {stride}"))
    }

    #[cold]
    #[inline(never)]
    fn wide_stride<const R: i32>(&self, tensor: &TensorArg<'_, R>) -> Error {
        let (name, stride) = (tensor.name(), tensor.stride(0));
        self.invalid(format_args!("argument {name}: wanted a row stride of 32 bits, got {stride}"))
    }

    /// Requires the shape named, which `why` explains: "as large as x".
    #[inline(always)]
    pub fn expect_shape<const R: i32>(&self, tensor: &TensorArg<'_, R>, wanted: &[i64], why: &str) -> Result<()> {
        // Element by element: shapes are too short for a call of memcmp to pay.
        if tensor.extents().iter().eq(wanted) {
            return Ok(());
        }
        Err(self.wrong_shape(tensor, wanted, why))
    }

    /// Requires the dtype of another argument.
    #[inline(always)]
    pub fn expect_same_dtype<const R: i32, const S: i32>(
        &self,
        tensor: &TensorArg<'_, R>,
        other: &TensorArg<'_, S>,
    ) -> Result<()> {
        if tensor.dtype() == other.dtype() {
            return Ok(());
        }
        Err(self.wrong_dtype(tensor, other))
    }

    /// Requires neighbours in dimension `dim` to be adjacent in memory; a dimension of one element always is.
    #[inline(always)]
    pub fn expect_contiguous<const R: i32>(&self, tensor: &TensorArg<'_, R>, dim: usize) -> Result<()> {
        if tensor.stride(dim) == 1 || tensor.extent(dim) <= 1 {
            return Ok(());
        }
        Err(self.wrong_stride(tensor, dim))
    }

    /// Requires a tile extent: a power of two, no larger than a whole tile may be.
    #[inline(always)]
    pub fn expect_tile(&self, name: &str, value: i32) -> Result<()> {
        if (1..=MAX_TILE_ELEMENTS).contains(&value) && (value as u32).is_power_of_two() {
            return Ok(());
        }
        Err(self.invalid(format_args!("argument {name}: wanted a power of two up to {MAX_TILE_ELEMENTS}, got {value}")))
    }

    #[inline(always)]
    pub fn expect_positive(&self, name: &str, value: i32) -> Result<()> {
        if value > 0 {
            return Ok(());
        }
        Err(self.invalid(format_args!("argument {name}: wanted at least 1, got {value}")))
    }

    /// A quantity that the kernel takes as a non-negative i32.
    #[inline(always)]
    pub fn to_i32(&self, what: &str, value: i64) -> Result<i32> {
        match i32::try_from(value) {
            Ok(value) if value >= 0 => Ok(value),
            _ => Err(self.invalid(format_args!("{what}: wanted 0 to {}, got {value}", i32::MAX))),
        }
    }

    /// Requires a scalar to have the one value that the other arguments leave.
    #[inline(always)]
    pub fn expect_equal(&self, name: &str, got: i32, wanted: i32, why: &str) -> Result<()> {
        if got == wanted {
            return Ok(());
        }
        Err(self.invalid(format_args!("argument {name}: wanted {wanted} ({why}), got {got}")))
    }

    /// Elements from one row of a matrix to the next, for pointer arithmetic on i32 strides.
    #[inline(always)]
    pub fn row_stride<const R: i32>(&self, tensor: &TensorArg<'_, R>) -> Result<i32> {
        if tensor.extent(0) <= 1 {
            return Ok(0);
        }
        i32::try_from(tensor.stride(0)).map_err(|_| self.wide_stride(tensor))
    }

    /// A launch grid of the numbers of tile blocks given, each of which must be at least 1.
    #[inline(always)]
    pub fn grid(&self, blocks: [i64; 3]) -> Result<Grid> {
        for (axis, (count, limit)) in blocks.iter().zip(GRID_LIMITS).enumerate() {
            if !(1..=limit).contains(count) {
                return Err(
                    self.invalid(format_args!("grid axis {axis}: wanted 1 to {limit} tile blocks, got {count}"))
                );
            }
        }
        Ok(Grid(blocks.map(|count| count as u32)))
    }

    /// The compile options of every op; zero and negative values mean automatic.
    #[inline(always)]
    pub fn options(&self, num_cta_in_cga: i32, occupancy: i32) -> Result<Options> {
        let ctas = num_cta_in_cga.max(0);
        if ctas > 16 || (ctas as u32).count_ones() > 1 {
            return Err(self.invalid(format_args!("argument num_cta_in_cga: wanted 1, 2, 4, 8, 16 or -1, got {ctas}")));
        }
        if occupancy > 32 {
            return Err(self.invalid(format_args!("argument occupancy: wanted 1 to 32 or -1, got {occupancy}")));
        }
        Ok(Options { num_cta_in_cga: ctas as u8, occupancy: occupancy.max(0) as u8 })
    }
}
