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

    /// Names of the function's generic parameters as its source spells them, for messages; none where it is not found.
    pub fn generic_names(&self) -> Vec<&'static str> {
        let start = format!("fn {}<", self.name());
        let Some(at) = self.source.find(&start) else {
            return Vec::new();
        };
        let parameters = split_generics(&self.source[at + start.len()..]);
        parameters.into_iter().filter_map(|text| text.trim().trim_start_matches("const ").split(':').next()).collect()
    }
}

/// The pieces between commas up to the bracket that closes the list.
fn split_generics(text: &str) -> Vec<&str> {
    let (mut pieces, mut from, mut depth) = (Vec::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        let ends = letter == '>' && depth == 0;
        if ends || (letter == ',' && depth == 0) {
            pieces.push(&text[from..at]);
            from = at + 1;
        }
        match letter {
            '>' if ends => break,
            '<' | '{' | '[' | '(' => depth += 1,
            '>' | '}' | ']' | ')' => depth -= 1,
            _ => {}
        }
    }
    pieces.retain(|piece| !piece.trim().is_empty());
    pieces
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

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &'static str) -> Vec<&'static str> {
        Kernel { module: "m", function: c"f", symbol: c"f_entry", ast: || unreachable!(), source }.generic_names()
    }

    #[test]
    fn generics_are_named_as_in_the_source() {
        assert_eq!(names("fn f<E: ElementType, const BLOCK: i32>(x: E)"), ["E", "BLOCK"]);
        assert_eq!(names("fn f<\n    E: Into<Pair<A, B>>,\n    const S: [i32; 2],\n>()"), ["E", "S"]);
        assert_eq!(names("fn g<E>() fn f()"), [""; 0]);
    }
}
