//! What need not be explored. A reduction is one file: what it claims, on which conditions, and which test notices if one of
//! them is wrong.
//!
//! *May assume*: the search without it visits every execution once ([`Reduction`] says how to turn each off alone).
//!
//! *Must keep*: final states, findings and the answer to whether threads may wait for ever. Those of
//! [`Reduction::EqualWork`], `Tails` and `Hopeless` keep the executions too, those of `Sleep` and `ProgramOrder` but for
//! iterations that changed nothing. A reduction that finds out that a condition does not hold of the program asks to start
//! over without itself, or without itself for one cell (`work::preparation`).
//!
//! A read that is left out cannot race: [`left_out`] notes what could be lost with it, [`conflicts`] says when that matters.

pub mod conflicts;
pub mod equal_work;
pub mod hopeless;
pub mod idle;
pub mod left_out;
pub mod pairs;
pub mod program_order;
pub mod retry;
pub mod sleep;
pub mod symmetry;
pub mod tails;
pub mod unseen;

/// Something that makes explorations smaller and keeps their answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reduction {
    /// Threads that wait sleep: `sleep.rs`.
    Sleep,
    /// Iterations that changed nothing are left out: `idle.rs`.
    Idle,
    /// Tries that could have been left out are: `retry.rs`.
    Retry,
    /// Tries that wrote only to objects that nobody has seen are like tries that wrote nothing: `unseen.rs`.
    Unseen,
    /// Events are committed in program order until that does not do: `program_order.rs`.
    ProgramOrder,
    /// Of executions that differ in who of equal threads is who one is explored: `symmetry.rs`.
    Symmetry,
    /// What a thread does between two events is computed once: `equal_work.rs`.
    EqualWork,
    /// Joins at the end of a thread are left out: `tails.rs`.
    Tails,
    /// Reads of read-modify-writes of which nothing can come are not made: `hopeless.rs`.
    Hopeless,
    /// A load- and a store-exclusive of compiled code are one read-modify-write: `pairs.rs`.
    Pairs,
}

impl Reduction {
    /// All of them.
    pub const ALL: [Reduction; 10] = [
        Reduction::Sleep,
        Reduction::Idle,
        Reduction::Retry,
        Reduction::Unseen,
        Reduction::ProgramOrder,
        Reduction::Symmetry,
        Reduction::EqualWork,
        Reduction::Tails,
        Reduction::Hopeless,
        Reduction::Pairs,
    ];

    /// Its name on the command line, and what it does in a few words.
    fn row(self) -> (&'static str, &'static str) {
        match self {
            Reduction::Sleep => ("sleep", "a thread that waits sleeps until there is something new to read"),
            Reduction::Idle => ("idle", "an iteration of a loop that changed nothing is left out"),
            Reduction::Retry => ("retry", "a try that could have been left out is"),
            Reduction::Unseen => (
                "unseen",
                "a try that wrote only to objects that nobody has seen is like one that wrote nothing",
            ),
            Reduction::ProgramOrder => {
                ("program-order", "events are committed in program order as long as that is enough")
            }
            Reduction::Symmetry => {
                ("symmetry", "of executions that differ in who of equal threads is who one is explored")
            }
            Reduction::EqualWork => ("equal-work", "what a thread does between two events is computed once"),
            Reduction::Tails => ("tails", "joins at the end of a thread are left out"),
            Reduction::Hopeless => {
                ("hopeless", "a read-modify-write whose write would fit nowhere is not tried")
            }
            Reduction::Pairs => ("pairs", "a compiler's load- and store-exclusive are one read-modify-write"),
        }
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// What it does, in a few words.
    pub fn about(self) -> &'static str {
        self.row().1
    }

    /// The reduction of that name.
    pub fn from_name(name: &str) -> Option<Reduction> {
        Reduction::ALL.into_iter().find(|reduction| reduction.name() == name)
    }
}

/// The reductions that are made: all, unless somebody doubts one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Reductions(u16);

impl Reductions {
    /// All of them.
    pub const ALL: Reductions = Reductions(u16::MAX >> (16 - Reduction::ALL.len()));

    /// Whether a reduction is made.
    #[inline(always)]
    pub fn has(self, reduction: Reduction) -> bool {
        self.0 >> reduction as u16 & 1 != 0
    }

    /// All of these but one.
    pub fn without(self, reduction: Reduction) -> Reductions {
        Reductions(self.0 & !(1 << reduction as u16))
    }

    /// Without what puts reads off or leaves iterations out: every iteration is followed up to the bound.
    pub fn following_all(self) -> Reductions {
        self.without(Reduction::Idle).without(Reduction::Retry)
    }
}

impl Default for Reductions {
    fn default() -> Reductions {
        Reductions::ALL
    }
}

impl std::fmt::Debug for Reductions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("without")?;
        let mut left_out = Reduction::ALL.into_iter().filter(|&reduction| !self.has(reduction));
        left_out.try_for_each(|reduction| write!(f, " {}", reduction.name()))
    }
}
