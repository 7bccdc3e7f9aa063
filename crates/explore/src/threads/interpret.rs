//! Runs a thread from one event to the next. Local operations only: nothing here knows the memory model.

mod rare;

pub use rare::callee;

use crate::models::model::MemoryModel;
use crate::search::row::RowWidth;
use crate::threads::code::{
    Arg, Code, DISAGREED, FAILED, FP, FRAME, HIDDEN, Half, Op, Pc, PrivateObject, RESERVATION, RESULT, ROUND,
    Undefined,
};
use crate::threads::memory::{BadAccess, LocId, Memory, NO_LOC};
use crate::threads::path::{Key, Kind, NO_NODE, NodeId, Outcomes, SEGMENT_FULL, SEGMENT_PRIVATE, Trie};
use crate::work::preparation::StartOver;
use fencepost_answer::FindingKind;
use fencepost_ir::{FailKind, Value, Width};

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Next {
    /// It has not been started.
    #[default]
    NotStarted,
    /// The event of `Snapshot::node`.
    Event,
    /// It has ended.
    Ended,
    /// It has ended the process by `exit`.
    Halted,
    /// It is the one thread that the program started as, and has returned, which ends the process too.
    Returned,
    /// It stands before joins, and nothing else that is an event comes after them.
    Tail,
    /// An assumption failed, or a choice turned out wrong.
    Blocked,
    /// It waits for a value that it did not read.
    Waiting,
    /// It is back in a loop where it was, having written nothing.
    Spinning,
    /// It tries again with what it has read, as it would without the last read if the read before had read that.
    Retrying,
    /// The unroll bound was reached.
    Cut,
    /// Something went wrong; see [`Fault`].
    Failed(Fault),
}

/// What went wrong in a thread, and where: a function and an instruction of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// Where.
    pub at: (u32, u32),
}

/// The kinds of fault of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// An assertion does not hold, or a mistake that the program's library found.
    Fail(FailKind),
    /// A division by zero.
    DivisionByZero,
    /// A bad address.
    BadAccess(BadAccess),
    /// A private object is read before it is written; its number.
    Uninitialised(u16),
    /// A value is used that nobody wrote.
    Undefined,
    /// A private object is used after its end.
    UseAfterScope(u16),
    /// `free` of what is no live allocation's start.
    InvalidFree,
    /// A call through a bad pointer.
    BadCall,
    /// A join of what is no thread, or no thread any more.
    BadJoin,
    /// Local steps without end.
    LocalLoop,
    /// What the source of a native thread has found.
    Source(FindingKind),
    /// More active calls than there is room for.
    DeepRecursion,
}

/// A thread that stands before its next event; its registers are kept beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The node of the next event.
    pub node: NodeId,
    /// What comes next.
    pub next: Next,
    /// For a write: the value. For a spawn: how many came before. For a join: the thread. For a free: the object, or
    /// [`END_OF_THREAD`].
    pub value: u64,
    /// The order in which threads are scheduled, smallest first.
    pub urgency: u8,
    /// How many events the thread had after the last one that changed something; see `idle`.
    pub changed: u32,
    /// How many it had after the last read-modify-write that wrote what it had read.
    pub rewrote: u32,
    /// How many it had after the last write to an object that nobody had seen; see `unseen`.
    pub unseen: u32,
}

impl Next {
    /// What the source of a native thread has found, by the number that it gave it.
    pub fn failed_by_source(kind: FindingKind, site: u32) -> Next {
        Next::Failed(Fault { kind: FaultKind::Source(kind), at: (crate::threads::native::SITE, site) })
    }

    /// Whether the thread has come to its end.
    pub fn is_end(self) -> bool {
        matches!(self, Next::Ended | Next::Halted | Next::Returned)
    }
}

impl Default for Snapshot {
    fn default() -> Snapshot {
        Snapshot {
            node: NO_NODE,
            next: Next::NotStarted,
            value: 0,
            urgency: Snapshot::NEVER,
            changed: 0,
            rewrote: 0,
            unseen: 0,
        }
    }
}

impl Snapshot {
    /// The urgency of a thread that cannot go on.
    pub const NEVER: u8 = u8::MAX;
    /// The urgency of the second half of a read-modify-write: nothing is more urgent.
    pub const SECOND_HALF: u8 = 0;
    /// The urgency of what does not branch.
    pub const AT_ONCE: u8 = 1;
    /// Marks a join, whose urgency depends on the other thread.
    pub const JOIN: u8 = 5;

    /// The second half of a read-modify-write comes first, then what does not branch, then writes before reads, since
    /// a write that is there already need not revisit.
    fn urgency(kind: Kind, half: Half) -> u8 {
        match kind {
            Kind::Write if half == Half::Amo => Snapshot::SECOND_HALF,
            Kind::Skip | Kind::Fence(_) | Kind::Segment | Kind::Spawn | Kind::Free => Snapshot::AT_ONCE,
            Kind::Write => 2,
            Kind::Choice => 3,
            Kind::Read => 4,
            Kind::Join => Snapshot::JOIN,
        }
    }

    /// A thread that cannot go on.
    pub fn stopped(next: Next) -> Snapshot {
        Snapshot { next, ..Snapshot::default() }
    }
}

/// In place of the object that an event ends: all that the thread has made and not ended, thread-local ones included.
pub const END_OF_THREAD: u64 = u64::MAX;

/// Local steps between two looks at the limits.
const LOCAL_STEPS: u32 = 1 << 16;

/// Pieces of a path without an event between two looks at the limits.
const SEGMENTS: u32 = 1 << 8;

/// Who knows whether a thread may go on computing: time, memory and the user's patience are limited.
pub trait Patience {
    /// Whether there is some left; asked now and then.
    fn lasts(&self) -> bool;
}

/// Notices that a thread which does nothing but compute comes back to where it was. [Brent 1980]: the state after n looks
/// is compared with the one after the last power of two.
#[derive(Default)]
struct Endless {
    looks: u32,
    left_behind: Option<(Pc, Vec<u64>)>,
}

impl Endless {
    fn comes_round(&mut self, pc: Pc, regs: &[u64]) -> bool {
        self.looks += 1;
        if self.left_behind.as_ref().is_some_and(|(at, then)| *at == pc && then == regs) {
            return true;
        }
        if self.looks.is_power_of_two() {
            self.left_behind = Some((pc, regs.to_vec()));
        }
        false
    }
}

/// Where local execution stopped.
pub(crate) enum Stop {
    Event(Pc, LocId, u64),
    Segment(Pc, LocId),
    Other(Next),
    /// The registers need more words.
    Room,
}

/// What running a thread needs to know.
pub struct Machine<'a, M> {
    /// The program.
    pub code: &'a Code,
    /// Its cells.
    pub memory: &'a mut Memory,
    /// The model, which says which fences are events.
    pub model: &'a M,
    /// The running thread.
    pub thread: u16,
    /// Set when the registers need more words.
    pub needs_room: bool,
    /// Set when an access hits no cell as it is, and another layout, or going in pieces, would help.
    pub mixed: Option<StartOver>,
    /// How many events the thread has made.
    pub events: usize,
    /// Where the unroll bound stopped the thread: the node and what led from there, so that it can go on after all.
    pub cut_at: (NodeId, Outcomes),
    /// How long it may compute.
    pub patience: &'a dyn Patience,
}

#[inline(always)]
fn get(frame: &[u64], a: Arg) -> u64 {
    match a {
        Arg::Reg(r) => frame[r as usize],
        Arg::Const(c) => c,
    }
}

impl<'a, M> Machine<'a, M> {
    /// For a thread.
    pub fn new(
        code: &'a Code,
        memory: &'a mut Memory,
        model: &'a M,
        thread: usize,
        patience: &'a dyn Patience,
    ) -> Machine<'a, M> {
        let cut_at = (NO_NODE, Outcomes::NONE);
        Machine {
            code,
            memory,
            model,
            thread: thread as u16,
            needs_room: false,
            mixed: None,
            events: 0,
            cut_at,
            patience,
        }
    }

    /// Prepares the registers of a thread that is about to run a function.
    pub fn start(&mut self, function: u32, args: &[u64], regs: &mut [u64]) -> Pc {
        let target = self.code.functions[function as usize];
        if HIDDEN + target.frame as usize > regs.len() {
            self.needs_room = true;
            return target.entry;
        }
        regs.fill(0);
        regs[FP] = HIDDEN as u64;
        let params = &mut regs[HIDDEN + FRAME..][..target.params as usize];
        params.iter_mut().zip(args).for_each(|(param, &value)| *param = value);
        target.entry
    }

    /// Runs from behind the event of `from`, or from where a segment ends, to the next event.
    pub fn advance<W: RowWidth>(&mut self, trie: &mut Trie<M, W>, from: NodeId, regs: &mut [u64]) -> Snapshot
    where
        M: MemoryModel<W>,
    {
        let node = trie.node(from);
        let is_event = node.kind != Kind::Segment;
        self.events = node.index as usize + usize::from(is_event);
        let pc = node.pc() + Pc::from(is_event);
        self.advance_from(trie, from, pc, Outcomes::NONE, regs)
    }

    /// Goes on with a loop whose bound is used up.
    pub fn past_bound<W: RowWidth>(&mut self, trie: &mut Trie<M, W>, regs: &mut [u64]) -> Snapshot
    where
        M: MemoryModel<W>,
    {
        // The jump to the loop's head stands before the cut.
        let pc = regs[RESULT] as Pc - 1;
        let (parent, outcomes) = self.cut_at;
        self.advance_from(trie, parent, pc, outcomes, regs)
    }

    fn advance_from<W: RowWidth>(
        &mut self,
        trie: &mut Trie<M, W>,
        mut parent: NodeId,
        mut pc: Pc,
        mut outcomes: Outcomes,
        regs: &mut [u64],
    ) -> Snapshot
    where
        M: MemoryModel<W>,
    {
        let (mut segments, mut endless) = (0u32, Endless::default());
        loop {
            match self.run(pc, regs, &mut outcomes) {
                Stop::Event(pc, loc, value) => {
                    let node = trie.child(parent, Key { pc, loc, outcomes }, self.code);
                    if self.code.tails[pc as usize] && regs[FP] as usize == HIDDEN {
                        return Snapshot { node, next: Next::Tail, value, ..Snapshot::default() };
                    }
                    let urgency = Snapshot::urgency(trie.node(node).kind, trie.node(node).half);
                    return Snapshot { node, next: Next::Event, value, urgency, ..Snapshot::default() };
                }
                Stop::Segment(at, loc) => {
                    parent = trie.child(parent, Key { pc: at, loc, outcomes }, self.code);
                    pc = at;
                    outcomes = Outcomes::NONE;
                    segments += 1;
                    if segments.is_multiple_of(SEGMENTS) {
                        if !self.patience.lasts() {
                            return Snapshot::stopped(Next::Blocked);
                        }
                        if endless.comes_round(pc, regs) {
                            let kind = FaultKind::LocalLoop;
                            let fault = Fault { kind, at: self.code.source[pc as usize] };
                            return Snapshot::stopped(Next::Failed(fault));
                        }
                    }
                }
                Stop::Other(Next::Spinning) => {
                    let value = regs[ROUND] >> 16;
                    return Snapshot { value, ..Snapshot::stopped(Next::Spinning) };
                }
                Stop::Other(next) => {
                    self.cut_at = (parent, outcomes);
                    return Snapshot::stopped(next);
                }
                Stop::Room => {
                    self.needs_room = true;
                    return Snapshot::stopped(Next::Cut);
                }
            }
        }
    }

    /// Whether a thread that stands before the join at `pc` ends if it joins one thread after the other.
    pub fn ends_by_joining<W: RowWidth>(
        &mut self,
        mut pc: Pc,
        regs: &mut [u64],
        can_join: impl Fn(u64) -> bool,
    ) -> bool
    where
        M: MemoryModel<W>,
    {
        loop {
            match self.run(pc, regs, &mut Outcomes::NONE.clone()) {
                Stop::Event(at, _, thread) if can_join(thread) => pc = at + 1,
                Stop::Segment(at, _) => pc = at,
                Stop::Other(next) => return matches!(next, Next::Ended | Next::Returned),
                _ => return false,
            }
        }
    }

    /// The threads that one joins who stands before the join at `pc`, one after the other, before anything else; and whether it
    /// asks for their results.
    pub fn joins_in_a_row<W: RowWidth>(&mut self, mut pc: Pc, regs: &mut [u64]) -> Vec<(u64, bool)>
    where
        M: MemoryModel<W>,
    {
        let mut joined = Vec::new();
        loop {
            match self.run(pc, regs, &mut Outcomes::NONE.clone()) {
                Stop::Event(at, _, thread) => {
                    let Op::Join { dst, .. } = self.code.ops[at as usize] else { return joined };
                    joined.push((thread, dst != 0));
                    pc = at + 1;
                }
                Stop::Segment(at, _) => pc = at,
                _ => return joined,
            }
        }
    }

    pub(crate) fn fault(&self, pc: Pc, kind: FaultKind) -> Stop {
        Stop::Other(Next::Failed(Fault { kind, at: self.code.source[pc as usize] }))
    }

    #[inline(always)]
    fn run<W: RowWidth>(&mut self, mut pc: Pc, regs: &mut [u64], outcomes: &mut Outcomes) -> Stop
    where
        M: MemoryModel<W>,
    {
        let mut fp = regs[FP] as usize;
        let mut endless = Endless::default();
        let mut steps = 0u32;
        loop {
            steps += 1;
            if steps == LOCAL_STEPS {
                steps = 0;
                if !self.patience.lasts() {
                    // The exploration ends, and says why; nothing is made of this thread.
                    return Stop::Other(Next::Blocked);
                }
                if endless.comes_round(pc, regs) {
                    return self.fault(pc, FaultKind::LocalLoop);
                }
            }
            let frame = &mut regs[fp..];
            match self.code.ops[pc as usize] {
                Op::Move { dst, a } => frame[dst as usize] = get(frame, a),
                Op::Unary { op, width, extend, dst, a } => {
                    let value = op.apply(width, Value(get(frame, a)));
                    frame[dst as usize] = width.extend(extend, value).0;
                }
                Op::Binary { op, width, extend, dst, a, b } => {
                    let (a, b) = (Value(get(frame, a)), Value(get(frame, b)));
                    let Some(value) = op.apply(width, a, b) else {
                        return self.fault(pc, FaultKind::DivisionByZero);
                    };
                    frame[dst as usize] = width.extend(extend, value).0;
                }
                Op::Modify { op, width, dst, old, operand } => {
                    let (old, operand) = (frame[old as usize], get(frame, operand));
                    frame[dst as usize] = op.apply(width, Value(old), Value(operand)).0;
                }
                Op::Select { dst, condition, a, b } => {
                    let taken = get(frame, condition) != 0;
                    frame[dst as usize] = get(frame, if taken { a } else { b });
                    outcomes.push(taken);
                    if outcomes.is_full() {
                        return Stop::Segment(pc + 1, SEGMENT_FULL);
                    }
                }
                Op::Jump(target) => {
                    pc = target;
                    continue;
                }
                Op::Branch { condition, then_to, else_to, .. } => {
                    let taken = get(frame, condition) != 0;
                    pc = if taken { then_to } else { else_to };
                    outcomes.push(taken);
                    if outcomes.is_full() {
                        return Stop::Segment(pc, SEGMENT_FULL);
                    }
                    continue;
                }
                Op::BranchReserved { addr, else_to } => {
                    let address = get(frame, addr);
                    let held = regs[RESERVATION] == address;
                    pc = if held { pc + 1 } else { else_to };
                    outcomes.push(held);
                    if outcomes.is_full() {
                        return Stop::Segment(pc, SEGMENT_FULL);
                    }
                    continue;
                }
                Op::Load { addr, width, half, .. } => {
                    let stop = self.access(pc, get(frame, addr), width, 0);
                    return match half {
                        Half::Amo | Half::Waiting => self.checked_write(pc, stop),
                        Half::None | Half::Exclusive => stop,
                    };
                }
                Op::Store { addr, value, width, .. } => {
                    let value = width.zero_extend(Value(get(frame, value))).0;
                    let stop = self.access(pc, get(frame, addr), width, value);
                    return self.checked_write(pc, stop);
                }
                Op::LoadPiece { addr, at, width, .. } => {
                    return self.piece_access(pc, get(frame, addr), frame[at as usize], width, 0);
                }
                Op::StorePiece { addr, at, value, width, .. } => {
                    let (address, value) = (get(frame, addr), frame[value as usize]);
                    let stop = self.piece_access(pc, address, frame[at as usize], width, value);
                    return self.checked_write(pc, stop);
                }
                Op::Choice { .. } => return Stop::Event(pc, NO_LOC, 0),
                Op::Skip { addr, width } => {
                    if self.code.out_of_order {
                        return self.access(pc, get(frame, addr), width, 0);
                    }
                }
                Op::Fence(fence) => {
                    if self.model.is_event(fence) {
                        return Stop::Event(pc, NO_LOC, 0);
                    }
                }
                Op::Assume(condition) => {
                    if get(frame, condition) == 0 {
                        return Stop::Other(Next::Blocked);
                    }
                }
                Op::Wait(condition) => {
                    if get(frame, condition) == 0 {
                        return Stop::Other(Next::Waiting);
                    }
                }
                Op::Defined(a) => {
                    if get(frame, a) == Value::UNDEFINED.0
                        && let Some(stop) = self.failed_check(pc, regs)
                    {
                        return stop;
                    }
                }
                Op::Picked { dst, a, .. } => frame[dst as usize] = get(frame, a),
                Op::Outcome { success, .. } => {
                    pc = success;
                    continue;
                }
                Op::Reserve(addr) => regs[RESERVATION] = get(frame, addr),
                Op::Unreserve => regs[RESERVATION] = 0,
                Op::Agree { a, b } => {
                    if (get(frame, a) != 0) != b {
                        if !self.code.out_of_order {
                            return Stop::Other(Next::Blocked);
                        }
                        regs[DISAGREED] = 1;
                    }
                }
                Op::PrivateLoad { dst, object, addr, width, extend, undefined } => {
                    let word = match self.private_cell(frame, object, addr, width) {
                        Ok((word, known)) if known || undefined != Undefined::Mistake => word,
                        Ok(_) => return self.fault(pc, FaultKind::Uninitialised(object)),
                        Err(kind) => return self.private_fault(pc, kind),
                    };
                    frame[dst as usize] = undefined.taken(width.extend(extend, Value(frame[word])).0);
                    if let Some(segment) = self.private_segment::<W>(object, fp + word) {
                        return Stop::Segment(pc + 1, segment);
                    }
                }
                Op::PrivateStore { object, addr, value, width } => {
                    let word = match self.private_cell(frame, object, addr, width) {
                        Ok((word, _)) => word,
                        Err(kind) => return self.private_fault(pc, kind),
                    };
                    frame[word] = width.zero_extend(Value(get(frame, value))).0;
                    let flags = self.code.privates[object as usize].at as usize;
                    frame[flags] |= 1 << (word - flags - 1);
                    if let Some(segment) = self.private_segment::<W>(object, fp + word) {
                        return Stop::Segment(pc + 1, segment);
                    }
                }
                Op::Private { dst, object } => {
                    let private = &self.code.privates[object as usize];
                    let flags = private.at as usize;
                    frame[flags] = PrivateObject::ALIVE;
                    for (i, cell) in private.object.cells.iter().enumerate() {
                        frame[flags + 1 + i] =
                            cell.init.map_or(Value::UNDEFINED.0, |v| cell.width.zero_extend(v).0);
                        frame[flags] |= u64::from(cell.init.is_some()) << i;
                    }
                    frame[dst as usize] = 0;
                }
                Op::PrivateEnd { object } => frame[self.code.privates[object as usize].at as usize] = 0,
                Op::Round(None) => {
                    if regs[ROUND] & 0xffff == 0 {
                        regs[ROUND] = (self.events as u64) << 16;
                    }
                    regs[ROUND] += 1;
                }
                Op::Round(Some(condition)) => {
                    if get(frame, condition) == 0 {
                        return Stop::Other(Next::Spinning);
                    }
                    regs[ROUND] -= u64::from(regs[ROUND] & 0xffff != 0);
                }
                Op::EnterLoop { dst } => frame[dst as usize] = self.events as u64,
                Op::Cut { .. } => {
                    // A thread that was cut has no result; the place says which loop it was.
                    regs[RESULT] = u64::from(pc);
                    return Stop::Other(Next::Cut);
                }
                Op::Halt => return self.ended(regs, Next::Halted),
                _ => match self.other(pc, regs, &mut fp) {
                    Ok(next) => {
                        pc = next;
                        continue;
                    }
                    Err(stop) => return stop,
                },
            }
            pc += 1;
        }
    }

    /// The word of the frame that an access to a private object hits, and whether it has a value.
    #[inline(always)]
    fn private_cell(
        &self,
        frame: &[u64],
        object: u16,
        addr: Arg,
        width: Width,
    ) -> Result<(usize, bool), FaultKind> {
        let private = &self.code.privates[object as usize];
        let flags = private.at as usize;
        if frame[flags] & PrivateObject::ALIVE == 0 {
            return Err(FaultKind::UseAfterScope(object));
        }
        let cell = private.cell(get(frame, addr), width).map_err(FaultKind::BadAccess)?;
        Ok((flags + 1 + cell, frame[flags] >> cell & 1 != 0))
    }

    /// Where a model looks at dependencies, which of several cells was accessed is part of the path.
    #[inline(always)]
    fn private_segment<W: RowWidth>(&self, object: u16, word: usize) -> Option<LocId>
    where
        M: MemoryModel<W>,
    {
        (M::DEPENDENCIES && self.code.privates[object as usize].object.cells.len() > 1)
            .then(|| SEGMENT_PRIVATE - word as LocId)
    }

    /// An assertion that does not hold ends the thread.
    fn failed_check(&self, pc: Pc, regs: &mut [u64]) -> Option<Stop> {
        if !self.code.checks_at_end {
            return Some(self.fault(pc, self.code.check_at(pc)));
        }
        // It orders nothing: what comes behind it may be committed before what it looks at, which may still
        // change. So whether there is more must not depend on it.
        if regs[FAILED] == 0 {
            regs[FAILED] = u64::from(pc) + 1;
        }
        None
    }

    fn ended(&self, regs: &[u64], next: Next) -> Stop {
        match regs[FAILED] {
            _ if regs[DISAGREED] != 0 => Stop::Other(Next::Blocked),
            0 => Stop::Other(next),
            failed => self.fault(failed as Pc - 1, self.code.check_at(failed as Pc - 1)),
        }
    }

    /// An access that writes what may be written.
    #[inline(always)]
    fn checked_write(&self, pc: Pc, stop: Stop) -> Stop {
        match stop {
            Stop::Event(_, loc, _) if self.memory.is_constant(loc) => {
                self.fault(pc, FaultKind::BadAccess(BadAccess::Constant))
            }
            stop => stop,
        }
    }

    #[inline(always)]
    fn access(&mut self, pc: Pc, address: u64, width: Width, value: u64) -> Stop {
        match self.memory.resolve(address, width) {
            Ok(loc) => Stop::Event(pc, loc, value),
            Err(bad) => {
                if let BadAccess::MixedSize(_) = bad {
                    self.ask(pc, address, width);
                }
                self.fault(pc, FaultKind::BadAccess(bad))
            }
        }
    }
}
