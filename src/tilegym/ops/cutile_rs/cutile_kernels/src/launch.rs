//! The hot path: arguments to key, key to loaded kernel, one launch on the caller's stream. Nothing here allocates, locks
//! or waits once a kernel is loaded.

use core::ffi::{CStr, c_void};
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::abi::rc;
use crate::args::{AnyArg, KernelArgs};
use crate::cold;
use crate::context::CurrentContext;
use crate::definition::Kernel;
use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::key::{Key, KeyBuilder};
use crate::params::{MAX_VALUES, Params, Pointers, Ranges};
use crate::repeat::Notes;
use crate::table::{Entry, KERNELS};
use crate::tensor::{ANY_RANK, TensorArg};

static LAUNCHES: AtomicU64 = AtomicU64::new(0);

/// Launches submitted since load.
pub fn launches() -> u64 {
    LAUNCHES.load(Ordering::Relaxed)
}

/// One generic argument of a kernel, in the order of its Rust signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generic {
    /// An element type, by code.
    Elem(i32),
    /// A const generic.
    Int(i32),
}

/// Compile options of a launch. Zero stands for automatic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub num_cta_in_cga: u8,
    pub occupancy: u8,
}

impl Options {
    #[inline(always)]
    pub(crate) fn packed(self) -> u16 {
        u16::from_le_bytes([self.num_cta_in_cga, self.occupancy])
    }
}

/// Numbers of tile blocks, each at least 1 and within the hardware's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid(pub(crate) [u32; 3]);

/// One call of an op: the subject of its messages and where it runs.
pub struct Call {
    pub(crate) op: &'static CStr,
    pub(crate) device: i32,
    pub(crate) stream: u64,
    pub(crate) notes: Notes,
}

/// A launch that is not in the table yet.
pub struct Request<'a> {
    pub call: &'a Call,
    pub kernel: &'static Kernel,
    pub options: Options,
    pub generics: &'a [Generic],
    pub args: &'a [AnyArg<'a>],
    pub key: Key,
}

impl Call {
    /// Submits `kernel` to the call's stream. The tensors must stay alive until it has run; on the CPU device's stream 0
    /// it has run when this returns.
    ///
    /// `generics` and `args` follow the kernel's Rust signature; `args` is a tuple of [`crate::args::Arg`]s.
    #[inline(always)]
    pub fn launch<const G: usize>(
        &self,
        kernel: &'static Kernel,
        options: Options,
        grid: Grid,
        generics: [Generic; G],
        args: impl KernelArgs,
    ) -> Result<()> {
        let mut key = KeyBuilder::new(kernel, self.device, options);
        for generic in generics {
            key.generic(generic);
        }
        args.key(&mut key);
        let mut params = Params::new();
        args.values(&mut params);
        if params.suspect {
            self.check_args(&args.describe())?;
        }
        let Some(key) = key.finish() else {
            return Err(self.invalid(format_args!("{} has more arguments than a launch key holds", kernel.name())));
        };
        let entry = match KERNELS.find(&key) {
            Some(entry) => entry,
            None => {
                let args = &args.describe();
                cold::load(&Request { call: self, kernel, options, generics: &generics, args, key })?
            }
        };
        let mut pointers = [const { MaybeUninit::uninit() }; MAX_VALUES];
        params.point(&mut pointers);
        let declare = || {
            let mut ranges = Ranges::new();
            args.ranges(&mut ranges).and_then(|()| ranges.declare(entry.driver, self.op))
        };
        let declare = || if entry.driver.private().is_some() { declare() } else { Ok(()) };
        self.submit(kernel, entry, grid, declare, &mut pointers)?;
        self.notes.launch(kernel, entry, grid, &params, &args.describe());
        Ok(())
    }

    /// Launches an entry once `declare` has told the CPU device what memory the kernel may touch.
    #[inline(always)]
    pub(crate) fn submit(
        &self,
        kernel: &Kernel,
        entry: &Entry,
        grid: Grid,
        declare: impl FnOnce() -> Result<()>,
        pointers: &mut Pointers,
    ) -> Result<()> {
        let context = CurrentContext::enter(entry.driver, entry.context)?;
        declare().map_err(|error| error.of(self.name()))?;
        let [x, y, z] = grid.0;
        let stream = self.stream as *mut c_void;
        let pointers = pointers.as_mut_ptr().cast();
        // SAFETY: the function belongs to the current context; the pointers lead to one value per kernel parameter, since
        // the compiler accepted exactly these arguments for this key; the driver copies them before it returns.
        let status = unsafe {
            (entry.driver.functions.launch)(entry.function, x, y, z, 1, 1, 1, 0, stream, pointers, null_mut())
        };
        drop(context);
        if status != 0 {
            return Err(self.launch_failed(kernel, entry.driver, status));
        }
        LAUNCHES.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Why arguments that looked wrong are, if they are.
    #[cold]
    #[inline(never)]
    fn check_args(&self, args: &[AnyArg<'_>]) -> Result<()> {
        for arg in args {
            let (AnyArg::Tensor(_, tensor) | AnyArg::Pointer(_, tensor)) = arg else {
                continue;
            };
            if tensor.base() == 0 && !tensor.is_empty() {
                let (op, name) = (self.name(), tensor.name());
                let text = format!("{op}: argument {name}: wanted the address of its data, got null");
                return Err(Error::new(rc::NULL_POINTER, text));
            }
            if matches!(arg, AnyArg::Tensor(..)) {
                self.check_view(tensor)?;
            }
        }
        Ok(())
    }

    fn check_view(&self, tensor: &TensorArg<'_, ANY_RANK>) -> Result<()> {
        let fits = |value: &i64| (0..=i64::from(i32::MAX)).contains(value);
        if tensor.extents().iter().all(fits) && tensor.strides().iter().all(fits) {
            return Ok(());
        }
        Err(self.invalid(format_args!(
            "argument {}: wanted extents and strides from 0 to {}, got shape {:?} with strides {:?}",
            tensor.name(),
            i32::MAX,
            tensor.extents(),
            tensor.strides()
        )))
    }

    #[cold]
    #[inline(never)]
    fn launch_failed(&self, kernel: &Kernel, driver: &Driver, status: i32) -> Error {
        let report = driver.last_report();
        let subject = format!("{}: ", self.name());
        if report.as_ref().is_some_and(|report| report.starts_with("cancelled")) {
            return Error::new(rc::CANCELLED, format!("{subject}launch of {} was cancelled", kernel.name()));
        }
        // The report begins with the op as well.
        let own = |report: &String| report.strip_prefix(&subject).unwrap_or(report).to_owned();
        let reason = report.as_ref().map_or_else(String::new, |report| format!(": {}", own(report)));
        let status = driver.describe(status);
        Error::launch(format!("{subject}launch of {} failed with {status}{reason}", kernel.name()))
    }
}
