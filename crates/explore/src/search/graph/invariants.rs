//! What holds of a graph between two visits, and a check of it for debug builds.
//!
//! 1. Reads and writes are present and disjoint; revisited, nonmaximal, fenced, rmw and pure events are among what they should
//!    be.
//! 2. `before` is a total order of the present events: the time stamps.
//! 3. `pre` of a present event is present, closed, and does not contain the event.
//! 4. The coherence lists have the present writes, each in the list of its cell, once.
//! 5. `readers` and `init_readers` invert `rf`, as far as the source is committed; `cell_readers` has the reads of each cell.
//! 6. An access that is not marked as nonmaximal is the last write, or reads the last write, among what is older, unless reads
//!    may be
//!    there before their source; and only a revisited read needs something that is younger than itself.
//! 7. Rows that may grow are closed and have what they should.
//! 8. What comes before a thread's first gap is present; where events are committed in program order nothing else is.

use super::{Graph, Layout};
use crate::models::model::MemoryModel;
use crate::search::row::{Row, RowWidth};
use crate::threads::path::{EventId, INIT, Kind, Trie};

impl<M: MemoryModel<W>, W: RowWidth> Graph<M, W> {
    /// The first invariant that does not hold.
    pub fn check_invariants(&self, trie: &Trie<M, W>, layout: &Layout) -> Result<(), String> {
        self.check_sets()?;
        self.check_orders()?;
        self.check_communication(trie)?;
        self.check_maximality(trie)?;
        ensure(trie.model().check_rows(trie, self), || "a row is not what it should be".into())?;
        self.check_threads(layout)
    }

    fn check_sets(&self) -> Result<(), String> {
        let pairs = [
            (&self.reads, &self.present, "reads are present"),
            (&self.writes, &self.present, "writes are present"),
            (&self.fenced, &self.present, "fenced events are present"),
            (&self.nonmaximal, &self.present, "nonmaximal events are present"),
            (&self.revisited, &self.reads, "revisited events are reads"),
            (&self.rmw_writes, &self.writes, "writes of read-modify-writes are writes"),
            (&self.pure, &self.rmw_writes, "pure writes are of read-modify-writes"),
        ];
        for (inner, outer, what) in pairs {
            ensure(inner.is_within(outer), || format!("{what}: {:?}", inner.without(outer)))?;
        }
        ensure(!self.reads.meets(&self.writes), || "an event is a read and a write".into())
    }

    fn check_orders(&self) -> Result<(), String> {
        let mut events: Vec<usize> = self.present.iter().collect();
        events.sort_by_cached_key(|&e| self.events[e].before.iter().count());
        let mut older = Row::EMPTY;
        for e in events {
            ensure(self.events[e].before == older, || format!("the time stamp of {e} has a gap"))?;
            older.insert(e);
            let pre = &self.events[e].pre;
            ensure(!pre.contains(e), || format!("{e} comes before itself"))?;
            ensure(pre.is_within(&self.present), || format!("the prefix of {e} is not there"))?;
            let open = pre.iter().find(|&d| !self.events[d].pre.is_within(pre));
            ensure(open.is_none(), || format!("the prefix of {e} is not closed: {open:?}"))?;
        }
        Ok(())
    }

    fn check_communication(&self, trie: &Trie<M, W>) -> Result<(), String> {
        let mut listed = Row::EMPTY;
        for (x, list) in self.co.iter().enumerate() {
            for &w in list {
                let at_cell = trie.node(self.events[w as usize].node).loc() as usize == x;
                ensure(at_cell && !listed.contains(w as usize), || format!("{w} is no write to cell {x}"))?;
                listed.insert(w as usize);
            }
        }
        ensure(listed == self.writes, || "the coherence lists do not have the writes".into())?;
        let mut known = 0;
        for r in self.reads.iter() {
            let loc = trie.node(self.events[r].node).loc();
            let source = self.events[r].rf;
            let committed = source == INIT || self.writes.contains(source as usize);
            ensure(committed || M::READS_UNCOMMITTED, || format!("the source of {r} is not there"))?;
            let knows = !committed || self.readers_of(source, loc).contains(r);
            ensure(knows, || format!("the source of {r} does not know it"))?;
            let is_listed = self.cell_readers[loc as usize].contains(r);
            ensure(is_listed, || format!("the cell of {r} does not know it"))?;
            known += usize::from(committed);
        }
        let listed = self.cell_readers.iter().map(|row| row.iter().count()).sum::<usize>();
        ensure(listed == self.reads.iter().count(), || "a cell knows what does not read it".into())?;
        let of_writes = self.writes.iter().map(|w| self.events[w].readers.iter().count()).sum::<usize>();
        let of_cells = self.init_readers.iter().map(|row| row.iter().count()).sum::<usize>();
        ensure(of_writes + of_cells == known, || "a source knows what does not read from it".into())
    }

    fn check_maximality(&self, trie: &Trie<M, W>) -> Result<(), String> {
        for e in (&self.reads | &self.writes).without(&self.nonmaximal).iter() {
            let event = &self.events[e];
            let source = if self.reads.contains(e) { event.rf } else { e as EventId };
            let maximal = self.is_maximal(source, trie.node(event.node).loc(), &event.before);
            ensure(maximal || M::READS_UNCOMMITTED, || format!("{e} is not marked and not maximal"))?;
        }
        for e in self.present.without(&self.nonmaximal).iter() {
            let chosen = trie.node(self.events[e].node).kind == Kind::Choice && self.events[e].value != 0;
            ensure(!chosen, || format!("{e} is not marked and not the first choice"))?;
        }
        for e in self.present.without(&self.revisited).iter() {
            let older = self.events[e].pre.is_within(&self.events[e].before);
            ensure(older, || format!("{e} needs what is younger"))?;
        }
        Ok(())
    }

    fn check_threads(&self, layout: &Layout) -> Result<(), String> {
        let mut reached = Row::EMPTY;
        for t in 0..layout.threads() {
            let first = layout.base[t] as usize;
            reached |= Row::range(first, first + self.front[t] as usize);
            let urgency = self.frontier(layout, t).urgency;
            ensure(self.turns.of(t) == urgency, || format!("the urgency of thread {t} is old"))?;
            let origin = self.origin[t];
            let started = origin == INIT || self.present.contains(origin as usize);
            ensure(started, || format!("thread {t} was not started"))?;
        }
        ensure(reached.is_within(&self.present), || "a thread has a gap before its front".into())?;
        let in_order = M::OUT_OF_ORDER || reached == self.present;
        ensure(in_order, || "an event is committed behind a gap".into())
    }
}

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}
