//! The nodes of the path trie of one worker, and what is done so that they do not grow without bound.
//!
//! * Nodes that no graph stands on are forgotten when there are many ([`Trie::forget_all_but`]); a path that is met again is
//!   made again.
//! * Where a model has no dependencies, what a path means for later events is cheap to find again, and only some nodes keep it.
//! * A long way through local branches is cut into segments. One that changes nothing about what the path means leads to the
//!   segment that it began with, so that a loop that computes needs a few nodes however long it runs.
//! * Work for another worker takes the nodes along that its graph stands on, and no others ([`Trie::extract`]).

use super::{
    EventId, Facts, FenceFacts, INIT, Key, Kind, NO_NODE, Node, NodeId, Outcomes, Place, SEGMENT_CALL,
    SEGMENT_FULL, SEGMENT_PRIVATE,
};
use crate::models::model::MemoryModel;
use crate::search::row::{Row, RowWidth};
use crate::threads::code::{Arg, Code, HIDDEN, Half, Op, Pc, Target};
use crate::threads::memory::{LocId, NO_LOC};
use rustc_hash::FxHashSet;
use std::cell::Cell;

/// Nodes of all workers beyond which those are looked for that nobody needs: few in debug builds, so that tests see it happen.
const CROWD: usize = if cfg!(debug_assertions) { 1 << 6 } else { 1 << 14 };

/// One node in so many keeps what its path means; the others find it again from there.
const MILESTONE: u32 = 16;

/// Ends of segments that are remembered to lead to the same node as others.
const ALIASES: usize = 1 << 12;

/// How far back an earlier event at the same operation is looked for.
const LOOK_BACK: usize = 1024;

/// The trie of one worker.
pub struct Trie<M: MemoryModel<W>, W: RowWidth> {
    nodes: Vec<Node<M::Static, W>>,
    /// Numbers of nodes that were forgotten.
    free: Vec<NodeId>,
    /// How many nodes there may be before some are forgotten, and at least that many.
    limit: usize,
    crowd: usize,
    aliases: usize,
    /// Cells that some node of a thread accesses.
    met: FxHashSet<(u16, LocId)>,
    /// First event of each thread.
    base: Vec<EventId>,
    model: M,
}

impl<M: MemoryModel<W>, W: RowWidth> Trie<M, W> {
    /// One root per thread; node `t` is the root of thread `t`. As many workers share the room that there is for nodes.
    pub fn new(threads: usize, base: &[EventId], model: M, workers: usize) -> Trie<M, W> {
        // If they are many, each has room for an eighth.
        let crowd = CROWD / workers.min(8);
        let nodes = (0..threads).map(|t| {
            let regs = if M::DEPENDENCIES { HIDDEN } else { 0 };
            let facts = Facts {
                deps: vec![Row::EMPTY; regs],
                picks: vec![Row::EMPTY; regs],
                last_amo_read: INIT,
                ..Facts::default()
            };
            let key = Key { pc: 0, loc: NO_LOC, outcomes: Outcomes::NONE };
            Node { event: INIT, facts: Some(Box::new(facts)), ..Node::new(NO_NODE, key, t as u16, 0) }
        });
        Trie {
            nodes: nodes.collect(),
            free: Vec::new(),
            limit: crowd,
            crowd,
            aliases: 0,
            met: FxHashSet::default(),
            base: base.to_vec(),
            model,
        }
    }

    /// The node of that number.
    #[inline(always)]
    pub fn node(&self, id: NodeId) -> &Node<M::Static, W> {
        &self.nodes[id as usize]
    }

    /// The first event of a thread.
    #[inline(always)]
    pub fn first_event(&self, thread: usize) -> EventId {
        self.base[thread]
    }

    /// The child that this key leads to; made when it is met for the first time.
    #[inline(always)]
    pub fn child(&mut self, parent: NodeId, key: Key, code: &Code) -> NodeId {
        let mut child = self.nodes[parent as usize].first_child;
        while child != NO_NODE {
            let node = &self.nodes[child as usize];
            if node.key == key {
                return if node.alias == NO_NODE { child } else { node.alias };
            }
            child = node.next_sibling;
        }
        self.make(parent, key, code)
    }

    /// The node of the same read by another load of its [`Op::Outcome`].
    pub fn read_by(&mut self, id: NodeId, pc: Pc, code: &Code) -> NodeId {
        let node = self.node(id);
        let (parent, key) = (node.parent, Key { pc, ..node.key });
        self.child(parent, key, code)
    }

    /// The model that the nodes are described for.
    pub fn model(&self) -> &M {
        &self.model
    }

    #[cold]
    fn make(&mut self, parent_id: NodeId, key: Key, code: &Code) -> NodeId {
        let facts = self.facts_for_child(parent_id, key, code);
        let parent = &self.nodes[parent_id as usize];
        let facts = self.follow(facts, parent, key, code);
        let index = parent.index + u32::from(parent.kind != Kind::Segment);
        let event = self.base[parent.thread as usize] + index;
        let mut node = Node { event, ..Node::new(parent_id, key, parent.thread, index) };
        (node.made, node.reservation) = (facts.made, facts.reservation);
        node.fence_count = facts.fence_count;
        if key.loc == SEGMENT_FULL
            && let Some(same) = self.same_segment(parent_id, key.pc, &facts, code)
        {
            if self.aliases < ALIASES {
                self.aliases += 1;
                self.insert(Node { alias: same, ..node });
            }
            return same;
        }
        if !node.is_segment() {
            code.reached.mark(key.pc);
            self.describe(parent_id, &mut node, &facts, code);
            if key.loc != NO_LOC {
                self.met.insert((node.thread, key.loc));
            }
        }
        node.facts = Some(facts);
        self.insert(node)
    }

    /// Makes a node the first child of its parent.
    fn insert(&mut self, mut node: Node<M::Static, W>) -> NodeId {
        let parent = node.parent as usize;
        node.next_sibling = self.nodes[parent].first_child;
        let id = match self.free.pop() {
            Some(id) => {
                self.nodes[id as usize] = node;
                id
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as NodeId - 1
            }
        };
        self.nodes[parent].first_child = id;
        id
    }

    /// What the path to a node means, to go on from. A node that has but one child need not keep it.
    fn facts_for_child(&mut self, id: NodeId, key: Key, code: &Code) -> Box<Facts<W>> {
        let node = &mut self.nodes[id as usize];
        let keeps = M::DEPENDENCIES
            || node.index.is_multiple_of(MILESTONE)
            || key.loc == SEGMENT_FULL
            || node.first_child != NO_NODE;
        match &node.facts {
            Some(facts) if keeps => facts.clone(),
            Some(_) => node.facts.take().unwrap_or_default(),
            None => {
                let facts = self.facts_of(id, code);
                self.nodes[id as usize].facts = Some(facts.clone());
                facts
            }
        }
    }

    /// What the path to a node means, found again from the nearest node before it that has kept it. Roots have.
    fn facts_of(&self, id: NodeId, code: &Code) -> Box<Facts<W>> {
        let mut path = Vec::new();
        let mut at = id;
        let mut facts = loop {
            let node = self.node(at);
            if let Some(facts) = &node.facts {
                break facts.clone();
            }
            path.push(at);
            at = node.parent;
        };
        for &id in path.iter().rev() {
            let node = self.node(id);
            facts = self.follow(facts, self.node(node.parent), node.key, code);
        }
        facts
    }

    /// A segment that this one continues, which means the same and goes on at the same operation.
    fn same_segment(&self, parent: NodeId, pc: Pc, facts: &Facts<W>, code: &Code) -> Option<NodeId> {
        let mut at = parent;
        loop {
            let node = self.node(at);
            if node.kind != Kind::Segment || node.parent == NO_NODE {
                return None;
            }
            if node.key.pc == pc {
                let same = match &node.facts {
                    Some(own) => **own == *facts,
                    None => *self.facts_of(at, code) == *facts,
                };
                if same {
                    return Some(at);
                }
            }
            at = node.parent;
        }
    }

    /// The calls that are active at a node, innermost first.
    pub fn calls(&self, id: NodeId, code: &Code) -> Vec<Pc> {
        let facts = self.facts_of(id, code);
        facts.frames.iter().rev().filter_map(|&(_, back, _)| back.checked_sub(1)).collect()
    }

    /// Walks the operations from the parent to the key's operation, with the outcomes of the key. The first operation
    /// that stops the interpreter is the key's; a segment ends where its outcomes are used up, or with its call.
    fn follow(
        &self,
        mut facts: Box<Facts<W>>,
        parent: &Node<M::Static, W>,
        key: Key,
        code: &Code,
    ) -> Box<Facts<W>> {
        let mut pc = parent.key.pc;
        if parent.parent == NO_NODE {
            // A thread begins: what its arguments depend on is ordered before it anyway.
            if let Some(function) = code.function_at(key.pc) {
                facts.enter(code, HIDDEN, function, &[], 0, 0);
            }
            facts.frames.clear();
            return facts;
        }
        if parent.kind != Kind::Segment {
            facts.pass(&code.ops[pc as usize], parent.event, parent.key.loc);
            pc += 1;
        }
        let left = Cell::new(63 - key.outcomes.0.leading_zeros());
        let outcome = || {
            left.set(left.get() - 1);
            key.outcomes.0 >> left.get() & 1 != 0
        };
        while !(key.loc == SEGMENT_FULL && left.get() == 0) {
            let op = &code.ops[pc as usize];
            // `free(NULL)` is no event, nor is the end of a thread on every return.
            let here = pc == key.pc && key.loc == NO_LOC && left.get() == 0;
            let perhaps = matches!(op, Op::Free { .. } | Op::EndThread { .. });
            if op.is_event() && if perhaps { here } else { !self.skips(op, code) } {
                break;
            }
            pc = match *op {
                Op::Call { target: Target::Pointer(_), .. } if key.loc == SEGMENT_CALL && left.get() == 0 => {
                    facts.call(code, pc, code.function_at(key.pc));
                    break;
                }
                Op::Call { .. } => facts.call(code, pc, None).unwrap_or(pc + 1),
                Op::Return(value) => facts.leave(value).unwrap_or(pc + 1),
                Op::PrivateLoad { object, .. } | Op::PrivateStore { object, .. } if M::DEPENDENCIES => {
                    if code.privates[object as usize].object.cells.len() > 1 {
                        facts.private_access(op, (SEGMENT_PRIVATE - key.loc) as usize);
                        break;
                    }
                    facts.private_access(op, facts.fp + code.privates[object as usize].at as usize + 1);
                    pc + 1
                }
                Op::Private { object, .. } if M::DEPENDENCIES => {
                    let private = &code.privates[object as usize];
                    let first = facts.fp + private.at as usize;
                    facts.deps[first..first + private.words() as usize].fill(Row::EMPTY);
                    facts.picks[first..first + private.words() as usize].fill(Row::EMPTY);
                    pc + 1
                }
                Op::Outcome { success, failure } => {
                    if key.pc == failure {
                        failure
                    } else {
                        success
                    }
                }
                // The thread went on beyond the bound: the jump back stands before.
                Op::Cut { .. } => pc - 1,
                _ => facts.local(op, outcome).unwrap_or(pc + 1),
            };
        }
        facts
    }

    fn skips(&self, op: &Op, code: &Code) -> bool {
        match op {
            Op::Fence(fence) => !self.model.is_event(*fence),
            Op::Skip { .. } => !code.out_of_order,
            _ => false,
        }
    }

    fn describe(&self, parent: NodeId, node: &mut Node<M::Static, W>, facts: &Facts<W>, code: &Code) {
        let (mut addr_row, mut data, mut pick) = (Row::EMPTY, Row::EMPTY, facts.ctrl_pick.clone());
        let op = &code.ops[node.key.pc as usize];
        node.kind = op.effect().event.unwrap_or(Kind::Segment);
        match *op {
            Op::Load { addr, ann, half, failure, .. } => {
                (node.ann, node.half, node.failure) = (ann, half, failure);
                addr_row = facts.dep(addr);
                pick |= facts.pick(addr);
            }
            Op::Store { addr, value, ann, half, pick: picked, .. } => {
                (node.ann, node.half) = (ann, half);
                addr_row = facts.dep(addr);
                data = facts.dep(value);
                pick |= facts.pick(value) | facts.pick(addr);
                if let Some(picked) = picked {
                    pick |= facts.dep(picked) | facts.pick(picked);
                    // Whether the write of a compare-exchange is there was decided by what it read, too.
                    if M::DEPENDENCIES && facts.last_amo_read != INIT {
                        pick.insert(facts.last_amo_read as usize);
                    }
                }
                node.partner = match half {
                    Half::None | Half::Waiting => INIT,
                    Half::Amo => facts.last_amo_read,
                    Half::Exclusive => facts.reservation.map_or(INIT, |(event, _)| event),
                };
            }
            Op::LoadPiece { addr, ann, .. } => {
                node.ann = ann;
                addr_row = facts.dep(addr);
                pick |= facts.pick(addr);
            }
            Op::StorePiece { addr, value, ann, .. } => {
                node.ann = ann;
                addr_row = facts.dep(addr);
                data = facts.dep(Arg::Reg(value));
                pick |= facts.pick(Arg::Reg(value)) | facts.pick(addr);
            }
            // Of the others the kind says all.
            _ => {}
        }
        node.same_loc = self.same_location_before(parent, node.thread, node.key.loc);
        if M::DEPENDENCIES && node.same_loc != NO_NODE {
            let earlier = self.node(node.same_loc);
            let me = earlier.event as usize;
            (node.po_loc, node.skipped_loc) = match earlier.kind {
                Kind::Skip => (earlier.po_loc.clone(), earlier.skipped_loc.and(me)),
                _ => (earlier.po_loc.and(me), earlier.skipped_loc.clone()),
            };
        }
        if code.live[node.key.pc as usize].is_some() {
            node.same_pc = self.same_operation_before(parent, code.stands_at(node.key.pc), code);
        }
        let earlier = |event: EventId| self.event_before(parent, event);
        let place = Place {
            first: self.base[node.thread as usize],
            kind: node.kind,
            ann: node.ann,
            half: node.half,
            po_loc: node.po_loc.clone(),
            skipped_loc: node.skipped_loc.clone(),
            same_loc: (node.same_loc != NO_NODE).then(|| self.node(node.same_loc)),
            last_write: self.last_write(node.same_loc),
            addr: addr_row,
            data,
            pick,
            facts,
            earlier: &earlier,
        };
        node.statics = self.model.statics(&place);
    }

    /// Whether what a word of the registers depends on at one node, it depends on at a later node of the path too.
    pub fn depends_as_much(&self, then: NodeId, now: NodeId, word: usize) -> bool {
        let (Some(then), Some(now)) = (&self.node(then).facts, &self.node(now).facts) else { return false };
        let within = |then: &[Row<W>], now: &[Row<W>]| match (then.get(word), now.get(word)) {
            (Some(then), Some(now)) => then.is_within(now),
            (Some(then), None) => then.is_empty(),
            (None, _) => true,
        };
        within(&then.deps, &now.deps) && within(&then.picks, &now.picks)
    }

    /// Whether what a path means for later events, dependencies of registers apart, a longer one means too that has other reads
    /// where this one has some.
    pub fn means_no_more(&self, path: NodeId, longer: NodeId, shift: &Shift) -> bool {
        let (Some(a), Some(b)) = (&self.node(path).facts, &self.node(longer).facts) else { return false };
        let pairs = [
            (&a.ctrl, &b.ctrl),
            (&a.ctrl_pick, &b.ctrl_pick),
            (&a.addr_po, &b.addr_po),
            (&a.picked_addr, &b.picked_addr),
        ];
        pairs.into_iter().all(|(a, b)| shift.is_within(a, b))
    }

    /// The same of the dependencies of a word of the registers.
    pub fn depends_no_more(&self, path: NodeId, longer: NodeId, shift: &Shift, word: usize) -> bool {
        let (Some(a), Some(b)) = (&self.node(path).facts, &self.node(longer).facts) else { return false };
        let within = |a: &[Row<W>], b: &[Row<W>]| match (a.get(word), b.get(word)) {
            (Some(a), Some(b)) => shift.is_within(a, b),
            (Some(a), None) => a.is_empty(),
            (None, _) => true,
        };
        within(&a.deps, &b.deps) && within(&a.picks, &b.picks)
    }

    /// Whether the fences between two nodes that follow each other are those between two others, which have later reads where the
    /// former have earlier ones.
    pub fn same_fences(
        &self,
        (from, to): (NodeId, NodeId),
        (later_from, later_to): (NodeId, NodeId),
        shift: &Shift,
        code: &Code,
    ) -> bool {
        let fences = |node: NodeId| self.node(node).fence_count;
        let (first, last) = (fences(from), fences(later_from));
        let count = fences(to) - first;
        if count != fences(later_to) - last {
            return false;
        }
        if count == 0 {
            return true;
        }
        let (a, b) = (self.facts_of(to, code), self.facts_of(later_to, code));
        let mut own = a.fences.iter().filter(|f| f.number >= first);
        // Only the last fence of each kind is known.
        own.clone().count() == count as usize
            && own.all(|f| {
                let is_same = |g: &&FenceFacts<W>| {
                    g.fence == f.fence && g.number.checked_sub(last) == Some(f.number - first)
                };
                b.fences.iter().find(is_same).is_some_and(|g| f.orders_no_more(g, shift))
            })
    }

    /// Whether a read before a node is commit-before whatever its thread writes from there on.
    pub fn is_before_later_writes(&self, read: usize, node: NodeId) -> bool {
        let facts = self.node(node).facts.as_ref();
        facts.is_some_and(|facts| self.model.before_later_writes(facts).contains(read))
    }

    /// Whether the same reservation is held at two nodes.
    pub fn same_reservation(&self, a: NodeId, b: NodeId) -> bool {
        self.node(b).half == Half::Exclusive || self.node(a).reservation == self.node(b).reservation
    }

    /// The nearest access or skipped store at the cell.
    fn same_location_before(&self, mut at: NodeId, thread: u16, loc: LocId) -> NodeId {
        if loc == NO_LOC || !self.met.contains(&(thread, loc)) {
            return NO_NODE;
        }
        while at != NO_NODE && self.node(at).key.loc != loc {
            at = self.node(at).parent;
        }
        at
    }

    /// The event of that number on the way to a node.
    fn event_before(&self, mut at: NodeId, event: EventId) -> Option<&Node<M::Static, W>> {
        while at != NO_NODE {
            let node = self.node(at);
            if node.event == event && node.kind != Kind::Segment {
                return Some(node);
            }
            at = node.parent;
        }
        None
    }

    /// The nearest write among a node and the earlier ones at its cell.
    fn last_write(&self, mut at: NodeId) -> EventId {
        while at != NO_NODE && self.node(at).kind != Kind::Write {
            at = self.node(at).same_loc;
        }
        if at == NO_NODE { INIT } else { self.node(at).event }
    }

    /// One more than the index of the nearest event at the operation.
    fn same_operation_before(&self, mut at: NodeId, pc: Pc, code: &Code) -> u32 {
        for _ in 0..LOOK_BACK {
            if at == NO_NODE {
                break;
            }
            let node = self.node(at);
            if node.kind != Kind::Segment && code.stands_at(node.key.pc) == pc {
                return node.index + 1;
            }
            at = node.parent;
        }
        0
    }

    /// Whether it is time to forget nodes.
    #[inline(always)]
    pub fn is_crowded(&self) -> bool {
        self.nodes.len() - self.free.len() > self.limit
    }

    /// Which nodes the ways to these nodes go through.
    fn marked(&self, used: &[NodeId]) -> Vec<bool> {
        let mut marked = vec![false; self.nodes.len()];
        marked[..self.base.len() - 1].fill(true);
        for &id in used {
            let mut at = id;
            while at != NO_NODE && !std::mem::replace(&mut marked[at as usize], true) {
                at = self.node(at).parent;
            }
        }
        marked
    }

    /// Forgets the nodes that are not on the way to one of `used`.
    #[cold]
    pub fn forget_all_but(&mut self, used: &[NodeId]) {
        let marked = self.marked(used);
        let mut forgotten = vec![false; self.nodes.len()];
        self.free.iter().for_each(|&id| forgotten[id as usize] = true);
        for id in 0..self.nodes.len() {
            self.nodes[id].first_child = NO_NODE;
            if !marked[id] && !forgotten[id] {
                let key = self.nodes[id].key;
                self.nodes[id] = Node::new(NO_NODE, key, 0, 0);
                self.free.push(id as NodeId);
            }
        }
        for id in (0..self.nodes.len()).filter(|&id| marked[id]) {
            let parent = self.nodes[id].parent;
            if parent != NO_NODE {
                self.nodes[id].next_sibling = self.nodes[parent as usize].first_child;
                self.nodes[parent as usize].first_child = id as NodeId;
            }
        }
        self.aliases = 0;
        self.limit = self.crowd.max(2 * (self.nodes.len() - self.free.len()));
    }
}

/// Later reads in the place of earlier ones: those of the same thread that are so many events further on.
#[derive(Clone, Copy, Debug)]
pub struct Shift {
    /// The first of the earlier ones.
    pub first: usize,
    /// How many there are.
    pub reads: usize,
    /// How much later the others are.
    pub by: usize,
}

impl<W: RowWidth> FenceFacts<W> {
    /// Whether a fence stands behind the same reads as another one, and what it depends on that depends on.
    fn orders_no_more(&self, other: &FenceFacts<W>, shift: &Shift) -> bool {
        let mut reads = shift.first..shift.first + shift.reads;
        reads.all(|read| self.events.contains(read) == other.events.contains(read + shift.by))
            && shift.is_within(&self.ctrl, &other.ctrl)
            && shift.is_within(&self.addr_po, &other.addr_po)
            && shift.is_within(&self.picked, &other.picked)
    }
}

impl Shift {
    /// Whether a set of events is within another one that has the later reads where this one has the earlier ones.
    pub fn is_within<W: RowWidth>(&self, a: &Row<W>, b: &Row<W>) -> bool {
        let mut rest = a.clone();
        for read in self.first..self.first + self.reads {
            if rest.contains(read) {
                if !b.contains(read + self.by) {
                    return false;
                }
                rest.remove(read);
            }
        }
        rest.is_within(b)
    }
}
