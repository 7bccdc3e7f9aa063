//! The cells of memory that is allocated while the program runs.
//!
//! Each allocation is a step that exists once, so it is an object of its own; but nobody has declared its cells. They are what
//! may be accessed: a pass over all steps, until nothing changes, finds the
//! values that registers and memory may hold, as far as these are few; a pointer plus what is not known is anywhere in the
//! object. What is in memory is taken without regard to the order of stores, so that all that may be is found.
//! Where an address may be anything at all the program is refused, and where accesses of different sizes overlap, too.

use super::objects::{binary, unary};
use super::{Flat, Op, Unsupported};
use crate::program::{BinaryOp, Cell, Operand, Reg, Rvalue, UnaryOp, Width};
use crate::value::Value;
use fencepost_diag::Span;
use std::collections::{BTreeMap, BTreeSet};

/// So many values are kept apart.
const FEW: usize = 64;

/// An allocated object: its number, whether its bytes are zero at first, and where it is made.
pub(super) type Allocated = (u32, bool, Span);

/// What a value may be.
#[derive(Clone, PartialEq, Debug, Default)]
struct May {
    /// One of these.
    values: BTreeSet<u64>,
    /// Any number that is no pointer.
    number: bool,
    /// Anywhere in these objects.
    into: BTreeSet<u32>,
    /// Anything.
    anything: bool,
}

impl May {
    fn one(value: Value) -> May {
        May { values: BTreeSet::from([value.0]), ..May::default() }
    }

    fn anything() -> May {
        May { anything: true, ..May::default() }
    }

    fn number() -> May {
        May { number: true, ..May::default() }
    }

    fn join(&mut self, other: &May) {
        self.number |= other.number;
        self.anything |= other.anything;
        self.values.extend(&other.values);
        self.into.extend(&other.into);
        if self.values.len() > FEW {
            for value in std::mem::take(&mut self.values) {
                match Value(value).as_pointer() {
                    Some((object, _)) => self.into.extend([object.0]),
                    None => self.number = true,
                }
            }
        }
    }

    fn pointers(&self) -> BTreeSet<u32> {
        let few = self.values.iter().filter_map(|value| Value(*value).as_pointer());
        few.map(|(object, _)| object.0).chain(self.into.iter().copied()).collect()
    }
}

/// Finds the cells of allocated objects.
pub(super) fn find_cells(flat: &mut Flat, allocated: &[Allocated]) -> Result<(), Unsupported> {
    if allocated.is_empty() {
        return Ok(());
    }
    let mut heap = Heap::new(flat);
    while heap.pass(flat) {}
    let mut found: BTreeMap<u32, BTreeMap<u32, Width>> = BTreeMap::new();
    for (t, thread) in flat.threads.iter().enumerate() {
        for (at, step) in thread.code.iter().enumerate() {
            let (Op::Load { width, .. } | Op::Store { width, .. }) = step.op else { continue };
            let Some(may) = heap.addresses.get(&(t, at)) else { continue };
            if may.anything {
                let what = "an access through a pointer that may be any, where memory is allocated,".into();
                return Err(Unsupported { what, span: step.span });
            }
            for (object, offset) in places(flat, may, width) {
                let cells = found.entry(object).or_default();
                if cells.insert(offset, width).is_some_and(|other| other != width) {
                    return Err(mixed(step.span));
                }
            }
        }
    }
    for &(object, zeroed, span) in allocated {
        let init = zeroed.then_some(Value::ZERO);
        let cells = found.remove(&object).unwrap_or_default();
        let cells: Vec<Cell> =
            cells.into_iter().map(|(offset, width)| Cell { offset, width, init }).collect();
        if cells.windows(2).any(|pair| pair[0].offset + pair[0].width.bytes() > pair[1].offset) {
            return Err(mixed(span));
        }
        flat.objects[object as usize].cells = cells;
    }
    Ok(())
}

fn mixed(span: Span) -> Unsupported {
    Unsupported { what: "allocated memory that is accessed with different sizes".into(), span }
}

/// The places inside objects that an access may be to.
fn places(flat: &Flat, may: &May, width: Width) -> BTreeSet<(u32, u32)> {
    let bytes = width.bytes();
    let size = |object: u32| flat.objects.get(object as usize).map_or(0, |object| object.size);
    let few = may.values.iter().filter_map(|value| Value(*value).as_pointer());
    let few = few.map(|(object, offset)| (object.0, offset));
    let fits =
        |&(object, offset): &(u32, u32)| offset.checked_add(bytes).is_some_and(|end| end <= size(object));
    let anywhere = may
        .into
        .iter()
        .flat_map(|&object| (0..size(object) / bytes).map(move |index| (object, index * bytes)));
    few.chain(anywhere).filter(fits).collect()
}

/// The registers of a thread at a place.
type Registers = Vec<May>;

struct Heap {
    /// What each thread returns.
    results: Vec<May>,
    /// The addresses of accesses, by thread and step.
    addresses: BTreeMap<(usize, usize), May>,
    memory: BTreeMap<(u32, u32), May>,
    /// What was stored where the address may be anything.
    anywhere: May,
}

fn operand(registers: &Registers, operand: Operand) -> May {
    match operand {
        Operand::Const(value) => May::one(value),
        Operand::Reg(reg) => registers[reg.0 as usize].clone(),
    }
}

fn arrive(places: &mut [Option<Registers>], to: u32, registers: Registers) {
    let place = &mut places[to as usize];
    match place {
        Some(known) => known.iter_mut().zip(&registers).for_each(|(known, may)| known.join(may)),
        None => *place = Some(registers),
    }
}

impl Heap {
    fn new(flat: &Flat) -> Heap {
        let mut memory: BTreeMap<(u32, u32), May> = BTreeMap::new();
        for (o, object) in (0u32..).zip(&flat.objects) {
            for cell in &object.cells {
                let init = cell.width.zero_extend(cell.init.unwrap_or_default());
                memory.insert((o, cell.offset), May::one(init));
            }
        }
        let results = vec![May::one(Value::ZERO); flat.threads.len()];
        Heap { results, addresses: BTreeMap::new(), memory, anywhere: May::default() }
    }

    /// All steps once; true if something was new in memory or in what threads return.
    fn pass(&mut self, flat: &Flat) -> bool {
        let mut changed = false;
        for (t, thread) in flat.threads.iter().enumerate() {
            let mut places: Vec<Option<Registers>> = vec![None; thread.code.len() + 1];
            places[0] = Some(vec![May::one(Value::ZERO); thread.regs as usize]);
            for (at, step) in thread.code.iter().enumerate() {
                let Some(mut registers) = places[at].take() else { continue };
                if let Op::Load { addr, .. } | Op::Store { addr, .. } = step.op {
                    self.addresses.insert((t, at), operand(&registers, addr));
                }
                if let Op::Store { addr, value, width, .. } = step.op {
                    changed |= self.store(flat, &registers, addr, value, width);
                }
                if let Some((dst, may)) = self.effect(flat, &registers, &step.op) {
                    registers[dst.0 as usize] = may;
                }
                if let Op::Branch { other, .. } = step.op {
                    arrive(&mut places, other, registers.clone());
                }
                if step.op != Op::Cut {
                    arrive(&mut places, step.next, registers);
                }
            }
            if let Some(registers) = places[thread.code.len()].take() {
                let before = self.results[t].clone();
                self.results[t].join(&registers[thread.result.0 as usize]);
                changed |= self.results[t] != before;
            }
        }
        changed
    }

    /// The register that a step sets, and what it may be then.
    fn effect(&self, flat: &Flat, registers: &Registers, op: &Op) -> Option<(Reg, May)> {
        Some(match op {
            Op::Assign { dst, value } => (*dst, evaluate(registers, value)),
            Op::Nondet { dst, first, last } if last.saturating_sub(*first) < FEW as i64 => {
                let values = (*first..=*last).map(|value| Value::from_i64(value).0).collect();
                (*dst, May { values, ..May::default() })
            }
            Op::Nondet { dst, .. } => (*dst, May::number()),
            Op::Load { dst, addr, width, .. } => (*dst, self.load(flat, registers, *addr, *width)),
            Op::Join { dst: Some(dst), thread } => {
                let child = match thread {
                    Operand::Const(child) => self.results.get(child.0 as usize).cloned(),
                    Operand::Reg(_) => None,
                };
                (*dst, child.unwrap_or_else(May::anything))
            }
            _ => return None,
        })
    }

    fn load(&self, flat: &Flat, registers: &Registers, addr: Operand, width: Width) -> May {
        // What is narrower than a pointer is a number.
        if width < Width::W64 {
            return May::number();
        }
        let may = operand(registers, addr);
        let mut read = self.anywhere.clone();
        read.join(&May::one(Value::ZERO));
        match may.anything {
            true => self.memory.values().for_each(|held| read.join(held)),
            false => {
                for place in places(flat, &may, width) {
                    self.memory.get(&place).into_iter().for_each(|held| read.join(held));
                }
            }
        }
        read
    }

    fn store(
        &mut self,
        flat: &Flat,
        registers: &Registers,
        addr: Operand,
        value: Operand,
        width: Width,
    ) -> bool {
        let (to, what) = (operand(registers, addr), operand(registers, value));
        let mut changed = false;
        let mut add = |held: &mut May| {
            let before = held.clone();
            held.join(&what);
            changed |= *held != before;
        };
        if to.anything {
            add(&mut self.anywhere);
        }
        for place in places(flat, &to, width) {
            add(self.memory.entry(place).or_default());
        }
        changed
    }
}

fn evaluate(registers: &Registers, value: &Rvalue) -> May {
    let get = |a: Operand| operand(registers, a);
    match *value {
        Rvalue::Use(a) => get(a),
        Rvalue::Select(_, a, b) => {
            let mut may = get(a);
            may.join(&get(b));
            may
        }
        Rvalue::Unary(UnaryOp::SignExtend | UnaryOp::ZeroExtend, Width::W64, _, a) => get(a),
        Rvalue::Unary(op, width, extend, a) => {
            let a = get(a);
            let values = a.values.iter().map(|&a| unary(op, width, extend, Value(a)).0).collect();
            // What is left of something that is not known: of a pointer at full width perhaps a pointer.
            let whole = width == Width::W64;
            May {
                values,
                number: a.number || !whole && (a.anything || !a.into.is_empty()),
                into: BTreeSet::new(),
                anything: whole && (a.anything || !a.into.is_empty()),
            }
        }
        Rvalue::Binary(op, width, extend, a, b) => {
            let (a, b) = (get(a), get(b));
            let mut may = May::default();
            let few = a.values.len() * b.values.len() <= FEW * FEW;
            if few {
                for (&a, &b) in a.values.iter().flat_map(|a| b.values.iter().map(move |b| (a, b))) {
                    may.values.extend(binary(op, width, extend, Value(a), Value(b)).map(|value| value.0));
                }
            }
            let open = |may: &May| may.number || may.anything || !may.into.is_empty();
            if !few || open(&a) || open(&b) {
                may.join(&unknown(op, width, &a, &b));
            }
            may.join(&May::default());
            may
        }
    }
}

/// The result of an operation on what is not known.
fn unknown(op: BinaryOp, width: Width, a: &May, b: &May) -> May {
    use BinaryOp::{Add, Eq, GeS, GeU, GtS, GtU, LeS, LeU, LtS, LtU, Ne, Sub};
    let (left, right) = (a.pointers(), b.pointers());
    match op {
        Eq | Ne | LtU | LtS | LeU | LeS | GtU | GtS | GeU | GeS => {
            May { values: BTreeSet::from([0, 1]), ..May::default() }
        }
        _ if width != Width::W64 => May::number(),
        _ if a.anything || b.anything => May::anything(),
        _ if left.is_empty() && right.is_empty() => May::number(),
        // A pointer and a number; the difference of two pointers is a number.
        Add if left.is_empty() || right.is_empty() => {
            May { number: true, into: left.union(&right).copied().collect(), ..May::default() }
        }
        Sub => May { number: true, into: left, ..May::default() },
        _ => May::anything(),
    }
}
