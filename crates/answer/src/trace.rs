//! What happens in an execution, as data: every engine hands over these steps, and nobody reads a sentence back.
//!
//! There are two forms of it. An axiomatic execution has the [`Event`]s of each thread, which say where they stand in the
//! program; reads-from and coherence order them. A run of a machine has [`Step`]s in the order in which it made them, with
//! what waits in buffers after each. What a step does is the same [`Action`] in both, so that one narrator can tell them.

use fencepost_diag::Span;
use fencepost_ir::{Fence, Order, Value, Width};
use std::fmt;

/// A function and an instruction of it.
pub type At = (u32, u32);

/// A thread, and the number of a step among those of the thread.
pub type StepId = (u32, u32);

/// An object of the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    /// One that has a name.
    Declared(String),
    /// One that a thread allocated, as its so manieth.
    Allocated {
        /// The thread.
        thread: u32,
        /// How many objects it had made before.
        number: u32,
    },
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Object::Declared(name) => f.write_str(name),
            Object::Allocated { thread, number } => write!(f, "allocation {thread}.{number}"),
        }
    }
}

/// How a cell or a value is written in the program: maybe the address of, an object if there is one, and the rest.
#[derive(Clone, Debug, PartialEq, Eq, Default, PartialOrd, Ord, Hash)]
pub struct Name {
    /// It is the address of what follows.
    pub address: bool,
    /// The object.
    pub object: Option<Object>,
    /// The member, the element, or the whole if there is no object.
    pub rest: String,
    /// The members of a structure that is one value, with what they are.
    pub members: Vec<(String, Name)>,
}

impl Name {
    /// Text without an object.
    pub fn plain(text: impl Into<String>) -> Name {
        Name { rest: text.into(), ..Name::default() }
    }

    /// A part of an object.
    pub fn part(object: Object, rest: impl Into<String>) -> Name {
        Name { object: Some(object), rest: rest.into(), ..Name::default() }
    }
}

impl Name {
    /// The text, with objects called as `object` says.
    pub fn show(&self, object: &dyn Fn(&Object) -> String) -> String {
        if !self.members.is_empty() {
            let members = self.members.iter().map(|(name, value)| format!("{name} = {}", value.show(object)));
            return format!("{{{}}}", members.collect::<Vec<_>>().join(", "));
        }
        let (sign, object) = (if self.address { "&" } else { "" }, self.object.as_ref().map(object));
        format!("{sign}{}{}", object.unwrap_or_default(), self.rest)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show(&Object::to_string))
    }
}

/// A cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its number in this trace; names need not be different.
    pub id: u32,
    /// As the programmer writes it.
    pub name: Name,
}

/// A value: as it is, and as its type says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    /// What is in the cell.
    pub raw: Value,
    /// As the programmer writes it.
    pub name: Name,
}

impl Typed {
    /// A number.
    pub fn number(value: u64) -> Typed {
        Typed { raw: Value(value), name: Name::plain(value.to_string()) }
    }
}

/// A value that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The value.
    pub value: Typed,
    /// The memory order.
    pub order: Order,
    /// The step that wrote it; none is the initial value.
    pub from: Option<StepId>,
    /// The place of that write in the coherence order of the cell; the initial value has place 0.
    pub place: u32,
}

/// A value that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The value.
    pub value: Typed,
    /// The memory order.
    pub order: Order,
    /// Its place in the coherence order of the cell, from 1.
    pub place: u32,
}

/// What an access is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Purpose {
    /// To read or write.
    #[default]
    Data,
    /// To lock a mutex.
    Lock,
    /// To lock a mutex if it is free.
    TryLock,
    /// To unlock one.
    Unlock,
    /// To exchange a value if it is the expected one.
    CompareExchange,
}

/// What a rule of the POWER machine does with an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Its values are known.
    Init,
    /// It cannot be undone any more.
    Commit,
    /// It reaches the thread of that name.
    Reaches(String),
}

/// What it does that with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A load of a value.
    Load(Cell, Typed),
    /// A store of a value.
    Store(Cell, Typed),
    /// A fence.
    Fence(Fence),
}

/// What a step does. There are some hundreds of them at most, so that their size does not matter.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, clippy::large_enum_variant)]
pub enum Action {
    /// Reads a cell.
    Read { cell: Cell, seen: Seen, purpose: Purpose },
    /// Writes a cell.
    Write { cell: Cell, made: Made, purpose: Purpose },
    /// Reads a cell and writes it at once.
    Update { cell: Cell, seen: Seen, made: Made, purpose: Purpose },
    /// Chooses a value.
    Choose(Typed),
    /// A fence, if the engine says which.
    Fence(Option<Fence>),
    /// Starts the thread of that number.
    Spawn(u32),
    /// Has waited for the end of a thread, if the engine says of which.
    Join(Option<u32>),
    /// Ends the life of an object; of all that the thread has made if there is none.
    Free(Option<Object>),
    /// Begins or ends an atomic section.
    Section { begins: bool },
    /// A store of the thread reaches memory.
    Flush { cell: Cell, value: Typed },
    /// Promises a write.
    Promise { cell: Cell, value: Typed, splits: bool },
    /// A rule of the POWER machine; of an access, what it came to.
    Phase { phase: Phase, subject: Subject, access: Option<Access> },
    /// An access of which the engine says no more.
    Untold { reads: bool, writes: bool, order: Order, purpose: Purpose },
    /// Something that no other thread can notice.
    Local,
}

/// What a step does to a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// The cell.
    pub cell: Cell,
    /// What it reads.
    pub seen: Option<Seen>,
    /// What it writes.
    pub made: Option<Made>,
}

impl Action {
    /// The cell that is read or written.
    pub fn cell(&self) -> Option<&Cell> {
        match self {
            Action::Read { cell, .. } | Action::Write { cell, .. } | Action::Update { cell, .. } => {
                Some(cell)
            }
            Action::Phase { access, .. } => access.as_ref().map(|access| &access.cell),
            _ => None,
        }
    }

    /// What is read.
    pub fn seen(&self) -> Option<&Seen> {
        match self {
            Action::Read { seen, .. } | Action::Update { seen, .. } => Some(seen),
            Action::Phase { access, .. } => access.as_ref()?.seen.as_ref(),
            _ => None,
        }
    }

    /// What is written.
    pub fn made(&self) -> Option<&Made> {
        match self {
            Action::Write { made, .. } | Action::Update { made, .. } => Some(made),
            Action::Phase { access, .. } => access.as_ref()?.made.as_ref(),
            _ => None,
        }
    }

    /// The same, to be filled in.
    pub fn access_mut(&mut self) -> (Option<&mut Seen>, Option<&mut Made>) {
        match self {
            Action::Read { seen, .. } => (Some(seen), None),
            Action::Write { made, .. } => (None, Some(made)),
            Action::Update { seen, made, .. } => (Some(seen), Some(made)),
            Action::Phase { access: Some(access), .. } => (access.seen.as_mut(), access.made.as_mut()),
            _ => (None, None),
        }
    }
}

/// An event of a thread in an execution.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Where.
    pub at: At,
    /// The calls that led there, innermost first.
    pub calls: Vec<At>,
    /// What it does.
    pub action: Action,
}

/// An execution of an axiomatic model.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Execution {
    /// The events of each thread in program order. Fences and choices may be left out, except those of `Nondet`, which choose
    /// the number above the first value.
    pub threads: Vec<Vec<Event>>,
    /// Offset in its object and width of each cell, by its number.
    pub cells: Vec<(u32, Width)>,
    /// Per cell that is written: its writes in coherence order, without the initial one.
    pub coherence: Vec<Vec<StepId>>,
}

impl Execution {
    /// An event.
    pub fn event(&self, (thread, number): StepId) -> Option<&Event> {
        self.threads.get(thread as usize)?.get(number as usize)
    }
}

/// What a thread of a machine holds back or knows.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// A store that has not reached memory.
    Store {
        /// Where to.
        cell: Cell,
        /// What.
        value: Typed,
    },
    /// What is behind does not overtake what is before.
    Barrier,
    /// The thread has seen the write of that place in the cell.
    View {
        /// The cell.
        cell: Cell,
        /// How many are older.
        place: usize,
    },
    /// A promised write.
    Owes {
        /// Where to.
        cell: Cell,
        /// What.
        value: Typed,
    },
}

impl Held {
    /// The cell that it is about.
    pub fn cell(&self) -> Option<&Cell> {
        match self {
            Held::Store { cell, .. } | Held::View { cell, .. } | Held::Owes { cell, .. } => Some(cell),
            Held::Barrier => None,
        }
    }
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Whose.
    pub thread: u32,
    /// Where; [`NOWHERE`] for what stands nowhere in the source, such as a store that reaches memory.
    pub span: Span,
    /// What.
    pub action: Action,
    /// Of an access or a fence, its place in the program order of its thread.
    pub number: u32,
    /// It fulfils a promise.
    pub fulfils: bool,
    /// The thread sees a message that others have made since it made its own.
    pub switches: bool,
    /// What each thread holds back afterwards, oldest first, if the machine has that.
    pub held: Vec<Vec<Held>>,
}

/// The span of what stands nowhere.
pub const NOWHERE: Span = Span { start: u32::MAX, end: u32::MAX };

impl Step {
    /// A step without promises and buffers.
    pub fn new(thread: u32, span: Span, action: Action) -> Step {
        Step { thread, span, action, number: 0, fulfils: false, switches: false, held: Vec::new() }
    }
}
