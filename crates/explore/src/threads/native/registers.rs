//! Steps in registers, where the code of native threads finds them.

use super::forms::{ADDR, COMBINE, EXPECTED, FORM, Form, Forms, LARGER, MASK, NEW, OLD, OPERAND, OTHER};
use super::source::{Do, Step, Wanted};
use crate::threads::code::HIDDEN;
use fencepost_ir::{RmwOp, Value, Width};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// A place in the registers.
pub fn word(register: u16) -> usize {
    HIDDEN + register as usize
}

/// Combines what was read, for the store of a read-modify-write.
pub fn combine(registers: &mut [u64]) {
    let how = registers[word(COMBINE)];
    let (op, width) = (OPS[(how >> 8) as usize], WIDTHS[(how & 0xff) as usize]);
    let (old, operand) = (Value(registers[word(OLD)]), Value(registers[word(OPERAND)]));
    registers[word(NEW)] = op.apply(width, old, operand).0;
}

const OPS: [RmwOp; 12] = [
    RmwOp::Exchange,
    RmwOp::Add,
    RmwOp::Sub,
    RmwOp::And,
    RmwOp::Nand,
    RmwOp::Or,
    RmwOp::Xor,
    RmwOp::Clear,
    RmwOp::MaxS,
    RmwOp::MinS,
    RmwOp::MaxU,
    RmwOp::MinU,
];

const WIDTHS: [Width; 4] = [Width::W8, Width::W16, Width::W32, Width::W64];

fn how(op: RmwOp, width: Width) -> u64 {
    let place = |found: Option<usize>| found.unwrap_or_default() as u64;
    place(OPS.iter().position(|&o| o == op)) << 8 | place(WIDTHS.iter().position(|&w| w == width))
}

/// Puts a step into registers; nothing if there is no such operation.
pub fn encode(forms: &Forms, step: &Step, address: u64, registers: &mut [u64]) -> Option<()> {
    let mut set = |register: u16, value: u64| registers[word(register)] = value;
    let wait = |wanted: Wanted, set: &mut dyn FnMut(u16, u64)| {
        set(MASK, wanted.mask);
        set(OTHER, wanted.other.into());
        set(LARGER, wanted.larger.into());
    };
    set(ADDR, address);
    set(OPERAND, step.operand);
    set(EXPECTED, step.expected);
    let form = match step.what {
        Do::Load(order) => Form::Load(order),
        Do::Store(order) => Form::Store(order),
        Do::Rmw(order, op, width) => {
            set(COMBINE, how(op, width));
            Form::Rmw(order)
        }
        Do::Exchange(success, failure, weak) => Form::Exchange(success, failure, weak),
        Do::Await(order, wanted) => {
            wait(wanted, &mut set);
            Form::Await(order)
        }
        Do::AwaitRmw(order, wanted, op, width) => {
            wait(wanted, &mut set);
            set(COMBINE, how(op, width));
            Form::AwaitRmw(order)
        }
        Do::Fence(order) => Form::Fence(order),
        Do::Choose => Form::Choose,
        Do::Spawn => Form::Spawn,
        Do::Join(thread) => {
            set(OPERAND, thread as u64);
            Form::Join
        }
        Do::End => Form::End,
        Do::Fail(..) | Do::Cut(_) | Do::StartOver => return None,
    };
    set(FORM, forms.number(form)?);
    Some(())
}

/// A step as a number.
pub fn check(step: &Step, address: u64) -> u64 {
    let mut hasher = FxHasher::default();
    (step.what, address, step.operand, step.expected).hash(&mut hasher);
    hasher.finish()
}
