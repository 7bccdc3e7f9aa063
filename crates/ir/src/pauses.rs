//! Computation that decides nothing but how long a thread pauses: a delay that doubles with every try, and the empty loop that
//! runs so
//! often. Nobody can notice it, and with it no two tries of a thread are alike. It is left out.
//!
//! What stays are instructions with an effect, what they use, and the branches that decide whether they run (Cytron et al.,
//! TOPLAS 1991,
//! section 7.1). Beyond that stay:
//! - branches on what was read from memory: they are dependencies, which hardware keeps;
//! - loops that are not seen to end: a thread may hang there. A loop is seen to end if its one branch compares a register that
//!   goes up or
//!   down by one with something that the loop does not change;
//! - divisions, which may fail.
//!
//! A function that does nothing else is called by nobody, as long as its result is not used and what it gets was not read from
//! memory.
//! What is left out becomes a jump to what comes next, so that places in the program stay what they were.

use crate::fence::Fence;
use crate::flow::forward;
use crate::program::{BinaryOp, Callee, Function, Instr, Label, Operand, Program, Reg, Rvalue};
use crate::property::Property;

/// The program without such computation. One whose registers are observed at the end stays as it is.
pub fn leave_out_pauses(program: &Program) -> Program {
    if matches!(program.property, Property::Final(_)) {
        return program.clone();
    }
    let mut program = program.clone();
    // Who calls only functions that do nothing may do nothing itself.
    let mut idle = vec![false; program.functions.len()];
    loop {
        let now: Vec<bool> = program.functions.iter().map(|function| is_idle(function, &idle)).collect();
        if now == idle {
            break;
        }
        idle = now;
    }
    for function in &mut program.functions {
        // What a call gets that stays may have been read from memory.
        let kept = Keeping::new(function, &idle, true).run();
        for at in (0..function.body.len()).filter(|&at| !kept[at]) {
            let next = match &function.body[at] {
                Instr::Branch { .. } => meets(function, at),
                Instr::Jump(_) => None,
                _ => Some(at as u32 + 1),
            };
            next.into_iter().for_each(|next| function.body[at] = Instr::Jump(Label(next)));
        }
    }
    program
}

/// Whether a function returns, and that is all.
fn is_idle(function: &Function, idle: &[bool]) -> bool {
    let kept = Keeping::new(function, idle, false).run();
    function.body.iter().zip(kept).all(|(instr, kept)| !kept || matches!(instr, Instr::Return(_)))
}

/// Decides what stays of a function.
struct Keeping<'f> {
    function: &'f Function,
    kept: Vec<bool>,
    /// For each branch, where its ways meet again and what stands on them before.
    between: Vec<Option<Vec<u32>>>,
}

impl<'f> Keeping<'f> {
    /// `tainted`: what the function gets may have been read from memory.
    fn new(function: &'f Function, idle: &'f [bool], tainted: bool) -> Keeping<'f> {
        let from_memory = from_memory(function, tainted);
        let endless = in_loops_without_end(function);
        let uses_memory = |at: usize| {
            let mut uses = false;
            function.body[at].for_each_use(|reg| uses |= from_memory[at].get(reg.0 as usize) == Some(&true));
            uses
        };
        let kept = (0..function.body.len()).map(|at| match &function.body[at] {
            Instr::Assign { value: Rvalue::Binary(op, ..), .. } => {
                matches!(op, BinaryOp::DivU | BinaryOp::DivS | BinaryOp::RemU | BinaryOp::RemS)
            }
            // What only compilers mind: `pause` in assembly comes with it.
            Instr::Assign { .. } | Instr::Fence(Fence::Compiler) => false,
            Instr::Jump(_) => endless[at],
            Instr::Branch { .. } => uses_memory(at) || endless[at] || meets(function, at).is_none(),
            Instr::Call { callee: Callee::Function(id), .. } => {
                uses_memory(at) || idle.get(id.0 as usize) != Some(&true)
            }
            _ => true,
        });
        let kept = kept.collect();
        let between = (0..function.body.len()).map(|at| ways(function, at)).collect();
        Keeping { function, kept, between }
    }

    /// Goes on until nothing more has to stay.
    fn run(mut self) -> Vec<bool> {
        loop {
            let mut changed = false;
            let live = self.live_after();
            for (at, live) in live.iter().enumerate() {
                if self.kept[at] {
                    continue;
                }
                let keep = match &self.function.body[at] {
                    // A call without an effect stays if its result is used.
                    Instr::Assign { dst, .. } | Instr::Call { dst: Some(dst), .. } => live[dst.0 as usize],
                    Instr::Branch { .. } => {
                        let inside = self.between[at].as_deref().unwrap_or(&[]);
                        inside.iter().any(|&other| self.kept[other as usize])
                    }
                    _ => false,
                };
                changed |= keep;
                self.kept[at] = keep;
            }
            if !changed {
                return self.kept;
            }
        }
    }

    /// The registers that what stays may use behind each instruction.
    fn live_after(&self) -> Vec<Vec<bool>> {
        let (length, registers) = (self.function.body.len(), self.function.regs.len());
        let mut before = vec![vec![false; registers]; length + 1];
        let mut after = vec![vec![false; registers]; length];
        let mut changed = true;
        while changed {
            changed = false;
            for at in (0..length).rev() {
                let instr = &self.function.body[at];
                let mut live = vec![false; registers];
                for next in instr.successors(at as u32) {
                    let next = &before[(next as usize).min(length)];
                    live.iter_mut().zip(next).for_each(|(live, next)| *live |= next);
                }
                after[at].clone_from(&live);
                instr.for_each_definition(|Reg(reg)| live[reg as usize] = false);
                if self.kept[at] {
                    instr.for_each_use(|Reg(reg)| live[reg as usize] = true);
                }
                if live != before[at] {
                    before[at] = live;
                    changed = true;
                }
            }
        }
        after
    }
}

/// Before each instruction, the registers whose values may come from memory, from a call, a choice or an object's address.
fn from_memory(function: &Function, tainted: bool) -> Vec<Vec<bool>> {
    let mut found = vec![Vec::new(); function.body.len()];
    let start =
        (0..function.regs.len()).map(|reg| tainted && reg < function.params as usize).collect::<Vec<bool>>();
    let join = |known: &mut Vec<bool>, other: &Vec<bool>| {
        let mut changed = false;
        for (known, &other) in known.iter_mut().zip(other) {
            changed |= other && !*known;
            *known |= other;
        }
        changed
    };
    forward(function, start, join, |at, instr, state| {
        found[at as usize].clone_from(state);
        let mut tainted = !matches!(instr, Instr::Assign { .. });
        instr.for_each_use(|Reg(reg)| tainted |= state[reg as usize]);
        instr.for_each_definition(|Reg(reg)| state[reg as usize] = tainted);
    });
    found
}

/// What can be reached from an instruction without passing another one.
fn reached(function: &Function, start: u32, stop: Option<u32>) -> Vec<bool> {
    let mut seen = vec![false; function.body.len() + 1];
    let mut work = vec![start];
    while let Some(at) = work.pop() {
        if Some(at) == stop || std::mem::replace(&mut seen[(at as usize).min(function.body.len())], true) {
            continue;
        }
        if let Some(instr) = function.body.get(at as usize) {
            work.extend(instr.successors(at));
        }
    }
    seen
}

/// The instructions at which control may leave the function for good.
fn leaves(function: &Function, at: usize) -> bool {
    function.body.get(at).is_none_or(|instr| instr.successors(at as u32).next().is_none())
}

/// Where all ways from a branch meet again first, if none of them can leave the function before.
fn meets(function: &Function, at: usize) -> Option<u32> {
    let Instr::Branch { then_to, else_to, .. } = &function.body[at] else { return None };
    let [one, other] = [then_to.0, else_to.0];
    let both: Vec<u32> = {
        let (first, second) = (reached(function, one, None), reached(function, other, None));
        (0..function.body.len() as u32).filter(|&at| first[at as usize] && second[at as usize]).collect()
    };
    // A place that every way passes: without it nothing that leaves can be reached.
    let passed = |&place: &u32| {
        [one, other].iter().all(|&start| {
            start == place
                || reached(function, start, Some(place))
                    .iter()
                    .enumerate()
                    .all(|(at, &seen)| !seen || !leaves(function, at))
        })
    };
    let candidates: Vec<u32> = both.into_iter().filter(passed).collect();
    // The first of them is the one that comes before all others: no other candidate stands between.
    candidates.iter().copied().find(|&place| {
        let between = |start: u32| {
            start != place && {
                let seen = reached(function, start, Some(place));
                candidates.iter().any(|&other| other != place && seen[other as usize])
            }
        };
        !between(one) && !between(other)
    })
}

/// What stands between a branch and the place where its ways meet again.
fn ways(function: &Function, at: usize) -> Option<Vec<u32>> {
    let end = meets(function, at)?;
    let Instr::Branch { then_to, else_to, .. } = &function.body[at] else { return None };
    let (one, other) = (reached(function, then_to.0, Some(end)), reached(function, else_to.0, Some(end)));
    Some((0..function.body.len() as u32).filter(|&i| one[i as usize] || other[i as usize]).collect())
}

/// The branches of loops that are not seen to end, and whatever stands in a loop without a way out.
fn in_loops_without_end(function: &Function) -> Vec<bool> {
    let in_loop =
        |at: usize| function.body[at].successors(at as u32).any(|next| reached(function, next, None)[at]);
    let is_endless = |at: usize| match &function.body[at] {
        _ if !in_loop(at) => false,
        _ if !has_end(function, at as u32) => true,
        Instr::Branch { then_to, else_to, .. } => {
            // A branch that comes back to itself before its ways have met decides how often a loop runs.
            let end = meets(function, at);
            let again = |to: u32| reached(function, to, end)[at];
            match (again(then_to.0), again(else_to.0)) {
                (false, false) => false,
                (true, true) => true,
                (then_again, _) => !counts(function, at as u32, then_again),
            }
        }
        _ => false,
    };
    (0..function.body.len()).map(is_endless).collect()
}

/// Whether each loop through an instruction passes a branch that can leave it.
fn has_end(function: &Function, at: u32) -> bool {
    let exits = |branch: usize| match &function.body[branch] {
        Instr::Branch { then_to, else_to, .. } => {
            let back = |to: u32| reached(function, to, None)[at as usize];
            back(then_to.0) != back(else_to.0)
        }
        _ => false,
    };
    let inside = reached(function, at, None);
    (0..function.body.len()).any(|branch| inside[branch] && exits(branch))
}

/// Whether the loop of a branch counts by ones to something that it does not change; `again`: it goes on if the condition holds.
fn counts(function: &Function, at: u32, again: bool) -> bool {
    let Instr::Branch { condition: Operand::Reg(condition), then_to, else_to } = &function.body[at as usize]
    else {
        return false;
    };
    let start = if again { then_to.0 } else { else_to.0 };
    // The loop is a ring: from the branch back to it without any other branch.
    let mut ring = Vec::new();
    let mut place = start;
    while place != at {
        let Some(instr) = function.body.get(place as usize) else { return false };
        let mut next = instr.successors(place);
        let (Some(to), None) = (next.next(), next.next()) else { return false };
        ring.push(place);
        if ring.len() > function.body.len() {
            return false;
        }
        place = to;
    }
    let defines = |at: &&u32, reg: Reg| {
        let mut found = false;
        function.body[**at as usize].for_each_definition(|other| found |= other == reg);
        found
    };
    let definitions = |reg: Reg| -> Vec<u32> { ring.iter().filter(|at| defines(at, reg)).copied().collect() };
    let [test] = definitions(*condition)[..] else { return false };
    let Instr::Assign { value: Rvalue::Binary(op, _, _, Operand::Reg(counter), limit), .. } =
        &function.body[test as usize]
    else {
        return false;
    };
    let fixed = match limit {
        Operand::Reg(reg) => definitions(*reg).is_empty(),
        Operand::Const(_) => true,
    };
    let [step] = definitions(*counter)[..] else { return false };
    let by = match &function.body[step as usize] {
        Instr::Assign {
            value: Rvalue::Binary(BinaryOp::Add, _, _, Operand::Reg(old), Operand::Const(by)),
            ..
        } if old == counter => by.as_i64(),
        Instr::Assign {
            value: Rvalue::Binary(BinaryOp::Sub, _, _, Operand::Reg(old), Operand::Const(by)),
            ..
        } if old == counter => -by.as_i64(),
        _ => return false,
    };
    let ends = matches!(
        (op, again, by),
        (BinaryOp::LtS | BinaryOp::LtU, true, 1)
            | (BinaryOp::GeS | BinaryOp::GeU, false, 1)
            | (BinaryOp::GtS | BinaryOp::GtU, true, -1)
            | (BinaryOp::LeS | BinaryOp::LeU, false, -1)
            | (BinaryOp::Ne, true, 1 | -1)
            | (BinaryOp::Eq, false, 1 | -1)
    );
    fixed && ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Extend, FunctionId, Width};
    use crate::value::Value;
    use fencepost_diag::Span;

    fn function(registers: usize, params: u32, body: Vec<Instr>) -> Function {
        let spans = vec![Span::default(); body.len()];
        Function { regs: vec![String::new(); registers], params, body, spans, ..Function::default() }
    }

    fn number(value: i64) -> Operand {
        Operand::Const(Value::from_i64(value))
    }

    fn binary(dst: u32, op: BinaryOp, a: u32, b: Operand) -> Instr {
        let value = Rvalue::Binary(op, Width::W32, Extend::Sign, Operand::Reg(Reg(a)), b);
        Instr::Assign { dst: Reg(dst), value }
    }

    fn branch(condition: u32, then_to: u32, else_to: u32) -> Instr {
        Instr::Branch {
            condition: Operand::Reg(Reg(condition)),
            then_to: Label(then_to),
            else_to: Label(else_to),
        }
    }

    fn set(dst: u32, value: i64) -> Instr {
        Instr::Assign { dst: Reg(dst), value: Rvalue::Use(number(value)) }
    }

    /// `for (i = 0; i OP n; i += step) ;`, with n in register 0.
    fn pause(op: BinaryOp, step: i64) -> Function {
        let test = binary(2, op, 1, Operand::Reg(Reg(0)));
        let body = vec![
            set(1, 0),
            test,
            branch(2, 3, 5),
            binary(1, BinaryOp::Add, 1, number(step)),
            Instr::Jump(Label(1)),
            Instr::Return(None),
        ];
        function(3, 1, body)
    }

    fn left_out(program: &Program, function: usize) -> Vec<usize> {
        let after = leave_out_pauses(program);
        let all = program.functions[function].body.iter().zip(&after.functions[function].body);
        all.enumerate().filter(|(_, (before, after))| before != after).map(|(at, _)| at).collect()
    }

    #[test]
    fn a_delay_that_doubles_and_its_loop_are_left_out() {
        let call = Instr::Call {
            dst: None,
            callee: Callee::Function(FunctionId(1)),
            args: vec![Operand::Reg(Reg(0))],
        };
        let tries = Instr::Nondet { dst: Reg(2), first: 0, last: 1 };
        let body = vec![
            set(0, 1),
            tries,
            branch(2, 3, 8),
            call,
            binary(1, BinaryOp::LtS, 0, number(64)),
            branch(1, 6, 7),
            binary(0, BinaryOp::Mul, 0, number(2)),
            Instr::Jump(Label(1)),
            Instr::Return(None),
        ];
        let program =
            Program { functions: vec![function(3, 0, body), pause(BinaryOp::LtS, 1)], ..Program::default() };
        assert_eq!(left_out(&program, 0), [0, 3, 4, 5, 6], "the try itself stays");
        assert!(left_out(&program, 1).is_empty(), "what it gets may depend on memory");
    }

    #[test]
    fn loops_that_need_not_end_stay() {
        for (op, step) in [(BinaryOp::LtS, 2), (BinaryOp::LtS, -1), (BinaryOp::GtS, 1), (BinaryOp::LeS, 1)] {
            let program = Program { functions: vec![pause(op, step)], ..Program::default() };
            assert_eq!(left_out(&program, 0), Vec::<usize>::new(), "{op:?} {step}");
        }
        // `if (n) while (1) ; return`: the branch decides whether the thread hangs.
        let hangs = vec![set(0, 1), branch(0, 2, 3), Instr::Jump(Label(2)), Instr::Return(None)];
        let program = Program { functions: vec![function(1, 0, hangs)], ..Program::default() };
        assert_eq!(left_out(&program, 0), Vec::<usize>::new());
        // A loop that need not end, within one that does.
        let mut nested = pause(BinaryOp::LtS, 2).body;
        nested[5] = binary(3, BinaryOp::Add, 3, number(1));
        nested.extend([binary(2, BinaryOp::LtS, 3, number(9)), branch(2, 0, 8), Instr::Return(None)]);
        let program = Program { functions: vec![function(4, 1, nested)], ..Program::default() };
        assert!(!left_out(&program, 0).contains(&2));
    }

    #[test]
    fn what_is_used_stays() {
        let mut used = pause(BinaryOp::LtS, 1);
        used.body[5] = Instr::Return(Some(Operand::Reg(Reg(1))));
        let program = Program { functions: vec![used], ..Program::default() };
        assert_eq!(left_out(&program, 0), Vec::<usize>::new(), "the counter is the result");
        let mut divides = pause(BinaryOp::LtS, 1);
        divides.body[3] = binary(1, BinaryOp::DivS, 1, number(0));
        let program = Program { functions: vec![divides], ..Program::default() };
        assert_eq!(left_out(&program, 0), Vec::<usize>::new(), "it fails");
    }
}
