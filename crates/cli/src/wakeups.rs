//! Waits that end without a signal. They are left out of an exploration because they multiply it, and hardly a test wants them;
//! but
//! a program that is right only without them is wrong. So what is safe without them is explored with them for a little while, and
//! the
//! answer says what came of that.

use crate::args::{CheckArgs, EngineChoice};
use crate::check::INTERRUPT;
use crate::engine::{self, Fit, Question};
use crate::input::Trouble;
use crate::within;
use fencepost_answer::{FindingKind, Outcome, Verdict};
use fencepost_diag::SourceFile;
use fencepost_ir::{Compiled, LeftOut};
use fencepost_models::registry::Entry;
use std::time::Instant;

/// How many visited graphs are little.
const LITTLE: u64 = 50_000;

/// Looks whether a safe program stays safe: a warning if not; if all was explored and nothing found, the answer holds with them.
pub fn recheck(
    file: &SourceFile,
    compiled: &Compiled,
    model: &'static Entry,
    options: &CheckArgs,
    start: Instant,
    outcome: &mut Outcome,
) -> Result<(), Trouble> {
    if outcome.verdict != Verdict::Safe
        || !compiled.left_out.contains(&LeftOut::WakeUps)
        || is_narrow(options)
    {
        return Ok(());
    }
    // Only the front end is asked for them: weak exchanges that fail for nothing are another matter.
    let asked = CheckArgs { spurious: true, ..options.clone() };
    let Ok(with) = within::compile(file, model, &asked, start)? else { return Ok(()) };
    let options = CheckArgs { quiet: true, all: false, ..options.clone() };
    let name = file.name.as_str();
    let question = Question {
        file: name,
        compiled: &with,
        model,
        options: &options,
        start,
        until: None,
        interrupt: &INTERRUPT,
        work: Some(LITTLE),
    };
    let explore =
        engine::find("explore").filter(|explore| matches!(explore.fit(&question), Fit::Takes { .. }));
    let Some(explore) = explore else { return Ok(()) };
    // What cannot be explored with them stays as it was answered without.
    let Ok(mut second) = explore.run(&question) else { return Ok(()) };
    match second.verdict {
        Verdict::Unknown => {}
        Verdict::Safe if second.bounds == outcome.bounds => {
            outcome.assumes.retain(|assumed| assumed != LeftOut::WakeUps.name());
        }
        Verdict::Safe => {}
        Verdict::Unsafe => {
            let wrong = second.findings.iter().position(|finding| !finding.kind.is_warning());
            if let Some(wrong) = wrong {
                let mut finding = second.findings.swap_remove(wrong);
                finding.message = format!("{}: {}", FindingKind::NeedsSignal.message(), finding.message);
                finding.kind = FindingKind::NeedsSignal;
                outcome.findings.push(finding);
                outcome.explanations.resize_with(outcome.findings.len() - 1, Default::default);
                let explanation =
                    (wrong < second.explanations.len()).then(|| second.explanations.swap_remove(wrong));
                outcome.explanations.push(explanation.unwrap_or_default());
            }
        }
    }
    Ok(())
}

/// Whether the question is about one exploration, or about another engine.
fn is_narrow(options: &CheckArgs) -> bool {
    let named = matches!(&options.engine, EngineChoice::Named(name) if name != "explore");
    named || options.outlive.asks().is_some()
}
