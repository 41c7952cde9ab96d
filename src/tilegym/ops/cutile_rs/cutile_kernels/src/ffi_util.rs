//! What an op's `ffi.rs` may use: declaration, checks, launch, and the established helpers around descriptors.

pub use crate::abi::{Direction, MAX_RANK, Scalar, TensorDesc, rc};
pub use crate::args::Arg;
pub use crate::borrow::borrow_tensor;
pub use crate::definition::Kernel;
pub use crate::dtype::{BF16, DTypes, F16, F32, FLOATS, I32, dtype_bytes, dtype_str};
pub use crate::error::{Error, Result};
pub use crate::launch::{Call, Generic, Grid, Options};
pub use crate::tensor::{ANY_RANK, TensorArg};
pub use crate::{kernel, op};
