//! The trie of control-flow paths: what is the same for every visit of an access on the same path, computed once.
//!
//! A node is an access (or choice, or fence event) of one thread, identified by its parent, its operation, the cell it
//! accesses and the outcomes of the branches since the parent. Everything syntactic follows from that: dependencies,
//! fences in between, earlier accesses to the same cell, reservations. A model turns it into its own static rows when
//! the node is made; during exploration they are only read.

use crate::code::{Arg, CasRead, Half, Op, Pc, RESERVATION, ThreadCode};
use crate::memory::{LocId, NO_LOC};
use crate::model::MemoryModel;
use crate::row::Row;
use fencepost_ir::{Ann, Fence};
use std::cell::Cell;

/// A node of the trie, by number.
pub type NodeId = u32;

/// No node.
pub const NO_NODE: NodeId = NodeId::MAX;

/// An event: the base of its thread plus its index in program order.
pub type EventId = u16;

/// No event; as a reads-from source it is the initial write.
pub const INIT: EventId = EventId::MAX;

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
pub struct Node<S, const W: usize> {
    parent: NodeId,
    first_child: NodeId,
    next_sibling: NodeId,
    key: Key,
    /// Whose event.
    pub thread: u16,
    /// Index in program order.
    pub index: u16,
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
    /// Earlier accesses of the thread to the same cell.
    pub po_loc: Row<W>,
    /// Earlier skipped stores of the thread to the same cell.
    pub skipped_loc: Row<W>,
    /// What the model derived from the path.
    pub statics: S,
    /// What the path up to here means for later events.
    facts: Box<Facts<W>>,
}

impl<S, const W: usize> Node<S, W> {
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
}

/// What a path means for the events after it.
#[derive(Clone, Debug, Default)]
pub struct Facts<const W: usize> {
    /// Per register: the reads that its value depends on. Empty if the model needs no dependencies.
    deps: Vec<Row<W>>,
    /// Per register: the reads that only picked its value.
    picks: Vec<Row<W>>,
    /// Reads that a branch depended on.
    pub ctrl: Row<W>,
    /// Reads that picked a value that a branch depended on.
    pub ctrl_pick: Row<W>,
    /// Reads that an earlier address depended on.
    pub addr_po: Row<W>,
    /// Reads that an earlier read depended on through a pick.
    pub picked_reads: Row<W>,
    /// All earlier events.
    pub events: Row<W>,
    /// All earlier reads.
    pub reads: Row<W>,
    /// All earlier writes.
    pub writes: Row<W>,
    /// Earlier skipped stores: the commit-before order treats them as stores, since a revisit may turn them into some.
    pub skipped: Row<W>,
    /// Earlier events that belong to a read-modify-write by one instruction.
    pub amos: Row<W>,
    /// Earlier writes of such read-modify-writes whose read is an acquire and whose write is a release.
    pub amo_barriers: Row<W>,
    /// Earlier accesses with their annotation, as far as it is not plain.
    pub annotated: Vec<(EventId, Ann)>,
    /// Per kind of fence passed: what stood before the last one.
    pub fences: Vec<FenceFacts<W>>,
    fence_count: u32,
    reservation: Option<(EventId, LocId)>,
    last_amo_read: EventId,
    amo_acquires: bool,
}

/// What stood before the last fence of a kind.
#[derive(Clone, Copy, Debug)]
pub struct FenceFacts<const W: usize> {
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
    /// Reads that it, or a read before it, depends on through a pick.
    pub picked: Row<W>,
}

/// A new event as a model sees it when the node is made.
pub struct Place<'a, const W: usize> {
    /// The event's number.
    pub event: EventId,
    /// What it is.
    pub kind: Kind,
    /// Annotation.
    pub ann: Ann,
    /// Part of a read-modify-write?
    pub half: Half,
    /// For the write of a read-modify-write: its read.
    pub partner: EventId,
    /// Earlier accesses to the same cell.
    pub po_loc: Row<W>,
    /// Earlier skipped stores to the same cell.
    pub skipped_loc: Row<W>,
    /// Reads its address depends on.
    pub addr: Row<W>,
    /// Reads its value depends on.
    pub data: Row<W>,
    /// Reads that picked its value or let it happen.
    pub pick: Row<W>,
    /// The path before it.
    pub facts: &'a Facts<W>,
}

impl<const W: usize> Facts<W> {
    /// Events before the last fence that satisfies the predicate.
    pub fn before_fence(&self, is: impl Fn(Fence) -> bool) -> Row<W> {
        self.fences.iter().filter(|f| is(f.fence)).fold(Row::EMPTY, |row, f| row | f.events)
    }

    /// Earlier accesses whose annotation satisfies the predicate.
    pub fn annotated(&self, is: impl Fn(Ann) -> bool) -> Row<W> {
        self.annotated
            .iter()
            .filter(|(_, ann)| is(*ann))
            .fold(Row::EMPTY, |r, (e, _)| r | Row::single(*e as usize))
    }

    fn dep(&self, a: Arg) -> Row<W> {
        match a {
            Arg::Reg(r) => self.deps.get(r as usize).copied().unwrap_or_default(),
            Arg::Const(_) => Row::EMPTY,
        }
    }

    fn pick(&self, a: Arg) -> Row<W> {
        match a {
            Arg::Reg(r) => self.picks.get(r as usize).copied().unwrap_or_default(),
            Arg::Const(_) => Row::EMPTY,
        }
    }

    fn set(&mut self, dst: u16, deps: Row<W>, picks: Row<W>) {
        // The reservation is no data: it carries no dependency.
        if dst != RESERVATION && !self.deps.is_empty() {
            self.deps[dst as usize] = deps;
            self.picks[dst as usize] = picks;
        }
    }

    /// One local operation, given the outcome if it is a branch or a select.
    fn local(&mut self, op: &Op, outcome: impl FnOnce() -> bool) -> Option<Pc> {
        match *op {
            Op::Move { dst, a } | Op::Unary { dst, a, .. } => self.set(dst, self.dep(a), self.pick(a)),
            Op::Binary { dst, a, b, .. } => {
                self.set(dst, self.dep(a) | self.dep(b), self.pick(a) | self.pick(b))
            }
            Op::Modify { dst, operand, .. } => {
                // The old value reaches the new one inside the instruction: `rmw`, not `data`.
                self.set(dst, self.dep(operand), self.pick(operand))
            }
            Op::Select { dst, condition, a, b } => {
                let chosen = if outcome() { a } else { b };
                let picks = self.dep(condition) | self.pick(condition) | self.pick(chosen);
                self.set(dst, self.dep(chosen), picks)
            }
            Op::Jump(target) => return Some(target),
            Op::Branch { condition, then_to, else_to, internal } => {
                if !internal {
                    self.ctrl |= self.dep(condition);
                    self.ctrl_pick |= self.pick(condition);
                }
                return Some(if outcome() { then_to } else { else_to });
            }
            Op::BranchReserved { else_to, .. } => return (!outcome()).then_some(else_to),
            Op::Fence(fence) => self.fence(fence),
            _ => {}
        }
        None
    }

    fn fence(&mut self, fence: Fence) {
        let (events, ctrl, addr_po) = (self.events, self.ctrl, self.addr_po);
        let picked = self.ctrl_pick | self.picked_reads;
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
        match *op {
            Op::Load { dst, addr, ann, half, .. } => {
                self.addr_po |= self.dep(addr);
                self.picked_reads |= self.pick(addr) | self.ctrl_pick;
                self.set(dst, me, Row::EMPTY);
                self.reads |= me;
                self.note(event, ann, half);
                match half {
                    Half::Exclusive => self.reservation = Some((event, loc)),
                    Half::Amo => {
                        self.last_amo_read = event;
                        self.amo_acquires = ann.order.acquires() && !ann.no_return;
                    }
                    Half::None => {}
                }
            }
            Op::Store { addr, ann, half, .. } => {
                self.addr_po |= self.dep(addr);
                self.writes |= me;
                self.note(event, ann, half);
                match half {
                    Half::Exclusive => self.reservation = None,
                    Half::Amo if ann.order.releases() && self.amo_acquires => self.amo_barriers |= me,
                    _ => {}
                }
            }
            Op::Choice { dst, .. } => self.set(dst, Row::EMPTY, Row::EMPTY),
            Op::Skip { .. } => self.skipped |= me,
            Op::Fence(fence) => self.fence(fence),
            _ => {}
        }
        self.events |= me;
    }

    fn note(&mut self, event: EventId, ann: Ann, half: Half) {
        if ann != Ann::PLAIN {
            self.annotated.push((event, ann));
        }
        if half == Half::Amo {
            self.amos.insert(event as usize);
        }
    }
}

/// The trie of one worker.
#[derive(Clone)]
pub struct Trie<M: MemoryModel<W>, const W: usize> {
    nodes: Vec<Node<M::Static, W>>,
    /// First event of each thread.
    base: Vec<EventId>,
    model: M,
}

impl<M: MemoryModel<W>, const W: usize> Trie<M, W> {
    /// One root per thread; node `t` is the root of thread `t`.
    pub fn new(threads: &[ThreadCode], base: &[EventId], model: M) -> Trie<M, W> {
        let nodes = threads.iter().enumerate().map(|(t, code)| {
            let regs = if M::DEPENDENCIES { code.regs } else { 0 };
            let facts = Facts {
                deps: vec![Row::EMPTY; regs],
                picks: vec![Row::EMPTY; regs],
                last_amo_read: INIT,
                ..Facts::default()
            };
            let key = Key { pc: 0, loc: NO_LOC, outcomes: Outcomes::NONE };
            Node {
                parent: NO_NODE,
                first_child: NO_NODE,
                next_sibling: NO_NODE,
                key,
                thread: t as u16,
                index: 0,
                event: INIT,
                kind: Kind::Segment,
                ann: Ann::PLAIN,
                half: Half::None,
                failure: None,
                partner: INIT,
                po_loc: Row::EMPTY,
                skipped_loc: Row::EMPTY,
                statics: M::Static::default(),
                facts: Box::new(facts),
            }
        });
        Trie { nodes: nodes.collect(), base: base.to_vec(), model }
    }

    /// The node of that number.
    #[inline(always)]
    pub fn node(&self, id: NodeId) -> &Node<M::Static, W> {
        &self.nodes[id as usize]
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The child that this key leads to; made when it is met for the first time.
    #[inline(always)]
    pub fn child(&mut self, parent: NodeId, key: Key, code: &ThreadCode) -> NodeId {
        let mut child = self.nodes[parent as usize].first_child;
        while child != NO_NODE {
            let node = &self.nodes[child as usize];
            if node.key == key {
                return child;
            }
            child = node.next_sibling;
        }
        self.make(parent, key, code)
    }

    #[cold]
    fn make(&mut self, parent_id: NodeId, key: Key, code: &ThreadCode) -> NodeId {
        let parent = &self.nodes[parent_id as usize];
        let facts = self.facts_at(parent, key, code);
        let index = parent.index + u16::from(parent.kind != Kind::Segment);
        let mut node = Node {
            parent: parent_id,
            first_child: NO_NODE,
            next_sibling: parent.first_child,
            key,
            thread: parent.thread,
            index,
            event: self.base[parent.thread as usize] + index,
            kind: Kind::Segment,
            ann: Ann::PLAIN,
            half: Half::None,
            failure: None,
            partner: INIT,
            po_loc: Row::EMPTY,
            skipped_loc: Row::EMPTY,
            statics: M::Static::default(),
            facts: Box::new(facts),
        };
        if !key.outcomes.is_full() {
            self.describe(parent_id, &mut node, code);
        }
        let id = self.nodes.len() as NodeId;
        self.nodes.push(node);
        self.nodes[parent_id as usize].first_child = id;
        id
    }

    /// Walks the operations from the parent to the key's operation, with the outcomes of the key. The first operation
    /// that stops the interpreter is the key's; a segment ends where its outcomes are used up.
    fn facts_at(&self, parent: &Node<M::Static, W>, key: Key, code: &ThreadCode) -> Facts<W> {
        let mut facts = (*parent.facts).clone();
        let mut pc = parent.key.pc;
        if parent.kind != Kind::Segment {
            facts.pass(&code.ops[pc as usize], parent.event, parent.key.loc);
            pc += 1;
        }
        let left = Cell::new(63 - key.outcomes.0.leading_zeros());
        let outcome = || {
            left.set(left.get() - 1);
            key.outcomes.0 >> left.get() & 1 != 0
        };
        let used_up = || key.outcomes.is_full() && left.get() == 0;
        while !used_up() {
            let op = &code.ops[pc as usize];
            if op.is_event() && !self.skips(op) {
                break;
            }
            pc = facts.local(op, outcome).unwrap_or(pc + 1);
        }
        facts
    }

    fn skips(&self, op: &Op) -> bool {
        match op {
            Op::Fence(fence) => !self.model.is_event(*fence),
            Op::Skip { .. } => !M::OUT_OF_ORDER,
            _ => false,
        }
    }

    fn describe(&self, parent: NodeId, node: &mut Node<M::Static, W>, code: &ThreadCode) {
        let facts = &node.facts;
        let (mut addr_row, mut data, mut pick) = (Row::EMPTY, Row::EMPTY, facts.ctrl_pick);
        match code.ops[node.key.pc as usize] {
            Op::Load { addr, ann, half, failure, .. } => {
                (node.kind, node.ann, node.half, node.failure) = (Kind::Read, ann, half, failure);
                addr_row = facts.dep(addr);
                pick |= facts.pick(addr);
            }
            Op::Store { addr, value, ann, half, pick: picked, .. } => {
                (node.kind, node.ann, node.half) = (Kind::Write, ann, half);
                addr_row = facts.dep(addr);
                data = facts.dep(value);
                pick |= facts.pick(value) | facts.pick(addr);
                if let Some(picked) = picked {
                    pick |= facts.dep(picked) | facts.pick(picked);
                }
                node.partner = match half {
                    Half::None => INIT,
                    Half::Amo => facts.last_amo_read,
                    Half::Exclusive => facts.reservation.map_or(INIT, |(event, _)| event),
                };
            }
            Op::Choice { .. } => node.kind = Kind::Choice,
            Op::Skip { .. } => node.kind = Kind::Skip,
            Op::Fence(fence) => node.kind = Kind::Fence(fence),
            _ => {}
        }
        (node.po_loc, node.skipped_loc) = self.same_location_before(parent, node.key.loc);
        let place = Place {
            event: node.event,
            kind: node.kind,
            ann: node.ann,
            half: node.half,
            partner: node.partner,
            po_loc: node.po_loc,
            skipped_loc: node.skipped_loc,
            addr: addr_row,
            data,
            pick,
            facts,
        };
        node.statics = self.model.statics(&place);
    }

    /// Accesses and skipped stores at the cell: the nearest ancestor there knows the earlier ones.
    fn same_location_before(&self, mut at: NodeId, loc: LocId) -> (Row<W>, Row<W>) {
        while at != NO_NODE && loc != NO_LOC {
            let node = &self.nodes[at as usize];
            if node.key.loc == loc {
                let me = Row::single(node.event as usize);
                return match node.kind {
                    Kind::Skip => (node.po_loc, node.skipped_loc | me),
                    _ => (node.po_loc | me, node.skipped_loc),
                };
            }
            at = node.parent;
        }
        (Row::EMPTY, Row::EMPTY)
    }
}
