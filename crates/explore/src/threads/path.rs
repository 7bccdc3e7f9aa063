//! The trie of control-flow paths: what is the same for every visit of an access on the same path, computed once.
//!
//! A node is an access (or choice, or fence event) of one thread, identified by its parent, its operation, the cell it
//! accesses and the outcomes of the branches since the parent. Everything syntactic follows from that: dependencies,
//! fences in between, earlier accesses to the same cell, reservations. A model turns it into its own static rows when
//! the node is made; during exploration they are only read. `trie.rs` has the nodes.

mod trie;

pub use trie::{Shift, Trie};

use crate::search::row::{Row, RowWidth};
use crate::threads::code::{Arg, CasRead, Code, FRAME, Half, MAX_REGISTERS, Op, Pc, Target};
use crate::threads::effect::{Effect, Flow, Goes};
use crate::threads::memory::{LocId, NO_LOC};
use fencepost_ir::{Ann, Fence, RmwOp};

/// A node of the trie, by number.
pub type NodeId = u32;

/// No node.
pub const NO_NODE: NodeId = NodeId::MAX;

/// An event: the base of its thread plus its index in program order.
pub type EventId = u32;

/// No event; as a reads-from source it is the initial write.
pub const INIT: EventId = EventId::MAX;

/// In a key: a segment that ends because the outcomes are full.
pub const SEGMENT_FULL: LocId = NO_LOC - 1;

/// In a key: a segment that ends at the entry of a function, called through a pointer or run by a new thread.
pub const SEGMENT_CALL: LocId = NO_LOC - 2;

/// In a key: a segment that ends with an access to a word of a private object; the word is subtracted.
pub const SEGMENT_PRIVATE: LocId = NO_LOC - 3;

/// Segments have larger numbers than all cells.
const FIRST_SEGMENT: LocId = SEGMENT_PRIVATE - MAX_REGISTERS as LocId;

/// What kind of event a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The start of a thread, or a piece of a very long branchy path: no event.
    Segment,
    /// A read.
    Read,
    /// A write.
    Write,
    /// A nondeterministic choice.
    Choice,
    /// A store that might have been and was not; see [`Op::Skip`].
    Skip,
    /// A fence that the model wants as an event.
    Fence(Fence),
    /// Starts a thread.
    Spawn,
    /// Waits for a thread to end.
    Join,
    /// Ends the life of an object.
    Free,
}

/// Branch outcomes since the parent, as bits behind a leading one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcomes(pub u64);

impl Outcomes {
    /// No branch yet.
    pub const NONE: Outcomes = Outcomes(1);

    /// Appends an outcome.
    #[inline(always)]
    pub fn push(&mut self, taken: bool) {
        self.0 = self.0 << 1 | u64::from(taken);
    }

    /// No room for another one: a segment node must be made.
    #[inline(always)]
    pub fn is_full(self) -> bool {
        self.0 >> 63 != 0
    }
}

/// What identifies a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The operation; for a segment, the operation to go on with.
    pub pc: Pc,
    /// The cell.
    pub loc: LocId,
    /// The way from the parent.
    pub outcomes: Outcomes,
}

/// A node: an event on a path.
#[derive(Clone, Debug)]
pub struct Node<S, W: RowWidth> {
    parent: NodeId,
    first_child: NodeId,
    next_sibling: NodeId,
    key: Key,
    /// Whose event.
    pub thread: u16,
    /// Index in program order.
    pub index: u32,
    /// The event's number.
    pub event: EventId,
    /// What it is.
    pub kind: Kind,
    /// Annotation of the access.
    pub ann: Ann,
    /// Whether it is part of a read-modify-write.
    pub half: Half,
    /// For the read of a compare-exchange: when it fails and how it is annotated then.
    pub failure: Option<CasRead>,
    /// For the write of a read-modify-write: the event of its read.
    pub partner: EventId,
    /// The nearest earlier access or skipped store of the thread to the same cell.
    same_loc: NodeId,
    /// Earlier accesses of the thread to the same cell, where the model looks at dependencies.
    pub po_loc: Row<W>,
    /// Earlier skipped stores of the thread to the same cell.
    pub skipped_loc: Row<W>,
    /// Where the thread may be back at a read: one more than the index of its last event at the same operation, 0 if none.
    pub same_pc: u32,
    /// What the model derived from the path.
    pub statics: S,
    /// What the path up to here means for later events. Where that is cheap to find again, only some nodes keep it.
    facts: Option<Box<Facts<W>>>,
    /// How many objects the thread had made before the event.
    made: u32,
    /// How many fences stand before the event on its path.
    fence_count: u32,
    /// The reservation that was held before the event.
    reservation: Option<(EventId, LocId)>,
    /// For a piece of a path that changes nothing: the node that stands for the path with it.
    alias: NodeId,
}

impl<S: Default, W: RowWidth> Node<S, W> {
    /// A node of which no more is known than where it stands.
    fn new(parent: NodeId, key: Key, thread: u16, index: u32) -> Node<S, W> {
        Node {
            parent,
            first_child: NO_NODE,
            next_sibling: NO_NODE,
            key,
            thread,
            index,
            event: INIT,
            kind: Kind::Segment,
            ann: Ann::PLAIN,
            half: Half::None,
            failure: None,
            partner: INIT,
            same_loc: NO_NODE,
            po_loc: Row::EMPTY,
            skipped_loc: Row::EMPTY,
            same_pc: 0,
            statics: S::default(),
            facts: None,
            made: 0,
            fence_count: 0,
            reservation: None,
            alias: NO_NODE,
        }
    }
}

impl<S, W: RowWidth> Node<S, W> {
    /// The operation.
    #[inline(always)]
    pub fn pc(&self) -> Pc {
        self.key.pc
    }

    /// The cell.
    #[inline(always)]
    pub fn loc(&self) -> LocId {
        self.key.loc
    }

    /// How many objects the thread had made before the event.
    pub fn made(&self) -> u32 {
        self.made
    }

    fn is_segment(&self) -> bool {
        (FIRST_SEGMENT..NO_LOC).contains(&self.key.loc)
    }
}

/// What a path means for the events after it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts<W: RowWidth> {
    /// Per register: the reads, and choices, that its value depends on. Empty if the model needs no dependencies.
    deps: Vec<Row<W>>,
    /// Per register: the reads that only picked its value.
    picks: Vec<Row<W>>,
    /// Reads that a branch depended on.
    pub ctrl: Row<W>,
    /// Reads that picked a value that a branch depended on.
    pub ctrl_pick: Row<W>,
    /// Reads that an earlier address depended on.
    pub addr_po: Row<W>,
    /// Reads that picked the address of an earlier access.
    pub picked_addr: Row<W>,
    /// All earlier events.
    pub events: Row<W>,
    /// All earlier reads.
    pub reads: Row<W>,
    /// All earlier writes.
    pub writes: Row<W>,
    /// Earlier skipped stores: the commit-before order treats them as stores, since a revisit may turn them into some.
    pub skipped: Row<W>,
    /// Earlier choices. They are among the dependencies, for the commit-before order only.
    pub choices: Row<W>,
    /// Earlier events that belong to a read-modify-write by one instruction.
    pub amos: Row<W>,
    /// Earlier writes of such read-modify-writes whose read is an acquire and whose write is a release.
    pub amo_barriers: Row<W>,
    /// Earlier writes of compare-exchanges that might have failed.
    pub doubtful_writes: Row<W>,
    /// Earlier reads of such compare-exchanges whose annotation would have been another one then.
    pub doubtful_reads: Row<W>,
    /// Earlier reads of compare-exchanges, however they ended.
    pub exchanges: Row<W>,
    /// Earlier accesses by their annotation, as far as it is not plain.
    annotated: Vec<(Ann, Row<W>)>,
    /// Per kind of fence passed: what stood before the last one.
    pub fences: Vec<FenceFacts<W>>,
    fence_count: u32,
    /// Earlier events that start or join threads.
    pub syncs: Row<W>,
    reservation: Option<(EventId, LocId)>,
    /// How many objects the thread has made.
    made: u32,
    /// The current frame, and for each frame below it where it is, where to go on there, and where the result goes.
    fp: usize,
    frames: Vec<(usize, Pc, u16)>,
    last_amo_read: EventId,
    amo_acquires: bool,
    amo_may_fail: bool,
}

/// What stood before the last fence of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct FenceFacts<W: RowWidth> {
    /// The kind.
    pub fence: Fence,
    /// How many fences stand before it on the path.
    pub number: u32,
    /// All events before it.
    pub events: Row<W>,
    /// Reads that it is control-dependent on.
    pub ctrl: Row<W>,
    /// Reads that an address before it depended on.
    pub addr_po: Row<W>,
    /// Reads that picked whether it is there, or the address of an access before it.
    pub picked: Row<W>,
}

/// A new event as a model sees it when the node is made.
pub struct Place<'a, S, W: RowWidth> {
    /// The first event of its thread.
    pub first: EventId,
    /// What it is.
    pub kind: Kind,
    /// Annotation.
    pub ann: Ann,
    /// Part of a read-modify-write?
    pub half: Half,
    /// Earlier accesses to the same cell, where the model looks at dependencies.
    pub po_loc: Row<W>,
    /// Earlier skipped stores to the same cell.
    pub skipped_loc: Row<W>,
    /// The nearest earlier access of the thread to the same cell, and what the model knew of it.
    pub same_loc: Option<&'a Node<S, W>>,
    /// The nearest earlier write of the thread to the same cell.
    pub last_write: EventId,
    /// Reads its address depends on.
    pub addr: Row<W>,
    /// Reads its value depends on.
    pub data: Row<W>,
    /// Reads that picked its value or let it happen.
    pub pick: Row<W>,
    /// The path before it.
    pub facts: &'a Facts<W>,
    /// The earlier events of the thread, by number.
    pub earlier: &'a dyn Fn(EventId) -> Option<&'a Node<S, W>>,
}

impl<W: RowWidth> Facts<W> {
    /// Events before the last fence that satisfies the predicate.
    pub fn before_fence(&self, is: impl Fn(Fence) -> bool) -> Row<W> {
        self.fences.iter().filter(|f| is(f.fence)).fold(Row::EMPTY, |row, f| row | &f.events)
    }

    /// Earlier accesses whose annotation satisfies the predicate.
    pub fn annotated(&self, is: impl Fn(Ann) -> bool) -> Row<W> {
        self.annotated.iter().filter(|(ann, _)| is(*ann)).fold(Row::EMPTY, |row, (_, events)| row | events)
    }

    fn dep(&self, a: Arg) -> Row<W> {
        match a {
            Arg::Reg(r) => self.deps.get(self.fp + r as usize).cloned().unwrap_or_default(),
            Arg::Const(_) => Row::EMPTY,
        }
    }

    fn pick(&self, a: Arg) -> Row<W> {
        match a {
            Arg::Reg(r) => self.picks.get(self.fp + r as usize).cloned().unwrap_or_default(),
            Arg::Const(_) => Row::EMPTY,
        }
    }

    fn set(&mut self, dst: u16, deps: Row<W>, picks: Row<W>) {
        if dst != 0 && !self.deps.is_empty() {
            self.deps[self.fp + dst as usize] = deps;
            self.picks[self.fp + dst as usize] = picks;
        }
    }

    /// A frame for `function`, whose parameters depend on what the arguments depend on.
    fn enter(&mut self, code: &Code, frame: usize, function: u32, args: &[Arg], back: Pc, dst: u16) {
        let callee = code.functions[function as usize];
        if !self.deps.is_empty() {
            let rows: Vec<_> = args.iter().map(|&a| (self.dep(a), self.pick(a))).collect();
            let end = frame + callee.frame as usize;
            self.deps.truncate(frame);
            self.picks.truncate(frame);
            self.deps.resize(end, Row::EMPTY);
            self.picks.resize(end, Row::EMPTY);
            for (i, (deps, picks)) in rows.into_iter().take(callee.params as usize).enumerate() {
                self.deps[frame + FRAME + i] = deps;
                self.picks[frame + FRAME + i] = picks;
            }
        }
        self.frames.push((self.fp, back, dst));
        self.fp = frame;
    }

    /// A call: the next operation, if the callee is known here.
    fn call(&mut self, code: &Code, pc: Pc, callee: Option<u32>) -> Option<Pc> {
        let Op::Call { dst, target, args } = code.ops[pc as usize] else { return None };
        let function = match target {
            Target::Function(function) => function,
            Target::Pointer(pointer) => {
                // Which function runs depends on the pointer as on a branch.
                self.ctrl |= self.dep(pointer);
                self.ctrl_pick |= self.pick(pointer);
                callee?
            }
        };
        let current = code.source[pc as usize].0;
        let frame = self.fp + code.functions[current as usize].frame as usize;
        self.enter(code, frame, function, &code.lists[args as usize], pc + 1, dst);
        Some(code.functions[function as usize].entry)
    }

    fn leave(&mut self, value: Option<Arg>) -> Option<Pc> {
        let (deps, picks) = value.map_or((Row::EMPTY, Row::EMPTY), |v| (self.dep(v), self.pick(v)));
        let (fp, back, dst) = self.frames.pop()?;
        self.fp = fp;
        self.set(dst, deps, picks);
        Some(back)
    }

    /// One local operation, given the outcome if it is a branch or a select.
    fn local(&mut self, op: &Op, outcome: impl FnOnce() -> bool) -> Option<Pc> {
        let effect = op.effect();
        let uses = || effect.uses.into_iter().flatten();
        self.made += u32::from(effect.makes);
        match effect.flow {
            // Where nobody asks for dependencies, a register has none.
            Flow::Operands | Flow::Constant | Flow::Modified | Flow::Picked | Flow::Control
                if self.deps.is_empty() => {}
            Flow::Operands => {
                let deps = uses().fold(Row::EMPTY, |row, a| row | self.dep(a));
                let picks = uses().fold(Row::EMPTY, |row, a| row | self.pick(a));
                self.set(effect.defines, deps, picks)
            }
            Flow::Constant => self.set(effect.defines, Row::EMPTY, Row::EMPTY),
            Flow::Modified => {
                let Op::Modify { op, old, operand, .. } = *op else { return None };
                let mut deps = self.dep(operand);
                if op != RmwOp::Exchange {
                    deps |= self.dep(Arg::Reg(old));
                }
                self.set(effect.defines, deps, self.pick(operand))
            }
            Flow::Selected => {
                let Op::Select { condition, a, b, .. } = *op else { return None };
                let chosen = if outcome() { a } else { b };
                let picks = self.dep(condition) | self.pick(condition) | self.pick(chosen);
                self.set(effect.defines, self.dep(chosen), picks);
                return None;
            }
            Flow::Picked => {
                let Op::Picked { by, .. } = *op else { return None };
                let picks = self.dep(by) | self.pick(by);
                self.set(effect.defines, Row::EMPTY, picks)
            }
            Flow::Control => {
                for a in uses() {
                    self.ctrl |= self.dep(a);
                    self.ctrl_pick |= self.pick(a);
                }
            }
            Flow::Fence => {
                if let Op::Fence(fence) = *op {
                    self.fence(fence);
                }
            }
            Flow::None => {}
        }
        match effect.goes {
            Goes::To(target) => Some(target),
            Goes::Either(then_to, else_to) => Some(if outcome() { then_to } else { else_to }),
            Goes::OnOr(else_to) => (!outcome()).then_some(else_to),
            Goes::On | Goes::Nowhere => None,
        }
    }

    /// A private object is like registers: what is read has the dependencies of what was written, and of the address,
    /// which chose among the cells.
    fn private_access(&mut self, op: &Op, word: usize) {
        match *op {
            Op::PrivateLoad { dst, addr, .. } => {
                self.addr_po |= self.dep(addr);
                self.set(dst, &self.deps[word] | self.dep(addr), &self.picks[word] | self.pick(addr));
            }
            Op::PrivateStore { addr, value, .. } => {
                self.addr_po |= self.dep(addr);
                self.deps[word] = self.dep(value) | self.dep(addr);
                self.picks[word] = self.pick(value) | self.pick(addr);
            }
            _ => {}
        }
    }

    fn fence(&mut self, fence: Fence) {
        let (events, ctrl, addr_po) = (self.events.clone(), self.ctrl.clone(), self.addr_po.clone());
        let picked = &self.ctrl_pick | &self.picked_addr;
        let facts = FenceFacts { fence, number: self.fence_count, events, ctrl, addr_po, picked };
        self.fence_count += 1;
        match self.fences.iter_mut().find(|f| f.fence == fence) {
            Some(old) => *old = facts,
            None => self.fences.push(facts),
        }
    }

    /// The effect of an event on what comes after it.
    fn pass(&mut self, op: &Op, event: EventId, loc: LocId) {
        let me = Row::single(event as usize);
        let Effect { event: kind, defines: dst, .. } = op.effect();
        match kind {
            Some(Kind::Read) => self.pass_read(op, event, loc),
            Some(Kind::Write) => self.pass_write(op, event),
            Some(Kind::Choice) => {
                // A choice orders nothing, but what depends on it cannot be committed without it.
                self.set(dst, me.clone(), Row::EMPTY);
                self.choices |= &me;
            }
            // The birth of an object is an event of its own that orders nothing.
            Some(Kind::Skip) if matches!(op, Op::Birth) => {}
            Some(Kind::Skip) => self.skipped |= &me,
            Some(Kind::Fence(fence)) => self.fence(fence),
            Some(Kind::Spawn | Kind::Join) => {
                self.set(dst, Row::EMPTY, Row::EMPTY);
                self.syncs |= &me;
            }
            Some(Kind::Free) => {}
            Some(Kind::Segment) | None => debug_assert!(false, "{op:?} is no event"),
        }
        self.events |= me;
    }

    fn pass_read(&mut self, op: &Op, event: EventId, loc: LocId) {
        let (dst, addr, ann, half, exchange) = match *op {
            Op::Load { dst, addr, ann, half, failure, .. } => (dst, addr, ann, half, failure),
            Op::LoadPiece { dst, addr, ann, .. } => (dst, addr, ann, Half::None, None),
            _ => return,
        };
        let me = Row::single(event as usize);
        let other = exchange.and_then(|exchange| exchange.other);
        self.amo_may_fail = other.is_some();
        if exchange.is_some() {
            self.exchanges |= &me;
        }
        if other.is_some_and(|(_, other)| other != ann) {
            self.doubtful_reads |= &me;
        }
        self.addr_po |= self.dep(addr);
        self.picked_addr |= self.pick(addr);
        self.set(dst, me.clone(), Row::EMPTY);
        self.reads |= me;
        self.note(event, ann, half);
        match half {
            Half::Exclusive => self.reservation = Some((event, loc)),
            Half::Amo | Half::Waiting => {
                self.last_amo_read = event;
                self.amo_acquires = ann.order.acquires() && !ann.no_return;
            }
            Half::None => {}
        }
    }

    fn pass_write(&mut self, op: &Op, event: EventId) {
        let (addr, ann, half) = match *op {
            Op::Store { addr, ann, half, .. } => (addr, ann, half),
            Op::StorePiece { addr, ann, .. } => (addr, ann, Half::None),
            _ => return,
        };
        self.addr_po |= self.dep(addr);
        self.picked_addr |= self.pick(addr);
        self.writes.insert(event as usize);
        self.note(event, ann, half);
        match half {
            Half::Exclusive => self.reservation = None,
            Half::Amo if self.amo_may_fail => {
                self.doubtful_writes.insert(event as usize);
                if ann.order.releases() && self.amo_acquires {
                    self.amo_barriers.insert(event as usize);
                }
            }
            Half::Amo if ann.order.releases() && self.amo_acquires => {
                self.amo_barriers.insert(event as usize);
            }
            Half::Amo | Half::Waiting | Half::None => {}
        }
    }

    fn note(&mut self, event: EventId, ann: Ann, half: Half) {
        if ann != Ann::PLAIN {
            match self.annotated.iter_mut().find(|(other, _)| *other == ann) {
                Some((_, events)) => events.insert(event as usize),
                None => self.annotated.push((ann, Row::single(event as usize))),
            }
        }
        if matches!(half, Half::Amo | Half::Waiting) {
            self.amos.insert(event as usize);
        }
    }
}
