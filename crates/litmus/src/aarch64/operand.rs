//! Operands of AArch64 instructions: registers, shifted and extended registers, addresses.

use super::{AArch64, ZERO, width};
use crate::error::Parsed;
use crate::table::{Cell, Isa};
use fencepost_diag::Diagnostic;
use fencepost_ir::{BinaryOp, Extend, Operand, Reg, Rvalue, UnaryOp, Value, Width};

/// The temporary that swallows what is written to the zero register.
const SWALLOWED: usize = 7;

/// A register that an instruction writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) reg: Reg,
    /// Its W name was used.
    pub(super) narrow: bool,
    /// It is XZR or WZR: what is written is lost.
    pub(super) is_zero: bool,
}

impl Target {
    /// Assigns to it.
    pub(super) fn assign(self, cell: &mut Cell<'_, '_>, value: Rvalue) {
        cell.thread().assign(self.reg, value);
        self.written(cell);
    }

    /// Notes that the instruction just emitted writes it.
    pub(super) fn written(self, cell: &mut Cell<'_, '_>) {
        if self.narrow {
            cell.thread().narrow_write(self.reg);
        }
    }
}

/// A register to write to.
pub(super) fn target(cell: &mut Cell<'_, '_>) -> Parsed<Target> {
    if let Some(narrow) = zero_register(cell) {
        let reg = cell.thread().temporary(SWALLOWED);
        return Ok(Target { reg, narrow, is_zero: true });
    }
    let (reg, narrow) = cell.register()?;
    Ok(Target { reg, narrow, is_zero: false })
}

/// Consumes XZR or WZR, if it comes next.
fn zero_register(cell: &mut Cell<'_, '_>) -> Option<bool> {
    let token = cell.lexer.peek();
    let (key, narrow) = AArch64::register(cell.lexer.text(token))?;
    (key == ZERO).then(|| {
        cell.lexer.next();
        narrow
    })
}

/// A register to read, and whether its W name was used.
pub(super) fn source(cell: &mut Cell<'_, '_>) -> Parsed<(Operand, bool)> {
    if let Some(narrow) = zero_register(cell) {
        return Ok((Value::ZERO.into(), narrow));
    }
    let (reg, narrow) = cell.register()?;
    if !narrow {
        cell.thread().wide_read(reg);
    }
    Ok((reg.into(), narrow))
}

/// A register to read, which must have the same size as the target.
pub(super) fn source_of(cell: &mut Cell<'_, '_>, narrow: bool) -> Parsed<Operand> {
    let token = cell.lexer.peek();
    let (operand, is_narrow) = source(cell)?;
    if narrow == is_narrow {
        return Ok(operand);
    }
    let (found, wanted) = if narrow { ("64", "32") } else { ("32", "64") };
    let message = format!("`{}` has {found} bits, but this operation has {wanted}", cell.lexer.text(token));
    let error =
        Diagnostic::error(token.span(), message).label(format!("expected a register of {wanted} bits"));
    Err(Box::new(if narrow { error } else { error.hint("extend it, as in `ADD X1,X2,W3,SXTW`") }))
}

/// The operator of a shift.
pub(super) fn shift_op(name: &str) -> Option<BinaryOp> {
    Some(match name {
        "lsl" => BinaryOp::Shl,
        "lsr" => BinaryOp::ShrU,
        "asr" => BinaryOp::ShrS,
        _ => return None,
    })
}

/// The last operand of an arithmetic instruction: a number, a register, or a shifted or extended register.
pub(super) fn second_operand(cell: &mut Cell<'_, '_>, narrow: bool) -> Parsed<Operand> {
    if cell.at_immediate() {
        let value = cell.immediate()?;
        if cell.lexer.eat(",") {
            let shift = cell.lexer.next();
            if !cell.lexer.text(shift).eq_ignore_ascii_case("LSL") {
                return Err(crate::error::expected(cell.lexer, shift, "`LSL`"));
            }
            let by = cell.immediate()?;
            return Ok(Value(value.0.checked_shl(by.0 as u32).unwrap_or(0)).into());
        }
        return Ok(value.into());
    }
    extended_register(cell, narrow)
}

/// A register with an optional shift or extension, brought to the width of the operation.
fn extended_register(cell: &mut Cell<'_, '_>, narrow: bool) -> Parsed<Operand> {
    let second = cell.lexer.peek_second();
    if cell.lexer.text(second) != "," {
        return source_of(cell, narrow);
    }
    let (mut value, _) = source(cell)?;
    cell.lexer.next();
    let token = cell.lexer.next();
    let name = cell.lexer.text(token).to_ascii_lowercase();
    if let Some(op) = shift_op(&name) {
        let by = cell.immediate()?;
        return Ok(cell.compute(0, Rvalue::Binary(op, width(narrow), Extend::Zero, value, by.into())));
    }
    let (op, from) = match name.as_str() {
        "uxtb" => (UnaryOp::ZeroExtend, Width::W8),
        "uxth" => (UnaryOp::ZeroExtend, Width::W16),
        "uxtw" => (UnaryOp::ZeroExtend, Width::W32),
        "uxtx" => (UnaryOp::ZeroExtend, Width::W64),
        "sxtb" => (UnaryOp::SignExtend, Width::W8),
        "sxth" => (UnaryOp::SignExtend, Width::W16),
        "sxtw" => (UnaryOp::SignExtend, Width::W32),
        "sxtx" => (UnaryOp::SignExtend, Width::W64),
        _ => {
            let what = "a shift (`LSL`, `LSR`, `ASR`) or an extension such as `SXTW`";
            let error = crate::error::expected(cell.lexer, token, what);
            return Err(crate::error::suggest(
                error,
                &name,
                ["SXTW", "UXTW", "SXTX", "UXTX", "LSL", "LSR", "ASR"],
            ));
        }
    };
    let extend = if op == UnaryOp::SignExtend { Extend::Sign } else { Extend::Zero };
    value = cell.compute(0, Rvalue::Unary(op, from, extend, value));
    if cell.at_immediate() {
        let by = cell.immediate()?;
        if by != Value::ZERO {
            value =
                cell.compute(0, Rvalue::Binary(BinaryOp::Shl, Width::W64, Extend::Zero, value, by.into()));
        }
    }
    Ok(value)
}

/// An address, and what its base register becomes after the access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    pub(super) addr: Operand,
    writeback: Option<(Reg, Rvalue)>,
}

impl Address {
    /// `[X1,#4]!`: the base is updated to where the access is.
    pub(super) fn is_pre_indexed(self) -> bool {
        matches!(self.writeback, Some((_, Rvalue::Use(_))))
    }

    /// Updates the base register, after the access.
    pub(super) fn finish(self, cell: &mut Cell<'_, '_>) {
        if let Some((base, value)) = self.writeback {
            cell.thread().assign(base, value);
        }
    }
}

fn sum(a: impl Into<Operand>, b: impl Into<Operand>) -> Rvalue {
    Rvalue::Binary(BinaryOp::Add, Width::W64, Extend::Zero, a.into(), b.into())
}

/// `[X1]`, `[X1,#4]`, `[X1,#4]!`, `[X1],#4`, `[X1,X2]`, `[X1,W2,SXTW]`, `[X1,X2,LSL #2]`.
pub(super) fn address(cell: &mut Cell<'_, '_>) -> Parsed<Address> {
    if !cell.lexer.at("[") {
        return Err(cell.expected("an address such as `[X1]`"));
    }
    cell.lexer.next();
    let token = cell.lexer.peek();
    let (base, narrow) = cell.register()?;
    if narrow {
        let message = "an address needs all 64 bits of its register";
        let error = Diagnostic::error(token.span(), message).label("expected an X register");
        return Err(Box::new(error));
    }
    cell.thread().wide_read(base);
    if cell.lexer.eat("]") {
        let mut writeback = None;
        if cell.lexer.eat(",") {
            writeback = Some((base, sum(base, cell.immediate()?)));
        }
        return Ok(Address { addr: base.into(), writeback });
    }
    cell.comma()?;
    if cell.at_immediate() {
        let offset = cell.immediate()?;
        cell.expect("]")?;
        let addr = if offset == Value::ZERO { base.into() } else { cell.compute(1, sum(base, offset)) };
        let writeback = cell.lexer.eat("!").then_some((base, Rvalue::Use(addr)));
        return Ok(Address { addr, writeback });
    }
    let index = extended_register(cell, false)?;
    cell.expect("]")?;
    Ok(Address { addr: cell.compute(1, sum(base, index)), writeback: None })
}
