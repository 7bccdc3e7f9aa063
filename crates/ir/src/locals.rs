//! Local objects of `main` as global objects.
//!
//! `main` runs once, so an object that it makes outside loops exists once; nothing tells it from a global one. Engines
//! that have no objects made at run time can then run the usual C program, whose `main` keeps its threads in an array.

use crate::program::{Callee, FunctionId, Instr, Label, ObjectId, Operand, Program, Rvalue};
use crate::value::Value;

/// The program with the local objects of its first thread's function as global ones, where that function runs once and
/// the object is made at most once; the others stay as they are.
pub fn globalise_locals_of_main(program: &Program) -> Program {
    let mut program = program.clone();
    let Some(main) = program.threads.first().map(|thread| thread.function) else { return program };
    let again = program.threads.iter().filter(|thread| thread.function == main).count() > 1;
    if again || program.functions.iter().flat_map(|f| &f.body).any(|instr| may_run(instr, main)) {
        return program;
    }
    let mut body = std::mem::take(&mut program.functions[main.0 as usize].body);
    let in_loop: Vec<bool> = (0..body.len()).map(|at| is_in_loop(&body, at as u32)).collect();
    let mut promoted = Vec::new();
    for (at, instr) in body.iter_mut().enumerate() {
        if let Instr::Local { dst, object, .. } = instr
            && !in_loop[at]
        {
            let pointer = Value::pointer(ObjectId(program.objects.len() as u32), 0);
            program.objects.push((**object).clone());
            promoted.push(*dst);
            *instr = Instr::Assign { dst: *dst, value: Rvalue::Use(Operand::Const(pointer)) };
        }
    }
    for (at, instr) in body.iter_mut().enumerate() {
        if let Instr::EndLocal(Operand::Reg(reg)) = instr
            && promoted.contains(reg)
        {
            *instr = Instr::Jump(Label(at as u32 + 1));
        }
    }
    program.functions[main.0 as usize].body = body;
    program
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
    use crate::program::{Function, Object, Reg, Thread, Width};
    use fencepost_diag::Span;

    fn program(looping: bool) -> Program {
        let mut main = Function::default();
        let dst = main.new_reg("p");
        let object = Box::new(Object::scalar("x", Width::W32, Value(1), Span::default()));
        main.push(Instr::Local { dst, object, private: false }, Span::default());
        main.push(Instr::EndLocal(Operand::Reg(Reg(0))), Span::default());
        if looping {
            main.push(Instr::Jump(Label(0)), Span::default());
        }
        let threads = vec![Thread { name: "main".into(), function: FunctionId(0), args: Vec::new() }];
        Program { functions: vec![main], threads, ..Program::default() }
    }

    #[test]
    fn an_object_that_is_made_once_becomes_global() {
        let result = globalise_locals_of_main(&program(false));
        assert_eq!(result.objects.len(), 1);
        assert!(matches!(result.functions[0].body[0], Instr::Assign { .. }));
        assert!(matches!(result.functions[0].body[1], Instr::Jump(Label(2))));
    }

    #[test]
    fn an_object_of_a_loop_stays_local() {
        assert_eq!(globalise_locals_of_main(&program(true)), program(true));
    }
}
