//! The library's own C functions, beside those of its ops.

use core::ffi::{CStr, c_char};

use crate::abi::{Counters, HostTable, rc};
use crate::error::{self, Error, guard};
use crate::{cold, driver, host, launch};

/// Loads the driver of a kind (0 cuda, 1 cpu) from a path. Binding the same path again changes nothing.
///
/// # Safety
/// `path` is null or a NUL-terminated text; the library it names is a driver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cutile_bind_driver(kind: i32, path: *const c_char) -> i32 {
    error::note_panics();
    guard(|| {
        if path.is_null() {
            return Err(Error::new(rc::NULL_POINTER, "cutile_bind_driver: argument path: wanted a path, got null"));
        }
        // SAFETY: not null, and NUL-terminated by the caller's promise.
        driver::bind(kind, unsafe { CStr::from_ptr(path) })
    })
}

/// Gives the library the services of its host; see `HostTable`.
///
/// # Safety
/// `host` is null or points at a table whose `size` is right and whose functions stay callable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cutile_bind_host(host: *const HostTable) -> i32 {
    error::note_panics();
    // SAFETY: by the caller's promise.
    guard(|| unsafe { host::bind(host) })
}

/// Text of the calling thread's last failure, or an empty text. Valid until the thread's next call into the library.
#[unsafe(no_mangle)]
pub extern "C" fn cutile_last_error() -> *const c_char {
    error::last_error()
}

/// Counts since load.
///
/// # Safety
/// `out` is null, then nothing happens, or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cutile_counters(out: *mut Counters) {
    let (compiles, compile_nanoseconds) = cold::compiles();
    let counters = Counters { launches: launch::launches(), compiles, compile_nanoseconds };
    // SAFETY: by the caller's promise.
    if let Some(out) = unsafe { out.as_mut() } {
        *out = counters;
    }
}
