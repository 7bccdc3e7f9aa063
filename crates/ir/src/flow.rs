//! What an instruction does to registers and where control goes after it: the ground of every data-flow analysis.

use crate::program::{Callee, Instr, Operand, Reg, Rvalue};

impl Instr {
    /// The instructions that may come next, for the instruction at `at`; one past the last is the function's end.
    pub fn successors(&self, at: u32) -> impl Iterator<Item = u32> + use<> {
        let (first, second) = match self {
            Instr::Jump(target) => (Some(target.0), None),
            Instr::Branch { then_to, else_to, .. } => (Some(then_to.0), Some(else_to.0)),
            Instr::Return(_) | Instr::Exit(_) | Instr::Halt | Instr::Fail { .. } | Instr::Cut => (None, None),
            _ => (Some(at + 1), None),
        };
        first.into_iter().chain(second)
    }

    /// Calls `visit` for every register whose value it uses.
    pub fn for_each_use(&self, mut visit: impl FnMut(Reg)) {
        let mut operand = |operand: &Operand| {
            if let Operand::Reg(reg) = operand {
                visit(*reg);
            }
        };
        match self {
            Instr::Assign { value, .. } => match value {
                Rvalue::Use(a) | Rvalue::Unary(_, _, _, a) => operand(a),
                Rvalue::Binary(_, _, _, a, b) => [a, b].into_iter().for_each(operand),
                Rvalue::Select(a, b, c) => [a, b, c].into_iter().for_each(operand),
            },
            Instr::Load { addr, .. } | Instr::CopyLoad { addr, .. } | Instr::TryLock { addr, .. } => {
                operand(addr)
            }
            Instr::Store { addr, value, .. } | Instr::StoreExclusive { addr, value, .. } => {
                [addr, value].into_iter().for_each(operand);
            }
            Instr::Rmw { addr, operand: value, .. } => [addr, value].into_iter().for_each(operand),
            Instr::CompareExchange { addr, expected, desired, .. } => {
                [addr, expected, desired].into_iter().for_each(operand);
            }
            Instr::Await { addr, until, .. } => [addr, &until.operand].into_iter().for_each(operand),
            Instr::AwaitRmw { addr, until, operand: value, .. } => {
                [addr, &until.operand, value].into_iter().for_each(operand);
            }
            Instr::Branch { condition, .. } | Instr::Assume(condition) | Instr::Assert { condition, .. } => {
                operand(condition);
            }
            Instr::Call { args, callee, .. } | Instr::Spawn { args, callee, .. } => {
                args.iter().for_each(&mut operand);
                if let Callee::Pointer(pointer) = callee {
                    operand(pointer);
                }
            }
            Instr::Return(value) | Instr::Exit(value) | Instr::Round(value) => {
                value.iter().for_each(operand);
            }
            Instr::Join { thread, .. } => operand(thread),
            Instr::Lock(addr) | Instr::Unlock(addr) | Instr::Free(addr) | Instr::EndLocal(addr) => {
                operand(addr)
            }
            Instr::Defined(value) => operand(value),
            Instr::Alloc { size, .. } => operand(size),
            Instr::ObjectSize { addr, .. } => operand(addr),
            Instr::Fence(_)
            | Instr::Jump(_)
            | Instr::Nondet { .. }
            | Instr::Local { .. }
            | Instr::ThreadLocal { .. }
            | Instr::SelfThread { .. }
            | Instr::Halt
            | Instr::Fail { .. }
            | Instr::Cut
            | Instr::AtomicBegin
            | Instr::AtomicEnd => {}
        }
    }

    /// Calls `visit` for every register that it sets.
    pub fn for_each_definition(&self, mut visit: impl FnMut(Reg)) {
        match self {
            Instr::Assign { dst, .. }
            | Instr::Load { dst, .. }
            | Instr::CopyLoad { dst, .. }
            | Instr::Nondet { dst, .. }
            | Instr::Alloc { dst, .. }
            | Instr::Local { dst, .. }
            | Instr::ThreadLocal { dst, .. }
            | Instr::SelfThread { dst }
            | Instr::ObjectSize { dst, .. }
            | Instr::TryLock { dst, .. }
            | Instr::StoreExclusive { status: dst, .. } => visit(*dst),
            Instr::Rmw { dst, .. }
            | Instr::Await { dst, .. }
            | Instr::AwaitRmw { dst, .. }
            | Instr::Call { dst, .. }
            | Instr::Spawn { dst, .. }
            | Instr::Join { dst, .. } => dst.iter().copied().for_each(visit),
            Instr::CompareExchange { dst, success, .. } => dst.iter().chain(success).copied().for_each(visit),
            _ => {}
        }
    }
}
