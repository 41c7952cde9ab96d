//! Driver libraries, one per kind, each loaded from a path that the host names.

use core::ffi::{CStr, c_char, c_uint, c_void};
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::abi::{PRIVATE_TABLE_ID, PrivateTable, rc};
use crate::error::{Error, Result, lossy};

/// Handles of the driver API.
pub type Context = *mut c_void;
pub type Module = *mut c_void;
pub type Function = *mut c_void;
pub type Stream = *mut c_void;
/// A result of the driver API; 0 is success.
pub type Status = i32;

const COMPUTE_CAPABILITY_MAJOR: i32 = 75;
const COMPUTE_CAPABILITY_MINOR: i32 = 76;

macro_rules! functions {
    (
        required { $( $(#[$doc:meta])* $field:ident = $symbol:literal : fn($($arg:ty),*); )* }
        optional { $( $(#[$odoc:meta])* $ofield:ident = $osymbol:literal : fn($($oarg:ty),*); )* }
    ) => {
        /// The driver functions a launch needs; optional ones are None where the library lacks them.
        pub struct Functions {
            $( $(#[$doc])* pub $field: unsafe extern "C" fn($($arg),*) -> Status, )*
            $( $(#[$odoc])* pub $ofield: Option<unsafe extern "C" fn($($oarg),*) -> Status>, )*
        }

        impl Functions {
            fn of(library: &Library) -> Result<Self> {
                // SAFETY: the symbols are the driver API's, whose C signatures these are.
                unsafe {
                    Ok(Self {
                        $( $field: core::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn($($arg),*) -> Status>(
                            library.symbol($symbol)?,
                        ), )*
                        $( $ofield: library.find($osymbol).map(|symbol| {
                            core::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn($($oarg),*) -> Status>(symbol)
                        }), )*
                    })
                }
            }
        }
    };
}

functions! {
    required {
        init = c"cuInit": fn(c_uint);
        device_count = c"cuDeviceGetCount": fn(*mut i32);
        device_get = c"cuDeviceGet": fn(*mut i32, i32);
        device_attribute = c"cuDeviceGetAttribute": fn(*mut i32, i32, i32);
        context_retain = c"cuDevicePrimaryCtxRetain": fn(*mut Context, i32);
        context_current = c"cuCtxGetCurrent": fn(*mut Context);
        context_set = c"cuCtxSetCurrent": fn(Context);
        module_load = c"cuModuleLoadData": fn(*mut Module, *const c_void);
        module_function = c"cuModuleGetFunction": fn(*mut Function, Module, *const c_char);
        launch = c"cuLaunchKernel": fn(
            Function, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Stream, *mut *mut c_void, *mut *mut c_void
        );
    }
    optional {
        error_name = c"cuGetErrorName": fn(Status, *mut *const c_char);
        error_text = c"cuGetErrorString": fn(Status, *mut *const c_char);
        capture_mode = c"cuThreadExchangeStreamCaptureMode": fn(*mut c_uint);
        /// Sets 0 where the stream is not being captured.
        is_capturing = c"cuStreamIsCapturing": fn(Stream, *mut c_uint);
        export_table = c"cuGetExportTable": fn(*mut *const c_void, *const [u8; 16]);
    }
}

/// A library loaded for the life of the process.
struct Library {
    handle: NonNull<c_void>,
    path: String,
}

impl Library {
    fn open(path: &CStr) -> Result<Self> {
        // SAFETY: the path is NUL-terminated. RTLD_LOCAL lets two drivers live in one process.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        let path = path.to_string_lossy().into_owned();
        match NonNull::new(handle) {
            Some(handle) => Ok(Self { handle, path }),
            // SAFETY: dlerror returns null or a NUL-terminated text.
            None => Err(Error::device(format!("cannot load {path}: {}", unsafe { lossy(libc::dlerror()) }))),
        }
    }

    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the handle is never closed and the name is NUL-terminated.
        NonNull::new(unsafe { libc::dlsym(self.handle.as_ptr(), name.as_ptr()) })
    }

    fn symbol(&self, name: &CStr) -> Result<NonNull<c_void>> {
        let missing = || Error::device(format!("{} has no symbol {}", self.path, name.to_string_lossy()));
        self.find(name).ok_or_else(missing)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Cuda = 0,
    Cpu = 1,
}

impl Kind {
    /// The kind of driver behind a device id: -1 is the CPU device, everything else an ordinal.
    #[inline(always)]
    pub fn of_device(id: i32) -> Self {
        if id == CPU_DEVICE { Kind::Cpu } else { Kind::Cuda }
    }
}

/// The device id of CPU tensors.
pub const CPU_DEVICE: i32 = -1;

/// A device whose primary context is retained for the life of the process.
pub struct Device {
    pub context: Context,
    /// Name of its architecture, as `sm_90`.
    pub arch: String,
    /// Whether the driver has further devices, which may want the same images.
    pub has_peers: bool,
}

// SAFETY: a context handle may be used from any thread.
unsafe impl Send for Device {}
// SAFETY: as above; the fields never change.
unsafe impl Sync for Device {}

pub struct Driver {
    kind: Kind,
    path: String,
    pub functions: Functions,
    /// The CPU device's own table.
    private: Option<&'static PrivateTable>,
    devices: Mutex<Vec<(i32, &'static Device)>>,
}

static DRIVERS: [OnceLock<Driver>; 2] = [const { OnceLock::new() }; 2];
/// Set in a process that was forked after the CUDA driver was bound: that driver does not survive a fork.
static FORKED: AtomicBool = AtomicBool::new(false);

extern "C" fn note_fork() {
    FORKED.store(true, Ordering::Relaxed);
}

static BINDING: Mutex<()> = Mutex::new(());

/// Loads the driver of a kind. Binding the same path again changes nothing; another path is refused.
pub fn bind(kind: i32, path: &CStr) -> Result<()> {
    let subject = "cutile_bind_driver";
    let kind = match kind {
        0 => Kind::Cuda,
        1 => Kind::Cpu,
        _ => {
            return Err(Error::invalid(format!("{subject}: argument kind: wanted 0 (cuda) or 1 (cpu), got {kind}")));
        }
    };
    let slot = &DRIVERS[kind as usize];
    let _binding = BINDING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bound) = slot.get() {
        let wanted = path.to_string_lossy();
        return match bound.path == wanted {
            true => Ok(()),
            false => Err(Error::invalid(format!(
                "{subject}: the {kind:?} driver is {} for the life of the process, cannot change it to {wanted}",
                bound.path
            ))),
        };
    }
    let driver = Driver::open(kind, path).map_err(|error| error.of(subject))?;
    if kind == Kind::Cuda {
        // SAFETY: the handler stays, as this library does, and only stores a flag.
        unsafe { libc::pthread_atfork(None, None, Some(note_fork)) };
    }
    let _ = slot.set(driver);
    Ok(())
}

/// The driver of a device id.
pub fn of_device(id: i32) -> Result<&'static Driver> {
    let kind = Kind::of_device(id);
    DRIVERS[kind as usize].get().ok_or_else(|| {
        Error::device(format!(
            "device {id}: no {kind:?} driver is bound, call cutile_bind_driver({}, path)",
            kind as i32
        ))
    })
}

impl Driver {
    fn open(kind: Kind, path: &CStr) -> Result<Self> {
        let library = Library::open(path)?;
        let functions = Functions::of(&library)?;
        let private = if kind == Kind::Cpu { Some(private_table(&functions, &library.path)?) } else { None };
        Ok(Self { kind, path: library.path, functions, private, devices: Mutex::new(Vec::new()) })
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Refuses a driver that was in use before the process was forked.
    #[inline(always)]
    pub fn check_process(&self) -> Result<()> {
        if self.kind == Kind::Cuda && FORKED.load(Ordering::Relaxed) {
            return Err(forked());
        }
        Ok(())
    }

    #[inline(always)]
    pub fn private(&self) -> Option<&'static PrivateTable> {
        self.private
    }

    /// The device of an id, initialised on first use.
    pub fn device(&self, id: i32) -> Result<&'static Device> {
        let mut devices = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, device)) = devices.iter().find(|(known, _)| *known == id) {
            return Ok(device);
        }
        let device: &'static Device = Box::leak(Box::new(self.open_device(id)?));
        devices.push((id, device));
        Ok(device)
    }

    fn open_device(&self, id: i32) -> Result<Device> {
        let ordinal = if id == CPU_DEVICE { 0 } else { id };
        let subject = format!("device {id} of {}", self.path);
        let check = |call, status| self.check(call, status).map_err(|error| error.of(&subject));
        let (mut count, mut handle, mut major, mut minor) = (0, 0, 0, 0);
        let mut context = null_mut();
        // SAFETY: every pointer is a valid out-argument, and cuInit precedes the other calls.
        unsafe {
            check("cuInit", (self.functions.init)(0))?;
            check("cuDeviceGetCount", (self.functions.device_count)(&mut count))?;
            if ordinal < 0 || ordinal >= count {
                return Err(Error::device(format!("{subject}: wanted an ordinal below {count}, got {ordinal}")));
            }
            check("cuDeviceGet", (self.functions.device_get)(&mut handle, ordinal))?;
            let attribute = self.functions.device_attribute;
            check("cuDeviceGetAttribute", attribute(&mut major, COMPUTE_CAPABILITY_MAJOR, handle))?;
            check("cuDeviceGetAttribute", attribute(&mut minor, COMPUTE_CAPABILITY_MINOR, handle))?;
            check("cuDevicePrimaryCtxRetain", (self.functions.context_retain)(&mut context, handle))?;
        }
        Ok(Device { context, arch: format!("sm_{major}{minor}"), has_peers: count > 1 })
    }

    /// A driver call's status as a result.
    pub fn check(&self, call: &str, status: Status) -> Result<()> {
        if status == 0 {
            return Ok(());
        }
        Err(Error::device(format!("{call} failed with {}", self.describe(status))))
    }

    /// Name, number and text of a status.
    pub fn describe(&self, status: Status) -> String {
        let text = |function: Option<unsafe extern "C" fn(Status, *mut *const c_char) -> Status>| {
            let mut text = core::ptr::null();
            // SAFETY: a valid out-argument; the driver sets it to a static text.
            let known = unsafe { function?(status, &mut text) } == 0 && !text.is_null();
            // SAFETY: not null, NUL-terminated and static.
            known.then(|| unsafe { lossy(text) })
        };
        let name = text(self.functions.error_name).unwrap_or_else(|| "CUDA error".to_owned());
        match text(self.functions.error_text) {
            Some(description) => format!("{name} ({status}): {description}"),
            None => format!("{name} ({status})"),
        }
    }

    /// The CPU device's account of the calling thread's last failed call.
    pub fn last_report(&self) -> Option<String> {
        let last_report = self.private?.last_report?;
        let mut buffer = [0u8; 4096];
        // SAFETY: the buffer has the capacity named; the driver NUL-terminates within it.
        unsafe { last_report(buffer.as_mut_ptr().cast(), buffer.len()) };
        let text = CStr::from_bytes_until_nul(&buffer).ok()?.to_string_lossy().into_owned();
        (!text.is_empty()).then_some(text)
    }
}

#[cold]
fn forked() -> Error {
    Error::device(
        "the CUDA driver was in use before this process was forked, and does not work after a fork; start processes \
         with multiprocessing's 'spawn' method, or fork before the first launch",
    )
}

fn private_table(functions: &Functions, path: &str) -> Result<&'static PrivateTable> {
    let missing = || Error::new(rc::DEVICE_FAILED, format!("{path} is not the CPU device's driver: no private table"));
    let export_table = functions.export_table.ok_or_else(missing)?;
    let mut table = core::ptr::null();
    // SAFETY: valid out-argument and a 16-byte identifier.
    if unsafe { export_table(&mut table, &PRIVATE_TABLE_ID) } != 0 || table.is_null() {
        return Err(missing());
    }
    // SAFETY: the driver hands out a static table of at least `size` bytes, whose first field is `size`.
    let size = unsafe { *table.cast::<usize>() };
    if size < size_of::<PrivateTable>() {
        return Err(Error::device(format!(
            "{path}: wanted a private table of {} bytes, got {size}; build driver and kernels from one source",
            size_of::<PrivateTable>()
        )));
    }
    // SAFETY: large enough, checked above, and static.
    Ok(unsafe { &*table.cast::<PrivateTable>() })
}
