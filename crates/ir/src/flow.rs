//! What an instruction does to registers and where control goes after it: the ground of every data-flow analysis.

use crate::program::{Callee, Function, Instr, Operand, Reg, Rvalue, Until};
use std::collections::BTreeMap;

/// Goes over a function until what is known does not change any more. `step` is called for each instruction that can be
/// reached, with what is known before it, and makes of that what is known behind it: at the last call for an instruction
/// with what holds on every way to it. `join` adds what another way knows, and says whether that changed anything.
pub(crate) fn forward<S: Clone>(
    function: &Function,
    start: S,
    mut join: impl FnMut(&mut S, &S) -> bool,
    mut step: impl FnMut(u32, &Instr, &mut S),
) {
    // Only where ways meet is it kept.
    let mut at_labels: BTreeMap<u32, Option<S>> = BTreeMap::new();
    for instr in &function.body {
        if let Instr::Jump(_) | Instr::Branch { .. } = instr {
            at_labels.extend(instr.successors(0).map(|label| (label, None)));
        }
    }
    let mut work = vec![(0u32, start)];
    while let Some((mut at, mut state)) = work.pop() {
        loop {
            match at_labels.get_mut(&at) {
                Some(Some(known)) => {
                    if !join(known, &state) {
                        break;
                    }
                    state.clone_from(known);
                }
                Some(unknown) => *unknown = Some(state.clone()),
                None => {}
            }
            let Some(instr) = function.body.get(at as usize) else { break };
            step(at, instr, &mut state);
            let mut next = instr.successors(at);
            let Some(first) = next.next() else { break };
            work.extend(next.map(|other| (other, state.clone())));
            at = first;
        }
    }
}

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

    /// Lets every register be another one.
    pub(crate) fn rename(&mut self, to: impl Fn(Reg) -> Reg) {
        let operand = |operand: &mut Operand| {
            if let Operand::Reg(reg) = operand {
                *reg = to(*reg);
            }
        };
        let value = |value: &mut Rvalue| match value {
            Rvalue::Use(a) | Rvalue::Unary(_, _, _, a) => operand(a),
            Rvalue::Binary(_, _, _, a, b) => [a, b].into_iter().for_each(operand),
            Rvalue::Select(a, b, c) => [a, b, c].into_iter().for_each(operand),
        };
        let set = |reg: &mut Reg| *reg = to(*reg);
        let callee = |callee: &mut Callee| {
            if let Callee::Pointer(pointer) = callee {
                operand(pointer);
            }
        };
        match self {
            Instr::Assign { dst, value: new } => {
                set(dst);
                value(new);
            }
            Instr::Load { dst, addr, .. }
            | Instr::CopyLoad { dst, addr, .. }
            | Instr::TryLock { dst, addr }
            | Instr::ObjectSize { dst, addr }
            | Instr::Alloc { dst, size: addr, .. } => {
                set(dst);
                operand(addr);
            }
            Instr::Store { addr, value, .. } => [addr, value].into_iter().for_each(operand),
            Instr::StoreExclusive { status, addr, value, .. } => {
                set(status);
                [addr, value].into_iter().for_each(operand);
            }
            Instr::Rmw { dst, addr, operand: value, .. } => {
                dst.iter_mut().for_each(set);
                [addr, value].into_iter().for_each(operand);
            }
            Instr::CompareExchange { dst, success, addr, expected, desired, .. } => {
                dst.iter_mut().chain(success).for_each(set);
                [addr, expected, desired].into_iter().for_each(operand);
            }
            Instr::Await { dst, addr, until: Until { operand: until, .. }, .. } => {
                dst.iter_mut().for_each(set);
                [addr, until].into_iter().for_each(operand);
            }
            Instr::AwaitRmw { dst, addr, until: Until { operand: until, .. }, operand: value, .. } => {
                dst.iter_mut().for_each(set);
                [addr, until, value].into_iter().for_each(operand);
            }
            Instr::Call { dst, callee: target, args } | Instr::Spawn { dst, callee: target, args } => {
                dst.iter_mut().for_each(set);
                callee(target);
                args.iter_mut().for_each(operand);
            }
            Instr::Join { thread, dst } => {
                dst.iter_mut().for_each(set);
                operand(thread);
            }
            Instr::Return(value) | Instr::Exit(value) | Instr::Round(value) => {
                value.iter_mut().for_each(operand);
            }
            Instr::Branch { condition: a, .. }
            | Instr::Assume(a)
            | Instr::Assert { condition: a, .. }
            | Instr::Lock(a)
            | Instr::Unlock(a)
            | Instr::Free(a)
            | Instr::EndLocal(a)
            | Instr::Defined(a) => operand(a),
            Instr::Nondet { dst, .. }
            | Instr::Local { dst, .. }
            | Instr::ThreadLocal { dst, .. }
            | Instr::SelfThread { dst } => set(dst),
            Instr::Fence(_)
            | Instr::Jump(_)
            | Instr::Halt
            | Instr::Fail { .. }
            | Instr::Cut
            | Instr::AtomicBegin
            | Instr::AtomicEnd => {}
        }
    }
}
