//! `-m ps`: the promising machine behind `--engine states`.

use super::Question;
use super::states::{search, with_limits};
use crate::input::Trouble;
use fencepost_answer::{Bound, BoundName, Outcome, StopReason, Verdict};
use fencepost_ir::{Instr, Language, Value};
use fencepost_machine::promising::prepare::{has_sc_accesses, has_updates};
use fencepost_machine::promising::thread::{FenceKind, fence_kind};
use fencepost_machine::promising::{Bounds, Consistency, Options, check, deepen};
use fencepost_models::prepare::Form;

/// What the promising machine wants of a program: loops that write are bounded, because memory grows with every write.
pub const FORM: Form = Form { lock_sections: true, bound_loops: true, ..Form::STATES };

/// The name of the model.
pub const MODEL: &str = "ps";

/// The options that the promising machine honours.
pub const HONOURS: &[&str] = &["unroll", "bound", "promises", "views", "consistency", "domain"];

/// Answers on the promising machine. Without a bound on promises their number is deepened until it cuts nothing.
pub fn run(question: &Question<'_>) -> Result<Outcome, Trouble> {
    let given = question.options;
    let prepared = question.prepare(FORM)?;
    let bounds = Bounds { total: given.bound, promises: given.promises, views: given.views };
    let domain = given.domain.map(|n| (0..u64::from(n)).map(Value).collect());
    let (consistency, search) = (given.consistency, search(question));
    let options = Options { consistency, bounds, domain, search, ..Options::default() };
    let refuse = |e: fencepost_machine::Unsupported| question.refuse(&e.what, e.span);
    let mut outcome = if bounds.total.is_none() && bounds.promises.is_none() {
        let deepened = deepen(&prepared.program, &options).map_err(refuse)?;
        let mut outcome = deepened.checked.outcome;
        if let (Some(_), Some(promises)) = (&outcome.stop_reason, deepened.completed) {
            outcome.assumes.push(format!("nothing was found with at most {promises} promises"));
        }
        outcome
    } else {
        check(&prepared.program, &options).map_err(refuse)?.outcome
    };
    for bound in outcome.bounds.iter_mut().filter(|bound| bound.name == BoundName::Unroll) {
        bound.value = u64::from(given.unroll);
    }
    outcome.assumes.extend(assumptions(question, &prepared.program));
    outcome.checks = checks(question);
    Ok(with_limits(outcome, question))
}

/// What is looked for.
pub fn checks(question: &Question<'_>) -> Option<&'static str> {
    (question.compiled.language == Language::C).then_some("assertions and memory, not races")
}

/// What the answer assumes, for its scope.
pub fn assumptions(question: &Question<'_>, program: &fencepost_ir::Program) -> Vec<String> {
    let mut all = vec![match (question.options.consistency, question.options.domain) {
        (Consistency::Strong, _) => "strong consistency of promises".to_owned(),
        (Consistency::Standard, _) if !has_updates(program) => {
            "standard consistency of promises, which without read-modify-writes is the strong one".to_owned()
        }
        (Consistency::Standard, None) => {
            "standard consistency of promises, over the values that the program mentions".to_owned()
        }
        (Consistency::Standard, Some(n)) => format!("standard consistency of promises, over {n} values"),
    }];
    if has_sc_accesses(program) {
        all.push("a seq_cst access is an SC fence and an access".into());
    }
    all
}

/// What an exploration under RC11 says about the promising semantics: what goes wrong without promises goes wrong with them; that
/// nothing does is an answer only if there are to be none. The SC fences of RC11 order less than those of the machine, so
/// with them an execution need not be a run.
pub fn without_promises(question: &Question<'_>, mut outcome: Outcome) -> Outcome {
    let unsure = |why: &str| Outcome::unknown(StopReason::Unsupported(why.to_owned()));
    match (outcome.verdict, question.options.promises) {
        (Verdict::Safe, Some(0)) => outcome.bounds.push(Bound::new(BoundName::Promises, 0u32)),
        (Verdict::Safe, _) => {
            return unsure("nothing goes wrong without promises, and the explorer makes none");
        }
        (Verdict::Unsafe, _) if has_sc(&question.compiled.program) => {
            return unsure(
                "something goes wrong under RC11, whose SC fences order less than those of the promising semantics",
            );
        }
        _ => {}
    }
    outcome
}

/// True if the program has an SC fence or an SC access.
pub fn has_sc(program: &fencepost_ir::Program) -> bool {
    let fence = |instr: &Instr| matches!(instr, Instr::Fence(fence) if fence_kind(*fence) == FenceKind::Sc);
    has_sc_accesses(program) || program.functions.iter().flat_map(|function| &function.body).any(fence)
}
