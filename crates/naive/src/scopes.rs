//! How far control dependencies reach in programs at the level of a language: to the end of the `if` (the kernel's memory model
//! has it so, since a compiler may move what stands behind it), and not to the end of the thread as on machines.
//!
//! The end of an `if` is the nearest instruction that all ways from the branch to the end of the function go through. Ways that
//! reach the loop bound say nothing about it.

use fencepost_ir::{Fence, Function, Instr, Order, Program, Role};

/// Per function and instruction: where the effect of a branch ends.
pub type Joins = Vec<Vec<Option<usize>>>;

/// The joins of a litmus test in a language; nothing for other programs.
pub fn joins(program: &Program) -> Joins {
    let is_language = program.functions.iter().flat_map(|f| &f.body).any(at_language_level);
    if program.is_process() || !is_language {
        return Vec::new();
    }
    program.functions.iter().map(of_function).collect()
}

fn at_language_level(instr: &Instr) -> bool {
    let known = |order| matches!(order, Order::Relaxed | Order::SeqCst);
    match *instr {
        Instr::Fence(fence) => matches!(fence, Fence::Kernel(_)),
        Instr::Load { ann, .. } | Instr::Store { ann, .. } => {
            known(ann.order) || !matches!(ann.role, Role::None | Role::Result | Role::Continues)
        }
        Instr::AwaitRmw { read, .. } | Instr::Rmw { read, .. } => {
            known(read.order) || read.role == Role::Spinlock
        }
        Instr::CompareExchange { failure, .. } => known(failure.order),
        _ => false,
    }
}

fn of_function(function: &Function) -> Vec<Option<usize>> {
    let n = function.body.len();
    let words = n / 64 + 1;
    // What every way from an instruction to the end goes through; the end is instruction `n`.
    let mut through = vec![vec![u64::MAX; words]; n + 1];
    through[n] = vec![0; words];
    through[n][n / 64] |= 1 << (n % 64);
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..n).rev() {
            let mut row = vec![u64::MAX; words];
            for next in successors(&function.body[at], at, n) {
                row.iter_mut().zip(&through[next]).for_each(|(row, next)| *row &= next);
            }
            row[at / 64] |= 1 << (at % 64);
            changed |= row != through[at];
            through[at] = row;
        }
    }
    let join = |at: usize| {
        let mut behind = through[at].clone();
        behind[at / 64] &= !(1 << (at % 64));
        (at + 1..n).find(|&next| through[next] == behind)
    };
    let is_branch = |at: usize| matches!(function.body[at], Instr::Branch { .. });
    (0..n).map(|at| if is_branch(at) { join(at) } else { None }).collect()
}

fn successors(instr: &Instr, at: usize, end: usize) -> Vec<usize> {
    let label = |label: fencepost_ir::Label| (label.0 as usize).min(end);
    match *instr {
        Instr::Jump(to) => vec![label(to)],
        Instr::Branch { then_to, else_to, .. } => vec![label(then_to), label(else_to)],
        Instr::Return(_) | Instr::Exit(_) | Instr::Halt => vec![end],
        Instr::Cut | Instr::Fail { .. } => Vec::new(),
        _ => vec![at + 1],
    }
}
