//! Registers for the cells of private objects.
//!
//! An object is promoted if at each of its accesses it is known which cell is meant, that the object is alive, and, where
//! it is read, that the cell has a value. Then a register tells no less than the object did, findings included.

use super::points::Points;
use crate::flow::forward;
use crate::private::{PrivateObjects, private_objects};
use crate::program::{Cell, Extend, Function, Instr, Object, Operand, Reg, Rvalue, UnaryOp, Width};
use crate::value::Value;

/// Cells of an object that is promoted.
const MOST_CELLS: usize = 63;

/// The bit that says that an object is alive; the others say which cells have a value.
const ALIVE: u64 = 1 << MOST_CELLS;

/// What is known at a place.
#[derive(Clone)]
struct State {
    points: Points,
    /// For each object: its bits.
    objects: Vec<u64>,
}

/// The function with registers in place of private objects; none if there are none to promote.
pub(super) fn promoted(function: &Function) -> Option<Function> {
    let private = private_objects(function);
    if private.made_by.is_empty() {
        return None;
    }
    let known = Known::new(function, &private);
    if !known.promoted.contains(&true) {
        return None;
    }
    let mut named = function.clone();
    let cells: Vec<Vec<Reg>> = (0..private.made_by.len())
        .map(|k| {
            let cells = known.objects[k].cells.iter().filter(|_| known.promoted[k]);
            cells.map(|cell| named.new_reg(name(known.objects[k], cell.offset))).collect()
        })
        .collect();
    let rewrite = |at: u32, instr: &Instr, to: &mut Vec<Instr>| {
        let object = private.object[at as usize].map(|k| k as usize).filter(|&k| known.promoted[k]);
        let Some(k) = object else { return to.push(instr.clone()) };
        let register = |cell: usize| cells[k][cell];
        let assign = |dst: Reg, value: Rvalue| Instr::Assign { dst, value };
        match *instr {
            Instr::Local { dst, ref object, .. } => {
                // Nobody looks at the pointer any more.
                to.push(assign(dst, Rvalue::Use(Operand::Const(Value::ZERO))));
                let init = |(cell, value): (usize, Option<Value>)| {
                    Some(assign(register(cell), Rvalue::Use(Operand::Const(value?))))
                };
                to.extend(object.cells.iter().map(|cell| cell.init).enumerate().filter_map(init));
            }
            Instr::Load { dst, width, extend, .. } | Instr::CopyLoad { dst, width, extend, .. } => {
                let value = Operand::Reg(register(known.cell[at as usize]));
                to.push(assign(dst, converted(extend, width, value)));
            }
            Instr::Store { value, width, .. } => {
                let cell = register(known.cell[at as usize]);
                to.push(assign(cell, converted(Extend::Zero, width, value)));
            }
            _ => {}
        }
    };
    Some(named.rewritten(rewrite).0)
}

fn converted(extend: Extend, width: Width, value: Operand) -> Rvalue {
    match (width, extend) {
        (Width::W64, _) => Rvalue::Use(value),
        (_, Extend::Zero) => Rvalue::Unary(UnaryOp::ZeroExtend, width, extend, value),
        (_, Extend::Sign) => Rvalue::Unary(UnaryOp::SignExtend, width, extend, value),
    }
}

fn name(object: &Object, offset: u32) -> String {
    match object.cells.len() {
        1 => object.name.clone(),
        _ => format!("{}+{offset}", object.name),
    }
}

/// What the analysis finds.
struct Known<'f> {
    made_by: &'f [u32],
    objects: Vec<&'f Object>,
    /// Which of them are promoted.
    promoted: Vec<bool>,
    /// For each access to one of them: the cell.
    cell: Vec<usize>,
}

impl<'f> Known<'f> {
    fn new(function: &'f Function, private: &'f PrivateObjects) -> Known<'f> {
        let object = |&at: &u32| match &function.body[at as usize] {
            Instr::Local { object, .. } => Some(&**object),
            _ => None,
        };
        let objects: Vec<&Object> = private.made_by.iter().filter_map(object).collect();
        let promoted = objects.iter().map(|object| has_plain_cells(object)).collect();
        let made_by = &private.made_by;
        let mut known = Known { made_by, objects, promoted, cell: vec![0; function.body.len()] };
        let start = State { points: Points::new(function), objects: vec![0; known.objects.len()] };
        forward(function, start, join, |at, instr, state| {
            known.step(at, instr, private.object[at as usize].map(|k| k as usize), state);
        });
        known
    }

    /// Goes over an instruction, which is about the object `k` if there is one.
    fn step(&mut self, at: u32, instr: &Instr, k: Option<usize>, state: &mut State) {
        if let Some(k) = k.filter(|&k| self.promoted[k]) {
            match self.access(at, instr, k, state) {
                Some(bits) => state.objects[k] = bits,
                None => self.promoted[k] = false,
            }
        }
        state.points.step(at, instr);
    }

    /// The bits of the object behind an instruction, if a register can do what that does.
    fn access(&mut self, at: u32, instr: &Instr, k: usize, state: &State) -> Option<u64> {
        let bits = state.objects[k];
        let (addr, width) = match *instr {
            Instr::Local { .. } => {
                let cells = (0..).zip(&self.objects[k].cells);
                return Some(cells.fold(ALIVE, |bits, (i, cell)| bits | u64::from(cell.init.is_some()) << i));
            }
            Instr::EndLocal(_) => return (bits & ALIVE != 0).then_some(0),
            Instr::Load { addr, width, .. }
            | Instr::CopyLoad { addr, width, keeps: true, .. }
            | Instr::Store { addr, width, .. } => (addr, width),
            // A value that is taken for zero if it is none.
            _ => return None,
        };
        let (made, offset) = state.points.of(addr)?;
        let hit = |cell: &Cell| u64::from(cell.offset) == offset && cell.width == width;
        let cell = self.objects[k].cells.iter().position(hit)?;
        let writes = matches!(instr, Instr::Store { .. });
        self.cell[at as usize] = cell;
        let is_fine = made == self.made_by[k] && bits & ALIVE != 0 && (writes || bits >> cell & 1 != 0);
        is_fine.then_some(bits | 1 << cell)
    }
}

/// Whether an object is made of cells that do not overlap and may be written.
fn has_plain_cells(object: &Object) -> bool {
    let overlap = object.cells.windows(2).any(|w| w[0].offset + w[0].width.bytes() > w[1].offset);
    !overlap && !object.constant && (1..=MOST_CELLS).contains(&object.cells.len())
}

fn join(known: &mut State, other: &State) -> bool {
    let mut less = known.points.join(&other.points);
    for (a, b) in known.objects.iter_mut().zip(&other.objects) {
        less |= *a & !b != 0;
        *a &= b;
    }
    less
}
