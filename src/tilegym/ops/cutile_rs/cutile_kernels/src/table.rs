//! Loaded kernels by key: found without a lock, added under one, kept for the life of the process.

use core::hash::Hash;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::driver::{Context, Driver, Function};
use crate::key::Key;

/// A key that comes with its hash. Tables compare whole keys, so collisions only cost time.
pub trait Hashed {
    fn slot_hash(&self) -> u64;
}

/// A kernel ready to launch.
pub struct Entry {
    pub function: Function,
    /// The context the function belongs to.
    pub context: Context,
    pub driver: &'static Driver,
}

// SAFETY: the handles may be used from any thread; the fields never change.
unsafe impl Send for Entry {}
// SAFETY: as above.
unsafe impl Sync for Entry {}

/// All loaded kernels. 4096 slots are more than the kernels of a long process; 32 KiB of pointers.
pub static KERNELS: Table<Key, Entry, 4096> = Table::new();

struct Slot<K, T> {
    key: K,
    value: T,
}

/// An append-only table with open addressing and linear probing. Values are leaked.
pub struct Table<K: 'static, T: 'static, const N: usize> {
    slots: [AtomicPtr<Slot<K, T>>; N],
    adding: Mutex<Rest<K, T>>,
}

/// What only the adder sees.
struct Rest<K: 'static, T: 'static> {
    used: usize,
    /// Values added when the slots were three quarters full, since longer probes would cost every launch.
    overflow: Option<HashMap<&'static K, &'static T>>,
}

/// The right to add: one thread at a time has it, and what it looks up is complete.
pub struct Adding<'a, K: 'static, T: 'static, const N: usize> {
    table: &'a Table<K, T, N>,
    rest: MutexGuard<'a, Rest<K, T>>,
}

impl<K: Hashed + Eq + Hash, T, const N: usize> Table<K, T, N> {
    pub const fn new() -> Self {
        Self { slots: [const { AtomicPtr::new(null_mut()) }; N], adding: Mutex::new(Rest { used: 0, overflow: None }) }
    }

    /// The value of a key, unless it is in overflow.
    #[inline(always)]
    pub fn find(&self, key: &K) -> Option<&'static T> {
        self.find_where(key.slot_hash(), |known| known == key)
    }

    /// The same of a key that has this hash and is known by other means.
    #[inline(always)]
    pub fn find_where(&self, hash: u64, is: impl Fn(&K) -> bool) -> Option<&'static T> {
        let mut i = hash as usize % N;
        loop {
            // SAFETY: null or a leaked slot, published with Release. Some slot is always null.
            let slot = unsafe { self.slots[i].load(Ordering::Acquire).as_ref() }?;
            if is(&slot.key) {
                return Some(&slot.value);
            }
            i = (i + 1) % N;
        }
    }

    pub fn lock(&self) -> Adding<'_, K, T, N> {
        Adding { table: self, rest: self.adding.lock().unwrap_or_else(PoisonError::into_inner) }
    }
}

impl<K: Hashed + Eq + Hash, T, const N: usize> Adding<'_, K, T, N> {
    pub fn find(&self, key: &K) -> Option<&'static T> {
        self.table.find(key).or_else(|| self.rest.overflow.as_ref()?.get(key).copied())
    }

    /// Whether the next value will be found without a lock.
    pub fn has_room(&self) -> bool {
        self.rest.used < N / 4 * 3
    }

    /// Adds the value of a key that is not in the table.
    pub fn add(&mut self, key: K, value: T) -> &'static T {
        let slot: &'static mut Slot<K, T> = Box::leak(Box::new(Slot { key, value }));
        if !self.has_room() {
            self.rest.overflow.get_or_insert_default().insert(&slot.key, &slot.value);
            return &slot.value;
        }
        let mut i = slot.key.slot_hash() as usize % N;
        while !self.table.slots[i].load(Ordering::Relaxed).is_null() {
            i = (i + 1) % N;
        }
        let slot: *mut Slot<K, T> = slot;
        self.table.slots[i].store(slot, Ordering::Release);
        self.rest.used += 1;
        // SAFETY: leaked above, and only read from here on.
        unsafe { &(*slot).value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Kernel;
    use crate::key::KeyBuilder;
    use crate::launch::{Generic, Options};

    static KERNEL: Kernel =
        Kernel { module: "m", function: c"f", symbol: c"f_entry", ast: || unreachable!(), source: "" };

    fn key(number: i32) -> Key {
        let mut key = KeyBuilder::new(&KERNEL, 0, Options::default());
        key.generic(Generic::Int(number));
        key.finish().unwrap()
    }

    #[test]
    fn an_empty_table_finds_nothing() {
        let table = Table::<Key, i32, 8>::new();
        assert_eq!(table.find(&key(1)), None);
    }

    #[test]
    fn values_beyond_three_quarters_are_found_by_the_adder() {
        let table = Table::<Key, i32, 8>::new();
        let mut adding = table.lock();
        for number in 0..20 {
            assert_eq!(*adding.add(key(number), number), number);
        }
        for number in 0..20 {
            assert_eq!(adding.find(&key(number)), Some(&number));
        }
        assert_eq!((0..20).filter(|number| table.find(&key(*number)).is_some()).count(), 6);
        assert_eq!(adding.find(&key(20)), None);
    }

    #[test]
    fn readers_see_whole_values_while_one_thread_adds() {
        static TABLE: Table<Key, String, 64> = Table::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..40 {
                    TABLE.lock().add(key(number), number.to_string());
                }
            });
            for number in 0..40 {
                let found = loop {
                    if let Some(found) = TABLE.find(&key(number)) {
                        break found;
                    }
                    std::thread::yield_now();
                };
                assert_eq!(*found, number.to_string());
            }
        });
    }
}
