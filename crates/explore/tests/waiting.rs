//! Programs that wait: putting reads off must give the executions, each once, that adding them gives, and the same answer
//! to whether some thread may wait for ever.

#[path = "support/dice.rs"]
mod dice;
#[path = "support/waits.rs"]
mod waits;

use dice::Random;
use fencepost_explore::{FindingKind, ModelName, Options, Reduction, Reductions, Trace, explore};
use fencepost_ir::{Program, bound_loops};
use std::sync::Mutex;
use waits::generate;

/// The executions, sorted; whether somebody may wait for ever; and how many graphs were blocked.
fn found(program: &Program, model: ModelName, cautious: bool, jobs: usize) -> (Vec<Trace>, bool, u64) {
    let traces = Mutex::new(Vec::new());
    let hardware = matches!(model, ModelName::Power | ModelName::Armv8);
    let visitor = |mut trace: Trace| {
        // Where events are committed out of order, a compare-exchange chooses how it ends.
        if hardware {
            trace.choices.clear();
        }
        traces.lock().expect("not poisoned").push(trace);
    };
    let restarted = || traces.lock().expect("not poisoned").clear();
    let options = Options {
        visitor: Some(&visitor),
        restarted: Some(&restarted),
        reductions: match cautious {
            true => Reductions::ALL.without(Reduction::Sleep).without(Reduction::ProgramOrder),
            false => Reductions::ALL,
        },
        jobs,
        ..Options::new(model)
    };
    let exploration = explore(program, &options).expect("supported");
    let stuck = exploration.findings.iter().any(|f| f.kind == FindingKind::Deadlock);
    let mut traces = traces.into_inner().expect("not poisoned");
    traces.sort();
    (traces, stuck, exploration.stats.blocked)
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn putting_reads_off_changes_nothing() {
    let cases = number("FENCEPOST_CASES", 400);
    let mut random = Random(number("FENCEPOST_SEED", 1));
    let (mut blocked, mut blocked_cautiously, mut stuck_programs, mut kept) = (0, 0, 0, 0);
    for case in 0..cases {
        let (program, text) = generate(&mut random);
        let program = bound_loops(&program, 3);
        for model in ModelName::ALL {
            // Every now and then several workers share the work.
            let jobs = if case % 8 == 0 { 3 } else { 1 };
            let (plain, stuck, few) = found(&program, model, false, jobs);
            let (expected, expected_stuck, many) = found(&program, model, true, 1);
            let name = model.name();
            if plain != expected {
                for t in expected.iter().filter(|t| !plain.contains(t)) {
                    eprintln!("missing {t:?}");
                }
                for t in plain.iter().filter(|t| !expected.contains(t)) {
                    eprintln!("extra {t:?}");
                }
            }
            // In program order more reads of iterations that changed nothing may be early ones, and such an iteration is kept
            // once.
            let hardware = matches!(model, ModelName::Power | ModelName::Armv8);
            if hardware && plain.len() > expected.len() {
                kept += 1;
                let mut missing = expected.iter().filter(|t| !plain.contains(t));
                assert!(missing.next().is_none(), "case {case} under {name}: executions are missing: {text}");
            } else {
                assert_eq!(plain.len(), expected.len(), "case {case} under {name}: {text}");
                assert!(plain == expected, "case {case} under {name}: other executions: {text}");
            }
            assert_eq!(stuck, expected_stuck, "case {case} under {name}: waiting for ever: {text}");
            blocked += few;
            blocked_cautiously += many;
            stuck_programs += u64::from(stuck);
        }
    }
    assert!(kept <= cases / 100, "iterations are kept in {kept} runs");
    assert!(blocked < blocked_cautiously, "{blocked} blocked, {blocked_cautiously} with caution");
    assert!(stuck_programs > cases, "threads wait for ever in only {stuck_programs} runs");
}
