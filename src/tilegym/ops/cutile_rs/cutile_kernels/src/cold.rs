//! The first launch of a key: find or compile its image, load it, remember it.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::compile::Specialization;
use crate::context::CurrentContext;
use crate::definition::Kernel;
use crate::driver::{self, Device, Driver, Function, Kind, Stream};
use crate::error::{Error, Result};
use crate::host::{self, Level};
use crate::image;
use crate::key::Key;
use crate::launch::Request;
use crate::table::{Entry, KERNELS};

/// `CU_STREAM_CAPTURE_MODE_RELAXED`: calls that a capture would forbid are allowed on this thread.
const CAPTURE_RELAXED: u32 = 2;

static COMPILES: AtomicU64 = AtomicU64::new(0);
static COMPILE_NANOSECONDS: AtomicU64 = AtomicU64::new(0);

/// Kernels compiled and nanoseconds spent on it since load.
pub fn compiles() -> (u64, u64) {
    (COMPILES.load(Ordering::Relaxed), COMPILE_NANOSECONDS.load(Ordering::Relaxed))
}

/// The entry of a key that the table did not show. One thread makes it; others that ask for the same key wait for that.
#[cold]
#[inline(never)]
pub fn load(request: &Request<'_>) -> Result<&'static Entry> {
    load_for(request).map_err(|error| error.of(request.call.name()))
}

fn load_for(request: &Request<'_>) -> Result<&'static Entry> {
    let _turn = Turn::wait(request.key);
    let anew = makes_anew();
    let known = if anew { None } else { KERNELS.lock().find(&request.key) };
    if let Some(entry) = known {
        return Ok(entry);
    }
    let driver = driver::of_device(request.call.device)?;
    driver.check_process()?;
    let device = driver.device(request.call.device)?;
    refuse_capture(driver, device, request)?;
    let specialization =
        Specialization::new(request.kernel, &device.arch, request.options, request.generics, request.args)?;
    let function = function_of(driver, device, &specialization)?;
    let entry = Entry { function, context: device.context, driver };
    Ok(if anew { Box::leak(Box::new(entry)) } else { KERNELS.lock().add(request.key, entry) })
}

/// Whether the host wants kernels made anew at every call. They stay out of the table, so that the next call comes here
/// again.
pub fn makes_anew() -> bool {
    host::setting(c"TILEGYM_RS_CACHE").is_some_and(|mode| mode == "refresh")
}

/// The right to make the kernel of a key, which one thread has at a time.
struct Turn(Key);

static MAKING: Mutex<Vec<Key>> = Mutex::new(Vec::new());
static MADE: Condvar = Condvar::new();

impl Turn {
    fn wait(key: Key) -> Self {
        let making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = |making: &mut Vec<Key>| making.contains(&key);
        MADE.wait_while(making, taken).unwrap_or_else(PoisonError::into_inner).push(key);
        Self(key)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        MAKING.lock().unwrap_or_else(PoisonError::into_inner).retain(|key| *key != self.0);
        MADE.notify_all();
    }
}

/// A graph would not replay what loading does, and a capture should not wait for a compiler.
fn refuse_capture(driver: &'static Driver, device: &Device, request: &Request<'_>) -> Result<()> {
    let Some(is_capturing) = driver.functions.is_capturing else { return Ok(()) };
    let _context = CurrentContext::enter(driver, device.context)?;
    let mut status = 0;
    // SAFETY: the stream is the caller's, and `status` a valid out-argument.
    let asked = unsafe { is_capturing(request.call.stream as Stream, &mut status) };
    if asked != 0 || status == 0 {
        return Ok(());
    }
    Err(Error::launch(format!(
        "kernel {} is not loaded yet and its stream is being captured into a graph; call the op once with arguments \
         like these before the capture",
        request.kernel.name()
    )))
}

/// Images of drivers with several devices, by cache key: devices of one architecture share them.
static IMAGES: Mutex<Vec<(String, Vec<u8>)>> = Mutex::new(Vec::new());

fn images() -> MutexGuard<'static, Vec<(String, Vec<u8>)>> {
    IMAGES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn function_of(driver: &'static Driver, device: &Device, specialization: &Specialization) -> Result<Function> {
    let key = image::cache_key(specialization);
    if !makes_anew()
        && let Some((_, image)) = images().iter().find(|(known, _)| Some(known) == key.as_ref())
    {
        return load_image(driver, device, specialization.kernel, image);
    }
    let cached = key.as_ref().and_then(|key| host::lookup(driver.kind(), key));
    if let Some(image) = cached {
        match load_image(driver, device, specialization.kernel, &image) {
            Ok(function) => return Ok(function),
            Err(error) => host::log(Level::Warning, || {
                format!("cached image of {} does not load, compiling anew: {}", specialization.title(), error.text)
            }),
        }
    }
    let image = compile(driver.kind(), specialization)?;
    let function = load_image(driver, device, specialization.kernel, &image)
        .map_err(|error| Error::launch(format!("kernel {}: {}", specialization.title(), error.text)))?;
    if let Some(key) = key {
        host::store(driver.kind(), &key, &image);
        if device.has_peers && !makes_anew() {
            images().push((key, image));
        }
    }
    Ok(function)
}

fn compile(kind: Kind, specialization: &Specialization) -> Result<Vec<u8>> {
    let start = Instant::now();
    let image = image::build(kind, specialization)?;
    let elapsed = start.elapsed();
    COMPILES.fetch_add(1, Ordering::Relaxed);
    COMPILE_NANOSECONDS.fetch_add(elapsed.as_nanos() as u64, Ordering::Relaxed);
    host::log(Level::Debug, || format!("compiled {} in {:.0} ms", specialization.title(), elapsed.as_secs_f64() * 1e3));
    Ok(image)
}

/// Loads an image for the life of the process.
fn load_image(driver: &'static Driver, device: &Device, kernel: &Kernel, image: &[u8]) -> Result<Function> {
    let _context = CurrentContext::enter(driver, device.context)?;
    let _capture = RelaxedCapture::begin(driver);
    let functions = &driver.functions;
    let (mut module, mut function) = (null_mut(), null_mut());
    let explained = |error: Error| match driver.last_report() {
        Some(report) => Error { text: format!("{}: {report}", error.text), ..error },
        None => error,
    };
    // SAFETY: valid out-arguments; the image is whole and outlives the call, which copies it.
    let status = unsafe { (functions.module_load)(&mut module, image.as_ptr().cast()) };
    driver.check("cuModuleLoadData", status).map_err(explained)?;
    // SAFETY: as above, with a NUL-terminated name.
    let status = unsafe { (functions.module_function)(&mut function, module, kernel.symbol.as_ptr()) };
    driver.check("cuModuleGetFunction", status).map_err(explained)?;
    Ok(function)
}

/// Keeps loading legal while a stream of this thread is being captured.
struct RelaxedCapture {
    driver: &'static Driver,
    previous: u32,
}

impl RelaxedCapture {
    fn begin(driver: &'static Driver) -> Option<Self> {
        let mut mode = CAPTURE_RELAXED;
        // SAFETY: the call exchanges the thread's mode with `mode`.
        let status = unsafe { driver.functions.capture_mode?(&mut mode) };
        (status == 0).then_some(Self { driver, previous: mode })
    }
}

impl Drop for RelaxedCapture {
    fn drop(&mut self) {
        if let Some(exchange) = self.driver.functions.capture_mode {
            // SAFETY: puts the mode from before back.
            unsafe { exchange(&mut self.previous) };
        }
    }
}
