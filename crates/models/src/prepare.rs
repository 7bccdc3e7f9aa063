//! From a program as a front end made it to the program that an engine takes, in one place for the commands and for every
//! test that compares engines: what `check` runs and what an oracle runs may not differ by accident.
//!
//! In this order, because each step relies on the one before: weak compare-exchanges, large choices, atomic sections, the mapping
//! of the
//! target, local objects, loops.

use crate::mapping::{self, Mapping, Target};
use crate::registry::Entry;
use fencepost_diag::Diagnostic;
use fencepost_ir::nondet::{TooMany, split_choices};
use fencepost_ir::pauses::leave_out_pauses;
use fencepost_ir::sections::as_critical_sections;
use fencepost_ir::tail_calls::jump_to_oneself;
use fencepost_ir::{Ann, Instr, Language, ObjectId, Order, Program, bound_loops, globalise_locals_of_main};

/// What an engine wants of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// Atomic sections become critical sections of one lock: for engines that do not know sections.
    pub lock_sections: bool,
    /// Loops that neither spin nor count are bounded: for engines that would not end.
    pub bound_loops: bool,
    /// Local objects of a C program's `main` become global ones: for engines that know no other objects.
    pub globalise_locals: bool,
    /// Choices among many values are divided into intervals: for engines that list values.
    pub divide_choices: bool,
}

impl Form {
    /// For the explorer, and for the enumerator that checks it.
    pub const EXPLORE: Form =
        Form { lock_sections: true, bound_loops: true, globalise_locals: false, divide_choices: true };
    /// For machines, and for reductions to the SC machine.
    pub const STATES: Form =
        Form { lock_sections: false, bound_loops: false, globalise_locals: true, divide_choices: true };
}

/// What the user asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// How often the back edge of a loop is taken.
    pub unroll: u32,
    /// The words of `--mapping`.
    pub mapping: String,
    /// Whether a weak compare-exchange may fail although the values are equal.
    pub spurious: bool,
    /// Whether dependencies of the source order accesses.
    pub dependencies: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { unroll: 8, mapping: String::new(), spurious: false, dependencies: true }
    }
}

/// A program that an engine can take.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The program.
    pub program: Program,
    /// The lock that its atomic sections became, if there were any and the engine does not know them.
    pub section_lock: Option<ObjectId>,
}

/// Why a program cannot be prepared.
#[derive(Clone, Debug)]
pub enum Refused {
    /// What was asked for makes no sense.
    Options(String),
    /// The program has something that this engine cannot take.
    Program(Box<Diagnostic>),
}

/// The program as the model and the engine want it: as written under language models, as compiled under hardware models.
pub fn prepare(
    program: &Program,
    language: Language,
    model: &Entry,
    form: Form,
    options: &Options,
) -> Result<Prepared, Refused> {
    let mut program = program.clone();
    if !options.spurious {
        make_exchanges_strong(&mut program);
    }
    if language == Language::Fp && model.name == PROMISING {
        relax_plain_accesses(&mut program);
    }
    if form.divide_choices && language == Language::C {
        program = split_choices(&program).map_err(|many| Refused::Program(Box::new(too_many(&many))))?;
    }
    let mut section_lock = None;
    if form.lock_sections {
        (program, section_lock) = as_critical_sections(&program).map_err(|span| {
            let error = Diagnostic::error(span, "an atomic section within an atomic section");
            Refused::Program(Box::new(error.hint("end the first one before, or use `--engine states`")))
        })?;
    }
    if language.is_compiled() {
        program = as_compiled(program, model, options).map_err(Refused::Options)?;
    }
    if form.globalise_locals && language == Language::C {
        program = globalise_locals_of_main(&program);
    }
    if form.bound_loops {
        program = jump_to_oneself(&program);
        program = leave_out_pauses(&program);
        program = bound_loops(&program, options.unroll);
    }
    Ok(Prepared { program, section_lock })
}

/// The name of the promising semantics, whose small language has relaxed accesses and no others.
const PROMISING: &str = "ps";

/// Plain accesses are relaxed ones, so that they do not race.
fn relax_plain_accesses(program: &mut Program) {
    let relax = |ann: &mut Ann| {
        if ann.order == Order::Plain {
            ann.order = Order::Relaxed;
        }
    };
    for instr in program.functions.iter_mut().flat_map(|function| &mut function.body) {
        match instr {
            Instr::Load { ann, .. }
            | Instr::CopyLoad { ann, .. }
            | Instr::Store { ann, .. }
            | Instr::Await { ann, .. } => relax(ann),
            Instr::Rmw { read, write, .. } | Instr::AwaitRmw { read, write, .. } => {
                [read, write].into_iter().for_each(relax)
            }
            Instr::CompareExchange { read, write, failure, .. } => {
                [read, write, failure].into_iter().for_each(relax)
            }
            _ => {}
        }
    }
}

fn too_many(many: &TooMany) -> Diagnostic {
    let message = format!("a value may be any of {} here, and is used as it is", many.values);
    Diagnostic::error(many.span, message)
        .label("chosen here")
        .hint("bound it before its first use, as `__VERIFIER_assume(n >= 0 && n < 8)` does")
        .hint("comparisons with constants need no bound, and `--engine bmc` none at all")
}

fn as_compiled(program: Program, model: &Entry, options: &Options) -> Result<Program, String> {
    let Some(target) = model.target else {
        return match options.mapping.is_empty() {
            true => Ok(program),
            false => Err(format!(
                "error: --mapping is for hardware models; under {} programs are checked as written",
                model.name
            )),
        };
    };
    if !options.dependencies && options.mapping.split(',').any(|word| word == "branch") {
        return Err("error: with --deps none, the branches of --mapping branch would order nothing".into());
    }
    // Fetch operations in one piece have the same executions and far fewer failing tries.
    let default = if target == Target::Power { "fused," } else { "" };
    let choice = Mapping::parse(target, &format!("{default}{}", options.mapping))
        .map_err(|unknown| format!("error: {unknown}"))?;
    Ok(mapping::compile(&program, target, choice))
}

/// A weak compare-exchange fails only when the values differ.
fn make_exchanges_strong(program: &mut Program) {
    for instr in program.functions.iter_mut().flat_map(|f| &mut f.body) {
        if let Instr::CompareExchange { weak, .. } = instr {
            *weak = false;
        }
    }
}
