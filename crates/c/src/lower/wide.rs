//! Atomic objects of 16 bytes: two words in one value (`fencepost_ir::wide`), so that an access to them is one access.
//!
//! Where a program stores words that do not fit, a check that orders nothing ends the answer in *unknown*. A plain access to a
//! half, through another type of the same memory, has a size of its own: what different sizes mean is up to the engine.

use super::{Body, Lowerer};
use crate::layout::TypeCell;
use crate::parser::{Res, unsupported};
use fencepost_diag::Span;
use fencepost_ir::wide::{IS_POINTER, NUMBER, joined};
use fencepost_ir::{BinaryOp, Cell, Extend, FailKind, Instr, Operand, Rvalue, Value, Width};

/// The bytes of such an object.
pub(super) const BYTES: u64 = fencepost_ir::wide::BYTES as u64;

impl Lowerer<'_> {
    /// Whether a cell is such an object.
    pub(super) fn is_wide(&self, cell: &TypeCell) -> bool {
        self.unit.types.is_record(cell.ty.ty) && self.unit.types.size(cell.ty.ty) == Some(BYTES)
    }

    /// Puts the initial values of its members, which begin at `offset`, into one cell.
    pub(super) fn join_cells(&self, values: &mut Vec<Cell>, offset: u32, span: Span) -> Res<()> {
        let within = |cell: &Cell| (offset..offset + BYTES as u32).contains(&cell.offset);
        let mut words = [Some(0u64); 2];
        for cell in values.iter().filter(|cell| within(cell)) {
            let at = cell.offset - offset;
            let word = &mut words[at as usize / 8];
            let part = cell.init.map(|value| cell.width.zero_extend(value).0 << (8 * (at % 8)));
            *word = word.zip(part).map(|(word, part)| word | part);
        }
        values.retain(|cell| !within(cell));
        let init = match words {
            [Some(low), Some(high)] => match joined(low, high) {
                Some(value) => Some(value),
                None => return too_wide(span),
            },
            _ => None,
        };
        values.push(Cell { offset, width: Width::W128, init });
        Ok(())
    }
}

fn too_wide<T>(span: Span) -> Res<T> {
    unsupported(span, "this initial value of an atomic object of 16 bytes", TOO_WIDE)
}

const TOO_WIDE: &str = "each half of an atomic object of 16 bytes is a number of at most 30 bits, or a pointer with \
    an offset below 65,536";

impl Body<'_, '_> {
    /// Two words as one value, with a check that they fit.
    pub(super) fn join_words(&mut self, low: Operand, high: Operand) -> Operand {
        let low = self.squeezed(low);
        let high = self.squeezed(high);
        let high = self.word(BinaryOp::Shl, high, 32);
        self.binary(BinaryOp::Or, Width::W64, Extend::Zero, high, low)
    }

    /// One of the two words of a value.
    pub(super) fn half_of(&mut self, joined: Operand, high: bool) -> Operand {
        let part = match high {
            true => self.word(BinaryOp::ShrU, joined, 32),
            false => self.word(BinaryOp::And, joined, u64::from(u32::MAX)),
        };
        self.widened(part)
    }

    fn word(&mut self, op: BinaryOp, a: Operand, b: u64) -> Operand {
        self.binary(op, Width::W64, Extend::Zero, a, Operand::Const(Value(b)))
    }

    fn either(&mut self, condition: Operand, then: Operand, otherwise: Operand) -> Operand {
        match condition {
            Operand::Const(value) => {
                if value.is_true() {
                    then
                } else {
                    otherwise
                }
            }
            _ => self.b.compute(Rvalue::Select(condition, then, otherwise)),
        }
    }

    fn squeezed(&mut self, word: Operand) -> Operand {
        let tag = self.word(BinaryOp::ShrU, word, 46);
        let is_pointer = self.word(BinaryOp::Eq, tag, 1);
        let number = self.word(BinaryOp::And, word, NUMBER);
        let object = self.word(BinaryOp::ShrU, word, 32);
        let object = self.word(BinaryOp::And, object, 0x3fff);
        let object = self.word(BinaryOp::Shl, object, 16);
        let offset = self.word(BinaryOp::And, word, 0xffff);
        let pointer = self.binary(BinaryOp::Or, Width::W64, Extend::Zero, object, offset);
        let pointer = self.word(BinaryOp::Or, pointer, IS_POINTER);
        let part = self.either(is_pointer, pointer, number);
        let back = self.widened(part);
        let condition = self.binary(BinaryOp::Eq, Width::W64, Extend::Zero, back, word);
        if condition != Operand::Const(Value(1)) {
            self.b.emit(Instr::Assert { condition, kind: FailKind::Unsupported, message: TOO_WIDE.into() });
        }
        part
    }

    fn widened(&mut self, part: Operand) -> Operand {
        let tag = self.word(BinaryOp::And, part, IS_POINTER);
        let number = self.word(BinaryOp::Shl, part, 34);
        let number = self.word(BinaryOp::ShrS, number, 34);
        let object = self.word(BinaryOp::ShrU, part, 16);
        let object = self.word(BinaryOp::And, object, 0x3fff);
        let object = self.word(BinaryOp::Shl, object, 32);
        let offset = self.word(BinaryOp::And, part, 0xffff);
        let pointer = self.binary(BinaryOp::Or, Width::W64, Extend::Zero, object, offset);
        let pointer = self.word(BinaryOp::Or, pointer, 1 << 46);
        self.either(tag, pointer, number)
    }
}
