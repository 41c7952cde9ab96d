//! Calls like one before are launched at once, with nothing checked or worked out again.
//!
//! What the body of an op does follows from its arguments: their layouts, the alignment of their addresses and the values
//! of the scalars. A body that launched one kernel and has looked at no address would do the same again for the same of
//! these, so the launch is kept in a form in which only the addresses are missing. With many arguments checking, key and
//! parameters take several times as long as the rest of a launch does.

use core::cell::{Cell, RefCell};
use core::ffi::{CStr, c_char, c_void};
use core::hash::{Hash, Hasher};
use core::mem::MaybeUninit;

use crate::abi::{MAX_RANK, ParamKind, ParamRow, RangeRow, TensorDesc};
use crate::args::{AnyArg, MAX_ARGS};
use crate::cold;
use crate::definition::Kernel;
use crate::error::Result;
use crate::key::class;
use crate::launch::{Call, Grid};
use crate::params::{MAX_VALUES, Params, declare};
use crate::table::{Entry, Hashed, Table};
use crate::tensor::ANY_RANK;

/// More words than the arguments of any op in use; a call of more is never repeated.
const MAX_WORDS: usize = 160;

/// Words that are hashed together; a whole number of them makes a call.
const GROUP: usize = 8;

/// Kept for the life of the process, about 1 KiB each. Where there is no more room further calls go the long way.
static CALLS: Table<Words, Recipe, 2048> = Table::new();

#[derive(PartialEq, Eq)]
struct Words {
    words: Box<[u64]>,
    hash: u64,
}

impl Hash for Words {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Hashed for Words {
    fn slot_hash(&self) -> u64 {
        self.hash
    }
}

/// All that the body of an op may depend on, as words, and the descriptors of its tensors.
pub struct Seen {
    words: [MaybeUninit<u64>; MAX_WORDS],
    count: usize,
    tensors: [MaybeUninit<*const TensorDesc>; MAX_ARGS],
    tensor_count: usize,
    /// Some part cannot be told: the call is not like any other.
    partial: bool,
}

impl Seen {
    #[inline(always)]
    pub fn new(op: &'static CStr, device: i32) -> Self {
        let mut seen = Self {
            words: [const { MaybeUninit::uninit() }; MAX_WORDS],
            count: 0,
            tensors: [const { MaybeUninit::uninit() }; MAX_ARGS],
            tensor_count: 0,
            partial: false,
        };
        seen.push(&[op.as_ptr() as u64, u64::from(device as u32)]);
        seen
    }

    #[inline(always)]
    fn push<const N: usize>(&mut self, words: &[u64; N]) {
        self.append(words);
    }

    /// Inlined with a length that is a constant, this is a few moves.
    #[inline(always)]
    fn append(&mut self, words: &[u64]) {
        match self.words.get_mut(self.count..self.count + words.len()) {
            Some(places) => {
                // SAFETY: as many places as words; `self` is not among the words.
                unsafe { places.as_mut_ptr().cast::<u64>().copy_from_nonoverlapping(words.as_ptr(), words.len()) };
                self.count += words.len();
            }
            None => self.partial = true,
        }
    }

    /// # Safety
    /// `desc` is null or points at a descriptor that outlives this.
    #[inline(always)]
    pub unsafe fn tensor<const R: i32>(&mut self, desc: *const TensorDesc) {
        const NONE: TensorDesc =
            TensorDesc { ptr: 0, ndim: -1, shape: [0; MAX_RANK], strides: [0; MAX_RANK], dtype: 0 };
        // SAFETY: by the caller's promise.
        let desc = unsafe { desc.as_ref() }.unwrap_or(&NONE);
        let fits = if R == ANY_RANK { desc.ndim as u32 <= MAX_RANK as u32 } else { desc.ndim == R };
        self.partial |= !fits;
        let rank = if R == ANY_RANK { (desc.ndim.max(0) as usize).min(MAX_RANK) } else { R as usize };
        let address = class(desc.ptr) | u32::from(desc.ptr == 0) << 3;
        self.push(&[u64::from(desc.dtype as u32) | u64::from(address) << 32 | (rank as u64) << 40]);
        for values in [&desc.shape, &desc.strides] {
            // SAFETY: `rank` is at most MAX_RANK, and i64 and u64 are alike in memory.
            self.append(unsafe { core::slice::from_raw_parts(values.as_ptr().cast(), rank) });
        }
        match self.tensors.get_mut(self.tensor_count) {
            Some(place) => place.write(desc),
            None => return self.partial = true,
        };
        self.tensor_count += 1;
    }

    #[inline(always)]
    pub fn i32(&mut self, value: i32) {
        self.push(&[u64::from(value as u32)]);
    }

    #[inline(always)]
    pub fn i64(&mut self, value: i64) {
        self.push(&[value as u64]);
    }

    #[inline(always)]
    pub fn f32(&mut self, value: f32) {
        self.push(&[u64::from(value.to_bits())]);
    }

    #[inline(always)]
    fn words(&self) -> &[u64] {
        // SAFETY: the first `count` words are written.
        unsafe { core::slice::from_raw_parts(self.words.as_ptr().cast(), self.count) }
    }

    #[inline(always)]
    fn tensors(&self) -> &[*const TensorDesc] {
        // SAFETY: the first `tensor_count` pointers are written.
        unsafe { core::slice::from_raw_parts(self.tensors.as_ptr().cast(), self.tensor_count) }
    }

    /// Ends the words with zeros, to whole groups.
    #[inline(always)]
    pub fn finish(&mut self) {
        const ZEROS: [u64; GROUP] = [0; GROUP];
        self.append(&ZEROS[..self.count.next_multiple_of(GROUP) - self.count]);
    }

    /// The launch of a call like this one.
    #[inline(always)]
    pub fn find(&self) -> Option<&'static Recipe> {
        if self.partial {
            return None;
        }
        let words = self.words();
        CALLS.find_where(hash(words), |known| *known.words == *words)
    }

    /// Keeps what the body of an op of these rows has done, where calls like this one can have it done again.
    #[inline(always)]
    pub fn remember(&self, notes: Notes, params: &[ParamRow]) {
        if let Some(launched) = notes.launched.into_inner()
            && notes.launches.get() == 1
            && !notes.looked.get()
            && !self.partial
        {
            self.keep(launched, params);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep(&self, launched: Launched, params: &[ParamRow]) {
        let Some(recipe) = Recipe::new(launched, params) else { return };
        let words = self.words();
        let hash = hash(words);
        let mut calls = CALLS.lock();
        if calls.has_room() && CALLS.find_where(hash, |known| *known.words == *words).is_none() {
            calls.add(Words { words: words.into(), hash }, recipe);
        }
    }
}

/// Two chains over groups of words: one chain through every word would take longer than to compare them.
#[inline(always)]
fn hash(words: &[u64]) -> u64 {
    // Odd, with their bits spread over the word.
    const FACTORS: [u64; GROUP / 2] =
        [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93];
    let add = |sum: u64, (word, factor): (&u64, u64)| sum.wrapping_add(word.wrapping_mul(factor));
    let mix = |hash: u64, half: &[u64]| {
        (hash.rotate_left(5) ^ half.iter().zip(FACTORS).fold(0, add)).wrapping_mul(FACTORS[0])
    };
    let both = |(one, two): (u64, u64), group: &[u64]| {
        let (low, high) = group.split_at(GROUP / 2);
        (mix(one, low), mix(two, high))
    };
    let (one, two) = words.chunks_exact(GROUP).fold((0, 0), both);
    let hash = one ^ two.rotate_left(32);
    hash ^ (hash >> 32)
}

/// What a body does while it runs, as far as a repetition would have to do the same.
#[derive(Default)]
pub struct Notes {
    launches: Cell<u32>,
    /// Whether it asked for an address, on which it may then depend.
    looked: Cell<bool>,
    launched: RefCell<Option<Launched>>,
}

impl Notes {
    pub fn look(&self) {
        self.looked.set(true);
    }

    /// Notes a launch that was made.
    #[cold]
    #[inline(never)]
    pub fn launch(
        &self,
        kernel: &'static Kernel,
        entry: &'static Entry,
        grid: Grid,
        params: &Params,
        args: &[AnyArg<'_>],
    ) {
        self.launches.set(self.launches.get() + 1);
        let ranges = args.iter().filter_map(range_of).collect();
        let addresses = addresses_of(args);
        *self.launched.borrow_mut() =
            Some(Launched { kernel, entry, grid, values: params.values().into(), addresses, ranges });
    }
}

/// A launch, with tensors by the names of their parameters: one descriptor may be passed for two of them.
struct Launched {
    kernel: &'static Kernel,
    entry: &'static Entry,
    grid: Grid,
    values: Box<[u64]>,
    /// Which value is the address of which tensor.
    addresses: Vec<(usize, &'static CStr)>,
    ranges: Vec<(&'static CStr, Reach)>,
}

/// Memory that a kernel may touch, relative to the address of a tensor.
#[derive(Clone, Copy)]
struct Reach {
    low: i64,
    bytes: u64,
    name: *const c_char,
}

fn addresses_of(args: &[AnyArg<'_>]) -> Vec<(usize, &'static CStr)> {
    let mut value = 0;
    let mut addresses = Vec::new();
    for arg in args {
        if let AnyArg::Tensor(_, tensor) | AnyArg::Pointer(_, tensor) = arg {
            addresses.push((value, tensor.c_name()));
        }
        value += if let AnyArg::Tensor(_, tensor) = arg { 1 + 2 * tensor.rank() } else { 1 };
    }
    addresses
}

/// None for an empty tensor.
fn range_of(arg: &AnyArg<'_>) -> Option<(&'static CStr, Reach)> {
    let (AnyArg::Tensor(_, tensor) | AnyArg::Pointer(_, tensor)) = arg else { return None };
    let (first, bytes) = tensor.span().ok()?;
    let low = first.wrapping_sub(tensor.base()) as i64;
    (bytes > 0).then(|| (tensor.c_name(), Reach { low, bytes, name: tensor.c_name().as_ptr() }))
}

/// A launch in which the addresses are missing, with tensors by their place among the op's.
pub struct Recipe {
    kernel: &'static Kernel,
    entry: &'static Entry,
    grid: Grid,
    /// To the values, which lie in the recipe and never change; those of addresses are set per launch.
    pointers: Box<[*mut c_void]>,
    addresses: Box<[(usize, usize)]>,
    ranges: Box<[(usize, Reach)]>,
}

// SAFETY: what the pointers lead to is leaked with the table's entry, and only read.
unsafe impl Send for Recipe {}
// SAFETY: as above.
unsafe impl Sync for Recipe {}

impl Recipe {
    /// None where a tensor of the launch is not one of the op's, or its entry is made anew at each call.
    fn new(launched: Launched, params: &[ParamRow]) -> Option<Self> {
        if cold::makes_anew() {
            return None;
        }
        // SAFETY: rows have static, NUL-terminated names.
        let names =
            params.iter().filter(|row| row.kind == ParamKind::Tensor).map(|row| unsafe { CStr::from_ptr(row.name) });
        let names: Vec<&CStr> = names.collect();
        let place = |name: &CStr| names.iter().position(|known| *known == name);
        let addresses =
            launched.addresses.iter().map(|(value, name)| Some((*value, place(name)?))).collect::<Option<_>>()?;
        let ranges = launched.ranges.iter().map(|(name, reach)| Some((place(name)?, *reach))).collect::<Option<_>>()?;
        let values = Box::leak(launched.values);
        let pointers = values.iter_mut().map(|value| core::ptr::from_mut(value).cast()).collect();
        Some(Self { kernel: launched.kernel, entry: launched.entry, grid: launched.grid, pointers, addresses, ranges })
    }

    /// Whether an access through a tensor of these addresses could leave the address space.
    #[inline(always)]
    fn rows(&self, tensors: &[*const TensorDesc], rows: &mut [MaybeUninit<RangeRow>; MAX_ARGS]) -> bool {
        let mut beyond = false;
        for ((tensor, reach), row) in self.ranges.iter().zip(rows) {
            // SAFETY: live, by the promise of `Seen::tensor`.
            let address = unsafe { (*tensors[*tensor]).ptr };
            let (pointer, below) = address.overflowing_add_signed(reach.low);
            beyond |= below | pointer.checked_add(reach.bytes).is_none();
            row.write(RangeRow { pointer, bytes: reach.bytes, name: reach.name });
        }
        !beyond
    }
}

impl Call {
    /// Launches a recipe of `seen`, which must have found it. None, with nothing done, where the long way has to refuse it.
    #[inline(always)]
    pub fn repeat(&self, recipe: &'static Recipe, seen: &Seen) -> Option<Result<()>> {
        let tensors = seen.tensors();
        let entry = recipe.entry;
        let mut rows = [const { MaybeUninit::uninit() }; MAX_ARGS];
        let is_private = entry.driver.private().is_some();
        if is_private && !recipe.rows(tensors, &mut rows) {
            return None;
        }
        let mut pointers = [const { MaybeUninit::uninit() }; MAX_VALUES];
        let count = recipe.pointers.len();
        let places: *mut *mut c_void = pointers.as_mut_ptr().cast();
        // SAFETY: a launch has at most MAX_VALUES values.
        unsafe { places.copy_from_nonoverlapping(recipe.pointers.as_ptr(), count) };
        for (value, tensor) in &recipe.addresses {
            // The driver only reads the values.
            // SAFETY: the descriptor is live, by the promise of `Seen::tensor`.
            pointers[*value].write(unsafe { &raw const (*tensors[*tensor]).ptr }.cast_mut().cast());
        }
        let declare = || if is_private { declare(&rows, recipe.ranges.len(), entry.driver, self.op) } else { Ok(()) };
        Some(self.submit(recipe.kernel, entry, recipe.grid, declare, &mut pointers))
    }
}
