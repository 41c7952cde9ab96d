//! Packed calls: one array of arguments for every op.

use crate::abi::{PackedArg, TensorDesc, rc};
use crate::error::{Error, Result};

/// Takes the arguments of a packed call one by one, in the order of the op's parameter rows.
pub struct PackedArgs<'a> {
    op: &'static str,
    rest: core::slice::Iter<'a, PackedArg>,
}

impl<'a> PackedArgs<'a> {
    /// # Safety
    /// `arguments` is null or points at `count` arguments.
    #[inline(always)]
    pub unsafe fn new(op: &'static str, arguments: *const PackedArg, count: usize, wanted: usize) -> Result<Self> {
        if count != wanted {
            return Err(Error::invalid(format!("{op}: wanted {wanted} packed arguments, got {count}")));
        }
        if arguments.is_null() {
            return Err(Error::new(rc::NULL_POINTER, format!("{op}: wanted packed arguments, got null")));
        }
        // SAFETY: not null, and `count` arguments by the caller's promise.
        let rest = unsafe { core::slice::from_raw_parts(arguments, count) }.iter();
        Ok(Self { op, rest })
    }

    #[inline(always)]
    fn next(&mut self, name: &str) -> Result<&'a PackedArg> {
        self.rest.next().ok_or_else(|| self.missing(name))
    }

    #[inline(always)]
    pub fn tensor(&mut self, name: &str) -> Result<*const TensorDesc> {
        // SAFETY: every bit pattern is a pointer, which is only followed if the caller packed one.
        Ok(unsafe { self.next(name)?.tensor })
    }

    #[inline(always)]
    pub fn i64(&mut self, name: &str) -> Result<i64> {
        // SAFETY: every bit pattern is an integer.
        Ok(unsafe { self.next(name)?.integer })
    }

    #[inline(always)]
    pub fn i32(&mut self, name: &str) -> Result<i32> {
        let value = self.i64(name)?;
        i32::try_from(value).map_err(|_| self.wide(name, value))
    }

    #[cold]
    #[inline(never)]
    fn wide(&self, name: &str, value: i64) -> Error {
        Error::invalid(format!("{}: argument {name}: wanted a 32-bit integer, got {value}", self.op))
    }

    #[cold]
    #[inline(never)]
    fn missing(&self, name: &str) -> Error {
        Error::invalid(format!("{}: argument {name} is missing", self.op))
    }

    #[inline(always)]
    pub fn f32(&mut self, name: &str) -> Result<f32> {
        // SAFETY: every bit pattern is a float.
        Ok(unsafe { self.next(name)?.floating } as f32)
    }

    #[inline(always)]
    pub fn stream(&mut self) -> Result<u64> {
        // SAFETY: every bit pattern is an integer.
        Ok(unsafe { self.next("raw_stream")?.stream })
    }
}
