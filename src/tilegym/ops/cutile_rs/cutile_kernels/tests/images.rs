//! Where images come from: compiled, assembled, or found in the host's cache.

mod common;

use common::{CPU, CUDA, counters, dense, driver, host, last_error};
use cutile_kernels::abi::rc;
use cutile_kernels::dtype::{F16, F32};
use cutile_kernels::softmax;

/// A launch whose block size no other test uses is a compile.
fn softmax(block: i32, device: i32) -> i32 {
    let x = dense(0x10_0000, F32, &[16, 16]);
    // SAFETY: live descriptors; the null driver never touches their memory.
    unsafe { softmax::unpacked(&x, &x, block, -1, -1, device, 0) }
}

#[test]
fn cpu_images_are_bytecode() {
    let (_one, _null) = driver(CPU);
    assert_eq!(softmax(16, -1), rc::OK, "{}", last_error());
    let (key, image) = host().stored().pop().unwrap();
    assert!(
        key.contains("kernel=softmax_module::softmax_single_tile_kernel\n")
            && key.contains("generics=f32,16\n")
            && key.contains("arch=sm_90\n"),
        "{key}"
    );
    assert!(key.ends_with(include_str!("../../softmax_kernel/kernel.rs")), "{key}");
    assert!(cutile_ir::decode_bytecode(&image).unwrap().contains("@softmax_single_tile_kernel_entry"));
}

#[test]
fn cuda_images_are_made_for_the_devices_target() {
    let (_one, _null) = driver(CUDA);
    assert_eq!(softmax(32, 0), rc::OK, "{}", last_error());
    let (title, target, bytecode) = host().assembled().pop().unwrap();
    assert_eq!(title, "softmax_single_tile_kernel<E = f32, BLOCK = 32>(out: f32 [16, 16], x: f32 [16, 16]) for sm_90");
    assert_eq!(target, "sm_90");
    assert!(cutile_ir::decode_bytecode(&bytecode).is_ok());
}

#[test]
fn a_refusal_of_the_compiler_is_passed_on_and_stores_nothing() {
    let (_one, _null) = driver(CUDA);
    for (code, block) in [(rc::LAUNCH_FAILED, 64), (rc::CANCELLED, 64)] {
        host().refuse(code, "it ended with exit status 5");
        assert_eq!(softmax(block, 0), code);
        assert_eq!(last_error(), "softmax: it ended with exit status 5");
    }
    assert_eq!(host().stored().len(), 0);
    host().clear();
    assert_eq!(softmax(64, 0), rc::OK, "{}", last_error());
}

#[test]
fn every_call_compiles_where_the_host_asks_for_it() {
    let (_one, _null) = driver(CPU);
    host().set_mode("refresh");
    let before = counters().compiles;
    assert_eq!([softmax(128, -1), softmax(128, -1)], [rc::OK; 2], "{}", last_error());
    assert_eq!(counters().compiles - before, 2);
    host().set_mode("on");
    assert_eq!(softmax(128, -1), rc::OK, "{}", last_error());
    let loaded = counters().compiles;
    assert_eq!(softmax(128, -1), rc::OK, "{}", last_error());
    assert_eq!(counters().compiles, loaded);
}

#[test]
fn threads_that_need_one_kernel_share_one_compilation() {
    let (_one, _null) = driver(CPU);
    let before = counters().compiles;
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..16).map(|_| scope.spawn(|| softmax(2048, -1))).collect();
        assert!(calls.into_iter().all(|call| call.join().unwrap() == rc::OK));
    });
    assert_eq!(counters().compiles - before, 1);
}

#[test]
fn threads_that_need_different_kernels_get_all_of_them() {
    let (_one, _null) = driver(CPU);
    let before = counters().compiles;
    std::thread::scope(|scope| {
        let calls: Vec<_> = (12..18).map(|power| scope.spawn(move || softmax(1 << power, -1))).collect();
        assert!(calls.into_iter().all(|call| call.join().unwrap() == rc::OK), "{}", last_error());
    });
    assert_eq!(counters().compiles - before, 6);
}

#[test]
fn a_cached_image_is_loaded_without_compiling() {
    let (_one, null) = driver(CPU);
    host().offer(b"an image");
    let before = counters().compiles;
    assert_eq!(softmax(256, -1), rc::OK, "{}", last_error());
    assert_eq!((counters().compiles, null.count("cuModuleLoadData")), (before, 1));
    assert_eq!(host().stored().len(), 0);
}

#[test]
fn a_stale_cached_image_is_compiled_anew() {
    let (_one, null) = driver(CPU);
    host().offer(b"an image");
    null.fail("cuModuleLoadData", 200);
    assert_eq!(softmax(512, -1), rc::LAUNCH_FAILED);
    assert!(last_error().contains("cuModuleLoadData failed with CUDA_ERROR_NULL (200)"), "{}", last_error());
    assert!(host().log().iter().any(|(level, text)| *level == 3 && text.contains("does not load, compiling anew")));
    null.fail("cuModuleLoadData", 0);
    assert_eq!(softmax(512, -1), rc::OK, "{}", last_error());
}

#[test]
fn a_failed_compile_is_tried_again() {
    let (_one, null) = driver(CPU);
    null.fail("cuModuleGetFunction", 500);
    assert_eq!(softmax(1024, -1), rc::LAUNCH_FAILED);
    null.fail("cuModuleGetFunction", 0);
    assert_eq!(softmax(1024, -1), rc::OK, "{}", last_error());
}

#[test]
fn identity_tells_dtypes_apart() {
    let (_one, _null) = driver(CPU);
    let x = dense(0x10_0000, F16, &[16, 16]);
    // SAFETY: as above.
    assert_eq!(unsafe { softmax::unpacked(&x, &x, 16, -1, -1, -1, 0) }, rc::OK);
    assert!(host().stored()[0].0.contains("generics=f16,16"));
}
