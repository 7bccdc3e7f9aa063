//! A run of one thread in progress, and what is left of it when it is over: a trace.
//!
//! A register carries the set of loads that it depends on, and apart from these the loads that it depends on through
//! the condition of a select or the expected value of a compare-exchange (*pick* dependencies). A branch adds the
//! dependencies of its condition to the control dependencies of everything after it.
//!
//! The cells of a private object ([`fencepost_ir::Instr::Local`]) are kept here like registers: nobody else can see them,
//! so what is read from them is determined, and they make no events.

use crate::events::Events;
use crate::findings::{Problem, ProblemKind};
use crate::live::Live;
use crate::{Limits, Stop};
use fencepost_ir::{
    Ann, EventKind, Fence, FunctionId, Instr, Location, ObjectId, Operand, Reg, Span, ThreadId, Value, Width,
};
use std::collections::{BTreeMap, BTreeSet};

/// How many calls may be active.
const MAX_CALLS: usize = 6_000;

/// What an event is beside an access or a fence. These are fences to the memory model; see `combine`.
#[derive(Clone, PartialEq, Debug)]
pub enum Role {
    /// Nothing else.
    None,
    /// Starts a thread.
    Spawn(ThreadId, Start),
    /// A thread has ended with this result, as far as it is known.
    Join(ThreadId, Option<Value>),
    /// Ends the lives of objects.
    End(Vec<ObjectId>),
}

/// What a thread runs, and with which arguments; an argument is unknown in replays only.
pub type Start = (FunctionId, Vec<Option<Value>>);

/// One event of a trace.
#[derive(Clone, Debug)]
pub struct TraceEvent {
    /// What it does.
    pub kind: EventKind,
    /// What it is beside that.
    pub role: Role,
    /// Where, for accesses.
    pub location: Option<Location>,
    /// How wide.
    pub width: Width,
    /// The value read or written; `None` only in replays.
    pub value: Option<Value>,
    /// Annotation.
    pub ann: Ann,
    /// Made by a read-modify-write or compare-exchange instruction.
    pub amo: bool,
    /// It is a piece of an access that hits no cell as it is (`pieces`).
    pub piece: bool,
    /// What a read makes of an undefined value.
    pub undefined: Undefined,
    /// Source.
    pub span: Span,
    /// Function and instruction.
    pub at: (u32, u32),
    /// Reads that its address depends on.
    pub addr: Events,
    /// Reads that its value depends on.
    pub data: Events,
    /// Reads that a branch before it depends on.
    pub ctrl: Events,
    /// Reads that it depends on through a pick.
    pub pick: Events,
    /// Reads that picked its address.
    pub pick_addr: Events,
    /// The read half that this write completes, and whether one instruction made both.
    pub rmw: Option<(usize, bool)>,
}

/// How a trace ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The thread ended.
    Done,
    /// It is the one that the program started as, and returned: the process ended.
    Returned,
    /// It ended the process by `exit`.
    Halted,
    /// An `assume` does not hold.
    Blocked,
    /// Its last read is a wait for another value.
    Waiting,
    /// It is back in a loop where it was; the reads from this event on are those of the last iteration.
    Spinning(usize),
    /// It waits for a thread that does not end, or for what is no thread.
    Joining(Option<ThreadId>),
    /// The loop bound was reached.
    Cut,
    /// Something went wrong, which is the last of the problems unless the run went on behind it.
    Failed,
    /// Something that must be known is not. Only in replays.
    Stuck,
    /// It could go on, but nobody says how. Only in replays.
    Open,
}

/// What a read makes of a value that nobody wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Undefined {
    /// It is a mistake to read it where it was not copied to.
    Mistake,
    /// It is copied.
    Kept,
    /// It is taken for zero.
    Zero,
    /// It is a mistake of an atomic access, which takes it for zero.
    Atomic,
}

/// One run of a thread.
#[derive(Clone, Debug)]
pub struct Trace {
    /// What it runs.
    pub start: Start,
    /// Its events in program order.
    pub events: Vec<TraceEvent>,
    /// The registers of its outermost function at the end.
    pub registers: Vec<Option<Value>>,
    /// What it chose; see [`crate::Key::choices`].
    pub choices: Vec<i64>,
    /// What went wrong.
    pub problems: Vec<Problem>,
    /// Objects that it made, as far as others can reach them: how many events came before, and where.
    pub births: BTreeMap<ObjectId, (usize, (u32, u32))>,
    /// What a join of the thread gives.
    pub result: Option<Value>,
    /// How it ended.
    pub end: End,
    /// Function and instruction where it stands; where it waits for a value, its last read.
    pub stands_at: (u32, u32),
}

impl End {
    /// Whether the thread came to its end.
    pub fn is_end(self) -> bool {
        matches!(self, End::Done | End::Returned | End::Halted)
    }

    /// Whether it ended the process.
    pub fn ends_process(self) -> bool {
        matches!(self, End::Returned | End::Halted)
    }
}

impl Trace {
    /// What the access of this number stores, if the run gets there and it is known.
    pub fn stored(&self, access: u32) -> Option<Value> {
        self.events.iter().filter(|e| e.location.is_some()).nth(access as usize)?.value
    }
}

/// A value with what it depends on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Register {
    /// The value; unknown only in replays.
    pub value: Option<Value>,
    /// Reads that it depends on.
    pub depends: Events,
    /// Reads that it depends on through a pick.
    pub picks: Events,
}

impl Register {
    /// A value that depends on nothing.
    pub fn constant(value: Value) -> Register {
        Register { value: Some(value), depends: Events::NONE, picks: Events::NONE }
    }
}

/// An active call.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What runs.
    pub function: FunctionId,
    /// The next instruction.
    pub at: usize,
    /// Its registers.
    pub registers: Vec<Register>,
    /// Where the caller wants the result.
    pub result: Option<Reg>,
}

/// Where an access goes.
#[derive(Clone, Copy)]
pub struct Place {
    /// The cell.
    pub location: Location,
    /// Its width.
    pub width: Width,
    /// The address with what it depends on.
    pub addr: Register,
    /// Source.
    pub span: Span,
    /// Function and instruction.
    pub at: (u32, u32),
    /// Nobody else can access it.
    pub private: bool,
    /// The access is wider or narrower than the cell.
    pub piece: bool,
    /// Its initial value, if it has one.
    pub initial: Option<Value>,
}

/// How far an access in pieces is.
#[derive(Clone, Copy)]
pub struct Pieces {
    /// Bytes that are done.
    pub done: u32,
    /// What was read so far.
    pub so_far: Register,
    /// What stands in the cell that is to be written next, once it was read.
    pub cell: Option<Register>,
}

/// A run in progress.
#[derive(Clone)]
pub struct Run {
    start: Start,
    /// The active calls, the outermost first. There is always one.
    pub frames: Vec<Frame>,
    /// Its events so far.
    pub events: Vec<TraceEvent>,
    /// How many of them are accesses.
    pub accesses: u32,
    /// Reads that a branch depended on.
    pub ctrl: Events,
    /// Reads that a branch depended on through a pick.
    pub ctrl_pick: Events,
    /// Where control dependencies end, and which there were before.
    pub scopes: Vec<(usize, Events, Events)>,
    /// The last exclusive load: its event, unless the cell is private, and its cell.
    pub reservation: Option<(Option<usize>, Location)>,
    /// What it chose so far.
    pub choices: Vec<i64>,
    /// What went wrong so far.
    pub problems: Vec<Problem>,
    /// It went on behind a failed assertion.
    pub failed: bool,
    /// What a join gives.
    pub result: Option<Value>,
    /// Cells of private objects that were written.
    pub private: BTreeMap<Location, Register>,
    /// What stood in them before they were.
    unwritten: BTreeMap<Location, Option<Value>>,
    /// Objects that it has made, as in [`Trace::births`].
    pub births: BTreeMap<ObjectId, (usize, (u32, u32))>,
    /// Local and thread-local objects that it has made and not ended, as far as others can reach them.
    pub alive: BTreeSet<ObjectId>,
    /// Private objects that are out of scope.
    pub ended: BTreeSet<ObjectId>,
    /// How many objects it has made.
    pub made: u32,
    /// How many threads it has started.
    pub started: u32,
    /// How far it is in an access that goes in pieces.
    pub pieces: Option<Pieces>,
    /// How many accesses to private cells it has made.
    pub silent: u32,
    /// Where it was at reads since it last changed something.
    pub(crate) history: Vec<Moment>,
    /// Where the rounds began that it is in, of loops that their author marked.
    rounds: Vec<usize>,
    steps: usize,
}

/// The state of a run before a read: its events, and all that its future depends on.
#[derive(Clone, PartialEq)]
pub(crate) struct Moment {
    events: usize,
    /// Objects made and threads started.
    made: (u32, u32),
    frames: Vec<(FunctionId, usize, Vec<Option<Value>>)>,
    private: Vec<(Location, Option<Value>)>,
}

impl Run {
    /// A thread before its first instruction; `registers` is the number of registers of its function.
    pub fn new(start: Start, params: u32, registers: usize) -> Run {
        let mut list = vec![Register::constant(Value::ZERO); registers];
        for (register, &value) in list.iter_mut().take(params as usize).zip(&start.1) {
            register.value = value;
        }
        Run {
            frames: vec![Frame { function: start.0, at: 0, registers: list, result: None }],
            start,
            events: Vec::new(),
            accesses: 0,
            ctrl: Events::NONE,
            ctrl_pick: Events::NONE,
            scopes: Vec::new(),
            reservation: None,
            choices: Vec::new(),
            problems: Vec::new(),
            failed: false,
            result: Some(Value::ZERO),
            private: BTreeMap::new(),
            unwritten: BTreeMap::new(),
            births: BTreeMap::new(),
            alive: BTreeSet::new(),
            ended: BTreeSet::new(),
            made: 0,
            started: 0,
            pieces: None,
            silent: 0,
            history: Vec::new(),
            rounds: Vec::new(),
            steps: 0,
        }
    }

    /// Counts a step, as long as the run is within the limits.
    pub fn count_step(&mut self, limits: &Limits) -> Result<(), Stop> {
        self.steps += 1;
        if self.steps > limits.steps {
            return Err(Stop::Limit("instructions in one run of a thread"));
        }
        if self.events.len() + 2 > Events::MOST {
            return Err(Stop::Limit("events in one thread"));
        }
        if self.frames.len() > MAX_CALLS {
            return Err(Stop::Limit("active calls"));
        }
        Ok(())
    }

    /// Kind and location of its accesses.
    pub fn accesses(&self) -> impl Iterator<Item = (EventKind, Option<Location>)> + '_ {
        self.events.iter().filter(|e| e.location.is_some()).map(|e| (e.kind, e.location))
    }

    /// Turns the last choice, of a store-exclusive that fails, into the other one.
    pub fn choose_otherwise(&mut self) {
        if let Some(choice) = self.choices.last_mut() {
            *choice = 1 - *choice;
        }
    }

    /// The run as a trace.
    pub fn finish(self, end: End) -> Trace {
        let end = if self.failed { End::Failed } else { end };
        let last_read = self.events.iter().rev().find(|e| e.kind == EventKind::Read).map(|e| e.at);
        let stands_at = match end {
            End::Waiting | End::Spinning(_) => last_read.unwrap_or(self.at()),
            _ => self.at(),
        };
        Trace {
            stands_at,
            start: self.start,
            events: self.events,
            registers: self.frames[0].registers.iter().map(|r| r.value).collect(),
            choices: self.choices,
            problems: self.problems,
            births: self.births,
            result: self.result,
            end,
        }
    }

    /// The innermost call.
    pub fn frame(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }

    /// The same, to change it.
    pub fn frame_mut(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// Function and instruction that come next.
    pub fn at(&self) -> (u32, u32) {
        (self.frame().function.0, self.frame().at as u32)
    }

    /// The value of an operand.
    pub fn operand(&self, operand: Operand) -> Register {
        match operand {
            Operand::Reg(reg) => self.frame().registers[reg.0 as usize],
            Operand::Const(value) => Register::constant(value),
        }
    }

    /// Sets a register, if there is one to set.
    pub fn assign(&mut self, reg: Option<Reg>, value: Register) {
        if let Some(reg) = reg {
            self.frame_mut().registers[reg.0 as usize] = value;
        }
    }

    /// Goes on with the next instruction.
    pub fn next(mut self) -> Run {
        self.frame_mut().at += 1;
        self
    }

    /// Leaves the branches that end here.
    pub fn leave_scopes(&mut self) {
        let at = self.frame().at;
        while let Some(&(join, ctrl, pick)) = self.scopes.last()
            && join == at
        {
            (self.ctrl, self.ctrl_pick) = (ctrl, pick);
            self.scopes.pop();
        }
    }

    /// A branch on a value.
    pub fn depend(&mut self, condition: Register) {
        self.ctrl |= condition.depends;
        self.ctrl_pick |= condition.picks;
    }

    /// Notes something that is wrong here. Behind a failed assertion nothing counts.
    pub fn note(&mut self, kind: ProblemKind, at: (u32, u32)) {
        if !self.failed {
            self.problems.push(Problem { kind, at, message: None });
        }
    }

    /// Appends a fence, or what is one to the memory model.
    pub fn fence(&mut self, fence: Fence, role: Role, span: Span) {
        if role != Role::None {
            self.history.clear();
        }
        self.events.push(TraceEvent {
            kind: EventKind::Fence(fence),
            role,
            location: None,
            width: Width::W64,
            value: Some(Value::ZERO),
            ann: Ann::PLAIN,
            amo: false,
            piece: false,
            undefined: Undefined::Atomic,
            span,
            at: self.at(),
            addr: Events::NONE,
            data: Events::NONE,
            ctrl: self.ctrl,
            pick: self.ctrl_pick,
            pick_addr: Events::NONE,
            rmw: None,
        });
    }

    /// A choice was made, so that the thread may be somewhere else next time.
    pub fn chose(&mut self, choice: i64) {
        self.choices.push(choice);
        self.history.clear();
    }

    fn access(&mut self, place: &Place, kind: EventKind, value: Option<Value>, ann: Ann) -> usize {
        self.accesses += 1;
        self.events.push(TraceEvent {
            kind,
            role: Role::None,
            location: Some(place.location),
            width: place.width,
            value,
            ann,
            amo: false,
            piece: place.piece,
            undefined: Undefined::Atomic,
            span: place.span,
            at: place.at,
            addr: place.addr.depends,
            data: Events::NONE,
            ctrl: self.ctrl,
            pick: self.ctrl_pick | place.addr.picks,
            pick_addr: place.addr.picks,
            rmw: None,
        });
        self.events.len() - 1
    }

    /// What stands in a private cell: the initial value if nothing was written.
    pub fn private_value(&self, place: &Place) -> Register {
        let initial = Register::constant(place.initial.unwrap_or(Value::UNDEFINED));
        self.private.get(&place.location).copied().unwrap_or(initial)
    }

    /// Reads `old`: the event, unless the cell is private, and what the value depends on.
    pub fn read(
        &mut self,
        place: &Place,
        old: Option<Value>,
        ann: Ann,
        undefined: Undefined,
    ) -> (Option<usize>, Register) {
        if !place.private {
            let event = self.access(place, EventKind::Read, old, ann);
            self.events[event].undefined = undefined;
            return (Some(event), Register { value: old, depends: Events::one(event), picks: Events::NONE });
        }
        self.silent += 1;
        let content = self.private_value(place);
        let depends = content.depends | place.addr.depends;
        (None, Register { value: old, depends, picks: content.picks | place.addr.picks })
    }

    /// A round of a loop begins that its author marked.
    pub fn begin_round(&mut self) {
        self.rounds.push(self.events.len());
    }

    /// It ends: the event where the outermost one began.
    pub fn end_round(&mut self) -> usize {
        let from = self.rounds.first().copied().unwrap_or(0);
        self.rounds.pop();
        from
    }

    /// Writes a value: the event, unless the cell is private.
    pub fn write(&mut self, place: &Place, value: Option<Value>, from: Register, ann: Ann) -> Option<usize> {
        let value = value.map(|value| place.width.zero_extend(value));
        if !place.private {
            let index = self.access(place, EventKind::Write, value, ann);
            self.events[index].data = from.depends;
            self.events[index].pick |= from.picks;
            self.history.clear();
            return Some(index);
        }
        self.silent += 1;
        let depends = from.depends | place.addr.depends;
        let picks = from.picks | place.addr.picks;
        self.private.insert(place.location, Register { value, depends, picks });
        self.unwritten.insert(place.location, place.initial);
        None
    }

    /// What is wrong with an access to a private cell.
    pub fn private_mistake(&self, place: &Place, instr: &Instr) -> Option<ProblemKind> {
        if !place.private {
            return None;
        }
        if self.ended.contains(&place.location.object) {
            return Some(ProblemKind::UseAfterScope);
        }
        let needs_value =
            !matches!(instr, Instr::Store { .. } | Instr::StoreExclusive { .. } | Instr::CopyLoad { .. });
        let unknown = place.initial.is_none() && !self.private.contains_key(&place.location);
        (needs_value && unknown).then_some(ProblemKind::Uninitialised)
    }

    /// The private cells that do not have their initial value: a cell to which that was written is as if it never was.
    pub fn private_values(&self) -> Vec<(Location, Option<Value>)> {
        let cells = self.private.iter().map(|(location, register)| (*location, register.value));
        cells.filter(|(location, value)| self.unwritten.get(location) != Some(value)).collect()
    }

    /// Remembers that the run stands before a read. If it was there before, by the same calls and with the same values in
    /// all registers that matter, and has changed nothing since: the event where it was.
    pub fn comes_round(&mut self, live: &Live) -> Option<usize> {
        let above = self.frames.iter().skip(1).map(|frame| frame.result).chain([None]);
        let values = |(frame, result): (&Frame, Option<Reg>)| {
            let set = live.before(frame.function.0 as usize, frame.at);
            // What a call gives back is written when it returns.
            let matters =
                |r: usize| set.is_none_or(|set| set[r]) && result.is_none_or(|reg| reg.0 as usize != r);
            let list = frame.registers.iter().enumerate();
            let list = list.map(|(r, register)| if matters(r) { register.value } else { None });
            (frame.function, frame.at, list.collect())
        };
        let moment = Moment {
            events: self.events.len(),
            made: (self.made, self.started),
            frames: self.frames.iter().zip(above).map(values).collect(),
            private: self.private_values(),
        };
        let same =
            |m: &&Moment| m.frames == moment.frames && m.private == moment.private && m.made == moment.made;
        let earlier = self.history.iter().find(same).map(|m| m.events);
        self.history.push(moment);
        // Two reads of private cells have no event between them.
        earlier.filter(|&events| events < self.events.len())
    }
}
