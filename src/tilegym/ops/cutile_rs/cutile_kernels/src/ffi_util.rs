//! What an op's `ffi.rs` may use: declaration, checks, launch, and the established helpers around descriptors.

use core::mem::ManuallyDrop;

use cutile::DType;
use cutile::tensor::Tensor;

pub use crate::abi::{Direction, MAX_RANK, Scalar, TensorDesc, rc};
pub use crate::args::Arg;
pub use crate::definition::Kernel;
pub use crate::dtype::{BF16, DTypes, F16, F32, FLOATS, dtype_bytes, dtype_str};
pub use crate::error::{Error, Result};
pub use crate::launch::{Call, Generic, Grid, Options};
pub use crate::tensor::{ANY_RANK, TensorArg};
pub use crate::{kernel, op};

/// Borrows a tensor as cutile's own host type, for kernels that are launched by the launcher cutile generates.
///
/// The result never frees the memory it describes; the small host-side record it allocates is not freed either. The
/// launcher waits for its kernel and cannot be captured in a graph: [`Call::launch`] is the usual way.
///
/// # Safety
/// The tensor's memory holds elements of type `E` and outlives every use of the result.
pub unsafe fn borrow_tensor<E: DType, const R: i32>(
    tensor: &TensorArg<'_, R>,
    device_id: i32,
) -> Result<ManuallyDrop<Tensor<E>>> {
    let refuse = || {
        let (shape, strides) = (tensor.extents(), tensor.strides());
        Error::invalid(format!(
            "argument {}: wanted a {} view with extents and strides from 0 to {}, got {} {shape:?} with strides {strides:?}",
            tensor.name(),
            core::any::type_name::<E>(),
            i32::MAX,
            dtype_str(tensor.dtype()).unwrap_or("?"),
        ))
    };
    let small = |values: &[i64]| -> Option<Vec<i32>> {
        values.iter().map(|value| i32::try_from(*value).ok().filter(|value| *value >= 0)).collect()
    };
    let (Some(shape), Some(strides)) = (small(tensor.extents()), small(tensor.strides())) else {
        return Err(refuse());
    };
    let (_, bytes) = tensor.span()?;
    if dtype_bytes(tensor.dtype()) != Some(size_of::<E>()) {
        return Err(refuse());
    }
    let device = usize::try_from(device_id).map_err(|_| Error::device("wanted a CUDA device, got the CPU device"))?;
    // SAFETY: the memory spans these bytes and lives long enough by the caller's promise; ManuallyDrop keeps the tensor
    // from ever freeing it.
    let borrowed = unsafe { Tensor::from_raw_parts(tensor.address(), bytes as usize, device, shape, strides) };
    Ok(ManuallyDrop::new(borrowed))
}
