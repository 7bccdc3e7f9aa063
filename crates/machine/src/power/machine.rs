//! The machine for the stateful search.
//!
//! Reductions, each of which [`super::plain`] is the oracle for:
//! * What was fetched restricts nothing that comes before it, so steps are fetched as soon as the way is known; a branch whose
//!   condition
//!   is not known is taken either way. A way that turns out wrong is given up, because the right one was taken too.
//! * Initialising a store, and committing a read, a branch or a fence, only enables other steps, now as well as later (a fence
//!   that is committed
//!   earlier has seen less), so these steps are done at once, in the context in which they become possible.
//! * A `sync` reaches all processes in one step: to have reached some of them enables nothing, and can hold up their stores. With
//!   two processes
//!   an `lwsync` reaches the other one at once.
//!
//! Assertions order nothing: they are fetched like all else, and one that is false is a finding if the run can be completed by
//! leaving out what was fetched behind the last
//! committed store of each process, or behind the assertion: nobody has noticed that.

use super::alone::{Alone, Halt};
use super::check::observed_alone;
use super::code::{PowerCode, PowerFence};
use super::complete::{Complete, stop_at};
use super::faults::Wrong;
use super::rules::{Rules, View, commit_fence, commit_write, propagate_write};
use super::state::{Address, Config, Event, Process, Start, Status, Stop, Storage, Walk};
use crate::intern::Interner;
use crate::machine::{Kind, Machine, Successors, Worker};
use fencepost_ir::flat::{Op, Phase};
use fencepost_ir::{FailKind, Observable, Property, Value};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A rule applied by a process, for replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// The process.
    pub process: u8,
    /// The rule.
    pub rule: Rule,
}

/// The rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// Fetch the next event: 1 or 0 for the ways of a branch, the value of a choice.
    Fetch(Value),
    /// Only so many events of the process count: what comes next cannot be done.
    Stop(u32),
    /// Initialise an event.
    Init(u32),
    /// Commit an event.
    Commit(u32),
    /// Propagate a store or a fence.
    Propagate(u32, u8),
    /// `main` runs alone; a choice that it makes.
    Alone(Option<Value>),
}

/// What happens in a state.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Stage {
    /// `main` runs alone, before or after.
    Alone(Alone),
    /// The processes run, from here.
    During(Start),
}

/// The machine of a program, with a bound on contexts or without.
pub struct PowerMachine<'c> {
    code: &'c PowerCode<'c>,
    contexts: Option<u32>,
    unroll: u32,
    only_complete: bool,
    stages: Interner<Stage>,
    processes: Interner<Process>,
    storages: Interner<Storage>,
    cut: AtomicBool,
    switched: AtomicBool,
}

const NOBODY: u32 = u32::MAX;

impl<'c> PowerMachine<'c> {
    /// The machine of a program that was unrolled that far; `None` is no bound on contexts.
    pub fn new(code: &'c PowerCode<'c>, contexts: Option<u32>, unroll: u32) -> PowerMachine<'c> {
        PowerMachine {
            code,
            contexts,
            unroll,
            only_complete: false,
            stages: Interner::new(|stage: &Stage| match stage {
                Stage::Alone(alone) => 16 * (alone.at.memory.len() + alone.at.regs.len()) + 64,
                Stage::During(start) => 16 * (start.memory.len() + start.regs.len()) + 64,
            }),
            processes: Interner::new(|process: &Process| {
                let seen: usize = process.events.iter().map(|event| 4 * event.seen.len()).sum();
                process.events.len() * size_of::<Event>() + seen + 64
            }),
            storages: Interner::new(|storage: &Storage| {
                4 * storage.last.len() + 8 * storage.before.len() + 12 * storage.pairs.len() + 96
            }),
            cut: AtomicBool::new(false),
            switched: AtomicBool::new(false),
        }
    }

    /// Leaves out states from which not all processes can end within the bound. Final states are the same; what goes wrong before
    /// the end is not looked for.
    pub fn only_complete(self, only_complete: bool) -> PowerMachine<'c> {
        PowerMachine { only_complete, ..self }
    }

    /// The program.
    pub fn code(&self) -> &'c PowerCode<'c> {
        self.code
    }

    /// The bound on contexts.
    pub fn contexts(&self) -> Option<u32> {
        self.contexts
    }

    /// How far the program was unrolled.
    pub fn unroll(&self) -> u32 {
        self.unroll
    }

    /// True if the unroll bound was reached.
    pub fn was_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }

    /// True if the bound on contexts kept a process from running on.
    pub fn was_switched(&self) -> bool {
        self.switched.load(Ordering::Relaxed)
    }

    fn count(&self) -> usize {
        self.code.flat.threads.len()
    }
}

impl<'c> Machine for PowerMachine<'c> {
    type Label = Vec<Move>;
    type Worker<'m>
        = PowerWorker<'m>
    where
        Self: 'm;

    fn width(&self) -> usize {
        self.count() + 4
    }

    fn worker(&self) -> PowerWorker<'_> {
        PowerWorker {
            machine: self,
            walks: vec![Walk::default(); self.count()],
            log: Vec::new(),
            states: BTreeSet::new(),
            known: Vec::new(),
        }
    }

    fn bytes(&self) -> usize {
        self.stages.bytes() + self.processes.bytes() + self.storages.bytes()
    }
}

/// Expands states, and collects final ones.
pub struct PowerWorker<'m> {
    machine: &'m PowerMachine<'m>,
    walks: Vec<Walk>,
    log: Vec<Move>,
    /// The processes of the state that is being expanded, with their numbers.
    known: Vec<(Arc<Process>, u32)>,
    /// What the final condition observes in final states.
    pub states: BTreeSet<Vec<Value>>,
}

/// Contexts that have begun, and whose the last one is.
#[derive(Clone, Copy)]
struct Turn {
    contexts: u32,
    active: u32,
}

impl PowerWorker<'_> {
    fn row(&self, turn: Turn, stage: u32, config: Option<&Config>) -> Vec<u32> {
        let machine = self.machine;
        let mut row = vec![turn.contexts, turn.active, stage];
        match config {
            Some(config) => {
                row.push(machine.storages.number(config.storage.clone()));
                row.extend(config.processes.iter().enumerate().map(|(p, process)| match self.known.get(p) {
                    Some((known, number)) if Arc::ptr_eq(known, process) => *number,
                    _ => machine.processes.number_of(process),
                }));
            }
            None => row.resize(machine.width(), 0),
        }
        row
    }

    fn config(&mut self, row: &[u32]) -> Config {
        let machine = self.machine;
        self.known.clear();
        self.known.extend(row[4..].iter().map(|number| (machine.processes.part(*number), *number)));
        let processes = self.known.iter().map(|(process, _)| process.clone());
        Config { processes: processes.collect(), storage: Storage::clone(&machine.storages.part(row[3])) }
    }

    fn walk(&mut self, rules: Rules<'_>, config: &Config, process: usize) {
        self.walks[process].follow(rules.code, rules.start, process, &config.processes[process]);
    }

    /// The configuration in which the processes start.
    fn first_config(&self, start: &Start) -> Config {
        let code = self.machine.code;
        let cells = code.cells.len();
        let process = |p: usize| Process {
            events: Vec::new(),
            pc: if p == 0 && code.has_main() { start.pc } else { 0 },
            stop: Stop::No,
        };
        // A process in which nothing happens needs no context to end.
        let ends = |mut process: Process, p: usize| {
            let mut pc = process.pc;
            while let Some(step) = code.flat.threads[p].code.get(pc as usize) {
                match step.op {
                    Op::Skip | Op::Assign { .. } | Op::Spawn(_) => pc = step.next,
                    Op::Join { .. } => break,
                    _ => return process,
                }
            }
            (process.pc, process.stop) = (pc, Stop::Ended);
            process
        };
        Config {
            processes: (0..self.machine.count()).map(|p| Arc::new(ends(process(p), p))).collect(),
            storage: Storage {
                last: vec![0; self.machine.count() * cells],
                before: Vec::new(),
                pairs: Vec::new(),
            },
        }
    }

    /// A state in which `main` runs alone: on to its next halt.
    fn expand_alone(&mut self, stage: &Alone, out: &mut Successors<Vec<Move>>) -> Kind {
        let code = self.machine.code;
        let mut alone = stage.clone();
        let step = |rule| Move { process: 0, rule };
        match alone.run(code) {
            Halt::Threads => {
                let start = alone.at;
                let turn = Turn { contexts: 0, active: NOBODY };
                let config = self.first_config(&start);
                let number = self.machine.stages.number(Stage::During(start.clone()));
                self.log.clear();
                self.log.push(step(Rule::Alone(None)));
                self.emit_running(turn, number, &start, config, out);
                Kind::Ordinary
            }
            Halt::Choice(first, last) => {
                for value in (first..=last).map(Value::from_i64) {
                    let mut after = alone.clone();
                    after.choose(code, value);
                    let number = self.machine.stages.number(Stage::Alone(after));
                    let row = self.row(Turn { contexts: 0, active: NOBODY }, number, None);
                    out.push(&row, || vec![step(Rule::Alone(None)), step(Rule::Alone(Some(value)))]);
                }
                Kind::Ordinary
            }
            Halt::End => self.note_final(observed_alone(code, &alone)),
            Halt::Blocked => Kind::Ordinary,
            Halt::Cut => {
                self.machine.cut.store(true, Ordering::Relaxed);
                Kind::Ordinary
            }
            Halt::Wrong(FailKind::Unsupported) => Kind::Limit,
            Halt::Wrong(_) => Kind::Bad,
        }
    }

    /// Notes a final state, and says whether it is as it should be.
    fn note_final(&mut self, state: Vec<Value>) -> Kind {
        let Property::Final(condition) = &self.machine.code.program.property else { return Kind::Final };
        let good = crate::check::allows(condition, &state);
        self.states.insert(state);
        if good { Kind::Final } else { Kind::Bad }
    }

    /// Brings a configuration to rest (in bounded runs, the active process) and emits it.
    fn emit_running(
        &mut self,
        turn: Turn,
        stage: u32,
        start: &Start,
        mut config: Config,
        out: &mut Successors<Vec<Move>>,
    ) {
        let rules = Rules { code: self.machine.code, start };
        let whose: Vec<usize> = match (self.machine.contexts, turn.active) {
            (None, _) => (0..self.machine.count()).collect(),
            (Some(_), NOBODY) => Vec::new(),
            (Some(_), active) => vec![active as usize],
        };
        for process in whose {
            if !self.rest(rules, &mut config, process) {
                return;
            }
        }
        if self.machine.only_complete && !self.can_be_completed(turn, &config) {
            return;
        }
        let row = self.row(turn, stage, Some(&config));
        let log = &self.log;
        out.push(&row, || log.clone());
    }

    /// There are contexts enough for all processes that have something left to do: each of them needs one.
    fn can_be_completed(&self, turn: Turn, config: &Config) -> bool {
        let Some(most) = self.machine.contexts else { return true };
        let everybody = ((1u16 << self.machine.count()) - 1) as u8;
        let over = |(p, process): (usize, &Arc<Process>)| {
            let code = &self.machine.code.flat.threads[p].code;
            let travels = |event: &Event| match code[event.step as usize].op {
                Op::Fence(fence) => PowerFence::of(fence).is_some_and(PowerFence::travels),
                _ => false,
            };
            let done = |event: &Event| {
                event.status == Status::Committed && (event.arrived == everybody || !travels(event))
            };
            p as u32 == turn.active || process.stop == Stop::Ended && process.events.iter().all(done)
        };
        let lost = |process: &Arc<Process>| !matches!(process.stop, Stop::No | Stop::Ended);
        let waiting = config.processes.iter().enumerate().filter(|process| !over(*process)).count();
        waiting as u32 <= most - turn.contexts && !config.processes.iter().any(lost)
    }

    /// Fetches what is certain and does the steps that only help, until there are none. False if a wrong way was taken.
    fn rest(&mut self, rules: Rules<'_>, config: &mut Config, process: usize) -> bool {
        loop {
            self.walk(rules, config, process);
            let fetched = self.fetch(rules, config, process);
            if fetched {
                self.walk(rules, config, process);
            }
            match self.help(rules, config, process) {
                None => return false,
                Some(helped) if !helped && !fetched => return true,
                Some(_) => {}
            }
        }
    }

    /// Fetches events up to one whose way is not certain.
    fn fetch(&mut self, rules: Rules<'_>, config: &mut Config, process: usize) -> bool {
        let code = rules.code;
        let thread = &code.flat.threads[process];
        let mut any = false;
        while config.processes[process].stop == Stop::No {
            let state = config.process(process);
            let Some(step) = thread.code.get(state.pc as usize) else {
                state.stop = Stop::Ended;
                return true;
            };
            match step.op {
                Op::Skip | Op::Assign { .. } | Op::Spawn(_) | Op::AtomicBegin | Op::AtomicEnd => {
                    state.pc = step.next;
                }
                Op::Load { .. } | Op::Store { .. } | Op::Fence(_) | Op::Assume(_) | Op::Assert { .. } => {
                    self.fetched(state, process, 0, step.next)
                }
                Op::Branch { condition, other } => {
                    self.walk(rules, config, process);
                    let Some(value) = self.walks[process].operand(condition).value else { return any };
                    let (value, next) = if value.is_true() { (1, step.next) } else { (0, other) };
                    self.fetched(config.process(process), process, value, next);
                }
                Op::Nondet { .. } => return any,
                // `main` waits for the others, and then runs alone.
                Op::Join { .. } => state.stop = Stop::Ended,
                Op::Cut => {
                    state.stop = Stop::Cut;
                    self.machine.cut.store(true, Ordering::Relaxed);
                }
            }
            any = true;
        }
        any
    }

    fn fetched(&mut self, state: &mut Process, process: usize, value: u64, next: u32) {
        let (step, status, seen) = (state.pc, Status::Fetched, Vec::new());
        state.events.push(Event { step, status, value, from: 0, arrived: 0, seen });
        state.pc = next;
        self.log.push(Move { process: process as u8, rule: Rule::Fetch(Value(value)) });
    }

    /// Does one pass of steps that only help. `None` if a wrong way was taken.
    fn help(&mut self, rules: Rules<'_>, config: &mut Config, process: usize) -> Option<bool> {
        let two = self.machine.count() == 2;
        let mut any = false;
        for index in 0..config.processes[process].events.len() {
            let walk = &self.walks[process];
            let view = View { rules, config, process, walk };
            let mut log = |rule| self.log.push(Move { process: process as u8, rule });
            let status = config.processes[process].events[index].status;
            let info = walk.infos[index];
            match (view.op(index), status) {
                (Op::Store { .. }, Status::Fetched) if view.may_init_write(index) => {
                    log(Rule::Init(index as u32));
                    let event = &mut config.process(process).events[index];
                    event.status = Status::Init;
                    event.value = info.data.value.unwrap_or_default().0;
                }
                (Op::Load { .. }, Status::Init) if view.may_commit_read(index) => {
                    log(Rule::Commit(index as u32));
                    config.process(process).events[index].status = Status::Committed;
                }
                (Op::Branch { .. }, Status::Fetched) => {
                    let taken = config.processes[process].events[index].value != 0;
                    if info.data.value.is_some_and(|value| value.is_true() != taken) {
                        return None;
                    }
                    if !view.may_commit_branch(index) {
                        continue;
                    }
                    log(Rule::Commit(index as u32));
                    config.process(process).events[index].status = Status::Committed;
                }
                (Op::Assume(_), Status::Fetched) if view.may_commit_branch(index) => {
                    log(Rule::Commit(index as u32));
                    config.process(process).events[index].status = Status::Committed;
                }
                (Op::Assert { .. }, Status::Fetched) => match info.data.value {
                    None => continue,
                    // A run that is wrong has no final state.
                    Some(value) if !value.is_true() && self.machine.only_complete => return None,
                    Some(value) if !value.is_true() => continue,
                    Some(_) => {
                        log(Rule::Commit(index as u32));
                        config.process(process).events[index].status = Status::Committed;
                    }
                },
                (Op::Nondet { .. }, Status::Fetched) => {
                    log(Rule::Commit(index as u32));
                    config.process(process).events[index].status = Status::Committed;
                }
                (Op::Fence(_), Status::Fetched) if view.may_commit_fence(index) => {
                    log(Rule::Commit(index as u32));
                    commit_fence(rules, config, walk, process, index);
                }
                (Op::Fence(_), Status::Committed) => {
                    let everybody = rules.everybody();
                    let event = &config.processes[process].events[index];
                    let eager = info.fence == Some(PowerFence::Sync) || two;
                    let rest = everybody & !event.arrived;
                    let to: Vec<usize> = (0..8).filter(|q| rest & (1 << q) != 0).collect();
                    let travels = info.fence.is_some_and(PowerFence::travels);
                    if !travels
                        || !eager
                        || to.is_empty()
                        || !to.iter().all(|&q| view.may_propagate_fence(index, q))
                    {
                        continue;
                    }
                    for &q in &to {
                        log(Rule::Propagate(index as u32, q as u8));
                    }
                    let event = &mut config.process(process).events[index];
                    event.arrived = everybody;
                    event.seen.clear();
                }
                _ => continue,
            }
            any = true;
            // Registers and conditions may have changed.
            self.walk(rules, config, process);
        }
        Some(any)
    }

    /// The steps of a process that are a matter of choice.
    fn moves(
        &mut self,
        turn: Turn,
        stage: u32,
        start: &Start,
        config: &Config,
        process: usize,
        out: &mut Successors<Vec<Move>>,
    ) {
        let rules = Rules { code: self.machine.code, start };
        // The others' cells matter only where store-conditionals keep the coherence order.
        let code = &rules.code.flat.threads[process].code;
        let paired = |event: &Event| matches!(code[event.step as usize].op, Op::Store { paired: true, .. });
        let all = !config.storage.pairs.is_empty() || config.processes[process].events.iter().any(paired);
        for p in (0..self.machine.count()).filter(|&p| all || p == process) {
            self.walk(rules, config, p);
        }
        let walks = std::mem::take(&mut self.walks);
        let view = View { rules, config, process, walk: &walks[process] };
        let label = |rule| Move { process: process as u8, rule };
        let mut next: Vec<(Config, Rule)> = Vec::new();
        let many = self.machine.count() > 2;
        for (index, event) in config.processes[process].events.iter().enumerate() {
            let others = (0..self.machine.count()).filter(|q| *q != process);
            match (view.op(index), event.status) {
                (Op::Load { .. }, Status::Fetched) => {
                    if walks[process].infos[index].address == Some(Address::Bad) {
                        let stopped = stop_at(&view, index, event.step);
                        next.extend(stopped.map(|after| (after, Rule::Stop(index as u32))));
                    } else if let Some((from, value)) = view.init_read(index) {
                        // A read without a value is the last that its process does.
                        let behind = code[event.step as usize].next;
                        let after = match value {
                            Some(_) => Some(config.clone()),
                            None => stop_at(&view, index + 1, behind),
                        };
                        next.extend(after.map(|mut after| {
                            let event = &mut after.process(process).events[index];
                            event.status = Status::Init;
                            (event.value, event.from) = (value.unwrap_or_default().0, from);
                            (after, Rule::Init(index as u32))
                        }));
                    }
                }
                (Op::Store { .. }, Status::Fetched)
                    if walks[process].infos[index].address == Some(Address::Bad) =>
                {
                    let stopped = stop_at(&view, index, event.step);
                    next.extend(stopped.map(|after| (after, Rule::Stop(index as u32))));
                }
                (Op::Store { .. }, Status::Init) if view.may_commit_write(index) => {
                    let after = commit_write(rules, config, &walks, process, index);
                    next.extend(after.map(|after| (after, Rule::Commit(index as u32))));
                }
                (Op::Store { .. }, Status::Committed) => {
                    for to in others.filter(|&to| view.may_propagate_write(index, to)) {
                        let after = propagate_write(rules, config, &walks, (process, index), to);
                        next.extend(after.map(|after| (after, Rule::Propagate(index as u32, to as u8))));
                    }
                }
                (Op::Fence(_), Status::Committed)
                    if many && walks[process].infos[index].fence != Some(PowerFence::Sync) =>
                {
                    for to in others.filter(|&to| view.may_propagate_fence(index, to)) {
                        let mut after = config.clone();
                        let event = &mut after.process(process).events[index];
                        event.arrived |= 1 << to;
                        if event.arrived == rules.everybody() {
                            event.seen.clear();
                        }
                        next.push((after, Rule::Propagate(index as u32, to as u8)));
                    }
                }
                _ => {}
            }
        }
        self.ways(config, process, &mut next);
        self.walks = walks;
        for (after, rule) in next {
            self.log.clear();
            self.log.push(label(rule));
            self.emit_running(turn, stage, start, after, out);
        }
    }

    /// What may be fetched next if that is not certain.
    fn ways(&self, config: &Config, process: usize, next: &mut Vec<(Config, Rule)>) {
        let state = &config.processes[process];
        let thread = &self.machine.code.flat.threads[process];
        let Some(step) = thread.code.get(state.pc as usize).filter(|_| state.stop == Stop::No) else {
            return;
        };
        let fetched = |value: Value, to: u32| {
            let mut after = config.clone();
            let state = after.process(process);
            let (status, seen) = (Status::Fetched, Vec::new());
            state.events.push(Event { step: state.pc, status, value: value.0, from: 0, arrived: 0, seen });
            state.pc = to;
            (after, Rule::Fetch(value))
        };
        match step.op {
            Op::Branch { other, .. } => {
                next.push(fetched(Value(1), step.next));
                next.push(fetched(Value(0), other));
            }
            Op::Nondet { first, last, .. } => {
                next.extend((first..=last).map(|value| fetched(Value::from_i64(value), step.next)));
            }
            _ => {}
        }
    }

    /// What kind of state this is, and what to do if it is complete.
    fn kind(&mut self, start: &Start, config: &Config, out: &mut Successors<Vec<Move>>) -> Kind {
        let code = self.machine.code;
        let rules = Rules { code, start };
        // Most states are neither; that is seen without following the processes.
        let over = |process: &Arc<Process>| {
            process.stop == Stop::Ended
                && process.events.iter().all(|event| event.status == Status::Committed)
        };
        let is_false = |(p, process): (usize, &Arc<Process>)| {
            let steps = &code.flat.threads[p].code;
            let waits = |event: &Event| {
                event.status == Status::Fetched && matches!(steps[event.step as usize].op, Op::Assert { .. })
            };
            process.stop == Stop::Fault || process.events.iter().any(waits)
        };
        let may_fail = config.processes.iter().enumerate().any(is_false);
        if !may_fail && !config.processes.iter().all(over) {
            return Kind::Ordinary;
        }
        for p in 0..self.machine.count() {
            self.walk(rules, config, p);
        }
        let complete = Complete { rules, config, walks: &self.walks };
        match complete.wrong() {
            Some(Wrong::Assertion(FailKind::Unsupported)) => return Kind::Limit,
            Some(_) => return Kind::Bad,
            None => {}
        }
        if !complete.ended() {
            return Kind::Ordinary;
        }
        let memory = complete.memory();
        if code.has_main() {
            let (state, walk) = (&config.processes[0], &self.walks[0]);
            let regs = walk.regs.iter().map(|reg| reg.value.unwrap_or_default()).collect();
            let result = |p: usize| {
                let reg = code.flat.threads[p].result;
                self.walks[p].regs[reg.0 as usize].value.unwrap_or_default()
            };
            let results = (0..self.machine.count()).map(result).collect();
            let alone = Alone { at: Start { memory, regs, pc: state.pc }, results };
            let number = self.machine.stages.number(Stage::Alone(alone));
            let row = self.row(Turn { contexts: 0, active: NOBODY }, number, None);
            out.push(&row, Vec::new);
            return Kind::Ordinary;
        }
        self.observe(&memory)
    }

    fn observe(&mut self, memory: &[Option<Value>]) -> Kind {
        let code = self.machine.code;
        let Property::Final(condition) = &code.program.property else { return Kind::Final };
        let value = |observable: &Observable| match *observable {
            Observable::Register { thread, reg } => {
                self.walks[thread.0 as usize].regs[reg.0 as usize].value.unwrap_or_default()
            }
            Observable::Memory { object, offset, width } => {
                let cell = code.cell(Value::pointer(object, offset), width);
                let value = cell.and_then(|cell| memory[cell as usize]).unwrap_or_default();
                width.sign_extend(value)
            }
        };
        let state = condition.observed.iter().map(value).collect();
        self.note_final(state)
    }
}

impl PowerWorker<'_> {
    /// What the processes did before the first state: without a bound on contexts they are at rest there.
    pub fn first_moves(&mut self) -> Vec<Move> {
        let alone = Alone::new(self.machine.code);
        self.log.clear();
        if self.machine.contexts.is_none() && !self.machine.code.has_main() {
            let rules = Rules { code: self.machine.code, start: &alone.at };
            let mut config = self.first_config(&alone.at);
            for process in 0..self.machine.count() {
                self.rest(rules, &mut config, process);
            }
        }
        std::mem::take(&mut self.log)
    }
}

impl Worker for PowerWorker<'_> {
    type Label = Vec<Move>;

    fn initial(&mut self) -> Vec<u32> {
        let alone = Alone::new(self.machine.code);
        let turn = Turn { contexts: 0, active: NOBODY };
        if self.machine.code.has_main() && self.machine.code.phase(0, 0) == Phase::Before {
            let number = self.machine.stages.number(Stage::Alone(alone));
            return self.row(turn, number, None);
        }
        let mut config = self.first_config(&alone.at);
        let rules = Rules { code: self.machine.code, start: &alone.at };
        if self.machine.contexts.is_none() {
            for process in 0..self.machine.count() {
                self.rest(rules, &mut config, process);
            }
        }
        let number = self.machine.stages.number(Stage::During(alone.at.clone()));
        self.row(turn, number, Some(&config))
    }

    fn expand(&mut self, row: &[u32], out: &mut Successors<Vec<Move>>) -> Kind {
        let stage = self.machine.stages.part(row[2]);
        let start = match &*stage {
            Stage::Alone(alone) => return self.expand_alone(alone, out),
            Stage::During(start) => start,
        };
        let config = self.config(row);
        let kind = self.kind(start, &config, out);
        if matches!(kind, Kind::Bad | Kind::Limit | Kind::Final) {
            return kind;
        }
        let turn = Turn { contexts: row[0], active: row[1] };
        match self.machine.contexts {
            None => {
                for process in 0..self.machine.count() {
                    self.moves(turn, row[2], start, &config, process, out);
                }
            }
            Some(most) => {
                if turn.active != NOBODY {
                    self.moves(turn, row[2], start, &config, turn.active as usize, out);
                }
                for next in (0..self.machine.count() as u32).filter(|next| *next != turn.active) {
                    if turn.contexts == most {
                        self.machine.switched.store(true, Ordering::Relaxed);
                        break;
                    }
                    let turn = Turn { contexts: turn.contexts + 1, active: next };
                    self.log.clear();
                    self.emit_running(turn, row[2], start, config.clone(), out);
                }
            }
        }
        kind
    }
}
