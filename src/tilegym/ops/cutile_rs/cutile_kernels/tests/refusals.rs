//! Bad arguments are refused by name before any driver is asked.

mod common;

use core::ptr::null;

use common::{dense, last_error, strided};
use cutile_kernels::abi::{PackedArg, TensorDesc, rc};
use cutile_kernels::dtype::{F16, F32, I64};
use cutile_kernels::exports::{cutile_bind_driver, cutile_bind_host};
use cutile_kernels::{matmul, silu_and_mul, softmax};

const BASE: u64 = 0x10_0000;

fn softmax(out: *const TensorDesc, x: *const TensorDesc) -> (i32, String) {
    softmax_with(out, x, 64, -1, -1)
}

fn softmax_with(
    out: *const TensorDesc,
    x: *const TensorDesc,
    block: i32,
    num_cta: i32,
    occupancy: i32,
) -> (i32, String) {
    // SAFETY: null or live descriptors; nothing is launched.
    (unsafe { softmax::unpacked(out, x, block, num_cta, occupancy, -1, 0) }, last_error())
}

fn silu(out: &TensorDesc, inp: &TensorDesc) -> (i32, String) {
    // SAFETY: as above.
    (unsafe { silu_and_mul::unpacked(out, inp, 64, -1, -1, -1, 0) }, last_error())
}

fn matmul(c: &TensorDesc, a: &TensorDesc, b: &TensorDesc, programs: i32, persistent: i32) -> (i32, String) {
    // SAFETY: as above.
    (unsafe { matmul::unpacked(c, a, b, 16, 16, 16, 8, programs, -1, -1, persistent, 0, -1, 0) }, last_error())
}

fn refused(code: i32, text: &str) -> (i32, String) {
    (code, text.to_owned())
}

#[test]
fn null_descriptor() {
    let x = dense(BASE, F32, &[2, 8]);
    assert_eq!(softmax(&x, null()), refused(rc::NULL_POINTER, "softmax: argument x: wanted a tensor, got null"));
}

#[test]
fn null_address_of_elements() {
    let (out, x) = (dense(BASE, F32, &[2, 8]), dense(0, F32, &[2, 8]));
    let text = "softmax: argument x: wanted the address of its data, got null";
    assert_eq!(softmax(&out, &x), refused(rc::NULL_POINTER, text));
}

#[test]
fn null_address_of_nothing_is_fine() {
    let x = dense(0, F32, &[0, 8]);
    assert_eq!(softmax(&x, &x).0, rc::OK);
}

#[test]
fn wrong_rank() {
    let (out, x) = (dense(BASE, F32, &[2, 8]), dense(BASE, F32, &[2, 3, 8]));
    let text = "softmax: argument x: wanted rank 2, got rank 3";
    assert_eq!(softmax(&out, &x), refused(rc::INVALID_ARGUMENTS, text));
}

#[test]
fn rank_beyond_the_descriptor() {
    let out = dense(BASE, F32, &[2, 8]);
    for ndim in [6, -1, i32::MAX] {
        let x = TensorDesc { ndim, ..out };
        let text = format!("softmax: argument x: wanted rank 2, got rank {ndim}");
        assert_eq!(softmax(&out, &x), refused(rc::INVALID_ARGUMENTS, &text));
    }
}

#[test]
fn unsupported_dtype() {
    let x = dense(BASE, I64, &[2, 8]);
    let text = "softmax: argument out: wanted dtype f32, f16, bf16, got i64";
    assert_eq!(softmax(&x, &x), refused(rc::UNSUPPORTED_DTYPE, text));
}

#[test]
fn unknown_dtype_code() {
    let x = dense(BASE, 99, &[2, 8]);
    let text = "softmax: argument out: wanted dtype f32, f16, bf16, got the unknown code 99";
    assert_eq!(softmax(&x, &x), refused(rc::UNSUPPORTED_DTYPE, text));
}

#[test]
fn different_dtypes() {
    let (out, x) = (dense(BASE, F16, &[2, 8]), dense(BASE, F32, &[2, 8]));
    let text = "softmax: argument out: wanted dtype f32 as argument x, got f16";
    assert_eq!(softmax(&out, &x), refused(rc::UNSUPPORTED_DTYPE, text));
}

#[test]
fn different_shapes() {
    let (out, x) = (dense(BASE, F32, &[2, 8]), dense(BASE, F32, &[2, 9]));
    let text = "softmax: argument out: wanted shape [2, 9] (as large as x), got [2, 8]";
    assert_eq!(softmax(&out, &x), refused(rc::INVALID_ARGUMENTS, text));
}

#[test]
fn negative_extent() {
    let x = dense(BASE, F32, &[2, -8]);
    let text = "softmax: argument out: wanted extents of at least 0, got [2, -8]";
    assert_eq!(softmax(&x, &x), refused(rc::INVALID_ARGUMENTS, text));
}

#[test]
fn stride_that_no_i32_holds() {
    let x = strided(BASE, F32, &[2, 8], &[1 << 31, 1]);
    let text = "softmax: argument out: wanted extents and strides from 0 to 2147483647, \
                got shape [2, 8] with strides [2147483648, 1]";
    assert_eq!(softmax(&x, &x), refused(rc::INVALID_ARGUMENTS, text));
}

#[test]
fn tile_that_is_no_power_of_two() {
    let x = dense(BASE, F32, &[2, 8]);
    for block in [0, -1, 48, 1 << 25, i32::MIN] {
        let text = format!("softmax: argument block_size: wanted a power of two up to 16777216, got {block}");
        assert_eq!(softmax_with(&x, &x, block, -1, -1), refused(rc::INVALID_ARGUMENTS, &text));
    }
}

#[test]
fn compile_options_out_of_range() {
    let x = dense(BASE, F32, &[2, 8]);
    let text = "softmax: argument num_cta_in_cga: wanted 1, 2, 4, 8, 16 or -1, got 3";
    assert_eq!(softmax_with(&x, &x, 64, 3, -1), refused(rc::INVALID_ARGUMENTS, text));
    let text = "softmax: argument occupancy: wanted 1 to 32 or -1, got 33";
    assert_eq!(softmax_with(&x, &x, 64, -1, 33), refused(rc::INVALID_ARGUMENTS, text));
}

#[test]
fn more_rows_than_a_grid_takes() {
    let x = strided(BASE, F32, &[1 << 31, 8], &[0, 1]);
    let text = "softmax: grid axis 0: wanted 1 to 2147483647 tile blocks, got 2147483648";
    assert_eq!(softmax(&x, &x), refused(rc::INVALID_ARGUMENTS, text));
}

#[test]
fn input_that_is_not_twice_as_wide() {
    let (out, inp) = (dense(BASE, F16, &[2, 8]), dense(BASE, F16, &[2, 15]));
    let text = "silu_and_mul: argument inp: wanted shape [2, 16] (twice as wide as out), got [2, 15]";
    assert_eq!(silu(&out, &inp), refused(rc::INVALID_ARGUMENTS, text));
}

#[test]
fn columns_that_are_not_adjacent() {
    let (out, inp) = (dense(BASE, F16, &[2, 8]), strided(BASE, F16, &[2, 16], &[1, 2]));
    let text = "silu_and_mul: argument inp: wanted stride 1 in dimension 1, got 2";
    assert_eq!(silu(&out, &inp), refused(rc::INVALID_ARGUMENTS, text));
}

#[test]
fn row_stride_of_more_than_32_bits() {
    let (out, inp) = (dense(BASE, F16, &[2, 8]), strided(BASE, F16, &[2, 16], &[1 << 40, 1]));
    let text = "silu_and_mul: argument inp: wanted a row stride of 32 bits, got 1099511627776";
    assert_eq!(silu(&out, &inp), refused(rc::INVALID_ARGUMENTS, text));
}

#[test]
fn inner_extents_that_differ() {
    let (c, a, b) = (dense(BASE, F32, &[4, 6]), dense(BASE, F32, &[4, 5]), dense(BASE, F32, &[7, 6]));
    let text = "matmul: argument b: wanted shape [5, 6] (as many rows as a has columns), got [7, 6]";
    assert_eq!(matmul(&c, &a, &b, 1, 0), refused(rc::INVALID_ARGUMENTS, text));
}

#[test]
fn a_grid_that_leaves_tiles_out() {
    let x = dense(BASE, F32, &[32, 32]);
    let text = "matmul: argument num_programs: wanted 4 (one per tile of c), got 3";
    assert_eq!(matmul(&x, &x, &x, 3, 0), refused(rc::INVALID_ARGUMENTS, text));
    let text = "matmul: grid axis 0: wanted 1 to 2147483647 tile blocks, got 0";
    assert_eq!(matmul(&x, &x, &x, 0, 1), refused(rc::INVALID_ARGUMENTS, text));
}

#[test]
fn extents_that_overflow_when_rounded_to_tiles() {
    let (m, n) = (i64::from(i32::MAX) - 3, 1);
    let (c, a, b) = (
        strided(BASE, F32, &[m, n], &[1, 1]),
        strided(BASE, F32, &[m, 16], &[1, 1]),
        strided(BASE, F32, &[16, n], &[1, 1]),
    );
    let text = "matmul: rows of argument a: wanted 0 to 2147483647, got 2147483660";
    assert_eq!(matmul(&c, &a, &b, 8, 1), refused(rc::INVALID_ARGUMENTS, text));
}

#[test]
fn packed_arguments_of_another_count() {
    let none: [PackedArg; 0] = [];
    // SAFETY: no argument is read.
    let code = unsafe { softmax::packed(none.as_ptr(), 0) };
    assert_eq!((code, last_error()), refused(rc::INVALID_ARGUMENTS, "softmax: wanted 7 packed arguments, got 0"));
    // SAFETY: as above.
    let code = unsafe { softmax::packed(null(), 7) };
    assert_eq!((code, last_error()), refused(rc::NULL_POINTER, "softmax: wanted packed arguments, got null"));
}

#[test]
fn packed_integer_of_more_than_32_bits() {
    let x = dense(BASE, F32, &[2, 8]);
    let mut args = [PackedArg { integer: -1 }; 7];
    args[..2].fill(PackedArg { tensor: &x });
    args[2] = PackedArg { integer: 1 << 32 };
    // SAFETY: seven arguments of the op's kinds.
    let code = unsafe { softmax::packed(args.as_ptr(), 7) };
    let text = "softmax: argument block_size: wanted a 32-bit integer, got 4294967296";
    assert_eq!((code, last_error()), refused(rc::INVALID_ARGUMENTS, text));
}

#[test]
fn a_device_without_a_driver() {
    let x = dense(BASE, F32, &[2, 8]);
    let text = "softmax: device -1: no Cpu driver is bound, call cutile_bind_driver(1, path)";
    assert_eq!(softmax(&x, &x), refused(rc::DEVICE_FAILED, text));
}

fn bind(kind: i32, path: *const core::ffi::c_char) -> (i32, String) {
    // SAFETY: null or NUL-terminated.
    (unsafe { cutile_bind_driver(kind, path) }, last_error())
}

#[test]
fn a_driver_that_is_not_there() {
    let (code, text) = bind(0, c"/nowhere/libcuda.so.1".as_ptr());
    assert_eq!(code, rc::DEVICE_FAILED);
    assert!(text.starts_with("cutile_bind_driver: cannot load /nowhere/libcuda.so.1: "), "{text}");
}

#[test]
fn a_library_that_is_no_driver() {
    let text = "cutile_bind_driver: libc.so.6 has no symbol cuInit";
    assert_eq!(bind(0, c"libc.so.6".as_ptr()), refused(rc::DEVICE_FAILED, text));
}

#[test]
fn bind_driver_arguments() {
    let text = "cutile_bind_driver: argument kind: wanted 0 (cuda) or 1 (cpu), got 2";
    assert_eq!(bind(2, c"libc.so.6".as_ptr()), refused(rc::INVALID_ARGUMENTS, text));
    let text = "cutile_bind_driver: argument path: wanted a path, got null";
    assert_eq!(bind(1, null()), refused(rc::NULL_POINTER, text));
}

#[test]
fn null_host_table() {
    // SAFETY: null is allowed.
    let code = unsafe { cutile_bind_host(null()) };
    let text = "cutile_bind_host: argument host: wanted a table, got null";
    assert_eq!((code, last_error()), refused(rc::NULL_POINTER, text));
}
