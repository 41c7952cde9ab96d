//! Images a driver loads: the bytecode itself for the CPU device, a cubin made by tileiras for a GPU.

use core::ffi::CStr;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use cutile_compiler::cuda_tile_runtime_utils::tileiras_binary;

use crate::compile::Specialization;
use crate::driver::Kind;
use crate::error::{Error, Result};
use crate::host;

/// The version of the cutile crates, as Cargo.toml pins it.
pub const CUTILE_VERSION: &CStr = c"0.2.0";

/// Compiles a kernel for the drivers of a kind.
pub fn build(kind: Kind, specialization: &Specialization) -> Result<Vec<u8>> {
    let bytecode = specialization.bytecode()?;
    match kind {
        Kind::Cpu => Ok(bytecode),
        Kind::Cuda => assemble(&bytecode, specialization),
    }
}

/// The identity of an image in the host's cache: readable text that names all it depends on.
pub fn cache_key(kind: Kind, specialization: &Specialization) -> String {
    let (format, assembler) = match kind {
        Kind::Cpu => ("bytecode", String::new()),
        Kind::Cuda => ("cubin", assembler_version()),
    };
    let cutile = CUTILE_VERSION.to_string_lossy();
    format!(
        "image=1\nformat={format}\ncutile={cutile}\ntileiras={assembler}\nsource={:016x}\n{}",
        fnv1a(specialization.kernel.source.as_bytes()),
        specialization.identity()
    )
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The assembler: the host's setting, then the environment, then PATH.
fn assembler() -> PathBuf {
    let setting = host::setting(c"CUTILE_TILEIRAS_PATH").filter(|path| !path.is_empty());
    setting.map_or_else(tileiras_binary, PathBuf::from)
}

/// What the assembler says of itself, asked once a process; empty where it does not start, which assembling will report.
fn assembler_version() -> String {
    static VERSION: OnceLock<String> = OnceLock::new();
    let ask = || {
        let output = Command::new(assembler()).arg("--version").stdin(Stdio::null()).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).replace('\n', " "))
    };
    VERSION.get_or_init(|| ask().unwrap_or_default()).clone()
}

fn assemble(bytecode: &[u8], specialization: &Specialization) -> Result<Vec<u8>> {
    let assembler = assembler();
    let fail =
        |reason: String| Error::launch(format!("kernel {}: {}: {reason}", specialization.title(), assembler.display()));
    let folder = TempFolder::create().map_err(|error| fail(format!("cannot make a temporary folder: {error}")))?;
    let input = folder.path.join("kernel.tileirbc");
    let output = folder.path.join("kernel.cubin");
    std::fs::write(&input, bytecode).map_err(|error| fail(format!("cannot write {}: {error}", input.display())))?;
    let mut command = Command::new(&assembler);
    command.args(["--gpu-name", &specialization.arch, "--opt-level", "3", "-o"]).arg(&output).arg(&input);
    let run = command.stdin(Stdio::null()).output();
    let run = run.map_err(|error| fail(format!("cannot start it: {error}; set CUTILE_TILEIRAS_PATH to a tileiras")))?;
    if !run.status.success() {
        let kept = folder.keep();
        return Err(fail(format!("{}; the bytecode is kept in {}", account(&run), kept.display())));
    }
    std::fs::read(&output).map_err(|error| fail(format!("cannot read its output: {error}")))
}

/// How a program ended and what it said.
fn account(run: &Output) -> String {
    let said = [&run.stderr, &run.stdout].map(|text| String::from_utf8_lossy(text).trim().to_owned());
    format!(
        "ended with {}: {}",
        run.status,
        said.iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join("\n")
    )
}

/// A folder of our own that goes with its content unless kept.
struct TempFolder {
    path: PathBuf,
    kept: bool,
}

impl TempFolder {
    fn create() -> std::io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        loop {
            let name = format!("tilegym-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
            let path = std::env::temp_dir().join(name);
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self { path, kept: false }),
                // Left by a process that had our id before.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn keep(mut self) -> PathBuf {
        self.kept = true;
        self.path.clone()
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        if !self.kept {
            let _ = std::fs::remove_dir_all(Path::new(&self.path));
        }
    }
}
