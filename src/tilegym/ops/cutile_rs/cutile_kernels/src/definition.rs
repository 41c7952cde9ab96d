//! The static description of a kernel entry.

use core::ffi::CStr;

use cutile_compiler::ast::Module;

/// One entry function of a kernel module; a `static` made by [`crate::kernel!`]. Its address is its identity.
pub struct Kernel {
    /// Name of the module, as written.
    pub module: &'static str,
    /// Name of the function, as written.
    pub function: &'static CStr,
    /// Symbol of the function in an image.
    pub symbol: &'static CStr,
    /// The module's syntax tree, which the compiler lowers.
    pub ast: fn() -> Module,
    /// The file that holds the module; part of an image's identity in the cache.
    pub source: &'static str,
}

impl Kernel {
    pub fn name(&self) -> &'static str {
        self.function.to_str().unwrap_or("?")
    }
}

/// Describes an entry of the module in the `kernel.rs` beside the calling file: `kernel!(softmax_module, softmax_kernel)`.
#[macro_export]
macro_rules! kernel {
    ($module:ident, $function:ident) => {
        $crate::ffi_util::Kernel {
            module: stringify!($module),
            function: $crate::abi::c_text(concat!(stringify!($function), "\0")),
            symbol: $crate::abi::c_text(concat!(stringify!($function), "_entry\0")),
            ast: $module::__module_ast_self,
            source: include_str!("kernel.rs"),
        }
    };
}
