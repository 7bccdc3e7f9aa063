//! The rules once more, one at a time, as the paper writes them: sets and maps, no reduction, nothing in common with
//! [`super::rules`]. Replays what the search or another engine reports, and enumerates all runs of small programs in the tests.
//!
//! Assignments are transparent: the rules of the paper let an assignment be initialised and committed whenever something that
//! depends on it
//! wants it to be.

use super::alone::Alone;
use super::code::{PowerCode, PowerFence};
use super::machine::{Move, Rule};
use super::state::Start;
use fencepost_answer::trace::{Cell, Subject, Typed};
use fencepost_ir::flat::Op;
use fencepost_ir::{Operand, Rvalue, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A store: process and index of the event; `None` is the initial one.
pub type Store = Option<(usize, usize)>;

/// How far an event is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Status {
    /// Fetched.
    Fetch,
    /// Initialised.
    Init,
    /// Committed.
    Com,
}

/// An event.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Event {
    /// Its step.
    pub step: u32,
    /// How far it is.
    pub status: Status,
    /// The way of a branch, the value of a choice.
    pub choice: Value,
    /// Where a read reads from.
    pub rf: Option<Store>,
    /// What it read: `Val` of the store, which never changes again.
    pub value: Option<Value>,
}

/// A configuration `<E, po, ins, status, rf, Prop, SyncProp, SeenWr, SeenSyncs, co>`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct State {
    /// Events by process, in program order.
    pub events: Vec<Vec<Event>>,
    /// The next step of each process.
    pub pc: Vec<u32>,
    prop: BTreeMap<(usize, u32), Store>,
    sync_prop: Vec<BTreeSet<(usize, usize)>>,
    seen_writes: BTreeMap<(usize, usize), BTreeMap<u32, Store>>,
    seen_syncs: BTreeMap<(usize, usize), BTreeSet<(usize, usize)>>,
    co: BTreeSet<(Store, Store)>,
    pairs: BTreeSet<(Store, Store, u32)>,
}

/// The values and sources along the path of a process.
struct Flow {
    /// By event: address, data or condition.
    address: Vec<Option<(Option<Value>, BTreeSet<usize>)>>,
    data: Vec<(Option<Value>, BTreeSet<usize>)>,
    /// Registers at the end.
    regs: Vec<(Option<Value>, BTreeSet<usize>)>,
}

/// Replays.
pub struct Plain<'a> {
    code: &'a PowerCode<'a>,
    start: &'a Start,
}

impl<'a> Plain<'a> {
    /// For processes that start there.
    pub fn new(code: &'a PowerCode<'a>, start: &'a Start) -> Plain<'a> {
        Plain { code, start }
    }

    /// The initial configuration.
    pub fn initial(&self) -> State {
        let n = self.code.flat.threads.len();
        let first = |p| if p == 0 && self.code.has_main() { self.start.pc } else { 0 };
        let mut state = State {
            events: vec![Vec::new(); n],
            pc: (0..n).map(first).collect(),
            prop: BTreeMap::new(),
            sync_prop: vec![BTreeSet::new(); n],
            seen_writes: BTreeMap::new(),
            seen_syncs: BTreeMap::new(),
            co: BTreeSet::new(),
            pairs: BTreeSet::new(),
        };
        for p in 0..n {
            state.pc[p] = self.skip(p, state.pc[p]);
        }
        state
    }

    /// The next step that is an event.
    fn skip(&self, p: usize, mut pc: u32) -> u32 {
        while let Some(step) = self.code.flat.threads[p].code.get(pc as usize) {
            match step.op {
                Op::Skip | Op::Assign { .. } | Op::Spawn(_) => pc = step.next,
                _ => break,
            }
        }
        pc
    }

    fn op(&self, state: &State, p: usize, i: usize) -> &Op {
        &self.code.flat.threads[p].code[state.events[p][i].step as usize].op
    }

    pub(super) fn is_read(&self, state: &State, p: usize, i: usize) -> bool {
        matches!(self.op(state, p, i), Op::Load { .. })
    }

    pub(super) fn is_write(&self, state: &State, p: usize, i: usize) -> bool {
        matches!(self.op(state, p, i), Op::Store { .. })
    }

    fn fence(&self, state: &State, p: usize, i: usize) -> Option<PowerFence> {
        match self.op(state, p, i) {
            Op::Fence(fence) => PowerFence::of(*fence),
            _ => None,
        }
    }

    /// `Val`, for every event of a process and at its end.
    fn flow(&self, state: &State, p: usize) -> Flow {
        let thread = &self.code.flat.threads[p];
        let mut regs = vec![(Some(Value::ZERO), BTreeSet::new()); thread.regs as usize];
        let mut at = 0;
        if p == 0 && self.code.has_main() {
            at = self.start.pc;
            for (reg, value) in regs.iter_mut().zip(&self.start.regs) {
                reg.0 = Some(*value);
            }
        }
        let mut flow = Flow { address: Vec::new(), data: Vec::new(), regs: Vec::new() };
        let nothing = || (Some(Value::ZERO), BTreeSet::new());
        let mut index = 0;
        loop {
            let event = state.events[p].get(index).filter(|event| event.step == at);
            if event.is_none() && at == state.pc[p] {
                break;
            }
            let step = &thread.code[at as usize];
            let get = |operand: Operand| match operand {
                Operand::Const(value) => (Some(value), BTreeSet::new()),
                Operand::Reg(reg) => regs[reg.0 as usize].clone(),
            };
            at = step.next;
            let Some(event) = event else {
                if let Op::Assign { dst, value } = &step.op {
                    let value = evaluate(value, &get);
                    regs[dst.0 as usize] = value;
                }
                continue;
            };
            let (address, data, set) = match step.op {
                Op::Load { dst, addr, width, extend, .. } => {
                    let value = event.value.map(|value| width.extend(extend, value));
                    (Some(get(addr)), nothing(), Some((dst, (value, BTreeSet::from([index])))))
                }
                Op::Store { addr, value, .. } => (Some(get(addr)), get(value), None),
                Op::Branch { condition, other } => {
                    if !event.choice.is_true() {
                        at = other;
                    }
                    (None, get(condition), None)
                }
                Op::Assume(condition) | Op::Assert { condition, .. } => (None, get(condition), None),
                Op::Nondet { dst, .. } => {
                    (None, nothing(), Some((dst, (Some(event.choice), BTreeSet::new()))))
                }
                _ => (None, nothing(), None),
            };
            flow.address.push(address);
            flow.data.push(data);
            if let Some((dst, value)) = set {
                regs[dst.0 as usize] = value;
            }
            index += 1;
        }
        flow.regs = regs;
        flow
    }

    /// The value of a store: `Val` of its expression.
    fn stored(&self, state: &State, store: Store, cell: u32) -> Option<Value> {
        let Some((q, j)) = store else { return self.start.memory[cell as usize] };
        let flow = self.flow(state, q);
        match self.op(state, q, j) {
            Op::Store { width, .. } => flow.data[j].0.map(|value| width.zero_extend(value)),
            _ => None,
        }
    }

    /// `Var`: the cell, `None` if it is undetermined.
    fn var(&self, state: &State, flow: &Flow, p: usize, i: usize) -> Option<u32> {
        let width = match self.op(state, p, i) {
            Op::Load { width, .. } | Op::Store { width, .. } => *width,
            _ => return None,
        };
        self.code.cell(flow.address[i].as_ref()?.0?, width)
    }

    pub(super) fn before(&self, state: &State, a: Store, b: Store) -> bool {
        (a.is_none() && b.is_some()) || state.co.contains(&(a, b))
    }

    fn committed(&self, state: &State, p: usize, of: &BTreeSet<usize>) -> bool {
        of.iter().all(|&i| state.events[p][i].status == Status::Com)
    }

    fn all_sync(&self, state: &State, p: usize, i: usize) -> bool {
        (0..i).all(|j| match self.fence(state, p, j) {
            Some(PowerFence::Sync) => state.sync_prop.iter().all(|set| set.contains(&(p, j))),
            Some(PowerFence::Lwsync | PowerFence::Isync) => state.events[p][j].status == Status::Com,
            _ => true,
        })
    }

    fn com_cnd(&self, state: &State, flow: &Flow, p: usize, i: usize) -> bool {
        let mine = self.var(state, flow, p, i);
        let access = flow.address[i].is_some();
        let sources = flow.address[i].iter().map(|a| &a.1).chain([&flow.data[i].1]);
        sources.into_iter().all(|of| self.committed(state, p, of))
            && (0..i).all(|j| {
                let com = state.events[p][j].status == Status::Com;
                let control = matches!(self.op(state, p, j), Op::Branch { .. } | Op::Assume(_));
                let theirs = self.var(state, flow, p, j);
                let same = access && flow.address[j].is_some() && (theirs.is_none() || theirs == mine);
                com || (!control && !same)
            })
    }

    /// `CW`, as the index of the event.
    fn closest_write(&self, state: &State, flow: &Flow, p: usize, i: usize) -> Option<usize> {
        let mine = self.var(state, flow, p, i);
        (0..i).rev().find(|&j| {
            let theirs = self.var(state, flow, p, j);
            self.is_write(state, p, j) && (theirs.is_none() || theirs == mine)
        })
    }

    fn last(&self, state: &State, p: usize, cell: u32) -> Store {
        state.prop.get(&(p, cell)).copied().flatten()
    }

    /// Adds `before` to the coherence order, transitively; false if that closes a cycle.
    fn add_co(&self, state: &mut State, a: Store, b: Store) -> bool {
        if a.is_none() {
            return true;
        }
        let low: Vec<Store> =
            state.co.iter().filter(|pair| pair.1 == a).map(|pair| pair.0).chain([a]).collect();
        let high: Vec<Store> =
            state.co.iter().filter(|pair| pair.0 == b).map(|pair| pair.1).chain([b]).collect();
        for &low in &low {
            for &high in &high {
                state.co.insert((low, high));
            }
        }
        state.co.iter().all(|(a, b)| a != b)
    }

    /// A store-conditional and what its load-reserve read stay neighbours, apart from the process's own stores.
    fn keep_pairs(&self, state: &mut State) -> bool {
        loop {
            let known = state.co.len();
            let mut writes = Vec::new();
            for p in 0..state.events.len() {
                let flow = self.flow(state, p);
                for i in 0..state.events[p].len() {
                    if self.is_write(state, p, i) && state.events[p][i].status == Status::Com {
                        writes.extend(self.var(state, &flow, p, i).map(|cell| (Some((p, i)), cell)));
                    }
                }
            }
            for (from, to, cell) in state.pairs.clone() {
                for &(other, its) in &writes {
                    let foreign = other.map(|o: (usize, usize)| o.0) != to.map(|to: (usize, usize)| to.0);
                    if its != cell || !foreign || other == from {
                        continue;
                    }
                    if self.before(state, from, other) && !self.add_co(state, to, other) {
                        return false;
                    }
                    let between = self.before(state, other, to) && !self.before(state, other, from);
                    if between && (from.is_none() || !self.add_co(state, other, from)) {
                        return false;
                    }
                }
            }
            if known == state.co.len() {
                return true;
            }
        }
    }

    /// Applies a rule, or says why it cannot be applied.
    pub fn apply(&self, state: &mut State, step: Move) -> Result<(), &'static str> {
        let p = usize::from(step.process);
        match step.rule {
            Rule::Fetch(choice) => self.fetch(state, p, choice),
            Rule::Init(i) => self.init(state, p, i as usize),
            Rule::Commit(i) => self.commit(state, p, i as usize),
            Rule::Propagate(i, to) => self.propagate(state, p, i as usize, usize::from(to)),
            Rule::Stop(_) | Rule::Alone(_) => Ok(()),
        }
    }

    fn fetch(&self, state: &mut State, p: usize, choice: Value) -> Result<(), &'static str> {
        let thread = &self.code.flat.threads[p];
        let step = thread.code.get(state.pc[p] as usize).ok_or("the process has ended")?;
        let mut next = step.next;
        let mut status = Status::Fetch;
        match step.op {
            Op::Join { .. } | Op::Cut => return Err("nothing is left to fetch"),
            Op::Branch { other, .. } if !choice.is_true() => next = other,
            // A choice and an assertion that holds do not take part in the rules.
            Op::Nondet { first, last, .. } if !(first..=last).contains(&choice.as_i64()) => {
                return Err("the choice is out of range");
            }
            Op::Nondet { .. } => status = Status::Com,
            _ => {}
        }
        state.events[p].push(Event { step: state.pc[p], status, choice, rf: None, value: None });
        state.pc[p] = self.skip(p, next);
        Ok(())
    }

    fn init(&self, state: &mut State, p: usize, i: usize) -> Result<(), &'static str> {
        let flow = self.flow(state, p);
        if state.events[p].get(i).is_none_or(|event| event.status != Status::Fetch) {
            return Err("the event cannot be initialised twice");
        }
        if !self.all_sync(state, p, i) {
            return Err("a fence before the event holds it up");
        }
        let cell = self.var(state, &flow, p, i).ok_or("the address is not known")?;
        if self.is_write(state, p, i) {
            if flow.data[i].0.is_none() {
                return Err("the value is not known");
            }
            state.events[p][i].status = Status::Init;
            return Ok(());
        }
        if !self.is_read(state, p, i) {
            return Err("only accesses are initialised");
        }
        let from = match self.closest_write(state, &flow, p, i) {
            None => self.last(state, p, cell),
            Some(j) => match state.events[p][j].status {
                Status::Fetch => return Err("an earlier store is not initialised"),
                Status::Init => Some((p, j)),
                Status::Com => self.last(state, p, cell),
            },
        };
        // What is in a cell without a value does not matter: the run is wrong.
        let value = self.stored(state, from, cell).unwrap_or_default();
        state.events[p][i].rf = Some(from);
        state.events[p][i].value = Some(value);
        state.events[p][i].status = Status::Init;
        Ok(())
    }

    fn commit(&self, state: &mut State, p: usize, i: usize) -> Result<(), &'static str> {
        let flow = self.flow(state, p);
        let Some(event) = state.events[p].get(i).cloned() else { return Err("there is no such event") };
        let op = self.op(state, p, i);
        if matches!(op, Op::Nondet { .. }) {
            return Ok(());
        }
        if !self.com_cnd(state, &flow, p, i) && !matches!(op, Op::Assert { .. }) {
            return Err("what the event depends on is not committed");
        }
        if !self.all_sync(state, p, i) && !matches!(op, Op::Assert { .. }) {
            return Err("a fence before the event holds it up");
        }
        match op {
            Op::Load { .. } => {
                let cell = self.var(state, &flow, p, i);
                let from = event.rf.ok_or("the read is not initialised")?;
                for j in (0..i).filter(|&j| self.is_read(state, p, j) && self.var(state, &flow, p, j) == cell)
                {
                    let theirs = state.events[p][j].rf.ok_or("an earlier read is not initialised")?;
                    if self.before(state, from, theirs) {
                        return Err("an earlier read has read a later store");
                    }
                }
            }
            Op::Store { paired, .. } => return self.commit_write(state, &flow, (p, i), *paired),
            Op::Branch { .. } if flow.data[i].0.map(Value::is_true) != Some(event.choice.is_true()) => {
                return Err("the wrong way was fetched");
            }
            Op::Assume(_) | Op::Assert { .. } if flow.data[i].0.map(Value::is_true) != Some(true) => {
                return Err("the condition is false");
            }
            Op::Fence(_) => return self.commit_fence(state, &flow, p, i),
            _ => {}
        }
        state.events[p][i].status = Status::Com;
        Ok(())
    }

    fn commit_write(
        &self,
        state: &mut State,
        flow: &Flow,
        (p, i): (usize, usize),
        paired: bool,
    ) -> Result<(), &'static str> {
        if state.events[p][i].status != Status::Init {
            return Err("the store is not initialised");
        }
        let eieio = |j: usize| {
            self.fence(state, p, j) == Some(PowerFence::Eieio) && state.events[p][j].status != Status::Com
        };
        if (0..i).any(eieio) {
            return Err("an eieio before the store is not committed");
        }
        let cell = self.var(state, flow, p, i).ok_or("the address is not known")?;
        if paired {
            let takes = |&j: &usize| match self.op(state, p, j) {
                Op::Load { reserve, .. } => *reserve,
                Op::Store { paired, .. } => *paired,
                _ => false,
            };
            let last = (0..i).rev().find(takes).ok_or("there is no reservation")?;
            if !self.is_read(state, p, last) || self.var(state, flow, p, last) != Some(cell) {
                return Err("there is no reservation for that address");
            }
            let from = state.events[p][last].rf.ok_or("the load-reserve is not initialised")?;
            state.pairs.insert((from, Some((p, i)), cell));
        }
        let last = self.last(state, p, cell);
        state.events[p][i].status = Status::Com;
        state.prop.insert((p, cell), Some((p, i)));
        state.seen_syncs.insert((p, i), state.sync_prop[p].clone());
        match self.add_co(state, last, Some((p, i))) && self.keep_pairs(state) {
            true => Ok(()),
            false => Err("the coherence order does not allow it"),
        }
    }

    fn commit_fence(&self, state: &mut State, flow: &Flow, p: usize, i: usize) -> Result<(), &'static str> {
        let fence = self.fence(state, p, i).ok_or("that is no fence of POWER")?;
        if state.events[p][i].status != Status::Fetch {
            return Err("the fence is committed already");
        }
        for j in (0..i).filter(|&j| flow.address[j].is_some()) {
            let fine = match fence {
                PowerFence::Isync => flow.address[j].iter().all(|(_, of)| self.committed(state, p, of)),
                PowerFence::Eieio => self.is_read(state, p, j) || state.events[p][j].status == Status::Com,
                _ => state.events[p][j].status == Status::Com,
            };
            if !fine {
                return Err("an access before the fence is not committed");
            }
        }
        state.events[p][i].status = Status::Com;
        if fence == PowerFence::Isync {
            return Ok(());
        }
        state.sync_prop[p].insert((p, i));
        let mut seen = BTreeMap::new();
        for cell in 0..self.code.cells.len() as u32 {
            let own = (0..i)
                .rev()
                .find(|&j| self.is_write(state, p, j) && self.var(state, flow, p, j) == Some(cell))
                .map(|j| (p, j));
            seen.insert(cell, if fence == PowerFence::Eieio { own } else { self.last(state, p, cell) });
        }
        state.seen_writes.insert((p, i), seen);
        Ok(())
    }

    fn propagate(&self, state: &mut State, p: usize, i: usize, q: usize) -> Result<(), &'static str> {
        if state.events[p].get(i).is_none_or(|event| event.status != Status::Com) || q >= state.events.len() {
            return Err("only what is committed is propagated");
        }
        if let Some(seen) = state.seen_writes.get(&(p, i)) {
            if state.sync_prop[q].contains(&(p, i)) {
                return Err("the fence has arrived there already");
            }
            for (cell, &write) in seen {
                let there = self.last(state, q, *cell);
                if write != there && !self.before(state, write, there) {
                    return Err("a store that the fence has seen has not arrived there");
                }
            }
            state.sync_prop[q].insert((p, i));
            return Ok(());
        }
        if !self.is_write(state, p, i) {
            return Err("only stores and fences are propagated");
        }
        let flow = self.flow(state, p);
        let cell = self.var(state, &flow, p, i).ok_or("the address is not known")?;
        let there = self.last(state, q, cell);
        if there == Some((p, i)) || self.before(state, Some((p, i)), there) {
            return Err("a later store has arrived there");
        }
        if !state.seen_syncs[&(p, i)].is_subset(&state.sync_prop[q]) {
            return Err("a fence that the store has seen has not arrived there");
        }
        state.prop.insert((q, cell), Some((p, i)));
        match self.add_co(state, there, Some((p, i))) && self.keep_pairs(state) {
            true => Ok(()),
            false => Err("the coherence order does not allow it"),
        }
    }

    /// `[AABN17, Def. 2.2]`. Assertions take no part in it.
    pub fn is_complete(&self, state: &State) -> bool {
        let n = state.events.len();
        for p in 0..n {
            for i in 0..state.events[p].len() {
                let assertion = matches!(self.op(state, p, i), Op::Assert { .. });
                if !assertion && state.events[p][i].status != Status::Com {
                    return false;
                }
            }
        }
        (0..n).all(|p| {
            (0..state.events[p].len())
                .all(|i| (0..n).all(|q| q == p || self.propagate(&mut state.clone(), p, i, q).is_err()))
        })
    }

    pub(super) fn code(&self) -> &'a PowerCode<'a> {
        self.code
    }

    /// The condition of each event that has one.
    pub(super) fn conditions(&self, state: &State, p: usize) -> Vec<Option<Value>> {
        self.flow(state, p).data.iter().map(|data| data.0).collect()
    }

    /// A read has got the initial value of a cell that has none.
    pub(super) fn reads_nothing(&self, state: &State, p: usize, i: usize) -> bool {
        let cell = || self.var(state, &self.flow(state, p), p, i);
        state.events[p][i].rf == Some(None)
            && cell().is_some_and(|cell| self.start.memory[cell as usize].is_none())
    }

    /// The value of an operand where the process stands.
    pub(super) fn operand_at_end(&self, state: &State, p: usize, operand: Operand) -> Option<Value> {
        match operand {
            Operand::Const(value) => Some(value),
            Operand::Reg(reg) => self.flow(state, p).regs[reg.0 as usize].0,
        }
    }

    /// How many events a process has up to its last committed store.
    pub fn last_store(&self, state: &State, p: usize) -> usize {
        let committed = |&i: &usize| self.is_write(state, p, i) && state.events[p][i].status == Status::Com;
        (0..state.events[p].len()).rev().find(committed).map_or(0, |last| last + 1)
    }

    /// True if nothing is left to fetch.
    pub fn has_ended(&self, state: &State, p: usize) -> bool {
        let step = self.code.flat.threads[p].code.get(state.pc[p] as usize);
        step.is_none_or(|step| matches!(step.op, Op::Join { .. }))
    }

    /// `main` after all processes have ended.
    pub fn alone(&self, state: &State) -> Alone {
        let result = |p: usize| self.registers(state, p)[self.code.flat.threads[p].result.0 as usize];
        let results = (0..state.events.len()).map(result).collect();
        let at = Start { memory: self.memory(state, 0), regs: self.registers(state, 0), pc: state.pc[0] };
        Alone { at, results }
    }

    /// Registers of a process, and memory, of a complete configuration.
    pub fn registers(&self, state: &State, p: usize) -> Vec<Value> {
        self.flow(state, p).regs.iter().map(|reg| reg.0.unwrap_or_default()).collect()
    }

    /// Memory as a process sees it.
    pub fn memory(&self, state: &State, p: usize) -> Vec<Option<Value>> {
        let cells = 0..self.code.cells.len() as u32;
        cells.map(|cell| self.stored(state, self.last(state, p, cell), cell)).collect()
    }

    /// The cell of an access, by its number and its name, and the value that it stores.
    pub(super) fn cell_and_value(&self, state: &State, p: usize, i: usize) -> Option<(u32, Value)> {
        let flow = self.flow(state, p);
        let cell = self.var(state, &flow, p, i)?;
        Some((cell, flow.data[i].0.unwrap_or_default()))
    }

    /// A cell for people.
    pub(super) fn shown(&self, cell: u32) -> Cell {
        self.code.shown(cell)
    }

    /// The value of a cell for people.
    pub(super) fn typed(&self, cell: u32, value: Value) -> Typed {
        self.code.typed(cell, value)
    }

    /// What an event is; `None` for what is not worth telling.
    pub fn subject(&self, state: &State, p: usize, i: usize) -> Option<Subject> {
        let flow = self.flow(state, p);
        let equals = |value: Option<Value>| {
            let cell = self.var(state, &flow, p, i)?;
            Some((self.code.shown(cell), self.code.typed(cell, value.unwrap_or_default())))
        };
        match self.op(state, p, i) {
            Op::Load { .. } => {
                equals(state.events[p][i].value).map(|(cell, value)| Subject::Load(cell, value))
            }
            Op::Store { .. } => equals(flow.data[i].0).map(|(cell, value)| Subject::Store(cell, value)),
            Op::Fence(fence) => Some(Subject::Fence(*fence)),
            _ => None,
        }
    }

    /// Every move that is possible, for exhaustive runs of small programs.
    pub fn moves(&self, state: &State) -> Vec<Move> {
        let mut moves = Vec::new();
        for p in 0..state.events.len() {
            let process = p as u8;
            let ways = match self.code.flat.threads[p].code.get(state.pc[p] as usize).map(|step| &step.op) {
                Some(Op::Branch { .. }) => vec![Value(0), Value(1)],
                Some(Op::Nondet { first, last, .. }) => (*first..=*last).map(Value::from_i64).collect(),
                Some(_) => vec![Value(0)],
                None => Vec::new(),
            };
            moves.extend(ways.into_iter().map(|way| Move { process, rule: Rule::Fetch(way) }));
            for i in 0..state.events[p].len() as u32 {
                moves.push(Move { process, rule: Rule::Init(i) });
                if state.events[p][i as usize].status != Status::Com {
                    moves.push(Move { process, rule: Rule::Commit(i) });
                }
                let others = (0..state.events.len() as u8).filter(|q| *q != process);
                moves.extend(others.map(|q| Move { process, rule: Rule::Propagate(i, q) }));
            }
        }
        moves.retain(|&step| self.apply(&mut state.clone(), step).is_ok());
        moves
    }
}

/// A computed value and the reads that it depends on.
fn evaluate(
    value: &Rvalue,
    get: &dyn Fn(Operand) -> (Option<Value>, BTreeSet<usize>),
) -> (Option<Value>, BTreeSet<usize>) {
    let join = |a: BTreeSet<usize>, b: &BTreeSet<usize>| a.union(b).copied().collect::<BTreeSet<usize>>();
    match *value {
        Rvalue::Use(a) => get(a),
        Rvalue::Unary(op, width, extend, a) => {
            let (a, of) = get(a);
            (a.map(|a| width.extend(extend, op.apply(width, a))), of)
        }
        Rvalue::Binary(op, width, extend, a, b) => {
            let ((a, of), (b, also)) = (get(a), get(b));
            let value =
                a.zip(b).map(|(a, b)| width.extend(extend, op.apply(width, a, b).unwrap_or_default()));
            (value, join(of, &also))
        }
        Rvalue::Select(c, a, b) => {
            let ((c, by), (a, of), (b, also)) = (get(c), get(a), get(b));
            let value = c.zip(a).zip(b).map(|((c, a), b)| if c.is_true() { a } else { b });
            (value, join(join(by, &of), &also))
        }
    }
}
