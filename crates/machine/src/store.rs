//! All states that were met, each once: rows in one flat vector, found through an open-addressing table. A slot keeps
//! half of the hash beside the row's number, so a probe rarely touches a row that is not the one; rows are compared
//! word by word, so no two states are ever confused.
//!
//! The store is cut into shards by hash, each behind a lock of its own, so that workers seldom meet. A state's number
//! is (shard, index in the shard).

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The number of a stored state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub struct StateId(pub u32);

const SHARD_BITS: u32 = 6;
const SHARDS: usize = 1 << SHARD_BITS;
const NO_PARENT: u32 = u32::MAX;

impl StateId {
    fn new(shard: usize, index: usize) -> StateId {
        StateId((index << SHARD_BITS | shard) as u32)
    }

    fn shard(self) -> usize {
        self.0 as usize & (SHARDS - 1)
    }

    fn index(self) -> usize {
        self.0 as usize >> SHARD_BITS
    }
}

#[derive(Default)]
struct Shard {
    rows: Vec<u32>,
    parents: Vec<u32>,
    /// (tag, index + 1); 0 is empty. The length is a power of two.
    table: Vec<u64>,
}

/// The stored states.
pub struct Store {
    width: usize,
    shards: Vec<Mutex<Shard>>,
}

/// A multiplicative hash of a row, its bits well mixed.
fn hash(row: &[u32]) -> u64 {
    let mut h = 0x9e37_79b9_7f4a_7c15u64;
    for &word in row {
        h = (h ^ u64::from(word)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        h ^= h >> 32;
    }
    h.wrapping_mul(0xc4ce_b9fe_1a85_ec53)
}

impl Shard {
    fn len(&self) -> usize {
        self.parents.len()
    }

    /// The index of the row, and whether it is new.
    fn insert(&mut self, width: usize, row: &[u32], hash: u64, parent: u32) -> (usize, bool) {
        if (self.len() + 1) * 4 > self.table.len() * 3 {
            self.grow(width);
        }
        let mask = self.table.len() - 1;
        let tag = hash >> 32;
        let mut at = (hash >> SHARD_BITS) as usize & mask;
        while self.table[at] != 0 {
            let index = (self.table[at] & 0xffff_ffff) as usize - 1;
            if self.table[at] >> 32 == tag && self.rows[index * width..(index + 1) * width] == *row {
                return (index, false);
            }
            at = (at + 1) & mask;
        }
        let index = self.len();
        self.table[at] = tag << 32 | (index as u64 + 1);
        self.rows.extend_from_slice(row);
        self.parents.push(parent);
        (index, true)
    }

    fn grow(&mut self, width: usize) {
        let length = (self.table.len() * 2).max(64);
        let mut table = vec![0u64; length];
        for index in 0..self.len() {
            let hash = hash(&self.rows[index * width..(index + 1) * width]);
            let mut at = (hash >> SHARD_BITS) as usize & (length - 1);
            while table[at] != 0 {
                at = (at + 1) & (length - 1);
            }
            table[at] = (hash >> 32) << 32 | (index as u64 + 1);
        }
        self.table = table;
    }

    fn bytes(&self) -> usize {
        self.rows.capacity() * 4 + self.parents.capacity() * 4 + self.table.capacity() * 8
    }
}

impl Store {
    /// An empty store of rows of that width.
    pub fn new(width: usize) -> Store {
        Store { width, shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    /// How many shards there are.
    pub fn shards(&self) -> usize {
        SHARDS
    }

    fn lock(&self, shard: usize) -> MutexGuard<'_, Shard> {
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a row that was reached from `parent`: its number if it is new. `None` for the parent is an initial state.
    pub fn insert(&self, row: &[u32], parent: Option<StateId>) -> Option<StateId> {
        let hash = hash(row);
        let shard = hash as usize & (SHARDS - 1);
        let parent = parent.map_or(NO_PARENT, |id| id.0);
        let (index, new) = self.lock(shard).insert(self.width, row, hash, parent);
        new.then(|| StateId::new(shard, index))
    }

    /// The row of a state.
    pub fn row(&self, id: StateId) -> Vec<u32> {
        let shard = self.lock(id.shard());
        shard.rows[id.index() * self.width..][..self.width].to_vec()
    }

    /// From where a state was first reached.
    pub fn parent(&self, id: StateId) -> Option<StateId> {
        let parent = self.lock(id.shard()).parents[id.index()];
        (parent != NO_PARENT).then_some(StateId(parent))
    }

    /// How many states a shard has.
    pub fn shard_len(&self, shard: usize) -> usize {
        self.lock(shard).len()
    }

    /// Copies the rows `from..to` of a shard to `out`, with their numbers.
    pub fn copy(&self, shard: usize, from: usize, to: usize, out: &mut Vec<u32>, ids: &mut Vec<StateId>) {
        let locked = self.lock(shard);
        out.extend_from_slice(&locked.rows[from * self.width..to * self.width]);
        ids.extend((from..to).map(|index| StateId::new(shard, index)));
    }

    /// How many states are stored.
    pub fn len(&self) -> usize {
        (0..SHARDS).map(|shard| self.shard_len(shard)).sum()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How much memory the store takes.
    pub fn bytes(&self) -> usize {
        (0..SHARDS).map(|shard| self.lock(shard).bytes()).sum()
    }

    /// True if a shard's numbers are about to run out.
    pub fn is_full(&self) -> bool {
        let most = (u32::MAX >> SHARD_BITS) as usize - 4096;
        (0..SHARDS).any(|shard| self.shard_len(shard) >= most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_stored_once_and_found_again() {
        let store = Store::new(2);
        let rows: Vec<[u32; 2]> = (0..20_000).map(|i| [i % 200, i / 200]).collect();
        let ids: Vec<_> = rows.iter().map(|row| store.insert(row, None).expect("new")).collect();
        assert!(rows.iter().all(|row| store.insert(row, None).is_none()));
        assert_eq!(store.len(), rows.len());
        assert!(ids.iter().zip(&rows).all(|(id, row)| store.row(*id) == row));
    }
}
