//! The traces of one thread: every run in which each load returns some value that its location may hold.
//!
//! A register carries the set of loads that it depends on, and apart from these the loads that it depends on through
//! the condition of a select or the expected value of a compare-exchange (*pick* dependencies). A branch adds the
//! dependencies of its condition to the control dependencies of everything after it.

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
    /// The value read or written.
    pub value: Value,
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
}

/// One run of a thread.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Its events in program order.
    pub events: Vec<TraceEvent>,
    /// Its registers at the end.
    pub registers: Vec<Value>,
    /// What it chose; see [`crate::Key::choices`].
    pub choices: Vec<i64>,
    /// What went wrong.
    pub failures: Vec<String>,
    /// How it ended.
    pub end: End,
}

#[derive(Clone, Copy, Default)]
struct Register {
    value: Value,
    depends: Events,
    picks: Events,
}

/// A run in progress.
#[derive(Clone)]
struct Run {
    at: usize,
    registers: Vec<Register>,
    events: Vec<TraceEvent>,
    ctrl: Events,
    ctrl_pick: Events,
    /// The last exclusive load and its location.
    reservation: Option<(usize, Location)>,
    choices: Vec<i64>,
    failures: Vec<String>,
    steps: usize,
}

enum Step {
    /// Go on with these runs.
    Runs(Vec<Run>),
    /// The run is over.
    End(Run, End),
}

/// All traces of a thread, in a fixed order.
pub fn traces(
    program: &Program,
    thread: ThreadId,
    universe: &Universe,
    limits: &Limits,
) -> Result<Vec<Trace>, Stop> {
    let function = program.thread_function(thread);
    let mut registers = vec![Register::default(); function.regs.len()];
    for (register, &value) in registers.iter_mut().zip(&program.threads[thread.0 as usize].args) {
        register.value = value;
    }
    let interpreter = Interpreter { program, thread, universe };
    let mut todo = vec![Run {
        at: 0,
        registers,
        events: Vec::new(),
        ctrl: 0,
        ctrl_pick: 0,
        reservation: None,
        choices: Vec::new(),
        failures: Vec::new(),
        steps: 0,
    }];
    let mut done = Vec::new();
    while let Some(mut run) = todo.pop() {
        run.steps += 1;
        if run.steps > limits.steps {
            return Err(Stop::Limit("instructions in one run of a thread"));
        }
        if run.events.len() + 2 > MAX_EVENTS {
            return Err(Stop::Limit("events in one thread"));
        }
        match interpreter.step(run)? {
            Step::Runs(runs) => todo.extend(runs.into_iter().rev()),
            Step::End(run, end) => done.push(run.finish(end)),
        }
        if done.len() + todo.len() > limits.traces {
            return Err(Stop::Limit("traces of one thread"));
        }
    }
    Ok(done)
}

impl Run {
    fn finish(self, end: End) -> Trace {
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
            Operand::Const(value) => Register { value, ..Register::default() },
        }
    }

    fn assign(&mut self, reg: Option<fencepost_ir::Reg>, value: Value, depends: Events) {
        if let Some(reg) = reg {
            self.registers[reg.0 as usize] = Register { value, depends, picks: 0 };
        }
    }

    fn next(mut self) -> Run {
        self.at += 1;
        self
    }

    /// Appends an access; control dependencies are those so far. Returns its index.
    fn access(&mut self, place: &Place, kind: EventKind, value: Value, ann: Ann) -> usize {
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
    fn write(&mut self, place: &Place, value: Value, from: Register, ann: Ann) -> usize {
        let index = self.access(place, EventKind::Write, place.width.zero_extend(value), ann);
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

struct Interpreter<'p> {
    program: &'p Program,
    thread: ThreadId,
    universe: &'p Universe,
}

impl Interpreter<'_> {
    fn step(&self, mut run: Run) -> Result<Step, Stop> {
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
                run.at = if condition.value.is_true() { then_to.0 } else { else_to.0 } as usize;
                one(run)
            }
            Instr::Return(_) => Ok(Step::End(run, End::Done)),
            Instr::Cut => Ok(Step::End(run, End::Cut)),
            Instr::Assume(condition) => {
                // Like a branch to a place that is never left.
                let condition = run.operand(*condition);
                run.ctrl |= condition.depends;
                run.ctrl_pick |= condition.picks;
                match condition.value.is_true() {
                    true => one(run.next()),
                    false => Ok(Step::End(run, End::Blocked)),
                }
            }
            Instr::Assert { condition, message } => {
                if !run.operand(*condition).value.is_true() {
                    run.failures.push(message.clone());
                }
                one(run.next())
            }
            Instr::Nondet { dst, first, last } => {
                let runs = (*first..=*last).map(|n| {
                    let mut run = run.clone();
                    run.assign(Some(*dst), Value::from_i64(n), 0);
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
        let Some(place) = self.place(addr, width, span)? else {
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
                    run.assign(Some(status), Value(u64::from(outcome)), 0);
                    run.choices.push(i64::from(succeeds));
                    runs.push(run.next());
                }
                Ok(Step::Runs(runs))
            }
            _ => {
                let values = self.universe.get(&place.location).into_iter().flatten();
                Ok(Step::Runs(values.flat_map(|&old| read(&run, instr, &place, old)).collect()))
            }
        }
    }

    /// The cell at an address; `None` if it is not one.
    fn place(&self, addr: Register, width: Width, span: Span) -> Result<Option<Place>, Stop> {
        let Some((object, offset)) = addr.value.as_pointer() else { return Ok(None) };
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

/// The runs after a load, read-modify-write or compare-exchange that reads `old`.
fn read(run: &Run, instr: &Instr, place: &Place, old: Value) -> Vec<Run> {
    let mut run = run.clone();
    match *instr {
        Instr::Load { dst, extend, ann, .. } => {
            let event = run.access(place, EventKind::Read, old, ann);
            run.assign(Some(dst), place.width.extend(extend, old), 1 << event);
            if ann.exclusive {
                run.reservation = Some((event, place.location));
            }
            vec![run.next()]
        }
        Instr::Rmw { dst, extend, op, operand, read, write, .. } => {
            let from = run.operand(operand);
            let event = run.access(place, EventKind::Read, old, read);
            let half = run.write(place, op.apply(place.width, old, from.value), from, write);
            run.events[half].rmw = Some((event, true));
            if op != RmwOp::Exchange {
                run.events[half].data |= 1 << event;
            }
            (run.events[event].amo, run.events[half].amo) = (true, true);
            run.assign(dst, place.width.extend(extend, old), 1 << event);
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
            let equal = place.width.zero_extend(expected.value) == place.width.zero_extend(old);
            let mut runs = Vec::new();
            for succeeds in [false, true] {
                // A strong exchange succeeds exactly if the values are equal, a weak one may fail then too.
                if succeeds != equal && (succeeds || !weak) {
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
                run.assign(dst, place.width.extend(extend, old), 1 << event);
                run.assign(success, Value(u64::from(succeeds)), 1 << event | expected.depends);
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
        value: Value::ZERO,
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
            Register { value: width.extend(extend, op.apply(width, a.value)), ..a }
        }
        Rvalue::Binary(op, width, extend, a, b) => {
            let (a, b) = (run.operand(a), run.operand(b));
            let value = width.extend(extend, op.apply(width, a.value, b.value)?);
            Register { value, depends: a.depends | b.depends, picks: a.picks | b.picks }
        }
        Rvalue::Select(condition, a, b) => {
            let condition = run.operand(condition);
            let chosen = run.operand(if condition.value.is_true() { a } else { b });
            Register { picks: chosen.picks | condition.depends | condition.picks, ..chosen }
        }
    })
}
