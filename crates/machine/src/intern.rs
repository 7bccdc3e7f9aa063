//! Parts of states, each kept once and known by a number. A state is then a short row of numbers.
//!
//! Numbers depend on the order in which workers meet parts, so nothing that the user sees may depend on them.

use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

struct Inner<T> {
    numbers: FxHashMap<Arc<T>, u32>,
    parts: Vec<Arc<T>>,
    bytes: usize,
}

/// All parts of one kind that were met so far, shared by all workers.
pub struct Interner<T> {
    inner: RwLock<Inner<T>>,
    size: fn(&T) -> usize,
}

impl<T: Hash + Eq> Interner<T> {
    /// An empty one; `size` estimates the bytes of a part.
    pub fn new(size: fn(&T) -> usize) -> Interner<T> {
        let inner = Inner { numbers: FxHashMap::default(), parts: Vec::new(), bytes: 0 };
        Interner { inner: RwLock::new(inner), size }
    }

    /// The number of a part.
    pub fn number(&self, part: T) -> u32 {
        if let Some(&number) = self.inner.read().unwrap_or_else(PoisonError::into_inner).numbers.get(&part) {
            return number;
        }
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&number) = inner.numbers.get(&part) {
            return number;
        }
        let number = inner.parts.len() as u32;
        // Beside the part: its place in the list, its entry in the table, and what the allocator takes for itself.
        inner.bytes += (self.size)(&part) + 96;
        let part = Arc::new(part);
        inner.parts.push(part.clone());
        inner.numbers.insert(part, number);
        number
    }

    /// The same for a part that is shared already.
    pub fn number_of(&self, part: &Arc<T>) -> u32
    where
        T: Clone,
    {
        if let Some(&number) = self.inner.read().unwrap_or_else(PoisonError::into_inner).numbers.get(part) {
            return number;
        }
        self.number(T::clone(part))
    }

    /// The part of a number that [`Interner::number`] gave.
    pub fn part(&self, number: u32) -> Arc<T> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).parts[number as usize].clone()
    }

    /// About how much memory the parts take.
    pub fn bytes(&self) -> usize {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).bytes
    }
}
