//! The table from which a host learns the ops.

use core::ffi::{CStr, c_char};

use cutile_kernels::abi::{ABI_VERSION, Direction, OpRow, ParamKind, ParamRow, TensorDesc};
use cutile_kernels::cutile_kernels_manifest_v1 as manifest;
use cutile_kernels::dtype::FLOATS;

fn text(text: *const c_char) -> String {
    // SAFETY: the manifest's texts are static and NUL-terminated.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned()
}

fn ops() -> &'static [OpRow] {
    // SAFETY: the manifest's pointers and counts belong together.
    unsafe { core::slice::from_raw_parts(manifest.ops, manifest.op_count as usize) }
}

fn op(name: &str) -> &'static OpRow {
    ops().iter().find(|op| text(op.name) == name).expect(name)
}

fn params(op: &OpRow) -> &'static [ParamRow] {
    // SAFETY: as above.
    unsafe { core::slice::from_raw_parts(op.params, op.param_count) }
}

/// A parameter as its C declaration would read, with its default.
fn signature(op: &OpRow) -> Vec<String> {
    let one = |param: &ParamRow| {
        let name = text(param.name);
        // SAFETY: no op has a float default yet.
        let default = unsafe { param.default_value.integer };
        match (param.kind, param.has_default) {
            (ParamKind::Tensor, 0) => format!("{:?} {name}", param.direction),
            (kind, 0) => format!("{kind:?} {name}"),
            (kind, _) => format!("{kind:?} {name}={default}"),
        }
    };
    params(op).iter().map(one).collect()
}

#[test]
fn it_tells_the_abi() {
    assert_eq!(manifest.abi_version, ABI_VERSION);
    assert_eq!(manifest.tensor_desc_size as usize, size_of::<TensorDesc>());
    assert_eq!(manifest.max_rank, 5);
    assert_eq!(text(manifest.source_fingerprint), option_env!("TILEGYM_SOURCE_FINGERPRINT").unwrap_or(""));
}

#[test]
fn it_tells_the_pinned_cutile_version() {
    let pinned = format!("cutile = \"={}\"", text(manifest.cutile_version));
    assert!(include_str!("../Cargo.toml").contains(&pinned), "{pinned}");
}

#[test]
fn every_op_of_the_crate_is_listed_once() {
    let names: Vec<_> = ops().iter().map(|op| text(op.name)).collect();
    assert_eq!(names, ["softmax", "silu_and_mul", "swiglu", "matmul", "bmm", "attention_sink"]);
}

#[test]
fn signatures_are_the_declared_ones() {
    let tail = ["I32 num_cta_in_cga=-1", "I32 occupancy=-1"];
    let ends = ["Device device_id", "Stream raw_stream"];
    let softmax = [&["Out out", "In x", "I32 block_size"][..], &tail, &ends].concat();
    assert_eq!(signature(op("softmax")), softmax);
    let silu_and_mul = [&["Out out", "In inp", "I32 block_size"][..], &tail, &ends].concat();
    assert_eq!(signature(op("silu_and_mul")), silu_and_mul);
    let tiles = ["Out c", "In a", "In b", "I32 bm", "I32 bn", "I32 bk", "I32 group_size_m=8", "I32 num_programs"];
    let matmul = [&tiles[..], &tail, &["I32 persistent=0", "I32 allow_tf32=0"], &ends].concat();
    assert_eq!(signature(op("matmul")), matmul);
}

#[test]
fn tensors_tell_rank_and_dtypes() {
    let x = &params(op("softmax"))[1];
    assert_eq!((x.kind, x.direction, x.rank, x.dtypes), (ParamKind::Tensor, Direction::In, 2, FLOATS));
}

#[test]
fn every_row_is_documented() {
    for op in ops() {
        let docs = params(op).iter().map(|param| param.doc).chain([op.doc]).map(text);
        assert!(docs.into_iter().all(|doc| doc.ends_with('.') && !doc.starts_with(' ')), "{}", text(op.name));
    }
}

#[test]
fn entries_name_the_kernels() {
    let op = op("matmul");
    // SAFETY: as above; a name is one pointer.
    let entries = unsafe { core::slice::from_raw_parts(op.entries.cast::<*const c_char>(), op.entry_count) };
    let names: Vec<_> = entries.iter().map(|entry| text(*entry)).collect();
    assert_eq!(names, ["matmul_non_persistent_kernel", "matmul_static_persistent_kernel"]);
}
