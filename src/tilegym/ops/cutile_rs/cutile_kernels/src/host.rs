//! Services of the host process: image cache, compiler, log, settings. A kernel for a GPU needs the compiler; the others
//! are optional.

use core::ffi::{CStr, c_char};
use core::ptr::{copy_nonoverlapping, null, null_mut};
use core::sync::atomic::{AtomicPtr, Ordering};
use std::ffi::CString;

use crate::abi::{HostTable, rc};
use crate::driver::Kind;
use crate::error::{Error, Result, lossy};

static HOST: AtomicPtr<HostTable> = AtomicPtr::new(null_mut());

#[derive(Clone, Copy)]
pub enum Level {
    Trace = 0,
    Debug = 1,
    Warning = 3,
}

/// Keeps a copy of the host's table. A shorter table, from an older host, lacks its last entries.
///
/// # Safety
/// `table` is null or points at a table whose `size` field tells its length; its functions stay callable.
pub unsafe fn bind(table: *const HostTable) -> Result<()> {
    if table.is_null() {
        return Err(Error::new(rc::NULL_POINTER, "cutile_bind_host: argument host: wanted a table, got null"));
    }
    // SAFETY: not null; the size field is the first one of every version.
    let size = unsafe { (*table).size };
    let mut copy = HostTable::default();
    // SAFETY: at most `size` bytes are read and at most the copy's own length is written; absent entries stay zero,
    // which is None.
    unsafe {
        copy_nonoverlapping(table.cast::<u8>(), (&raw mut copy).cast::<u8>(), size.min(size_of::<HostTable>()));
    }
    // Binding happens once or twice a process; a replaced table may still be in use by another thread.
    HOST.store(Box::leak(Box::new(copy)), Ordering::Release);
    Ok(())
}

fn host() -> Option<&'static HostTable> {
    // SAFETY: null or a leaked, fully written table.
    unsafe { HOST.load(Ordering::Acquire).as_ref() }
}

/// A stored image, copied.
pub fn lookup(kind: Kind, key: &str) -> Option<Vec<u8>> {
    let host = host()?;
    let mut image: *const u8 = null();
    // SAFETY: key and length belong together; `image` is a valid out-argument.
    let bytes = unsafe { host.lookup?(kind as i32, key.as_ptr(), key.len(), &mut image) };
    // SAFETY: what lookup returned, once.
    unsafe { take(host, image, bytes) }
}

/// Copies an image of the host and gives it back; None where it is empty.
///
/// # Safety
/// `image` is null or has `bytes` readable bytes until it is released, which happens here.
unsafe fn take(host: &HostTable, image: *const u8, bytes: usize) -> Option<Vec<u8>> {
    if bytes == 0 || image.is_null() {
        return None;
    }
    // SAFETY: not null, and readable by the caller's promise.
    let copy = unsafe { core::slice::from_raw_parts(image, bytes) }.to_vec();
    if let Some(release) = host.release {
        // SAFETY: `image` came from the host and is not used again.
        unsafe { release(image) };
    }
    Some(copy)
}

pub fn store(kind: Kind, key: &str, image: &[u8]) {
    if let Some(store) = host().and_then(|host| host.store) {
        // SAFETY: pointers and lengths belong together; the host copies.
        unsafe { store(kind as i32, key.as_ptr(), key.len(), image.as_ptr(), image.len()) };
    }
}

/// Bytecode to a GPU's image. The error holds what the compiler said.
pub fn assemble(title: &str, target: &str, bytecode: &[u8]) -> Result<Vec<u8>> {
    let Some((host, assemble)) = host().and_then(|host| Some((host, host.assemble?))) else {
        return Err(Error::launch(format!(
            "{title}: no compiler for {target}: the host offers none to cutile_bind_host"
        )));
    };
    let (mut image, mut bytes, mut reason) = (null(), 0, null());
    let (title, target) = (c_string(title), c_string(target));
    let code = bytecode.as_ptr();
    // SAFETY: texts are NUL-terminated, pointer and length belong together, and the rest are valid out-arguments.
    let status =
        unsafe { assemble(title.as_ptr(), target.as_ptr(), code, bytecode.len(), &mut image, &mut bytes, &mut reason) };
    if status != rc::OK {
        // SAFETY: null or a NUL-terminated text, copied before the thread's next call.
        return Err(Error::new(status, unsafe { lossy(reason) }));
    }
    // SAFETY: what assemble returned, once.
    unsafe { take(host, image, bytes) }
        .ok_or_else(|| Error::launch(format!("{}: the host's compiler returned nothing", title.to_string_lossy())))
}

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// Logs a text, which is only made where there is a log.
pub fn log(level: Level, text: impl FnOnce() -> String) {
    if let Some(log) = host().and_then(|host| host.log) {
        let text = text();
        // SAFETY: pointer and length belong together.
        unsafe { log(level as i32, text.as_ptr().cast::<c_char>(), text.len()) };
    }
}

/// A setting's text, where the host has one.
pub fn setting(name: &CStr) -> Option<String> {
    let setting = host()?.setting?;
    // SAFETY: the name is NUL-terminated.
    let value = unsafe { setting(name.as_ptr()) };
    // SAFETY: null or a NUL-terminated text that is valid until this thread's next call.
    (!value.is_null()).then(|| unsafe { lossy(value) })
}
