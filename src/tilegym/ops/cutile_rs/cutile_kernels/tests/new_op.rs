//! A new op needs its declaration only; its faults stay within its call.

mod common;
mod ops;

use core::ffi::CStr;

use common::{CPU, dense, driver, host, last_error, strided};
use cutile_kernels::abi::{PackedArg, rc};
use cutile_kernels::dtype::{F16, F32};
use ops::{broken, shift, static_extent};

const BASE: u64 = 0x10_0000;

#[test]
fn scalars_of_every_kind_reach_the_kernel() {
    let (_one, null) = driver(CPU);
    let x = dense(BASE, F32, &[2, 3, 16]);
    null.set_layout("piiiiiipiiiiiifl");
    // SAFETY: live descriptors; the null driver never touches their memory.
    let code = unsafe { shift::unpacked(&x, &x, &x, 1.5, 1 << 40, -1, 0) };
    assert_eq!(code, rc::OK, "{}", last_error());
    assert_eq!(null.values(16)[14..], [u64::from(1.5f32.to_bits()), 1 << 40]);
}

#[test]
fn the_packed_thunk_takes_the_same_arguments() {
    let (_one, null) = driver(CPU);
    let x = dense(BASE, F32, &[2, 3, 16]);
    null.set_layout("piiiiiipiiiiiifl");
    let tensor = PackedArg { tensor: &x };
    let scalars = [PackedArg { floating: 2.5 }, PackedArg { integer: -7 }];
    let ends = [PackedArg { integer: -1 }, PackedArg { stream: 9 }];
    let args = [&[tensor; 3][..], &scalars, &ends].concat();
    // SAFETY: seven arguments of the op's kinds.
    assert_eq!(unsafe { shift::packed(args.as_ptr(), args.len()) }, rc::OK, "{}", last_error());
    assert_eq!(null.values(16)[14..], [u64::from(2.5f32.to_bits()), -7i64 as u64]);
    assert_eq!(null.stream(), 9);
}

#[test]
fn any_rank_is_up_to_five() {
    let (_one, _null) = driver(CPU);
    let x = dense(BASE, F32, &[2, 3, 16]);
    for rank in [0, 1, 5] {
        let any = dense(BASE, F32, &vec![1; rank]);
        // SAFETY: as above.
        assert_eq!(unsafe { shift::unpacked(&x, &x, &any, 0.0, 0, -1, 0) }, rc::OK, "{}", last_error());
    }
}

#[test]
fn the_row_carries_a_float_default() {
    // SAFETY: the row's pointers and counts belong together.
    let params = unsafe { core::slice::from_raw_parts(shift::ROW.params, shift::ROW.param_count) };
    // SAFETY: the parameter is an f32, and its name is static.
    let (default, name) = unsafe { (params[3].default_value.floating, CStr::from_ptr(params[3].name)) };
    assert_eq!((default, name), (0.5, c"by"));
}

/// Lines of the last module that assume a divisor of an operand, by the operand's number.
fn divisors() -> Vec<(String, u32)> {
    let ir = host().last_ir();
    let assume = |line: &str| {
        let (_, rest) = line.split_once("assume div_by<")?;
        let (divisor, rest) = rest.split_once('>')?;
        let operand = rest.trim_start_matches(", ").split(' ').next()?;
        Some((operand.to_owned(), divisor.parse().ok()?))
    };
    ir.lines().filter_map(assume).collect()
}

#[test]
fn strides_of_a_permuted_tensor_get_their_own_divisors() {
    let (_one, _null) = driver(CPU);
    let out = dense(BASE + 4, F32, &[1, 1, 1]);
    // The static first stride shifts positions: an unshifted list would let 24 be divisible by 16.
    let x = strided(BASE + 4, F32, &[7, 7, 7], &[1, 4096, 24]);
    // SAFETY: as above.
    assert_eq!(unsafe { shift::unpacked(&out, &x, &x, 0.0, 1, -1, 0) }, rc::OK, "{}", last_error());
    let ir = host().last_ir();
    let view = ir.lines().filter(|line| line.contains("make_tensor_view")).nth(1).expect("a view of x");
    assert!(view.contains("strides=[1,?,?]"), "{ir}");
    let strides = view.split("strides = [").nth(1).unwrap().split(']').next().unwrap();
    let found: Vec<u32> = strides.split(", ").filter_map(|name| divisor_of(&ir, name)).collect();
    assert_eq!(found, [16, 8], "{ir}");
}

/// The divisor that the definition of a value assumes.
fn divisor_of(ir: &str, name: &str) -> Option<u32> {
    let line = ir.lines().find(|line| line.trim_start().starts_with(&format!("{name} = ")))?;
    line.split("div_by<").nth(1)?.split('>').next()?.parse().ok()
}

#[test]
fn static_extents_do_not_shift_divisors() {
    let (_one, _null) = driver(CPU);
    let x = strided(BASE, F16, &[8, 3], &[3, 1]);
    // SAFETY: as above.
    assert_eq!(unsafe { static_extent::unpacked(&x, &x, -1, 0) }, rc::OK, "{}", last_error());
    // Only the two addresses are divisible: the dynamic extent is 3, not the static 8.
    assert_eq!(divisors().iter().map(|(_, divisor)| *divisor).collect::<Vec<_>>(), [16, 16], "{}", host().last_ir());
}

#[test]
fn a_panic_in_a_body_is_an_error() {
    let (_one, _null) = driver(CPU);
    let x = dense(BASE, F32, &[4]);
    // SAFETY: as above.
    assert_eq!(unsafe { broken::unpacked(&x, 0, -1, 0) }, rc::PANICKED);
    let text = last_error();
    assert!(text.starts_with("panic in the kernel library: attempt to divide by zero (tests/ops/mod.rs:"), "{text}");
}

#[test]
fn a_panic_in_the_compiler_leaves_the_library_usable() {
    let (_one, _null) = driver(CPU);
    let x = dense(BASE, F32, &[4]);
    // SAFETY: as above.
    assert_eq!(unsafe { broken::unpacked(&x, 1, -1, 0) }, rc::PANICKED);
    let text = last_error();
    assert!(
        text.starts_with("broken: kernel broken_kernel<>(out: f32 [4]) for sm_90: the compiler panicked: "),
        "{text}"
    );
    assert!(text.contains("no syntax tree today (tests/ops/mod.rs:"), "{text}");
    let x = dense(BASE, F32, &[2, 3, 16]);
    // SAFETY: as above.
    assert_eq!(unsafe { shift::unpacked(&x, &x, &x, 0.0, 0, -1, 0) }, rc::OK, "{}", last_error());
}

#[test]
fn panics_in_two_threads_at_once_leave_every_thread_usable() {
    let (_one, _null) = driver(CPU);
    let x = dense(BASE, F32, &[4]);
    let good = dense(BASE, F32, &[2, 3, 16]);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for by in [1, 2, 0, 4] {
                    // SAFETY: live descriptors; the null driver never touches their memory.
                    assert_eq!(unsafe { broken::unpacked(&x, by, -1, 0) }, rc::PANICKED, "{}", last_error());
                }
                // SAFETY: as above.
                assert_eq!(unsafe { shift::unpacked(&good, &good, &good, 0.0, 3, -1, 0) }, rc::OK, "{}", last_error());
            });
        }
    });
}
