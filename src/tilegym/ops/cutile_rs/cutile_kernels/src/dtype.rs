//! Element types as they cross the C boundary.

use crate::abi::rc;
use crate::error::{Error, Result};

pub const F32: i32 = 0;
pub const F16: i32 = 1;
pub const BF16: i32 = 2;
pub const I32: i32 = 3;
pub const I64: i32 = 4;
pub const F8E5M2: i32 = 5;
/// Two packed f4e2m1 values in a byte.
pub const F4E2M1X2: i32 = 6;
pub const F8E4M3FN: i32 = 7;

/// Name in kernel generics and size in bytes, by code.
const TYPES: [(&str, usize); 8] =
    [("f32", 4), ("f16", 2), ("bf16", 2), ("i32", 4), ("i64", 8), ("f8e5m2", 1), ("f4e2m1fnx2", 1), ("f8e4m3fn", 1)];

/// The name of a code as kernels' generics spell it.
pub fn dtype_str(code: i32) -> Option<&'static str> {
    row(code).map(|(name, _)| name)
}

/// Bytes of one element.
pub fn dtype_bytes(code: i32) -> Option<usize> {
    row(code).map(|(_, bytes)| bytes)
}

fn row(code: i32) -> Option<(&'static str, usize)> {
    TYPES.get(usize::try_from(code).ok()?).copied()
}

/// A set of codes: bit i stands for code i.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DTypes(pub u32);

/// The types every floating-point op takes.
pub const FLOATS: DTypes = DTypes::of(&[F32, F16, BF16]);

impl DTypes {
    pub const fn of(codes: &[i32]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < codes.len() {
            bits |= 1 << codes[i];
            i += 1;
        }
        Self(bits)
    }

    #[inline(always)]
    pub const fn contains(self, code: i32) -> bool {
        code >= 0 && code < TYPES.len() as i32 && (self.0 >> code) & 1 == 1
    }

    /// The names in the set, for messages.
    fn list(self) -> String {
        let names = (0..TYPES.len()).filter(|code| self.contains(*code as i32)).map(|code| TYPES[code].0);
        names.collect::<Vec<_>>().join(", ")
    }

    #[cold]
    pub(crate) fn refuse(self, op: &str, argument: &str, code: i32) -> Result<()> {
        let got = dtype_str(code).map_or_else(|| format!("the unknown code {code}"), str::to_owned);
        Err(Error::new(
            rc::UNSUPPORTED_DTYPE,
            format!("{op}: argument {argument}: wanted dtype {}, got {got}", self.list()),
        ))
    }
}
