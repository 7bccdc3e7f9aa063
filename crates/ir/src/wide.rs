//! Two words in one value: how a cell of 16 bytes is kept, which is read and written as a whole.
//!
//! A word is kept in 32 bits: a number of at most 30 bits with its sign, or a pointer to one of the first 16,384 objects with an
//! offset below 65,536. That is what pointers with a counter beside them need. Whoever makes such values checks that they fit.

use crate::program::Width;
use crate::value::Value;

/// The bytes of such a cell.
pub const BYTES: u32 = 16;
/// The bits of a number.
pub const NUMBER: u64 = (1 << 30) - 1;
/// The bit that says that a word is a pointer.
pub const IS_POINTER: u64 = 1 << 30;

/// A word in 32 bits, as far as it goes.
fn squeeze(word: u64) -> u64 {
    match word >> 46 == 1 {
        true => IS_POINTER | (word >> 32 & 0x3fff) << 16 | word & 0xffff,
        false => word & NUMBER,
    }
}

/// What [`squeeze`] has made of a word.
fn widen(part: u64) -> u64 {
    match part & IS_POINTER != 0 {
        true => 1 << 46 | (part >> 16 & 0x3fff) << 32 | part & 0xffff,
        false => ((part << 34) as i64 >> 34) as u64,
    }
}

/// Two words in one value; `None` if they do not fit.
pub fn joined(low: u64, high: u64) -> Option<Value> {
    let fits = |word: u64| widen(squeeze(word)) == word;
    (fits(low) && fits(high)).then(|| Value(squeeze(high) << 32 | squeeze(low)))
}

/// The two words of a value, the lower one first.
pub fn halves(value: Value) -> [u64; 2] {
    [widen(value.0 & 0xffff_ffff), widen(value.0 >> 32)]
}

/// The bytes that a value stands for in memory, the lowest first.
pub fn to_bytes(value: Value, width: Width) -> [u8; BYTES as usize] {
    let words = if width == Width::W128 { halves(value) } else { [value.0, 0] };
    let mut bytes = [0; BYTES as usize];
    for (to, word) in bytes.chunks_mut(8).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// The value that stands for these bytes in memory; `None` if it is two words that do not fit.
pub fn from_bytes(bytes: &[u8; BYTES as usize], width: Width) -> Option<Value> {
    let word = |at: usize| (0..8).rev().fold(0, |word, byte| word << 8 | u64::from(bytes[at + byte]));
    match width {
        Width::W128 => joined(word(0), word(8)),
        _ => Some(width.zero_extend(Value(word(0)))),
    }
}

#[cfg(test)]
mod tests {
    use super::{from_bytes, halves, joined, to_bytes};
    use crate::program::{ObjectId, Width};
    use crate::value::Value;

    #[test]
    fn two_words_are_one_value_as_long_as_they_fit() {
        let numbers = [0, 1, -1, (1 << 29) - 1, -(1 << 29)].map(|n| Value::from_i64(n).0);
        let pointers = [(0, 0), (7, 24), (16_383, 65_535)].map(|(o, at)| Value::pointer(ObjectId(o), at).0);
        let words: Vec<u64> = numbers.into_iter().chain(pointers).collect();
        let mut seen = std::collections::HashSet::new();
        for &low in &words {
            for &high in &words {
                let value = joined(low, high).expect("it fits");
                assert!(seen.insert(value));
                assert_eq!(halves(value), [low, high]);
                assert_eq!(from_bytes(&to_bytes(value, Width::W128), Width::W128), Some(value));
            }
        }
        let far = [
            1 << 29,
            1 << 40,
            u64::MAX >> 1,
            Value::pointer(ObjectId(16_384), 0).0,
            Value::pointer(ObjectId(1), 65_536).0,
        ];
        for word in far {
            assert_eq!((joined(word, 0), joined(0, word)), (None, None), "{word:x}");
        }
    }
}
