//! One pass: runs threads symbolically, each way through a function once, ways merged where they meet.

use super::deps::{Depends, Deps};
use super::flow::{Element, Flow, Loop};
use super::memory::Memory;
use super::shapes::Shapes;
use super::state::{Held, Inside, Merger, Own, State};
use super::{
    Calls, CellId, Event, EventId, EventKind, Fault, FaultKind, InstanceId, Merge, Options, Point, Section,
    Silent, Step, ThreadInstance, Tie,
};
use crate::aig::{Graph, Lit};
use crate::limits::StopReason;
use crate::outcome::{Failed, Unsupported};
use crate::word::Word;
use fencepost_diag::Span;
use fencepost_ir::{Callee, Instr, Operand, Program, Reg, Value};
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

/// Deepest call stack.
const MAX_FRAMES: usize = 256;
/// Rounds of a loop that are not counted, because it is certain that it goes on.
const MAX_FREE_ROUNDS: u32 = 4096;

/// A loop that is being run.
struct Running<'p> {
    members: &'p [bool],
    /// The depth of the call stack.
    depth: usize,
    /// Whether it ends in this round depends on data.
    uncertain: bool,
}

/// A thread that is still to be run.
pub(super) struct Waiting {
    pub id: InstanceId,
    pub args: Vec<Held>,
}

/// One pass over a program.
pub(super) struct Pass<'p> {
    pub program: &'p Program,
    pub options: Options,
    pub flows: &'p [Flow],
    pub shapes: &'p Shapes,
    pub graph: Graph,
    pub deps: Deps,
    pub memory: Memory,
    pub events: Vec<Event>,
    pub merges: Vec<Merge>,
    pub sections: Vec<Section>,
    pub ties: Vec<Tie>,
    pub faults: Vec<Fault>,
    pub silent: Vec<Silent>,
    /// Local objects that the running thread has made and that others can reach: while which of them are alive.
    pub locals: Vec<(u32, Lit)>,
    pub constraints: Vec<Vec<Lit>>,
    pub rounds: Vec<Vec<Lit>>,
    pub threads: Vec<ThreadInstance>,
    pub queue: VecDeque<Waiting>,
    /// For each thread by number, also of ones not met yet: it has ended, and its result.
    pub ends: Vec<(Lit, Word)>,
    pub steps_left: u64,
    /// Objects that the running thread made.
    pub made: u32,
    /// Thread-local copies of the running thread: object to address.
    pub copies: FxHashMap<u32, u32>,
    /// The running thread.
    pub thread: InstanceId,
    /// The thread that the running one is a copy of; itself if it is none.
    pub original: InstanceId,
    /// The arguments of threads, for their copies.
    args: Vec<Vec<Held>>,
    /// The running instruction.
    pub at: (u32, u32),
    units: u32,
    frames: Vec<Rc<Vec<Held>>>,
    functions: Vec<(u32, Lit)>,
    pub calls: Calls,
    loops: Vec<Running<'p>>,
    pub exits: Vec<State>,
    pub steps: Vec<Step>,
}

/// States that wait in front of each instruction of a function.
type Pending = Vec<Vec<State>>;

/// Most ways to put values that others may write behind the cells that a thread reads and writes in one step.
pub const MOST_FUTURES: usize = 64;

/// The cells that these events may read and write in one step.
pub fn updated_cells(events: &[Event]) -> BTreeSet<CellId> {
    let update = |event: &Event| match &event.kind {
        EventKind::Write { access, rmw: Some(_), .. } => {
            access.cells.iter().map(|(cell, _)| *cell).collect::<Vec<_>>()
        }
        _ => Vec::new(),
    };
    events.iter().flat_map(update).collect()
}

impl<'p> Pass<'p> {
    pub fn new(
        program: &'p Program,
        options: Options,
        flows: &'p [Flow],
        shapes: &'p Shapes,
    ) -> Result<Pass<'p>, Failed> {
        let mut graph = Graph::new();
        let memory = Memory::new(program, &shapes.made, &mut graph).map_err(|object| {
            let object = &program.objects[object as usize];
            Unsupported { what: format!("the cells of `{}` overlap", object.name), span: object.span }
        })?;
        Ok(Pass {
            program,
            options,
            flows,
            shapes,
            graph,
            deps: Deps::default(),
            memory,
            events: Vec::new(),
            merges: Vec::new(),
            sections: Vec::new(),
            ties: Vec::new(),
            faults: Vec::new(),
            silent: Vec::new(),
            locals: Vec::new(),
            constraints: Vec::new(),
            rounds: vec![Vec::new(); options.unroll as usize + 1],
            threads: Vec::new(),
            queue: VecDeque::new(),
            ends: Vec::new(),
            steps_left: options.max_steps,
            made: 0,
            copies: FxHashMap::default(),
            thread: InstanceId(0),
            original: InstanceId(0),
            args: Vec::new(),
            at: (0, 0),
            units: 0,
            frames: Vec::new(),
            functions: Vec::new(),
            calls: Rc::default(),
            loops: Vec::new(),
            exits: Vec::new(),
            steps: Vec::new(),
        })
    }

    /// Runs everything.
    pub fn run(&mut self) -> Result<(), Failed> {
        for thread in &self.program.threads {
            let args = thread.args.iter().map(|&value| Held::constant(value)).collect();
            self.add_thread(thread.function.0, args, Lit::TRUE, None);
        }
        let mut moving: FxHashMap<u32, u32> = FxHashMap::default();
        while let Some(waiting) = self.queue.pop_front() {
            let alike = moving.entry(self.threads[waiting.id.0 as usize].function).or_default();
            *alike += 1;
            match self.options.alike.is_none_or(|most| *alike <= most) {
                true => self.run_thread(waiting)?,
                false => self.leave_idle(waiting.id),
            }
        }
        let originals = self.threads.len() as u32;
        for original in (0..originals).map(InstanceId) {
            for _ in 0..self.copies_of(original) {
                let ThreadInstance { function, guard, spawned, .. } = self.threads[original.0 as usize];
                let args = self.args[original.0 as usize].clone();
                let copy = self.add_thread(function, args.clone(), guard, spawned);
                self.threads[copy.0 as usize].copy_of = Some(original);
                self.queue.clear();
                self.run_thread(Waiting { id: copy, args })?;
            }
        }
        Ok(())
    }

    /// How many copies a thread needs. One that starts others is not followed by any.
    fn copies_of(&self, thread: InstanceId) -> u32 {
        let events = self.threads[thread.0 as usize].events.clone();
        let events = &self.events[events.start as usize..events.end as usize];
        if events.iter().any(|event| matches!(event.kind, EventKind::Spawn(_))) {
            return 0;
        }
        let is_step = |event: &&Event| {
            matches!(event.kind, EventKind::Read { .. } | EventKind::Write { rmw: None, .. })
        };
        let steps = if self.options.copies_per_step { events.iter().filter(is_step).count() } else { 0 };
        let futures = self.options.foreign.map_or(0, |foreign| {
            let cells = updated_cells(events).into_iter().map(|cell| &self.memory.cells[cell.0 as usize]);
            let ways: Vec<usize> = cells.map(|cell| foreign.of_width(cell.width).len()).collect();
            if ways.is_empty() { 0 } else { ways.into_iter().fold(1, usize::saturating_mul) }
        });
        // Who has too many is refused where they are counted out.
        let futures = if futures > MOST_FUTURES { 0 } else { futures as u32 };
        (self.options.copies + steps as u32) * (1 + futures)
    }

    /// True while a copy of a thread is run.
    pub fn is_copy(&self) -> bool {
        self.original != self.thread
    }

    /// A thread that will run.
    pub fn add_thread(
        &mut self,
        function: u32,
        args: Vec<Held>,
        guard: Lit,
        spawned: Option<(InstanceId, u32)>,
    ) -> InstanceId {
        let id = InstanceId(self.threads.len() as u32);
        let ended = self.end_of(id.0).0;
        self.threads.push(ThreadInstance {
            function,
            guard,
            spawned,
            ended,
            end: None,
            copy_of: None,
            events: 0..0,
            units: 0,
            registers: Vec::new(),
            steps: Vec::new(),
        });
        self.args.push(args.clone());
        self.queue.push_back(Waiting { id, args });
        id
    }

    /// A thread that does not move.
    fn leave_idle(&mut self, id: InstanceId) {
        let first = self.events.len() as u32;
        self.threads[id.0 as usize].events = first..first;
        let (ended, _) = self.end_of(id.0);
        self.constraints.push(vec![!ended]);
    }

    fn run_thread(&mut self, waiting: Waiting) -> Result<(), Failed> {
        let id = waiting.id;
        let (function, guard) = {
            let thread = &self.threads[id.0 as usize];
            (thread.function, thread.guard)
        };
        (self.thread, self.units, self.made) = (id, 0, 0);
        self.original = self.threads[id.0 as usize].copy_of.unwrap_or(id);
        self.copies.clear();
        self.locals.clear();
        self.exits.clear();
        let first = self.events.len() as u32;
        self.threads[id.0 as usize].events = first..first;
        let state = State {
            guard,
            regs: Rc::new(self.registers(function, waiting.args)),
            memory: Rc::default(),
            returned: Held::constant(Value::ZERO),
            point: Point::Start,
            control: Depends::NONE,
            section: Inside::none(),
            effects: Vec::new(),
            joined: Rc::default(),
            reserved: Rc::default(),
        };
        let mut ended = std::mem::take(&mut self.exits);
        if let Some(state) = self.function(function, state)? {
            ended.push(state);
        }
        ended.append(&mut self.exits);
        // A section that was left open at the end hurts nobody.
        ended.iter_mut().for_each(|state| state.section = Inside::none());
        let end = self.merge(ended);
        self.finish_thread(id, end);
        let thread = &mut self.threads[id.0 as usize];
        thread.events = first..self.events.len() as u32;
        thread.units = self.units;
        thread.steps = std::mem::take(&mut self.steps);
        Ok(())
    }

    /// Says when a thread has ended, and with which result.
    fn finish_thread(&mut self, id: InstanceId, end: Option<State>) {
        let (ended, result) = self.end_of(id.0);
        let guard = end.as_ref().map_or(Lit::FALSE, |state| state.guard);
        // It goes on behind an assertion that fails, but nobody sees it end.
        let fails = |fault: &&Fault| fault.thread == id && fault.kind == FaultKind::Assertion;
        let failed: Vec<Lit> = self.faults.iter().filter(fails).map(|fault| fault.guard).collect();
        let failed = self.graph.or_all(&failed);
        let guard = self.graph.and(guard, !failed);
        self.constraints.extend([vec![!ended, guard], vec![ended, !guard]]);
        if let Some(state) = end {
            for (a, b) in result.pairs(&state.returned.word) {
                self.constraints.extend([vec![!ended, !a, b], vec![!ended, a, !b]]);
            }
            self.see_result(id, &state.returned.word);
            self.threads[id.0 as usize].end = Some(state.point);
            let own_memory = (!self.is_copy()).then_some(state.memory.iter());
            for (&cell, own) in own_memory.into_iter().flatten() {
                self.memory.cells[cell.0 as usize].last = Some(own.held.word.clone());
            }
            self.threads[id.0 as usize].registers = state.regs.iter().map(|held| held.word.clone()).collect();
        }
    }

    fn registers(&self, function: u32, args: Vec<Held>) -> Vec<Held> {
        let declared = &self.program.functions[function as usize];
        let mut regs = vec![Held::constant(Value::ZERO); declared.regs.len()];
        for (reg, arg) in regs.iter_mut().zip(args).take(declared.params as usize) {
            *reg = arg;
        }
        regs
    }

    /// One state of several.
    pub fn merge(&mut self, states: Vec<State>) -> Option<State> {
        let mut merger = Merger {
            graph: &mut self.graph,
            deps: &mut self.deps,
            merges: &mut self.merges,
            cells: &self.memory.cells,
            thread: self.thread,
        };
        merger.merge_all(states)
    }

    /// Runs a function from its start; the state at its end, if it has one.
    fn function(&mut self, function: u32, state: State) -> Result<Option<State>, Failed> {
        self.functions.push((function, state.guard));
        let body = &self.program.functions[function as usize].body;
        // Behind the last instruction are those that fell off the end, and then those that returned.
        let mut pending: Pending = vec![Vec::new(); body.len() + 2];
        pending[0].push(state);
        let flows = self.flows;
        self.elements(function, &flows[function as usize].elements, &mut pending)?;
        let mut end = pending.pop().unwrap_or_default();
        let fallen = pending.pop().unwrap_or_default();
        if let Some(mut state) = self.merge(fallen) {
            self.at = (function, body.len() as u32);
            self.leave(&mut state);
            end.push(state);
        }
        self.functions.pop();
        Ok(self.merge(end))
    }

    fn elements(
        &mut self,
        function: u32,
        elements: &'p [Element],
        pending: &mut Pending,
    ) -> Result<(), Failed> {
        for element in elements {
            match element {
                Element::Instr(pc) => self.instruction(function, *pc, pending)?,
                Element::Loop(inner) => self.run_loop(function, inner, pending)?,
            }
        }
        Ok(())
    }

    /// Runs a loop round by round, until nothing comes round or the bound is reached.
    fn run_loop(&mut self, function: u32, inner: &'p Loop, pending: &mut Pending) -> Result<(), Failed> {
        let head = inner.head as usize;
        let level = self.loops.len();
        let (mut counted, mut free) = (0, 0);
        loop {
            let Some(mut state) = self.merge(std::mem::take(&mut pending[head])) else {
                // An irreducible loop may be entered elsewhere; it then comes to its head or not at all.
                self.elements(function, &inner.body, pending)?;
                if pending[head].is_empty() {
                    return Ok(());
                }
                continue;
            };
            state.effects.truncate(level);
            state.effects.resize(level + 1, Lit::FALSE);
            let before = state.clone();
            pending[head].push(state);
            self.loops.push(Running {
                members: &inner.members,
                depth: self.functions.len(),
                uncertain: false,
            });
            self.instruction(function, inner.head, pending)?;
            self.elements(function, &inner.body, pending)?;
            let uncertain = self.loops.pop().is_some_and(|running| running.uncertain);
            let Some(mut after) = self.merge(std::mem::take(&mut pending[head])) else {
                return Ok(());
            };
            let changed = self.changed(function, inner.head, &before, &after);
            if self.options.skip_idle {
                let effect = after.effects.get(level).copied().unwrap_or(Lit::TRUE);
                let goes_on = self.graph.or(effect, changed);
                after.guard = self.graph.and(after.guard, goes_on);
                if after.guard == Lit::FALSE {
                    return Ok(());
                }
            }
            if uncertain || changed == Lit::FALSE || free == MAX_FREE_ROUNDS {
                self.rounds[counted].push(after.guard);
                counted += 1;
                if counted == self.rounds.len() {
                    return Ok(());
                }
            } else {
                free += 1;
            }
            pending[head].push(after);
        }
    }

    /// Where the state that comes round is another than the state before, as far as anybody will look at it.
    fn changed(&mut self, function: u32, head: u32, before: &State, after: &State) -> Lit {
        let mut differences = Vec::new();
        if !Rc::ptr_eq(&before.regs, &after.regs) {
            let flows = self.flows;
            for reg in &flows[function as usize].live[head as usize] {
                let (a, b) = (&before.regs[reg.0 as usize].word, &after.regs[reg.0 as usize].word);
                differences.push(!Word::equal(&mut self.graph, a, b));
            }
        }
        if !Rc::ptr_eq(&before.memory, &after.memory) {
            let mut written: Vec<(&CellId, &Own)> = after.memory.iter().collect();
            written.sort_unstable_by_key(|(cell, _)| **cell);
            for (cell, own) in written {
                let initial = Own::initial(&self.memory.cells[cell.0 as usize]);
                let old = before.memory.get(cell).unwrap_or(&initial);
                differences.push(!Word::equal(&mut self.graph, &old.held.word, &own.held.word));
                differences.push(self.graph.xor(old.undefined, own.undefined));
            }
        }
        if differences.contains(&Lit::TRUE) {
            return Lit::TRUE;
        }
        self.graph.or_all(&differences)
    }

    /// Runs one instruction.
    fn instruction(&mut self, function: u32, pc: u32, pending: &mut Pending) -> Result<(), Failed> {
        let declared = &self.program.functions[function as usize];
        let Some(instr) = declared.body.get(pc as usize) else { return Ok(()) };
        let states = std::mem::take(&mut pending[pc as usize]);
        if states.is_empty() {
            return Ok(());
        }
        let Some(mut state) = self.merge(states) else { return Ok(()) };
        self.count_step()?;
        self.at = (function, pc);
        let end = declared.body.len();
        let mut go = |state: State, to: u32| pending[(to as usize).min(end)].push(state);
        match instr {
            Instr::Jump(to) => go(state, to.0),
            Instr::Branch { condition, then_to, else_to } => {
                let held = self.value(&state, *condition);
                let condition = held.word.is_true(&mut self.graph);
                state.control = self.deps.both(state.control, held.dep);
                let mut other = state.clone();
                state.guard = self.graph.and(state.guard, condition);
                other.guard = self.graph.and(other.guard, !condition);
                if state.guard != Lit::FALSE && other.guard != Lit::FALSE {
                    self.note_branch(then_to.0, else_to.0);
                }
                go(state, then_to.0);
                go(other, else_to.0);
            }
            Instr::Return(value) => {
                self.leave(&mut state);
                state.returned = value.map_or(Held::constant(Value::ZERO), |value| self.value(&state, value));
                pending[end + 1].push(state);
            }
            Instr::Call { dst, callee, args } => {
                for state in self.call(state, *dst, callee, args)? {
                    go(state, pc + 1);
                }
            }
            _ => {
                if let Some(state) = self.simple(instr, state)? {
                    go(state, pc + 1);
                }
            }
        }
        Ok(())
    }

    fn count_step(&mut self) -> Result<(), Failed> {
        self.steps_left = self.steps_left.checked_sub(1).ok_or(Failed::Stopped(StopReason::Size))?;
        if self.steps_left.is_multiple_of(256)
            && let Some(reason) = self.options.limits.reached()
        {
            return Err(Failed::Stopped(reason));
        }
        Ok(())
    }

    /// A branch whose way depends on data makes it uncertain whether the loops that it can leave go on.
    fn note_branch(&mut self, then_to: u32, else_to: u32) {
        let depth = self.functions.len();
        let inside = |members: &[bool], to: u32| members.get(to as usize).copied().unwrap_or(false);
        for running in self.loops.iter_mut().filter(|running| running.depth == depth) {
            running.uncertain |= !inside(running.members, then_to) || !inside(running.members, else_to);
        }
    }

    /// The functions that a callee may be, with conditions; and where it is none.
    pub fn callees(&mut self, state: &State, callee: &Callee) -> (Vec<(u32, Lit)>, Lit) {
        let pointer = match callee {
            Callee::Function(function) => return (vec![(function.0, Lit::TRUE)], Lit::FALSE),
            Callee::Pointer(pointer) => self.value(state, *pointer).word,
        };
        let mut found = Vec::new();
        for function in 0..self.program.functions.len() as u32 {
            let number = Value(u64::from(function));
            let by_address = pointer.is(&mut self.graph, Value::function(fencepost_ir::FunctionId(function)));
            // The null pointer is no function, although there is a function 0.
            let by_number = match function {
                0 => Lit::FALSE,
                _ => pointer.is(&mut self.graph, number),
            };
            let named = self.graph.or(by_address, by_number);
            if named != Lit::FALSE {
                found.push((function, named));
            }
        }
        let named: Vec<Lit> = found.iter().map(|(_, lit)| *lit).collect();
        let good = self.graph.or_all(&named);
        (found, !good)
    }

    fn call(
        &mut self,
        mut state: State,
        dst: Option<Reg>,
        callee: &Callee,
        args: &[Operand],
    ) -> Result<Vec<State>, Failed> {
        let (functions, bad) = self.callees(&state, callee);
        self.fault_and_stop(&mut state, bad, FaultKind::BadCall, "");
        if let Callee::Pointer(pointer) = callee {
            let dep = self.value(&state, *pointer).dep;
            state.control = self.deps.both(state.control, dep);
        }
        let args: Vec<Held> = args.iter().map(|&arg| self.value(&state, arg)).collect();
        let at = self.at;
        let mut after = Vec::new();
        for (function, named) in functions {
            let mut entry = state.clone();
            entry.guard = self.graph.and(entry.guard, named);
            if entry.guard == Lit::FALSE || !self.may_recurse(function, &mut entry) {
                continue;
            }
            entry.regs = Rc::new(self.registers(function, args.clone()));
            entry.returned = Held::constant(Value::ZERO);
            self.frames.push(state.regs.clone());
            let inner = [at].into_iter().chain(self.calls.iter().copied()).collect();
            let outer = std::mem::replace(&mut self.calls, inner);
            let left = self.function(function, entry)?;
            self.calls = outer;
            self.frames.pop();
            self.at = at;
            if let Some(mut left) = left {
                left.regs = state.regs.clone();
                let result = std::mem::replace(&mut left.returned, Held::constant(Value::ZERO));
                self.set(&mut left, dst, result);
                after.push(left);
            }
        }
        Ok(after)
    }

    /// Whether a function may be entered once more: recursion that depends on data is bounded as loops are.
    fn may_recurse(&mut self, function: u32, entry: &mut State) -> bool {
        let same: Vec<Lit> =
            self.functions.iter().filter(|(f, _)| *f == function).map(|(_, guard)| *guard).collect();
        let uncertain = same.last().is_some_and(|guard| *guard != entry.guard);
        if uncertain && let Some(rounds) = self.rounds.get_mut(same.len() - 1) {
            rounds.push(entry.guard);
            return same.len() < self.rounds.len();
        }
        if uncertain || self.functions.len() >= MAX_FRAMES {
            self.fault_and_stop(entry, Lit::TRUE, FaultKind::Limit("recursion that is too deep"), "");
            return false;
        }
        true
    }

    /// The value of an operand.
    pub fn value(&self, state: &State, operand: Operand) -> Held {
        match operand {
            Operand::Reg(reg) => state.regs[reg.0 as usize].clone(),
            Operand::Const(value) => Held::constant(value),
        }
    }

    /// Sets a register.
    pub fn set(&self, state: &mut State, reg: Option<Reg>, held: Held) {
        if let Some(reg) = reg {
            Rc::make_mut(&mut state.regs)[reg.0 as usize] = held;
        }
    }

    /// The thread returns from a function. From its outermost one that ends the lives of its local objects, but the process ends
    /// with its first thread.
    fn leave(&mut self, state: &mut State) {
        let ends_process = self.original.0 == 0 && self.program.is_process();
        if self.functions.len() == 1 && !ends_process {
            self.end_locals(state);
        }
    }

    /// The lives of all local objects of the running thread end.
    fn end_locals(&mut self, state: &mut State) {
        let mut alive = Vec::new();
        for (object, made) in self.locals.clone() {
            let here = self.graph.and(state.guard, made);
            if here != Lit::FALSE {
                alive.push((object, made));
            }
        }
        self.end_lives(state, alive);
    }

    /// The lives of objects end where their conditions hold.
    pub fn end_lives(&mut self, state: &mut State, objects: Vec<(u32, Lit)>) {
        let some: Vec<Lit> = objects.iter().map(|(_, lit)| *lit).collect();
        let some = self.graph.or_all(&some);
        let guard = self.graph.and(state.guard, some);
        if self.options.life_flags || guard == Lit::FALSE {
            return;
        }
        let unit = self.next_unit();
        self.event(state, guard, unit, EventKind::End(objects));
    }

    /// The running thread ends in this state, with a result.
    pub fn exit(&mut self, mut state: State, result: Held) {
        self.end_locals(&mut state);
        if let Some(regs) = self.frames.first() {
            state.regs = regs.clone();
        }
        state.returned = result;
        self.exits.push(state);
    }

    /// Something goes wrong where the condition holds.
    pub fn fault(&mut self, state: &State, condition: Lit, kind: FaultKind, message: &str) {
        let guard = self.graph.and(state.guard, condition);
        if guard == Lit::FALSE || self.is_copy() {
            return;
        }
        let (function, pc) = self.at;
        let first = self.threads[self.thread.0 as usize].events.start;
        self.faults.push(Fault {
            guard,
            kind,
            thread: self.thread,
            events_before: self.events.len() as u32 - first,
            next_unit: self.units,
            steps_before: self.steps.len() as u32,
            message: message.to_owned(),
            function,
            pc,
            calls: self.calls.clone(),
            span: self.span(),
        });
    }

    /// The same, and the thread does not go on from there.
    pub fn fault_and_stop(&mut self, state: &mut State, condition: Lit, kind: FaultKind, message: &str) {
        self.fault(state, condition, kind, message);
        state.guard = self.graph.and(state.guard, !condition);
    }

    /// Where the running instruction stands in the source.
    pub fn span(&self) -> Span {
        let (function, pc) = self.at;
        self.program.functions[function as usize].spans.get(pc as usize).copied().unwrap_or_default()
    }

    /// The unit of what a state does next. Where it depends on the way which section that is in, it is a new unit, tied to those
    /// of the sections.
    pub fn unit(&mut self, state: &mut State) -> u32 {
        if let Some(unit) = state.section.unit() {
            return unit;
        }
        let unit = self.units;
        self.units += 1;
        for &(when, first) in &state.section.units {
            let when = self.graph.and(state.guard, when);
            if when != Lit::FALSE {
                self.ties.push(Tie { thread: self.thread, when, first, second: unit });
            }
        }
        state.section.units = match state.section.outside {
            Lit::TRUE => Vec::new(),
            outside => vec![(!outside, unit)],
        };
        unit
    }

    /// The unit that the thread will begin next.
    pub fn next_unit(&self) -> u32 {
        self.units
    }

    /// Adds an event.
    pub fn event(&mut self, state: &mut State, guard: Lit, unit: u32, kind: EventKind) -> EventId {
        let id = EventId(self.events.len() as u32);
        let (function, pc) = self.at;
        self.events.push(Event {
            thread: self.thread,
            guard,
            kind,
            unit,
            before: state.point,
            control: state.control,
            joined: state.joined.to_vec(),
            function,
            pc,
            calls: self.calls.clone(),
            span: self.span(),
        });
        state.point = Point::Event(id);
        id
    }

    /// Adds a step for replaying.
    pub fn step(&mut self, guard: Lit, unit: Option<u32>) -> &mut Step {
        let (function, pc) = self.at;
        let first = self.threads[self.thread.0 as usize].events.start;
        self.steps.push(Step {
            guard,
            function,
            pc,
            unit,
            events_before: self.events.len() as u32 - first,
            choice: None,
            spurious: Lit::FALSE,
            spawns: None,
            joins: Vec::new(),
        });
        let last = self.steps.len() - 1;
        &mut self.steps[last]
    }
}
