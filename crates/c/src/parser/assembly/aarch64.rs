//! The words of AArch64: loads, stores, exclusives, the atomic instructions of LSE, arithmetic and jumps.

use super::risc::{Arg, Condition, Memory, Op, constant, is_label, operand, words};
use crate::ast::ArithOp;
use fencepost_ir::Order;

/// Reads an instruction.
pub(super) fn decode(line: &str, names: &[Option<String>]) -> Option<Op> {
    let (word, args) = words(line);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let register = |text: &str| register(text, names);
    let value = |text: &str| register(text).or_else(|| constant(text).map(Arg::Immediate));
    let memory = |text: &str| memory(text, names);
    match (word.as_str(), &args[..]) {
        ("prfm" | "sevl" | "sev" | "wfe" | "hint", _) => return Some(Op::Nothing),
        ("mrs", [to, counter]) => {
            let known = ["cntvct_el0", "cntpct_el0", "cntvctss_el0", "cntpctss_el0"];
            let known = known.contains(&counter.to_ascii_lowercase().as_str());
            return known.then(|| register(to).map(Op::Ticks)).flatten();
        }
        ("mov" | "mvn", [to, from]) => {
            return Some(Op::Move { to: register(to)?, from: value(from)?, inverted: word == "mvn" });
        }
        ("cmp" | "tst", [left, right]) => {
            let op = if word == "cmp" { ArithOp::Sub } else { ArithOp::And };
            let (left, right) = (register(left)?, value(right)?);
            return Some(Op::Compute { op, to: None, left, right, inverted: false, flags: true });
        }
        ("cbz" | "cbnz", [arg, label]) if is_label(label) => {
            let arg = register(arg)?;
            let condition = if word == "cbz" { Condition::Zero(arg) } else { Condition::NotZero(arg) };
            return Some(Op::Jump { condition: Some(condition), label: label.to_string() });
        }
        ("tbz" | "tbnz", [arg, bit, label]) if is_label(label) => {
            let bit = u64::try_from(constant(bit)?).ok()?;
            let condition = Condition::Bit(register(arg)?, bit, word == "tbnz");
            return Some(Op::Jump { condition: Some(condition), label: label.to_string() });
        }
        ("b", [label]) if is_label(label) => {
            return Some(Op::Jump { condition: None, label: label.to_string() });
        }
        ("cset", [to, condition]) => {
            let (then, other) = (Arg::Immediate(1), Arg::Immediate(0));
            return Some(Op::Select { to: register(to)?, then, other, condition: flag(condition)? });
        }
        ("csel", [to, then, other, condition]) => {
            let (to, then, other) = (register(to)?, register(then)?, register(other)?);
            return Some(Op::Select { to, then, other, condition: flag(condition)? });
        }
        (_, [label]) if is_label(label) => {
            let condition = word.strip_prefix("b.").or_else(|| word.strip_prefix('b'))?;
            return Some(Op::Jump { condition: Some(flag(condition)?), label: label.to_string() });
        }
        _ => {}
    }
    if let Some((op, inverted, flags)) = arithmetic(&word) {
        let [to, left, right] = args[..] else { return None };
        let (to, left, right) = (Some(register(to)?), register(left)?, value(right)?);
        return Some(Op::Compute { op, to, left, right, inverted, flags });
    }
    let (base, size) =
        match word.strip_suffix('b').map(|base| (base, 1)).or(word.strip_suffix('h').map(|base| (base, 2))) {
            Some((base, size)) => (base.to_string(), Some(size)),
            None => (word.clone(), None),
        };
    let size = |data: &Arg| {
        size.unwrap_or(
            if matches!(data, Arg::Operand { narrow: true, .. } | Arg::Register { narrow: true, .. }) {
                4
            } else {
                8
            },
        )
    };
    match (base.as_str(), &args[..]) {
        ("ldr" | "ldur" | "ldar" | "ldapr" | "ldxr" | "ldaxr", [to, at]) => {
            let to = register(to)?;
            let order = match base.as_str() {
                "ldar" => Order::SeqCst,
                "ldapr" | "ldaxr" => Order::Acquire,
                _ => Order::Relaxed,
            };
            let exclusive = base.ends_with("xr");
            Some(Op::Load { size: size(&to), to, at: memory(at)?, order, exclusive })
        }
        ("str" | "stur" | "stlr", [value, at]) => {
            let value = register(value)?;
            let order = if base == "stlr" { Order::SeqCst } else { Order::Relaxed };
            Some(Op::Store { size: size(&value), value, at: memory(at)?, order })
        }
        ("stxr" | "stlxr", [status, value, at]) => {
            let value = register(value)?;
            let order = if base == "stlxr" { Order::Release } else { Order::Relaxed };
            let status = Some(register(status)?);
            Some(Op::StoreExclusive { status, size: size(&value), value, at: memory(at)?, order })
        }
        _ => atomic(&base, &args, names, &size),
    }
}

/// An atomic instruction of LSE.
fn atomic(base: &str, args: &[&str], names: &[Option<String>], size: &dyn Fn(&Arg) -> u64) -> Option<Op> {
    let (kind, rest) = ["swp", "cas", "ldadd", "ldclr", "ldeor", "ldset", "stadd", "stclr", "steor", "stset"]
        .into_iter()
        .find_map(|kind| base.strip_prefix(kind).map(|rest| (kind, rest)))?;
    let order = match rest {
        "" => Order::Relaxed,
        "a" => Order::Acquire,
        "l" => Order::Release,
        "al" => Order::SeqCst,
        _ => return None,
    };
    let register = |text: &str| register(text, names);
    let (first, to, at) = match *args {
        [first, second, at] => (register(first)?, Some(register(second)?), memory(at, names)?),
        [first, at] if kind.starts_with("st") => (register(first)?, None, memory(at, names)?),
        _ => return None,
    };
    let size = size(&first);
    let (name, inverted) = match &kind[kind.len() - 3..] {
        "cas" => return Some(Op::CompareSwap { expected: first, new: to?, at, size, order }),
        "swp" => ("__atomic_exchange_n", false),
        "add" => ("__atomic_fetch_add", false),
        "clr" => ("__atomic_fetch_and", true),
        "eor" => ("__atomic_fetch_xor", false),
        _ => ("__atomic_fetch_or", false),
    };
    Some(Op::Fetch { name, to, value: first, inverted, at, size, order })
}

/// The operation, whether its second operand is inverted, and whether flags are set.
fn arithmetic(word: &str) -> Option<(ArithOp, bool, bool)> {
    Some(match word {
        "add" => (ArithOp::Add, false, false),
        "sub" => (ArithOp::Sub, false, false),
        "subs" => (ArithOp::Sub, false, true),
        "and" => (ArithOp::And, false, false),
        "ands" => (ArithOp::And, false, true),
        "orr" => (ArithOp::Or, false, false),
        "eor" => (ArithOp::Xor, false, false),
        "bic" => (ArithOp::And, true, false),
        "orn" => (ArithOp::Or, true, false),
        "lsl" => (ArithOp::Shl, false, false),
        "lsr" => (ArithOp::Shr, false, false),
        _ => return None,
    })
}

fn flag(text: &str) -> Option<Condition> {
    Some(match text.to_ascii_lowercase().as_str() {
        "eq" => Condition::Equal,
        "ne" => Condition::NotEqual,
        "lo" | "cc" => Condition::Below,
        "hs" | "cs" => Condition::NotBelow,
        _ => return None,
    })
}

/// `%0`, `%w1`, `%x[name]`, `x9`, `w10`, `wzr`.
fn register(text: &str, names: &[Option<String>]) -> Option<Arg> {
    if let Some((number, letter)) = operand(text, names) {
        return matches!(letter, None | Some('w' | 'x'))
            .then_some(Arg::Operand { number, narrow: letter == Some('w') });
    }
    let text = text.to_ascii_lowercase();
    if matches!(text.as_str(), "xzr" | "wzr") {
        return Some(Arg::Immediate(0));
    }
    let narrow = text.starts_with('w');
    let number = text.strip_prefix(['x', 'w'])?.parse().ok().filter(|n| *n <= 30)?;
    Some(Arg::Register { number, narrow })
}

/// `%0` for an operand in memory, `[%1]`, `[%1, #8]`, `[x2]`.
fn memory(text: &str, names: &[Option<String>]) -> Option<Memory> {
    let Some(inside) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) else {
        return operand(text, names)
            .filter(|(_, letter)| letter.is_none())
            .map(|(number, _)| Memory::Operand(number));
    };
    let (base, displacement) = match inside.rsplit_once(',') {
        Some((base, displacement)) => (base, constant(displacement.trim())?),
        None => (inside, 0),
    };
    Some(Memory::Pointed(register(base.trim(), names)?, displacement))
}
