//! The traces of one thread: every run in which each load returns some value that its location may hold.
//!
//! A register carries the set of loads that it depends on, and apart from these the loads that it depends on through
//! the condition of a select or the expected value of a compare-exchange (*pick* dependencies). A branch adds the
//! dependencies of its condition to the control dependencies of everything after it.
//!
//! The same interpreter replays known executions, where the value of a load may not be known yet: whatever is computed
//! from it is unknown then too, a branch on it goes both ways, and an access to an unknown address ends the run.

use crate::{Limits, Stop};
use fencepost_ir::{
    Ann, EventKind, Fence, Instr, Location, Operand, Program, RmwOp, Rvalue, Span, ThreadId, Value, Width,
};
use std::collections::{BTreeMap, BTreeSet};

/// A set of events of one trace, by index.
pub type Events = u128;
/// How many events a trace may have.
const MAX_EVENTS: usize = 128;

/// The values that each location may hold.
pub type Universe = BTreeMap<Location, BTreeSet<Value>>;

/// One event of a trace.
#[derive(Clone, Debug)]
pub struct TraceEvent {
    /// What it does.
    pub kind: EventKind,
    /// Where, for accesses.
    pub location: Option<Location>,
    /// How wide.
    pub width: Width,
    /// The value read or written; `None` only in replays.
    pub value: Option<Value>,
    /// Annotation.
    pub ann: Ann,
    /// Made by a read-modify-write or compare-exchange instruction.
    pub amo: bool,
    /// Source.
    pub span: Span,
    /// Reads that its address depends on.
    pub addr: Events,
    /// Reads that its value depends on.
    pub data: Events,
    /// Reads that a branch before it depends on.
    pub ctrl: Events,
    /// Reads that it depends on through a pick.
    pub pick: Events,
    /// The read half that this write completes, and whether one instruction made both.
    pub rmw: Option<(usize, bool)>,
}

/// How a trace ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The thread returned, or ran into an error that is among the failures.
    Done,
    /// An `assume` does not hold.
    Blocked,
    /// The loop bound was reached.
    Cut,
    /// An address is not known.
    Stuck,
}

/// One run of a thread.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Its events in program order.
    pub events: Vec<TraceEvent>,
    /// Its registers at the end.
    pub registers: Vec<Option<Value>>,
    /// What it chose; see [`crate::Key::choices`].
    pub choices: Vec<i64>,
    /// What went wrong.
    pub failures: Vec<String>,
    /// How it ended.
    pub end: End,
}

impl Trace {
    /// What the access of this number stores, if the run gets there and it is known.
    pub fn stored(&self, access: u32) -> Option<Value> {
        self.events.iter().filter(|e| e.location.is_some()).nth(access as usize)?.value
    }
}

#[derive(Clone, Copy)]
struct Register {
    value: Option<Value>,
    depends: Events,
    picks: Events,
}

impl Register {
    /// A value that depends on nothing.
    fn constant(value: Value) -> Register {
        Register { value: Some(value), depends: 0, picks: 0 }
    }
}

/// What loads return.
#[derive(Clone, Copy)]
pub enum Memory<'p> {
    /// Any value of the location.
    Any(&'p Universe),
    /// What each load of the thread reads, as far as it is known.
    Known {
        /// By the number of the access.
        values: &'p BTreeMap<u32, Value>,
        /// Accesses that read the initial value.
        from_init: &'p BTreeSet<u32>,
        /// The initial values.
        initial: &'p BTreeMap<Location, Value>,
    },
}

impl Memory<'_> {
    /// What the access of this number may read at the location.
    fn values(self, access: u32, location: Location) -> Vec<Option<Value>> {
        match self {
            Memory::Any(universe) => {
                universe.get(&location).into_iter().flatten().map(|&v| Some(v)).collect()
            }
            Memory::Known { from_init, initial, .. } if from_init.contains(&access) => {
                vec![initial.get(&location).copied()]
            }
            Memory::Known { values, .. } => vec![values.get(&access).copied()],
        }
    }
}

/// A run in progress.
#[derive(Clone)]
pub struct Run {
    at: usize,
    registers: Vec<Register>,
    /// Its events so far.
    pub events: Vec<TraceEvent>,
    /// How many of them are accesses.
    accesses: u32,
    ctrl: Events,
    ctrl_pick: Events,
    /// The last exclusive load and its location.
    reservation: Option<(usize, Location)>,
    choices: Vec<i64>,
    failures: Vec<String>,
    steps: usize,
}

/// What a step leads to.
pub enum Step {
    /// Go on with these runs.
    Runs(Vec<Run>),
    /// The run is over.
    End(Run, End),
    /// Go on with this run, or else it is stuck here. Only in replays.
    Perhaps(Run),
}

/// All traces of a thread, in a fixed order.
pub fn traces(
    program: &Program,
    thread: ThreadId,
    universe: &Universe,
    limits: &Limits,
) -> Result<Vec<Trace>, Stop> {
    let interpreter = Interpreter { program, thread, memory: Memory::Any(universe) };
    let mut todo = vec![interpreter.start()];
    let mut done = Vec::new();
    while let Some(mut run) = todo.pop() {
        run.count_step(limits)?;
        match interpreter.step(run)? {
            Step::Runs(runs) => todo.extend(runs.into_iter().rev()),
            Step::End(run, end) => done.push(run.finish(end)),
            Step::Perhaps(_) => unreachable!("all values are known"),
        }
        if done.len() + todo.len() > limits.traces {
            return Err(Stop::Limit("traces of one thread"));
        }
    }
    Ok(done)
}

impl Run {
    /// Counts a step, as long as the run is within the limits.
    pub fn count_step(&mut self, limits: &Limits) -> Result<(), Stop> {
        self.steps += 1;
        if self.steps > limits.steps {
            return Err(Stop::Limit("instructions in one run of a thread"));
        }
        if self.events.len() + 2 > MAX_EVENTS {
            return Err(Stop::Limit("events in one thread"));
        }
        Ok(())
    }

    /// Kind and location of its accesses.
    pub fn accesses(&self) -> impl Iterator<Item = (EventKind, Option<Location>)> + '_ {
        self.events.iter().filter(|e| e.location.is_some()).map(|e| (e.kind, e.location))
    }

    /// What it chose so far.
    pub fn choices(&self) -> &[i64] {
        &self.choices
    }

    /// Turns the last choice, of a store-exclusive that fails, into the other one.
    pub fn choose_otherwise(&mut self) {
        if let Some(choice) = self.choices.last_mut() {
            *choice = 1 - *choice;
        }
    }

    /// The run as a trace.
    pub fn finish(self, end: End) -> Trace {
        Trace {
            events: self.events,
            registers: self.registers.iter().map(|r| r.value).collect(),
            choices: self.choices,
            failures: self.failures,
            end,
        }
    }

    fn operand(&self, operand: Operand) -> Register {
        match operand {
            Operand::Reg(reg) => self.registers[reg.0 as usize],
            Operand::Const(value) => Register::constant(value),
        }
    }

    fn assign(&mut self, reg: Option<fencepost_ir::Reg>, value: Option<Value>, depends: Events) {
        if let Some(reg) = reg {
            self.registers[reg.0 as usize] = Register { value, depends, picks: 0 };
        }
    }

    fn next(mut self) -> Run {
        self.at += 1;
        self
    }

    /// Appends an access; control dependencies are those so far. Returns its index.
    fn access(&mut self, place: &Place, kind: EventKind, value: Option<Value>, ann: Ann) -> usize {
        self.accesses += 1;
        self.events.push(TraceEvent {
            kind,
            location: Some(place.location),
            width: place.width,
            value,
            ann,
            amo: false,
            span: place.span,
            addr: place.addr.depends,
            data: 0,
            ctrl: self.ctrl,
            pick: self.ctrl_pick | place.addr.picks,
            rmw: None,
        });
        self.events.len() - 1
    }

    /// Appends a write of a register's value.
    fn write(&mut self, place: &Place, value: Option<Value>, from: Register, ann: Ann) -> usize {
        let value = value.map(|value| place.width.zero_extend(value));
        let index = self.access(place, EventKind::Write, value, ann);
        self.events[index].data = from.depends;
        self.events[index].pick |= from.picks;
        index
    }
}

/// Where an access goes.
struct Place {
    location: Location,
    width: Width,
    addr: Register,
    span: Span,
}

/// Runs one thread.
pub struct Interpreter<'p> {
    /// The program.
    pub program: &'p Program,
    /// Which thread.
    pub thread: ThreadId,
    /// What its loads return.
    pub memory: Memory<'p>,
}

impl Interpreter<'_> {
    /// The thread before its first instruction.
    pub fn start(&self) -> Run {
        let function = self.program.thread_function(self.thread);
        let mut registers = vec![Register::constant(Value::ZERO); function.regs.len()];
        for (register, &value) in registers.iter_mut().zip(&self.program.threads[self.thread.0 as usize].args)
        {
            register.value = Some(value);
        }
        Run {
            at: 0,
            registers,
            events: Vec::new(),
            accesses: 0,
            ctrl: 0,
            ctrl_pick: 0,
            reservation: None,
            choices: Vec::new(),
            failures: Vec::new(),
            steps: 0,
        }
    }

    /// One instruction.
    pub fn step(&self, mut run: Run) -> Result<Step, Stop> {
        let function = self.program.thread_function(self.thread);
        let Some(instr) = function.body.get(run.at) else { return Ok(Step::End(run, End::Done)) };
        let span = function.spans[run.at];
        let one = |run: Run| Ok(Step::Runs(vec![run]));
        let unsupported = |what| Err(Stop::Unsupported { what, span });
        match instr {
            Instr::Assign { dst, value } => {
                let Some(value) = rvalue(&run, value) else { return fault(run, "a division by zero") };
                run.registers[dst.0 as usize] = value;
                one(run.next())
            }
            Instr::Fence(fence) => {
                run.events.push(fence_event(*fence, &run, span));
                one(run.next())
            }
            Instr::Jump(to) => {
                run.at = to.0 as usize;
                one(run)
            }
            Instr::Branch { condition, then_to, else_to } => {
                let condition = run.operand(*condition);
                run.ctrl |= condition.depends;
                run.ctrl_pick |= condition.picks;
                let mut runs = Vec::new();
                for (taken, to) in [(false, else_to), (true, then_to)] {
                    if condition.value.is_none_or(|value| value.is_true() == taken) {
                        runs.push(Run { at: to.0 as usize, ..run.clone() });
                    }
                }
                Ok(Step::Runs(runs))
            }
            Instr::Return(_) => Ok(Step::End(run, End::Done)),
            Instr::Cut => Ok(Step::End(run, End::Cut)),
            Instr::Assume(condition) => {
                // Like a branch to a place that is never left.
                let condition = run.operand(*condition);
                run.ctrl |= condition.depends;
                run.ctrl_pick |= condition.picks;
                match condition.value.is_none_or(Value::is_true) {
                    true => one(run.next()),
                    false => Ok(Step::End(run, End::Blocked)),
                }
            }
            Instr::Assert { condition, message } => {
                if run.operand(*condition).value.is_some_and(|value| !value.is_true()) {
                    run.failures.push(message.clone());
                }
                one(run.next())
            }
            Instr::Nondet { dst, first, last } => {
                let runs = (*first..=*last).map(|n| {
                    let mut run = run.clone();
                    run.assign(Some(*dst), Some(Value::from_i64(n)), 0);
                    run.choices.push(n);
                    run.next()
                });
                Ok(Step::Runs(runs.collect()))
            }
            Instr::Load { .. }
            | Instr::Store { .. }
            | Instr::StoreExclusive { .. }
            | Instr::Rmw { .. }
            | Instr::CompareExchange { .. } => self.memory(run, instr, span),
            Instr::Call { .. } => unsupported("calls"),
            Instr::Spawn { .. } | Instr::Join { .. } => unsupported("threads that start threads"),
            Instr::Lock(_) | Instr::Unlock(_) => unsupported("locks"),
            Instr::Alloc { .. } | Instr::Free(_) => unsupported("allocation"),
            Instr::AtomicBegin | Instr::AtomicEnd => unsupported("atomic sections"),
            _ => unsupported("what only C programs have"),
        }
    }

    fn memory(&self, mut run: Run, instr: &Instr, span: Span) -> Result<Step, Stop> {
        let (addr, width) = match *instr {
            Instr::Load { addr, width, .. }
            | Instr::Store { addr, width, .. }
            | Instr::StoreExclusive { addr, width, .. }
            | Instr::Rmw { addr, width, .. }
            | Instr::CompareExchange { addr, width, .. } => (run.operand(addr), width),
            _ => unreachable!("called for accesses only"),
        };
        let Some(address) = addr.value else { return Ok(unknown_address(run, instr)) };
        let Some(place) = self.place(addr, address, width, span)? else {
            return fault(run, "an access to an address that is not an object's");
        };
        match *instr {
            Instr::Store { value, ann, .. } => {
                let from = run.operand(value);
                run.write(&place, from.value, from, ann);
                Ok(Step::Runs(vec![run.next()]))
            }
            Instr::StoreExclusive { status, success, value, ann, .. } => {
                let from = run.operand(value);
                let reservation = run.reservation.take().filter(|&(_, l)| l == place.location);
                let mut runs = Vec::new();
                for succeeds in [false, true] {
                    let mut run = run.clone();
                    if succeeds {
                        let Some((read, _)) = reservation else { continue };
                        let write = run.write(&place, from.value, from, ann);
                        run.events[write].rmw = Some((read, false));
                    }
                    let outcome = if succeeds { success } else { 1 - success };
                    run.assign(Some(status), Some(Value(u64::from(outcome))), 0);
                    run.choices.push(i64::from(succeeds));
                    runs.push(run.next());
                }
                Ok(Step::Runs(runs))
            }
            _ => {
                let values = self.memory.values(run.accesses, place.location).into_iter();
                Ok(Step::Runs(values.flat_map(|old| read(&run, instr, &place, old)).collect()))
            }
        }
    }

    /// The cell at an address; `None` if it is not one.
    fn place(&self, addr: Register, address: Value, width: Width, span: Span) -> Result<Option<Place>, Stop> {
        let Some((object, offset)) = address.as_pointer() else { return Ok(None) };
        let cells = self.program.objects.get(object.0 as usize).map(|o| &o.cells[..]).unwrap_or(&[]);
        match cells.iter().find(|c| c.offset == offset) {
            Some(cell) if cell.width == width => {
                Ok(Some(Place { location: Location { object, offset }, width, addr, span }))
            }
            Some(_) => Err(Stop::Unsupported { what: "an access of another size than its cell", span }),
            None => Ok(None),
        }
    }
}

/// A store-exclusive that fails needs no address.
fn unknown_address(mut run: Run, instr: &Instr) -> Step {
    let Instr::StoreExclusive { status, success, .. } = *instr else { return Step::End(run, End::Stuck) };
    run.reservation = None;
    run.assign(Some(status), Some(Value(u64::from(1 - success))), 0);
    run.choices.push(0);
    Step::Perhaps(run.next())
}

/// The runs after a load, read-modify-write or compare-exchange that reads `old`.
fn read(run: &Run, instr: &Instr, place: &Place, old: Option<Value>) -> Vec<Run> {
    let mut run = run.clone();
    let loaded = |extend| old.map(|old| place.width.extend(extend, old));
    match *instr {
        Instr::Load { dst, extend, ann, .. } => {
            let event = run.access(place, EventKind::Read, old, ann);
            run.assign(Some(dst), loaded(extend), 1 << event);
            if ann.exclusive {
                run.reservation = Some((event, place.location));
            }
            vec![run.next()]
        }
        Instr::Rmw { dst, extend, op, operand, read, write, .. } => {
            let from = run.operand(operand);
            let event = run.access(place, EventKind::Read, old, read);
            // What an exchange stores is known before what it reads.
            let old = if op == RmwOp::Exchange { Some(Value::ZERO) } else { old };
            let stored = old.zip(from.value).map(|(old, operand)| op.apply(place.width, old, operand));
            let half = run.write(place, stored, from, write);
            run.events[half].rmw = Some((event, true));
            if op != RmwOp::Exchange {
                run.events[half].data |= 1 << event;
            }
            (run.events[event].amo, run.events[half].amo) = (true, true);
            run.assign(dst, loaded(extend), 1 << event);
            vec![run.next()]
        }
        Instr::CompareExchange {
            dst,
            success,
            extend,
            expected,
            desired,
            read,
            write,
            failure,
            weak,
            ..
        } => {
            let (expected, from) = (run.operand(expected), run.operand(desired));
            let truncate = |value| place.width.zero_extend(value);
            let equal = expected.value.zip(old).map(|(expected, old)| truncate(expected) == truncate(old));
            let mut runs = Vec::new();
            for succeeds in [false, true] {
                // A strong exchange succeeds exactly if the values are equal, a weak one may fail then too.
                if equal.is_some_and(|equal| succeeds != equal && (succeeds || !weak)) {
                    continue;
                }
                let mut run = run.clone();
                let ann = if succeeds { read } else { failure };
                let event = run.access(place, EventKind::Read, old, ann);
                run.events[event].amo = true;
                if succeeds {
                    let half = run.write(place, from.value, from, write);
                    run.events[half].rmw = Some((event, true));
                    run.events[half].amo = true;
                    run.events[half].pick |= expected.depends | expected.picks;
                }
                run.assign(dst, loaded(extend), 1 << event);
                run.assign(success, Some(Value(u64::from(succeeds))), 1 << event | expected.depends);
                if weak {
                    run.choices.push(i64::from(succeeds));
                }
                runs.push(run.next());
            }
            runs
        }
        _ => unreachable!("called for reads only"),
    }
}

fn fault(mut run: Run, what: &str) -> Result<Step, Stop> {
    run.failures.push(what.to_string());
    Ok(Step::End(run, End::Done))
}

fn fence_event(fence: Fence, run: &Run, span: Span) -> TraceEvent {
    TraceEvent {
        kind: EventKind::Fence(fence),
        location: None,
        width: Width::W64,
        value: Some(Value::ZERO),
        ann: Ann::PLAIN,
        amo: false,
        span,
        addr: 0,
        data: 0,
        ctrl: run.ctrl,
        pick: run.ctrl_pick,
        rmw: None,
    }
}

/// The value and dependencies of a right-hand side; `None` is a division by zero.
fn rvalue(run: &Run, value: &Rvalue) -> Option<Register> {
    Some(match *value {
        Rvalue::Use(a) => run.operand(a),
        Rvalue::Unary(op, width, extend, a) => {
            let a = run.operand(a);
            Register { value: a.value.map(|a| width.extend(extend, op.apply(width, a))), ..a }
        }
        Rvalue::Binary(op, width, extend, a, b) => {
            let (a, b) = (run.operand(a), run.operand(b));
            let value = match a.value.zip(b.value) {
                Some((a, b)) => Some(width.extend(extend, op.apply(width, a, b)?)),
                None => None,
            };
            Register { value, depends: a.depends | b.depends, picks: a.picks | b.picks }
        }
        Rvalue::Select(condition, a, b) => {
            let condition = run.operand(condition);
            // What an unknown value depends on does not matter: dependencies are read off when all is known.
            let Some(taken) = condition.value else { return Some(Register { value: None, ..condition }) };
            let chosen = run.operand(if taken.is_true() { a } else { b });
            Register { picks: chosen.picks | condition.depends | condition.picks, ..chosen }
        }
    })
}
