//! One try of a load- and store-exclusive with an assumption gives the final states that a loop gives.

use crate::directed::{SHAPES, fill};
use crate::soundness::Random;
use crate::support::{explored, model, program, states};
use fencepost_ir::{Ann, Instr, Label, Program, bound_loops};
use fencepost_models::mapping::{Mapping, Target, compile};

/// The loop that machine code has: a failed store-exclusive goes back to the load-exclusive.
fn with_retries(compiled: &Program) -> Program {
    let mut program = compiled.clone();
    for function in &mut program.functions {
        let mut load = Label(0);
        for at in 0..function.body.len() {
            let next = Label(at as u32 + 1);
            match function.body[at] {
                Instr::Load { ann: Ann { exclusive: true, .. }, .. } => load = Label(at as u32),
                Instr::Assume(condition) => {
                    function.body[at] = Instr::Branch { condition, then_to: next, else_to: load };
                }
                _ => {}
            }
        }
    }
    program
}

#[test]
fn retries_add_no_final_state() {
    let mut random = Random(7);
    for (target, words) in [(Target::Power, "leading-sync"), (Target::Armv8, "llsc")] {
        let mapping = Mapping::parse(target, words).expect("a mapping");
        let (mut compared, mut retried) = (0, 0);
        for (name, shape) in SHAPES.iter().filter(|(_, shape)| !shape.contains("lock")).cycle().take(400) {
            let text = fill(shape, &mut random);
            let once = compile(&program(&text), target, mapping);
            let looping = with_retries(&once);
            if looping == once {
                continue;
            }
            compared += 1;
            retried += usize::from(looping != bound_loops(&looping, 1));
            let expected = states(&once, model(target));
            assert_eq!(states(&bound_loops(&looping, 1), model(target)), expected, "{name}: {text}");
        }
        assert!(compared > 100 && retried == compared, "{compared} programs have a loop");
    }
}

#[test]
fn fused_operations_have_the_same_executions() {
    let mut random = Random(8);
    for (name, shape) in SHAPES.iter().filter(|(_, shape)| !shape.contains("lock")).cycle().take(2000) {
        let source = program(&fill(shape, &mut random));
        let of = |words| {
            let mapping = Mapping::parse(Target::Power, words).expect("a mapping");
            let found = explored(&compile(&source, Target::Power, mapping), model(Target::Power));
            (found.states, found.stats.executions)
        };
        assert_eq!(of("fused"), of("split"), "{name}: {}", source.name);
    }
}
