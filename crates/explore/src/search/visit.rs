//! The exploration: every consistent execution once, nothing remembered between branches.
//!
//! ```text
//! visit(G):
//!   z = next(G)                          none left: report G
//!   z read:   for each consistent w:       visit(G + z reading w)
//!   z write:  for each consistent place:   visit(G + z at that place in co)
//!             for each read r of that cell that could have read z:
//!               if the revisit is canonical: visit(G without what it deletes, r reading z)
//! ```
//!
//! This is TruSt `[KMGV22]` carried over from (po | rf) to the commit-before order of a model; `docs/EXPLORATION.md` has
//! the argument. `next` depends on the committed events only: the first gap of a thread, writes of read-modify-writes
//! first, then fences, writes, choices and reads, lower threads first. Writes before reads make revisits rare.

use crate::findings::collect::Collector;
use crate::findings::races::Suspects;
use crate::models::clause::Clause;
use crate::models::model::MemoryModel;
use crate::reductions::equal_work::Memo;
use crate::reductions::left_out::Watch;
use crate::search::graph::{Graph, LEVELS, Layout};
use crate::search::row::{Row, RowWidth};
use crate::search::stack;
use crate::threads::code::Code;
use crate::threads::interpret::{Next, Snapshot};
use crate::threads::memory::Memory;
use crate::threads::path::{EventId, INIT, Kind, NO_NODE, Node, NodeId, Trie};
use crate::threads::{Around, Stand, Start, Threads};
use crate::work::control::Control;
use crate::work::preparation::StartOver;
use crate::work::segments::{Progression, Share};

/// What is explored: the lowered program and where its events lie.
pub struct Subject<'a> {
    /// The program.
    pub code: &'a Code,
    /// Where events and snapshots lie.
    pub layout: &'a Layout,
}

/// One worker of an exploration.
pub struct Explorer<'a, T, M: MemoryModel<W>, W: RowWidth> {
    /// Where threads come from.
    pub(crate) threads: T,
    pub(crate) subject: &'a Subject<'a>,
    pub(crate) model: M,
    pub(crate) trie: Trie<M, W>,
    pub(crate) memory: Memory,
    /// What threads did.
    pub(crate) memo: Memo,
    /// Graphs for revisits, used again and again.
    pub(crate) pool: Vec<Graph<M, W>>,
    /// Nodes that graphs refer to which wait for the end of a revisit.
    pub(crate) pinned: Vec<NodeId>,
    /// Cells that may have races.
    pub(crate) suspects: Suspects,
    /// Cells that threads wait for.
    pub(crate) watch: Watch,
    /// Registers of a run that is tried out.
    pub(crate) scratch: Vec<u64>,
    /// The last tail of joins that was found to end: where it begins, and the registers there.
    pub(crate) tail: (NodeId, Vec<u64>),
    pub(crate) control: &'a Control,
    pub(crate) collector: Collector<'a>,
    /// What the next visit leaves out: to be counted with it.
    pub(crate) left_out: u64,
    /// How many visits are within each other on this stack, from [`stack::start`].
    depth: usize,
    /// Where it is in the search, and what it found elsewhere.
    pub(crate) progression: Progression<'a>,
}

impl<'a, T: Threads<M, W>, M: MemoryModel<W>, W: RowWidth> Explorer<'a, T, M, W> {
    /// A worker with an empty trie.
    pub fn new(
        subject: &'a Subject<'a>,
        threads: T,
        model: M,
        memory: Memory,
        control: &'a Control,
        collector: Collector<'a>,
    ) -> Explorer<'a, T, M, W> {
        let layout = subject.layout;
        let trie = Trie::new(layout.threads(), &layout.base, model.clone(), control.queue.workers);
        let tail = (NO_NODE, Vec::new());
        Explorer {
            threads,
            subject,
            model,
            trie,
            memory,
            memo: Memo::default(),
            pool: Vec::new(),
            pinned: Vec::new(),
            suspects: Suspects::default(),
            watch: Watch::default(),
            scratch: Vec::new(),
            tail,
            control,
            collector,
            left_out: 0,
            depth: stack::start(),
            progression: Progression::new(control.queue.is_tracked, control.queue.surveys),
        }
    }

    /// The graph in which every initial thread stands before its first event.
    pub fn start(&mut self) -> Graph<M, W> {
        let mut graph = Graph::new(self.subject.layout);
        // What it refers to was kept beside another graph.
        self.memo = Memo::default();
        for thread in 0..self.subject.layout.threads() {
            let Some(start) = self.threads.initial(thread) else { break };
            self.start_thread(&mut graph, thread, &start);
        }
        graph
    }

    /// Does part of the work, from the root of the tree.
    pub fn visit_share(&mut self, share: &Share) {
        self.control.limits.look_at_memory();
        self.progression.begin(&mut self.collector, share);
        let (mut graph, visits) = (self.start(), self.collector.stats.nodes);
        self.visit(&mut graph);
        self.progression.end();
        if self.collector.stats.nodes == visits {
            self.control.queue.take_in_vain();
        }
    }

    /// Whether events are committed out of program order. For most models the compiler knows.
    #[inline(always)]
    pub(crate) fn is_out_of_order(&self) -> bool {
        M::OUT_OF_ORDER && self.subject.code.out_of_order
    }

    /// The source of threads, and what it works with.
    #[inline(always)]
    pub(crate) fn threads(&mut self) -> (&mut T, Around<'_, M, W>) {
        let around = Around {
            trie: &mut self.trie,
            memory: &mut self.memory,
            model: &self.model,
            layout: self.subject.layout,
            patience: &self.control.limits,
            reductions: self.control.caution.reductions,
        };
        (&mut self.threads, around)
    }

    /// Takes a thread to its first event.
    fn start_thread(&mut self, graph: &mut Graph<M, W>, thread: usize, start: &Start) {
        let layout = self.subject.layout;
        if self.is_symmetric() {
            self.find_mate(graph, thread, start.function, &start.args);
        }
        let (threads, around) = self.threads();
        match threads.start(around, graph, thread, start) {
            Ok(stand) => {
                let snapshot = self.checked(thread, 0, &stand);
                graph.set_snapshot(layout, thread, 0, snapshot);
                graph.set_front(layout, thread, 0);
                self.remember_start(graph, thread);
            }
            Err(why) => self.start_over(why),
        }
    }

    /// Explores everything above a graph.
    pub fn visit(&mut self, graph: &mut Graph<M, W>) {
        if self.progression.tracked && !self.progression.enter() {
            return;
        }
        let words = graph.words();
        self.depth += 1;
        if !self.depth.is_multiple_of(stack::LEVELS) {
            self.visit_next(graph);
        } else if !stack::grow(|| self.visit_next(graph)) {
            self.control.out_of_memory();
        }
        self.depth -= 1;
        if self.progression.tracked {
            self.progression.leave();
        }
        graph.drop_registers(words);
    }

    /// Fills the first gap of the thread whose turn it is. What comes of it is within this call, and so on for each event: what
    /// is not needed
    /// until then is in functions of their own, so that the stack of a deep search stays in the cache.
    fn visit_next(&mut self, graph: &mut Graph<M, W>) {
        if self.progression.tracked {
            if !self.may_go_on() {
                return;
            }
        } else {
            self.collector.stats.nodes += 1;
            if self.control.limits.stopped(&self.collector.stats) {
                self.collector.stats.nodes -= 1;
                return;
            }
        }
        let left_out = std::mem::take(&mut self.left_out);
        self.collector.stats.left_out += if self.progression.replaying { 0 } else { left_out };
        if self.trie.is_crowded() {
            self.forget_paths(graph);
        }
        self.check(graph, "a visit");
        let Some(thread) = self.next_thread(graph) else { return self.finish(graph) };
        let snapshot = *graph.frontier(self.subject.layout, thread);
        match self.trie.node(snapshot.node).kind {
            Kind::Read => self.visit_read(graph, thread, snapshot),
            Kind::Write => self.visit_write(graph, thread, snapshot),
            Kind::Choice => self.visit_choice(graph, thread, snapshot),
            Kind::Fence(_) | Kind::Skip => self.visit_single(graph, thread, snapshot, 0),
            Kind::Join => self.visit_single(graph, thread, snapshot, snapshot.value),
            Kind::Free => {
                self.note_end(thread, snapshot.value);
                self.visit_single(graph, thread, snapshot, snapshot.value);
            }
            Kind::Spawn => self.visit_spawn(graph, thread, snapshot),
            Kind::Segment => unreachable!("a segment is no event"),
        }
    }

    /// Whether a visit whose place matters goes on; if the search is interrupted, what is left is noted. What is on the way to
    /// an item was counted by whoever made it.
    fn may_go_on(&mut self) -> bool {
        self.progression.finishing = false;
        let stats = &mut self.collector.stats;
        if self.control.limits.is_behind_error(self.progression.here()) {
            return false;
        }
        let counts = u64::from(!self.progression.replaying);
        stats.nodes += counts;
        let stops = match self.progression.replaying {
            true => self.control.limits.stopped_on_the_way(),
            false => self.control.limits.stopped(stats) || stats.nodes > self.control.limits.pause_nodes,
        };
        if stops {
            self.control.limits.pause();
            stats.nodes -= counts;
            self.interrupt();
        }
        !stops
    }

    /// There is too little room. What a worker looks at on the way back from where it was interrupted does not count: it is
    /// looked at again.
    #[cold]
    pub(crate) fn start_over(&self, why: StartOver) {
        if !self.progression.interrupted {
            self.control.start_over(why);
        }
    }

    /// Notes that the search is interrupted before the current visit, and which cells it has met by now: on the way back it meets
    /// more, which
    /// would be others if it went on.
    #[cold]
    pub(crate) fn interrupt(&mut self) {
        self.note_cells();
        self.progression.interrupt();
    }

    /// Notes which cells the worker has met, unless it was interrupted before.
    pub(crate) fn note_cells(&self) {
        if !self.progression.interrupted {
            self.control.caution.note_cells(&self.memory);
        }
    }

    /// Whether the worker is on the way back from where it stopped.
    #[inline(always)]
    pub(crate) fn turns_back(&self) -> bool {
        if self.progression.tracked { self.progression.interrupted } else { self.control.limits.is_stopped() }
    }

    /// Whether the search has ended while the worker passed visits that others make.
    #[inline(always)]
    fn passes_the_end(&mut self) -> bool {
        let ends = self.progression.tracked && self.control.limits.is_stopped();
        if ends {
            self.note_cells();
            self.progression.interrupt_within();
        }
        ends
    }

    /// Forgets the paths that neither this graph nor those that it was copied from refer to.
    #[cold]
    fn forget_paths(&mut self, graph: &Graph<M, W>) {
        let mut used = self.pinned.clone();
        graph.for_each_node_in_use(self.subject.layout, |node| used.push(node));
        self.trie.forget_all_but(&used);
        self.memo.forget();
        self.tail = (NO_NODE, Vec::new());
    }

    /// In debug builds: what must hold of a graph holds. The first graphs are looked at, then one in 32; large ones would take
    /// too long.
    #[inline(always)]
    pub(crate) fn check(&self, graph: &Graph<M, W>, when: &str) {
        let nodes = self.collector.stats.nodes;
        let small = self.subject.layout.events() <= 256;
        if cfg!(debug_assertions) && small && (nodes < 8 || nodes.is_multiple_of(32)) {
            let checked = graph.check_invariants(&self.trie, self.subject.layout);
            debug_assert!(checked.is_ok(), "before {when}: {checked:?}");
        }
    }

    /// The thread whose first gap is filled next; `None` if none can go on.
    #[inline(always)]
    fn next_thread(&self, graph: &Graph<M, W>) -> Option<usize> {
        let mut best: Option<(u8, usize)> = None;
        for (i, sets) in graph.turns().sets().iter().enumerate() {
            let next = self.next_among(graph, 64 * i, sets);
            // Of those that are as urgent, the lowest.
            if let Some((urgency, _)) = next
                && best.is_none_or(|(least, _)| urgency < least)
            {
                best = next;
            }
        }
        best.map(|(_, thread)| thread)
    }

    /// The same among 64 threads from `first` on, with its urgency.
    #[inline(always)]
    fn next_among(&self, graph: &Graph<M, W>, first: usize, sets: &[u64; LEVELS]) -> Option<(u8, usize)> {
        let may_rest = graph.has_sleepers() || self.is_symmetric();
        for urgency in Snapshot::SECOND_HALF..Snapshot::JOIN {
            let mut set = sets[urgency as usize];
            if urgency == Snapshot::AT_ONCE {
                set |= self.can_join_now(graph, first, sets[Snapshot::JOIN as usize]);
            }
            while set != 0 {
                let thread = first + set.trailing_zeros() as usize;
                if !(may_rest && (graph.is_asleep(thread) || self.is_held(graph, thread))) {
                    return Some((urgency, thread));
                }
                set &= set - 1;
            }
        }
        None
    }

    /// Those of a set of threads that stand before a join of a thread that has ended. They go on at once: the executions above
    /// then share it.
    #[inline(always)]
    fn can_join_now(&self, graph: &Graph<M, W>, first: usize, mut set: u64) -> u64 {
        let layout = self.subject.layout;
        let mut can = 0;
        while set != 0 {
            let thread = first + set.trailing_zeros() as usize;
            let bit = set & set.wrapping_neg();
            if can_join(graph, layout, graph.frontier(layout, thread).value) {
                can |= bit;
            }
            set ^= bit;
        }
        can
    }

    pub(crate) fn event_of(&self, graph: &Graph<M, W>, thread: usize) -> EventId {
        self.subject.layout.base[thread] + graph.front(thread)
    }

    #[inline(never)]
    fn visit_read(&mut self, graph: &mut Graph<M, W>, thread: usize, snapshot: Snapshot) {
        graph.reserve_cells(self.memory.cells());
        // All of a native run may have to be run again.
        if graph.reads().is_empty() && !self.subject.code.is_native {
            graph.settle(&self.trie, self.subject.layout, self.control.next_settling());
        }
        if self.looks_for_early_pairs() && self.could_take_early(graph, snapshot.node) {
            return self.control.start_over(StartOver::OutOfOrder);
        }
        let node = self.trie.node(snapshot.node);
        let loc = node.loc();
        let writes = graph.co(loc).len();
        let oldest = self.oldest_source(graph, node);
        let lower = self.lower_reads(graph, node);
        self.note_read(graph, snapshot.node);
        // A thread that has slept has considered what was there.
        let has_slept = graph.considered(thread).is_some();
        let mut sleeps = has_slept;
        for i in (oldest..=writes).rev() {
            let source = if i == 0 { INIT } else { graph.co(loc)[i - 1] };
            let is_new = !has_slept || graph.may_wake_for(thread, source);
            if is_new
                && self.keeps_symmetry(graph, &lower, loc, source)
                && !self.is_hopeless(
                    graph,
                    self.trie.node(snapshot.node),
                    source,
                    graph.co(loc).get(i).copied(),
                )
            {
                let blocked = self.read_from(graph, thread, snapshot, source, i == writes);
                if i == writes {
                    sleeps = blocked;
                }
                // On the way back from a limit: there may be many sources, and large graphs to look at for each.
                if self.turns_back() || self.passes_the_end() {
                    return;
                }
            }
        }
        if sleeps {
            self.sleep(graph, thread, loc);
        }
    }

    /// The oldest source that a read may have, as its place in coherence counted from the initial write: an older one would be
    /// read
    /// although something newer comes before the read. Asked for beforehand, so that no row is kept while its sources are
    /// explored.
    #[inline(always)]
    fn oldest_source(&self, graph: &Graph<M, W>, node: &Node<M::Static, W>) -> usize {
        let writes = graph.co(node.loc());
        if writes.is_empty() {
            return 0;
        }
        let before = self.model.coherence_before(&self.trie, graph, node);
        writes.iter().rposition(|&write| graph.is_known(write, &before)).map_or(0, |at| at + 1)
    }

    /// Explores the read with this source. True if the thread cannot go on with what it reads: then it is not read.
    fn read_from(
        &mut self,
        graph: &mut Graph<M, W>,
        thread: usize,
        snapshot: Snapshot,
        source: EventId,
        newest: bool,
    ) -> bool {
        if self.is_known_to_wait(graph, thread, snapshot.node, source) {
            return true;
        }
        let event = self.event_of(graph, thread);
        self.place(graph, event, snapshot);
        self.set_source(graph, event, source);
        let mut blocked = false;
        if !self.is_hopeless_exchange(graph, event, source)
            && (newest || self.model.read_consistent(&self.trie, graph, event))
        {
            let front = graph.front(thread);
            self.advance_thread(graph, thread);
            blocked = self.may_sleep(snapshot.node) && self.leads_nowhere(graph, thread, event);
            if blocked {
                self.note_waiting(snapshot.node);
            } else if !self.has_taken_in_vain(graph, thread, event) {
                let outgrown = graph.outgrown();
                if !newest {
                    graph.mark_nonmaximal(event);
                    self.model.take_place(&self.trie, graph, event);
                }
                self.note_foreign_read(graph, event);
                self.follow(graph, thread);
                graph.take_back(outgrown);
                graph.unmark_nonmaximal(event);
            }
            graph.set_front(self.subject.layout, thread, front);
        }
        self.clear_source(graph, event);
        graph.remove_read(event);
        blocked
    }

    /// Puts the event into the graph with the newest time stamp, without its source or place in coherence.
    #[inline(always)]
    pub(crate) fn place(&mut self, graph: &mut Graph<M, W>, event: EventId, snapshot: Snapshot) {
        graph.reserve_cells(self.memory.cells());
        graph.add(event, snapshot.node, snapshot.value);
        if M::RACES {
            self.suspects.note(self.trie.node(snapshot.node));
        }
    }

    /// Makes a present read read from `source`: value, order, prefix and rows follow.
    #[inline(never)]
    pub(crate) fn set_source(&mut self, graph: &mut Graph<M, W>, event: EventId, source: EventId) {
        let e = event as usize;
        let node = self.trie.node(graph.node(e));
        graph.connect(event, source, node.loc(), self.memory.init(node.loc()));
        if node.failure.is_some_and(|failure| failure.other.is_some()) {
            let (id, succeeds) = (graph.node(e), self.exchange_succeeds(graph, event));
            if let Some(other) = self.threads.read_by_outcome(&mut self.trie, id, succeeds) {
                graph.set_node(event, other);
            }
        }
        let node = self.trie.node(graph.node(e));
        let order = match &node.failure {
            Some(failure) if !self.exchange_succeeds(graph, event) => failure.ann.order,
            _ => node.ann.order,
        };
        graph.set_order(event, order);
        self.watch_owners(graph, node, source);
        graph.set_pre(event, self.needed(graph, node, source));
        self.model.give_rows(&self.trie, graph, node);
    }

    #[inline(always)]
    pub(crate) fn clear_source(&mut self, graph: &mut Graph<M, W>, event: EventId) {
        let loc = self.trie.node(graph.node(event as usize)).loc();
        graph.disconnect(event, loc);
    }

    /// Whether the compare-exchange whose read this is succeeds.
    pub(crate) fn exchange_succeeds(&self, graph: &Graph<M, W>, event: EventId) -> bool {
        let node = self.trie.node(graph.node(event as usize));
        let state = graph.registers(self.subject.layout, node.thread as usize, node.index as usize);
        self.threads.succeeds(&self.memory, state, node, graph.value(event as usize))
    }

    #[inline(never)]
    fn visit_choice(&mut self, graph: &mut Graph<M, W>, thread: usize, snapshot: Snapshot) {
        let node = self.trie.node(snapshot.node);
        // Value 0 is the canonical one: a revisit deletes no other (see `canonical`).
        let most = self.largest_choice(graph, node, self.threads.choices(node));
        for value in 0..=most {
            self.visit_single(graph, thread, snapshot, value);
        }
    }

    /// Adds an event that has neither a source nor a place in coherence.
    #[inline(never)]
    fn visit_single(&mut self, graph: &mut Graph<M, W>, thread: usize, snapshot: Snapshot, value: u64) {
        let event = self.event_of(graph, thread);
        self.place(graph, event, Snapshot { value, ..snapshot });
        let node = self.trie.node(snapshot.node);
        graph.set_order(event, node.ann.order);
        graph.set_pre(event, self.needed(graph, node, INIT));
        self.model.give_rows(&self.trie, graph, node);
        if value != 0 && node.kind == Kind::Choice {
            graph.mark_nonmaximal(event);
        }
        let front = graph.front(thread);
        self.advance_thread(graph, thread);
        self.follow(graph, thread);
        graph.set_front(self.subject.layout, thread, front);
        graph.remove_single(event);
    }

    /// Starts a thread. Its number depends on who starts it and how many that one has started before.
    #[inline(never)]
    fn visit_spawn(&mut self, graph: &mut Graph<M, W>, thread: usize, snapshot: Snapshot) {
        let layout = self.subject.layout;
        let node = self.trie.node(snapshot.node);
        let Some(start) = self.threads.started_by(graph.frontier_regs(layout, thread), node) else {
            self.collector.bad_spawn(self.subject, graph, thread, node.pc());
            return self.collector.locate(self.progression.here());
        };
        let Some(child) = layout.started_by(thread, snapshot.value) else {
            return self.start_over(StartOver::Thread(thread as u16, snapshot.value as u32, start.function));
        };
        graph.set_origin(child, self.event_of(graph, thread));
        self.start_thread(graph, child, &start);
        self.visit_single(graph, thread, snapshot, child as u64);
        graph.forget_thread(child, layout);
    }

    #[inline(never)]
    fn visit_write(&mut self, graph: &mut Graph<M, W>, thread: usize, snapshot: Snapshot) {
        let event = self.event_of(graph, thread);
        self.place_write(graph, event, snapshot);
        let loc = self.trie.node(snapshot.node).loc();
        if self.looks_for_early_pairs() && self.could_be_read_early(graph, event, loc) {
            graph.remove_write(event);
            return self.start_over(StartOver::OutOfOrder);
        }
        let taken_by = self.place_taken_by(graph, event, loc);
        if taken_by.is_none() {
            self.visit_places(graph, thread, event, snapshot);
        }
        graph.remove_write(event);
        self.revisit_readers(graph, event, snapshot, loc, taken_by);
    }

    /// Explores the write at each place in coherence.
    fn visit_places(&mut self, graph: &mut Graph<M, W>, thread: usize, event: EventId, snapshot: Snapshot) {
        let front = graph.front(thread);
        self.advance_thread(graph, thread);
        let node = self.trie.node(snapshot.node);
        let (loc, before) = (node.loc(), self.coherence_before(graph, node));
        let last = graph.push_write(loc, event);
        let mut at = last;
        loop {
            if self.keeps_atomicity(graph, event, loc, at)
                && (at == last || self.model.write_consistent(&self.trie, graph, event))
            {
                if at != last {
                    graph.mark_nonmaximal(event);
                }
                let outgrown = graph.outgrown();
                self.model.take_place(&self.trie, graph, event);
                self.follow(graph, thread);
                graph.take_back(outgrown);
            }
            if self.turns_back() || !graph.bubble_down(loc, &mut at, &before) {
                break;
            }
        }
        graph.take_write(loc, at);
        graph.set_front(self.subject.layout, thread, front);
    }

    /// Puts a write into the graph, without a place in coherence.
    pub(crate) fn place_write(&mut self, graph: &mut Graph<M, W>, event: EventId, snapshot: Snapshot) {
        self.place(graph, event, snapshot);
        let node = self.trie.node(snapshot.node);
        graph.set_order(event, node.ann.order);
        self.note_write(graph, snapshot.node);
        let node = self.trie.node(snapshot.node);
        let readers =
            if M::READS_UNCOMMITTED { graph.own_readers(event, self.subject.layout) } else { Row::EMPTY };
        graph.make_write(event, readers);
        graph.set_pre(event, self.needed(graph, node, INIT));
        self.model.give_rows(&self.trie, graph, node);
        let (partner, loc) = (node.partner, node.loc());
        self.note_late(graph, event as usize, loc);
        if partner != INIT && self.model.clauses().has(Clause::Atomicity) {
            let read = partner as usize;
            let pure = graph.pre(event as usize).is_within(&graph.pre(read).and(read));
            graph.mark_rmw_write(event, pure);
        }
    }

    /// Takes a thread over its first gap, which has just been filled, to its next one.
    pub(crate) fn advance_thread(&mut self, graph: &mut Graph<M, W>, thread: usize) {
        let layout = self.subject.layout;
        loop {
            let index = graph.front(thread) as usize;
            let event = layout.base[thread] as usize + index;
            let node = graph.node(event);
            let value = self.threads.given(layout, graph, event, self.trie.node(node));
            if !self.goes_as_before(graph, thread, index, node, value) {
                self.run_over(graph, thread, index, value);
            } else if cfg!(debug_assertions) && self.collector.stats.nodes.is_multiple_of(8) {
                let then = *graph.frontier(layout, thread);
                let registers = graph.frontier_regs(layout, thread).to_vec();
                self.run_over(graph, thread, index, value);
                debug_assert_eq!(then, *graph.frontier(layout, thread), "a step is not as it was");
                debug_assert_eq!(registers, graph.frontier_regs(layout, thread), "a state is not as it was");
            }
            let next = *graph.frontier(layout, thread);
            if next.node == NO_NODE {
                break;
            }
            self.watch_joins(graph, thread, &next);
            if !graph.present().contains(event + 1) {
                break;
            }
        }
    }

    /// Runs a thread from its event of that index, which gives it a value, to the next.
    #[cold]
    fn run_over(&mut self, graph: &mut Graph<M, W>, thread: usize, index: usize, value: u64) {
        let layout = self.subject.layout;
        let node = graph.node(layout.base[thread] as usize + index);
        let (threads, around) = self.threads();
        let stand = threads.resume(around, graph, thread, index, value);
        let mut next = self.checked(thread, index + 1, &stand);
        (next.changed, next.rewrote, next.unseen) = self.last_changes(graph, thread, index);
        graph.set_snapshot(layout, thread, index + 1, next);
        graph.set_front(layout, thread, index as u32 + 1);
        if next.node != NO_NODE
            && let Some(stopped) = self.comes_to_nothing(graph, thread, index + 1, &next)
        {
            graph.set_snapshot(layout, thread, index + 1, stopped);
            graph.set_front(layout, thread, index as u32 + 1);
        }
        if stand.lasts {
            self.remember(graph, thread, index, node, value);
        }
    }

    /// Where a thread stands that has made an iteration or a try for nothing.
    fn comes_to_nothing(
        &mut self,
        graph: &Graph<M, W>,
        thread: usize,
        index: usize,
        next: &Snapshot,
    ) -> Option<Snapshot> {
        let registers = graph.registers(self.subject.layout, thread, index);
        if let Some(earlier) = self.spins(graph, thread, index, next.node, registers) {
            let (value, changed, rewrote) = (earlier as u64, next.changed, next.rewrote);
            return Some(Snapshot { value, changed, rewrote, ..Snapshot::stopped(Next::Spinning) });
        }
        self.retries(graph, thread, index, next.node)
    }

    /// A snapshot whose event has no room stops the exploration; it starts again with more.
    #[inline(always)]
    fn checked(&mut self, thread: usize, index: usize, stand: &Stand) -> Snapshot {
        let snapshot = stand.snapshot;
        if let Some(why) = stand.why {
            self.start_over(why);
        }
        // It may have been broken off when the time was up: what comes of it is not what the thread does.
        if snapshot.next == Next::Blocked
            && self.progression.tracked
            && !self.progression.finishing
            && self.control.limits.is_ended()
        {
            self.note_cells();
            self.progression.interrupt_within();
        }
        if matches!(snapshot.next, Next::Event | Next::Tail) && index >= self.subject.layout.capacity(thread)
        {
            self.start_over(StartOver::Events(thread));
            return Snapshot::stopped(Next::Cut);
        }
        snapshot
    }

    /// Goes on with a thread that has just made an event; whether it has made an iteration or a try for nothing is counted.
    #[inline(always)]
    pub(crate) fn follow(&mut self, graph: &mut Graph<M, W>, thread: usize) {
        let next = graph.frontier(self.subject.layout, thread).next;
        self.left_out = u64::from(matches!(next, Next::Spinning | Next::Retrying));
        self.descend(graph);
        self.left_out = 0;
    }

    #[inline(always)]
    pub(crate) fn descend(&mut self, graph: &mut Graph<M, W>) {
        let visits = self.collector.stats.nodes;
        if self.control.queue.is_hungry()
            && self.progression.may_give(visits, self.control.queue.gave_in_vain())
        {
            self.control.queue.give(|ranges| self.progression.part(ranges, visits));
        }
        self.visit(graph);
    }
}

/// Whether the thread that a join waits for has ended.
#[inline(always)]
pub(crate) fn can_join<M: MemoryModel<W>, W: RowWidth>(
    graph: &Graph<M, W>,
    layout: &Layout,
    thread: u64,
) -> bool {
    (thread as usize) < layout.threads() && graph.frontier(layout, thread as usize).next == Next::Ended
}
