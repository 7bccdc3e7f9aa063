//! What is wrong at the end of a complete run.
//!
//! An assertion orders nothing: its process goes on behind it, and a run in which it is false is wrong whatever came after. A
//! process stands still before an access that hits no cell: nothing
//! behind it can be committed, because the address is not that of a cell. A read that gets the initial value of a cell without
//! one is wrong, too; what determines it is
//! determined before anything behind it is noticed, so that it is enough to look at runs in which its process has done nothing
//! more.

use super::alone::Alone;
use super::code::PowerCode;
use super::plain::{Plain, State};
use fencepost_answer::{Finding, FindingKind, Place, Step};
use fencepost_ir::flat::Op;
use fencepost_ir::{FailKind, Operand, Value, Width};

/// How something is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// An assertion is false.
    Assertion(FailKind),
    /// An access hits no cell.
    NoCell(Value, Width),
    /// A cell that is read has no value.
    NoValue,
}

/// What is wrong with a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The process.
    pub process: usize,
    /// The step.
    pub step: u32,
    /// How many events of the process show it.
    pub events: usize,
    /// How it is wrong.
    pub wrong: Wrong,
}

impl Plain<'_> {
    /// What is wrong with a process, in program order, if its run is complete.
    pub fn faults(&self, state: &State, process: usize) -> Vec<Fault> {
        let mut faults = Vec::new();
        let conditions = self.conditions(state, process);
        for (index, event) in state.events[process].iter().enumerate() {
            let wrong = match self.code().flat.threads[process].code[event.step as usize].op {
                Op::Assert { kind, .. } if conditions[index] == Some(Value::ZERO) => Wrong::Assertion(kind),
                Op::Load { .. } if self.reads_nothing(state, process, index) => Wrong::NoValue,
                _ => continue,
            };
            faults.push(Fault { process, step: event.step, events: index + 1, wrong });
        }
        let step = state.pc[process];
        let op = self.code().flat.threads[process].code.get(step as usize).map(|step| &step.op);
        if let Some(&(Op::Load { addr, width, .. } | Op::Store { addr, width, .. })) = op
            && let Some(address) = self.operand_at_end(state, process, addr)
            && self.code().cell(address, width).is_none()
        {
            let (events, wrong) = (state.events[process].len(), Wrong::NoCell(address, width));
            faults.push(Fault { process, step, events, wrong });
        }
        faults
    }

    /// What is wrong anywhere.
    pub fn all_faults(&self, state: &State) -> Vec<Fault> {
        (0..state.events.len()).flat_map(|process| self.faults(state, process)).collect()
    }
}

impl Alone {
    /// What is wrong with the next step of `main`.
    pub fn wrong(&self, code: &PowerCode<'_>) -> Option<Wrong> {
        let value = |operand: Operand| match operand {
            Operand::Const(value) => value,
            Operand::Reg(reg) => self.at.regs[reg.0 as usize],
        };
        match code.flat.threads[0].code.get(self.at.pc as usize)?.op {
            Op::Assert { condition, kind, .. } => {
                (!value(condition).is_true()).then_some(Wrong::Assertion(kind))
            }
            Op::Load { addr, width, .. } => match code.cell(value(addr), width) {
                None => Some(Wrong::NoCell(value(addr), width)),
                Some(cell) => self.at.memory[cell as usize].is_none().then_some(Wrong::NoValue),
            },
            Op::Store { addr, width, .. } => {
                let address = value(addr);
                code.cell(address, width).is_none().then_some(Wrong::NoCell(address, width))
            }
            _ => None,
        }
    }
}

/// The kind of an access that hits no cell.
fn no_cell(code: &PowerCode<'_>, address: Value, width: Width) -> FindingKind {
    let Some((object, offset)) = address.as_pointer() else {
        // A member of what a null pointer points to is at a small address.
        return if address.0 < 4096 { FindingKind::NullPointer } else { FindingKind::BadPointer };
    };
    match code.flat.objects.get(object.0 as usize) {
        None => FindingKind::BadPointer,
        Some(object) if u64::from(offset) + u64::from(width.bytes()) > u64::from(object.size) => {
            FindingKind::OutOfBounds
        }
        Some(_) => FindingKind::MixedSize,
    }
}

/// A fault as a finding.
pub(super) fn finding(
    code: &PowerCode<'_>,
    thread: usize,
    step: u32,
    wrong: Wrong,
    trace: Vec<Step>,
) -> Finding {
    let step = &code.flat.threads[thread].code[step as usize];
    let said = match &step.op {
        Op::Assert { message, .. } => message.as_str(),
        _ => "",
    };
    let kind = match wrong {
        Wrong::Assertion(FailKind::Misuse) => FindingKind::Misuse,
        Wrong::Assertion(_) => FindingKind::Assertion,
        Wrong::NoCell(address, width) => no_cell(code, address, width),
        Wrong::NoValue => FindingKind::Uninitialised,
    };
    let message = match kind {
        _ if said.is_empty() => kind.entry().message.to_owned(),
        FindingKind::Assertion => format!("{}: {said}", kind.entry().message),
        _ => said.to_owned(),
    };
    let place = Place { thread: Some(thread as u32), span: step.span, label: String::new() };
    Finding { run: trace, ..Finding::new(kind, message, vec![place]) }
}
