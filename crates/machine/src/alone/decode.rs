//! Small operations for the usual instructions of a function, made once.
//!
//! The operation of an instruction stands at the instruction's own place, so that `step` and `compute` can take turns anywhere.
//! An operation that does several instructions goes on behind them all; the others keep operations of their own, for jumps
//! between them.
//!
//! A constant is a register that nobody writes: it stands behind the registers of the function.

use fencepost_ir::{BinaryOp, Extend, Function, Instr, Operand, Program, Reg, Rvalue, UnaryOp, Value, Width};
use std::collections::HashMap;

/// How many registers and constants of a function an operation can name: all that a `u16` can, so that none is ever out of
/// bounds.
pub(super) const WINDOW: usize = 1 << 16;

/// How many instructions are looked at to see that a condition is not used again.
const LOOK_AHEAD: usize = 32;

/// `d = a op b`; of a `Select`, `d = c ? a : b`; of a store, `[a] = b`.
#[derive(Clone, Copy)]
pub(super) struct Regs {
    pub d: u16,
    pub a: u16,
    pub b: u16,
}

/// A comparison of `a` and `b` and the branch on it: `to` if it holds, else a little forward.
#[derive(Clone, Copy)]
pub(super) struct Fork {
    pub a: u16,
    pub b: u16,
    pub forward: u16,
    /// A number; in bytes for the sake of alignment.
    to: [u8; 4],
}

impl Fork {
    #[inline(always)]
    pub fn to(self) -> usize {
        u32::from_le_bytes(self.to) as usize
    }
}

impl Regs {
    fn swapped(self) -> Regs {
        Regs { d: self.d, a: self.b, b: self.a }
    }
}

/// An operation. The number in a name is its width; `S` and `U` say how a narrow result fills the register, or that a comparison
/// has signs.
#[derive(Clone, Copy)]
pub(super) enum Op {
    /// Left to `step`.
    Step,
    Move(Regs),
    ExtendS8(Regs),
    ExtendU8(Regs),
    ExtendS16(Regs),
    ExtendU16(Regs),
    ExtendS32(Regs),
    ExtendU32(Regs),
    Select(Regs, u16),
    AddS32(Regs),
    AddU32(Regs),
    Add64(Regs),
    SubS32(Regs),
    SubU32(Regs),
    Sub64(Regs),
    MulS32(Regs),
    MulU32(Regs),
    Mul64(Regs),
    AndS32(Regs),
    AndU32(Regs),
    And64(Regs),
    OrS32(Regs),
    OrU32(Regs),
    Or64(Regs),
    XorS32(Regs),
    XorU32(Regs),
    Xor64(Regs),
    Eq32(Regs),
    Eq64(Regs),
    Ne32(Regs),
    Ne64(Regs),
    LtS32(Regs),
    LtU32(Regs),
    LtS64(Regs),
    LtU64(Regs),
    LeS32(Regs),
    LeU32(Regs),
    LeS64(Regs),
    LeU64(Regs),
    /// Any other.
    Binary(BinaryOp, Width, Extend, Regs),
    Unary(UnaryOp, Width, Extend, Regs),
    LoadS8(Regs),
    LoadU8(Regs),
    LoadS16(Regs),
    LoadU16(Regs),
    LoadS32(Regs),
    LoadU32(Regs),
    Load64(Regs),
    Store8(Regs),
    Store16(Regs),
    Store32(Regs),
    Store64(Regs),
    /// The register has a value.
    Defined(Regs),
    /// The register is true.
    Holds(Regs),
    Jump(u32),
    Branch {
        a: u16,
        then_to: u32,
        else_to: u32,
    },
    /// A comparison that nobody else needs and the branch on it, so many instructions.
    ForkEq32(u8, Fork),
    ForkEq64(u8, Fork),
    ForkNe32(u8, Fork),
    ForkNe64(u8, Fork),
    ForkLtS32(u8, Fork),
    ForkLtU32(u8, Fork),
    ForkLtS64(u8, Fork),
    ForkLtU64(u8, Fork),
    ForkLeS32(u8, Fork),
    ForkLeU32(u8, Fork),
    ForkLeS64(u8, Fork),
    ForkLeU64(u8, Fork),
    /// `a = a + b` with the number of `b`, and then the fork: how most loops end.
    CountLtS32(u16, u8, Fork),
    CountLeS32(u16, u8, Fork),
    CountLtU32(u16, u8, Fork),
    CountLtU64(u16, u8, Fork),
    /// Two in a row: the sum of a computation, as of a place in an array, `base + index * size`.
    AddAddS32(Regs, Regs),
    SubAddS32(Regs, Regs),
    MulAddS32(Regs, Regs),
    AndAddS32(Regs, Regs),
    AddAdd64(Regs, Regs),
    MulAdd64(Regs, Regs),
}

/// A function.
pub(super) struct Decoded {
    /// One for each instruction, or none at all.
    pub ops: Vec<Op>,
    /// What its registers hold when it begins, and then the constants.
    pub registers: Vec<u64>,
}

/// A program.
pub(super) struct Code {
    pub functions: Vec<Decoded>,
}

impl Code {
    pub fn of(program: &Program) -> Code {
        Code { functions: program.functions.iter().map(decode).collect() }
    }

    /// Without any operations.
    pub fn by_steps(program: &Program) -> Code {
        Code { functions: program.functions.iter().map(undecoded).collect() }
    }
}

fn undecoded(function: &Function) -> Decoded {
    Decoded { ops: Vec::new(), registers: vec![0; function.regs.len()] }
}

fn decode(function: &Function) -> Decoded {
    let mut decoder = Decoder { registers: vec![0; function.regs.len()], constants: HashMap::new() };
    let mut ops: Vec<Op> = function.body.iter().map(|instr| decoder.op(instr)).collect();
    if decoder.registers.len() > WINDOW {
        return undecoded(function);
    }
    let forks: Vec<_> = function
        .body
        .iter()
        .enumerate()
        .filter_map(|(at, instr)| {
            // A jump to the condition of a loop decides it on the spot.
            let (comparison, jump) = match instr {
                Instr::Jump(to) => (to.0 as usize, 1),
                _ => (at, 0),
            };
            let (&first, &second) = (ops.get(comparison)?, ops.get(comparison + 1)?);
            Some((at, fork(function, at, jump + 2, first, second)?))
        })
        .collect();
    for (at, fork) in forks {
        ops[at] = fork;
    }
    for at in 1..ops.len() {
        if let Some(pair) = pair(ops[at - 1], ops[at]) {
            ops[at - 1] = pair;
        }
    }
    Decoded { ops, registers: decoder.registers }
}

/// A comparison and the branch behind it as one operation at some place, if one of the ways from there is forward: the other
/// may go back, and there the number of steps is looked at.
fn fork(function: &Function, at: usize, length: u8, comparison: Op, branch: Op) -> Option<Op> {
    let Op::Branch { a: condition, then_to, else_to } = branch else { return None };
    let forward =
        |to: u32| (to as usize).checked_sub(at).and_then(|by| u16::try_from(by).ok()).filter(|by| *by > 0);
    let (holds, to, forward) = match (forward(then_to), forward(else_to)) {
        (Some(by), other) if other.is_none_or(|other| by < other) => (false, else_to, by),
        (_, Some(by)) => (true, then_to, by),
        _ => return None,
    };
    let op: (fn(u8, Fork) -> Op, Regs) = match comparison {
        Op::Eq32(r) => (if holds { Op::ForkEq32 } else { Op::ForkNe32 }, r),
        Op::Eq64(r) => (if holds { Op::ForkEq64 } else { Op::ForkNe64 }, r),
        Op::Ne32(r) => (if holds { Op::ForkNe32 } else { Op::ForkEq32 }, r),
        Op::Ne64(r) => (if holds { Op::ForkNe64 } else { Op::ForkEq64 }, r),
        // Of two numbers, one is less or the other is less or equal.
        Op::LtS32(r) => {
            if holds {
                (Op::ForkLtS32, r)
            } else {
                (Op::ForkLeS32, r.swapped())
            }
        }
        Op::LtU32(r) => {
            if holds {
                (Op::ForkLtU32, r)
            } else {
                (Op::ForkLeU32, r.swapped())
            }
        }
        Op::LtS64(r) => {
            if holds {
                (Op::ForkLtS64, r)
            } else {
                (Op::ForkLeS64, r.swapped())
            }
        }
        Op::LtU64(r) => {
            if holds {
                (Op::ForkLtU64, r)
            } else {
                (Op::ForkLeU64, r.swapped())
            }
        }
        Op::LeS32(r) => {
            if holds {
                (Op::ForkLeS32, r)
            } else {
                (Op::ForkLtS32, r.swapped())
            }
        }
        Op::LeU32(r) => {
            if holds {
                (Op::ForkLeU32, r)
            } else {
                (Op::ForkLtU32, r.swapped())
            }
        }
        Op::LeS64(r) => {
            if holds {
                (Op::ForkLeS64, r)
            } else {
                (Op::ForkLtS64, r.swapped())
            }
        }
        Op::LeU64(r) => {
            if holds {
                (Op::ForkLeU64, r)
            } else {
                (Op::ForkLtU64, r.swapped())
            }
        }
        _ => return None,
    };
    let (make, Regs { d, a, b }) = op;
    let unused = |from: u32| is_dead(function, from as usize, Reg(u32::from(d)));
    let fits = d == condition && unused(then_to) && unused(else_to);
    fits.then(|| make(length, Fork { a, b, forward, to: to.to_le_bytes() }))
}

/// Two operations in a row as one.
fn pair(first: Op, second: Op) -> Option<Op> {
    let counts = |r: Regs, fork: Fork| r.d == r.a && r.d == fork.a;
    Some(match (first, second) {
        (Op::AddS32(r), Op::ForkLtS32(length, fork)) if counts(r, fork) => Op::CountLtS32(r.b, length, fork),
        (Op::AddS32(r), Op::ForkLeS32(length, fork)) if counts(r, fork) => Op::CountLeS32(r.b, length, fork),
        (Op::AddU32(r), Op::ForkLtU32(length, fork)) if counts(r, fork) => Op::CountLtU32(r.b, length, fork),
        (Op::Add64(r), Op::ForkLtU64(length, fork)) if counts(r, fork) => Op::CountLtU64(r.b, length, fork),
        (Op::AddS32(r), Op::AddS32(then)) => Op::AddAddS32(r, then),
        (Op::SubS32(r), Op::AddS32(then)) => Op::SubAddS32(r, then),
        (Op::MulS32(r), Op::AddS32(then)) => Op::MulAddS32(r, then),
        (Op::AndS32(r), Op::AddS32(then)) => Op::AndAddS32(r, then),
        (Op::Add64(r), Op::Add64(then)) => Op::AddAdd64(r, then),
        (Op::Mul64(r), Op::Add64(then)) => Op::MulAdd64(r, then),
        _ => return None,
    })
}

/// Whether a register is surely written before it is read, as the next instructions show.
fn is_dead(function: &Function, mut at: usize, reg: Reg) -> bool {
    for _ in 0..LOOK_AHEAD {
        let Some(instr) = function.body.get(at) else { return true };
        let (mut used, mut defined) = (false, false);
        instr.for_each_use(|other| used |= other == reg);
        instr.for_each_definition(|other| defined |= other == reg);
        match instr {
            _ if used => return false,
            _ if defined => return true,
            Instr::Return(_) | Instr::Halt | Instr::Exit(_) => return true,
            Instr::Branch { .. } => return false,
            Instr::Jump(to) => at = to.0 as usize,
            _ => at += 1,
        }
    }
    false
}

struct Decoder {
    registers: Vec<u64>,
    constants: HashMap<u64, u16>,
}

impl Decoder {
    /// The number of an operand. It is wrong if there are too many of them, and then nothing is decoded.
    fn operand(&mut self, operand: Operand) -> u16 {
        match operand {
            Operand::Reg(reg) => reg.0 as u16,
            Operand::Const(value) => *self.constants.entry(value.0).or_insert_with(|| {
                self.registers.push(value.0);
                (self.registers.len() - 1) as u16
            }),
        }
    }

    fn two(&mut self, dst: Reg, a: Operand) -> Regs {
        Regs { d: dst.0 as u16, a: self.operand(a), b: 0 }
    }

    fn one(&mut self, a: Operand) -> Regs {
        Regs { d: 0, a: self.operand(a), b: 0 }
    }

    fn op(&mut self, instr: &Instr) -> Op {
        let op = self.usual(instr);
        // The one number that stands for no value is nothing to compute with.
        if self.constants.remove(&Value::UNDEFINED.0).is_some() { Op::Step } else { op }
    }

    fn usual(&mut self, instr: &Instr) -> Op {
        match *instr {
            Instr::Assign { dst, value } => self.assign(dst, value),
            // Where all bytes are known these are one and the same.
            Instr::Load { dst, addr, width, extend, .. }
            | Instr::CopyLoad { dst, addr, width, extend, .. } => {
                let regs = self.two(dst, addr);
                match (width, extend) {
                    (Width::W8, Extend::Sign) => Op::LoadS8(regs),
                    (Width::W8, Extend::Zero) => Op::LoadU8(regs),
                    (Width::W16, Extend::Sign) => Op::LoadS16(regs),
                    (Width::W16, Extend::Zero) => Op::LoadU16(regs),
                    (Width::W32, Extend::Sign) => Op::LoadS32(regs),
                    (Width::W32, Extend::Zero) => Op::LoadU32(regs),
                    (Width::W64, _) => Op::Load64(regs),
                    (Width::W128, _) => Op::Step,
                }
            }
            Instr::Store { addr, value, width, .. } => {
                let regs = Regs { d: 0, a: self.operand(addr), b: self.operand(value) };
                match width {
                    Width::W8 => Op::Store8(regs),
                    Width::W16 => Op::Store16(regs),
                    Width::W32 => Op::Store32(regs),
                    Width::W64 => Op::Store64(regs),
                    Width::W128 => Op::Step,
                }
            }
            Instr::Defined(value) => Op::Defined(self.one(value)),
            Instr::Assert { condition, .. } | Instr::Assume(condition) => Op::Holds(self.one(condition)),
            Instr::Jump(to) => Op::Jump(to.0),
            Instr::Branch { condition, then_to, else_to } => {
                Op::Branch { a: self.operand(condition), then_to: then_to.0, else_to: else_to.0 }
            }
            _ => Op::Step,
        }
    }

    fn assign(&mut self, dst: Reg, value: Rvalue) -> Op {
        match value {
            Rvalue::Use(a) => Op::Move(self.two(dst, a)),
            Rvalue::Select(condition, a, b) => {
                let regs = Regs { d: dst.0 as u16, a: self.operand(a), b: self.operand(b) };
                Op::Select(regs, self.operand(condition))
            }
            // Either leaves the low bits as they are, so that how the result is extended is all that counts.
            Rvalue::Unary(UnaryOp::ZeroExtend | UnaryOp::SignExtend, width, extend, a) => {
                let regs = self.two(dst, a);
                match (width, extend) {
                    (Width::W8, Extend::Sign) => Op::ExtendS8(regs),
                    (Width::W8, Extend::Zero) => Op::ExtendU8(regs),
                    (Width::W16, Extend::Sign) => Op::ExtendS16(regs),
                    (Width::W16, Extend::Zero) => Op::ExtendU16(regs),
                    (Width::W32, Extend::Sign) => Op::ExtendS32(regs),
                    (Width::W32, Extend::Zero) => Op::ExtendU32(regs),
                    (Width::W64 | Width::W128, _) => Op::Move(regs),
                }
            }
            Rvalue::Unary(op, width, extend, a) => Op::Unary(op, width, extend, self.two(dst, a)),
            Rvalue::Binary(op, width, extend, a, b) => {
                let regs = Regs { d: dst.0 as u16, a: self.operand(a), b: self.operand(b) };
                binary(op, width, extend, regs)
            }
        }
    }
}

fn binary(op: BinaryOp, width: Width, extend: Extend, regs: Regs) -> Op {
    let by_width = |signed: fn(Regs) -> Op, unsigned: fn(Regs) -> Op, wide: fn(Regs) -> Op| match width {
        Width::W32 if extend == Extend::Sign => signed(regs),
        Width::W32 => unsigned(regs),
        Width::W64 => wide(regs),
        _ => Op::Binary(op, width, extend, regs),
    };
    let compare = |narrow: fn(Regs) -> Op, wide: fn(Regs) -> Op, regs: Regs| match width {
        Width::W32 => narrow(regs),
        Width::W64 => wide(regs),
        _ => Op::Binary(op, width, extend, regs),
    };
    let swapped = match width {
        Width::W32 | Width::W64 => regs.swapped(),
        _ => regs,
    };
    match op {
        BinaryOp::Add => by_width(Op::AddS32, Op::AddU32, Op::Add64),
        BinaryOp::Sub => by_width(Op::SubS32, Op::SubU32, Op::Sub64),
        BinaryOp::Mul => by_width(Op::MulS32, Op::MulU32, Op::Mul64),
        BinaryOp::And => by_width(Op::AndS32, Op::AndU32, Op::And64),
        BinaryOp::Or => by_width(Op::OrS32, Op::OrU32, Op::Or64),
        BinaryOp::Xor => by_width(Op::XorS32, Op::XorU32, Op::Xor64),
        BinaryOp::Eq => compare(Op::Eq32, Op::Eq64, regs),
        BinaryOp::Ne => compare(Op::Ne32, Op::Ne64, regs),
        BinaryOp::LtS => compare(Op::LtS32, Op::LtS64, regs),
        BinaryOp::LtU => compare(Op::LtU32, Op::LtU64, regs),
        BinaryOp::LeS => compare(Op::LeS32, Op::LeS64, regs),
        BinaryOp::LeU => compare(Op::LeU32, Op::LeU64, regs),
        BinaryOp::GtS => compare(Op::LtS32, Op::LtS64, swapped),
        BinaryOp::GtU => compare(Op::LtU32, Op::LtU64, swapped),
        BinaryOp::GeS => compare(Op::LeS32, Op::LeS64, swapped),
        BinaryOp::GeU => compare(Op::LeU32, Op::LeU64, swapped),
        _ => Op::Binary(op, width, extend, regs),
    }
}

const _: () = assert!(size_of::<Op>() == 16);
