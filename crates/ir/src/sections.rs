//! Atomic sections as critical sections of one lock.
//!
//! For programs that access what a section accesses in sections only, or before and after all else, that is the same: no
//! section can tell whether another thread runs between its steps unless they share memory. Whoever uses this must look
//! for accesses that break the rule; with a memory model that is not sequentially consistent there is no better meaning.

use crate::program::{Callee, Function, Instr, Object, ObjectId, Operand, Program, Width};
use crate::value::Value;
use fencepost_diag::Span;

/// The program with a lock around its sections, and the lock; none if there are no sections. The error is the place of a
/// section within a section.
pub fn as_critical_sections(program: &Program) -> Result<(Program, Option<ObjectId>), Span> {
    let has_section = |f: &Function| f.body.iter().any(|instr| matches!(instr, Instr::AtomicBegin));
    if !program.functions.iter().any(has_section) {
        return Ok((program.clone(), None));
    }
    let entering = functions_that_enter(program);
    for function in &program.functions {
        if let Some(at) = nested(function, &entering) {
            return Err(function.spans[at]);
        }
    }
    let mut program = program.clone();
    let lock = ObjectId(program.objects.len() as u32);
    program.objects.push(Object::scalar("atomic section", Width::W32, Value::ZERO, Span::default()));
    let address = Operand::Const(Value::pointer(lock, 0));
    for instr in program.functions.iter_mut().flat_map(|f| &mut f.body) {
        match instr {
            Instr::AtomicBegin => *instr = Instr::Lock(address),
            Instr::AtomicEnd => *instr = Instr::Unlock(address),
            _ => {}
        }
    }
    Ok((program, Some(lock)))
}

/// For each function, whether it may begin a section, itself or by calls.
fn functions_that_enter(program: &Program) -> Vec<bool> {
    let mut enters = vec![false; program.functions.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (i, function) in program.functions.iter().enumerate() {
            if !enters[i] && function.body.iter().any(|instr| may_enter(instr, &enters)) {
                enters[i] = true;
                changed = true;
            }
        }
    }
    enters
}

fn may_enter(instr: &Instr, enters: &[bool]) -> bool {
    match instr {
        Instr::AtomicBegin => true,
        Instr::Call { callee: Callee::Function(f), .. } => enters[f.0 as usize],
        Instr::Call { callee: Callee::Pointer(_), .. } => enters.contains(&true),
        _ => false,
    }
}

/// An instruction that may begin a section while another one lasts.
fn nested(function: &Function, entering: &[bool]) -> Option<usize> {
    let begins = (0..function.body.len()).filter(|&at| matches!(function.body[at], Instr::AtomicBegin));
    let mut inside = vec![false; function.body.len()];
    let mut work: Vec<u32> = begins.map(|at| at as u32 + 1).collect();
    while let Some(at) = work.pop() {
        let Some(instr) = function.body.get(at as usize) else { continue };
        if !matches!(instr, Instr::AtomicEnd) && !std::mem::replace(&mut inside[at as usize], true) {
            work.extend(instr.successors(at));
        }
    }
    (0..function.body.len()).find(|&at| inside[at] && may_enter(&function.body[at], entering))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::FunctionId;

    fn program(bodies: Vec<Vec<Instr>>) -> Program {
        let function = |body: Vec<Instr>| {
            let spans = (0..body.len()).map(|i| Span::new(i, i + 1)).collect();
            Function { name: "f".into(), body, spans, ..Function::default() }
        };
        Program { functions: bodies.into_iter().map(function).collect(), ..Program::default() }
    }

    #[test]
    fn sections_take_one_lock() {
        let (locked, lock) = as_critical_sections(&program(vec![vec![Instr::AtomicBegin, Instr::AtomicEnd]]))
            .expect("not nested");
        assert_eq!(lock, Some(ObjectId(0)));
        assert!(matches!(locked.functions[0].body[..], [Instr::Lock(_), Instr::Unlock(_)]));
        assert_eq!(as_critical_sections(&program(vec![vec![Instr::Halt]])).expect("none").1, None);
    }

    #[test]
    fn a_section_within_a_section_is_found() {
        let call = || Instr::Call { dst: None, callee: Callee::Function(FunctionId(1)), args: Vec::new() };
        let inner = vec![Instr::AtomicBegin, Instr::AtomicEnd];
        let nested = program(vec![vec![Instr::AtomicBegin, call(), Instr::AtomicEnd], inner.clone()]);
        assert_eq!(as_critical_sections(&nested), Err(Span::new(1, 2)));
        let apart = program(vec![vec![Instr::AtomicBegin, Instr::AtomicEnd, call()], inner]);
        assert!(as_critical_sections(&apart).is_ok());
    }
}
