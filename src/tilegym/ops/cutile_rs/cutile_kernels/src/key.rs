//! What a compiled kernel depends on, as plain data: classes of values, never the values.

use core::hash::{Hash, Hasher};

use crate::abi::MAX_RANK;
use crate::definition::Kernel;
use crate::launch::{Generic, Options};
use crate::table::Hashed;
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
pub struct Key {
    words: [u64; KEY_WORDS],
    /// Of the words in use.
    hash: u64,
}

impl PartialEq for Key {
    /// Without branches and without a call: keys that share a slot are nearly always equal.
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.slot_hash());
    }
}

impl Hashed for Key {
    #[inline(always)]
    fn slot_hash(&self) -> u64 {
        self.hash
    }
}

/// Packs fields of a few bits; a field never crosses a word.
pub struct KeyBuilder {
    words: [u64; KEY_WORDS],
    word: usize,
    used: u32,
}

impl KeyBuilder {
    #[inline(always)]
    pub fn new(kernel: &'static Kernel, device: i32, options: Options) -> Self {
        let mut words = [0; KEY_WORDS];
        words[0] = core::ptr::from_ref(kernel) as u64;
        words[1] = u64::from(device as u32) | u64::from(options.packed()) << 32;
        Self { words, word: 2, used: 0 }
    }

    #[inline(always)]
    fn push(&mut self, value: u32, bits: u32) {
        if self.used + bits > u64::BITS {
            self.word += 1;
            self.used = 0;
        }
        // Past the last word the key is void, which `finish` tells.
        if let Some(word) = self.words.get_mut(self.word) {
            *word |= u64::from(value) << self.used;
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
        self.push(tensor.rank() as u32 | class(tensor.base()) << 3, 3 + CLASS_BITS);
        for (extent, stride) in tensor.extents().iter().zip(tensor.strides()) {
            let unit = u32::from(*stride == 1);
            self.push(class(*extent as u64) | class(*stride as u64) << 3 | unit << 6, 1 + 2 * CLASS_BITS);
        }
    }

    /// None when the arguments do not fit a key.
    #[inline(always)]
    pub fn finish(self) -> Option<Key> {
        let fold = |hash: u64, word: &u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        let hash = self.words.get(..=self.word)?.iter().fold(0x9e37_79b9_7f4a_7c15, fold);
        Some(Key { words: self.words, hash: hash ^ (hash >> 29) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::TensorDesc;

    fn kernel() -> &'static Kernel {
        static KERNEL: Kernel =
            Kernel { module: "m", function: c"f", symbol: c"f_entry", ast: || unreachable!(), source: "" };
        &KERNEL
    }

    fn builder() -> KeyBuilder {
        KeyBuilder::new(kernel(), 0, Options::default())
    }

    fn tensor_key(ptr: u64, shape: [i64; 2], strides: [i64; 2]) -> Key {
        let mut desc = TensorDesc { ptr, ndim: 2, shape: [0; MAX_RANK], strides: [0; MAX_RANK], dtype: 0 };
        desc.shape[..2].copy_from_slice(&shape);
        desc.strides[..2].copy_from_slice(&strides);
        let mut key = builder();
        key.tensor(&TensorArg::<2>::new(&desc, c"x"));
        key.finish().unwrap()
    }

    #[test]
    fn classes_are_powers_of_two_up_to_sixteen() {
        let classes = [1, 2, 3, 4, 8, 16, 24, 32, 48].map(class);
        assert_eq!(classes, [0, 1, 0, 2, 3, 4, 3, 4, 4]);
    }

    #[test]
    fn zero_is_divisible_by_everything() {
        assert_eq!(class(0), 4);
    }

    #[test]
    fn an_odd_multiple_of_two_gigabytes_is_aligned() {
        assert_eq!(class(0x8000_0000), 4);
        assert_eq!(class(-2i32 as u64), 1);
    }

    #[test]
    fn values_of_one_class_give_one_key() {
        assert_eq!(tensor_key(0x100, [16, 48], [48, 1]), tensor_key(0x8000_0000, [0, 160], [64, 1]));
    }

    #[test]
    fn every_part_of_a_tensor_tells_keys_apart() {
        let key = tensor_key(0x100, [16, 48], [48, 1]);
        let others = [
            tensor_key(0x108, [16, 48], [48, 1]),
            tensor_key(0x100, [17, 48], [48, 1]),
            tensor_key(0x100, [16, 49], [48, 1]),
            tensor_key(0x100, [16, 48], [49, 1]),
            tensor_key(0x100, [16, 48], [48, 2]),
            tensor_key(0x100, [16, 48], [48, 3]),
            tensor_key(0x100, [16, 48], [1, 48]),
        ];
        assert!(others.iter().all(|other| *other != key));
    }

    #[test]
    fn device_options_and_generics_tell_keys_apart() {
        let options = |num_cta_in_cga, occupancy| Options { num_cta_in_cga, occupancy };
        let key = |device, options, generic| {
            let mut key = KeyBuilder::new(kernel(), device, options);
            key.generic(Generic::Int(generic));
            key.finish().unwrap()
        };
        let keys = [
            key(0, options(0, 0), 64),
            key(-1, options(0, 0), 64),
            key(0, options(2, 0), 64),
            key(0, options(0, 2), 64),
            key(0, options(0, 0), 128),
        ];
        for (i, one) in keys.iter().enumerate() {
            assert!(keys[i + 1..].iter().all(|other| other != one), "{i}");
        }
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let mut key = builder();
        (0..20).for_each(|i| key.generic(Generic::Int(i)));
        assert!(key.finish().is_some());
        let mut key = builder();
        (0..21).for_each(|i| key.generic(Generic::Int(i)));
        assert!(key.finish().is_none());
    }
}
