//! Where images come from: compiled, assembled, or found in the host's cache.

mod common;

use common::{CPU, CUDA, counters, dense, driver, folder, host, last_error, write_script};
use cutile_kernels::abi::rc;
use cutile_kernels::dtype::{F16, F32};
use cutile_kernels::softmax;

/// A launch whose block size no other test uses is a compile.
fn softmax(block: i32, device: i32) -> i32 {
    let x = dense(0x10_0000, F32, &[16, 16]);
    // SAFETY: live descriptors; the null driver never touches their memory.
    unsafe { softmax::unpacked(&x, &x, block, -1, -1, device, 0) }
}

/// A tileiras that hands its input on as output.
const COPY: &str = r#"while [ "$1" != -o ]; do shift; done; cp "$3" "$2""#;

#[test]
fn cpu_images_are_bytecode() {
    let (_one, _null) = driver(CPU);
    assert_eq!(softmax(16, -1), rc::OK, "{}", last_error());
    let (key, image) = host().stored().pop().unwrap();
    assert!(key.contains("format=bytecode") && key.contains("generics=f32,16") && key.contains("arch=sm_90"), "{key}");
    assert!(cutile_ir::decode_bytecode(&image).unwrap().contains("@softmax_single_tile_kernel_entry"));
}

#[test]
fn cuda_images_are_made_for_the_devices_target() {
    let (_one, _null) = driver(CUDA);
    let log = folder().join("args");
    host().set_tileiras(&write_script("log", &format!("echo \"$@\" >> {}; {COPY}", log.display())));
    assert_eq!(softmax(32, 0), rc::OK, "{}", last_error());
    let args = std::fs::read_to_string(log).unwrap();
    assert!(args.contains("--gpu-name sm_90 --opt-level 3 -o "), "{args}");
    let input = args.split_whitespace().last().unwrap();
    assert!(!std::path::Path::new(input).parent().unwrap().exists(), "the temporary folder is removed");
}

#[test]
fn a_failing_assembler_is_quoted_and_its_input_kept() {
    let (_one, _null) = driver(CUDA);
    let script = write_script("fail", "echo out of registers >&2; exit 3");
    host().set_tileiras(&script);
    assert_eq!(softmax(64, 0), rc::LAUNCH_FAILED);
    let text = last_error();
    let start = format!("softmax: kernel softmax_single_tile_kernel<f32, 64> for sm_90: {}: ", script.display());
    assert!(text.starts_with(&start) && text.contains("exit status: 3: out of registers"), "{text}");
    let kept = text.split("the bytecode is kept in ").nth(1).expect("a folder");
    assert!(std::path::Path::new(kept).join("kernel.tileirbc").exists());
    std::fs::remove_dir_all(kept).unwrap();
}

#[test]
fn a_missing_assembler_names_the_setting() {
    let (_one, _null) = driver(CUDA);
    host().set_tileiras(&folder().join("absent"));
    assert_eq!(softmax(128, 0), rc::LAUNCH_FAILED);
    assert!(last_error().contains("set CUTILE_TILEIRAS_PATH to a tileiras"), "{}", last_error());
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
