//! Services of the host process: image cache, log, settings. All of them are optional.

use core::ffi::{CStr, c_char};
use core::ptr::{copy_nonoverlapping, null, null_mut};
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::abi::{HostTable, rc};
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
pub fn lookup(key: &[u8]) -> Option<Vec<u8>> {
    let host = host()?;
    let mut image: *const u8 = null();
    // SAFETY: key and length belong together; `image` is a valid out-argument.
    let bytes = unsafe { host.lookup?(key.as_ptr(), key.len(), &mut image) };
    if bytes == 0 || image.is_null() {
        return None;
    }
    // SAFETY: the host promises `bytes` readable bytes until release.
    let copy = unsafe { core::slice::from_raw_parts(image, bytes) }.to_vec();
    if let Some(release) = host.release {
        // SAFETY: `image` came from lookup and is not used again.
        unsafe { release(image) };
    }
    Some(copy)
}

pub fn store(key: &[u8], image: &[u8]) {
    if let Some(store) = host().and_then(|host| host.store) {
        // SAFETY: pointers and lengths belong together; the host copies.
        unsafe { store(key.as_ptr(), key.len(), image.as_ptr(), image.len()) };
    }
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
