//! Configurations: what each process has fetched and how far it is, and who has seen which store.

use super::code::{PowerCode, PowerFence};
use fencepost_ir::flat::Op;
use fencepost_ir::{Operand, Rvalue, Value};
use std::sync::Arc;

/// How far an event is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Status {
    /// Fetched.
    Fetched,
    /// Initialised.
    Init,
    /// Committed.
    Committed,
}

/// A store: 0 is the initial one of its cell, others are process and index of the event, from [`write_id`].
pub type Write = u32;

/// The number of a store event.
pub fn write_id(process: usize, index: usize) -> Write {
    (process as u32) << 20 | (index as u32 + 1)
}

/// The process of a store that is not an initial one.
pub fn process_of(write: Write) -> usize {
    (write >> 20) as usize
}

/// The index of a store's event in its process.
pub fn index_of(write: Write) -> usize {
    (write & 0xf_ffff) as usize - 1
}

/// A fetched step that takes part in the rules: access, fence, branch, assumption, assertion, choice.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Event {
    /// The step of the process's code.
    pub step: u32,
    /// How far it is.
    pub status: Status,
    /// Read: the value. Choice: what was chosen. Branch: 1 if the next step was fetched, 0 if the other.
    pub value: u64,
    /// Read: where from.
    pub from: Write,
    /// Fence: the processes that it has reached, as bits.
    pub arrived: u8,
    /// Fence: the stores that it has seen, by cell. Store: fences of other processes that it has seen.
    pub seen: Vec<u32>,
}

/// How the code of a process ends, as far as it was fetched.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stop {
    /// It goes on.
    No,
    /// At its end.
    Ended,
    /// Nothing is done from `pc` on: what is there cannot be done, or the last read has no value.
    Fault,
    /// An assumption is false.
    Blocked,
    /// The unroll bound.
    Cut,
}

/// A process.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Process {
    /// What was fetched.
    pub events: Vec<Event>,
    /// The next step to fetch.
    pub pc: u32,
    /// Whether that will happen.
    pub stop: Stop,
}

/// What processes have seen.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Storage {
    /// The last store that reached each process: `process * cells + cell`.
    pub last: Vec<Write>,
    /// The coherence order between stores that are not initial, transitive, sorted.
    pub before: Vec<(Write, Write)>,
    /// Store-conditionals, with the store that the load-reserve read, and the cell; sorted.
    pub pairs: Vec<(Write, Write, u32)>,
}

impl Storage {
    /// `a` before `b` in coherence order, or the same.
    pub fn at_most(&self, a: Write, b: Write) -> bool {
        a == b || a == 0 || self.before.binary_search(&(a, b)).is_ok()
    }

    /// Puts `a` and what is before it before `b` and what is behind it.
    pub fn order(&mut self, a: Write, b: Write) {
        if a == 0 || self.before.binary_search(&(a, b)).is_ok() {
            return;
        }
        let (mut low, mut high) = (vec![a], vec![b]);
        low.extend(self.before.iter().filter(|pair| pair.1 == a).map(|pair| pair.0));
        high.extend(self.before.iter().filter(|pair| pair.0 == b).map(|pair| pair.1));
        for &a in &low {
            for &b in &high {
                if let Err(at) = self.before.binary_search(&(a, b)) {
                    self.before.insert(at, (a, b));
                }
            }
        }
    }

    /// Keeps store-conditionals next to what their loads read, as far as other processes' stores to the cell (`writes`) are
    /// concerned.
    /// False if that cannot be.
    pub fn keep_pairs(&mut self, writes: &[(Write, u32)]) -> bool {
        loop {
            let known = self.before.len();
            for at in 0..self.pairs.len() {
                let (from, write, cell) = self.pairs[at];
                for &(other, its_cell) in writes {
                    if its_cell != cell || process_of(other) == process_of(write) {
                        continue;
                    }
                    if other != from && self.at_most(from, other) {
                        self.order(write, other);
                    } else if self.at_most(other, write) && other != from {
                        self.order(other, from);
                    }
                }
            }
            if self.before.iter().any(|&(a, b)| a == b || (b == 0 && a != 0)) {
                return false;
            }
            if known == self.before.len() {
                return true;
            }
        }
    }
}

/// A configuration in which several processes run.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// The processes; most steps leave most of them alone.
    pub processes: Vec<Arc<Process>>,
    /// What they have seen.
    pub storage: Storage,
}

impl Config {
    /// A process, to be changed.
    pub fn process(&mut self, process: usize) -> &mut Process {
        Arc::make_mut(&mut self.processes[process])
    }
}

/// Where the processes start: registers of `main`, and memory, when other threads come to life.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Start {
    /// Initial values by cell; `None` is uninitialised.
    pub memory: Vec<Option<Value>>,
    /// The registers of `main`.
    pub regs: Vec<Value>,
    /// The step at which `main` goes on.
    pub pc: u32,
}

/// A register during a walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Its value, once what it depends on is initialised.
    pub value: Option<Value>,
    /// All that it depends on is committed.
    pub committed: bool,
}

/// An address during a walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Address {
    /// Not known yet.
    Unknown,
    /// No cell.
    Bad,
    /// A cell.
    Cell(u32),
}

/// What the dataflow says about an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Info {
    /// Address of an access; other events have none.
    pub address: Option<Address>,
    /// What the address depends on is committed.
    pub address_committed: bool,
    /// What a store writes, or a condition.
    pub data: Cell,
    /// The fence.
    pub fence: Option<PowerFence>,
}

/// Dataflow along the fetched path of one process.
#[derive(Clone, Default, Debug)]
pub struct Walk {
    /// Registers at the end of the path.
    pub regs: Vec<Cell>,
    /// One per event.
    pub infos: Vec<Info>,
}

impl Walk {
    /// The state of an operand here.
    pub fn operand(&self, operand: Operand) -> Cell {
        match operand {
            Operand::Const(value) => Cell { value: Some(value), committed: true },
            Operand::Reg(reg) => self.regs[reg.0 as usize],
        }
    }

    fn evaluate(&self, value: &Rvalue) -> Cell {
        let both = |a: Cell, b: Cell| a.committed && b.committed;
        match *value {
            Rvalue::Use(a) => self.operand(a),
            Rvalue::Unary(op, width, extend, a) => {
                let a = self.operand(a);
                let value = a.value.map(|a| width.extend(extend, op.apply(width, a)));
                Cell { value, ..a }
            }
            Rvalue::Binary(op, width, extend, a, b) => {
                let (a, b) = (self.operand(a), self.operand(b));
                let value = match (a.value, b.value) {
                    // A division by zero is an assertion's business.
                    (Some(x), Some(y)) => {
                        Some(width.extend(extend, op.apply(width, x, y).unwrap_or_default()))
                    }
                    _ => None,
                };
                Cell { value, committed: both(a, b) }
            }
            Rvalue::Select(c, a, b) => {
                let (c, a, b) = (self.operand(c), self.operand(a), self.operand(b));
                let value = match (c.value, a.value, b.value) {
                    (Some(c), Some(a), Some(b)) => Some(if c.is_true() { a } else { b }),
                    _ => None,
                };
                Cell { value, committed: c.committed && both(a, b) }
            }
        }
    }

    /// Follows the path that a process has fetched.
    pub fn follow(&mut self, code: &PowerCode<'_>, start: &Start, process: usize, state: &Process) {
        let thread = &code.flat.threads[process];
        let zero = Cell { value: Some(Value::ZERO), committed: true };
        self.regs.clear();
        self.infos.clear();
        self.regs.resize(thread.regs as usize, zero);
        let mut at = 0;
        if process == 0 && code.has_main() {
            at = start.pc;
            for (reg, value) in self.regs.iter_mut().zip(&start.regs) {
                reg.value = Some(*value);
            }
        }
        for event in &state.events {
            while at != event.step {
                at = self.pass(&thread.code[at as usize]);
            }
            let step = &thread.code[at as usize];
            self.event(code, event, &step.op);
            at = match step.op {
                Op::Branch { other, .. } if event.value == 0 => other,
                _ => step.next,
            };
        }
        while at != state.pc {
            at = self.pass(&thread.code[at as usize]);
        }
    }

    /// A step that is no event.
    fn pass(&mut self, step: &fencepost_ir::flat::Step) -> u32 {
        if let Op::Assign { dst, value } = &step.op {
            self.regs[dst.0 as usize] = self.evaluate(value);
        }
        step.next
    }

    fn event(&mut self, code: &PowerCode<'_>, event: &Event, op: &Op) {
        let none = Cell { value: Some(Value::ZERO), committed: true };
        let mut info = Info { address: None, address_committed: true, data: none, fence: None };
        let address = |cell: Cell, width| match cell.value {
            None => Address::Unknown,
            Some(value) => code.cell(value, width).map_or(Address::Bad, Address::Cell),
        };
        match *op {
            Op::Load { dst, addr, width, extend, .. } => {
                let addr = self.operand(addr);
                info.address = Some(address(addr, width));
                info.address_committed = addr.committed;
                let read = event.status != Status::Fetched;
                self.regs[dst.0 as usize] = Cell {
                    value: read.then(|| width.extend(extend, Value(event.value))),
                    committed: event.status == Status::Committed,
                };
            }
            Op::Store { addr, value, width, .. } => {
                let addr = self.operand(addr);
                info.address = Some(address(addr, width));
                info.address_committed = addr.committed;
                let data = self.operand(value);
                info.data = Cell { value: data.value.map(|value| width.zero_extend(value)), ..data };
            }
            Op::Branch { condition, .. } | Op::Assume(condition) | Op::Assert { condition, .. } => {
                info.data = self.operand(condition);
            }
            Op::Nondet { dst, .. } => {
                self.regs[dst.0 as usize] = Cell { value: Some(Value(event.value)), committed: true };
            }
            Op::Fence(fence) => info.fence = PowerFence::of(fence),
            _ => {}
        }
        self.infos.push(info);
    }
}
