//! Leaving out pauses, against running functions step by step: what a thread does to memory, asks, asserts and returns is the
//! same with
//! and without them, and it hangs in neither if it does not in the other. The functions are random, and made for the shape:
//! counters,
//! delays, branches and loops on both, some of them on what was read.

use fencepost_ir::pauses::leave_out_pauses;
use fencepost_ir::{
    Ann, BinaryOp, Callee, Extend, Function, FunctionId, Instr, Label, Operand, Order, Program, Reg, Rvalue,
    Span, Value, Width,
};
use std::collections::BTreeSet;

/// A generator that needs no crate: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

const REGISTERS: u32 = 4;
/// What a run ends with that comes back to where it was.
const FOR_EVER: &str = "hangs";
/// Steps after which a run is not followed any more.
const STEPS: usize = 3_000;

fn operand(random: &mut Random) -> Operand {
    match random.below(3) {
        0 => Operand::Const(Value::from_i64(random.below(4) as i64)),
        _ => Operand::Reg(Reg(random.below(u64::from(REGISTERS)) as u32)),
    }
}

fn instr(random: &mut Random, length: u32, calls: bool) -> Instr {
    let reg = |random: &mut Random| Reg(random.below(u64::from(REGISTERS)) as u32);
    let label = |random: &mut Random| Label(random.below(u64::from(length)) as u32);
    let (ann, addr, width) = (Ann::order(Order::Relaxed), Operand::Const(Value(8)), Width::W32);
    match random.below(16) {
        0..=5 => {
            let ops = [
                BinaryOp::Add,
                BinaryOp::Sub,
                BinaryOp::Mul,
                BinaryOp::LtS,
                BinaryOp::GtS,
                BinaryOp::Ne,
                BinaryOp::Eq,
                BinaryOp::DivS,
            ];
            let op = ops[random.below(ops.len() as u64) as usize];
            // Counting by ones is what loops are seen to end by.
            let b = if random.below(2) == 0 { Operand::Const(Value::from_i64(1)) } else { operand(random) };
            let (dst, a) = (reg(random), Operand::Reg(reg(random)));
            Instr::Assign { dst, value: Rvalue::Binary(op, width, Extend::Sign, a, b) }
        }
        6 => Instr::Assign { dst: reg(random), value: Rvalue::Use(operand(random)) },
        7..=10 => Instr::Branch {
            condition: Operand::Reg(reg(random)),
            then_to: label(random),
            else_to: label(random),
        },
        11 => Instr::Jump(label(random)),
        12 => Instr::Load { dst: reg(random), addr, width, extend: Extend::Sign, ann },
        13 => Instr::Store { addr, value: operand(random), width, ann },
        14 if calls => {
            let dst = (random.below(3) == 0).then(|| reg(random));
            Instr::Call { dst, callee: Callee::Function(FunctionId(1)), args: vec![operand(random)] }
        }
        _ => Instr::Return(Some(operand(random))),
    }
}

/// Half of the functions have a loop that counts, put where control comes to it.
fn function(random: &mut Random, params: u32, calls: bool) -> Function {
    let length = 4 + random.below(9) as u32;
    let mut body: Vec<Instr> = (0..length).map(|_| instr(random, length + 1, calls)).collect();
    if random.below(2) == 0 && length > 6 {
        let (counter, test, limit) =
            (Reg(random.below(4) as u32), Reg(random.below(4) as u32), operand(random));
        let ops = [
            (BinaryOp::LtS, 1),
            (BinaryOp::LtS, 1),
            (BinaryOp::LtS, 2),
            (BinaryOp::GtS, -1),
            (BinaryOp::Ne, 1),
        ];
        let (op, by) = ops[random.below(5) as usize];
        let at = random.below(u64::from(length) - 4) as u32;
        let binary = |op, a, b| Rvalue::Binary(op, Width::W32, Extend::Sign, Operand::Reg(a), b);
        let step = binary(BinaryOp::Add, counter, Operand::Const(Value::from_i64(by)));
        let ring = [
            Instr::Assign { dst: test, value: binary(op, counter, limit) },
            Instr::Branch { condition: Operand::Reg(test), then_to: Label(at + 2), else_to: Label(at + 4) },
            Instr::Assign { dst: counter, value: step },
            Instr::Jump(Label(at)),
        ];
        body.splice(at as usize..at as usize + 4, ring);
    }
    body.push(Instr::Return(None));
    let spans = vec![Span::default(); body.len()];
    Function { regs: vec![String::new(); REGISTERS as usize], params, body, spans, ..Function::default() }
}

/// What a run of a function lets others notice; it ends with how it ended.
fn effects(
    program: &Program,
    number: usize,
    args: &[i64],
    seed: u64,
    steps: &mut usize,
    out: &mut Vec<String>,
) -> Option<i64> {
    let function = &program.functions[number];
    let mut regs = vec![0i64; REGISTERS as usize];
    regs[..args.len()].copy_from_slice(args);
    let mut at = 0usize;
    let get = |regs: &[i64], operand: &Operand| match operand {
        Operand::Reg(reg) => regs[reg.0 as usize],
        Operand::Const(value) => value.as_i64(),
    };
    let mut seen = BTreeSet::new();
    let mut effects_then = usize::MAX;
    loop {
        *steps += 1;
        if std::mem::replace(&mut effects_then, out.len()) != out.len() {
            seen.clear();
        }
        // Back where it was, and nothing done in between: it never ends.
        let for_ever = !seen.insert((at, regs.clone()));
        if for_ever || *steps > STEPS {
            out.push(if for_ever { FOR_EVER } else { "goes on" }.into());
            return None;
        }
        let mut next = at + 1;
        match &function.body[at] {
            Instr::Assign { dst, value } => {
                regs[dst.0 as usize] = match value {
                    Rvalue::Use(a) => get(&regs, a),
                    Rvalue::Binary(op, width, extend, a, b) => {
                        let (a, b) = (Value::from_i64(get(&regs, a)), Value::from_i64(get(&regs, b)));
                        let Some(value) = op.apply(*width, a, b) else {
                            out.push("fails".into());
                            return None;
                        };
                        width.extend(*extend, value).as_i64()
                    }
                    _ => unreachable!("not generated"),
                }
            }
            Instr::Branch { condition, then_to, else_to } => {
                next = if get(&regs, condition) != 0 { then_to.0 } else { else_to.0 } as usize;
            }
            Instr::Jump(to) => next = to.0 as usize,
            Instr::Load { dst, .. } => {
                // Whatever comes from memory depends on how many effects there were.
                regs[dst.0 as usize] = (seed.wrapping_mul(out.len() as u64 + 7) >> 9) as i64 % 3;
                out.push(format!("load {at}"));
            }
            Instr::Store { value, .. } => out.push(format!("store {at} {}", get(&regs, value))),
            Instr::Call { dst, args, .. } => {
                let args: Vec<i64> = args.iter().map(|arg| get(&regs, arg)).collect();
                let result = effects(program, 1, &args, seed, steps, out)?;
                dst.iter().for_each(|dst| regs[dst.0 as usize] = result);
            }
            Instr::Return(value) => return Some(value.as_ref().map_or(0, |value| get(&regs, value))),
            _ => unreachable!("not generated"),
        }
        at = next;
    }
}

/// All effects of the first function; those of a run that hangs as far as both runs can be compared.
fn run(program: &Program, seed: u64) -> Vec<String> {
    let (mut steps, mut out) = (0, Vec::new());
    let result = effects(program, 0, &[], seed, &mut steps, &mut out);
    out.extend(result.map(|result| format!("returns {result}")));
    out
}

#[test]
fn nobody_notices_what_is_left_out() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut changed, mut hangs, mut calls) = (0, 0, 0);
    for number in 0..20_000 {
        let functions = vec![function(&mut random, 0, true), function(&mut random, 1, false)];
        let program = Program { functions, ..Program::default() };
        let after = leave_out_pauses(&program);
        if program.functions == after.functions {
            continue;
        }
        changed += 1;
        let gone = program.functions[0].body.iter().zip(&after.functions[0].body);
        calls += u32::from(gone.clone().any(|(a, b)| matches!(a, Instr::Call { .. }) && a != b));
        for seed in [1u64, 0x1234_5678_9abc, 0xfeed_beef] {
            let (before, then) = (run(&program, seed), run(&after, seed));
            let ends = |run: &[String], how: &str| run.last().is_some_and(|last| last == how);
            let open = |run: &[String]| ends(run, FOR_EVER) || ends(run, "goes on");
            hangs += u32::from(ends(&before, FOR_EVER));
            assert!(!ends(&before, FOR_EVER) || open(&then), "{number} hangs no more: {program:?}");
            assert!(!open(&then) || open(&before), "{number} hangs only afterwards: {program:?}");
            match open(&before) {
                false => assert_eq!(before, then, "{number}: {program:?}"),
                // A long way of the one is a short way of the other: what both have done is compared.
                true => {
                    let common = before.len().min(then.len()) - 1;
                    assert_eq!(before[..common], then[..common], "{number}: {program:?}");
                }
            }
        }
    }
    assert!(
        changed > 2_000 && hangs > 100 && calls > 20,
        "{changed} changed, {hangs} hang, {calls} without a call"
    );
}
