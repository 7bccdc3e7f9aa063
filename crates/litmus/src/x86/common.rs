//! What both instruction sets share: which instructions can be locked, what arithmetic ones compute, flags, conditions.
//!
//! Flags are hidden registers that hold what conditional jumps test: the result with its sign (ZF, SF), and whether
//! the comparison was below (CF) or less (SF different from OF).

use crate::error::Parsed;
use crate::init::parse_index;
use crate::lexer::{Kind, Token};
use crate::table::Cell;
use crate::thread::Key;
use fencepost_diag::Diagnostic;
use fencepost_ir::{BinaryOp, Extend, Operand, RmwOp, Rvalue, Value, Width};

const RESULT: Key = 32;
const LESS: Key = 33;
const BELOW: Key = 34;

/// The instructions that a `LOCK` may stand before.
pub(super) const LOCKABLE: [&str; 12] =
    ["add", "sub", "xor", "and", "or", "inc", "dec", "neg", "not", "xadd", "cmpxchg", "xchg"];

/// An arithmetic instruction: what it computes, the same as an atomic operation, and its second operand where that is
/// not written. `neg` is a difference from its operand instead, which no atomic operation is.
pub(super) fn arithmetic_operation(name: &str) -> Option<(BinaryOp, RmwOp, Option<Value>)> {
    let one = Some(Value(1));
    Some(match name {
        "add" => (BinaryOp::Add, RmwOp::Add, None),
        "sub" => (BinaryOp::Sub, RmwOp::Sub, None),
        "xor" => (BinaryOp::Xor, RmwOp::Xor, None),
        "and" => (BinaryOp::And, RmwOp::And, None),
        "or" => (BinaryOp::Or, RmwOp::Or, None),
        "inc" => (BinaryOp::Add, RmwOp::Add, one),
        "dec" => (BinaryOp::Sub, RmwOp::Sub, one),
        "not" => (BinaryOp::Xor, RmwOp::Xor, Some(Value::from_i64(-1))),
        _ => return None,
    })
}

/// `x`, `x[1]`: the address of a location that is named.
pub(super) fn location(cell: &mut Cell<'_, '_>) -> Parsed<Operand> {
    let token = cell.lexer.next();
    if token.kind != Kind::Ident {
        return Err(crate::error::expected(cell.lexer, token, "a location or a register"));
    }
    let object = cell.test.global(cell.lexer.text(token), token.span());
    let offset = parse_index(cell.lexer, cell.test, object)?.map_or(0, |(_, offset)| offset);
    Ok(Operand::Const(Value::pointer(object, offset)))
}

/// Opens the brackets of a location and says how they close; `example` shows how to write one, with `x` for its name.
pub(super) fn open_location(cell: &mut Cell<'_, '_>, example: [&str; 2]) -> Parsed<&'static str> {
    let open = cell.lexer.peek();
    let close = match cell.lexer.text(open) {
        "[" => "]",
        "(" => ")",
        name => {
            let [left, right] = example;
            let expected =
                format!("a register, a number such as `$1`, or a location such as `{left}x{right}`");
            let error = cell.expected(&expected);
            let is_name = open.kind == Kind::Ident;
            return Err(if is_name {
                Box::new(error.hint(format!("if `{name}` is a location, write `{left}{name}{right}`")))
            } else {
                error
            });
        }
    };
    cell.lexer.next();
    Ok(close)
}

/// The error for two operands in memory.
pub(super) fn both_in_memory(second: Token) -> Box<Diagnostic> {
    let error = Diagnostic::error(second.span(), "an instruction has at most one operand in memory");
    Box::new(error.label("the second one").hint("go through a register"))
}

/// Flags of `a op b = result`, which has its sign. What no jump reads is dropped again at the end.
pub(super) fn set_flags(
    cell: &mut Cell<'_, '_>,
    width: Width,
    op: BinaryOp,
    a: Operand,
    b: Operand,
    result: Operand,
) {
    let binary = |op, a, b| Rvalue::Binary(op, width, Extend::Sign, a, b);
    let thread = cell.thread();
    let zero: Operand = Value::ZERO.into();
    let kept = thread.hidden_register(RESULT, "flags.result");
    let less = thread.hidden_register(LESS, "flags.less");
    let below = thread.hidden_register(BELOW, "flags.below");
    let (is_less, is_below) = match op {
        BinaryOp::Sub => (binary(BinaryOp::LtS, a, b), binary(BinaryOp::LtU, a, b)),
        // The carry of a sum: it wrapped around.
        BinaryOp::Add => (binary(BinaryOp::LtS, result, zero), binary(BinaryOp::LtU, result, a)),
        _ => (binary(BinaryOp::LtS, result, zero), Rvalue::Use(zero)),
    };
    thread.assign(less, is_less);
    thread.assign(below, is_below);
    thread.assign(kept, Rvalue::Use(result));
}

/// What to test for a condition, and whether it holds when that is zero; the width is that of results in flags.
pub(super) fn condition(cell: &mut Cell<'_, '_>, width: Width, condition: &str) -> Option<(Operand, bool)> {
    let binary = |op, a, b| Rvalue::Binary(op, width, Extend::Sign, a, b);
    let thread = cell.thread();
    let result: Operand = thread.hidden_register(RESULT, "flags.result").into();
    let less: Operand = thread.hidden_register(LESS, "flags.less").into();
    let below: Operand = thread.hidden_register(BELOW, "flags.below").into();
    let zero: Operand = Value::ZERO.into();
    let or_equal = |cell: &mut Cell<'_, '_>, flag| {
        let equal = cell.compute(0, binary(BinaryOp::Eq, result, zero));
        cell.compute(0, binary(BinaryOp::Or, flag, equal))
    };
    Some(match condition {
        "e" | "eq" | "z" => (result, true),
        "ne" | "nz" => (result, false),
        "l" | "lt" | "nge" => (less, false),
        "ge" | "nl" => (less, true),
        "le" | "ng" => (or_equal(cell, less), false),
        "g" | "gt" | "nle" => (or_equal(cell, less), true),
        "b" | "c" | "nae" => (below, false),
        "ae" | "nc" | "nb" => (below, true),
        "be" | "na" => (or_equal(cell, below), false),
        "a" | "nbe" => (or_equal(cell, below), true),
        "s" => (cell.compute(0, binary(BinaryOp::LtS, result, zero)), false),
        "ns" => (cell.compute(0, binary(BinaryOp::LtS, result, zero)), true),
        _ => return None,
    })
}
