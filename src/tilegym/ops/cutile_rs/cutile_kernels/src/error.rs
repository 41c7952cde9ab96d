//! Failures inside, codes and texts outside. No panic crosses the C boundary.

use core::ffi::{CStr, c_char};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use crate::abi::rc;

/// A failure: the code the caller gets and the text behind it.
#[derive(Clone, Debug)]
pub struct Error {
    pub code: i32,
    pub text: String,
}

pub type Result<T> = core::result::Result<T, Error>;

impl Error {
    pub fn new(code: i32, text: impl Into<String>) -> Self {
        Self { code, text: text.into() }
    }

    pub fn invalid(text: impl Into<String>) -> Self {
        Self::new(rc::INVALID_ARGUMENTS, text)
    }

    pub fn launch(text: impl Into<String>) -> Self {
        Self::new(rc::LAUNCH_FAILED, text)
    }

    pub fn device(text: impl Into<String>) -> Self {
        Self::new(rc::DEVICE_FAILED, text)
    }

    /// The same failure told of a larger subject.
    pub fn of(self, subject: &str) -> Self {
        Self { text: format!("{subject}: {}", self.text), ..self }
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::new(CString::default());
    /// File, line and column of the thread's last panic.
    static PLACE: Cell<Option<String>> = const { Cell::new(None) };
}

/// Runs the body of an exported function: its code on return, its text kept for [`last_error`].
#[inline(always)]
pub fn guard(body: impl FnOnce() -> Result<()>) -> i32 {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => rc::OK,
        Ok(Err(error)) => report(error),
        Err(payload) => report(panicked("panic in the kernel library", &*payload)),
    }
}

/// Runs work that may panic; a panic becomes an error of the subject.
pub fn catching<T>(subject: &dyn Fn() -> String, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(panicked(&subject(), &*payload)))
}

/// The error of a panic that this thread has caught.
#[cold]
fn panicked(subject: &str, payload: &(dyn Any + Send)) -> Error {
    let place = PLACE.take().map_or_else(String::new, |place| format!(" ({place})"));
    Error::new(rc::PANICKED, format!("{subject}: {}{place}", text_of(payload)))
}

/// Makes panics remember where they happened. The library has a panic hook of its own, whatever the host process does.
pub fn note_panics() {
    static NOTED: Once = Once::new();
    NOTED.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PLACE.set(panic.location().map(ToString::to_string));
            previous(panic);
        }));
    });
}

#[cold]
#[inline(never)]
fn report(error: Error) -> i32 {
    let text = CString::new(error.text.replace('\0', " ")).unwrap_or_default();
    LAST.with_borrow_mut(|last| *last = text);
    error.code
}

/// The message of a panic's payload.
fn text_of(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

/// Text of the calling thread's last failure, or an empty one. Valid until the thread's next call into the library.
pub fn last_error() -> *const c_char {
    LAST.with_borrow(|last| last.as_ptr())
}

/// A C string of foreign origin for a message; lossy, and safe on null.
///
/// # Safety
/// `text` is null or points at a NUL-terminated string.
pub unsafe fn lossy(text: *const c_char) -> String {
    if text.is_null() {
        return "(null)".to_owned();
    }
    // SAFETY: not null, and NUL-terminated by the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last() -> String {
        // SAFETY: a NUL-terminated text, copied at once.
        unsafe { lossy(last_error()) }
    }

    #[test]
    fn success_keeps_the_last_text() {
        guard(|| Err(Error::invalid("first")));
        assert_eq!(guard(|| Ok(())), rc::OK);
        assert_eq!(last(), "first");
    }

    #[test]
    fn a_panic_is_a_code_and_a_text() {
        assert_eq!(guard(|| panic!("number {}", 7)), rc::PANICKED);
        assert_eq!(last(), "panic in the kernel library: number 7");
    }

    #[test]
    fn a_text_with_a_nul_is_kept_whole() {
        guard(|| Err(Error::invalid("a\0b")));
        assert_eq!(last(), "a b");
    }

    #[test]
    fn texts_belong_to_their_thread() {
        guard(|| Err(Error::invalid("ours")));
        std::thread::spawn(|| guard(|| Err(Error::invalid("theirs")))).join().unwrap();
        assert_eq!(last(), "ours");
    }
}
