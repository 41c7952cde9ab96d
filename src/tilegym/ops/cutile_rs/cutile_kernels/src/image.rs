//! Images a driver loads: the bytecode itself for the CPU device, a cubin made by the host's compiler for a GPU.

use core::ffi::CStr;
use std::sync::OnceLock;

use crate::abi::ABI_VERSION;
use crate::compile::Specialization;
use crate::driver::Kind;
use crate::error::Result;
use crate::host;

/// The version of the cutile crates, as Cargo.toml pins it.
pub const CUTILE_VERSION: &CStr = c"0.2.0";

/// What turns arguments into the compiler's input, and the versions of every crate that takes part.
const MAKERS: [&str; 3] = [include_str!("compile.rs"), include_str!("signature.rs"), include_str!("../Cargo.lock")];

/// Words after `use` that lead to nothing but the pinned crates.
const PINNED: [&str; 5] = ["cutile", "core", "std", "half", "self"];

/// Compiles a kernel for the drivers of a kind.
pub fn build(kind: Kind, specialization: &Specialization) -> Result<Vec<u8>> {
    let bytecode = specialization.bytecode()?;
    match kind {
        Kind::Cpu => Ok(bytecode),
        Kind::Cuda => host::assemble(&specialization.title(), &specialization.arch, &bytecode),
    }
}

/// The identity of a kernel's images in the host's cache: text that holds all they depend on but the compiler from
/// bytecode to cubins. None where that cannot be told.
pub fn cache_key(specialization: &Specialization) -> Option<String> {
    let source = specialization.kernel.source;
    let sources = if stands_alone(source) { "" } else { crate::SOURCE_FINGERPRINT };
    if sources.is_empty() && !stands_alone(source) {
        return None;
    }
    let cutile = CUTILE_VERSION.to_string_lossy();
    let description = specialization.identity();
    let makers = makers();
    Some(format!(
        "{description}\ncutile={cutile}\nabi={ABI_VERSION}\nmakers={makers:016x}\nsources={sources}\n{source}"
    ))
}

/// Whether a file of kernels is all that they are made from: it takes nothing from other modules or files of ours. Every
/// doubt is a no.
fn stands_alone(source: &str) -> bool {
    let code = source.lines().map(|line| line.split("//").next().unwrap_or_default());
    let code: String = code.flat_map(|line| [line, " "]).collect();
    let foreign = |keyword, known: fn(&str) -> bool| code.split(keyword).skip(1).any(|rest| !known(rest.trim_start()));
    !source.is_empty()
        && !code.contains("include!")
        && !code.contains("#[path")
        && !foreign("use ", |path| {
            PINNED.contains(&path.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default())
        })
        && !foreign("mod ", |module| module.find(['{', ';']).is_some_and(|at| module[at..].starts_with('{')))
}

fn makers() -> u64 {
    static HASH: OnceLock<u64> = OnceLock::new();
    *HASH.get_or_init(|| MAKERS.iter().fold(0xcbf2_9ce4_8422_2325, |hash, text| fnv1a(hash, text.as_bytes())))
}

fn fnv1a(seed: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(seed, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::stands_alone;

    #[test]
    fn kernels_that_take_nothing_from_elsewhere_stand_alone() {
        let alone =
            "#[cutile::module]\npub mod m {\n    use cutile::core::*; // use of\n    /// use it well\n    fn f() {}\n}";
        assert!(stands_alone(alone));
        for taken in ["use super::shared::*;", "use crate::a;", "mod b;", "include!(\"c.rs\");", "pub use other::d;"] {
            assert!(!stands_alone(&format!("{alone}\n{taken}\n")), "{taken}");
        }
        assert!(!stands_alone(""));
    }

    #[test]
    fn the_ops_stand_alone() {
        for source in [
            include_str!("../../softmax_kernel/kernel.rs"),
            include_str!("../../silu_and_mul_kernel/kernel.rs"),
            include_str!("../../matmul_kernel/kernel.rs"),
        ] {
            assert!(stands_alone(source));
        }
    }
}
