//! Ops declared by a test, as a new op's folder would declare them.

include!("kernel.rs");

pub mod shift {
    use super::probe_module;
    use cutile_kernels::ffi_util::{ANY_RANK, Arg, Direction, FLOATS, Kernel, Options, Scalar, kernel, op};

    static SHIFT: Kernel = kernel!(probe_module, shift_kernel);

    op! {
        /// Adds numbers to a tensor.
        shift(
            /// Result.
            out: tensor(Direction::Out, 3, FLOATS),
            /// Input.
            x: tensor(Direction::In, 3, FLOATS),
            /// Weights of any rank, unused.
            any: tensor(Direction::In, ANY_RANK, FLOATS),
            /// What is added.
            by: f32 = Scalar::Floating(0.5),
            /// A number the kernel ignores.
            long: i64,
        ) launches [SHIFT] |call| {
            call.expect_same_dtype(&any, &x)?;
            let args = (Arg("out", out), Arg("x", x), Arg("by", by), Arg("_long", long));
            call.launch(&SHIFT, Options::default(), call.grid([1, 1, 1])?, [x.elem()], args)
        }
    }
}

pub mod static_extent {
    use super::probe_module;
    use cutile_kernels::ffi_util::{Arg, Direction, FLOATS, Kernel, Options, kernel, op};

    static COPY: Kernel = kernel!(probe_module, static_extent_kernel);

    op! {
        /// Copies.
        static_extent(
            /// Result.
            out: tensor(Direction::Out, 2, FLOATS),
            /// Input.
            x: tensor(Direction::In, 2, FLOATS),
        ) launches [COPY] |call| {
            let args = (Arg("out", out), Arg("x", x));
            call.launch(&COPY, Options::default(), call.grid([1, 1, 1])?, [x.elem()], args)
        }
    }
}

pub mod broken {
    use cutile_kernels::ffi_util::{Arg, Direction, FLOATS, Kernel, Options, op};

    static BROKEN: Kernel = Kernel {
        module: "broken_module",
        function: c"broken_kernel",
        symbol: c"broken_kernel_entry",
        ast: || panic!("no syntax tree today"),
        source: "",
    };

    op! {
        /// Panics: in its body when `by` is 0, in the compiler otherwise.
        broken(
            /// Result.
            out: tensor(Direction::Out, 1, FLOATS),
            /// Divisor.
            by: i32,
        ) launches [BROKEN] |call| {
            let blocks = i64::from(8 / by);
            call.launch(&BROKEN, Options::default(), call.grid([blocks, 1, 1])?, [], (Arg("out", out),))
        }
    }
}

pub mod twice {
    use super::probe_module;
    use cutile_kernels::ffi_util::{Arg, Direction, FLOATS, Kernel, Options, kernel, op};

    static COPY: Kernel = kernel!(probe_module, static_extent_kernel);

    op! {
        /// Copies in two launches.
        twice(
            /// Result.
            out: tensor(Direction::Out, 2, FLOATS),
            /// Input.
            x: tensor(Direction::In, 2, FLOATS),
        ) launches [COPY] |call| {
            let options = Options::default();
            for _ in 0..2 {
                call.launch(&COPY, options, call.grid([1, 1, 1])?, [x.elem()], (Arg("out", out), Arg("x", x)))?;
            }
            Ok(())
        }
    }
}

pub mod apart {
    use super::probe_module;
    use cutile_kernels::ffi_util::{Arg, Direction, FLOATS, Kernel, Options, kernel, op};

    static COPY: Kernel = kernel!(probe_module, static_extent_kernel);

    op! {
        /// Copies between tensors that begin at different places.
        apart(
            /// Result.
            out: tensor(Direction::Out, 2, FLOATS),
            /// Input.
            x: tensor(Direction::In, 2, FLOATS),
        ) launches [COPY] |call| {
            if out.address() == x.address() {
                return Err(call.invalid(format_args!("argument out: wanted memory of its own, got that of x")));
            }
            let args = (Arg("out", out), Arg("x", x));
            call.launch(&COPY, Options::default(), call.grid([1, 1, 1])?, [x.elem()], args)
        }
    }
}
