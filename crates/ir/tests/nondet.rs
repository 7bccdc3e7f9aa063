//! Choices by intervals against choices one by one: random functions of one choice, whose ends must be the same. Half of them are
//! the only thread of a program and use memory.

use fencepost_ir::nondet::split_choices;
use fencepost_ir::{
    Ann, BinaryOp, Extend, Function, FunctionId, Instr, Label, Object, ObjectId, Operand, Program, Reg,
    Rvalue, Span, Thread, UnaryOp, Value, Width,
};
use std::collections::BTreeSet;

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % n
    }
}

/// Two objects of eight bytes.
type Memory = [u64; 2];

/// Object, first bit and mask of an access; all addresses that are generated are good ones.
fn bits(addr: Value, width: Width) -> (usize, u32, u64) {
    let (object, offset) = addr.as_pointer().expect("a pointer");
    (object.0 as usize, 8 * offset, width.zero_extend(Value(u64::MAX)).0)
}

/// How a run ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum End {
    /// What is returned, and what is in memory then.
    Returned(u64, Memory),
    Assumed,
    Failed(u32),
    DividedByZero,
}

/// The ends of all runs, and how many choices were made in all.
fn ends(function: &Function) -> (BTreeSet<End>, u64) {
    let mut found = BTreeSet::new();
    let mut made = 0;
    let mut work = vec![(0usize, vec![Value::ZERO; function.regs.len()], [0; 2])];
    while let Some((at, regs, memory)) = work.pop() {
        let get = |operand: Operand| match operand {
            Operand::Reg(reg) => regs[reg.0 as usize],
            Operand::Const(value) => value,
        };
        let set = |reg: Reg, value: Value| {
            let mut regs = regs.clone();
            regs[reg.0 as usize] = value;
            regs
        };
        let Some(instr) = function.body.get(at) else {
            // Nobody looks at memory after the only thread has ended.
            found.insert(End::Returned(0, [0; 2]));
            continue;
        };
        match instr {
            Instr::Load { dst, addr, width, extend, .. } => {
                let (object, first, mask) = bits(get(*addr), *width);
                let value = Value(memory[object] >> first & mask);
                work.push((at + 1, set(*dst, width.extend(*extend, value)), memory));
            }
            Instr::Store { addr, value, width, .. } => {
                let (object, first, mask) = bits(get(*addr), *width);
                let mut memory = memory;
                memory[object] = memory[object] & !(mask << first) | (get(*value).0 & mask) << first;
                work.push((at + 1, regs.clone(), memory));
            }
            Instr::Nondet { dst, first, last } => {
                for value in *first..=*last {
                    made += 1;
                    work.push((at + 1, set(*dst, Value::from_i64(value)), memory));
                }
            }
            Instr::Assign { dst, value } => {
                let value = match *value {
                    Rvalue::Use(a) => Some(get(a)),
                    Rvalue::Unary(op, width, extend, a) => {
                        Some(width.extend(extend, op.apply(width, get(a))))
                    }
                    Rvalue::Binary(op, width, extend, a, b) => {
                        op.apply(width, get(a), get(b)).map(|v| width.extend(extend, v))
                    }
                    Rvalue::Select(c, a, b) => Some(get(if get(c).is_true() { a } else { b })),
                };
                match value {
                    Some(value) => work.push((at + 1, set(*dst, value), memory)),
                    None => {
                        found.insert(End::DividedByZero);
                    }
                }
            }
            Instr::Branch { condition, then_to, else_to } => {
                let label = if get(*condition).is_true() { then_to } else { else_to };
                work.push((label.0 as usize, regs.clone(), memory));
            }
            Instr::Jump(label) => work.push((label.0 as usize, regs.clone(), memory)),
            Instr::Assume(condition) if get(*condition).is_true() => {
                work.push((at + 1, regs.clone(), memory))
            }
            Instr::Assume(_) => {
                found.insert(End::Assumed);
            }
            Instr::Assert { condition, message, .. } => {
                if !get(*condition).is_true() {
                    found.insert(End::Failed(message.parse().expect("a number")));
                }
                work.push((at + 1, regs.clone(), memory));
            }
            Instr::Return(value) => {
                found.insert(End::Returned(value.map_or(0, |v| get(v).0), memory));
            }
            other => panic!("not generated: {other:?}"),
        }
    }
    (found, made)
}

fn operand(random: &mut Random) -> Operand {
    match random.below(5) {
        0 | 1 => Operand::Reg(Reg(0)),
        2 => Operand::Reg(Reg(random.below(4) as u32)),
        _ => Operand::Const(Value::from_i64(random.below(140) as i64 - 60)),
    }
}

/// A choice among some hundred values, then forward jumps, comparisons, conversions and some arithmetic.
fn function(random: &mut Random, memory: bool) -> Function {
    let mut function = Function::default();
    for name in ["chosen", "a", "b", "c", "p", "q"] {
        function.new_reg(name);
    }
    for reg in [4, 5] {
        let value = Rvalue::Use(Operand::Const(address(random)));
        function.push(Instr::Assign { dst: Reg(reg), value }, Span::default());
    }
    let first = random.below(90) as i64 - 60;
    let last = first + 70 + random.below(60) as i64;
    function.push(Instr::Nondet { dst: Reg(0), first, last }, Span::default());
    let length = 4 + random.below(12) as u32;
    let last = length + 2;
    for i in 3..=last {
        let instr = match memory {
            true => access(random, i),
            false => instruction(random, i, last),
        };
        function.push(instr, Span::default());
    }
    let result = match random.below(3) {
        0 => Operand::Reg(Reg(1)),
        _ => Operand::Const(Value(7)),
    };
    // A value that is in memory at a return counts as used.
    if !memory || random.below(4) == 0 {
        function.push(Instr::Return(Some(result)), Span::default());
    }
    function
}

/// An object, or its upper half.
fn address(random: &mut Random) -> Value {
    Value::pointer(ObjectId(random.below(2) as u32), [0, 4][random.below(2) as usize])
}

/// Loads and stores, through registers that are seldom written and at constants, and comparisons of what was loaded.
fn access(random: &mut Random, i: u32) -> Instr {
    let width = [Width::W8, Width::W32, Width::W32][random.below(3) as usize];
    let extend = [Extend::Zero, Extend::Sign][random.below(2) as usize];
    let addr = match random.below(3) {
        0 => Operand::Reg(Reg(4 + random.below(2) as u32)),
        _ => Operand::Const(address(random)),
    };
    let (chosen, loaded, holds) = (Reg(0), Reg(1), Reg(2));
    match random.below(12) {
        0 => Instr::Assign {
            dst: Reg(4 + random.below(2) as u32),
            value: Rvalue::Use(Operand::Const(address(random))),
        },
        1 | 2 => Instr::Store { addr, value: chosen.into(), width, ann: Ann::PLAIN },
        3 => Instr::Store { addr, value: Value(random.below(90)).into(), width, ann: Ann::PLAIN },
        4..=6 => Instr::Load { dst: loaded, addr, width, extend, ann: Ann::PLAIN },
        7..=9 => {
            let op = [BinaryOp::Eq, BinaryOp::LtS, BinaryOp::GeU][random.below(3) as usize];
            let limit = Value::from_i64(random.below(140) as i64 - 60);
            let reg = if random.below(4) == 0 { chosen } else { loaded };
            let value = Rvalue::Binary(op, Width::W32, Extend::Zero, reg.into(), limit.into());
            Instr::Assign { dst: holds, value }
        }
        10 => Instr::Assume(holds.into()),
        _ => Instr::Assert {
            condition: holds.into(),
            kind: fencepost_ir::FailKind::Assertion,
            message: i.to_string(),
        },
    }
}

fn instruction(random: &mut Random, i: u32, length: u32) -> Instr {
    let width = [Width::W8, Width::W32, Width::W64][random.below(3) as usize];
    let extend = [Extend::Zero, Extend::Sign][random.below(2) as usize];
    let dst = Reg(1 + random.below(3) as u32);
    let compare = [
        BinaryOp::Eq,
        BinaryOp::Ne,
        BinaryOp::LtS,
        BinaryOp::LeS,
        BinaryOp::GtS,
        BinaryOp::GeS,
        BinaryOp::LtU,
        BinaryOp::LeU,
        BinaryOp::GtU,
        BinaryOp::GeU,
    ];
    let forward = |random: &mut Random| Label(i + 1 + random.below(u64::from(length - i) + 1) as u32);
    match random.below(10) {
        0..=3 => {
            let op = compare[random.below(10) as usize];
            let value = Rvalue::Binary(op, width, Extend::Zero, operand(random), operand(random));
            Instr::Assign { dst, value }
        }
        4 | 5 => {
            let (then_to, else_to) = (forward(random), forward(random));
            Instr::Branch { condition: operand(random), then_to, else_to }
        }
        6 => Instr::Assume(operand(random)),
        7 => Instr::Assert {
            condition: operand(random),
            kind: fencepost_ir::FailKind::Assertion,
            message: i.to_string(),
        },
        8 => {
            let op = [UnaryOp::SignExtend, UnaryOp::ZeroExtend, UnaryOp::LogicalNot];
            let op = op[random.below(3) as usize];
            let extend = if op == UnaryOp::SignExtend { Extend::Sign } else { Extend::Zero };
            Instr::Assign { dst, value: Rvalue::Unary(op, width, extend, operand(random)) }
        }
        _ => {
            let op = [BinaryOp::Add, BinaryOp::And, BinaryOp::Mul, BinaryOp::RemS][random.below(4) as usize];
            let value = match random.below(3) {
                0 => Rvalue::Binary(op, width, extend, operand(random), operand(random)),
                1 => Rvalue::Use(operand(random)),
                _ => Rvalue::Select(operand(random), operand(random), operand(random)),
            };
            Instr::Assign { dst, value }
        }
    }
}

#[test]
fn intervals_end_where_single_values_end() {
    let cases = std::env::var("FENCEPOST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000u64);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut fewer, mut through_memory, mut values, mut choices) = (0, 0, 0, 0);
    for case in 0..cases {
        let mut program = Program::default();
        program.functions.push(function(&mut random, case % 2 == 1));
        if case % 2 == 1 {
            let object = |name| Object::scalar(name, Width::W64, Value::ZERO, Span::default());
            program.objects = vec![object("x"), object("y")];
            let (name, function, args) = ("main".into(), FunctionId(0), Vec::new());
            program.threads.push(Thread { name, function, args });
        }
        let split = split_choices(&program).expect("few values");
        let (all, made) = ends(&program.functions[0]);
        let (some, chosen) = ends(&split.functions[0]);
        assert_eq!(
            all, some,
            "case {case}: {:#?}\n{:#?}",
            program.functions[0].body, split.functions[0].body
        );
        fewer += u64::from(chosen < made);
        through_memory += u64::from(case % 2 == 1 && chosen < made);
        values += made;
        choices += chosen;
    }
    println!("{fewer} divided, {through_memory} of them with memory");
    assert!(through_memory > cases / 20, "{through_memory} with memory");
    assert!(fewer > cases / 3, "{fewer} of {cases} were divided: {values} values, {choices} choices");
}

#[test]
fn what_is_used_as_it_is_must_be_bounded() {
    let mut body = Function::default();
    let n = body.new_reg("n");
    let small = body.new_reg("small");
    let (first, last) = (i64::from(i32::MIN), i64::from(i32::MAX));
    body.push(Instr::Nondet { dst: n, first, last }, Span::default());
    let few = Rvalue::Binary(BinaryOp::LtU, Width::W32, Extend::Zero, n.into(), Value(10).into());
    body.push(Instr::Assign { dst: small, value: few }, Span::default());
    body.push(Instr::Assume(small.into()), Span::default());
    body.push(Instr::Return(Some(n.into())), Span::default());
    let program = Program { functions: vec![body], ..Program::default() };
    let split = split_choices(&program).expect("ten values are left");
    let (ends, _) = ends(&split.functions[0]);
    let returned = ends.iter().filter_map(|e| if let End::Returned(v, _) = e { Some(*v) } else { None });
    assert_eq!(returned.collect::<Vec<u64>>(), (0..10).collect::<Vec<u64>>());
    let mut unbounded = program.clone();
    unbounded.functions[0].body[2] = Instr::Assume(Value(1).into());
    // One value of each interval that is a single number stands for itself.
    let left = split_choices(&unbounded).map_err(|e| e.values).err();
    assert!(left.is_some_and(|values| values > 1 << 31), "{left:?}");
}
