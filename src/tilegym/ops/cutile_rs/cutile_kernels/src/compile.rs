//! Lowering: a kernel and the classes of its arguments to Tile IR, by cutile's own compiler.

use cutile::compile_api::KernelCompiler;
use cutile_compiler::hints::CompileOptions;
use cutile_compiler::specialization::{DivHint, SpecializationBits};

use crate::abi::rc;
use crate::args::AnyArg;
use crate::definition::Kernel;
use crate::dtype::dtype_str;
use crate::error::{Error, Result, catching};
use crate::host::{self, Level};
use crate::key::class;
use crate::launch::{Generic, Options};
use crate::signature::{Dims, tensor_dims};
use crate::tensor::{ANY_RANK, TensorArg};

/// The compiler recurses deeply; its own tests give it this much.
const STACK_BYTES: usize = 16 << 20;

/// Everything the lowered code depends on besides the kernel's source.
pub struct Specialization {
    pub kernel: &'static Kernel,
    pub arch: String,
    pub generics: Vec<String>,
    options: Options,
    tensors: Vec<TensorClass>,
    scalars: Vec<(&'static str, DivHint)>,
    /// The tensors of the launch that needs the code, for messages.
    given: Vec<String>,
}

/// What the code for a tensor parameter depends on, per dimension where plural.
struct TensorClass {
    name: &'static str,
    base: DivHint,
    extents: Vec<DivHint>,
    /// None where the stride is 1, which becomes part of the type.
    strides: Vec<Option<DivHint>>,
}

impl Specialization {
    pub fn new(
        kernel: &'static Kernel,
        arch: &str,
        options: Options,
        generics: &[Generic],
        args: &[AnyArg<'_>],
    ) -> Result<Self> {
        let generics = generics.iter().map(|generic| generic_text(*generic)).collect::<Result<_>>()?;
        let mut tensors = Vec::new();
        let mut scalars = Vec::new();
        let mut given = Vec::new();
        for arg in args {
            if let AnyArg::Tensor(name, tensor) | AnyArg::Pointer(name, tensor) = arg {
                given.push(format!("{name}: {} {:?}", dtype_str(tensor.dtype()).unwrap_or("?"), tensor.extents()));
            }
            match arg {
                AnyArg::Tensor(name, tensor) => tensors.push(TensorClass::new(name, tensor)),
                AnyArg::Pointer(name, tensor) => scalars.push((*name, hint(tensor.base()))),
                AnyArg::Integer(name, value) => scalars.push((*name, hint(*value as u64))),
                AnyArg::Float => {}
            }
        }
        Ok(Self { kernel, arch: arch.to_owned(), generics, options, tensors, scalars, given })
    }

    /// The kernel with its element types, tile sizes, arguments and target, for messages.
    pub fn title(&self) -> String {
        let names = self.kernel.generic_names();
        let name = |i: usize| names.get(i).map_or_else(String::new, |name| format!("{name} = "));
        let generics: Vec<_> = self.generics.iter().enumerate().map(|(i, value)| name(i) + value).collect();
        let (kernel, given) = (self.kernel.name(), self.given.join(", "));
        format!("{kernel}<{}>({given}) for {}", generics.join(", "), self.arch)
    }

    /// Every field that the lowered code depends on, as text.
    pub fn identity(&self) -> String {
        let mut text = format!(
            "kernel={}::{}\ngenerics={}\narch={}\nnum_cta_in_cga={}\noccupancy={}\n",
            self.kernel.module,
            self.kernel.name(),
            self.generics.join(","),
            self.arch,
            self.options.num_cta_in_cga,
            self.options.occupancy
        );
        for tensor in &self.tensors {
            let extents: Vec<_> = tensor.extents.iter().map(|hint| hint.divisor).collect();
            let strides: Vec<_> = tensor.strides.iter().map(|hint| hint.map(|hint| hint.divisor)).collect();
            text += &format!(
                "tensor {}: base={} extents={extents:?} strides={strides:?}\n",
                tensor.name, tensor.base.divisor
            );
        }
        for (name, hint) in &self.scalars {
            text += &format!("scalar {name}: {}\n", hint.divisor);
        }
        text
    }

    /// Lowers and verifies the kernel.
    pub fn lower(&self) -> Result<cutile_ir::Module> {
        let fail = |stage: &str, error: &dyn core::fmt::Display| {
            Error::launch(format!("kernel {}: {stage} failed: {error}", self.title()))
        };
        let mut options = CompileOptions::default();
        if self.options.num_cta_in_cga > 0 {
            options = options.num_cta_in_cga(i32::from(self.options.num_cta_in_cga));
        }
        if self.options.occupancy > 0 {
            options = options.occupancy(i32::from(self.options.occupancy));
        }
        let ast = (self.kernel.ast)();
        let static_strides: Vec<_> = self.tensors.iter().map(|tensor| (tensor.name, tensor.static_strides())).collect();
        let strides: Vec<_> = static_strides.iter().map(|(name, strides)| (*name, strides.as_slice())).collect();
        let bits = self
            .tensors
            .iter()
            .map(|tensor| (tensor.name, tensor.bits(&tensor_dims(&ast, self.kernel.name(), tensor.name))));
        let bits: Vec<_> = bits.collect();
        let module = KernelCompiler::new(self.kernel.ast, self.kernel.module, self.kernel.name())
            .target(&self.arch)
            .generics(self.generics.clone())
            .strides(&strides)
            .spec_args(&bits)
            .scalar_hints(&self.scalars)
            .options(options)
            .compile()
            .map_err(|error| fail("lowering", &error))?
            .into_module();
        module.verify_dominance().map_err(|error| fail("verification of dominance", &error))?;
        module.verify_bytecode_indices().map_err(|error| fail("verification of value indices", &error))?;
        host::log(Level::Trace, || format!("Tile IR of {}:\n{}", self.title(), module.to_mlir_text()));
        Ok(module)
    }

    /// Tile IR bytecode of the kernel, made on a thread of its own for its stack.
    pub fn bytecode(&self) -> Result<Vec<u8>> {
        self.on_compile_thread(|| {
            let module = self.lower()?;
            cutile_ir::write_bytecode(&module)
                .map_err(|error| Error::launch(format!("kernel {}: cannot write bytecode: {error}", self.title())))
        })
    }

    /// Runs `work` where the compiler has enough stack; a panic of it becomes an error.
    pub fn on_compile_thread<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let subject = || format!("kernel {}: the compiler panicked", self.title());
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("tilegym-compile".to_owned()).stack_size(STACK_BYTES);
            let thread = thread.spawn_scoped(scope, || catching(&subject, work)).map_err(|error| {
                Error::launch(format!("kernel {}: cannot start the compile thread: {error}", self.title()))
            })?;
            thread.join().unwrap_or_else(|_| Err(Error::new(rc::PANICKED, subject())))
        })
    }
}

impl TensorClass {
    fn new(name: &'static str, tensor: &TensorArg<'_, ANY_RANK>) -> Self {
        let stride = |stride: &i64| (*stride != 1).then(|| hint(*stride as u64));
        Self {
            name,
            base: hint(tensor.base()),
            extents: tensor.extents().iter().map(|extent| hint(*extent as u64)).collect(),
            strides: tensor.strides().iter().map(stride).collect(),
        }
    }

    /// As the compiler takes them: 1, or -1 for dynamic ones.
    fn static_strides(&self) -> Vec<i32> {
        self.strides.iter().map(|stride| if stride.is_none() { 1 } else { -1 }).collect()
    }

    /// The compiler numbers the divisors of strides and extents by their position among the dynamic ones, not by
    /// dimension: those of static ones are left out, or the next one's assumption would be wrong.
    fn bits(&self, dims: &Dims) -> SpecializationBits {
        let rank = self.strides.len();
        SpecializationBits {
            shape_div: padded(dims.dynamic_only(&self.extents), rank),
            stride_div: padded(self.strides.iter().flatten().copied().collect(), rank),
            stride_one: self.strides.iter().map(Option::is_none).collect(),
            base_ptr_div: self.base,
            // Not read by the compiler.
            elements_disjoint: true,
        }
    }
}

/// The assumption a class permits: never the value itself, which other launches of the same code do not share.
fn hint(value: u64) -> DivHint {
    DivHint { divisor: 1 << class(value), max: 16 }
}

fn padded(mut hints: Vec<DivHint>, rank: usize) -> Vec<DivHint> {
    hints.resize(rank, DivHint { divisor: 1, max: 16 });
    hints
}

fn generic_text(generic: Generic) -> Result<String> {
    match generic {
        Generic::Int(value) => Ok(value.to_string()),
        Generic::Elem(code) => dtype_str(code)
            .map(str::to_owned)
            .ok_or_else(|| Error::new(rc::UNSUPPORTED_DTYPE, format!("no element type has the code {code}"))),
    }
}
