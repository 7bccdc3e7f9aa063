//! A program as [`super::reduce_promising`] wants it: one function per thread, calls inlined, loops unrolled, threads that run
//! from the start.
//!
//! A read-modify-write comes back from [`fencepost_ir::flat`] as a load and a store that belongs to it, and so it stays: an
//! exclusive load and a
//! store-exclusive with nothing but computation between them. The translations make them one step, because what is between them
//! is no state of the machine: there
//! nobody else moves, nothing is promised and nothing has to be certified.

use super::is_relaxed;
use crate::{Unsupported, start_at_once};
use fencepost_ir::flat::{self, FlatThread, Op, flatten};
use fencepost_ir::{Ann, Function, FunctionId, Instr, Label, Order, Program, Thread};

/// Makes the program, with loops unrolled that often.
pub fn straighten(program: &Program, unroll: u32) -> Result<Program, Unsupported> {
    relaxed_only(program)?;
    let started = start_at_once(program);
    let flat = flatten(&started, flat::Options::new(unroll))
        .map_err(|e| Unsupported { what: e.what, span: e.span })?;
    let mut straight = Program {
        name: program.name.clone(),
        objects: flat.objects.clone(),
        property: program.property.clone(),
        ..Program::default()
    };
    for thread in &flat.threads {
        let function = function(thread)?;
        straight.functions.push(function);
        let number = straight.functions.len() as u32 - 1;
        straight.threads.push(Thread { function: FunctionId(number), ..started_thread(&started, number) });
    }
    Ok(straight)
}

fn started_thread(program: &Program, number: u32) -> Thread {
    let mut thread =
        program.threads.get(number as usize).cloned().unwrap_or_else(|| program.threads[0].clone());
    thread.args.clear();
    thread
}

/// Orders are lost in flat threads, so they are looked at before.
fn relaxed_only(program: &Program) -> Result<(), Unsupported> {
    for function in &program.functions {
        for (instr, span) in function.body.iter().zip(&function.spans) {
            let orders = match instr {
                Instr::Load { ann, .. }
                | Instr::CopyLoad { ann, .. }
                | Instr::Store { ann, .. }
                | Instr::Await { ann, .. } => {
                    vec![ann.order]
                }
                Instr::Rmw { read, write, .. } | Instr::AwaitRmw { read, write, .. } => {
                    vec![read.order, write.order]
                }
                Instr::CompareExchange { weak: true, .. } => {
                    let what = "a compare-exchange that may fail without a reason".into();
                    return Err(Unsupported { what, span: *span });
                }
                Instr::CompareExchange { read, write, failure, .. } => {
                    vec![read.order, write.order, failure.order]
                }
                Instr::StoreExclusive { .. } => {
                    let what = "a store-exclusive".into();
                    return Err(Unsupported { what, span: *span });
                }
                Instr::Lock(_) | Instr::TryLock { .. } | Instr::Unlock(_) => vec![Order::Acquire],
                _ => Vec::new(),
            };
            if !orders.into_iter().all(is_relaxed) {
                let what = "an access that is stronger than relaxed, or a mutex,".into();
                return Err(Unsupported { what, span: *span });
            }
        }
    }
    Ok(())
}

const RELAXED: Ann = Ann { order: Order::Relaxed, ..Ann::PLAIN };

/// The store of the read-modify-write that begins with this load: what is between them computes and waits. A compare-exchange
/// that is known to fail
/// has none.
fn store_of(thread: &FlatThread, load: usize) -> Option<usize> {
    let mut later = thread.code.iter().enumerate().skip(load + 1);
    let (at, step) = later.find(|(_, step)| {
        !matches!(step.op, Op::Assign { .. } | Op::Assume(_) | Op::Branch { .. } | Op::Skip)
    })?;
    matches!(step.op, Op::Store { paired: true, .. }).then_some(at)
}

/// A flat thread as a function. Steps take one or two instructions, so jumps are put right at the end.
fn function(thread: &FlatThread) -> Result<Function, Unsupported> {
    let regs = (0..thread.regs.max(thread.outer)).map(|n| format!("r{n}")).collect();
    let mut function = Function { name: thread.name.clone(), regs, ..Function::default() };
    let mut begins = Vec::new();
    let unused = function.new_reg("unused");
    for (number, step) in thread.code.iter().enumerate() {
        begins.push(function.next_label());
        let span = step.span;
        let refuse = |what: &str| Err(Unsupported { what: what.into(), span });
        // Behind the last step that accesses memory, a join waits for nothing that matters.
        let matters = || {
            thread.code[number..]
                .iter()
                .any(|s| matches!(s.op, Op::Load { .. } | Op::Store { .. } | Op::Assert { .. }))
        };
        let instr = match &step.op {
            Op::Skip => None,
            Op::Assign { dst, value } => Some(Instr::Assign { dst: *dst, value: *value }),
            Op::Nondet { dst, first, last } => Some(Instr::Nondet { dst: *dst, first: *first, last: *last }),
            Op::Load { dst, addr, width, extend, reserve } => {
                let exclusive = *reserve && store_of(thread, number).is_some();
                let ann = Ann { exclusive, ..RELAXED };
                Some(Instr::Load { dst: *dst, addr: *addr, width: *width, extend: *extend, ann })
            }
            Op::Store { addr, value, width, paired: false } => {
                Some(Instr::Store { addr: *addr, value: *value, width: *width, ann: RELAXED })
            }
            Op::Store { addr, value, width, paired: true } => Some(Instr::StoreExclusive {
                status: unused,
                success: 1,
                addr: *addr,
                value: *value,
                width: *width,
                ann: RELAXED,
            }),
            Op::Fence(fence) => Some(Instr::Fence(*fence)),
            Op::Branch { condition, other } => Some(Instr::Branch {
                condition: *condition,
                then_to: Label(step.next),
                else_to: Label(*other),
            }),
            Op::Assume(condition) => Some(Instr::Assume(*condition)),
            // What cannot be followed fails as well: left out, it could hide what is wrong.
            Op::Assert { condition, kind, message } => {
                Some(Instr::Assert { condition: *condition, kind: *kind, message: message.clone() })
            }
            Op::Cut => Some(Instr::Cut),
            Op::Spawn(_) => return refuse("a thread that is started while others run")?,
            Op::Join { .. } if matters() => return refuse("what a thread does after it has joined others")?,
            Op::Join { .. } => None,
            Op::AtomicBegin | Op::AtomicEnd => return refuse("an atomic section")?,
        };
        let branches = matches!(instr, Some(Instr::Branch { .. }));
        if let Some(instr) = instr {
            function.push(instr, span);
        }
        if !branches && step.next != number as u32 + 1 {
            function.push(Instr::Jump(Label(step.next)), span);
        }
    }
    begins.push(function.next_label());
    for instr in &mut function.body {
        match instr {
            Instr::Jump(to) => *to = begins[to.0 as usize],
            Instr::Branch { then_to, else_to, .. } => {
                *then_to = begins[then_to.0 as usize];
                *else_to = begins[else_to.0 as usize];
            }
            _ => {}
        }
    }
    Ok(function)
}
