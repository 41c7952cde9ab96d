//! The established way to hand a tensor to the launcher that cutile generates.

use core::mem::ManuallyDrop;

use cutile::DType;
use cutile::tensor::Tensor;

use crate::abi::rc;
use crate::dtype::dtype_str;
use crate::error::{Error, Result};
use crate::tensor::TensorArg;

/// Borrows a tensor as cutile's own host type, for kernels that are launched by the launcher cutile generates.
///
/// The result never frees the memory it describes; the small host-side record it allocates is not freed either. That
/// launcher waits for its kernel and cannot be captured in a graph: [`crate::ffi_util::Call::launch`] is the usual way.
///
/// # Safety
/// The tensor's memory outlives every use of the result.
pub unsafe fn borrow_tensor<E: DType, const R: i32>(
    tensor: &TensorArg<'_, R>,
    device_id: i32,
) -> Result<ManuallyDrop<Tensor<E>>> {
    let subject = format!("argument {}", tensor.name());
    let (wanted, got) = (E::DTYPE.as_str(), dtype_str(tensor.dtype()).unwrap_or("?"));
    if wanted != got {
        return Err(Error::new(rc::UNSUPPORTED_DTYPE, format!("{subject}: wanted dtype {wanted}, got {got}")));
    }
    let device = usize::try_from(device_id)
        .map_err(|_| Error::device(format!("{subject}: wanted a CUDA device, got device {device_id}")))?;
    let wide = || {
        let (shape, strides, limit) = (tensor.extents(), tensor.strides(), i32::MAX);
        let got = format!("got shape {shape:?} with strides {strides:?}");
        Error::invalid(format!("{subject}: wanted extents and strides from 0 to {limit}, {got}"))
    };
    let narrow = |values: &[i64]| -> Option<Vec<i32>> {
        values.iter().map(|value| i32::try_from(*value).ok().filter(|value| *value >= 0)).collect()
    };
    let shape = narrow(tensor.extents()).ok_or_else(wide)?;
    let strides = narrow(tensor.strides()).ok_or_else(wide)?;
    // cutile counts the bytes of the elements, without the gaps that strides leave.
    let elements = shape.iter().try_fold(size_of::<E>(), |bytes, extent| bytes.checked_mul(*extent as usize));
    let bytes = elements.ok_or_else(wide)?;
    // SAFETY: the memory lives long enough by the caller's promise, and ManuallyDrop keeps the tensor from freeing it.
    Ok(ManuallyDrop::new(unsafe { Tensor::from_raw_parts(tensor.address(), bytes, device, shape, strides) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{MAX_RANK, TensorDesc};
    use crate::dtype::F16;

    fn borrow<E: DType>(strides: [i64; 2], device: i32) -> Result<ManuallyDrop<Tensor<E>>> {
        let desc = TensorDesc {
            ptr: 0x1000,
            ndim: 2,
            shape: [3, 5, 0, 0, 0],
            strides: [strides[0], strides[1], 0, 0, 0],
            dtype: F16,
        };
        const { assert!(MAX_RANK == 5) };
        // SAFETY: the memory is never used.
        unsafe { borrow_tensor(&TensorArg::<2>::new(&desc, c"x"), device) }
    }

    #[test]
    fn shape_and_strides_are_the_descriptors() {
        let tensor = borrow::<cutile::half::f16>([8, 1], 1).unwrap();
        assert_eq!((tensor.shape(), tensor.strides(), tensor.device_id()), (&[3, 5][..], &[8, 1][..], 1));
    }

    #[test]
    fn another_element_type_is_refused() {
        let error = borrow::<f32>([8, 1], 0).unwrap_err();
        assert_eq!(error.text, "argument x: wanted dtype f32, got f16");
    }

    #[test]
    fn a_stride_that_no_i32_holds_is_refused() {
        let error = borrow::<cutile::half::f16>([1 << 31, 1], 0).unwrap_err();
        assert!(error.text.contains("wanted extents and strides from 0 to 2147483647"), "{}", error.text);
    }

    #[test]
    fn the_cpu_device_is_refused() {
        let error = borrow::<cutile::half::f16>([8, 1], -1).unwrap_err();
        assert_eq!(error.text, "argument x: wanted a CUDA device, got device -1");
    }
}
