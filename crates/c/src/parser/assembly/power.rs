//! The words of POWER: loads, stores, reservations, arithmetic and jumps.

use super::risc::{Arg, Condition, Memory, Op, constant, is_label, operand, words};
use crate::ast::ArithOp;
use fencepost_ir::Order;

/// Reads an instruction.
pub(super) fn decode(line: &str, names: &[Option<String>]) -> Option<Op> {
    let (word, mut args) = words(line);
    // `lwz%U1%X1`: letters that the compiler chooses by the address.
    let word = word.split('%').next()?.to_string();
    // A field of the condition register is 0 unless it says so.
    if word.starts_with("cmp") && args.len() == 3 && matches!(args[0].as_str(), "0" | "cr0") {
        args.remove(0);
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let register = |text: &str| register(text, names);
    let number = |text: &str| constant(text).map(Arg::Immediate).or_else(|| register(text));
    let compute = |op, [to, left]: [&str; 2], right: Arg, inverted, flags| {
        Some(Op::Compute { op, to: Some(register(to)?), left: register(left)?, right, inverted, flags })
    };
    match (word.as_str(), &args[..]) {
        ("mftb", [to]) | ("mfspr", [to, "268"]) => register(to).map(Op::Ticks),
        ("li", [to, n]) => Some(Op::Move { to: register(to)?, from: number(n)?, inverted: false }),
        ("mr", [to, from]) => Some(Op::Move { to: register(to)?, from: register(from)?, inverted: false }),
        ("add" | "add.", [to, a, b]) => {
            compute(ArithOp::Add, [to, a], register(b)?, false, word.ends_with('.'))
        }
        ("addi" | "addic" | "addic.", [to, a, n]) => {
            compute(ArithOp::Add, [to, a], number(n)?, false, word.ends_with('.'))
        }
        ("subi", [to, a, n]) => compute(ArithOp::Sub, [to, a], number(n)?, false, false),
        // The order of a subtraction: rD = rB - rA.
        ("subf" | "subf.", [to, a, b]) => {
            compute(ArithOp::Sub, [to, b], register(a)?, false, word.ends_with('.'))
        }
        ("sub", [to, a, b]) => compute(ArithOp::Sub, [to, a], register(b)?, false, false),
        ("and" | "and.", [to, a, b]) => {
            compute(ArithOp::And, [to, a], register(b)?, false, word.ends_with('.'))
        }
        ("andc" | "andc.", [to, a, b]) => {
            compute(ArithOp::And, [to, a], register(b)?, true, word.ends_with('.'))
        }
        // A register and itself: the processor is told of its priority, and nothing else happens.
        ("or", [to, a, b]) if to == a && a == b => Some(Op::Nothing),
        ("or", [to, a, b]) => compute(ArithOp::Or, [to, a], register(b)?, false, false),
        ("xor" | "xor.", [to, a, b]) => {
            compute(ArithOp::Xor, [to, a], register(b)?, false, word.ends_with('.'))
        }
        ("ori", [to, a, n]) => compute(ArithOp::Or, [to, a], number(n)?, false, false),
        ("cmpw" | "cmplw", [a, b]) => compare(half(register(a)?), half(register(b)?)),
        ("cmpwi" | "cmplwi", [a, n]) => compare(half(register(a)?), number(n)?),
        ("cmpd" | "cmpld", [a, b]) => compare(register(a)?, register(b)?),
        ("cmpdi" | "cmpldi", [a, n]) => compare(register(a)?, number(n)?),
        ("b", [label]) if is_label(label) => Some(Op::Jump { condition: None, label: label.to_string() }),
        ("beq" | "beq-" | "beq+" | "bne" | "bne-" | "bne+", [.., label]) if is_label(label) => {
            if !matches!(args[..args.len() - 1], [] | ["0"] | ["cr0"]) {
                return None;
            }
            let condition = if word.starts_with("beq") { Condition::Equal } else { Condition::NotEqual };
            Some(Op::Jump { condition: Some(condition), label: label.to_string() })
        }
        _ => access(&word, &args, names),
    }
}

/// A load or a store.
fn access(word: &str, args: &[&str], names: &[Option<String>]) -> Option<Op> {
    let size = |letter: &str| {
        Some(match letter {
            "b" => 1,
            "h" => 2,
            "w" => 4,
            "d" => 8,
            _ => return None,
        })
    };
    let relaxed = Order::Relaxed;
    if let Some(letter) = word.strip_prefix('l').and_then(|w| w.strip_suffix("arx")) {
        let (to, at) = (register(args.first()?, names)?, indexed(&args[1..], names)?);
        return Some(Op::Load { to, at, size: size(letter)?, order: relaxed, exclusive: true });
    }
    if let Some(letter) = word.strip_prefix("st").and_then(|w| w.strip_suffix("cx.")) {
        let (value, at) = (register(args.first()?, names)?, indexed(&args[1..], names)?);
        return Some(Op::StoreExclusive { status: None, value, at, size: size(letter)?, order: relaxed });
    }
    let [data, at] = *args else { return None };
    let (data, at) = (register(data, names)?, memory(at, names)?);
    match word {
        "lbz" | "lhz" | "lwz" | "ld" => {
            let letter = if word == "ld" { "d" } else { &word[1..2] };
            Some(Op::Load { to: data, at, size: size(letter)?, order: relaxed, exclusive: false })
        }
        "stb" | "sth" | "stw" | "std" => {
            Some(Op::Store { value: data, at, size: size(&word[2..])?, order: relaxed })
        }
        _ => None,
    }
}

fn compare(left: Arg, right: Arg) -> Option<Op> {
    Some(Op::Compute { op: ArithOp::Sub, to: None, left, right, inverted: false, flags: true })
}

/// The lower half of a register.
fn half(arg: Arg) -> Arg {
    match arg {
        Arg::Operand { number, .. } => Arg::Operand { number, narrow: true },
        Arg::Register { number, .. } => Arg::Register { number, narrow: true },
        number => number,
    }
}

/// `%0`, `9`, `r9`, `%%r9`.
fn register(text: &str, names: &[Option<String>]) -> Option<Arg> {
    if let Some((number, letter)) = operand(text, names) {
        return letter.is_none().then_some(Arg::Operand { number, narrow: false });
    }
    let text = text.trim_start_matches('%');
    let number = text.strip_prefix('r').unwrap_or(text).parse().ok().filter(|n| *n <= 31)?;
    Some(Arg::Register { number, narrow: false })
}

/// `%0` for an operand in memory, `0(%1)`, `8(9)`.
fn memory(text: &str, names: &[Option<String>]) -> Option<Memory> {
    match text.strip_suffix(')').and_then(|t| t.split_once('(')) {
        Some((displacement, base)) => {
            let displacement =
                if displacement.trim().is_empty() { 0 } else { constant(displacement.trim())? };
            Some(Memory::Pointed(register(base.trim(), names)?, displacement))
        }
        None => operand(text, names)
            .filter(|(_, letter)| letter.is_none())
            .map(|(number, _)| Memory::Operand(number)),
    }
}

/// `0,%1` and `%y1`; an index that is not 0 is not known here.
fn indexed(args: &[&str], names: &[Option<String>]) -> Option<Memory> {
    match args {
        [place] => operand(place, names)
            .filter(|(_, letter)| *letter == Some('y'))
            .map(|(number, _)| Memory::Operand(number)),
        ["0", base] => Some(Memory::Pointed(register(base, names)?, 0)),
        _ => None,
    }
}
