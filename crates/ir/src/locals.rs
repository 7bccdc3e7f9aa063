//! Local objects of `main` as global objects.
//!
//! `main` runs once, so an object that it makes outside loops and whose life does not end exists once; nothing tells it
//! from a global one, unless `main` may end as a thread (`pthread_exit`) and its objects with it. Engines that have no objects
//! made at run time can then run the usual C program, whose `main` keeps
//! its threads in an array.

use crate::program::{Callee, FunctionId, Instr, ObjectId, Operand, Program, Rvalue};
use crate::value::Value;

/// The program with the local objects of its first thread's function as global ones, where that function runs once and
/// the object is made at most once and never ends; the others stay as they are.
pub fn globalise_locals_of_main(program: &Program) -> Program {
    let mut program = program.clone();
    let Some(main) = program.threads.first().map(|thread| thread.function) else { return program };
    let again = program.threads.iter().filter(|thread| thread.function == main).count() > 1;
    if again
        || may_exit(&program, main)
        || program.functions.iter().flat_map(|f| &f.body).any(|instr| may_run(instr, main))
    {
        return program;
    }
    let mut body = std::mem::take(&mut program.functions[main.0 as usize].body);
    let in_loop: Vec<bool> = (0..body.len()).map(|at| is_in_loop(&body, at as u32)).collect();
    let ends = |instr: &Instr| match instr {
        Instr::EndLocal(Operand::Reg(reg)) => Some(*reg),
        _ => None,
    };
    let ended: Vec<_> = body.iter().filter_map(ends).collect();
    for (at, instr) in body.iter_mut().enumerate() {
        if let Instr::Local { dst, object, .. } = instr
            && !in_loop[at]
            && !ended.contains(dst)
        {
            let pointer = Value::pointer(ObjectId(program.objects.len() as u32), 0);
            program.objects.push((**object).clone());
            *instr = Instr::Assign { dst: *dst, value: Rvalue::Use(Operand::Const(pointer)) };
        }
    }
    program.functions[main.0 as usize].body = body;
    program
}

/// Whether the function, or one that it calls, may end the thread.
fn may_exit(program: &Program, function: FunctionId) -> bool {
    let count = program.functions.len() as u32;
    let mut reached = vec![false; count as usize];
    let mut todo = vec![function.0];
    while let Some(at) = todo.pop() {
        if std::mem::replace(&mut reached[at as usize], true) {
            continue;
        }
        for instr in &program.functions[at as usize].body {
            match instr {
                Instr::Exit(_) => return true,
                Instr::Call { callee: Callee::Function(target), .. } => todo.push(target.0),
                Instr::Call { callee: Callee::Pointer(_), .. } => todo.extend(0..count),
                _ => {}
            }
        }
    }
    false
}

/// Whether an instruction may run the function: calls and spawns it, or a pointer that might be it.
fn may_run(instr: &Instr, function: FunctionId) -> bool {
    match instr {
        Instr::Call { callee, .. } | Instr::Spawn { callee, .. } => match callee {
            Callee::Function(target) => *target == function,
            Callee::Pointer(Operand::Const(value)) => value.as_function() == Some(function),
            Callee::Pointer(_) => true,
        },
        _ => false,
    }
}

/// Whether a jump from behind an instruction may lead to it or before it.
fn is_in_loop(body: &[Instr], at: u32) -> bool {
    body.iter().skip(at as usize).any(|instr| match instr {
        Instr::Jump(target) => target.0 <= at,
        Instr::Branch { then_to, else_to, .. } => then_to.0 <= at || else_to.0 <= at,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Function, Label, Object, Thread, Width};
    use fencepost_diag::Span;

    fn program(looping: bool, ending: bool) -> Program {
        let mut main = Function::default();
        let dst = main.new_reg("p");
        let object = Box::new(Object::scalar("x", Width::W32, Value(1), Span::default()));
        main.push(Instr::Local { dst, object, private: false }, Span::default());
        if ending {
            main.push(Instr::EndLocal(Operand::Reg(dst)), Span::default());
        }
        if looping {
            main.push(Instr::Jump(Label(0)), Span::default());
        }
        let threads = vec![Thread { name: "main".into(), function: FunctionId(0), args: Vec::new() }];
        Program { functions: vec![main], threads, ..Program::default() }
    }

    #[test]
    fn an_object_that_is_made_once_becomes_global() {
        let result = globalise_locals_of_main(&program(false, false));
        assert_eq!(result.objects.len(), 1);
        assert!(matches!(result.functions[0].body[0], Instr::Assign { .. }));
    }

    #[test]
    fn an_object_of_a_loop_or_with_an_end_stays_local() {
        for (looping, ending) in [(true, false), (false, true)] {
            assert_eq!(globalise_locals_of_main(&program(looping, ending)), program(looping, ending));
        }
    }
}
