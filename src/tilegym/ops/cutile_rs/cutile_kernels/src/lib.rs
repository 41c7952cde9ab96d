//! The tile kernels of tilegym behind one C ABI.
//!
//! Each op lives in a folder of its own beside this crate: `kernel.rs` holds its kernels, `ffi.rs` declares it. A line
//! below brings it in. The C ABI is in [`abi`]; how a launch works is told in [`launch`] and [`cold`].

pub mod abi;
mod args;
mod borrow;
mod call;
mod cold;
mod compile;
mod context;
mod definition;
mod driver;
pub mod dtype;
pub mod error;
pub mod exports;
pub mod ffi_util;
mod host;
mod image;
mod key;
mod launch;
mod op;
pub mod packed;
mod params;
pub mod repeat;
mod signature;
mod table;
mod tensor;

/// Brings in the ops' modules and lists them in the manifest.
macro_rules! ops {
    ($( mod $name:ident { $($body:tt)* } )+) => {
        // Kernels take what a launch passes, and constants as literals: the tile language has no others.
        $( #[allow(clippy::too_many_arguments, clippy::approx_constant)] pub mod $name { $($body)* } )+

        static OPS: &[abi::OpRow] = &[$( $name::ROW ),+];
    };
}

ops! {
    mod softmax { include!("../../softmax_kernel/kernel.rs"); include!("../../softmax_kernel/ffi.rs"); }
    mod silu_and_mul { include!("../../silu_and_mul_kernel/kernel.rs"); include!("../../silu_and_mul_kernel/ffi.rs"); }
    mod swiglu { include!("../../swiglu_kernel/kernel.rs"); include!("../../swiglu_kernel/ffi.rs"); }
    mod matmul { include!("../../matmul_kernel/kernel.rs"); include!("../../matmul_kernel/ffi.rs"); }
    mod bmm { include!("../../bmm_kernel/kernel.rs"); include!("../../bmm_kernel/ffi.rs"); }
    mod attention_sink { include!("../../attention_sink_kernel/kernel.rs"); include!("../../attention_sink_kernel/ffi.rs"); }
}

/// What the build was made of; the host compares it with the sources it finds.
const SOURCE_FINGERPRINT: &str = match option_env!("TILEGYM_SOURCE_FINGERPRINT") {
    Some(fingerprint) => fingerprint,
    None => "",
};

/// The same with a NUL.
static FINGERPRINT: [u8; SOURCE_FINGERPRINT.len() + 1] = {
    let mut bytes = [0; SOURCE_FINGERPRINT.len() + 1];
    let (text, _nul) = bytes.split_at_mut(SOURCE_FINGERPRINT.len());
    text.copy_from_slice(SOURCE_FINGERPRINT.as_bytes());
    bytes
};

/// The table from which the host learns all ops.
#[unsafe(no_mangle)]
pub static cutile_kernels_manifest_v1: abi::Manifest = abi::Manifest {
    abi_version: abi::ABI_VERSION,
    tensor_desc_size: size_of::<abi::TensorDesc>() as u32,
    max_rank: abi::MAX_RANK as u32,
    op_count: OPS.len() as u32,
    ops: OPS.as_ptr(),
    source_fingerprint: FINGERPRINT.as_ptr().cast(),
    cutile_version: image::CUTILE_VERSION.as_ptr(),
};
