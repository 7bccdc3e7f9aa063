//! Helper functions in place of their calls, where pointers to local objects go nowhere but into such calls.

use super::MOST_INSTRUCTIONS;
use super::points::without_null_tests;
use crate::flow::forward;
use crate::private::{passed_to_calls, private_objects};
use crate::program::{Callee, Function, FunctionId, Instr, Label, Operand, Program, Reg, Rvalue};
use crate::value::Value;
use fencepost_diag::Span;
use std::collections::BTreeSet;

/// Instructions of a function that is put in place of a call.
const MOST_OF_HELPER: usize = 500;

/// Registers of one that others were put into: each state of a thread has them.
const MOST_REGISTERS: usize = 1_000;

/// The functions, each after those that it calls, unless it is called by them as well.
pub(super) fn callees_first(program: &Program) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; program.functions.len()];
    for root in 0..program.functions.len() {
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        let mut path = vec![(root, called(&program.functions[root]))];
        while let Some((f, callees)) = path.last_mut() {
            match callees.next() {
                Some(callee) if !std::mem::replace(&mut seen[callee], true) => {
                    path.push((callee, called(&program.functions[callee])));
                }
                Some(_) => {}
                None => {
                    order.push(*f);
                    path.pop();
                }
            }
        }
    }
    order
}

fn called(function: &Function) -> impl Iterator<Item = usize> {
    function.body.iter().filter_map(|instr| match instr {
        Instr::Call { callee: Callee::Function(f), .. } => Some(f.0 as usize),
        _ => None,
    })
}

/// Whether a function may call itself, through others too. A function that is called by its address may as well; then it has
/// larger frames, and that is all.
fn is_recursive(program: &Program, f: usize) -> bool {
    let mut seen = vec![false; program.functions.len()];
    let mut todo: Vec<usize> = called(&program.functions[f]).collect();
    while let Some(callee) = todo.pop() {
        if callee == f {
            return true;
        }
        if !std::mem::replace(&mut seen[callee], true) {
            todo.extend(called(&program.functions[callee]));
        }
    }
    false
}

/// The function with the helpers in it that local objects are passed to, if more of its objects are private then.
pub(super) fn with_helpers(
    program: &Program,
    f: usize,
    is_library: &dyn Fn(Span) -> bool,
) -> Option<Function> {
    let original = &program.functions[f];
    let private = |function: &Function| BTreeSet::from_iter(private_objects(function).made_by);
    let known = private(original);
    // The objects, by the instructions that make them.
    let mut wanted: BTreeSet<u32> = passed_to_calls(original).into_values().flatten().collect();
    wanted.retain(|made| !known.contains(made));
    if wanted.is_empty() || is_recursive(program, f) {
        return None;
    }
    while !wanted.is_empty() {
        let (function, moved, lost) = inlined_for(program, original, &wanted, is_library);
        let now = private(&function);
        let is_private = |made: &u32| now.contains(&moved[*made as usize]);
        if !known.iter().all(is_private) {
            return None;
        }
        let left: BTreeSet<u32> =
            wanted.iter().copied().filter(|made| is_private(made) && !lost.contains(made)).collect();
        if left == wanted {
            return Some(function);
        }
        wanted = left;
    }
    None
}

/// The function with every call inlined that a wanted object is passed to, where each of its instructions is now, and the
/// objects that are passed to what cannot be inlined.
fn inlined_for(
    program: &Program,
    original: &Function,
    wanted: &BTreeSet<u32>,
    is_library: &dyn Fn(Span) -> bool,
) -> (Function, Vec<u32>, BTreeSet<u32>) {
    let mut function = original.clone();
    let mut moved: Vec<u32> = (0..=original.body.len() as u32).collect();
    let mut lost = BTreeSet::new();
    loop {
        let mut next = None;
        for (at, passed) in passed_to_calls(&function) {
            let mut of_call =
                wanted.iter().filter(|made| passed.contains(&moved[**made as usize])).peekable();
            let Instr::Call { callee: Callee::Function(callee), .. } = function.body[at as usize] else {
                continue;
            };
            if of_call.peek().is_none() {
                continue;
            }
            if fits(program, &function, callee) {
                next = Some((at, callee));
                break;
            }
            lost.extend(of_call);
        }
        let Some((at, callee)) = next else {
            return (without_null_tests(&function).unwrap_or(function), moved, lost);
        };
        let helper = &program.functions[callee.0 as usize];
        function = inline_call(&function, at, helper, &mut moved, is_library);
    }
}

fn fits(program: &Program, into: &Function, callee: FunctionId) -> bool {
    let helper = &program.functions[callee.0 as usize];
    helper.body.len() <= MOST_OF_HELPER
        && into.body.len() + helper.body.len() <= MOST_INSTRUCTIONS
        && into.regs.len() + helper.regs.len() <= MOST_REGISTERS
        && !is_recursive(program, callee.0 as usize)
}

/// The function with a helper in place of a call; its registers come behind all others. `moved` goes along.
fn inline_call(
    function: &Function,
    call: u32,
    helper: &Function,
    moved: &mut [u32],
    is_library: &dyn Fn(Span) -> bool,
) -> Function {
    let Instr::Call { dst, args, .. } = &function.body[call as usize] else { return function.clone() };
    let base = function.regs.len() as u32;
    let assign = |dst: Reg, value: Operand| Instr::Assign { dst, value: Rvalue::Use(value) };
    let zero = Operand::Const(Value::ZERO);
    // As for a call: arguments, and zero in all else that may be used before it is set.
    let arguments = (0..helper.params).map(|i| (Reg(i), args.get(i as usize).copied().unwrap_or(zero)));
    let others = used_before_set(helper).into_iter().map(|reg| (reg, zero));
    let span = function.spans[call as usize];
    let mut inside: Vec<_> =
        arguments.chain(others).map(|(reg, value)| (assign(Reg(base + reg.0), value), span)).collect();
    // A return is an assignment, if the result is wanted, and a jump; the end of the body is a return as well.
    let length = |instr: &Instr| match instr {
        Instr::Return(_) => 1 + dst.iter().len() as u32,
        _ => 1,
    };
    let mut starts = vec![call + inside.len() as u32];
    for instr in helper.body.iter().chain([&Instr::Return(None)]) {
        starts.push(starts[starts.len() - 1] + length(instr));
    }
    let end = starts[starts.len() - 1];
    let last = helper.spans.last().copied().unwrap_or(span);
    let known = |own: Span| if is_library(own) { span } else { own };
    let spans = helper.spans.iter().copied().chain([last]).map(known);
    for (instr, span) in helper.body.iter().chain([&Instr::Return(None)]).zip(spans) {
        let mut instr = instr.clone();
        instr.rename(|reg| Reg(reg.0 + base));
        instr.for_each_label(|label| label.0 = starts[label.0 as usize]);
        match instr {
            Instr::Return(value) => {
                inside.extend(dst.map(|dst| (assign(dst, value.unwrap_or(zero)), span)));
                inside.push((Instr::Jump(Label(end)), span));
            }
            other => inside.push((other, span)),
        }
    }
    let grown = inside.len() as u32 - 1;
    let place = |old: u32| if old > call { old + grown } else { old };
    let mut new = function.clone();
    new.regs.extend(helper.regs.iter().cloned());
    new.body.iter_mut().for_each(|instr| instr.for_each_label(|label| label.0 = place(label.0)));
    let (body, spans): (Vec<Instr>, Vec<_>) = inside.into_iter().unzip();
    let at = call as usize;
    new.body.splice(at..=at, body);
    new.spans.splice(at..=at, spans);
    moved.iter_mut().for_each(|old| *old = place(*old));
    new
}

/// Registers that are no parameters and may be used before they are set: a call begins with zero in them.
fn used_before_set(function: &Function) -> BTreeSet<Reg> {
    let mut set = vec![false; function.regs.len()];
    set[..function.params as usize].fill(true);
    let both = |known: &mut Vec<bool>, other: &Vec<bool>| {
        let fewer = known.iter().zip(other).any(|(a, b)| *a && !b);
        known.iter_mut().zip(other).for_each(|(a, b)| *a &= b);
        fewer
    };
    let mut found = BTreeSet::new();
    forward(function, set, both, |_, instr, set| {
        instr.for_each_use(|reg| {
            if !set[reg.0 as usize] {
                found.insert(reg);
            }
        });
        instr.for_each_definition(|reg| set[reg.0 as usize] = true);
    });
    found
}
