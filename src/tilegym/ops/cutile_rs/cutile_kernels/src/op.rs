//! The declaration of an op: one place from which its C function, its packed thunk and its manifest row come.

/// Declares an op in its `ffi.rs`.
///
/// ```text
/// op! {
///     /// What the op computes.
///     scale(
///         /// Result.
///         out: tensor(Direction::Out, 2, FLOATS),     direction, rank (-1: any), accepted dtypes
///         x: tensor(Direction::In, 2, FLOATS),
///         factor: f32,
///         block_size: i32 = Scalar::Integer(256),     scalars (i32, i64, f32) may have a default
///     ) launches [SCALE] |call| {
///         call.expect_shape(&out, x.extents(), "as large as x")?;
///         ...
///         call.launch(&SCALE, options, grid, [x.elem()], (Arg("out", out), Arg("x", x), Arg("factor", factor)))
///     }
/// }
/// ```
///
/// The body sees each parameter under its name, tensors as checked [`crate::ffi_util::TensorArg`]s, and the call. It
/// returns `Result<()>`. It decides by its arguments alone: for a call like one before, with other addresses of the same
/// alignment, its launch is made again without it (see [`crate::repeat`]). Exported are
/// - `cutile_scale(out, x, factor, block_size, device_id, raw_stream) -> i32`,
/// - `cutile_scale_packed(const Arg*, count) -> i32` with the same arguments in one array,
/// - `ROW`, which `lib.rs` puts into the manifest.
#[macro_export]
macro_rules! op {
    (
        $(#[doc = $doc:literal])+
        $name:ident(
            $( $(#[doc = $param_doc:literal])+ $param:ident : $kind:ident $(( $($spec:expr),* ))? $(= $default:expr)? ),* $(,)?
        ) launches [ $($kernel:ident),+ ] |$call:ident| $body:block
    ) => {
        static PARAMS: &[$crate::abi::ParamRow] = &[
            $(
                $crate::abi::ParamRow::$kind(
                    $crate::abi::c_text(concat!(stringify!($param), "\0")),
                    $crate::abi::c_text(concat!($($param_doc,)+ "\0")),
                    $($($spec),*)?
                )$(.with_default($default))?,
            )*
            $crate::abi::ParamRow::DEVICE,
            $crate::abi::ParamRow::STREAM,
        ];

        static ENTRIES: &[$crate::abi::Name] = &[$($crate::abi::Name::of($kernel.function)),+];

        /// The op's row of the manifest.
        pub static ROW: $crate::abi::OpRow = $crate::abi::OpRow::new(
            $crate::abi::c_text(concat!(stringify!($name), "\0")),
            $crate::abi::c_text(concat!($($doc,)+ "\0")),
            PARAMS,
            ENTRIES,
            packed,
        );

        $(#[doc = $doc])+
        ///
        /// # Safety
        /// Descriptors are null or live through the call, and the memory they describe until the launch has completed
        /// in stream order; `raw_stream` is a stream of the device.
        #[unsafe(export_name = concat!("cutile_", stringify!($name)))]
        pub unsafe extern "C" fn unpacked(
            $( $param: $crate::c_type!($kind), )*
            device_id: i32,
            raw_stream: u64,
        ) -> i32 {
            // SAFETY: the caller's promises are passed on.
            $crate::error::guard(|| unsafe { run($($param,)* device_id, raw_stream) })
        }

        #[doc = concat!("`cutile_", stringify!($name), "` with its arguments in one array.")]
        ///
        /// # Safety
        /// As the unpacked function; `arguments` is null or points at `count` arguments of the kinds of the op's rows.
        #[unsafe(export_name = concat!("cutile_", stringify!($name), "_packed"))]
        pub unsafe extern "C" fn packed(arguments: *const $crate::abi::PackedArg, count: usize) -> i32 {
            $crate::error::guard(|| {
                // SAFETY: the caller's promises are passed on; arguments are taken in the order of their rows.
                unsafe {
                    let name = stringify!($name);
                    let mut rest = $crate::packed::PackedArgs::new(name, arguments, count, PARAMS.len())?;
                    run($(rest.$kind(stringify!($param))?,)* rest.i32("device_id")?, rest.stream()?)
                }
            })
        }

        #[inline(always)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn run(
            $( $param: $crate::c_type!($kind), )*
            device_id: i32,
            raw_stream: u64,
        ) -> $crate::ffi_util::Result<()> {
            const NAME: &core::ffi::CStr = $crate::abi::c_text(concat!(stringify!($name), "\0"));
            let call = $crate::ffi_util::Call::new(NAME, device_id, raw_stream);
            let mut seen = $crate::repeat::Seen::new(NAME, device_id);
            // SAFETY: descriptors are null or live, by the caller's promise.
            unsafe { $( $crate::noticed!(seen, $kind, $param $(, $($spec),*)?); )* }
            seen.finish();
            if let Some(repeated) = seen.find().and_then(|recipe| call.repeat(recipe, &seen)) {
                return repeated;
            }
            // SAFETY: as above.
            unsafe { once(&call, $($param),*) }?;
            seen.remember(call.into_notes(), PARAMS);
            Ok(())
        }

        /// The body, for a call unlike those before.
        #[inline(never)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn once($call: &$crate::ffi_util::Call, $( $param: $crate::c_type!($kind) ),*) -> $crate::ffi_util::Result<()> {
            // SAFETY: descriptors are null or live, by the caller's promise.
            $( let $param = $crate::checked!($call, $kind, $param $(, $($spec),*)?); )*
            $body
        }
    };
}

/// The C type of a parameter kind.
#[doc(hidden)]
#[macro_export]
macro_rules! c_type {
    (tensor) => { *const $crate::abi::TensorDesc };
    (i32) => { i32 };
    (i64) => { i64 };
    (f32) => { f32 };
}

/// A parameter as the body sees it.
#[doc(hidden)]
#[macro_export]
macro_rules! checked {
    ($call:ident, tensor, $param:ident, $direction:expr, $rank:expr, $dtypes:expr) => {
        unsafe {
            $call.tensor::<{ $rank }>(const { $crate::abi::c_text(concat!(stringify!($param), "\0")) }, $param, $dtypes)
        }?
    };
    ($call:ident, $kind:ident, $param:ident) => {
        $param
    };
}

/// Adds a parameter to what is seen of a call.
#[doc(hidden)]
#[macro_export]
macro_rules! noticed {
    ($seen:ident, tensor, $param:ident, $direction:expr, $rank:expr, $dtypes:expr) => {
        $seen.tensor::<{ $rank }>($param)
    };
    ($seen:ident, $kind:ident, $param:ident) => {
        $seen.$kind($param)
    };
}
