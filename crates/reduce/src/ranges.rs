//! What registers and cells of a flat program may hold: the range of the numbers, which low bits are zero, and which objects an
//! address may point into. A printed program has types as narrow as this allows, and arrays where it knows the object.
//!
//! One value per register and per object, whatever the place in the program: a least fixpoint, with ranges that keep growing
//! widened to those of the machine's words.

use fencepost_ir::flat::{Flat, Op};
use fencepost_ir::{BinaryOp, Extend, ObjectId, Operand, Reg, Rvalue, UnaryOp, Value, Width};
use std::collections::BTreeSet;

/// The abstract value of a register or of the cells of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    /// Least and greatest number, read as signed.
    pub least: i64,
    pub greatest: i64,
    /// So many low bits are zero.
    pub zeros: u32,
    /// Objects that it may be an address in.
    pub objects: BTreeSet<u32>,
}

impl Range {
    fn of(value: Value) -> Range {
        let objects = value.as_pointer().map(|(ObjectId(object), _)| object).into_iter().collect();
        let number = value.as_i64();
        Range { least: number, greatest: number, zeros: number.trailing_zeros(), objects }
    }

    fn between(least: i64, greatest: i64) -> Range {
        Range { least, greatest, zeros: 0, objects: BTreeSet::new() }
    }

    /// What a value of a width can be once it fills a register.
    fn full(width: Width, extend: Extend) -> Range {
        let bits = width.bits();
        match extend {
            _ if bits == 64 => Range::between(i64::MIN, i64::MAX),
            Extend::Zero => Range::between(0, (1 << bits) - 1),
            Extend::Sign => Range::between(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        }
    }

    fn is_within(&self, other: &Range) -> bool {
        other.least <= self.least && self.greatest <= other.greatest
    }

    /// Cut to a width and extended again.
    fn cut(self, width: Width, extend: Extend) -> Range {
        let full = Range::full(width, extend);
        match self.is_within(&full) {
            true => self,
            false => Range { zeros: self.zeros.min(width.bits() - 1), objects: self.objects, ..full },
        }
    }

    /// Takes in another; true if that is new.
    fn join(&mut self, other: &Range) -> bool {
        let before = self.clone();
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
        self.zeros = self.zeros.min(other.zeros);
        self.objects.extend(&other.objects);
        *self != before
    }

    /// Grows at once to the next range of a machine's word.
    fn widen(&mut self) {
        for width in [Width::W8, Width::W16, Width::W32] {
            for extend in [Extend::Zero, Extend::Sign] {
                let full = Range::full(width, extend);
                if self.is_within(&full) {
                    (self.least, self.greatest) = (full.least, full.greatest);
                    return;
                }
            }
        }
        (self.least, self.greatest) = (i64::MIN, i64::MAX);
    }
}

/// The ranges of a flat program.
pub(crate) struct Ranges {
    /// Per thread and register.
    pub registers: Vec<Vec<Range>>,
    /// Per object: what its cells hold, cut to their widths and read as signed.
    pub cells: Vec<Range>,
}

/// After so many rounds what still grows is widened.
const EXACT_ROUNDS: usize = 24;

impl Ranges {
    /// Computes them.
    pub fn new(flat: &Flat) -> Ranges {
        let zero = Range::of(Value::ZERO);
        let initial = |object: &fencepost_ir::Object| {
            let mut range = zero.clone();
            for cell in &object.cells {
                // Nobody knows what a cell without a value holds.
                let first = cell.init.map_or(Range::full(cell.width, Extend::Sign), Range::of);
                range.join(&first.cut(cell.width, Extend::Sign));
            }
            range
        };
        let mut ranges = Ranges {
            registers: flat
                .threads
                .iter()
                .map(|t| vec![zero.clone(); t.regs.max(t.outer) as usize])
                .collect(),
            cells: flat.objects.iter().map(initial).collect(),
        };
        for round in 0.. {
            let mut changed = false;
            for (number, thread) in flat.threads.iter().enumerate() {
                for step in &thread.code {
                    changed |= ranges.step(flat, number, &step.op, round > EXACT_ROUNDS);
                }
            }
            if !changed {
                break;
            }
        }
        ranges
    }

    /// What an operand of a thread may be.
    pub fn operand(&self, thread: usize, operand: &Operand) -> Range {
        match operand {
            Operand::Reg(reg) => self.registers[thread][reg.0 as usize].clone(),
            Operand::Const(value) => Range::of(*value),
        }
    }

    fn set(&mut self, thread: usize, dst: Reg, value: &Range, widens: bool) -> bool {
        let known = &mut self.registers[thread][dst.0 as usize];
        let changed = known.join(value);
        if changed && widens {
            known.widen();
        }
        changed
    }

    fn step(&mut self, flat: &Flat, thread: usize, op: &Op, widens: bool) -> bool {
        match op {
            Op::Assign { dst, value } => {
                let value = self.value(thread, value);
                self.set(thread, *dst, &value, widens)
            }
            Op::Nondet { dst, first, last } => self.set(thread, *dst, &Range::between(*first, *last), widens),
            Op::Load { dst, addr, width, extend, .. } => {
                let mut read: Option<Range> = None;
                for object in self.operand(thread, addr).objects {
                    let Some(cells) = self.cells.get(object as usize) else { continue };
                    match &mut read {
                        None => read = Some(cells.clone()),
                        Some(read) => drop(read.join(cells)),
                    }
                }
                let read = read.unwrap_or(Range::of(Value::ZERO)).cut(*width, *extend);
                self.set(thread, *dst, &read, widens)
            }
            Op::Store { addr, value, width, .. } => {
                let value = self.operand(thread, value).cut(*width, Extend::Sign);
                let mut changed = false;
                for object in self.operand(thread, addr).objects {
                    let Some(cells) = self.cells.get_mut(object as usize) else { continue };
                    let new = cells.join(&value);
                    if new && widens {
                        cells.widen();
                    }
                    changed |= new;
                }
                changed
            }
            Op::Join { dst: Some(dst), thread: joined } => {
                let numbers: Vec<usize> = match joined {
                    Operand::Const(number) => vec![number.0 as usize],
                    Operand::Reg(_) => (0..flat.threads.len()).collect(),
                };
                let mut changed = false;
                for number in numbers.into_iter().filter(|number| *number < flat.threads.len()) {
                    let result = self.registers[number][flat.threads[number].result.0 as usize].clone();
                    changed |= self.set(thread, *dst, &result, widens);
                }
                changed
            }
            _ => false,
        }
    }

    fn value(&self, thread: usize, value: &Rvalue) -> Range {
        match value {
            Rvalue::Use(a) => self.operand(thread, a),
            Rvalue::Select(_, a, b) => {
                let mut range = self.operand(thread, a);
                range.join(&self.operand(thread, b));
                range
            }
            Rvalue::Unary(op, width, extend, a) => {
                let a = self.operand(thread, a);
                match op {
                    UnaryOp::LogicalNot => Range::between(0, 1),
                    UnaryOp::ZeroExtend => a.cut(*width, Extend::Zero).cut(*width, *extend),
                    UnaryOp::SignExtend => a.cut(*width, Extend::Sign).cut(*width, *extend),
                    _ => Range { objects: a.objects, ..Range::full(*width, *extend) },
                }
            }
            Rvalue::Binary(op, width, extend, a, b) => {
                self.binary(*op, *width, *extend, &self.operand(thread, a), &self.operand(thread, b))
            }
        }
    }

    fn binary(&self, op: BinaryOp, width: Width, extend: Extend, a: &Range, b: &Range) -> Range {
        use BinaryOp::*;
        if matches!(op, Eq | Ne | LtU | LtS | LeU | LeS | GtU | GtS | GeU | GeS) {
            return Range::between(0, 1);
        }
        let full = Range::full(width, extend);
        let objects: BTreeSet<u32> = a.objects.union(&b.objects).copied().collect();
        let zeros = match op {
            Add | Sub | Or | Xor => a.zeros.min(b.zeros),
            Mul => a.zeros.saturating_add(b.zeros),
            And => a.zeros.max(b.zeros),
            _ => 0,
        }
        .min(width.bits() - 1);
        // What wraps around, or is cut before the operation, may be anything.
        let signed = Range::full(width, Extend::Sign);
        let fits = a.is_within(&signed) && b.is_within(&signed);
        let natural = a.least >= 0 && b.least >= 0;
        let corners = |f: fn(i64, i64) -> Option<i64>| {
            let all =
                [(a.least, b.least), (a.least, b.greatest), (a.greatest, b.least), (a.greatest, b.greatest)];
            let all: Option<Vec<i64>> = all.into_iter().map(|(x, y)| f(x, y)).collect();
            all.and_then(|all| Some((*all.iter().min()?, *all.iter().max()?)))
        };
        let exact = match op {
            _ if !fits => None,
            Add => corners(i64::checked_add),
            Sub => corners(i64::checked_sub),
            Mul => corners(i64::checked_mul),
            And if natural => Some((0, a.greatest.min(b.greatest))),
            Or | Xor if natural => Some((0, all_ones(a.greatest | b.greatest))),
            _ => None,
        };
        let range = exact.map(|(least, greatest)| Range::between(least, greatest));
        let range = range.filter(|range| range.is_within(&full)).unwrap_or(full);
        Range { zeros, objects, ..range }
    }
}

/// The least number of ones that is not below a number.
fn all_ones(number: i64) -> i64 {
    (u64::MAX >> (number as u64).leading_zeros().min(63)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_contain_what_operations_give() {
        let numbers = [-70_000i64, -129, -128, -3, -1, 0, 1, 2, 7, 100, 255, 256, 65_535, 70_000];
        let operations =
            [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::And, BinaryOp::Or, BinaryOp::Xor];
        let ranges = Ranges { registers: Vec::new(), cells: Vec::new() };
        for (i, &a) in numbers.iter().enumerate() {
            for &b in &numbers[i..] {
                for (j, &c) in numbers.iter().enumerate() {
                    for &d in &numbers[j..] {
                        let (left, right) = (Range::between(a, b), Range::between(c, d));
                        for op in operations {
                            for width in Width::ALL {
                                for extend in [Extend::Zero, Extend::Sign] {
                                    let range = ranges.binary(op, width, extend, &left, &right);
                                    for (x, y) in [(a, c), (a, d), (b, c), (b, d), ((a + b) / 2, (c + d) / 2)]
                                    {
                                        let value = op.apply(width, Value::from_i64(x), Value::from_i64(y));
                                        let value =
                                            width.extend(extend, value.expect("no division")).as_i64();
                                        assert!(
                                            range.least <= value && value <= range.greatest,
                                            "{op:?} {width:?} {extend:?} of {x} and {y} in {left:?} and {right:?}"
                                        );
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn widening_contains_what_was_there() {
        for (least, greatest) in
            [(0, 1), (0, 300), (-1, 1), (-1, 200), (-200, 0), (-40_000, 3), (0, 1 << 40), (-1, 1 << 31)]
        {
            let mut range = Range::between(least, greatest);
            range.widen();
            assert!(range.least <= least && greatest <= range.greatest, "{least} {greatest}: {range:?}");
        }
    }
}
