//! The promising semantics `[AAGKV]` with at most K promises and view switches: its runs encoded directly, without contexts and
//! without a
//! scheduler.
//!
//! Only messages that somebody reads by a view switch are of interest to others. There are at most K of them, and each has a
//! *slot*; the number
//! of the slot is the time at which the message appears. A thread knows the newest slot that it has read or filled, and fills
//! later ones
//! only. That, and a timestamp per message, is all that orders threads:
//!
//! ```text
//! load   what the view has | a slot with a newer timestamp, a view switch; time := max(time, slot)
//! store  without a timestamp, right behind the view's message | a slot > time, timestamp > view | fulfils a promise
//! rmw    the view's message has a timestamp s; its own is s + 1, which nobody else has
//! fence  has a position in the order of fences; joins its view, and time, with those of the one before
//! promise  a slot of its own; copies of the thread certify it after every step: see [`promises`] and [`ghosts`]
//! ```
//!
//! | what | where |
//! |---|---|
//! | numbers, views, messages | [`unary`], [`state`], [`slots`] |
//! | threads along their control flow | [`encode`] |
//! | SC fences | [`fences`] |
//! | release and acquire | [`sync`] |
//! | promises | [`promises`] |
//! | certification | [`ghosts`] |
//! | the rules, by name | [`rules`] |
//! | questions, growing bounds | [`mod@check`] |
//! | a model as a run | [`lift`] |
//!
//! The clauses allow what the machine of `[AAGKV, 3]` with strong consistency does within K, and nothing else. A smaller formula
//! that leaves most certifications out
//! ([`Certify`]) is asked first: if it has no run, or one that the machine confirms, that is the answer. Who asks confirms each
//! run on the machine; one of the whole formula that
//! is not confirmed is a mistake of ours, and then there is no answer.
//!
//! Messages without a timestamp: a write that nobody else reads or compares with stays right behind the message that its thread
//! has seen before. It
//! gets a timestamp where views are compared: at a fence, where threads start or join, at the end if the last value of the cell
//! matters. With read-modify-writes on its cell, a thread does not read anything newer before that, because there may be no room.
//!
//! Reference: `[AAGKV]` P. A. Abdulla, M. F. Atig, A. Godbole, S. Krishna, V. Vafeiadis, Verification of C11 programs with
//! relaxed accesses.

pub mod check;
pub mod encode;
pub mod fences;
pub mod ghosts;
pub mod lift;
pub mod promises;
pub mod rules;
pub mod slots;
pub mod state;
mod survey;
pub mod sync;
pub mod unary;

pub use check::{Ends, Options, check, final_states, final_states_within};
pub use lift::{Place, Planned, Run};
pub use rules::Rule;

use crate::outcome::Unsupported;
use crate::symbolic::{Domain, EventKind, InstanceId, Unrolled};

/// The threads that take part in a run; the others have not moved yet. What goes wrong in such a run goes wrong, and the formula
/// is
/// smaller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Active {
    /// All.
    All,
    /// This one, and those that start others.
    One(InstanceId),
    /// These two, and those that start others.
    Two(InstanceId, InstanceId),
}

impl Active {
    /// True if a thread takes part.
    pub fn includes(self, unrolled: &Unrolled, thread: InstanceId) -> bool {
        let events = unrolled.threads[thread.0 as usize].events.clone();
        let starts =
            || events.clone().any(|e| matches!(unrolled.events[e as usize].kind, EventKind::Spawn(_)));
        match self {
            Active::All => true,
            Active::One(a) => thread == a || starts(),
            Active::Two(a, b) => thread == a || thread == b || starts(),
        }
    }
}

/// Where promises are certified.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Certify {
    /// Where they are made, and where the run ends. The formula is small, and allows every run and a few more.
    Loosely,
    /// After every step: the formula allows the runs and nothing else.
    Always,
}

/// Bounds on runs, those of the formula.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// K: promises and view switches.
    pub total: usize,
    /// Promises; without any the formula is much smaller.
    pub promises: usize,
    /// View switches, if they are bounded apart.
    pub views: Option<usize>,
    /// Where promises are certified.
    pub certify: Certify,
    /// Runs end where a message has a value of more than so many bits ([`encode::Encoding::large`]).
    pub narrow: Option<u32>,
    /// The standard notion of consistency, over these values; the strong one if there are none.
    pub standard: Option<Domain>,
    /// A rule that is left out, for tests of the tests.
    pub without: Option<Rule>,
}
