//! The hot path: arguments to key, key to loaded kernel, one launch on the caller's stream. Nothing here allocates, locks
//! or waits once a kernel is loaded.

use core::ffi::{CStr, c_void};
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::abi::{MAX_RANK, RangeRow, rc};
use crate::cold;
use crate::context::CurrentContext;
use crate::definition::Kernel;
use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::key::{Key, KeyBuilder};
use crate::table::{self, Entry};
use crate::tensor::TensorArg;

/// Most parameters of a kernel's Rust signature.
pub const MAX_ARGS: usize = 16;
/// Most values those parameters expand to: per tensor an address, its extents and its strides.
const MAX_VALUES: usize = MAX_ARGS * (1 + 2 * MAX_RANK);

static LAUNCHES: AtomicU64 = AtomicU64::new(0);

/// Launches submitted since load.
pub fn launches() -> u64 {
    LAUNCHES.load(Ordering::Relaxed)
}

/// One parameter of a kernel, in the order and under the name of its Rust signature.
#[derive(Clone, Copy)]
pub enum KernelArg<'a> {
    /// `&Tensor<E, { [..] }>`: address, extents and strides.
    Tensor(&'static str, TensorArg<'a>),
    /// `*mut E`: the address of the tensor's element 0.
    Pointer(&'static str, TensorArg<'a>),
    I32(&'static str, i32),
    I64(&'static str, i64),
    F32(&'static str, f32),
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
#[derive(Clone, Copy)]
pub struct Call {
    pub(crate) op: &'static CStr,
    pub(crate) device: i32,
    pub(crate) stream: u64,
}

/// A launch that is not in the table yet.
pub struct Request<'a> {
    pub call: &'a Call,
    pub kernel: &'static Kernel,
    pub options: Options,
    pub generics: &'a [Generic],
    pub args: &'a [KernelArg<'a>],
    pub key: Key,
}

impl Call {
    /// Submits `kernel` to the call's stream. The tensors must stay alive until it has run; on the CPU device's stream 0
    /// it has run when this returns.
    ///
    /// `generics` and `args` follow the kernel's Rust signature.
    #[inline(always)]
    pub fn launch<const G: usize, const A: usize>(
        &self,
        kernel: &'static Kernel,
        options: Options,
        grid: Grid,
        generics: [Generic; G],
        args: [KernelArg<'_>; A],
    ) -> Result<()> {
        const { assert!(A <= MAX_ARGS) };
        let mut key = KeyBuilder::new(kernel, self.device, options);
        for generic in generics {
            key.generic(generic);
        }
        let mut values = Values::new();
        for arg in &args {
            key.argument(arg);
            values.push(arg);
        }
        if values.suspect {
            self.check_args(&args)?;
        }
        let Some(key) = key.finish() else {
            return Err(self.invalid(format_args!(
                "{} has more arguments than a launch key holds",
                kernel.name()
            )));
        };
        let entry = match table::find(&key) {
            Some(entry) => entry,
            None => cold::load(&Request {
                call: self,
                kernel,
                options,
                generics: &generics,
                args: &args,
                key,
            })?,
        };
        self.submit(kernel, entry, grid, &mut values, &args)
    }

    #[inline(always)]
    fn submit(
        &self,
        kernel: &'static Kernel,
        entry: &Entry,
        grid: Grid,
        values: &mut Values,
        args: &[KernelArg<'_>],
    ) -> Result<()> {
        let driver = entry.driver;
        let context = CurrentContext::enter(driver, entry.context)?;
        if driver.private().is_some() {
            self.declare_ranges(driver, args)?;
        }
        let [x, y, z] = grid.0;
        let mut pointers = values.pointers();
        // SAFETY: the function belongs to the current context; the pointers lead to one value per kernel parameter, since
        // the compiler accepted exactly these arguments for this key; the driver copies them before it returns.
        let status = unsafe {
            (driver.functions.launch)(
                entry.function,
                x,
                y,
                z,
                1,
                1,
                1,
                0,
                self.stream as *mut c_void,
                pointers.as_mut_ptr().cast(),
                null_mut(),
            )
        };
        drop(context);
        if status != 0 {
            return Err(self.launch_failed(kernel, driver, status));
        }
        LAUNCHES.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Tells the CPU device which memory the next launch may touch.
    fn declare_ranges(&self, driver: &Driver, args: &[KernelArg<'_>]) -> Result<()> {
        let Some(set_ranges) = driver.private().and_then(|table| table.set_launch_ranges) else {
            return Ok(());
        };
        let mut rows = [const { MaybeUninit::<RangeRow>::uninit() }; MAX_ARGS];
        let mut count = 0;
        for arg in args {
            let (KernelArg::Tensor(_, tensor) | KernelArg::Pointer(_, tensor)) = arg else {
                continue;
            };
            let (pointer, bytes) = tensor.span().map_err(|error| error.of(self.name()))?;
            if bytes > 0 {
                rows[count].write(RangeRow {
                    pointer,
                    bytes,
                    name: tensor.c_name().as_ptr(),
                });
                count += 1;
            }
        }
        // SAFETY: the first `count` rows are written, and the names are static.
        let status = unsafe { set_ranges(rows.as_ptr().cast(), count, self.op.as_ptr()) };
        driver
            .check("set_launch_ranges", status)
            .map_err(|error| error.of(self.name()))
    }

    /// Why arguments that looked wrong are, if they are.
    #[cold]
    #[inline(never)]
    fn check_args(&self, args: &[KernelArg<'_>]) -> Result<()> {
        for arg in args {
            let (KernelArg::Tensor(_, tensor) | KernelArg::Pointer(_, tensor)) = arg else {
                continue;
            };
            if tensor.address() == 0 && !tensor.is_empty() {
                let text = format!(
                    "{}: argument {}: wanted the address of its data, got null",
                    self.name(),
                    tensor.name()
                );
                return Err(Error::new(rc::NULL_POINTER, text));
            }
            if matches!(arg, KernelArg::Tensor(..)) {
                self.check_view(tensor)?;
            }
        }
        Ok(())
    }

    fn check_view(&self, tensor: &TensorArg<'_>) -> Result<()> {
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
        let code = match &report {
            Some(report) if report.starts_with("cancelled") => rc::CANCELLED,
            _ => rc::LAUNCH_FAILED,
        };
        // The report begins with the op as well.
        let subject = format!("{}: ", self.name());
        let own = |report: String| report.strip_prefix(&subject).map_or(report.clone(), str::to_owned);
        let reason = report.map_or_else(String::new, |report| format!(": {}", own(report)));
        let text = format!(
            "{}: launch of {} failed with {}{reason}",
            self.name(),
            kernel.name(),
            driver.describe(status)
        );
        Error::new(code, text)
    }
}

/// Kernel parameters as the driver reads them: one slot per value, of which it takes the parameter's size.
struct Values {
    slots: [MaybeUninit<u64>; MAX_VALUES],
    count: usize,
    /// A null address, or an extent or stride that no i32 holds.
    suspect: bool,
}

impl Values {
    #[inline(always)]
    fn new() -> Self {
        Self {
            slots: [const { MaybeUninit::uninit() }; MAX_VALUES],
            count: 0,
            suspect: false,
        }
    }

    /// Small values occupy the low bytes of their slot, where a little-endian machine looks for them.
    #[inline(always)]
    fn put(&mut self, value: u64) {
        const { assert!(cfg!(target_endian = "little")) };
        self.slots[self.count].write(value);
        self.count += 1;
    }

    #[inline(always)]
    fn push(&mut self, arg: &KernelArg<'_>) {
        match arg {
            KernelArg::Tensor(_, tensor) => self.tensor(tensor),
            KernelArg::Pointer(_, tensor) => self.address(tensor),
            KernelArg::I32(_, value) => self.put(*value as u32 as u64),
            KernelArg::I64(_, value) => self.put(*value as u64),
            KernelArg::F32(_, value) => self.put(u64::from(value.to_bits())),
        }
    }

    #[inline(always)]
    fn address(&mut self, tensor: &TensorArg<'_>) {
        self.suspect |= tensor.address() == 0;
        self.put(tensor.address());
    }

    #[inline(always)]
    fn tensor(&mut self, tensor: &TensorArg<'_>) {
        self.address(tensor);
        let mut wide = 0;
        for value in tensor.extents().iter().chain(tensor.strides()) {
            wide |= *value as u64;
            self.put(*value as u64);
        }
        self.suspect |= wide > i32::MAX as u64;
    }

    /// One pointer per value, in order.
    #[inline(always)]
    fn pointers(&mut self) -> [MaybeUninit<*mut c_void>; MAX_VALUES] {
        let mut pointers = [const { MaybeUninit::uninit() }; MAX_VALUES];
        for (pointer, slot) in pointers.iter_mut().zip(&mut self.slots[..self.count]) {
            pointer.write(slot.as_mut_ptr().cast());
        }
        pointers
    }
}
