//! A program made ready for the promising machine: SC accesses become an SC fence and an access, what has no meaning here is
//! refused, and the values are collected that a future memory may hold.
//!
//! Neither `[AAGKV]` nor `[KHLVD]` has SC accesses. An SC fence before each gives programs that use no other accesses
//! sequential consistency (there is a fence between any two accesses), and orders other programs at most as much as their fences
//! would (ADR `promising-sc-accesses`).

use super::thread::synchronises;
use crate::code::Unsupported;
use crate::config::{Config, Model};
use fencepost_ir::{Ann, Fence, Function, Instr, Label, Operand, Order, Program, Rvalue, Value, Width};
use std::collections::BTreeSet;

/// The configuration of the threads: no buffers, fences are steps.
pub fn thread_config() -> Config {
    Config { promising: true, symmetry: false, ..Config::new(Model::Sc) }
}

/// The program with SC accesses replaced, or what cannot be followed.
pub fn prepare(program: &Program) -> Result<Program, Unsupported> {
    let mut prepared = program.clone();
    for function in &mut prepared.functions {
        for (instr, span) in function.body.iter().zip(&function.spans) {
            if matches!(instr, Instr::AtomicBegin | Instr::AtomicEnd) {
                let what = "an atomic section under the promising semantics".to_owned();
                return Err(Unsupported { what, span: *span });
            }
        }
        if function.body.iter().any(is_sc) {
            fence_sc_accesses(function);
        }
    }
    Ok(prepared)
}

/// True if the program has an SC access.
pub fn has_sc_accesses(program: &Program) -> bool {
    program.functions.iter().flat_map(|function| &function.body).any(is_sc)
}

/// True if the program reads and writes a cell in one step anywhere.
pub fn has_updates(program: &Program) -> bool {
    let is_update = |instr: &Instr| {
        matches!(
            instr,
            Instr::Rmw { .. }
                | Instr::CompareExchange { .. }
                | Instr::AwaitRmw { .. }
                | Instr::Lock(_)
                | Instr::TryLock { .. }
        )
    };
    program.functions.iter().flat_map(|function| &function.body).any(is_update)
}

/// True if the program needs views in messages.
pub fn needs_message_views(program: &Program) -> bool {
    program.functions.iter().flat_map(|function| &function.body).any(synchronises)
}

fn is_sc(instr: &Instr) -> bool {
    let sc = |ann: &Ann| ann.order == Order::SeqCst;
    match instr {
        Instr::Load { ann, .. }
        | Instr::CopyLoad { ann, .. }
        | Instr::Store { ann, .. }
        | Instr::Await { ann, .. } => sc(ann),
        Instr::Rmw { read, write, .. } | Instr::AwaitRmw { read, write, .. } => sc(read) || sc(write),
        Instr::CompareExchange { read, write, failure, .. } => sc(read) || sc(write) || sc(failure),
        _ => false,
    }
}

fn fence_sc_accesses(function: &mut Function) {
    let mut moved = Vec::with_capacity(function.body.len() + 1);
    let old = std::mem::take(&mut function.body);
    let spans = std::mem::take(&mut function.spans);
    for (instr, span) in old.into_iter().zip(spans) {
        moved.push(Label(function.body.len() as u32));
        if is_sc(&instr) {
            function.push(Instr::Fence(Fence::C11(Order::SeqCst)), span);
        }
        function.push(instr, span);
    }
    moved.push(Label(function.body.len() as u32));
    for instr in &mut function.body {
        match instr {
            Instr::Jump(to) => *to = moved[to.0 as usize],
            Instr::Branch { then_to, else_to, .. } => {
                *then_to = moved[then_to.0 as usize];
                *else_to = moved[else_to.0 as usize];
            }
            _ => {}
        }
    }
}

/// The values that the program mentions: constants, initial values, ends of choices, 0, 1, and one that is none of these.
pub fn domain_of(program: &Program) -> Vec<Value> {
    let mut values: BTreeSet<Value> = [Value(0), Value(1)].into();
    let cells = program.objects.iter().flat_map(|object| &object.cells);
    values.extend(cells.filter_map(|cell| cell.init.map(|value| cell.width.zero_extend(value))));
    let mut mention = |operand: &Operand| {
        if let Operand::Const(value) = operand
            && value.as_pointer().is_none()
        {
            // Memory holds a negative number cut to its width.
            values.extend([*value, Width::W32.zero_extend(*value)]);
        }
    };
    for instr in program.functions.iter().flat_map(|function| &function.body) {
        match instr {
            Instr::Assign { value, .. } => match value {
                Rvalue::Use(a) | Rvalue::Unary(_, _, _, a) => mention(a),
                Rvalue::Binary(_, _, _, a, b) => [a, b].into_iter().for_each(&mut mention),
                Rvalue::Select(a, b, c) => [a, b, c].into_iter().for_each(&mut mention),
            },
            Instr::Store { value, .. } => mention(value),
            Instr::Rmw { operand, .. } => mention(operand),
            Instr::AwaitRmw { operand, until, .. } => {
                [operand, &until.operand].into_iter().for_each(&mut mention)
            }
            Instr::Await { until, .. } => mention(&until.operand),
            Instr::CompareExchange { expected, desired, .. } => {
                [expected, desired].into_iter().for_each(&mut mention);
            }
            Instr::Nondet { first, last, .. } => {
                [first, last].into_iter().for_each(|end| mention(&Operand::Const(Value::from_i64(*end))));
            }
            _ => {}
        }
    }
    let fresh = (2..).map(Value).find(|value| !values.contains(value));
    values.extend(fresh);
    values.into_iter().collect()
}
