//! Instructions of processors that load and store, as C: what they do is the same for AArch64 and POWER, only their words differ.
//!
//! A load-exclusive and a store-exclusive are what they are (`fencepost_ir` has them). A store-exclusive whose failure jumps back
//! to try again is assumed to succeed, as in the mappings of C11 to these processors: the tries that fail do nothing. An
//! acquiring load that is not exclusive, a releasing store and an atomic instruction with both orders are the sequentially
//! consistent accesses of C11, which are compiled to them.

use super::translation::{Home, Step, Translation, immediate, label};
use super::{Assembly, fences};
use crate::ast::{ArithOp, Block, Expr, LocalId, Stmt, StmtKind};
use crate::builtins::Builtin;
use crate::parser::{Parser, int_expr};
use crate::types::{QTy, Ty};
use fencepost_ir::{Fence, Order};

/// A register, or a number.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Arg {
    /// An operand of the statement; only its lower half if it is narrow.
    Operand {
        number: usize,
        narrow: bool,
    },
    /// A register by its number.
    Register {
        number: u32,
        narrow: bool,
    },
    Immediate(i64),
}

/// A place in memory.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Memory {
    /// An operand that is one.
    Operand(usize),
    /// What a register points to, and a displacement.
    Pointed(Arg, i64),
}

/// When a jump is taken, or a value is chosen.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Condition {
    Equal,
    NotEqual,
    Below,
    NotBelow,
    Zero(Arg),
    NotZero(Arg),
    Bit(Arg, u64, bool),
}

/// What an instruction does.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Op {
    Nothing,
    Fence(Vec<Fence>),
    Load {
        to: Arg,
        at: Memory,
        size: u64,
        order: Order,
        exclusive: bool,
    },
    Store {
        value: Arg,
        at: Memory,
        size: u64,
        order: Order,
    },
    /// The outcome goes to a register, 0 if it stored; or to the flag for *equal*.
    StoreExclusive {
        status: Option<Arg>,
        value: Arg,
        at: Memory,
        size: u64,
        order: Order,
    },
    /// An atomic operation by the name that C has for it.
    Fetch {
        name: &'static str,
        to: Option<Arg>,
        value: Arg,
        inverted: bool,
        at: Memory,
        size: u64,
        order: Order,
    },
    CompareSwap {
        expected: Arg,
        new: Arg,
        at: Memory,
        size: u64,
        order: Order,
    },
    /// `to = left op right`, with the right one inverted, and flags by the result.
    Compute {
        op: ArithOp,
        to: Option<Arg>,
        left: Arg,
        right: Arg,
        inverted: bool,
        flags: bool,
    },
    Move {
        to: Arg,
        from: Arg,
        inverted: bool,
    },
    Select {
        to: Arg,
        then: Arg,
        other: Arg,
        condition: Condition,
    },
    Jump {
        condition: Option<Condition>,
        label: String,
    },
    /// The processor's counter of ticks.
    Ticks(Arg),
}

/// Reads an instruction; `None` if it is not known.
pub(super) type Decode = fn(&str, &[Option<String>]) -> Option<Op>;

impl Parser<'_> {
    /// The block that does what the assembly does.
    pub(super) fn risc_block(&mut self, assembly: &Assembly, decode: Decode) -> Step<Block> {
        let names: Vec<Option<String>> = assembly.operands.iter().map(|o| o.name.clone()).collect();
        let lines = lines(&assembly.text);
        let op = |line: &&str| match label(line) {
            Some(_) => Some(Op::Nothing),
            None => match fences(line) {
                Some(found) => Some(Op::Fence(found)),
                None => decode(line, &names),
            },
        };
        let Some(ops) = lines.iter().map(op).collect::<Option<Vec<Op>>>() else { return Ok(None) };
        self.open_block()?;
        let done = self.risc_statements(assembly, &lines, ops);
        let end = self.last_span();
        let block = self.close_block(Vec::new(), end);
        Ok(done?.map(|stmts| Block { stmts, ..block }))
    }

    fn risc_statements(&mut self, assembly: &Assembly, lines: &[&str], ops: Vec<Op>) -> Step<Vec<Stmt>> {
        let Some(mut t) = self.risc_operands(assembly)? else { return Ok(None) };
        let Some(labels) = self.assembly_labels(&t, lines)? else { return Ok(None) };
        let mut retried = false;
        for (at, op) in ops.iter().enumerate() {
            if let Some((_, label)) = labels.iter().find(|(place, _)| *place == at) {
                let nothing = Box::new(Stmt { kind: StmtKind::Expr(None), span: t.span });
                t.stmts.push(Stmt { kind: StmtKind::Label(*label, nothing), span: t.span });
                continue;
            }
            // The jump that tries again has been taken care of.
            if std::mem::take(&mut retried) {
                continue;
            }
            if let Op::Jump { condition, label: target } = op {
                let named = |place: usize, number: &str| label(lines[place]) == Some(number);
                let found = match (target.strip_suffix('f'), target.strip_suffix('b')) {
                    (Some(number), _) => {
                        labels.iter().find(|(place, _)| *place > at && named(*place, number))
                    }
                    (_, Some(number)) => {
                        labels.iter().rev().find(|(place, _)| *place < at && named(*place, number))
                    }
                    _ => None,
                };
                let Some((_, label)) = found else { return Ok(None) };
                let jump = Stmt { kind: StmtKind::Goto(*label), span: t.span };
                let taken = match condition {
                    None => jump,
                    Some(condition) => {
                        let Some(value) = self.risc_condition(&mut t, condition)? else { return Ok(None) };
                        Stmt { kind: StmtKind::If(value, Box::new(jump), None), span: t.span }
                    }
                };
                t.stmts.push(taken);
                continue;
            }
            retried = ops.get(at + 1).is_some_and(|next| tries_again(op, next));
            if self.risc_op(&mut t, op, retried)?.is_none() {
                return Ok(None);
            }
        }
        for (index, operand) in assembly.operands.iter().enumerate().filter(|(_, o)| o.output) {
            if let Home::Register(local) = t.homes[index].clone() {
                let value = self.assembly_get(&t, local)?;
                self.assembly_assign(&mut t, operand.expr.clone(), value)?;
            }
        }
        Ok(Some(t.stmts))
    }

    /// Variables for the operands in registers, with their values.
    fn risc_operands(&mut self, assembly: &Assembly) -> Step<Translation> {
        let span = assembly.span;
        let mut flags = [LocalId(0); 3];
        for flag in &mut flags {
            *flag = self.temporary(Ty::INT.into(), span)?;
        }
        let mut t = Translation { homes: Vec::new(), fixed: Vec::new(), flags, stmts: Vec::new(), span };
        for operand in &assembly.operands {
            let constraint = operand.constraint.trim_start_matches(['=', '+', '&', '%']);
            let by_name = constraint.strip_prefix('[').and_then(|c| c.strip_suffix(']'));
            let named = |name: &str| assembly.operands.iter().position(|o| o.name.as_deref() == Some(name));
            let tied = constraint.parse::<usize>().ok().or_else(|| by_name.and_then(named));
            let in_memory = tied.is_none()
                && constraint.chars().any(|c| "mQZoV".contains(c))
                && !constraint.chars().any(|c| "rb".contains(c));
            if in_memory {
                t.homes.push(Home::Memory(operand.expr.clone()));
                continue;
            }
            let ty = self.rvalue(operand.expr.clone())?.ty.ty;
            if !self.unit.types.is_integer(ty) && !self.unit.types.is_pointer(ty) {
                return Ok(None);
            }
            let register = match tied.map(|n| t.homes.get(n).cloned()) {
                Some(Some(Home::Register(local))) => local,
                Some(Some(Home::Memory(place))) => {
                    t.homes.push(Home::Memory(place));
                    continue;
                }
                Some(_) => return Ok(None),
                None => self.temporary(QTy::plain(ty), span)?,
            };
            if !operand.output || operand.constraint.contains('+') {
                let value = self.rvalue(operand.expr.clone())?;
                self.assembly_set(&mut t, register, value)?;
            }
            t.homes.push(Home::Register(register));
        }
        Ok(Some(t))
    }

    fn risc_register(&mut self, t: &mut Translation, arg: &Arg) -> Step<LocalId> {
        match arg {
            Arg::Operand { number, .. } => Ok(match t.homes.get(*number) {
                Some(Home::Register(local)) => Some(*local),
                _ => None,
            }),
            Arg::Register { number, .. } => self.assembly_register(t, *number).map(Some),
            Arg::Immediate(_) => Ok(None),
        }
    }

    /// A value, as a number of 32 or 64 bits.
    fn risc_value(&mut self, t: &mut Translation, arg: &Arg) -> Step<Expr> {
        let ty = if is_narrow(arg) { Ty::UINT } else { Ty::ULONG };
        if let Arg::Immediate(n) = arg {
            return Ok(Some(int_expr(*n as u64, Ty::ULONG, t.span)));
        }
        let Some(local) = self.risc_register(t, arg)? else { return Ok(None) };
        let value = self.assembly_get(t, local)?;
        self.explicit_cast(value, ty.into(), t.span).map(Some)
    }

    /// Writes a register: its upper half is zero behind a narrow write.
    fn risc_set(&mut self, t: &mut Translation, to: &Arg, value: Expr) -> Step<()> {
        let Some(local) = self.risc_register(t, to)? else {
            return Ok(matches!(to, Arg::Immediate(0)).then_some(()));
        };
        let value = match is_narrow(to) {
            true => self.explicit_cast(value, Ty::UINT.into(), t.span)?,
            false => value,
        };
        self.assembly_set(t, local, value).map(Some)
    }

    /// The address of a place, for an access of this size.
    fn risc_address(&mut self, t: &mut Translation, at: &Memory, size: u64) -> Step<(Expr, Ty)> {
        let ty = match size {
            1 => Ty::UCHAR,
            2 => Ty::USHORT,
            4 => Ty::UINT,
            _ => Ty::ULONG,
        };
        let base = match at {
            Memory::Operand(n) => {
                let Some(Home::Memory(place)) = t.homes.get(*n).cloned() else { return Ok(None) };
                self.address_of(place, t.span)?
            }
            Memory::Pointed(base, displacement) => {
                let Some(local) = self.risc_register(t, base)? else { return Ok(None) };
                let base = self.assembly_get(t, local)?;
                let bytes = self.unit.types.pointer(Ty::CHAR);
                let base = self.explicit_cast(base, bytes.into(), t.span)?;
                match displacement {
                    0 => base,
                    n => self.arith(ArithOp::Add, base, int_expr(*n as u64, Ty::LONG, t.span))?,
                }
            }
        };
        let pointer = self.unit.types.pointer(ty);
        Ok(Some((self.explicit_cast(base, pointer.into(), t.span)?, ty)))
    }

    fn risc_condition(&mut self, t: &mut Translation, condition: &Condition) -> Step<Expr> {
        let [equal, _, below] = t.flags;
        let zero = int_expr(0, Ty::INT, t.span);
        let (value, holds) = match condition {
            Condition::Equal => (self.assembly_get(t, equal)?, true),
            Condition::NotEqual => (self.assembly_get(t, equal)?, false),
            Condition::Below => (self.assembly_get(t, below)?, true),
            Condition::NotBelow => (self.assembly_get(t, below)?, false),
            Condition::Zero(arg) | Condition::NotZero(arg) => {
                let Some(value) = self.risc_value(t, arg)? else { return Ok(None) };
                (value, matches!(condition, Condition::NotZero(_)))
            }
            Condition::Bit(arg, bit, set) => {
                let Some(value) = self.risc_value(t, arg)? else { return Ok(None) };
                let value = self.arith(ArithOp::Shr, value, int_expr(*bit, Ty::INT, t.span))?;
                (self.arith(ArithOp::And, value, int_expr(1, Ty::ULONG, t.span))?, *set)
            }
        };
        self.arith(if holds { ArithOp::Ne } else { ArithOp::Eq }, value, zero).map(Some)
    }

    /// One instruction; `None` if its operands are not what it needs.
    fn risc_op(&mut self, t: &mut Translation, op: &Op, retried: bool) -> Step<()> {
        match op {
            Op::Nothing | Op::Jump { .. } => {}
            Op::Fence(found) => found.iter().for_each(|fence| self.assembly_fence(t, *fence)),
            Op::Load { to, at, size, order, exclusive } => {
                let Some((address, ty)) = self.risc_address(t, at, *size)? else { return Ok(None) };
                let what = if *exclusive { Builtin::LoadExclusive(*order) } else { Builtin::Load(*order) };
                let loaded = self.assembly_builtin(t, what, vec![address], ty);
                return self.risc_set(t, to, loaded);
            }
            Op::Store { value, at, size, order } => {
                let Some((args, _)) = self.risc_access(t, at, *size, value)? else { return Ok(None) };
                let stored = self.assembly_builtin(t, Builtin::Store(*order), args, Ty::VOID);
                t.stmts.push(Stmt { kind: StmtKind::Expr(Some(stored)), span: t.span });
            }
            Op::StoreExclusive { status, value, at, size, order } => {
                let Some((args, _)) = self.risc_access(t, at, *size, value)? else { return Ok(None) };
                let what = Builtin::StoreExclusive { order: *order, retried };
                let done = self.assembly_builtin(t, what, args, Ty::INT);
                return match status {
                    Some(status) => self.risc_set(t, status, done),
                    None => {
                        let done = self.arith(ArithOp::Eq, done, int_expr(0, Ty::INT, t.span))?;
                        let equal = t.flags[0];
                        self.assembly_set(t, equal, done).map(Some)
                    }
                };
            }
            Op::Fetch { name, to, value, inverted, at, size, order } => {
                let Some((mut args, _)) = self.risc_access(t, at, *size, value)? else { return Ok(None) };
                if *inverted {
                    let value = args.remove(1);
                    let ty = value.ty.ty;
                    let ones = int_expr(u64::MAX, Ty::ULONG, t.span);
                    let value = self.arith(ArithOp::Xor, value, ones)?;
                    args.push(self.explicit_cast(value, ty.into(), t.span)?);
                }
                let place = self.dereference(args.remove(0), t.span)?;
                let done = self.assembly_atomic(name, place, args, number(*order), t.span)?;
                let old = self.assembly_kept(t, done)?;
                if let Some(to) = to {
                    let old = self.assembly_get(t, old)?;
                    return self.risc_set(t, to, old);
                }
            }
            Op::CompareSwap { expected, new, at, size, order } => {
                let Some((address, ty)) = self.risc_address(t, at, *size)? else { return Ok(None) };
                let (Some(wanted), Some(new)) = (self.risc_value(t, expected)?, self.risc_value(t, new)?)
                else {
                    return Ok(None);
                };
                let wanted = self.explicit_cast(wanted, ty.into(), t.span)?;
                let new = self.explicit_cast(new, ty.into(), t.span)?;
                let failure = match order {
                    Order::Acquire | Order::SeqCst => *order,
                    _ => Order::Relaxed,
                };
                let result = crate::builtins::CasResult::Old;
                let what = Builtin::CompareSwap { success: *order, failure, result };
                let old = self.assembly_builtin(t, what, vec![address, wanted, new], ty);
                return self.risc_set(t, expected, old);
            }
            Op::Ticks(to) => {
                let ticks = self.ticks(t.span, t.span)?;
                return self.risc_set(t, to, ticks);
            }
            Op::Compute { op, to, left, right, inverted, flags } => {
                return self.risc_compute(t, *op, (to.as_ref(), left, right), *inverted, *flags);
            }
            Op::Move { to, from, inverted } => {
                let Some(value) = self.risc_value(t, from)? else { return Ok(None) };
                let value = match inverted {
                    true => self.arith(ArithOp::Xor, value, int_expr(u64::MAX, Ty::ULONG, t.span))?,
                    false => value,
                };
                return self.risc_set(t, to, value);
            }
            Op::Select { to, then, other, condition } => {
                // Without a branch: what is chosen is data.
                let Some(chosen) = self.risc_condition(t, condition)? else { return Ok(None) };
                let (Some(then), Some(other)) = (self.risc_value(t, then)?, self.risc_value(t, other)?)
                else {
                    return Ok(None);
                };
                let chosen = self.explicit_cast(chosen, Ty::ULONG.into(), t.span)?;
                let chosen = self.assembly_kept(t, chosen)?;
                let mask = self.assembly_get(t, chosen)?;
                let kept = self.arith(ArithOp::Mul, then, mask.clone())?;
                let not = self.arith(ArithOp::Xor, mask, int_expr(1, Ty::ULONG, t.span))?;
                let left = self.arith(ArithOp::Mul, other, not)?;
                let value = self.arith(ArithOp::Or, kept, left)?;
                return self.risc_set(t, to, value);
            }
        }
        Ok(Some(()))
    }

    /// The address and a value of its size.
    fn risc_access(
        &mut self,
        t: &mut Translation,
        at: &Memory,
        size: u64,
        value: &Arg,
    ) -> Step<(Vec<Expr>, Ty)> {
        let Some((address, ty)) = self.risc_address(t, at, size)? else { return Ok(None) };
        let Some(value) = self.risc_value(t, value)? else { return Ok(None) };
        let value = self.explicit_cast(value, ty.into(), t.span)?;
        Ok(Some((vec![address, value], ty)))
    }

    fn risc_compute(
        &mut self,
        t: &mut Translation,
        op: ArithOp,
        (to, left, right): (Option<&Arg>, &Arg, &Arg),
        inverted: bool,
        flags: bool,
    ) -> Step<()> {
        let narrow = [Some(left), to].into_iter().flatten().any(is_narrow);
        let ty = if narrow { Ty::UINT } else { Ty::ULONG };
        let (Some(a), Some(b)) = (self.risc_value(t, left)?, self.risc_value(t, right)?) else {
            return Ok(None);
        };
        let (a, mut b) =
            (self.explicit_cast(a, ty.into(), t.span)?, self.explicit_cast(b, ty.into(), t.span)?);
        if inverted {
            b = self.arith(ArithOp::Xor, b, int_expr(u64::MAX, ty, t.span))?;
        }
        if flags && op == ArithOp::Sub {
            let below = self.arith(ArithOp::Lt, a.clone(), b.clone())?;
            let flag = t.flags[2];
            self.assembly_set(t, flag, below)?;
        }
        let result = self.arith(op, a, b)?;
        let result = self.explicit_cast(result, ty.into(), t.span)?;
        let kept = self.assembly_kept(t, result)?;
        if flags {
            let result = self.assembly_get(t, kept)?;
            let equal = self.arith(ArithOp::Eq, result, int_expr(0, Ty::INT, t.span))?;
            let flag = t.flags[0];
            self.assembly_set(t, flag, equal)?;
        }
        let result = self.assembly_get(t, kept)?;
        to.map_or(Ok(Some(())), |to| self.risc_set(t, to, result))
    }
}

/// Whether a jump back follows a store-exclusive that failed, and nothing else.
fn tries_again(op: &Op, next: &Op) -> bool {
    let (Op::StoreExclusive { status, .. }, Op::Jump { condition: Some(condition), label }) = (op, next)
    else {
        return false;
    };
    let failed = match (status, condition) {
        (Some(status), Condition::NotZero(arg)) => arg == status,
        (None, Condition::NotEqual) => true,
        _ => false,
    };
    failed && label.ends_with('b')
}

/// The number that C has for a memory order.
fn number(order: Order) -> u64 {
    match order {
        Order::Acquire => super::translation::ACQUIRE,
        Order::Release => super::translation::RELEASE,
        Order::SeqCst => super::translation::SEQ_CST,
        _ => 0,
    }
}

fn is_narrow(arg: &Arg) -> bool {
    matches!(arg, Arg::Operand { narrow: true, .. } | Arg::Register { narrow: true, .. })
}

/// The instructions and labels of a text, each by itself, without remarks.
fn lines(text: &str) -> Vec<&str> {
    let without_remark = |line| match str::split_once(line, "//") {
        Some((code, _)) => code,
        None => line,
    };
    let parts = text.split(['\n', ';']).map(without_remark).map(str::trim);
    let parts = parts.flat_map(|line| match line.split_once(':') {
        Some((number, rest)) if !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()) => {
            [&line[..=number.len()], rest.trim()]
        }
        _ => ["", line],
    });
    parts.filter(|line| !line.is_empty() && !line.starts_with(".arch")).collect()
}

/// The word of an instruction, in small letters, and its operands.
pub(super) fn words(line: &str) -> (String, Vec<String>) {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let (mut depth, mut args) = (0i32, vec![String::new()]);
    for c in rest.trim().chars() {
        depth += i32::from("[(".contains(c)) - i32::from("])".contains(c));
        match c {
            ',' if depth == 0 => args.push(String::new()),
            _ => args.iter_mut().last().into_iter().for_each(|arg| arg.push(c)),
        }
    }
    let args = args.iter().map(|arg| arg.trim().to_string()).filter(|arg| !arg.is_empty()).collect();
    (word.to_ascii_lowercase(), args)
}

/// `%0`, `%w0`, `%[name]`, `%w[name]`: the number of the operand, and the letter.
pub(super) fn operand(text: &str, names: &[Option<String>]) -> Option<(usize, Option<char>)> {
    let rest = text.strip_prefix('%')?;
    let letter = rest.chars().next().filter(char::is_ascii_alphabetic);
    let rest = rest.strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest);
    let number = match rest.strip_prefix('[').and_then(|r| r.strip_suffix(']')) {
        Some(name) => names.iter().position(|known| known.as_deref() == Some(name))?,
        None => rest.parse().ok().filter(|n| *n < names.len())?,
    };
    Some((number, letter))
}

/// A number, with or without `#`.
pub(super) fn constant(text: &str) -> Option<i64> {
    immediate(text.strip_prefix('#').unwrap_or(text))
}

/// `1f` or `1b`.
pub(super) fn is_label(text: &str) -> bool {
    let number = text.strip_suffix(['f', 'b']).unwrap_or("");
    !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
}
