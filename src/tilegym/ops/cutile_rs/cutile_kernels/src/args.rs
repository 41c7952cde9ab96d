//! The arguments of a kernel: a tuple of named values in the order of the kernel's Rust signature.
//!
//! Every step is resolved by type, so that a launch's key and its parameter values come out as straight code.

use crate::error::Result;
use crate::key::KeyBuilder;
use crate::params::{Params, Ranges};
use crate::tensor::{ANY_RANK, TensorArg};

/// Most arguments of a kernel.
pub const MAX_ARGS: usize = 16;

/// A kernel argument under the name of its parameter: a tensor for `&Tensor<E, { [..] }>`, [`TensorArg::pointer`] for
/// `*mut E`, or an `i32`, `i64` or `f32`.
#[derive(Clone, Copy)]
pub struct Arg<T>(pub &'static str, pub T);

/// The address of a tensor's element 0, and the tensor it came from: a kernel given a pointer may touch that tensor.
#[derive(Clone, Copy)]
pub struct Pointer<'a, const R: i32>(pub(crate) TensorArg<'a, R>);

/// An argument of any type, for the first launch of a key.
#[derive(Clone, Copy)]
pub enum AnyArg<'a> {
    Tensor(&'static str, TensorArg<'a, ANY_RANK>),
    Pointer(&'static str, TensorArg<'a, ANY_RANK>),
    Integer(&'static str, i64),
    /// Floats do not change the code.
    Float,
}

/// One argument.
pub trait KernelArg {
    /// Adds what the code depends on.
    fn key(&self, key: &mut KeyBuilder);
    /// Adds the values the driver passes on.
    fn values(&self, params: &mut Params);
    /// Adds the memory the kernel may touch through it.
    fn ranges(&self, _ranges: &mut Ranges) -> Result<()> {
        Ok(())
    }
    fn describe(&self) -> AnyArg<'_>;
}

impl<const R: i32> KernelArg for Arg<TensorArg<'_, R>> {
    #[inline(always)]
    fn key(&self, key: &mut KeyBuilder) {
        key.tensor(&self.1);
    }

    #[inline(always)]
    fn values(&self, params: &mut Params) {
        params.tensor(&self.1);
    }

    #[inline(always)]
    fn ranges(&self, ranges: &mut Ranges) -> Result<()> {
        ranges.push(&self.1)
    }

    fn describe(&self) -> AnyArg<'_> {
        AnyArg::Tensor(self.0, self.1.any_rank())
    }
}

impl<const R: i32> KernelArg for Arg<Pointer<'_, R>> {
    #[inline(always)]
    fn key(&self, key: &mut KeyBuilder) {
        key.value(self.1.0.base());
    }

    #[inline(always)]
    fn values(&self, params: &mut Params) {
        params.address(&self.1.0);
    }

    #[inline(always)]
    fn ranges(&self, ranges: &mut Ranges) -> Result<()> {
        ranges.push(&self.1.0)
    }

    fn describe(&self) -> AnyArg<'_> {
        AnyArg::Pointer(self.0, self.1.0.any_rank())
    }
}

macro_rules! integers {
    ($($integer:ty),*) => {
        $(
            impl KernelArg for Arg<$integer> {
                #[inline(always)]
                fn key(&self, key: &mut KeyBuilder) {
                    key.value(self.1 as u64);
                }

                #[inline(always)]
                fn values(&self, params: &mut Params) {
                    params.put(self.1 as u64);
                }

                fn describe(&self) -> AnyArg<'_> {
                    AnyArg::Integer(self.0, i64::from(self.1))
                }
            }
        )*
    };
}

integers!(i32, i64);

impl KernelArg for Arg<f32> {
    #[inline(always)]
    fn key(&self, _key: &mut KeyBuilder) {}

    #[inline(always)]
    fn values(&self, params: &mut Params) {
        params.put(u64::from(self.1.to_bits()));
    }

    fn describe(&self) -> AnyArg<'_> {
        AnyArg::Float
    }
}

/// All arguments of a kernel.
pub trait KernelArgs {
    fn key(&self, key: &mut KeyBuilder);
    fn values(&self, params: &mut Params);
    fn ranges(&self, ranges: &mut Ranges) -> Result<()>;
    fn describe(&self) -> Vec<AnyArg<'_>>;
}

macro_rules! tuples {
    ($($first:ident $($rest:ident)*)?) => {
        $(
            tuples!($($rest)*);

            #[allow(non_snake_case)] // the type parameters name the elements
            impl<$first: KernelArg, $($rest: KernelArg),*> KernelArgs for ($first, $($rest,)*) {
                #[inline(always)]
                fn key(&self, key: &mut KeyBuilder) {
                    let ($first, $($rest,)*) = self;
                    $first.key(key);
                    $( $rest.key(key); )*
                }

                #[inline(always)]
                fn values(&self, params: &mut Params) {
                    let ($first, $($rest,)*) = self;
                    $first.values(params);
                    $( $rest.values(params); )*
                }

                #[inline(always)]
                fn ranges(&self, ranges: &mut Ranges) -> Result<()> {
                    let ($first, $($rest,)*) = self;
                    $first.ranges(ranges)?;
                    $( $rest.ranges(ranges)?; )*
                    Ok(())
                }

                fn describe(&self) -> Vec<AnyArg<'_>> {
                    let ($first, $($rest,)*) = self;
                    vec![$first.describe(), $($rest.describe()),*]
                }
            }
        )?
    };
}

// As many as MAX_ARGS.
tuples!(A B C D E F G H I J K L M N O P);
