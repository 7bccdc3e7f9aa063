//! What a run is, as the streams have it.

use fencepost_explore::{BUILD, Binding, Position};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The name of an item: that of its parent and its number among what came of that.
pub(crate) type Id = [u8; 16];

/// A run. What it explores is for the caller to know: it makes a session of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Spec {
    /// The build of whoever began it: others would explore something else.
    pub build: String,
    /// Program, model and options, as a hash.
    pub binding: String,
    /// Another number for each time that it starts over, and for each run of the same name: what is about another number is old.
    pub generation: u64,
    /// How often it has started over.
    pub restarts: u64,
    /// Where cells lie must be found out by one worker: nothing is split.
    pub alone: bool,
    /// The room that it needs.
    pub needs: String,
    /// The first error, if that ends the search.
    pub error: Option<Position>,
    /// When it began, in seconds since 1970.
    pub began: u64,
    /// What is explored.
    pub description: String,
}

impl Spec {
    /// What stands for a run that cannot be read: that of a build that nobody has, with items that nobody made.
    pub fn unreadable() -> Spec {
        Spec {
            build: UNREADABLE.into(),
            binding: String::new(),
            generation: u64::MAX,
            restarts: 0,
            alone: true,
            needs: String::new(),
            error: None,
            began: 0,
            description: String::new(),
        }
    }
}

/// The build of runs that cannot be read.
const UNREADABLE: &str = "(unreadable)";

/// A run, for people.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// The build that it is for.
    pub build: String,
    /// Items that have a result.
    pub results: u64,
    /// When it began, in seconds since 1970.
    pub began: u64,
}

impl Listed {
    /// Whether a worker of this build takes it.
    pub fn is_ours(&self) -> bool {
        self.build == BUILD
    }

    /// Whether nobody can tell what it is.
    pub fn is_unreadable(&self) -> bool {
        self.build == UNREADABLE
    }
}

/// Whether a name can be that of a run: it becomes a part of subjects.
pub fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && name.len() <= 100 && name.chars().all(fits)
}

/// Bytes as text.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Text as bytes.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// The name of the item that all of a run comes of.
pub(crate) fn root(binding: &Binding) -> Id {
    digest(&[b"root", binding])
}

/// The name of an item that came of another.
pub(crate) fn child(parent: &Id, index: usize) -> Id {
    digest(&[parent, &(index as u64).to_le_bytes()])
}

fn digest(parts: &[&[u8]]) -> Id {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    let mut id = Id::default();
    id.copy_from_slice(&hash.finalize()[..16]);
    id
}

/// The build as a part of a subject.
pub(crate) fn build_token() -> String {
    hex(&digest(&[BUILD.as_bytes()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parts_of_subjects() {
        assert!(is_name("dekker-1_a"));
        for wrong in ["", "a.b", "a b", "*", ">", &"x".repeat(101)] {
            assert!(!is_name(wrong), "{wrong}");
        }
        assert_eq!(unhex(&hex(&[0, 17, 255])), Some(vec![0, 17, 255]));
        assert_eq!(unhex("0g"), None);
    }
}
