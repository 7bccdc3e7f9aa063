//! The operators of programs on symbolic words: adders, multipliers, dividers, shifters and comparators.
//!
//! Operands that know all their values are also computed value by value, so that the result knows its own.

use crate::aig::{Graph, Lit};
use crate::word::Word;
use fencepost_ir::{BinaryOp, Extend, RmwOp, UnaryOp, Value, Width};

/// Most pairs of values that are computed one by one.
const MOST_PAIRS: usize = 64;

/// The result of an operator.
#[derive(Clone, Debug)]
pub struct Computed {
    /// The result, extended. Anything where [`Computed::undefined`] holds.
    pub word: Word,
    /// Division by zero.
    pub undefined: Lit,
}

/// An operator that has no circuit here: floating-point numbers that are not constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoCircuit;

fn bits_of(width: Width) -> usize {
    width.bits() as usize
}

/// `a op b` at a width, the result extended.
pub fn binary(
    graph: &mut Graph,
    op: BinaryOp,
    width: Width,
    extend: Extend,
    a: &Word,
    b: &Word,
) -> Result<Computed, NoCircuit> {
    let divides = matches!(op, BinaryOp::DivU | BinaryOp::DivS | BinaryOp::RemU | BinaryOp::RemS);
    let undefined = match divides {
        true => !b.extend(width, Extend::Zero).is_true(graph),
        false => Lit::FALSE,
    };
    if undefined == Lit::TRUE {
        return Ok(Computed { word: Word::constant(Value::ZERO), undefined });
    }
    let known = by_values(a, b, |x, y| op.apply(width, x, y).map(|value| width.extend(extend, value)));
    if let Some([only]) = known.as_deref() {
        return Ok(Computed { word: Word::constant(Value(*only)), undefined });
    }
    let word = circuit(graph, op, width, a, b)?.extend(width, extend);
    let word = match known {
        Some(known) if undefined == Lit::FALSE => word.with_values(known),
        _ => word,
    };
    Ok(Computed { word, undefined })
}

/// All results, if the operands know their values.
fn by_values(a: &Word, b: &Word, apply: impl Fn(Value, Value) -> Option<Value>) -> Option<Vec<u64>> {
    let (x, y) = (a.values()?, b.values()?);
    if x.len() * y.len() > MOST_PAIRS {
        return None;
    }
    let pairs = x.iter().flat_map(|&v| y.iter().map(move |&w| (v, w)));
    let mut results =
        pairs.map(|(v, w)| apply(Value(v), Value(w)).map(|r| r.0)).collect::<Option<Vec<_>>>()?;
    results.sort_unstable();
    results.dedup();
    Some(results)
}

/// The low bits of the result; what is above the width means nothing.
fn circuit(graph: &mut Graph, op: BinaryOp, width: Width, a: &Word, b: &Word) -> Result<Word, NoCircuit> {
    let unsigned = |word: &Word| word.extend(width, Extend::Zero);
    let signed = |word: &Word| word.extend(width, Extend::Sign);
    let bits = bits_of(width);
    Ok(match op {
        BinaryOp::Add => add(graph, a, b, Lit::FALSE, bits),
        BinaryOp::Sub => sub(graph, a, b, bits),
        BinaryOp::Mul => mul(graph, a, b, bits),
        BinaryOp::DivU => divide(graph, &unsigned(a), &unsigned(b)).0,
        BinaryOp::RemU => divide(graph, &unsigned(a), &unsigned(b)).1,
        BinaryOp::DivS => divide_signed(graph, &signed(a), &signed(b)).0,
        BinaryOp::RemS => divide_signed(graph, &signed(a), &signed(b)).1,
        BinaryOp::And => bitwise(graph, a, b, Graph::and),
        BinaryOp::Or => bitwise(graph, a, b, Graph::or),
        BinaryOp::Xor => bitwise(graph, a, b, Graph::xor),
        BinaryOp::Shl => shift_left(graph, a, b, bits),
        BinaryOp::ShrU => shift_right(graph, &unsigned(a), b, bits, Lit::FALSE),
        BinaryOp::ShrS => {
            let a = signed(a);
            shift_right(graph, &a, b, bits, a.fill())
        }
        BinaryOp::Eq => Word::bool(equal_at(graph, a, b, bits)),
        BinaryOp::Ne => Word::bool(!equal_at(graph, a, b, bits)),
        BinaryOp::LtU => Word::bool(less(graph, &unsigned(a), &unsigned(b))),
        BinaryOp::GtU => Word::bool(less(graph, &unsigned(b), &unsigned(a))),
        BinaryOp::LeU => Word::bool(!less(graph, &unsigned(b), &unsigned(a))),
        BinaryOp::GeU => Word::bool(!less(graph, &unsigned(a), &unsigned(b))),
        BinaryOp::LtS => Word::bool(less_signed(graph, &signed(a), &signed(b))),
        BinaryOp::GtS => Word::bool(less_signed(graph, &signed(b), &signed(a))),
        BinaryOp::LeS => Word::bool(!less_signed(graph, &signed(b), &signed(a))),
        BinaryOp::GeS => Word::bool(!less_signed(graph, &signed(a), &signed(b))),
        BinaryOp::FAdd
        | BinaryOp::FSub
        | BinaryOp::FMul
        | BinaryOp::FDiv
        | BinaryOp::FEq
        | BinaryOp::FLt
        | BinaryOp::FLe => return Err(NoCircuit),
    })
}

/// `op a` at a width, the result extended.
pub fn unary(
    graph: &mut Graph,
    op: UnaryOp,
    width: Width,
    extend: Extend,
    a: &Word,
) -> Result<Word, NoCircuit> {
    let apply = |value: Value| width.extend(extend, op.apply(width, value));
    let known: Option<Vec<u64>> =
        a.values().map(|values| values.iter().map(|&v| apply(Value(v)).0).collect());
    if let Some(value) = a.as_constant() {
        return Ok(Word::constant(apply(value)));
    }
    let word = match op {
        UnaryOp::Neg => sub(graph, &Word::constant(Value::ZERO), a, bits_of(width)),
        UnaryOp::Not => complement(a),
        UnaryOp::LogicalNot => Word::bool(!a.extend(width, Extend::Zero).is_true(graph)),
        UnaryOp::ZeroExtend => a.extend(width, Extend::Zero),
        UnaryOp::SignExtend => a.extend(width, Extend::Sign),
        UnaryOp::FNeg
        | UnaryOp::FFromS
        | UnaryOp::FFromU
        | UnaryOp::FToS
        | UnaryOp::FToU
        | UnaryOp::FConvert => return Err(NoCircuit),
    };
    let word = word.extend(width, extend);
    Ok(match known {
        Some(known) => word.with_values(known),
        None => word,
    })
}

/// What a read-modify-write stores, zero-extended.
pub fn rmw(graph: &mut Graph, op: RmwOp, width: Width, old: &Word, operand: &Word) -> Word {
    let (signed, unsigned) = (Extend::Sign, Extend::Zero);
    let at = |how: Extend| (old.extend(width, how), operand.extend(width, how));
    let bits = bits_of(width);
    let word = match op {
        RmwOp::Exchange => operand.clone(),
        RmwOp::Add => add(graph, old, operand, Lit::FALSE, bits),
        RmwOp::Sub => sub(graph, old, operand, bits),
        RmwOp::And => bitwise(graph, old, operand, Graph::and),
        RmwOp::Nand => complement(&bitwise(graph, old, operand, Graph::and)),
        RmwOp::Or => bitwise(graph, old, operand, Graph::or),
        RmwOp::Xor => bitwise(graph, old, operand, Graph::xor),
        RmwOp::Clear => bitwise(graph, old, &complement(operand), Graph::and),
        RmwOp::MaxS | RmwOp::MinS => {
            let (a, b) = at(signed);
            let smaller = less_signed(graph, &a, &b);
            Word::mux(graph, smaller.complement_if(op == RmwOp::MinS), &b, &a)
        }
        RmwOp::MaxU | RmwOp::MinU => {
            let (a, b) = at(unsigned);
            let smaller = less(graph, &a, &b);
            Word::mux(graph, smaller.complement_if(op == RmwOp::MinU), &b, &a)
        }
    };
    let word = word.extend(width, Extend::Zero);
    match by_values(old, operand, |x, y| Some(op.apply(width, x, y))) {
        Some(known) => word.with_values(known),
        None => word,
    }
}

fn complement(a: &Word) -> Word {
    Word::new((0..a.len()).map(|i| !a.bit(i)).collect(), !a.fill())
}

fn bitwise(graph: &mut Graph, a: &Word, b: &Word, gate: fn(&mut Graph, Lit, Lit) -> Lit) -> Word {
    let len = a.len().max(b.len());
    let bits = (0..len).map(|i| gate(graph, a.bit(i), b.bit(i))).collect();
    let fill = gate(graph, a.fill(), b.fill());
    Word::new(bits, fill)
}

/// The sum and the carry of three bits.
fn full_adder(graph: &mut Graph, a: Lit, b: Lit, c: Lit) -> (Lit, Lit) {
    let half = graph.xor(a, b);
    let sum = graph.xor(half, c);
    // The carry is `c` where the bits differ, else either of them.
    let carry = graph.mux(half, c, a);
    (sum, carry)
}

/// The sum: as many bits as it can have, at most `most`.
fn add(graph: &mut Graph, a: &Word, b: &Word, mut carry: Lit, most: usize) -> Word {
    // Operands are in -2^n .. 2^n, so the sum has n + 1 bits and a fill.
    let len = (a.len().max(b.len()) + 2).min(most.min(64));
    let mut bits = Vec::with_capacity(len);
    for i in 0..len {
        let (sum, next) = full_adder(graph, a.bit(i), b.bit(i), carry);
        bits.push(sum);
        carry = next;
    }
    let fill = bits.last().copied().unwrap_or(Lit::FALSE);
    Word::new(bits, fill)
}

fn sub(graph: &mut Graph, a: &Word, b: &Word, most: usize) -> Word {
    add(graph, a, &complement(b), Lit::TRUE, most)
}

/// The product by adding shifted copies; the fill of the multiplier has the weight of minus two to its length.
fn mul(graph: &mut Graph, a: &Word, b: &Word, most: usize) -> Word {
    // The multiplier is the one with fewer bits that may be set.
    let weight = |word: &Word| (0..=word.len()).filter(|&i| word.bit(i) != Lit::FALSE).count();
    let (a, b) = if weight(a) < weight(b) { (b, a) } else { (a, b) };
    let len = (a.len() + b.len() + 2).min(most.min(64));
    let shifted = |graph: &mut Graph, by: usize, condition: Lit| {
        let bits = (0..len).map(|i| if i < by { Lit::FALSE } else { graph.and(condition, a.bit(i - by)) });
        let bits: Vec<Lit> = bits.collect();
        let fill = bits[len - 1];
        Word::new(bits, fill)
    };
    if len == 0 {
        return Word::constant(Value::ZERO);
    }
    let mut sum = Word::constant(Value::ZERO);
    for i in 0..b.len().min(len) {
        if b.bit(i) != Lit::FALSE {
            let part = shifted(graph, i, b.bit(i));
            sum = add(graph, &sum, &part, Lit::FALSE, len);
        }
    }
    if b.fill() != Lit::FALSE && b.len() < len {
        let part = shifted(graph, b.len(), b.fill());
        sum = sub(graph, &sum, &part, len);
    }
    let bits: Vec<Lit> = (0..len).map(|i| sum.bit(i)).collect();
    let fill = bits[len - 1];
    Word::new(bits, fill)
}

/// Quotient and remainder of unsigned numbers, by long division.
fn divide(graph: &mut Graph, a: &Word, b: &Word) -> (Word, Word) {
    // Both fills are false below 64 bits; at 64 bits the fill is the top bit.
    let length = |word: &Word| if word.fill() == Lit::FALSE { word.len() } else { 64 };
    let (n, m) = (length(a), length(b));
    let mut rest: Vec<Lit> = Vec::new();
    let mut quotient = vec![Lit::FALSE; n];
    for i in (0..n).rev() {
        rest.insert(0, a.bit(i));
        // The rest before was below the divisor, so it has at most m + 1 bits now.
        rest.truncate(m + 1);
        let wide = rest.len().max(m) + 1;
        let bit = |lits: &[Lit], i: usize| lits.get(i).copied().unwrap_or(Lit::FALSE);
        let mut carry = Lit::TRUE;
        let mut difference = Vec::with_capacity(wide);
        for k in 0..wide {
            let divisor = if k < m { b.bit(k) } else { Lit::FALSE };
            let (sum, next) = full_adder(graph, bit(&rest, k), !divisor, carry);
            difference.push(sum);
            carry = next;
        }
        // No borrow: the divisor fits.
        quotient[i] = carry;
        rest = (0..rest.len()).map(|k| graph.mux(carry, difference[k], rest[k])).collect();
    }
    rest.truncate(m);
    let top = |bits: &[Lit]| bits.get(63).copied().unwrap_or(Lit::FALSE);
    let (quotient_fill, rest_fill) = (top(&quotient), top(&rest));
    (Word::new(quotient, quotient_fill), Word::new(rest, rest_fill))
}

/// Quotient and remainder of signed numbers, towards zero.
fn divide_signed(graph: &mut Graph, a: &Word, b: &Word) -> (Word, Word) {
    let (negative_a, negative_b) = (a.fill(), b.fill());
    let (positive_a, positive_b) = (absolute(graph, a), absolute(graph, b));
    let (quotient, rest) = divide(graph, &positive_a, &positive_b);
    let negative = graph.xor(negative_a, negative_b);
    (negate_if(graph, negative, &quotient), negate_if(graph, negative_a, &rest))
}

fn absolute(graph: &mut Graph, a: &Word) -> Word {
    let len = a.len() + 1;
    let value = negate_if(graph, a.fill(), a);
    // As an unsigned number: two to the length is the largest.
    Word::new((0..len).map(|i| value.bit(i)).collect(), if len >= 64 { value.bit(63) } else { Lit::FALSE })
}

fn negate_if(graph: &mut Graph, condition: Lit, a: &Word) -> Word {
    if condition == Lit::FALSE {
        return a.clone();
    }
    let flipped = Word::new(
        (0..a.len()).map(|i| graph.xor(a.bit(i), condition)).collect(),
        graph.xor(a.fill(), condition),
    );
    add(graph, &flipped, &Word::constant(Value::ZERO), condition, 64)
}

/// The bits of a shift count that matter at a width, each with its weight.
fn stages(b: &Word, bits: usize) -> impl Iterator<Item = (usize, Lit)> {
    (0..bits.trailing_zeros() as usize).map(|i| (1 << i, b.bit(i)))
}

fn shift_left(graph: &mut Graph, a: &Word, b: &Word, bits: usize) -> Word {
    let mut word = a.clone();
    for (by, condition) in stages(b, bits) {
        if condition != Lit::FALSE {
            let len = (word.len() + by + 1).min(bits);
            let moved: Vec<Lit> =
                (0..len).map(|i| if i < by { Lit::FALSE } else { word.bit(i - by) }).collect();
            let fill = moved[len - 1];
            word = Word::mux(graph, condition, &Word::new(moved, fill), &word);
        }
    }
    word
}

/// What comes in from above is `fill`: the sign, or zero, also where a 64-bit number uses its own fill as a bit.
fn shift_right(graph: &mut Graph, a: &Word, b: &Word, bits: usize, fill: Lit) -> Word {
    let mut word = a.clone();
    for (by, condition) in stages(b, bits) {
        if condition != Lit::FALSE {
            let moved = (by..64).map(|i| word.bit(i)).collect();
            word = Word::mux(graph, condition, &Word::new(moved, fill), &word);
        }
    }
    word
}

fn equal_at(graph: &mut Graph, a: &Word, b: &Word, bits: usize) -> Lit {
    let len = (a.len().max(b.len()) + 1).min(bits);
    let mut pairs: Vec<(Lit, Lit)> = (0..len).map(|i| (a.bit(i), b.bit(i))).collect();
    pairs.sort_unstable();
    pairs.dedup();
    if pairs.iter().any(|(x, y)| *x == !*y) {
        return Lit::FALSE;
    }
    let bits: Vec<Lit> = pairs.into_iter().map(|(x, y)| graph.xnor(x, y)).collect();
    graph.and_all(&bits)
}

/// `a < b` for the first `len` bits.
fn less_bits(graph: &mut Graph, a: &Word, b: &Word, len: usize) -> Lit {
    let mut less = Lit::FALSE;
    for i in 0..len {
        let differ = graph.xor(a.bit(i), b.bit(i));
        less = graph.mux(differ, b.bit(i), less);
    }
    less
}

/// `a < b` for unsigned numbers.
fn less(graph: &mut Graph, a: &Word, b: &Word) -> Lit {
    let len = (a.len().max(b.len()) + 1).min(64);
    less_bits(graph, a, b, len)
}

/// `a < b` for signed numbers: the signs count the other way.
fn less_signed(graph: &mut Graph, a: &Word, b: &Word) -> Lit {
    let below = less_bits(graph, a, b, a.len().max(b.len()));
    let differ = graph.xor(a.fill(), b.fill());
    graph.mux(differ, a.fill(), below)
}
