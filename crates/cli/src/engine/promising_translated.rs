//! The translation of the promising semantics to SC: what `fencepost reduce -m ps` writes, and `--engine reduce --backend`
//! checks.

use super::promising::{FORM, MODEL};
use super::states::{search, with_limits};
use super::{Question, promising_encoding};
use crate::args::Backend;
use crate::input::Trouble;
use fencepost_answer::{Bound, BoundName, Outcome, StopReason, Verdict};
use fencepost_ir::{Instr, Language, Program};
use fencepost_machine::promising::Consistency;
use fencepost_machine::promising::prepare::has_updates;
use fencepost_machine::{Config, Model, Options, find};
use fencepost_models::prepare::Form;
use fencepost_reduce::promising::{Options as Reduction, straighten};
use fencepost_reduce::sequential::{Contexts, Sequential, print_as_it_is};
use fencepost_reduce::{Unsupported, reduce_promising};

/// K of a translated program if the user names none: it grows fast.
pub const DEFAULT_BOUND: u16 = 4;

/// A translated program.
pub struct Translated {
    /// The SC program.
    pub program: Program,
    /// Its bounds.
    pub bounds: Reduction,
    /// A loop was cut off.
    cut: bool,
    /// SC fences of all threads.
    fences: u32,
}

/// Translates the program of a question.
pub fn translate(
    question: &Question<'_>,
    bound: Option<u16>,
    promises: Option<u16>,
    unroll: u32,
) -> Result<Translated, Trouble> {
    let bound = u32::from(bound.unwrap_or(DEFAULT_BOUND));
    let promises = u32::from(promises.unwrap_or(promising_encoding::DEFAULT_PROMISES)).min(bound);
    let bounds = Reduction { bound, promises, without: None };
    let refuse = |e: Unsupported| {
        let error = fencepost_diag::Diagnostic::error(e.span, format!("{} cannot be reduced", e.what));
        Trouble::about(&question.compiled.sources, error)
    };
    let prepared = question.prepare(Form { bound_loops: false, ..FORM })?;
    let straight = straighten(&prepared.program, unroll).map_err(refuse)?;
    let count = |wanted: &dyn Fn(&Instr) -> bool| {
        straight.functions.iter().flat_map(|function| &function.body).filter(|instr| wanted(instr)).count()
    };
    let (cuts, fences) =
        (count(&|instr| matches!(instr, Instr::Cut)), count(&|instr| matches!(instr, Instr::Fence(_))));
    let program = reduce_promising(&straight, &bounds).map_err(refuse)?;
    Ok(Translated { program, bounds, cut: cuts > 0, fences: fences as u32 })
}

impl Translated {
    /// As sequential C. Threads are let on once each, and once more for each promise, view switch and fence.
    pub fn sequential(&self, question: &Question<'_>, contexts: Option<u32>) -> Result<Sequential, Trouble> {
        let more = self.bounds.bound + self.fences;
        let contexts = contexts.map_or(Contexts::BesideThreads(more), Contexts::Total);
        print_as_it_is(&self.program, contexts).map_err(|e| question.refuse(&e.what, e.span))
    }
}

/// Checks the translated program with the back end that was asked for. The run of what goes wrong is that of the encoding.
pub fn run(question: &Question<'_>) -> Result<Outcome, Trouble> {
    let options = question.options;
    if options.views.is_some() {
        return Err("error: --views is for the direct encoding of ps, not for --backend".to_string().into());
    }
    if options.consistency == Consistency::Standard && has_updates(&question.compiled.program) {
        let why = "error: the translated program has strong consistency of promises";
        return Err(format!("{why}\n  without --backend, --consistency standard is answered").into());
    }
    let translated = translate(question, options.bound, options.promises, options.unroll)?;
    let mut contexts = None;
    let outcome = match options.backend {
        Backend::States => {
            let settings = Options { config: Config::new(Model::Sc), search: search(question) };
            let found = find(&translated.program, &settings).map_err(|e| question.refuse(&e.what, e.span))?;
            found.0.outcome
        }
        Backend::Bmc => super::bmc::reduced(question, &translated.program)?.0,
        Backend::Cbmc => {
            let printed = translated.sequential(question, None)?;
            contexts = printed.contexts;
            super::cbmc::run(question, &printed, 1)?
        }
    };
    let mut outcome = match outcome.verdict {
        Verdict::Unsafe => return confirmed(question, &translated.bounds),
        _ => outcome,
    };
    if outcome.verdict == Verdict::Safe && !question.compiled.program.asks_for_a_state() {
        outcome.bounds = vec![
            Bound::new(BoundName::Promising, translated.bounds.bound),
            Bound::new(BoundName::Promises, translated.bounds.promises),
        ];
        outcome.bounds.extend(contexts.map(|contexts| Bound::new(BoundName::Contexts, contexts)));
        if translated.cut {
            outcome.bounds.push(Bound::new(BoundName::Unroll, options.unroll));
        }
    }
    outcome.assumes.extend(super::promising::assumptions(question, &question.compiled.program));
    outcome.checks = (question.compiled.language == Language::C).then_some("assertions");
    Ok(with_limits(outcome, question))
}

/// Something is wrong with the translated program, or a state that is asked for is not there: the encoding says what, within the
/// same bounds.
fn confirmed(question: &Question<'_>, bounds: &Reduction) -> Result<Outcome, Trouble> {
    let mut options = question.options.clone();
    (options.bound, options.promises) = (Some(bounds.bound as u16), Some(bounds.promises as u16));
    let found = promising_encoding::by_strong_notion(&Question { options: &options, ..*question })?;
    Ok(match found.verdict {
        Verdict::Safe => {
            let why = "the translation finds something wrong, the encoding does not";
            with_limits(Outcome::unknown(StopReason::NotConfirmed(why.into())), question)
        }
        _ => found,
    })
}

/// True if the question is about the promising semantics.
pub fn is_asked(question: &Question<'_>) -> bool {
    question.model.name == MODEL
}
