//! The C ABI shared with the host runtime: plain data, laid out as its header declares.

use core::ffi::{CStr, c_char};

use crate::dtype::DTypes;

pub const ABI_VERSION: u32 = 2;
/// Largest rank a descriptor carries.
pub const MAX_RANK: usize = 5;

/// A borrowed view of a tensor. The caller owns the memory and keeps it alive until the launch has completed in stream
/// order. Entries of `shape` and `strides` at and beyond `ndim` are ignored.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TensorDesc {
    /// Address of element 0, storage offset included.
    pub ptr: u64,
    pub ndim: i32,
    /// Elements.
    pub shape: [i64; MAX_RANK],
    /// Elements.
    pub strides: [i64; MAX_RANK],
    /// A code of [`crate::dtype`].
    pub dtype: i32,
}

/// Codes returned by every exported function that can fail. -1 is left out: it means "automatic" in launch options.
pub mod rc {
    pub const OK: i32 = 0;
    pub const UNSUPPORTED_DTYPE: i32 = -2;
    pub const LAUNCH_FAILED: i32 = -3;
    pub const DEVICE_FAILED: i32 = -4;
    pub const NULL_POINTER: i32 = -5;
    pub const INVALID_ARGUMENTS: i32 = -6;
    pub const CANCELLED: i32 = -7;
    pub const PANICKED: i32 = -8;
}

#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    Tensor = 0,
    I32 = 1,
    I64 = 2,
    F32 = 3,
    Device = 4,
    Stream = 5,
}

#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    In = 0,
    Out = 1,
    InOut = 2,
}

/// One argument of a packed call; which field counts is the parameter's kind.
#[repr(C)]
#[derive(Clone, Copy)]
pub union PackedArg {
    pub tensor: *const TensorDesc,
    /// i32, i64 and the device.
    pub integer: i64,
    pub stream: u64,
    /// f32.
    pub floating: f64,
}

/// One parameter of an op. Strings are NUL-terminated and static.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ParamRow {
    pub name: *const c_char,
    pub doc: *const c_char,
    pub kind: ParamKind,
    pub direction: Direction,
    /// Tensors: the required rank, or -1 for any.
    pub rank: i32,
    /// Tensors: the accepted codes.
    pub dtypes: DTypes,
    pub has_default: i32,
    pub reserved: i32,
    pub default_value: PackedArg,
}

// SAFETY: rows are immutable and their pointers refer to static strings.
unsafe impl Sync for ParamRow {}

impl ParamRow {
    const fn new(kind: ParamKind, name: &'static CStr, doc: &'static CStr) -> Self {
        Self {
            name: name.as_ptr(),
            doc: doc.as_ptr(),
            kind,
            direction: Direction::In,
            rank: -1,
            dtypes: DTypes(0),
            has_default: 0,
            reserved: 0,
            default_value: PackedArg { integer: 0 },
        }
    }

    pub const fn tensor(
        name: &'static CStr,
        doc: &'static CStr,
        direction: Direction,
        rank: i32,
        dtypes: DTypes,
    ) -> Self {
        Self { direction, rank, dtypes, ..Self::new(ParamKind::Tensor, name, doc) }
    }

    pub const fn i32(name: &'static CStr, doc: &'static CStr) -> Self {
        Self::new(ParamKind::I32, name, doc)
    }

    pub const fn i64(name: &'static CStr, doc: &'static CStr) -> Self {
        Self::new(ParamKind::I64, name, doc)
    }

    pub const fn f32(name: &'static CStr, doc: &'static CStr) -> Self {
        Self::new(ParamKind::F32, name, doc)
    }

    /// The same row with a default of its own kind.
    pub const fn with_default(self, value: Scalar) -> Self {
        let default_value = match value {
            Scalar::Integer(integer) => PackedArg { integer },
            Scalar::Floating(floating) => PackedArg { floating },
        };
        Self { has_default: 1, default_value, ..self }
    }

    /// The two parameters that end every op's list.
    pub const DEVICE: Self = Self::new(ParamKind::Device, c"device_id", c"Device ordinal; -1 is the CPU device.");
    pub const STREAM: Self = Self::new(ParamKind::Stream, c"raw_stream", c"Stream handle; 0 is the default stream.");
}

/// A default value before it is packed.
#[derive(Clone, Copy)]
pub enum Scalar {
    Integer(i64),
    Floating(f64),
}

/// Thunk of an op: `count` arguments in the order of its parameter rows.
pub type PackedFn = unsafe extern "C" fn(arguments: *const PackedArg, count: usize) -> i32;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct OpRow {
    pub name: *const c_char,
    pub doc: *const c_char,
    pub params: *const ParamRow,
    pub param_count: usize,
    /// Names of the kernel functions this op may launch.
    pub entries: *const Name,
    pub entry_count: usize,
    pub packed: PackedFn,
}

// SAFETY: rows are immutable and their pointers refer to static data.
unsafe impl Sync for OpRow {}

impl OpRow {
    pub const fn new(
        name: &'static CStr,
        doc: &'static CStr,
        params: &'static [ParamRow],
        entries: &'static [Name],
        packed: PackedFn,
    ) -> Self {
        Self {
            name: name.as_ptr(),
            doc: doc.as_ptr(),
            params: params.as_ptr(),
            param_count: params.len(),
            entries: entries.as_ptr(),
            entry_count: entries.len(),
            packed,
        }
    }
}

/// A name in a list that C reads.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Name(*const c_char);

// SAFETY: made of static strings only.
unsafe impl Sync for Name {}

impl Name {
    pub const fn of(name: &'static CStr) -> Self {
        Self(name.as_ptr())
    }
}

/// Exported as `cutile_kernels_manifest_v1`.
#[repr(C)]
pub struct Manifest {
    pub abi_version: u32,
    pub tensor_desc_size: u32,
    pub max_rank: u32,
    pub op_count: u32,
    pub ops: *const OpRow,
    /// What the build passed in TILEGYM_SOURCE_FINGERPRINT, or "".
    pub source_fingerprint: *const c_char,
    pub cutile_version: *const c_char,
}

// SAFETY: the manifest is immutable and its pointers refer to static data.
unsafe impl Sync for Manifest {}

/// Services of the host process. Null entries are absent. Images are bytecode for the CPU device and cubins for a GPU;
/// `kind` is that of the driver that loads them.
///
/// A key is text: lines "name=value" that describe the kernel, an empty line, then whatever else decides the image. It
/// does not depend on the kind of driver.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct HostTable {
    /// `size_of::<HostTable>()` of the host's header.
    pub size: usize,
    /// Looks a compiled image up; returns its length and sets the pointer (valid until release), or returns 0.
    pub lookup:
        Option<unsafe extern "C" fn(kind: i32, key: *const u8, key_size: usize, image: *mut *const u8) -> usize>,
    pub release: Option<unsafe extern "C" fn(image: *const u8)>,
    pub store:
        Option<unsafe extern "C" fn(kind: i32, key: *const u8, key_size: usize, image: *const u8, image_size: usize)>,
    /// Level 0 trace, 1 debug, 2 info, 3 warning, 4 error.
    pub log: Option<unsafe extern "C" fn(level: i32, text: *const c_char, length: usize)>,
    /// Value of a setting, or null where it is unset; valid until the next call on the thread.
    pub setting: Option<unsafe extern "C" fn(name: *const c_char) -> *const c_char>,
    /// Compiles bytecode for a target; `title` says what it is. OK sets the image (valid until release) and its length,
    /// every other code sets the reason (valid until the next call on the thread).
    pub assemble: Option<
        unsafe extern "C" fn(
            title: *const c_char,
            target: *const c_char,
            bytecode: *const u8,
            bytecode_size: usize,
            image: *mut *const u8,
            image_size: *mut usize,
            reason: *mut *const c_char,
        ) -> i32,
    >,
}

/// Launches submitted, kernels compiled and nanoseconds spent compiling, all since load.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Counters {
    pub launches: u64,
    pub compiles: u64,
    pub compile_nanoseconds: u64,
}

/// One span of memory a launch may touch.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RangeRow {
    pub pointer: u64,
    pub bytes: u64,
    /// Argument name; lives until the launch call returns.
    pub name: *const c_char,
}

/// What the CPU device offers beyond the driver API, fetched with `cuGetExportTable`.
#[repr(C)]
pub struct PrivateTable {
    /// Size of the table the driver fills; a field counts only when it lies within.
    pub size: usize,
    pub set_launch_ranges: Option<unsafe extern "C" fn(rows: *const RangeRow, count: usize, op: *const c_char) -> i32>,
    pub configure: Option<unsafe extern "C" fn(name: *const c_char, value: *const c_char) -> i32>,
    pub set_cancelled: Option<unsafe extern "C" fn(cancelled: i32)>,
    pub last_report: Option<unsafe extern "C" fn(buffer: *mut c_char, capacity: usize) -> usize>,
    pub launch_totals: Option<unsafe extern "C" fn(launches: *mut u64, nanoseconds: *mut u64)>,
}

/// Identifies [`PrivateTable`]: 6d1f0a52-8f0e-4a83-9b60-74696c656779.
pub const PRIVATE_TABLE_ID: [u8; 16] =
    [0x6d, 0x1f, 0x0a, 0x52, 0x8f, 0x0e, 0x4a, 0x83, 0x9b, 0x60, 0x74, 0x69, 0x6c, 0x65, 0x67, 0x79];

/// The text up to its NUL as a C string, without a leading space (doc comments begin with one).
pub const fn c_text(text: &'static str) -> &'static CStr {
    let bytes = text.as_bytes();
    let bytes = if bytes[0] == b' ' { bytes.split_at(1).1 } else { bytes };
    match CStr::from_bytes_with_nul(bytes) {
        Ok(text) => text,
        Err(_) => panic!("texts end with their only NUL"),
    }
}
