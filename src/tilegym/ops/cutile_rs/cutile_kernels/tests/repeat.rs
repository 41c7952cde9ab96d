//! Calls like one before: launched without the op's body, as the body would launch them.

mod common;
mod ops;

use common::{CPU, dense, driver, host, last_error, strided};
use cutile_kernels::abi::{TensorDesc, rc};
use cutile_kernels::dtype::{F16, F32};
use ops::{apart, shift, static_extent, twice};

const BASE: u64 = 0x10_0000;
const LAYOUT: &str = "piiiiiipiiiiiifl";

fn shift(out: &TensorDesc, x: &TensorDesc, any: &TensorDesc, by: f32, long: i64, stream: u64) -> i32 {
    // SAFETY: live descriptors; the null driver never touches their memory.
    unsafe { shift::unpacked(out, x, any, by, long, -1, stream) }
}

#[test]
fn a_repeated_call_launches_with_its_own_addresses_and_stream() {
    let (_one, null) = driver(CPU);
    null.set_layout(LAYOUT);
    for round in 0..4 {
        let (out, x) = (BASE + 0x1000 * round, BASE + 0x100_0000 + 0x20 * round);
        let code =
            shift(&dense(out, F32, &[2, 3, 16]), &dense(x, F32, &[2, 3, 16]), &dense(BASE, F32, &[]), 1.5, 9, round);
        assert_eq!(code, rc::OK, "{}", last_error());
        let by = u64::from(1.5f32.to_bits());
        assert_eq!(null.values(16), [out, 2, 3, 16, 48, 16, 1, x, 2, 3, 16, 48, 16, 1, by, 9]);
        assert_eq!(null.stream(), round);
        assert_eq!(null.ranges(), [("out".to_owned(), out, 384), ("x".to_owned(), x, 384)]);
    }
}

#[test]
fn calls_that_differ_in_anything_are_told_apart() {
    let (_one, null) = driver(CPU);
    null.set_layout(LAYOUT);
    let x = dense(BASE, F32, &[2, 3, 16]);
    let scalar = dense(BASE, F32, &[]);
    let tensors = [
        x,
        dense(BASE, F32, &[2, 4, 16]),
        strided(BASE, F32, &[2, 3, 16], &[64, 16, 1]),
        strided(BASE, F32, &[2, 3, 16], &[48, 16, 2]),
        dense(BASE + 4, F32, &[2, 3, 16]),
    ];
    for _ in 0..2 {
        for (by, long) in [(0.0, 0), (-0.0, 0), (0.0, 1 << 40), (f32::NAN, -1)] {
            for tensor in &tensors {
                assert_eq!(shift(&x, tensor, &scalar, by, long, 0), rc::OK, "{}", last_error());
                let values = null.values(16).iter().map(|value| *value as i64).collect::<Vec<_>>();
                let wanted = [&[tensor.ptr as i64], &tensor.shape[..3], &tensor.strides[..3]].concat();
                assert_eq!(values[7..14], wanted);
                assert_eq!(values[14..], [i64::from(by.to_bits()), long]);
            }
        }
    }
}

#[test]
fn what_the_body_refuses_is_refused_after_a_call_that_was_repeated() {
    let (_one, null) = driver(CPU);
    let x = dense(BASE, F32, &[2, 3, 16]);
    let good = dense(BASE, F32, &[4]);
    let refused = [
        (dense(BASE, F16, &[4]), rc::UNSUPPORTED_DTYPE),
        (TensorDesc { ndim: 6, ..good }, rc::INVALID_ARGUMENTS),
        (TensorDesc { ndim: -1, ..good }, rc::INVALID_ARGUMENTS),
        (TensorDesc { shape: [-1; 5], ..good }, rc::INVALID_ARGUMENTS),
    ];
    for _ in 0..3 {
        assert_eq!(shift(&x, &x, &good, 0.0, 0, 0), rc::OK, "{}", last_error());
        for (any, code) in &refused {
            assert_eq!(shift(&x, &x, any, 0.0, 0, 0), *code, "{any:?}");
        }
        let beyond = TensorDesc { ptr: u64::MAX - 15, ..x };
        assert_eq!(shift(&x, &beyond, &good, 0.0, 0, 0), rc::INVALID_ARGUMENTS);
        let nothing = TensorDesc { ptr: 0, ..x };
        assert_eq!(shift(&x, &nothing, &good, 0.0, 0, 0), rc::NULL_POINTER);
        // SAFETY: null is what is tried.
        assert_eq!(unsafe { shift::unpacked(&x, &x, core::ptr::null(), 0.0, 0, -1, 0) }, rc::NULL_POINTER);
    }
    null.fail("cuLaunchKernel", 719);
    assert_eq!(shift(&x, &x, &good, 0.0, 0, 0), rc::LAUNCH_FAILED);
    assert!(last_error().contains("719"), "{}", last_error());
}

#[test]
fn a_body_with_two_launches_makes_both_each_time() {
    let (_one, null) = driver(CPU);
    let x = dense(BASE, F32, &[8, 16]);
    for round in 1..=3 {
        // SAFETY: as above.
        assert_eq!(unsafe { twice::unpacked(&x, &x, -1, 0) }, rc::OK, "{}", last_error());
        assert_eq!(null.count("cuLaunchKernel"), 2 * round);
    }
}

#[test]
fn a_body_that_looks_at_addresses_runs_each_time() {
    let (_one, _null) = driver(CPU);
    let x = dense(BASE, F32, &[8, 16]);
    let out = dense(BASE + 0x1000, F32, &[8, 16]);
    for _ in 0..3 {
        // SAFETY: as above.
        assert_eq!(unsafe { apart::unpacked(&out, &x, -1, 0) }, rc::OK, "{}", last_error());
        // SAFETY: as above.
        assert_eq!(unsafe { apart::unpacked(&x, &x, -1, 0) }, rc::INVALID_ARGUMENTS);
    }
}

#[test]
fn kernels_made_anew_at_each_call_are_not_repeated() {
    let (_one, null) = driver(CPU);
    host().set_mode("refresh");
    let x = dense(BASE + 8, F16, &[8, 48]);
    for round in 1..=2 {
        // SAFETY: as above.
        assert_eq!(unsafe { static_extent::unpacked(&x, &x, -1, 0) }, rc::OK, "{}", last_error());
        assert_eq!(null.count("cuModuleLoadData"), round);
    }
}

#[test]
fn threads_repeat_calls_at_once() {
    let (_one, null) = driver(CPU);
    let before = common::counters().launches;
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for round in 0..200 {
                    let x = dense(BASE + 0x1000 * thread, F32, &[8, 16 * (1 + round % 7)]);
                    // SAFETY: as above.
                    assert_eq!(unsafe { static_extent::unpacked(&x, &x, -1, 0) }, rc::OK, "{}", last_error());
                }
            });
        }
    });
    assert_eq!(common::counters().launches - before, 800);
    assert!(null.count("cuLaunchKernel") > 0);
}
