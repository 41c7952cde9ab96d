//! The calling thread's current context, changed for the length of a call.

use core::ptr::null_mut;

use crate::driver::{Context, Driver};
use crate::error::Result;

/// Keeps a context current while it lives, then restores the one before. A thread that had none keeps the new one, as
/// it would after its first runtime call.
pub struct CurrentContext {
    driver: &'static Driver,
    previous: Context,
}

impl CurrentContext {
    #[inline(always)]
    pub fn enter(driver: &'static Driver, wanted: Context) -> Result<Self> {
        driver.check_process()?;
        let mut current = null_mut();
        // SAFETY: a valid out-argument.
        let status = unsafe { (driver.functions.context_current)(&mut current) };
        if status != 0 {
            return Err(driver.check("cuCtxGetCurrent", status).unwrap_err());
        }
        if current == wanted {
            return Ok(Self { driver, previous: null_mut() });
        }
        // SAFETY: the context is retained for the life of the process.
        driver.check("cuCtxSetCurrent", unsafe { (driver.functions.context_set)(wanted) })?;
        Ok(Self { driver, previous: current })
    }
}

impl Drop for CurrentContext {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.previous.is_null() {
            // SAFETY: the context was current before.
            unsafe { (self.driver.functions.context_set)(self.previous) };
        }
    }
}
