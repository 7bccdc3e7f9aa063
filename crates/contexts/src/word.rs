//! Symbolic values: 64 bits, of which all beyond the first few are the same.

use crate::aig::{Aig, FALSE, Lit, TRUE};
use fencepost_ir::{BinaryOp, Extend, UnaryOp, Value, Width};

/// A value: `bits`, lowest first, and then `fill` for ever.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    bits: Vec<Lit>,
    fill: Lit,
}

/// How many bits a value needs, and whether its highest bit goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    /// Bits that may differ from the fill.
    pub bits: usize,
    /// The fill may be a one.
    pub signed: bool,
}

impl Shape {
    /// A shape for the values of both.
    pub fn join(self, other: Shape) -> Shape {
        let signed = self.signed || other.signed;
        // An unsigned value needs a zero in front where others have a sign.
        let room = |shape: Shape| shape.bits + usize::from(signed && !shape.signed);
        Shape { bits: room(self).max(room(other)).min(64), signed }
    }
}

impl Word {
    /// A constant.
    pub fn constant(value: Value) -> Word {
        let fill = Lit::of(value.as_i64() < 0);
        Word::new((0..64).map(|i| Lit::of(value.0 >> i & 1 == 1)).collect(), fill)
    }

    /// Zero.
    pub fn zero() -> Word {
        Word { bits: Vec::new(), fill: FALSE }
    }

    /// A truth value as 0 or 1.
    pub fn truth(lit: Lit) -> Word {
        Word::new(vec![lit], FALSE)
    }

    /// New variables of a shape.
    pub fn fresh(aig: &mut Aig, shape: Shape) -> Word {
        let bits: Vec<Lit> = (0..shape.bits).map(|_| aig.variable()).collect();
        let fill = match (shape.signed, bits.last()) {
            (true, Some(&top)) => top,
            _ => FALSE,
        };
        Word::new(bits, fill)
    }

    fn new(bits: Vec<Lit>, fill: Lit) -> Word {
        let mut word = Word { bits, fill };
        word.bits.truncate(64);
        while word.bits.last() == Some(&word.fill) {
            word.bits.pop();
        }
        word
    }

    /// The shape.
    pub fn shape(&self) -> Shape {
        let signed = self.fill != FALSE;
        Shape { bits: (self.bits.len() + usize::from(signed)).min(64), signed }
    }

    /// A bit.
    pub fn bit(&self, index: usize) -> Lit {
        self.bits.get(index).copied().unwrap_or(self.fill)
    }

    /// The bits that are not all the same, and the fill.
    pub fn lits(&self) -> impl Iterator<Item = Lit> + '_ {
        self.bits.iter().copied().chain([self.fill])
    }

    fn low(&self, bits: usize) -> Vec<Lit> {
        (0..bits).map(|i| self.bit(i)).collect()
    }

    /// The value, if it is a constant.
    pub fn value(&self) -> Option<Value> {
        let mut value = 0u64;
        for i in 0..64 {
            value |= u64::from(self.bit(i).constant()?) << i;
        }
        Some(Value(value))
    }

    /// The low bits extended.
    pub fn extend(&self, width: Width, extend: Extend) -> Word {
        let bits = 8 * width.bytes() as usize;
        from_bits(self.low(bits), extend)
    }

    /// True unless it is zero.
    pub fn is_true(&self, aig: &mut Aig) -> Lit {
        let lits: Vec<Lit> = self.lits().collect();
        aig.any(lits)
    }

    /// Equality of all 64 bits.
    pub fn equals(&self, aig: &mut Aig, other: &Word) -> Lit {
        let n = self.bits.len().max(other.bits.len());
        let mut result = aig.iff(self.fill, other.fill);
        // With 64 bits there is no fill to compare.
        if n == 64 {
            result = TRUE;
        }
        for i in 0..n {
            let same = aig.iff(self.bit(i), other.bit(i));
            result = aig.and(result, same);
            if result == FALSE {
                break;
            }
        }
        result
    }

    /// `c ? a : b`.
    pub fn mux(aig: &mut Aig, c: Lit, a: &Word, b: &Word) -> Word {
        if a == b || c == TRUE {
            return a.clone();
        }
        if c == FALSE {
            return b.clone();
        }
        let n = a.bits.len().max(b.bits.len());
        let bits = (0..n).map(|i| aig.mux(c, a.bit(i), b.bit(i))).collect();
        let fill = aig.mux(c, a.fill, b.fill);
        Word::new(bits, fill)
    }

    /// A unary operator; `None` if there is no circuit for it (floating point).
    pub fn unary(aig: &mut Aig, op: UnaryOp, width: Width, extend: Extend, a: &Word) -> Option<Word> {
        if let Some(a) = a.value() {
            return Some(Word::constant(width.extend(extend, op.apply(width, a))));
        }
        let n = 8 * width.bytes() as usize;
        Some(match op {
            UnaryOp::Neg => {
                let zero = vec![FALSE; n];
                from_bits(subtract(aig, &zero, &a.low(n)).0, extend)
            }
            UnaryOp::Not => from_bits(a.low(n).into_iter().map(|bit| !bit).collect(), extend),
            UnaryOp::LogicalNot => {
                let any = aig.any(a.low(n));
                Word::truth(!any)
            }
            UnaryOp::ZeroExtend | UnaryOp::SignExtend => a.extend(width, extend),
            _ => return None,
        })
    }

    /// A binary operator; `None` if there is no circuit for it (floating point). A division by zero gives zero.
    pub fn binary(
        aig: &mut Aig,
        op: BinaryOp,
        width: Width,
        extend: Extend,
        a: &Word,
        b: &Word,
    ) -> Option<Word> {
        if let (Some(a), Some(b)) = (a.value(), b.value()) {
            return Some(Word::constant(width.extend(extend, op.apply(width, a, b).unwrap_or_default())));
        }
        let n = 8 * width.bytes() as usize;
        let (x, y) = (a.low(n), b.low(n));
        let pairwise = |aig: &mut Aig, f: fn(&mut Aig, Lit, Lit) -> Lit| {
            x.iter().zip(&y).map(|(&x, &y)| f(aig, x, y)).collect::<Vec<Lit>>()
        };
        let bits = match op {
            BinaryOp::Add => add(aig, &x, &y, FALSE),
            BinaryOp::Sub => subtract(aig, &x, &y).0,
            BinaryOp::Mul => multiply(aig, &x, &y),
            BinaryOp::And => pairwise(aig, Aig::and),
            BinaryOp::Or => pairwise(aig, Aig::or),
            BinaryOp::Xor => pairwise(aig, Aig::xor),
            BinaryOp::Shl => shift(aig, &x, &y, Direction::Left, FALSE),
            BinaryOp::ShrU => shift(aig, &x, &y, Direction::Right, FALSE),
            BinaryOp::ShrS => shift(aig, &x, &y, Direction::Right, x[n - 1]),
            BinaryOp::DivU => divide(aig, &x, &y).0,
            BinaryOp::RemU => divide(aig, &x, &y).1,
            BinaryOp::DivS | BinaryOp::RemS => {
                let (sx, sy) = (x[n - 1], y[n - 1]);
                let (ax, ay) = (negate_if(aig, sx, &x), negate_if(aig, sy, &y));
                let (quotient, rest) = divide(aig, &ax, &ay);
                let opposite = aig.xor(sx, sy);
                match op {
                    BinaryOp::DivS => negate_if(aig, opposite, &quotient),
                    _ => negate_if(aig, sx, &rest),
                }
            }
            BinaryOp::Eq | BinaryOp::Ne => {
                let same = pairwise(aig, Aig::iff);
                let same = aig.all(same);
                return Some(Word::truth(if op == BinaryOp::Eq { same } else { !same }));
            }
            BinaryOp::LtU | BinaryOp::GeU => {
                let less = !subtract(aig, &x, &y).1;
                return Some(Word::truth(if op == BinaryOp::LtU { less } else { !less }));
            }
            BinaryOp::GtU | BinaryOp::LeU => {
                let greater = !subtract(aig, &y, &x).1;
                return Some(Word::truth(if op == BinaryOp::GtU { greater } else { !greater }));
            }
            BinaryOp::LtS | BinaryOp::GeS | BinaryOp::GtS | BinaryOp::LeS => {
                let (mut x, mut y) = (x, y);
                // With the sign bits complemented, signed order is unsigned order.
                (x[n - 1], y[n - 1]) = (!x[n - 1], !y[n - 1]);
                let swap = matches!(op, BinaryOp::GtS | BinaryOp::LeS);
                let (x, y) = if swap { (y, x) } else { (x, y) };
                let less = !subtract(aig, &x, &y).1;
                return Some(Word::truth(match op {
                    BinaryOp::LtS | BinaryOp::GtS => less,
                    _ => !less,
                }));
            }
            _ => return None,
        };
        Some(from_bits(bits, extend))
    }
}

fn from_bits(bits: Vec<Lit>, extend: Extend) -> Word {
    let fill = match extend {
        Extend::Zero => FALSE,
        Extend::Sign => bits[bits.len() - 1],
    };
    // Of 64 bits the last one is the fill: that trims what repeats it.
    let fill = if bits.len() == 64 { bits[63] } else { fill };
    Word::new(bits, fill)
}

fn full_add(aig: &mut Aig, a: Lit, b: Lit, carry: Lit) -> (Lit, Lit) {
    let half = aig.xor(a, b);
    let sum = aig.xor(half, carry);
    let both = aig.and(a, b);
    let through = aig.and(half, carry);
    (sum, aig.or(both, through))
}

fn add(aig: &mut Aig, a: &[Lit], b: &[Lit], mut carry: Lit) -> Vec<Lit> {
    let mut sum = Vec::with_capacity(a.len());
    for (&a, &b) in a.iter().zip(b) {
        let (bit, next) = full_add(aig, a, b, carry);
        sum.push(bit);
        carry = next;
    }
    sum
}

/// The difference, and true if there was no borrow (`a >= b`, unsigned).
fn subtract(aig: &mut Aig, a: &[Lit], b: &[Lit]) -> (Vec<Lit>, Lit) {
    let (mut difference, mut carry) = (Vec::with_capacity(a.len()), TRUE);
    for (&a, &b) in a.iter().zip(b) {
        let (bit, next) = full_add(aig, a, !b, carry);
        difference.push(bit);
        carry = next;
    }
    (difference, carry)
}

fn negate_if(aig: &mut Aig, condition: Lit, a: &[Lit]) -> Vec<Lit> {
    let zero = vec![FALSE; a.len()];
    let negated = subtract(aig, &zero, a).0;
    negated.iter().zip(a).map(|(&n, &a)| aig.mux(condition, n, a)).collect()
}

fn multiply(aig: &mut Aig, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
    let n = a.len();
    // Fewer rows with the factor that has fewer bits that may be one.
    let ones = |word: &[Lit]| word.iter().filter(|bit| **bit != FALSE).count();
    let (a, b) = if ones(a) < ones(b) { (b, a) } else { (a, b) };
    let mut sum = vec![FALSE; n];
    for (i, &bit) in b.iter().enumerate().filter(|(_, bit)| **bit != FALSE) {
        let mut row = vec![FALSE; n];
        for j in i..n {
            row[j] = aig.and(a[j - i], bit);
        }
        sum = add(aig, &sum, &row, FALSE);
    }
    sum
}

/// Quotient and rest; both zero if the divisor is.
fn divide(aig: &mut Aig, a: &[Lit], b: &[Lit]) -> (Vec<Lit>, Vec<Lit>) {
    let n = a.len();
    let (mut quotient, mut rest) = (vec![FALSE; n], vec![FALSE; n]);
    for i in (0..n).rev() {
        let top = rest[n - 1];
        rest.rotate_right(1);
        rest[0] = a[i];
        let (difference, fits) = subtract(aig, &rest, b);
        // What is shifted out is larger than any divisor.
        let fits = aig.or(fits, top);
        quotient[i] = fits;
        rest = difference.iter().zip(&rest).map(|(&d, &r)| aig.mux(fits, d, r)).collect();
    }
    let nonzero = aig.any(b.iter().copied());
    let keep = |aig: &mut Aig, bits: Vec<Lit>| bits.into_iter().map(|bit| aig.and(bit, nonzero)).collect();
    (keep(aig, quotient), keep(aig, rest))
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Left,
    Right,
}

/// A shift by the count modulo the width, which is a power of two.
fn shift(aig: &mut Aig, a: &[Lit], count: &[Lit], direction: Direction, fill: Lit) -> Vec<Lit> {
    let n = a.len();
    let mut bits = a.to_vec();
    for (stage, &by) in count.iter().enumerate().take(n.trailing_zeros() as usize) {
        let distance = 1 << stage;
        let moved = |i: usize| match direction {
            Direction::Left => i.checked_sub(distance).map_or(FALSE, |from| bits[from]),
            Direction::Right => bits.get(i + distance).copied().unwrap_or(fill),
        };
        bits = (0..n).map(|i| aig.mux(by, moved(i), bits[i])).collect();
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::evaluate;

    /// Every operator on constants hidden behind variables gives what the interpreter computes.
    #[test]
    fn circuits_compute_what_the_interpreter_computes() {
        use BinaryOp::*;
        let samples = [
            0u64,
            1,
            2,
            3,
            5,
            7,
            8,
            31,
            100,
            127,
            128,
            200,
            255,
            0x7fff_ffff,
            0x8000_0000,
            u64::MAX,
            u64::MAX - 6,
        ];
        let ops = [
            Add, Sub, Mul, DivU, DivS, RemU, RemS, And, Or, Xor, Shl, ShrU, ShrS, Eq, Ne, LtU, LtS, LeU, LeS,
            GtU, GtS, GeU, GeS,
        ];
        for width in [Width::W8, Width::W32] {
            for extend in [Extend::Zero, Extend::Sign] {
                for op in ops {
                    let mut aig = Aig::new();
                    let shape = Shape { bits: 64, signed: false };
                    let (a, b) = (Word::fresh(&mut aig, shape), Word::fresh(&mut aig, shape));
                    let result = Word::binary(&mut aig, op, width, extend, &a, &b).expect("a circuit");
                    for x in samples {
                        for y in samples {
                            let mut inputs = vec![false; aig.len()];
                            for i in 0..64 {
                                inputs[a.bit(i).node()] = x >> i & 1 == 1;
                                inputs[b.bit(i).node()] = y >> i & 1 == 1;
                            }
                            let values = evaluate(&aig, &inputs);
                            let expected = op.apply(width, Value(x), Value(y)).unwrap_or_default();
                            let expected = width.extend(extend, expected);
                            let expected = if matches!(op, DivU | DivS | RemU | RemS)
                                && width.zero_extend(Value(y)).0 == 0
                            {
                                Value(0)
                            } else {
                                expected
                            };
                            assert_eq!(values.word(&result), expected, "{op:?} {width:?} {extend:?} {x} {y}");
                        }
                    }
                }
            }
        }
    }
}
