//! Which registers matter before an instruction: those that may be used before they are written.
//!
//! A thread that is back at a read, by the same calls and with the same values in these, and that has changed nothing since,
//! has made an iteration for nothing: it spins, and the run ends there. The counters that bound loops do not matter, because a
//! bound
//! must not hide that a thread spins.

use fencepost_ir::{Callee, Function, Instr, Operand, Program, Reg, Rvalue};

/// A set of registers.
type Registers = Vec<bool>;

/// Per function and instruction, the function's end included: the registers that matter.
pub struct Live(Vec<Vec<Registers>>);

impl Live {
    /// Of all functions.
    pub fn new(program: &Program) -> Live {
        Live(program.functions.iter().map(of_function).collect())
    }

    /// The registers that matter there.
    pub fn before(&self, function: usize, at: usize) -> Option<&Registers> {
        self.0.get(function)?.get(at)
    }
}

fn of_function(function: &Function) -> Vec<Registers> {
    let body = &function.body;
    let mut live = vec![vec![false; function.regs.len()]; body.len() + 1];
    let mut changed = true;
    // live = used | (live after \ defined), the least solution.
    while changed {
        changed = false;
        for (at, instr) in body.iter().enumerate().rev() {
            let mut set = vec![false; function.regs.len()];
            for to in successors(instr, at, body.len()) {
                set.iter_mut().zip(&live[to]).for_each(|(a, &b)| *a |= b);
            }
            defined(instr).into_iter().for_each(|reg| set[reg.0 as usize] = false);
            for operand in used(instr) {
                if let Operand::Reg(reg) = operand {
                    set[reg.0 as usize] = true;
                }
            }
            changed |= set != live[at];
            live[at] = set;
        }
    }
    for set in &mut live {
        let counters = set.iter_mut().zip(&function.regs).filter(|(_, name)| is_counter(name));
        counters.for_each(|(matters, _)| *matters = false);
    }
    live
}

/// Whether a register of that name counts the iterations that a loop has left; see `fencepost_ir::unroll`.
pub fn is_counter(name: &str) -> bool {
    name.starts_with("loop@")
}

fn successors(instr: &Instr, at: usize, end: usize) -> Vec<usize> {
    let label = |l: fencepost_ir::Label| (l.0 as usize).min(end);
    match *instr {
        Instr::Jump(to) => vec![label(to)],
        Instr::Branch { then_to, else_to, .. } => vec![label(then_to), label(else_to)],
        Instr::Return(_) | Instr::Exit(_) | Instr::Halt | Instr::Cut | Instr::Fail { .. } => Vec::new(),
        _ => vec![at + 1],
    }
}

fn defined(instr: &Instr) -> Vec<Reg> {
    match *instr {
        Instr::Assign { dst, .. }
        | Instr::Load { dst, .. }
        | Instr::CopyLoad { dst, .. }
        | Instr::StoreExclusive { status: dst, .. }
        | Instr::Nondet { dst, .. }
        | Instr::Alloc { dst, .. }
        | Instr::Local { dst, .. }
        | Instr::ThreadLocal { dst, .. }
        | Instr::ObjectSize { dst, .. }
        | Instr::SelfThread { dst }
        | Instr::TryLock { dst, .. } => vec![dst],
        Instr::Rmw { dst, .. }
        | Instr::Call { dst, .. }
        | Instr::Spawn { dst, .. }
        | Instr::Join { dst, .. }
        | Instr::Await { dst, .. }
        | Instr::AwaitRmw { dst, .. } => dst.into_iter().collect(),
        Instr::CompareExchange { dst, success, .. } => dst.into_iter().chain(success).collect(),
        _ => Vec::new(),
    }
}

fn used(instr: &Instr) -> Vec<Operand> {
    let called = |callee: &Callee, args: &[Operand]| {
        let pointer = match callee {
            Callee::Pointer(pointer) => Some(*pointer),
            Callee::Function(_) => None,
        };
        args.iter().copied().chain(pointer).collect()
    };
    match instr {
        Instr::Assign { value, .. } => match *value {
            Rvalue::Use(a) | Rvalue::Unary(_, _, _, a) => vec![a],
            Rvalue::Binary(_, _, _, a, b) => vec![a, b],
            Rvalue::Select(condition, a, b) => vec![condition, a, b],
        },
        Instr::Load { addr, .. }
        | Instr::CopyLoad { addr, .. }
        | Instr::ObjectSize { addr, .. }
        | Instr::TryLock { addr, .. }
        | Instr::Lock(addr)
        | Instr::Unlock(addr)
        | Instr::Free(addr)
        | Instr::EndLocal(addr)
        | Instr::Defined(addr)
        | Instr::Alloc { size: addr, .. }
        | Instr::Join { thread: addr, .. } => vec![*addr],
        Instr::Store { addr, value, .. } | Instr::StoreExclusive { addr, value, .. } => vec![*addr, *value],
        Instr::Rmw { addr, operand, .. } => vec![*addr, *operand],
        Instr::CompareExchange { addr, expected, desired, .. } => vec![*addr, *expected, *desired],
        Instr::Await { addr, until, .. } => vec![*addr, until.operand],
        Instr::AwaitRmw { addr, until, operand, .. } => vec![*addr, until.operand, *operand],
        Instr::Branch { condition, .. } | Instr::Assume(condition) | Instr::Assert { condition, .. } => {
            vec![*condition]
        }
        Instr::Return(value) | Instr::Exit(value) | Instr::Round(value) => value.iter().copied().collect(),
        Instr::Call { callee, args, .. } | Instr::Spawn { callee, args, .. } => called(callee, args),
        _ => Vec::new(),
    }
}
