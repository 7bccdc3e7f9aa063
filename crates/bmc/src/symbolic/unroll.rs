//! From a program to its unrolling: passes until what is assumed about memory is true.

use super::execute::Pass;
use super::flow::analyse;
use super::shapes::Shapes;
use super::{EventKind, Options, Unrolled};
use crate::outcome::Failed;
use fencepost_ir::{FunctionId, Instr, Program};

/// Unrolls and inlines each thread once.
pub fn unroll(program: &Program, options: &Options) -> Result<Unrolled, Failed> {
    let flows: Vec<_> = (0u32..)
        .zip(&program.functions)
        .map(|(number, function)| analyse(function, &program.observed(FunctionId(number))))
        .collect();
    let mut shapes = Shapes::default();
    shapes.frees = frees(program);
    loop {
        let mut pass = Pass::new(program, *options, &flows, &shapes)?;
        pass.run()?;
        let steps = options.max_steps - pass.steps_left;
        let writes = pass.events.iter().filter(|event| matches!(event.kind, EventKind::Write { .. })).count();
        let threads = pass.threads.iter().filter(|thread| thread.copy_of.is_none()).count() as u32;
        let known_threads = threads == shapes.threads;
        let mut memory = std::mem::take(&mut pass.memory);
        let unrolled = Unrolled {
            graph: pass.graph,
            threads: pass.threads,
            events: pass.events,
            cells: std::mem::take(&mut memory.cells),
            objects: std::mem::take(&mut memory.objects),
            merges: pass.merges,
            deps: pass.deps,
            sections: pass.sections,
            ties: pass.ties,
            faults: pass.faults,
            silent: pass.silent,
            constraints: pass.constraints,
            rounds: pass.rounds,
            passes: shapes.passes + 1,
        };
        shapes.threads = shapes.threads.max(threads);
        let good = shapes.learn(&mut memory, writes as u32 + threads, steps);
        if good && known_threads {
            return Ok(unrolled);
        }
    }
}

/// True if objects may end before the program does.
fn frees(program: &Program) -> bool {
    let ends = |instr: &Instr| matches!(instr, Instr::Free(_) | Instr::EndLocal(_));
    program.functions.iter().flat_map(|function| &function.body).any(ends)
}
