//! Accesses that hit no cell as it is. If they are not atomic, they go in pieces: one cell after the other is read, whole, and to
//! write,
//! written back with the bytes that the access has in it. A thread that is alone with the cells cannot tell; nor can others, if
//! what they do there is ordered before or after.
//!
//! Each piece is a step of its own. A record of another engine says where its cells are ([`Memory::Next`]); without one, the
//! cells are those that were declared or met.

use crate::Stop;
use crate::access::address;
use crate::combine::Whole;
use crate::findings::{ProblemKind, over};
use crate::interpret::{Interpreter, Memory, Step, fault};
use crate::run::{Pieces, Place, Register, Run, Undefined};
use fencepost_ir::{Ann, EventKind, Instr, Location, Order, Span, Value, Width, wide};
use fencepost_models::Model;

/// The part of a cell that an access has.
struct Part {
    place: Place,
    /// Bytes of the cell before it, and in it.
    skipped: u32,
    taken: u32,
    padding: bool,
}

impl Part {
    /// What the cell has there, in the lowest bytes.
    fn of(&self, cell: Value) -> u64 {
        let mut bytes = wide::to_bytes(cell, self.place.width);
        bytes.rotate_left(self.skipped as usize);
        bytes[..8].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
    }

    /// The cell with other bytes there; `None` if it cannot have them.
    fn put(&self, cell: Value, value: u64) -> Option<Value> {
        let mut bytes = wide::to_bytes(cell, self.place.width);
        let (skipped, taken) = (self.skipped as usize, self.taken as usize);
        bytes[skipped..skipped + taken].copy_from_slice(&value.to_le_bytes()[..taken]);
        wide::from_bytes(&bytes, self.place.width)
    }
}

fn annotation(instr: &Instr) -> Option<Ann> {
    match *instr {
        Instr::Load { ann, .. } | Instr::CopyLoad { ann, .. } | Instr::Store { ann, .. } => Some(ann),
        _ => None,
    }
}

fn is_plain(instr: &Instr) -> bool {
    let is_plain = annotation(instr).is_some_and(|ann| ann.order == Order::Plain && !ann.exclusive);
    is_plain && address(instr).1 <= Width::W64
}

fn low(bytes: u32) -> u64 {
    (0..bytes).fold(0, |mask, _| mask << 8 | 0xff)
}

impl Interpreter<'_> {
    /// Whether the record has a cell just where an access is.
    pub(crate) fn is_led_to(&self, address: Value, width: Width) -> bool {
        let offset = address.as_pointer().map(|(_, offset)| offset);
        matches!(self.memory, Memory::Next(_, Some((at, w))) if Some(at) == offset && w == width)
    }

    pub(crate) fn goes_in_pieces(
        &self,
        run: &Run,
        instr: &Instr,
        address: Value,
        width: Width,
        resolved: &Result<Location, ProblemKind>,
    ) -> bool {
        if !is_plain(instr) || !matches!(resolved, Ok(_) | Err(ProblemKind::MixedSize)) {
            return false;
        }
        run.pieces.is_some()
            || match self.memory {
                Memory::Next(_, Some(_)) => !self.is_led_to(address, width),
                _ => resolved.is_err(),
            }
    }

    /// The next piece of an access.
    pub(crate) fn in_pieces(&self, mut run: Run, instr: &Instr, span: Span) -> Result<Step, Stop> {
        let (operand, width) = address(instr);
        let addr = run.operand(operand);
        let nothing = Register::constant(Value::ZERO);
        let pieces = run.pieces.unwrap_or(Pieces { done: 0, so_far: nothing, cell: None });
        let Some(part) = self.part(&run, addr, width, pieces.done, span) else {
            return Ok(Step::Some(Vec::new()));
        };
        if matches!(instr, Instr::Store { .. }) && self.world.is_constant(part.place.location) {
            return fault(run, ProblemKind::Constant);
        }
        if let Some(kind) = run.private_mistake(
            &part.place,
            &Instr::Store { addr: operand, value: operand, width, ann: Ann::PLAIN },
        ) {
            return fault(run, kind);
        }
        run.pieces = Some(pieces);
        match *instr {
            Instr::Store { value, ann, .. } => {
                let whole = part.taken == part.place.width.bytes();
                match pieces.cell.or(whole.then_some(nothing)) {
                    Some(cell) => self.write_piece(run, &part, cell, (value, width), ann),
                    None => {
                        let take = |run: &mut Run, read: Register| {
                            run.pieces = Some(Pieces { cell: Some(read), ..pieces });
                            true
                        };
                        Ok(self.read_piece(run, &part, Undefined::Kept, ann, take))
                    }
                }
            }
            Instr::Load { dst, extend, ann, .. } => {
                let take = |run: &mut Run, read: Register| {
                    self.take(run, &part, pieces, read, Undefined::Mistake, (dst, width, extend))
                };
                Ok(self.read_piece(run, &part, Undefined::Mistake, ann, take))
            }
            Instr::CopyLoad { dst, extend, ann, keeps, .. } => {
                let undefined = if keeps { Undefined::Kept } else { Undefined::Zero };
                let take = |run: &mut Run, read: Register| {
                    self.take(run, &part, pieces, read, undefined, (dst, width, extend))
                };
                Ok(self.read_piece(run, &part, undefined, ann, take))
            }
            _ => Ok(Step::Some(Vec::new())),
        }
    }

    fn part(&self, run: &Run, addr: Register, width: Width, done: u32, span: Span) -> Option<Part> {
        let address = addr.value?;
        let (object, start) = address.as_pointer()?;
        let private = self.world.is_private(object);
        let (location, cell) = match self.memory {
            // An engine may keep a private object out of the record.
            Memory::Next(_, cell) if !private || cell.is_some() => {
                let (offset, cell) = cell?;
                (Location { object, offset }, cell)
            }
            _ => self.world.cell_at(address, width, done)?,
        };
        let byte = start + done;
        let end = location.offset + cell.bytes();
        if byte < location.offset || byte >= end || end > self.world.size(object)? {
            return None;
        }
        let place = Place {
            location,
            width: cell,
            addr,
            span,
            at: run.at(),
            private,
            piece: true,
            initial: self.world.initial(location, cell),
        };
        let taken = end.min(start + width.bytes()) - byte;
        let padding = self.world.is_padding(location, cell);
        Some(Part { place, skipped: byte - location.offset, taken, padding })
    }

    /// Reads a cell in all ways; `take` says what to do with it, and whether anything can be done.
    fn read_piece(
        &self,
        run: Run,
        part: &Part,
        undefined: Undefined,
        ann: Ann,
        take: impl Fn(&mut Run, Register) -> bool,
    ) -> Step {
        let place = &part.place;
        let values = match place.private {
            true => vec![run.private_value(place).value],
            false => self.memory.values(&run, place.location, place.initial.unwrap_or(Value::UNDEFINED)),
        };
        let mut runs = Vec::new();
        for old in values {
            let mut run = run.clone();
            let (_, read) = run.read(place, old, ann, undefined);
            if take(&mut run, read) {
                runs.push(run);
            }
        }
        Step::Runs(runs)
    }

    /// Adds what was read to what was read before; the last piece makes the value.
    fn take(
        &self,
        run: &mut Run,
        part: &Part,
        pieces: Pieces,
        read: Register,
        undefined: Undefined,
        (dst, width, extend): (fencepost_ir::Reg, Width, fencepost_ir::Extend),
    ) -> bool {
        let keeps = undefined == Undefined::Kept;
        let mut so_far = pieces.so_far;
        so_far.depends |= read.depends;
        so_far.picks |= read.picks;
        so_far.value = match so_far.value.zip(read.value) {
            None => None,
            Some((before, cell)) => {
                let missing = cell == Value::UNDEFINED;
                let padded = missing && (!keeps || (part.padding && pieces.done > 0));
                match (before == Value::UNDEFINED, missing && !padded) {
                    (_, true) if pieces.done == 0 => Some(Value::UNDEFINED),
                    (true, true) => Some(Value::UNDEFINED),
                    (true, false) | (false, true) => {
                        run.note(ProblemKind::Unsupported, part.place.at);
                        return false;
                    }
                    (false, false) => {
                        let cell = if padded { 0 } else { cell.0 };
                        let bytes = part.of(Value(cell)) & low(part.taken);
                        Some(Value(before.0 | bytes << (8 * pieces.done)))
                    }
                }
            }
        };
        let done = pieces.done + part.taken;
        run.pieces = Some(Pieces { done, so_far, cell: None });
        if done == width.bytes() {
            run.pieces = None;
            let value = so_far.value.map(|value| width.extend(extend, value));
            run.assign(Some(dst), Register { value, ..so_far });
            run.frame_mut().at += 1;
        }
        true
    }

    fn write_piece(
        &self,
        mut run: Run,
        part: &Part,
        cell: Register,
        (value, width): (fencepost_ir::Operand, Width),
        ann: Ann,
    ) -> Result<Step, Stop> {
        let from = run.operand(value);
        let done = run.pieces.map_or(0, |pieces| pieces.done);
        let whole = part.taken == part.place.width.bytes();
        let stored = match from.value.zip(cell.value) {
            None => None,
            Some((value, cell)) => match (value == Value::UNDEFINED, cell == Value::UNDEFINED) {
                (true, true) => Some(Value::UNDEFINED),
                (true, false) if whole => Some(Value::UNDEFINED),
                (true, false) => return fault(run, ProblemKind::Unsupported),
                (false, true) if !part.padding => return fault(run, ProblemKind::Unsupported),
                (false, missing) => {
                    let cell = if missing { 0 } else { cell.0 };
                    match part.put(Value(cell), value.0 >> (8 * done)) {
                        Some(value) => Some(value),
                        None => return fault(run, ProblemKind::Unsupported),
                    }
                }
            },
        };
        let (depends, picks) = (from.depends | cell.depends, from.picks | cell.picks);
        run.write(&part.place, stored, Register { value: stored, depends, picks }, ann);
        let done = done + part.taken;
        run.pieces = Some(Pieces { done, so_far: Register::constant(Value::ZERO), cell: None });
        if done == width.bytes() {
            run.pieces = None;
            run.frame_mut().at += 1;
        }
        Ok(Step::Runs(vec![run]))
    }
}

/// Pairs of a piece and an access by another thread to its cell, one of them a write, that are not ordered; and
/// whether they may be seen so.
pub fn unordered(whole: &Whole<'_>, model: &Model) -> Vec<(usize, usize, bool)> {
    let events = &whole.execution.events;
    let is_piece = |e: usize| whole.event(e).is_some_and(|event| event.piece);
    let pieces: Vec<usize> = (0..events.len()).filter(|&e| is_piece(e)).collect();
    if pieces.is_empty() {
        return Vec::new();
    }
    let (surely, perhaps) = over(whole, model);
    // The write that an access is or reads.
    let source = |e: usize| match events[e].kind {
        EventKind::Read => (0..events.len()).find(|&w| whole.execution.rf.contains(w, e)),
        _ => Some(e),
    };
    let coherent = |a: usize, b: usize| match source(a).zip(source(b)) {
        Some((a, b)) => a == b || whole.execution.co.contains(a, b),
        None => false,
    };
    let mut found = Vec::new();
    for &e in &pieces {
        for other in 0..events.len() {
            let same = events[other].location == events[e].location;
            let apart = events[other].thread.is_none() || events[other].thread == events[e].thread;
            let reads = events[e].kind == EventKind::Read && events[other].kind == EventKind::Read;
            let ordered = |by: &fencepost_ir::Relation| {
                (by.contains(e, other) && coherent(e, other)) || (by.contains(other, e) && coherent(other, e))
            };
            if same && !apart && !reads && !ordered(&surely) {
                found.push((e, other, ordered(&perhaps)));
            }
        }
    }
    found
}
