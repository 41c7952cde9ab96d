//! Loaded kernels by key: found without a lock, added under one, kept for the life of the process.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::driver::{Context, Driver, Function};
use crate::key::Key;

/// A kernel ready to launch.
pub struct Entry {
    pub key: Key,
    pub function: Function,
    /// The context the function belongs to.
    pub context: Context,
    pub driver: &'static Driver,
}

// SAFETY: the handles may be used from any thread; the fields never change.
unsafe impl Send for Entry {}
// SAFETY: as above.
unsafe impl Sync for Entry {}

const SLOTS: usize = 4096;
/// Above three quarters, probes get long; further entries go to the overflow map.
const LIMIT: usize = SLOTS / 4 * 3;

static TABLE: [AtomicPtr<Entry>; SLOTS] = [const { AtomicPtr::new(null_mut()) }; SLOTS];
static COUNT: AtomicUsize = AtomicUsize::new(0);
static LOADING: Mutex<Option<HashMap<Key, &'static Entry>>> = Mutex::new(None);

/// The entry of a key, in open addressing with linear probing. Entries in the overflow map are not seen.
#[inline(always)]
pub fn find(key: &Key) -> Option<&'static Entry> {
    let mut slot = key.slot_hash() as usize % SLOTS;
    loop {
        // SAFETY: null or a leaked entry, published with Release.
        let entry = unsafe { TABLE[slot].load(Ordering::Acquire).as_ref() }?;
        if entry.key == *key {
            return Some(entry);
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// The right to add entries: one thread compiles at a time, and what it looks up is complete.
pub struct Loading(MutexGuard<'static, Option<HashMap<Key, &'static Entry>>>);

pub fn lock() -> Loading {
    Loading(LOADING.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Loading {
    pub fn find(&self, key: &Key) -> Option<&'static Entry> {
        find(key).or_else(|| self.0.as_ref()?.get(key).copied())
    }

    pub fn add(&mut self, entry: Entry) -> &'static Entry {
        let entry: &'static Entry = Box::leak(Box::new(entry));
        if COUNT.load(Ordering::Relaxed) >= LIMIT {
            self.0.get_or_insert_default().insert(entry.key, entry);
            return entry;
        }
        let mut slot = entry.key.slot_hash() as usize % SLOTS;
        while !TABLE[slot].load(Ordering::Relaxed).is_null() {
            slot = (slot + 1) % SLOTS;
        }
        TABLE[slot].store(core::ptr::from_ref(entry).cast_mut(), Ordering::Release);
        COUNT.fetch_add(1, Ordering::Relaxed);
        entry
    }
}
