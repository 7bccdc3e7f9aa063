//! Functions that call no others as flat threads, instruction by instruction.

use crate::Unsupported;
use fencepost_ir::flat::{Flat, FlatThread, Op, Step};
use fencepost_ir::{Function, Instr, Operand, Program, Reg, Rvalue};

/// The threads of a program, with their jumps as they are.
pub(super) fn as_it_is(program: &Program) -> Result<Flat, Unsupported> {
    let mut threads = Vec::new();
    for thread in &program.threads {
        let function = &program.functions[thread.function.0 as usize];
        threads.push(flat_thread(function, thread)?);
    }
    Ok(Flat { threads, objects: program.objects.clone(), cuts: false })
}

fn flat_thread(function: &Function, thread: &fencepost_ir::Thread) -> Result<FlatThread, Unsupported> {
    let end = function.body.len() as u32;
    let result = Reg(function.regs.len() as u32);
    // Arguments first, so that instruction n becomes step n + shift.
    let shift = thread.args.len() as u32;
    let mut code = Vec::new();
    for (reg, value) in (0..).zip(&thread.args) {
        let op = Op::Assign { dst: Reg(reg), value: Rvalue::Use(Operand::Const(*value)) };
        code.push(Step { op, next: code.len() as u32 + 1, span: fencepost_diag::Span::default() });
    }
    for (at, (instr, &span)) in (0u32..).zip(function.body.iter().zip(&function.spans)) {
        let mut next = at + 1;
        let op = match instr.clone() {
            Instr::Assign { dst, value } => Op::Assign { dst, value },
            Instr::Nondet { dst, first, last } => Op::Nondet { dst, first, last },
            Instr::Load { dst, addr, width, extend, .. } => {
                Op::Load { dst, addr, width, extend, reserve: false }
            }
            Instr::Store { addr, value, width, .. } => Op::Store { addr, value, width, paired: false },
            Instr::Fence(fence) => Op::Fence(fence),
            Instr::Jump(to) => {
                next = to.0;
                Op::Skip
            }
            Instr::Branch { condition, then_to, else_to } => {
                next = then_to.0;
                Op::Branch { condition, other: else_to.0 + shift }
            }
            Instr::Assume(condition) => Op::Assume(condition),
            Instr::Assert { condition, kind, message } => Op::Assert { condition, kind, message },
            Instr::Return(value) => {
                next = end;
                value.map_or(Op::Skip, |value| Op::Assign { dst: result, value: Rvalue::Use(value) })
            }
            Instr::Cut => Op::Cut,
            Instr::AtomicBegin => Op::AtomicBegin,
            Instr::AtomicEnd => Op::AtomicEnd,
            Instr::Round(_) | Instr::Defined(_) => Op::Skip,
            _ => return Err(Unsupported { what: "a call, or an instruction that only C has,".into(), span }),
        };
        code.push(Step { op, next: next + shift, span });
    }
    Ok(FlatThread {
        name: thread.name.clone(),
        code,
        regs: result.0 + 1,
        parent: None,
        result,
        outer: function.regs.len() as u32,
    })
}
