//! The null driver and a recording host, for tests that launch without a device.
#![allow(dead_code)] // each test binary uses a part

use core::ffi::{CStr, c_char, c_void};
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use cutile_kernels::abi::{Counters, HostTable, MAX_RANK, TensorDesc};
use cutile_kernels::exports::{cutile_bind_driver, cutile_bind_host, cutile_counters, cutile_last_error};

pub const CUDA: i32 = 0;
pub const CPU: i32 = 1;

/// A folder for this test binary's files.
pub fn folder() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(program.file_name().unwrap());
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Compiles the null driver under a name of its own; two copies are two drivers.
pub fn build_null_driver(name: &str) -> PathBuf {
    let library = folder().join(format!("{name}.so"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common/null_driver.c");
    let status = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).status();
    assert!(status.expect("a C compiler is needed").success());
    library
}

/// The null driver's side door.
pub struct Null {
    handle: *mut c_void,
}

// SAFETY: the handle is never closed.
unsafe impl Send for Null {}
// SAFETY: as above.
unsafe impl Sync for Null {}

impl Null {
    fn symbol(&self, name: &CStr) -> *mut c_void {
        // SAFETY: the handle is open and the name NUL-terminated.
        let symbol = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        assert!(!symbol.is_null(), "{name:?}");
        symbol
    }

    fn with_text(&self, name: &CStr, text: &str) -> i32 {
        let text = CString::new(text).unwrap();
        // SAFETY: the null driver declares these as functions of one text.
        let function: unsafe extern "C" fn(*const c_char) -> i32 = unsafe { core::mem::transmute(self.symbol(name)) };
        // SAFETY: NUL-terminated.
        unsafe { function(text.into_raw()) }
    }

    fn number(&self, name: &CStr, index: i32) -> u64 {
        // SAFETY: the null driver declares these as functions from an index to a number or an address.
        let function: unsafe extern "C" fn(i32) -> u64 = unsafe { core::mem::transmute(self.symbol(name)) };
        // SAFETY: indices are within what the last launch filled.
        unsafe { function(index) }
    }

    pub fn count(&self, function: &str) -> i32 {
        self.with_text(c"null_count", function)
    }

    pub fn total(&self) -> i32 {
        self.number(c"null_total", 0) as i32
    }

    pub fn reset(&self) {
        self.number(c"null_reset", 0);
    }

    pub fn fail(&self, name: &str, status: i32) {
        let name = CString::new(name).unwrap();
        // SAFETY: declared so by the null driver, which keeps the name.
        let function: unsafe extern "C" fn(*const c_char, i32) =
            unsafe { core::mem::transmute(self.symbol(c"null_fail")) };
        // SAFETY: NUL-terminated and leaked.
        unsafe { function(name.into_raw(), status) }
    }

    pub fn set_report(&self, text: &str) {
        self.with_text(c"null_set_report", text);
    }

    /// Every stream is being captured into a graph, or none is.
    pub fn set_capturing(&self, capturing: bool) {
        self.number(c"null_set_capturing", i32::from(capturing));
    }

    pub fn set_layout(&self, layout: &str) {
        self.with_text(c"null_set_layout", layout);
    }

    pub fn values(&self, count: i32) -> Vec<u64> {
        (0..count).map(|i| self.number(c"null_value", i)).collect()
    }

    pub fn grid(&self) -> [u32; 3] {
        [0, 1, 2].map(|axis| self.number(c"null_grid", axis) as u32)
    }

    /// The context that was current at the last launch.
    pub fn launch_context(&self) -> u64 {
        self.number(c"null_launch_context", 0)
    }

    pub fn stream(&self) -> u64 {
        self.number(c"null_stream", 0)
    }

    pub fn ranges(&self) -> Vec<(String, u64, u64)> {
        let range = |i| {
            let name = self.number(c"null_range_name", i) as *const c_char;
            // SAFETY: the null driver returns a NUL-terminated name.
            let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap().to_owned();
            (name, self.number(c"null_range_pointer", i), self.number(c"null_range_bytes", i))
        };
        (0..self.number(c"null_range_count", 0) as i32).map(range).collect()
    }

    pub fn set_current(&self, context: u64) {
        // SAFETY: declared so by the null driver.
        let function: unsafe extern "C" fn(u64) = unsafe { core::mem::transmute(self.symbol(c"null_set_current")) };
        // SAFETY: the driver never follows the handle.
        unsafe { function(context) }
    }

    pub fn current(&self) -> u64 {
        self.number(c"null_current", 0)
    }
}

/// Binds a null driver once a process and kind.
fn bind(kind: i32) -> &'static Null {
    static NULLS: [OnceLock<Null>; 2] = [const { OnceLock::new() }; 2];
    NULLS[kind as usize].get_or_init(|| {
        let library = build_null_driver(&format!("null{kind}"));
        let path = CString::new(library.to_str().unwrap()).unwrap();
        // SAFETY: a NUL-terminated path of a driver.
        assert_eq!(unsafe { cutile_bind_driver(kind, path.as_ptr()) }, 0, "{}", last_error());
        // SAFETY: as above; the library is open already.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        assert!(!handle.is_null());
        Null { handle }
    })
}

/// A driver for one test at a time: counts start at zero.
pub fn driver(kind: i32) -> (MutexGuard<'static, ()>, &'static Null) {
    static ONE_TEST: Mutex<()> = Mutex::new(());
    let guard = ONE_TEST.lock().unwrap_or_else(PoisonError::into_inner);
    let null = bind(kind);
    null.reset();
    host().clear();
    (guard, null)
}

pub fn last_error() -> String {
    // SAFETY: a NUL-terminated text, copied before the next call.
    unsafe { CStr::from_ptr(cutile_last_error()) }.to_str().unwrap().to_owned()
}

pub fn counters() -> Counters {
    let mut counters = Counters::default();
    // SAFETY: a valid out-argument.
    unsafe { cutile_counters(&mut counters) };
    counters
}

/// What the recording host was told.
#[derive(Default)]
pub struct Host {
    pub stored: Vec<(String, Vec<u8>)>,
    /// Images that lookups find.
    pub offered: Option<Vec<u8>>,
    pub log: Vec<(i32, String)>,
    /// What the host's compiler was given: title, target and bytecode.
    pub assembled: Vec<(String, String, Vec<u8>)>,
    /// The code and the reason by which it fails, where it does.
    pub refusal: Option<(i32, CString)>,
    /// Value of the setting TILEGYM_RS_CACHE.
    pub mode: Option<CString>,
}

static HOST: Mutex<Option<Host>> = Mutex::new(None);

fn with_host<T>(act: impl FnOnce(&mut Host) -> T) -> T {
    act(HOST.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

pub struct HostHandle;

/// The host, bound on first use.
pub fn host() -> HostHandle {
    static BOUND: OnceLock<()> = OnceLock::new();
    BOUND.get_or_init(|| {
        let table = HostTable {
            size: size_of::<HostTable>(),
            lookup: Some(lookup),
            release: Some(release),
            store: Some(store),
            log: Some(log),
            setting: Some(setting),
            assemble: Some(assemble),
        };
        // SAFETY: a whole table of functions that stay.
        assert_eq!(unsafe { cutile_bind_host(&table) }, 0);
    });
    HostHandle
}

impl HostHandle {
    pub fn clear(&self) {
        with_host(|host| *host = Host::default());
    }

    pub fn offer(&self, image: &[u8]) {
        with_host(|host| host.offered = Some(image.to_vec()));
    }

    pub fn refuse(&self, code: i32, reason: &str) {
        with_host(|host| host.refusal = Some((code, CString::new(reason).unwrap())));
    }

    pub fn set_mode(&self, mode: &str) {
        with_host(|host| host.mode = Some(CString::new(mode).unwrap()));
    }

    pub fn assembled(&self) -> Vec<(String, String, Vec<u8>)> {
        with_host(|host| host.assembled.clone())
    }

    pub fn stored(&self) -> Vec<(String, Vec<u8>)> {
        with_host(|host| host.stored.clone())
    }

    pub fn log(&self) -> Vec<(i32, String)> {
        with_host(|host| host.log.clone())
    }

    /// Tile IR of the kernel compiled last.
    pub fn last_ir(&self) -> String {
        let ir = self.log().into_iter().filter(|(level, _)| *level == 0);
        ir.map(|(_, text)| text).next_back().expect("a kernel was compiled")
    }
}

unsafe extern "C" fn lookup(_kind: i32, _key: *const u8, _size: usize, image: *mut *const u8) -> usize {
    let Some(found) = with_host(|host| host.offered.clone()) else {
        return 0;
    };
    let leaked = Box::leak(found.into_boxed_slice());
    // SAFETY: the library passes a valid out-argument.
    unsafe { *image = leaked.as_ptr() };
    leaked.len()
}

unsafe extern "C" fn release(_image: *const u8) {}

unsafe extern "C" fn store(_kind: i32, key: *const u8, key_size: usize, image: *const u8, image_size: usize) {
    // SAFETY: the library passes pointers with their lengths.
    let (key, image) =
        unsafe { (core::slice::from_raw_parts(key, key_size), core::slice::from_raw_parts(image, image_size)) };
    with_host(|host| host.stored.push((String::from_utf8(key.to_vec()).unwrap(), image.to_vec())));
}

unsafe extern "C" fn log(level: i32, text: *const c_char, length: usize) {
    // SAFETY: the library passes a pointer with its length.
    let text = unsafe { core::slice::from_raw_parts(text.cast::<u8>(), length) };
    with_host(|host| host.log.push((level, String::from_utf8(text.to_vec()).unwrap())));
}

unsafe extern "C" fn setting(name: *const c_char) -> *const c_char {
    // SAFETY: the library passes a NUL-terminated name.
    let name = unsafe { CStr::from_ptr(name) };
    let mode = if name == c"TILEGYM_RS_CACHE" { with_host(|host| host.mode.clone()) } else { None };
    // Leaked: the text stays valid as the contract asks.
    mode.map_or(core::ptr::null(), |mode| mode.into_raw().cast_const())
}

/// Hands bytecode on as the cubin.
unsafe extern "C" fn assemble(
    title: *const c_char,
    target: *const c_char,
    bytecode: *const u8,
    size: usize,
    image: *mut *const u8,
    image_size: *mut usize,
    reason: *mut *const c_char,
) -> i32 {
    // SAFETY: the library passes NUL-terminated texts.
    let [title, target] = [title, target].map(|text| unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned());
    // SAFETY: a pointer with its length.
    let bytecode = unsafe { core::slice::from_raw_parts(bytecode, size) }.to_vec();
    with_host(|host| host.assembled.push((title, target, bytecode.clone())));
    if let Some((code, text)) = with_host(|host| host.refusal.clone()) {
        // SAFETY: a valid out-argument; leaked, as the contract asks.
        unsafe { *reason = text.into_raw() };
        return code;
    }
    let leaked = Box::leak(bytecode.into_boxed_slice());
    // SAFETY: valid out-arguments.
    unsafe {
        *image = leaked.as_ptr();
        *image_size = leaked.len();
    }
    0
}

/// A descriptor with the strides given.
pub fn strided(ptr: u64, dtype: i32, shape: &[i64], strides: &[i64]) -> TensorDesc {
    let mut desc = TensorDesc { ptr, ndim: shape.len() as i32, shape: [0; MAX_RANK], strides: [0; MAX_RANK], dtype };
    desc.shape[..shape.len()].copy_from_slice(shape);
    desc.strides[..shape.len()].copy_from_slice(strides);
    desc
}

/// A dense row-major descriptor.
pub fn dense(ptr: u64, dtype: i32, shape: &[i64]) -> TensorDesc {
    let strides: Vec<i64> = (0..shape.len()).map(|i| shape[i + 1..].iter().product()).collect();
    strided(ptr, dtype, shape, &strides)
}
