//! What a compiled kernel depends on, as plain data: classes of values, never the values.

use core::hash::{Hash, Hasher};

use crate::abi::MAX_RANK;
use crate::definition::Kernel;
use crate::launch::{Generic, Options};
use crate::tensor::TensorArg;

const KEY_WORDS: usize = 12;

/// Largest power of two, up to 16, that the compiler may assume to divide a value, as its logarithm. Zero is divisible
/// by everything.
#[inline(always)]
pub fn class(value: u64) -> u32 {
    (value | 16).trailing_zeros()
}
const CLASS_BITS: u32 = 3;

/// Identity of a compiled kernel within the process.
#[derive(Clone, Copy, Eq, Debug)]
pub struct Key([u64; KEY_WORDS]);

impl PartialEq for Key {
    /// Without branches and without a call: keys that share a slot are nearly always equal.
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.slot_hash());
    }
}

impl Key {
    /// A fast hash; the table compares whole keys, so collisions only cost time.
    #[inline(always)]
    pub fn slot_hash(&self) -> u64 {
        let fold = |hash: u64, word: &u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        let hash = self.0.iter().fold(0x9e37_79b9_7f4a_7c15, fold);
        hash ^ (hash >> 29)
    }
}

/// Packs fields of a few bits; a field never crosses a word.
pub struct KeyBuilder {
    words: [u64; KEY_WORDS],
    word: usize,
    used: u32,
    overflow: bool,
}

impl KeyBuilder {
    #[inline(always)]
    pub fn new(kernel: &'static Kernel, device: i32, options: Options) -> Self {
        let mut words = [0; KEY_WORDS];
        words[0] = core::ptr::from_ref(kernel) as u64;
        words[1] = u64::from(device as u32) | u64::from(options.packed()) << 32;
        Self { words, word: 2, used: 0, overflow: false }
    }

    #[inline(always)]
    fn push(&mut self, value: u32, bits: u32) {
        if self.used + bits > u64::BITS {
            self.word += 1;
            self.used = 0;
        }
        match self.words.get_mut(self.word) {
            Some(word) => *word |= u64::from(value) << self.used,
            None => self.overflow = true,
        }
        self.used += bits;
    }

    #[inline(always)]
    pub fn generic(&mut self, generic: Generic) {
        match generic {
            Generic::Elem(value) | Generic::Int(value) => self.push(value as u32, 32),
        }
    }

    /// An integer or an address: its class.
    #[inline(always)]
    pub fn value(&mut self, value: u64) {
        self.push(class(value), CLASS_BITS);
    }

    /// The rank, the base address, and per dimension: extent, stride, and whether the stride is 1.
    #[inline(always)]
    pub fn tensor<const R: i32>(&mut self, tensor: &TensorArg<'_, R>) {
        const { assert!(MAX_RANK < 8) };
        self.push(tensor.rank() as u32 | class(tensor.address()) << 3, 3 + CLASS_BITS);
        for (extent, stride) in tensor.extents().iter().zip(tensor.strides()) {
            let unit = u32::from(*stride == 1);
            self.push(class(*extent as u64) | class(*stride as u64) << 3 | unit << 6, 1 + 2 * CLASS_BITS);
        }
    }

    /// None when the arguments do not fit a key.
    #[inline(always)]
    pub fn finish(self) -> Option<Key> {
        (!self.overflow).then_some(Key(self.words))
    }
}
