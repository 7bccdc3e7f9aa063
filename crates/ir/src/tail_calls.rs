//! Calls of a function to itself whose result is returned as it is: jumps to its beginning.
//!
//! Waiting by recursion (`if (v == 0) return wait(cell);`) is waiting in a loop then, to every engine: what a loop that changes
//! nothing means, and where it is cut, holds for it as well.
//!
//! Functions that read nothing are left alone: how deep they go is a computation, and deep enough is an answer of its own.
//!
//! A jump does the same as the call if the function keeps nothing in its frame: no local objects, whose lives would end and
//! begin, and no register that is read before it is written, which a new frame would have anew.

use crate::flow::forward;
use crate::program::{Callee, Function, FunctionId, Instr, Label, Operand, Program, Reg, Rvalue};

/// The program with such calls as jumps.
pub fn jump_to_oneself(program: &Program) -> Program {
    let mut program = program.clone();
    for (number, function) in (0..).zip(&mut program.functions) {
        let own = FunctionId(number);
        let is_call = |at: &usize| is_tail_call(function, *at, own);
        let calls: Vec<usize> = (0..function.body.len()).filter(is_call).collect();
        if !calls.is_empty() && function.body.iter().any(reads) && keeps_nothing(function) {
            replace(function, &calls);
        }
    }
    program
}

fn reads(instr: &Instr) -> bool {
    matches!(
        instr,
        Instr::Load { .. }
            | Instr::CopyLoad { .. }
            | Instr::Rmw { .. }
            | Instr::CompareExchange { .. }
            | Instr::Await { .. }
            | Instr::AwaitRmw { .. }
    )
}

/// Steps that are followed from a call to the return of its result.
const FAR: usize = 64;

fn is_tail_call(function: &Function, at: usize, own: FunctionId) -> bool {
    let Instr::Call { dst, callee: Callee::Function(callee), args } = &function.body[at] else {
        return false;
    };
    if *callee != own || args.len() != function.params as usize {
        return false;
    }
    let mut holds_result: Vec<Reg> = dst.iter().copied().collect();
    let mut at = at + 1;
    for _ in 0..FAR {
        match function.body.get(at) {
            Some(Instr::Jump(to)) => at = to.0 as usize,
            Some(Instr::Assign { dst, value: Rvalue::Use(Operand::Reg(from)) })
                if holds_result.contains(from) =>
            {
                holds_result.push(*dst);
                at += 1;
            }
            Some(Instr::Return(Some(Operand::Reg(result)))) => return holds_result.contains(result),
            Some(Instr::Return(None)) => return true,
            _ => return false,
        }
    }
    false
}

/// Whether a call of the function anew is the same as its beginning with other arguments.
fn keeps_nothing(function: &Function) -> bool {
    if function.body.iter().any(|instr| matches!(instr, Instr::Local { .. } | Instr::EndLocal(_))) {
        return false;
    }
    let mut written = vec![false; function.regs.len()];
    written[..function.params as usize].fill(true);
    let mut reads_before = false;
    let join = |known: &mut Vec<bool>, other: &Vec<bool>| {
        let before = known.clone();
        known.iter_mut().zip(other).for_each(|(known, other)| *known &= other);
        *known != before
    };
    forward(function, written, join, |_, instr, written| {
        instr.for_each_use(|reg| reads_before |= !written[reg.0 as usize]);
        instr.for_each_definition(|reg| written[reg.0 as usize] = true);
    });
    !reads_before
}

/// Arguments may be parameters: all are read before one is written.
fn replace(function: &mut Function, calls: &[usize]) {
    let copies: Vec<Reg> = (0..function.params).map(|n| function.new_reg(format!("_again{n}"))).collect();
    let write = |at: u32, instr: &Instr, new: &mut Vec<Instr>| match instr {
        Instr::Call { args, .. } if calls.contains(&(at as usize)) => {
            let read = copies.iter().zip(args).map(|(&dst, arg)| (dst, *arg));
            let written = (0..).zip(&copies).map(|(number, &copy)| (Reg(number), copy.into()));
            let both = read.chain(written).map(|(dst, from)| Instr::Assign { dst, value: Rvalue::Use(from) });
            new.extend(both);
            new.push(Instr::Jump(Label(0)));
        }
        instr => new.push(instr.clone()),
    };
    *function = function.rewritten(write).0;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ann;
    use crate::program::{BinaryOp, Extend, Width};
    use fencepost_diag::Span;

    /// `int wait(int *cell, int n) { int v = *cell; if (v == 0) return wait(cell, n + 1); return v; }`, or with what `change`
    /// makes of it.
    fn waiting(change: impl Fn(&mut Vec<Instr>)) -> Program {
        let mut function = Function { name: "wait".into(), params: 2, ..Function::default() };
        let [cell, n, v, more, result] =
            ["cell", "n", "v", "more", "result"].map(|name| function.new_reg(name));
        let one = Operand::Const(crate::Value(1));
        let sum = Rvalue::Binary(BinaryOp::Add, Width::W32, Extend::Sign, n.into(), one);
        let (width, extend, ann) = (Width::W32, Extend::Sign, Ann::PLAIN);
        let mut body = vec![
            Instr::Load { dst: v, addr: cell.into(), width, extend, ann },
            Instr::Branch { condition: v.into(), then_to: Label(5), else_to: Label(2) },
            Instr::Assign { dst: more, value: sum },
            Instr::Call {
                dst: Some(result),
                callee: Callee::Function(FunctionId(0)),
                args: vec![cell.into(), more.into()],
            },
            Instr::Return(Some(result.into())),
            Instr::Return(Some(v.into())),
        ];
        change(&mut body);
        body.into_iter().for_each(|instr| _ = function.push(instr, Span::default()));
        Program { functions: vec![function], ..Program::default() }
    }

    fn has_call(program: &Program) -> bool {
        jump_to_oneself(program).functions[0].body.iter().any(|instr| matches!(instr, Instr::Call { .. }))
    }

    #[test]
    fn a_result_that_is_returned_is_a_jump() {
        let program = jump_to_oneself(&waiting(|_| {}));
        let body = &program.functions[0].body;
        assert_eq!(body.len(), 10, "{body:?}");
        assert_eq!(body[1], Instr::Branch { condition: Reg(2).into(), then_to: Label(9), else_to: Label(2) });
        assert_eq!(body[7], Instr::Jump(Label(0)));
    }

    #[test]
    fn what_a_frame_keeps_stays_a_call() {
        // Something is done with the result.
        let other = Instr::Return(Some(Operand::Const(crate::Value(7))));
        assert!(has_call(&waiting(|body| body[4] = other.clone())));
        // A register keeps what it had.
        assert!(has_call(&waiting(|body| {
            body[5] = Instr::Return(Some(Reg(3).into()));
        })));
        // A local object.
        assert!(has_call(&waiting(|body| body[4] = Instr::EndLocal(Reg(0).into()))));
        // Nothing is read.
        assert!(has_call(&waiting(|body| {
            body[0] = Instr::Assign { dst: Reg(2), value: Rvalue::Use(Reg(1).into()) };
        })));
        // Another function.
        assert!(has_call(&waiting(|body| {
            let Instr::Call { callee, .. } = &mut body[3] else { panic!("a call") };
            *callee = Callee::Function(FunctionId(1));
        })));
    }
}
