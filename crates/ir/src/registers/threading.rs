//! Ways on which a condition is known go on where it leads.
//!
//! Where ways meet, what one of them knows is lost, and a branch behind that place seems to lead both ways for each. A way
//! that knows more gets a copy of the assignments up to the branch, and goes on where it goes. Known are constants and what
//! is computed of them: no load has a say in it, so the branch orders nothing and is no dependency.

use super::MOST_INSTRUCTIONS;
use crate::flow::forward;
use crate::program::{Function, Instr, Label, Operand, Reg, Rvalue};
use crate::value::Value;
use fencepost_diag::Span;

/// Instructions that a way is followed.
const MOST_STEPS: usize = 16;

/// How often ways are looked for: what one shows may be known on another then.
const ROUNDS: usize = 4;

/// The values of registers, as far as they are constant.
type Constants = Vec<Option<Value>>;

/// The function with known ways taken.
pub(super) fn threaded(mut function: Function) -> Function {
    // Copies come behind the end.
    function.push(Instr::Return(None), function.spans.last().copied().unwrap_or_default());
    for _ in 0..ROUNDS {
        if function.body.len() > MOST_INSTRUCTIONS || !thread(&mut function) {
            break;
        }
    }
    function
}

/// One round; whether anything changed.
fn thread(function: &mut Function) -> bool {
    let mut changed = false;
    for (at, known) in constants(function).into_iter().enumerate() {
        let Some(known) = known else { continue };
        let instr = function.body[at].clone();
        if let Instr::Branch { condition, then_to, else_to } = instr
            && let Some(value) = operand(&known, condition)
        {
            function.body[at] = Instr::Jump(if value.is_true() { then_to } else { else_to });
            changed = true;
        }
        let mut instr = function.body[at].clone();
        let span = function.spans[at];
        instr.for_each_label(|label| {
            if let Some(way) = known_way(function, *label, known.clone()) {
                *label = function.next_label();
                for (copy, span) in way.copied {
                    function.push(copy, span);
                }
                function.push(Instr::Jump(way.to), span);
                changed = true;
            }
        });
        function.body[at] = instr;
    }
    changed
}

/// A way that goes on where a known condition leads.
struct Way {
    copied: Vec<(Instr, Span)>,
    to: Label,
}

/// Where the way from a place leads past the last branch whose condition is known, if there is one.
fn known_way(function: &Function, from: Label, mut known: Constants) -> Option<Way> {
    let mut steps = Vec::new();
    let (mut at, mut way) = (from, None);
    for _ in 0..MOST_STEPS {
        let instr = function.body.get(at.0 as usize)?;
        match instr {
            Instr::Assign { dst, value } => {
                known[dst.0 as usize] = evaluate(&known, value);
                steps.push((instr.clone(), function.spans[at.0 as usize]));
                at.0 += 1;
            }
            Instr::Jump(to) => at = *to,
            Instr::Branch { condition, then_to, else_to } => {
                let Some(value) = operand(&known, *condition) else { break };
                at = if value.is_true() { *then_to } else { *else_to };
                way = Some((steps.len(), at));
            }
            _ => break,
        }
    }
    let (copied, to) = way?;
    steps.truncate(copied);
    Some(Way { copied: steps, to })
}

/// What is constant before each instruction that can be reached.
fn constants(function: &Function) -> Vec<Option<Constants>> {
    let mut before = vec![None; function.body.len()];
    let agree = |known: &mut Constants, other: &Constants| {
        let mut fewer = false;
        for (a, b) in known.iter_mut().zip(other) {
            if a.is_some() && a != b {
                (*a, fewer) = (None, true);
            }
        }
        fewer
    };
    forward(function, vec![None; function.regs.len()], agree, |at, instr, known| {
        if let Instr::Jump(_) | Instr::Branch { .. } = instr {
            before[at as usize] = Some(known.clone());
        }
        let value = match instr {
            Instr::Assign { value, .. } => evaluate(known, value),
            _ => None,
        };
        instr.for_each_definition(|Reg(reg)| known[reg as usize] = value);
    });
    before
}

fn operand(known: &Constants, operand: Operand) -> Option<Value> {
    match operand {
        Operand::Const(value) => Some(value),
        Operand::Reg(reg) => known[reg.0 as usize],
    }
    .filter(|value| *value != Value::UNDEFINED)
}

fn evaluate(known: &Constants, value: &Rvalue) -> Option<Value> {
    let operand = |a: Operand| operand(known, a);
    match *value {
        Rvalue::Use(a) => operand(a),
        Rvalue::Unary(op, width, extend, a) => Some(width.extend(extend, op.apply(width, operand(a)?))),
        Rvalue::Binary(op, width, extend, a, b) => {
            Some(width.extend(extend, op.apply(width, operand(a)?, operand(b)?)?))
        }
        Rvalue::Select(condition, a, b) => operand(if operand(condition)?.is_true() { a } else { b }),
    }
}
