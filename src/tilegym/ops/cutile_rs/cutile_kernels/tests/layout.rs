//! The Rust declarations agree with the C++ headers they mirror.

use std::path::Path;
use std::process::Command;

use core::mem::offset_of;
use cutile_kernels::abi::*;
use cutile_kernels::dtype;

/// What a C++ program made of the headers prints.
fn cpp_layout() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../..");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common/layout.cpp");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("layout");
    let status = Command::new("c++")
        .args(["-std=c++20", "-I"])
        .arg(root.join("csrc"))
        .arg("-o")
        .arg(&program)
        .arg(source)
        .status();
    assert!(status.expect("a C++ compiler is needed").success());
    String::from_utf8(Command::new(&program).output().unwrap().stdout).unwrap()
}

macro_rules! fields {
    ($out:ident, $type:ident, $($field:ident)+) => {
        fields!($out, $type, format!(" {}", size_of::<$type>()), $($field)+);
    };
    ($out:ident, $type:ident, $size:expr, $($field:ident)+) => {
        $out += &format!("{}{}", stringify!($type), $size);
        $( $out += &format!(" {}={}", stringify!($field), offset_of!($type, $field)); )+
        $out += "\n";
    };
}

#[test]
fn structures_match_the_headers() {
    let mut rust = String::new();
    fields!(rust, TensorDesc, ptr ndim shape strides dtype);
    fields!(rust, ParamRow, name doc kind direction rank dtypes has_default reserved default_value);
    fields!(rust, OpRow, name doc params param_count entries entry_count packed);
    fields!(rust, Manifest, abi_version tensor_desc_size max_rank op_count ops source_fingerprint cutile_version);
    fields!(rust, HostTable, size lookup release store log setting);
    fields!(rust, Counters, launches compiles compile_nanoseconds);
    fields!(rust, RangeRow, pointer bytes name);
    fields!(rust, PrivateTable, "", size set_launch_ranges configure set_cancelled last_report launch_totals);
    rust += &format!("Arg {}\n", size_of::<PackedArg>());
    rust += &format!("version {ABI_VERSION} rank {MAX_RANK}\n");
    let codes = [rc::OK, rc::UNSUPPORTED_DTYPE, rc::LAUNCH_FAILED, rc::DEVICE_FAILED, rc::NULL_POINTER];
    rust += &format!("codes {codes:?} {:?}\n", [rc::INVALID_ARGUMENTS, rc::CANCELLED, rc::PANICKED]);
    let kinds = [ParamKind::Tensor, ParamKind::I32, ParamKind::I64, ParamKind::F32, ParamKind::Device];
    rust += &format!("kinds {:?} {}\n", kinds.map(|kind| kind as i32), ParamKind::Stream as i32);
    rust += &format!("directions {:?}\n", [Direction::In, Direction::Out, Direction::InOut].map(|it| it as i32));
    let floats = [dtype::F32, dtype::F16, dtype::BF16, dtype::F8E5M2, dtype::F4E2M1X2, dtype::F8E4M3FN];
    rust += &format!("dtypes {floats:?} {:?}\n", [dtype::I32, dtype::I64]);
    rust += &format!("table {:?}\n", PRIVATE_TABLE_ID);
    assert_eq!(rust, cpp_layout());
}
