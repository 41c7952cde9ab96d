//! What a launch asks of the driver.

mod common;

use common::{CPU, CUDA, counters, dense, driver, host, last_error, strided};
use cutile_kernels::abi::{TensorDesc, rc};
use cutile_kernels::dtype::{BF16, F16, F32};
use cutile_kernels::{matmul, silu_and_mul, softmax};

const CPU_DEVICE: i32 = -1;
const BASE: u64 = 0x10_0000;

fn softmax(out: &TensorDesc, x: &TensorDesc, block: i32, device: i32, stream: u64) -> i32 {
    // SAFETY: live descriptors; the null driver never touches their memory.
    unsafe { softmax::unpacked(out, x, block, -1, -1, device, stream) }
}

fn softmax_ok(out: &TensorDesc, x: &TensorDesc, block: i32) {
    assert_eq!(softmax(out, x, block, CPU_DEVICE, 0), rc::OK, "{}", last_error());
}

fn silu(out: &TensorDesc, inp: &TensorDesc, block: i32) -> i32 {
    // SAFETY: as above.
    unsafe { silu_and_mul::unpacked(out, inp, block, -1, -1, CPU_DEVICE, 0) }
}

fn matmul(c: &TensorDesc, a: &TensorDesc, b: &TensorDesc, programs: i32, persistent: i32) -> i32 {
    // SAFETY: as above.
    unsafe { matmul::unpacked(c, a, b, 16, 16, 16, 8, programs, -1, -1, persistent, 0, CPU_DEVICE, 0) }
}

#[test]
fn cached_launch_makes_two_driver_calls() {
    let (_one, null) = driver(CUDA);
    let x = dense(BASE, F32, &[4, 64]);
    assert_eq!(softmax(&x, &x, 64, 0, 0), rc::OK, "{}", last_error());
    null.reset();
    null.set_current(0x1000);
    assert_eq!(softmax(&x, &x, 64, 0, 7), rc::OK, "{}", last_error());
    assert_eq!((null.count("cuCtxGetCurrent"), null.count("cuLaunchKernel")), (1, 1));
    assert_eq!(null.total(), 2);
    assert_eq!(null.stream(), 7);
}

#[test]
fn no_launch_ever_waits() {
    let (_one, null) = driver(CPU);
    let x = dense(BASE, F16, &[2, 32]);
    softmax_ok(&x, &x, 32);
    softmax_ok(&x, &x, 32);
    assert_eq!(null.count("cuStreamSynchronize") + null.count("cuCtxSynchronize"), 0);
}

#[test]
fn a_foreign_context_is_restored() {
    let (_one, null) = driver(CPU);
    let x = dense(BASE, F32, &[8, 32]);
    null.set_current(0x77);
    softmax_ok(&x, &x, 32);
    assert_eq!(null.current(), 0x77);
}

#[test]
fn a_thread_without_a_context_keeps_ours() {
    let (_one, null) = driver(CPU);
    let x = dense(BASE, F32, &[8, 32]);
    null.set_current(0);
    softmax_ok(&x, &x, 32);
    assert_eq!(null.current(), 0x1000);
}

#[test]
fn tensors_become_address_extents_and_strides() {
    let (_one, null) = driver(CPU);
    let out = strided(BASE, BF16, &[3, 40], &[64, 1]);
    let x = strided(BASE + 0x1000, BF16, &[3, 40], &[1, 8]);
    null.set_layout("piiiipiiii");
    softmax_ok(&out, &x, 64);
    assert_eq!(null.values(10), [BASE, 3, 40, 64, 1, BASE + 0x1000, 3, 40, 1, 8]);
    assert_eq!(null.grid(), [3, 1, 1]);
}

#[test]
fn pointer_kernels_get_addresses_and_row_strides() {
    let (_one, null) = driver(CPU);
    let out = strided(BASE + 2, F16, &[5, 70], &[80, 1]);
    let inp = strided(BASE + 0x1000, F16, &[5, 140], &[144, 1]);
    null.set_layout("ppiii");
    assert_eq!(silu(&out, &inp, 32), rc::OK, "{}", last_error());
    assert_eq!(null.values(5), [BASE + 2, BASE + 0x1000, 70, 144, 80]);
    assert_eq!(null.grid(), [5, 3, 1]);
}

#[test]
fn persistent_matmul_gets_its_sizes() {
    let (_one, null) = driver(CPU);
    let (c, a, b) = (dense(BASE, F32, &[33, 20]), dense(BASE, F32, &[33, 8]), dense(BASE, F32, &[8, 20]));
    null.set_layout("piiiipiiiipiiiiiii");
    assert_eq!(matmul(&c, &a, &b, 4, 1), rc::OK, "{}", last_error());
    assert_eq!(null.values(18)[15..], [33, 20, 8]);
    assert_eq!(null.grid(), [4, 1, 1]);
}

#[test]
fn long_rows_take_the_chunked_kernel() {
    let (_one, _null) = driver(CPU);
    let x = dense(BASE, F16, &[2, 65]);
    softmax_ok(&x, &x, 64);
    assert!(host().last_ir().contains("@softmax_chunked_kernel_entry"));
    softmax_ok(&x, &x, 128);
    assert!(host().last_ir().contains("@softmax_single_tile_kernel_entry"));
}

#[test]
fn every_tensor_is_declared_to_the_cpu_device() {
    let (_one, null) = driver(CPU);
    let out = strided(BASE, F16, &[5, 70], &[80, 1]);
    let inp = strided(BASE + 0x1000, F16, &[5, 140], &[144, 1]);
    assert_eq!(silu(&out, &inp, 128), rc::OK, "{}", last_error());
    let spans = [("out".to_owned(), BASE, (4 * 80 + 70) * 2), ("inp".to_owned(), BASE + 0x1000, (4 * 144 + 140) * 2)];
    assert_eq!(null.ranges(), spans);
}

#[test]
fn a_negative_row_stride_spans_below_the_first_element() {
    let (_one, null) = driver(CPU);
    let out = dense(BASE, F32, &[3, 8]);
    let inp = strided(BASE + 0x1000, F32, &[3, 16], &[-32, 1]);
    assert_eq!(silu(&out, &inp, 8), rc::OK, "{}", last_error());
    assert_eq!(null.ranges()[1], ("inp".to_owned(), BASE + 0x1000 - 64 * 4, (64 + 16) * 4));
}

#[test]
fn values_of_one_class_share_a_kernel() {
    let (_one, _null) = driver(CPU);
    let shape = |rows, address| dense(address, F32, &[rows, 256]);
    softmax_ok(&shape(16, BASE), &shape(16, BASE), 1024);
    let before = counters().compiles;
    softmax_ok(&shape(48, BASE + 0x30), &shape(48, BASE + 0x8000_0000), 1024);
    assert_eq!(counters().compiles, before);
}

#[test]
fn a_misaligned_address_is_a_class_of_its_own() {
    let (_one, _null) = driver(CPU);
    let x = dense(BASE, F16, &[16, 512]);
    let offset = dense(BASE + 2, F16, &[16, 512]);
    softmax_ok(&x, &x, 512);
    let before = counters().compiles;
    softmax_ok(&x, &offset, 512);
    assert_eq!(counters().compiles, before + 1);
}

#[test]
fn two_threads_compile_once() {
    let (_one, null) = driver(CPU);
    let before = counters();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| softmax_ok(&dense(BASE, BF16, &[16, 2048]), &dense(BASE, BF16, &[16, 2048]), 2048));
        }
    });
    assert_eq!(counters().compiles, before.compiles + 1);
    assert_eq!(counters().launches, before.launches + 2);
    assert_eq!(null.count("cuModuleLoadData"), 1);
}

#[test]
fn loading_relaxes_and_restores_the_capture_mode() {
    let (_one, null) = driver(CPU);
    let x = dense(BASE, BF16, &[1, 80]);
    softmax_ok(&x, &x, 128);
    assert_eq!(null.count("cuThreadExchangeStreamCaptureMode"), 2);
    softmax_ok(&x, &x, 128);
    assert_eq!(null.count("cuThreadExchangeStreamCaptureMode"), 2);
}

#[test]
fn a_captured_stream_takes_loaded_kernels_only() {
    let (_one, null) = driver(CPU);
    let x = dense(BASE, BF16, &[1, 160]);
    null.set_capturing(true);
    assert_eq!(softmax(&x, &x, 256, CPU_DEVICE, 5), rc::LAUNCH_FAILED);
    let text = "softmax: kernel softmax_single_tile_kernel is not loaded yet and its stream is being captured into a graph; \
                call the op once with arguments like these before the capture";
    assert_eq!((last_error().as_str(), null.count("cuModuleLoadData")), (text, 0));
    null.set_capturing(false);
    softmax_ok(&x, &x, 256);
    null.set_capturing(true);
    assert_eq!(softmax(&x, &x, 256, CPU_DEVICE, 5), rc::OK, "{}", last_error());
    assert_eq!(null.stream(), 5);
}

#[test]
fn devices_of_one_architecture_share_an_image() {
    let (_one, null) = driver(CUDA);
    let x = dense(BASE, F32, &[4, 320]);
    let before = counters().compiles;
    for device in [0, 1, 0, 1] {
        assert_eq!(softmax(&x, &x, 512, device, 0), rc::OK, "{}", last_error());
    }
    assert_eq!((counters().compiles - before, null.count("cuModuleLoadData")), (1, 2));
}

#[test]
fn a_launch_runs_in_the_context_of_its_device_and_leaves_the_callers() {
    let (_one, null) = driver(CUDA);
    let x = dense(BASE, F32, &[4, 192]);
    null.set_current(0x1000);
    assert_eq!(softmax(&x, &x, 256, 1, 0), rc::OK, "{}", last_error());
    assert_eq!((null.current(), null.launch_context()), (0x1000, 0x1001));
}

#[test]
fn cuda_is_refused_after_a_fork() {
    let (_one, null) = driver(CUDA);
    let x = dense(BASE, BF16, &[4, 448]);
    assert_eq!(softmax(&x, &x, 512, 0, 0), rc::OK, "{}", last_error());
    // SAFETY: the child only launches, looks and leaves.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let refused = softmax(&x, &x, 512, 0, 0) == rc::DEVICE_FAILED && last_error().contains("'spawn'");
        // SAFETY: ends the child without the test harness.
        unsafe { libc::_exit(if refused { 0 } else { 1 }) };
    }
    let mut status = -1;
    // SAFETY: a child of ours and a valid out-argument.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(status, 0);
    assert_eq!(softmax(&x, &x, 512, 0, 0), rc::OK, "{}", last_error());
    assert_eq!(null.count("cuLaunchKernel"), 2);
}

#[test]
fn a_failed_launch_names_the_status_and_the_report() {
    let (_one, null) = driver(CPU);
    let x = dense(BASE, F32, &[1, 96]);
    softmax_ok(&x, &x, 128);
    let before = counters().launches;
    null.fail("cuLaunchKernel", 700);
    null.set_report("softmax: read outside x");
    assert_eq!(softmax(&x, &x, 128, CPU_DEVICE, 0), rc::LAUNCH_FAILED);
    let text = "softmax: launch of softmax_single_tile_kernel failed with CUDA_ERROR_NULL (700): read outside x";
    assert_eq!(last_error(), text);
    assert_eq!(counters().launches, before);
}

#[test]
fn a_cancelled_launch_has_its_own_code() {
    let (_one, null) = driver(CPU);
    let x = dense(BASE, F32, &[1, 96]);
    softmax_ok(&x, &x, 128);
    null.fail("cuLaunchKernel", 719);
    null.set_report("cancelled after 3 of 8 tile blocks");
    assert_eq!(softmax(&x, &x, 128, CPU_DEVICE, 0), rc::CANCELLED);
    assert_eq!(last_error(), "softmax: launch of softmax_single_tile_kernel was cancelled");
}

#[test]
fn an_ordinal_beyond_the_devices_is_refused() {
    let (_one, _null) = driver(CUDA);
    let x = dense(BASE, F32, &[1, 8]);
    assert_eq!(softmax(&x, &x, 8, 2, 0), rc::DEVICE_FAILED);
    assert!(last_error().contains("wanted an ordinal below 2, got 2"), "{}", last_error());
}

#[test]
fn an_empty_inner_dimension_still_writes_zeros() {
    let (_one, null) = driver(CPU);
    let (c, a, b) = (dense(BASE, F16, &[16, 16]), dense(0, F16, &[16, 0]), dense(0, F16, &[0, 16]));
    assert_eq!(matmul(&c, &a, &b, 1, 0), rc::OK, "{}", last_error());
    assert_eq!(null.count("cuLaunchKernel"), 1);
    assert_eq!(null.ranges().len(), 1);
}
