//! Threads of `ir` programs: a state is the registers of all active calls, and [`Machine`] runs it from event to event. Where the
//! code of native threads comes to a cut, their source is asked (`native.rs`).

use crate::models::model::MemoryModel;
use crate::reductions::Reduction;
use crate::search::graph::{Graph, Layout};
use crate::search::row::RowWidth;
use crate::threads::code::{Arg, CasRead, Code, DISAGREED, FP, Op, Pc, RESULT, Undefined};
use crate::threads::interpret::{Machine, Next, Snapshot, callee};
use crate::threads::memory::{LocId, Memory, Storage};
use crate::threads::native::forms::{CUT, Forms};
use crate::threads::native::registers::combine;
use crate::threads::native::{Asked, Maker, Native};
use crate::threads::path::{Key, Kind, Node, NodeId, Outcomes, SEGMENT_CALL, Trie};
use crate::threads::{Around, Stand, Start, Threads};
use crate::work::preparation::StartOver;
use fencepost_ir::{Value, Width};

/// Rounds beyond its bound of a loop that makes no event.
const ROUNDS: u32 = 1 << 16;

/// Events that a loop may make beyond its bound if no other thread has been started.
const ALONE: usize = 20_000;

/// Events that it may make if the other threads have ended. Unlike a loop of the beginning it may read what others wrote, and
/// there may be very many such ends.
const AFTERWARDS: usize = 1_000;

/// Events that it may make if nobody else has had to do with what it reads so far: others may still come.
const OWN_EVENTS: usize = 256;

/// The threads of a lowered program.
pub struct Ir<'a> {
    code: &'a Code,
    forms: &'a Forms,
    native: Option<Native>,
}

impl<'a> Ir<'a> {
    /// Those of this code; with a source, if it is that of native threads.
    pub fn new(code: &'a Code, forms: &'a Forms, source: Option<Maker<'_>>) -> Ir<'a> {
        Ir { code, forms, native: source.map(|make| Native::new(make())) }
    }

    /// Where a native thread comes to that stands at a cut in slot `index`; `cut_at` is what the machine knew there, `starts`: it
    /// begins.
    #[cold]
    fn go_native<M: MemoryModel<W>, W: RowWidth>(
        &mut self,
        around: Around<'_, M, W>,
        graph: &mut Graph<M, W>,
        (thread, index): (usize, usize),
        mut cut_at: (NodeId, Outcomes),
        starts: bool,
    ) -> Option<Stand> {
        let Around { trie, memory, model, layout, patience, .. } = around;
        let native = self.native.as_mut()?;
        loop {
            let registers = graph.registers_mut(layout, thread, index);
            if registers[RESULT] as Pc != CUT {
                combine(registers);
            } else {
                match native.ask(self.forms, trie, memory, model, layout, graph, (thread, index), starts) {
                    Asked::Step => graph.registers_mut(layout, thread, index)[RESULT] = u64::from(CUT),
                    Asked::Stops(next, value) => {
                        let snapshot = Snapshot { value, ..Snapshot::stopped(next) };
                        return Some(Stand { snapshot, why: None, lasts: false });
                    }
                    Asked::StartOver => {
                        let snapshot = Snapshot::stopped(Next::Cut);
                        return Some(Stand { snapshot, why: Some(StartOver::Source), lasts: false });
                    }
                }
            }
            let mut machine = Machine::new(self.code, memory, model, thread, patience);
            (machine.events, machine.cut_at) = (index, cut_at);
            let snapshot = machine.past_bound(trie, graph.registers_mut(layout, thread, index));
            if snapshot.next != Next::Cut {
                return Some(Stand { snapshot, why: machine.mixed, lasts: false });
            }
            cut_at = machine.cut_at;
        }
    }

    /// Whether a loop whose bound is used up at `pc` is followed all the same: nobody else has a say in how long it is. Either
    /// no other thread runs, or all that the thread has read since it entered the loop is constant, or in objects that threads
    /// make and
    /// that nobody else has written or read so far. `registers` are the thread's, `index` its next event.
    fn reads_its_own<M: MemoryModel<W>, W: RowWidth>(
        &self,
        around: &Around<'_, M, W>,
        graph: &Graph<M, W>,
        thread: usize,
        index: usize,
        pc: Pc,
        registers: &[u64],
    ) -> bool {
        let (code, layout) = (self.code, around.layout);
        let Op::Cut { entered } = code.ops[pc as usize] else { return false };
        if entered == 0 || !around.reductions.has(Reduction::Idle) {
            return false;
        }
        let entered = registers[registers[FP] as usize + entered as usize] as usize;
        let over = |next: Next| matches!(next, Next::NotStarted | Next::Ended);
        let alone = (0..layout.threads()).all(|t| t == thread || over(graph.frontier(layout, t).next));
        let is_started = |t: usize| graph.frontier(layout, t).next != Next::NotStarted;
        let most = match alone {
            false => OWN_EVENTS,
            true if (0..layout.threads()).any(|t| t != thread && is_started(t)) => AFTERWARDS,
            true => ALONE,
        };
        if index - entered.min(index) > most {
            return false;
        }
        let is_own = |e: usize| layout.thread_of[e] as usize == thread;
        let is_own_cell = |loc: LocId| {
            let global = around.memory.storage(around.memory.location(loc).0.object) == Some(Storage::Global);
            let writes = graph.co(loc);
            // Nobody writes a constant.
            around.memory.is_constant(loc)
                || !global
                    && graph.init_readers(loc).is_empty()
                    && writes
                        .iter()
                        .all(|&w| is_own(w as usize) && graph.readers(w as usize).iter().all(is_own))
        };
        let base = layout.base[thread] as usize;
        (base + entered..base + index).all(|e| {
            let node = around.trie.node(graph.node(e));
            match node.kind {
                Kind::Choice => false,
                Kind::Read => alone || is_own_cell(node.loc()),
                _ => true,
            }
        })
    }
}

/// Whether the cut that a thread stands at is that of a loop's bound.
fn is_bounded(code: &Code, regs: &[u64]) -> bool {
    matches!(code.ops[regs[RESULT] as usize], Op::Cut { entered } if entered != 0)
}

/// An operand of the current frame.
fn operand(regs: &[u64], a: Arg) -> u64 {
    match a {
        Arg::Reg(r) => regs[regs[FP] as usize + r as usize],
        Arg::Const(c) => c,
    }
}

impl<M: MemoryModel<W>, W: RowWidth> Threads<M, W> for Ir<'_> {
    fn initial(&self, thread: usize) -> Option<Start> {
        let (function, args) = self.code.threads.get(thread)?;
        Some(Start { function: *function, args: args.clone() })
    }

    fn start(
        &mut self,
        around: Around<'_, M, W>,
        graph: &mut Graph<M, W>,
        thread: usize,
        start: &Start,
    ) -> Result<Stand, StartOver> {
        let Around { trie, memory, model, layout, patience, reductions } = around;
        let regs = graph.first_registers(layout, thread);
        let mut machine = Machine::new(self.code, memory, model, thread, patience);
        let entry = machine.start(start.function, &start.args, regs);
        if machine.needs_room {
            return Err(StartOver::Registers(thread));
        }
        let key = Key { pc: entry, loc: SEGMENT_CALL, outcomes: Outcomes::NONE };
        let root = trie.child(thread as u32, key, self.code);
        let mut snapshot = machine.advance(trie, root, regs);
        if self.code.is_native && snapshot.next == Next::Cut {
            let cut_at = machine.cut_at;
            let around = Around { trie, memory, model, layout, patience, reductions };
            return self.go_native(around, graph, (thread, 0), cut_at, true).ok_or(StartOver::Source);
        }
        // Nothing was read yet, so nobody has a say in how long a loop is.
        let mut rounds = 0;
        while snapshot.next == Next::Cut
            && !machine.needs_room
            && is_bounded(self.code, regs)
            && rounds < ROUNDS
        {
            snapshot = machine.past_bound(trie, regs);
            rounds += 1;
        }
        let why = machine.mixed.or(machine.needs_room.then_some(StartOver::Registers(thread)));
        Ok(Stand { snapshot, why, lasts: true })
    }

    fn resume(
        &mut self,
        around: Around<'_, M, W>,
        graph: &mut Graph<M, W>,
        thread: usize,
        index: usize,
        value: u64,
    ) -> Stand {
        let layout = around.layout;
        let node = graph.node(layout.base[thread] as usize + index);
        graph.copy_registers(layout, thread, index);
        let registers = graph.registers_mut(layout, thread, index + 1);
        let dst = self.code.defines[around.trie.node(node).pc() as usize] as usize;
        if dst != 0 {
            registers[registers[FP] as usize + dst] = value;
        }
        let mut machine = Machine::new(self.code, around.memory, around.model, thread, around.patience);
        let mut snapshot = machine.advance(around.trie, node, registers);
        let (mut needs_room, mut mixed) = (machine.needs_room, machine.mixed);
        if snapshot.next == Next::Cut && self.code.is_native {
            let cut_at = machine.cut_at;
            if let Some(stand) = self.go_native(around, graph, (thread, index + 1), cut_at, false) {
                return stand;
            }
            unreachable!("native threads have a source");
        }
        let mut rounds = 0;
        while snapshot.next == Next::Cut && !needs_room && rounds < ROUNDS {
            rounds += 1;
            let cut_at = machine.cut_at;
            let registers = graph.registers(layout, thread, index + 1);
            let at = registers[RESULT] as Pc;
            if !self.reads_its_own(&around, graph, thread, index + 1, at, registers) {
                break;
            }
            machine = Machine::new(self.code, around.memory, around.model, thread, around.patience);
            (machine.events, machine.cut_at) = (index + 1, cut_at);
            snapshot = machine.past_bound(around.trie, graph.registers_mut(layout, thread, index + 1));
            (needs_room, mixed) = (machine.needs_room, machine.mixed);
        }
        let why = mixed.or(needs_room.then_some(StartOver::Registers(thread)));
        Stand { snapshot, why, lasts: rounds == 0 && mixed.is_none() }
    }

    #[inline(always)]
    fn given(&self, layout: &Layout, graph: &Graph<M, W>, event: usize, node: &Node<M::Static, W>) -> u64 {
        match self.code.ops[node.pc() as usize] {
            Op::Load { width, extend, undefined, .. } => {
                undefined.taken(width.extend(extend, Value(graph.value(event))).0)
            }
            Op::Choice { first, .. } => first.wrapping_add(graph.value(event) as i64) as u64,
            Op::Join { .. } => graph.frontier_regs(layout, graph.value(event) as usize)[RESULT],
            _ => graph.value(event),
        }
    }

    #[inline(always)]
    fn would_give(&self, node: &Node<M::Static, W>, there: u64) -> Option<u64> {
        match self.code.ops[node.pc() as usize] {
            Op::Load { width, extend, undefined, failure, .. }
                if failure.is_none_or(|failure| failure.other.is_none()) =>
            {
                Some(undefined.taken(width.extend(extend, Value(there)).0))
            }
            _ => None,
        }
    }

    fn choices(&self, node: &Node<M::Static, W>) -> u64 {
        match self.code.ops[node.pc() as usize] {
            Op::Choice { count, .. } => count.into(),
            _ => 0,
        }
    }

    fn started_by(&self, state: &[u64], node: &Node<M::Static, W>) -> Option<Start> {
        let Op::Spawn { target, args, .. } = self.code.ops[node.pc() as usize] else { return None };
        let function = callee(self.code, target, &state[state[FP] as usize..])?;
        let args = self.code.lists[args as usize].iter().map(|&a| operand(state, a)).collect();
        Some(Start { function, args })
    }

    fn succeeds(&self, memory: &Memory, state: &[u64], node: &Node<M::Static, W>, there: u64) -> bool {
        let Some(CasRead { expected, .. }) = node.failure else { return false };
        let expected = operand(state, expected);
        let (_, width): (_, Width) = memory.location(node.loc());
        let there = Undefined::Atomic.taken(there);
        width.zero_extend(Value(expected)) == width.zero_extend(Value(there))
    }

    fn read_by_outcome(&self, trie: &mut Trie<M, W>, read: NodeId, succeeds: bool) -> Option<NodeId> {
        let node = trie.node(read);
        let Some(CasRead { other: Some((other, _)), .. }) = node.failure else { return None };
        // That of success is the first.
        let is_first = node.pc() < other;
        (succeeds != is_first).then(|| trie.read_by(read, other, self.code))
    }

    fn disagrees(&self, state: &[u64]) -> bool {
        state[DISAGREED] != 0
    }
}
