//! What is assumed about memory cells while a program is unrolled: who accesses them, and which values they take.
//!
//! Unrolling needs to know both before it has seen all threads. So it is done again and again: the first time every cell
//! is assumed to keep its initial value; each time what was seen is added, until nothing is new. Assumptions only grow,
//! and values are widened when they grow for long, so this ends.
//!
//! It may end before values have settled, once it is known who accesses what. Each pass covers what runs do up to one more
//! write than the pass before: a run whose first n writes are within the assumptions reads only values that the next pass
//! assumes. If a pass has fewer places that write than passes came before it, every run is covered whole. (For other models
//! than SC: order the events of a run by dependencies and `rf`.)

use super::memory::{Made, Memory};
use crate::shape::Shape;
use crate::word::Word;
use fencepost_ir::Width;
use rustc_hash::FxHashMap;

/// A cell, or the result of a thread, under a name that means the same in every pass.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Key {
    /// A cell of a global object.
    Global { object: u32, offset: u32 },
    /// A cell of the `made`-th object that a thread makes.
    Made { thread: u32, made: u32, offset: u32 },
    /// Whether an object that was made is alive.
    Alive { thread: u32, made: u32 },
    /// What a thread returns.
    Result { thread: u32 },
}

/// Who accesses a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Users {
    /// Nobody writes it.
    #[default]
    Readers,
    /// Only this thread.
    Only(u32),
    /// Several threads, and somebody writes.
    Several,
}

/// What is assumed, or was seen, about a cell.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Known {
    pub users: Users,
    pub shape: Shape,
    pub width: Width,
}

/// What one pass saw of a cell.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub readers: Option<Users>,
    pub writers: Option<Users>,
    pub shape: Shape,
    pub width: Width,
    /// It was accessed together with cells of several threads.
    pub mixed: bool,
}

fn add_user(users: &mut Option<Users>, thread: u32) {
    *users = Some(match *users {
        None => Users::Only(thread),
        Some(Users::Only(other)) if other == thread => Users::Only(thread),
        Some(_) => Users::Several,
    });
}

impl Seen {
    pub fn new(initial: Option<&Word>, width: Width) -> Seen {
        let shape = initial.map_or(Shape::Values(vec![0]), Shape::of);
        Seen { readers: None, writers: None, shape, width, mixed: false }
    }

    pub fn read(&mut self, thread: u32) {
        add_user(&mut self.readers, thread);
    }

    pub fn write(&mut self, thread: u32, value: &Word) {
        add_user(&mut self.writers, thread);
        self.shape = self.shape.join(&Shape::of(value));
    }

    fn users(&self) -> Users {
        match (self.readers, self.writers) {
            (_, None) => Users::Readers,
            _ if self.mixed => Users::Several,
            (None, Some(writer)) => writer,
            (Some(reader), Some(writer)) if reader == writer => writer,
            _ => Users::Several,
        }
    }
}

/// Everything that is assumed.
#[derive(Clone, Debug, Default)]
pub(super) struct Shapes {
    known: FxHashMap<Key, Known>,
    /// How many passes there were.
    pub passes: u32,
    /// How many of them, up to the last, learned nothing about who accesses what.
    settled: u32,
    /// How many instructions all passes ran.
    pub steps: u64,
    /// How many threads there are.
    pub threads: u32,
    /// Objects may end before the program does.
    pub frees: bool,
    /// The objects that threads make.
    pub made: Made,
}

/// Sets of values are widened to numbers of bits after so many passes, and these to whole cells, if passes are expensive.
const WIDEN_VALUES: u32 = 6;
const WIDEN_BITS: u32 = 9;
/// As long as all passes together are no more work than this, nothing is widened.
const CHEAP_STEPS: u64 = 100_000;

impl Shapes {
    pub fn get(&self, key: Key) -> Option<&Known> {
        self.known.get(&key)
    }

    /// Adds what a pass saw and made, in which so many places wrote memory that others see. True if the pass is good: its
    /// assumptions cover everything.
    pub fn learn(&mut self, memory: &mut Memory, writes: u32, steps: u64) -> bool {
        self.passes += 1;
        self.steps += steps;
        // An object that was not known everywhere is like a user that was not.
        let (mut same_users, mut same_shapes) = (self.made.learn(std::mem::take(&mut memory.made)), true);
        let dear = self.steps > CHEAP_STEPS || self.passes > 60;
        for (key, seen) in &std::mem::take(&mut memory.seen) {
            let users = seen.users();
            let known = self.known.entry(*key).or_insert_with(|| Known {
                users: Users::Readers,
                shape: Seen::new(None, seen.width).shape,
                width: seen.width,
            });
            let joined = match (known.users, users) {
                (Users::Readers, other) | (other, Users::Readers) => other,
                (a, b) if a == b => a,
                _ => Users::Several,
            };
            same_users &= joined == known.users;
            known.users = joined;
            let shape = known.shape.join(&seen.shape);
            if shape != known.shape {
                // Only what is shared, and results, are read through their shapes.
                let matters = joined == Users::Several || matches!(key, Key::Result { .. });
                same_shapes &= !matters;
                known.shape = match dear && matters {
                    true => widen(shape, self.passes, seen.width),
                    false => shape,
                };
            }
        }
        self.settled = if same_users { self.settled + 1 } else { 0 };
        same_users && (same_shapes || self.settled >= writes + 2)
    }
}

fn widen(shape: Shape, passes: u32, width: Width) -> Shape {
    match passes {
        WIDEN_BITS.. => Shape::any(width),
        WIDEN_VALUES.. => shape.without_values(),
        _ => shape,
    }
}
