//! Scalars that may be read before they are written.
//!
//! Registers start as zero, so a variable in a register would hide such a read. A forward analysis over the finished
//! function finds the variables that are not definitely assigned at some use; the lowering then makes objects of
//! them, and the engine sees the read of uninitialised memory if it really happens.

use crate::ast::{FunctionDef, LocalId};
use crate::lower::Storage;
use fencepost_ir::{Function, Instr, Operand, Reg, Rvalue};

/// The variables that must live in memory.
pub fn suspects(
    def: &FunctionDef,
    registers: &[Option<Reg>],
    storage: &[Storage],
    function: &Function,
) -> Vec<LocalId> {
    let candidates: Vec<(LocalId, Reg)> = (0u32..)
        .zip(&def.locals)
        .filter(|(i, local)| !local.initialised && storage[*i as usize] == Storage::Register)
        .filter_map(|(i, _)| registers[i as usize].map(|reg| (LocalId(i), reg)))
        .collect();
    let mut found = Vec::new();
    // One bit per variable: a word at a time.
    for watched in candidates.chunks(64) {
        let bad = unassigned_uses(function, watched);
        found.extend(watched.iter().enumerate().filter(|(i, _)| bad >> i & 1 != 0).map(|(_, (l, _))| *l));
    }
    found
}

/// The watched registers that some use may reach unassigned, as a bit set.
fn unassigned_uses(function: &Function, watched: &[(LocalId, Reg)]) -> u64 {
    let bit = |reg: Reg| watched.iter().position(|(_, r)| *r == reg).map_or(0, |i| 1u64 << i);
    let count = function.body.len();
    // The bits of the registers that are assigned on every path to an instruction.
    let mut assigned = vec![u64::MAX; count + 1];
    let mut seen = vec![false; count + 1];
    let mut work = vec![(0usize, 0u64)];
    let mut bad = 0;
    while let Some((at, set)) = work.pop() {
        let meet = assigned[at] & set;
        if std::mem::replace(&mut seen[at], true) && meet == assigned[at] {
            continue;
        }
        assigned[at] = meet;
        let Some(instr) = function.body.get(at) else { continue };
        each_use(instr, |reg| bad |= bit(reg) & !meet);
        let mut after = meet;
        each_definition(instr, |reg| after |= bit(reg));
        match instr {
            Instr::Jump(label) => work.push((label.0 as usize, after)),
            Instr::Branch { then_to, else_to, .. } => {
                work.push((then_to.0 as usize, after));
                work.push((else_to.0 as usize, after));
            }
            Instr::Return(_) | Instr::Exit(_) | Instr::Halt | Instr::Fail { .. } => {}
            _ => work.push((at + 1, after)),
        }
    }
    bad
}

fn each_use(instr: &Instr, mut visit: impl FnMut(Reg)) {
    let mut operand = |operand: &Operand| {
        if let Operand::Reg(reg) = operand {
            visit(*reg);
        }
    };
    match instr {
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
            if let fencepost_ir::Callee::Pointer(pointer) = callee {
                operand(pointer);
            }
        }
        Instr::Return(value) | Instr::Exit(value) => value.iter().for_each(operand),
        Instr::Join { thread, .. } => operand(thread),
        Instr::Lock(addr) | Instr::Unlock(addr) | Instr::Free(addr) | Instr::EndLocal(addr) => operand(addr),
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

fn each_definition(instr: &Instr, mut visit: impl FnMut(Reg)) {
    match instr {
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
