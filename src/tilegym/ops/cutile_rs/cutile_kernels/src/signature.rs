//! What a kernel's Rust signature says about its tensor parameters.

use cutile_compiler::ast::Module;
use cutile_compiler::ast::syn::{Expr, FnArg, GenericArgument, Item, ItemFn, Pat, PathArguments, Stmt, Type, UnOp};
use cutile_compiler::specialization::DivHint;

/// Which dimensions of a tensor parameter are dynamic (-1 in its type).
pub enum Dims {
    Known(Vec<bool>),
    /// The type spells its shape in a way this module does not read.
    Unknown,
}

impl Dims {
    /// The divisors of the dynamic extents, in order. Where the type is unknown every extent gets the smallest divisor,
    /// which is right for any of them.
    pub fn dynamic_only(&self, hints: &[DivHint]) -> Vec<DivHint> {
        match self {
            Dims::Known(dynamic) if dynamic.len() == hints.len() => {
                hints.iter().zip(dynamic).filter(|(_, dynamic)| **dynamic).map(|(hint, _)| *hint).collect()
            }
            _ => {
                let least = hints.iter().map(|hint| hint.divisor).min().unwrap_or(1);
                vec![DivHint { divisor: least, max: 16 }; hints.len()]
            }
        }
    }
}

/// The dimensions of `parameter` of `function`.
pub fn tensor_dims(module: &Module, function: &str, parameter: &str) -> Dims {
    let items = module.ast().content.iter().flat_map(|(_, items)| items);
    let is_it = |item: &&ItemFn| item.sig.ident == function;
    let mut functions = items.filter_map(|item| if let Item::Fn(item) = item { Some(item) } else { None });
    let dims = functions.find(is_it).and_then(|item| parameter_type(item, parameter)).and_then(dims_of);
    dims.map_or(Dims::Unknown, Dims::Known)
}

fn parameter_type<'a>(function: &'a ItemFn, name: &str) -> Option<&'a Type> {
    function.sig.inputs.iter().find_map(|input| match input {
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(pattern) if pattern.ident == name => Some(&*typed.ty),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    })
}

/// Reads `&Tensor<E, { [-1, 64] }>`.
fn dims_of(ty: &Type) -> Option<Vec<bool>> {
    let Type::Reference(reference) = ty else { return None };
    let Type::Path(path) = &*reference.elem else {
        return None;
    };
    let PathArguments::AngleBracketed(generics) = &path.path.segments.last()?.arguments else {
        return None;
    };
    generics.args.iter().find_map(|argument| {
        let GenericArgument::Const(Expr::Block(block)) = argument else {
            return None;
        };
        let [Stmt::Expr(Expr::Array(array), None)] = block.block.stmts.as_slice() else {
            return None;
        };
        Some(
            array
                .elems
                .iter()
                .map(|extent| matches!(extent, Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_))))
                .collect(),
        )
    })
}
