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

/// The table of what each instruction uses and sets: calls `$operand` and `$set` for every part of it, borrowed as `$self` is.
macro_rules! parts {
    ($self:expr, $iter:ident, $operand:expr, $set:expr) => {{
        // One of the two may be a closure that changes nothing.
        #[allow(unused_mut)]
        let (mut operand, mut set) = ($operand, $set);
        match $self {
            Instr::Assign { dst, value } => {
                match value {
                    Rvalue::Use(a) | Rvalue::Unary(_, _, _, a) => operand(a),
                    Rvalue::Binary(_, _, _, a, b) => [a, b].into_iter().for_each(operand),
                    Rvalue::Select(a, b, c) => [a, b, c].into_iter().for_each(operand),
                }
                set(dst);
            }
            Instr::Load { dst, addr, .. }
            | Instr::CopyLoad { dst, addr, .. }
            | Instr::TryLock { dst, addr }
            | Instr::ObjectSize { dst, addr }
            | Instr::Alloc { dst, size: addr, .. } => {
                operand(addr);
                set(dst);
            }
            Instr::Store { addr, value, .. } => [addr, value].into_iter().for_each(operand),
            Instr::StoreExclusive { status, addr, value, .. } => {
                [addr, value].into_iter().for_each(operand);
                set(status);
            }
            Instr::Rmw { dst, addr, operand: value, .. } => {
                [addr, value].into_iter().for_each(operand);
                dst.$iter().for_each(set);
            }
            Instr::CompareExchange { dst, success, addr, expected, desired, .. } => {
                [addr, expected, desired].into_iter().for_each(operand);
                dst.$iter().chain(success).for_each(set);
            }
            Instr::Await { dst, addr, until: Until { operand: until, .. }, .. } => {
                [addr, until].into_iter().for_each(operand);
                dst.$iter().for_each(set);
            }
            Instr::AwaitRmw { dst, addr, until: Until { operand: until, .. }, operand: value, .. } => {
                [addr, until, value].into_iter().for_each(operand);
                dst.$iter().for_each(set);
            }
            Instr::Call { dst, callee, args } | Instr::Spawn { dst, callee, args } => {
                args.$iter().for_each(&mut operand);
                if let Callee::Pointer(pointer) = callee {
                    operand(pointer);
                }
                dst.$iter().for_each(set);
            }
            Instr::Join { thread, dst } => {
                operand(thread);
                dst.$iter().for_each(set);
            }
            Instr::Return(value) | Instr::Exit(value) | Instr::Round(value) => {
                value.$iter().for_each(operand);
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
    }};
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

    /// Calls `visit` for every operand whose value it uses.
    pub fn for_each_operand(&self, visit: impl FnMut(Operand)) {
        let mut visit = visit;
        parts!(self, iter, |operand: &Operand| visit(*operand), |_: &Reg| {});
    }

    /// Calls `visit` for every register whose value it uses.
    pub fn for_each_use(&self, mut visit: impl FnMut(Reg)) {
        self.for_each_operand(|operand| {
            if let Operand::Reg(reg) = operand {
                visit(reg);
            }
        });
    }

    /// Calls `visit` for every register that it sets.
    pub fn for_each_definition(&self, mut visit: impl FnMut(Reg)) {
        parts!(self, iter, |_: &Operand| {}, |reg: &Reg| visit(*reg));
    }

    /// The registers that it sets, to be others.
    pub fn definitions_mut(&mut self) -> Vec<&mut Reg> {
        let mut all = Vec::new();
        parts!(self, iter_mut, |_| {}, |reg| all.push(reg));
        all
    }

    /// Lets every register be another one.
    pub fn rename(&mut self, to: impl Fn(Reg) -> Reg) {
        let operand = |operand: &mut Operand| {
            if let Operand::Reg(reg) = operand {
                *reg = to(*reg);
            }
        };
        parts!(self, iter_mut, operand, |reg: &mut Reg| *reg = to(*reg));
    }
}
