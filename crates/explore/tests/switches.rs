//! Each reduction can be turned off alone, and nobody who asks for final states and findings notices.
//!
//! `FENCEPOST_CASES=5000 cargo test --release -p fencepost-explore --test switches` is the long version.

#[path = "support/dice.rs"]
mod dice;
#[path = "support/loops.rs"]
mod loops;
#[path = "support/waits.rs"]
mod waits;

use dice::Random;
use fencepost_explore::{
    Exploration, FindingKind, Limits, ModelName, Options, Reduction, Reductions, explore,
};
use fencepost_ir::{Program, Value, bound_loops};
use std::collections::BTreeSet;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn found(program: &Program, model: ModelName, reductions: Reductions) -> Option<Exploration> {
    let limits = Limits { max_nodes: Some(20_000), ..Limits::default() };
    let options = Options { reductions, limits, ..Options::new(model) };
    let found = explore(program, &options).expect("supported");
    found.stopped.is_none().then_some(found)
}

/// Final states, and the kinds of findings. Where iterations are followed up to the bound, nobody is seen to wait for ever.
fn told(found: &Exploration, follows: bool) -> (&[Vec<Value>], BTreeSet<FindingKind>) {
    let kinds = found.findings.iter().map(|finding| finding.kind);
    (&found.states, kinds.filter(|&kind| !(follows && kind == FindingKind::Deadlock)).collect())
}

/// Compares random programs with and without each reduction; how often each made a difference in the number of visits.
fn compare(cases: u64, bound: u32, generate: fn(&mut Random) -> (Program, String)) -> Vec<(Reduction, u64)> {
    let mut random = Random(number("FENCEPOST_SEED", 1));
    let mut differs: Vec<(Reduction, u64)> = Reduction::ALL.map(|reduction| (reduction, 0)).into();
    for case in 0..cases {
        let (program, text) = generate(&mut random);
        let program = bound_loops(&program, bound);
        for model in ModelName::ALL {
            let Some(all) = found(&program, model, Reductions::ALL) else { continue };
            for (reduction, differs) in &mut differs {
                // What is followed up to the bound, and no further, `tests/spinning.rs` compares.
                let follows = matches!(reduction, Reduction::Idle | Reduction::Retry);
                if follows && (all.stats.cut > 0 || all.stats.left_out > 0) {
                    continue;
                }
                let Some(one) = found(&program, model, Reductions::ALL.without(*reduction)) else { continue };
                let at = format!("case {case} under {} without {}: {text}", model.name(), reduction.name());
                assert_eq!(told(&all, follows), told(&one, follows), "{at}");
                if matches!(reduction, Reduction::EqualWork | Reduction::Tails | Reduction::Hopeless) {
                    assert_eq!(all.stats.executions, one.stats.executions, "{at}");
                }
                *differs += u64::from(all.stats.nodes != one.stats.nodes);
            }
        }
    }
    differs
}

#[test]
fn no_reduction_changes_an_answer_with_waits_and_locks() {
    let differs = compare(number("FENCEPOST_CASES", 60), 2, waits::generate);
    for reduction in [Reduction::Sleep, Reduction::ProgramOrder, Reduction::Hopeless] {
        let times = differs.iter().find(|(other, _)| *other == reduction).map_or(0, |(_, times)| *times);
        assert!(times > 0, "{reduction:?} is never used");
    }
}

#[test]
fn no_reduction_changes_an_answer_with_loops() {
    compare(number("FENCEPOST_CASES", 30), 2, loops::generate);
    compare(number("FENCEPOST_CASES", 30), 2, loops::generate_tries);
}

#[test]
fn names_are_unique_and_found_again() {
    for reduction in Reduction::ALL {
        assert_eq!(Reduction::from_name(reduction.name()), Some(reduction));
        assert!(!Reductions::ALL.without(reduction).has(reduction));
        assert!(
            Reduction::ALL
                .iter()
                .all(|&other| other == reduction || Reductions::ALL.without(reduction).has(other))
        );
    }
}
