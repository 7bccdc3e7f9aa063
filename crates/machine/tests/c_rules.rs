//! The rules of C on the machines: threads that wait for ever, and mutexes that only their owner unlocks. The explorer is
//! the oracle, which finds the same in executions.

use fencepost_explore::{ModelName, Options as ExploreOptions, explore};
use fencepost_ir::bound_loops;
use fencepost_machine::{Model, Options, Verdict, check};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use std::collections::BTreeSet;

fn statement() -> impl Strategy<Value = &'static str> {
    select(vec![
        "lock(m);",
        "unlock(m);",
        "lock(m); x := x + 1; unlock(m);",
        "lock(n); lock(m); unlock(m); unlock(n);",
        "lock(m); lock(n); unlock(n); unlock(m);",
        "x := 1;",
        "y := 1;",
        "r := x;",
        "fence;",
        "while (x == 0);",
        "while (y != 1);",
        "assert(r == 0);",
        "if (r) { unlock(n); }",
        "r := fetch_add(y, 1);",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, rng_seed: RngSeed::Fixed(12), ..ProptestConfig::default() })]

    #[test]
    fn the_machine_finds_what_the_explorer_finds(
        threads in vec(vec(statement(), 1..=3), 2..=3),
        model in select(vec![(Model::Sc, ModelName::Sc), (Model::Tso, ModelName::Tso), (Model::Pso, ModelName::Pso)]),
    ) {
        let mut text = String::from("shared x, y, m, n;");
        for (i, body) in threads.iter().enumerate() {
            text += &format!(" process P{i} {{ reg r; {} }}", body.concat());
        }
        let program = fencepost_lang::parse(&text).unwrap_or_else(|e| panic!("{}\n{text}", e.message));
        let explored = explore(&bound_loops(&program, 4), &ExploreOptions::new(model.1)).expect("supported");
        prop_assert!(explored.stopped.is_none() && explored.stats.cut == 0, "{}", text);
        let kinds: BTreeSet<String> =
            explored.findings.iter().filter(|f| !f.kind.is_warning()).map(|f| format!("{:?}", f.kind)).collect();
        let mut options = Options::new(model.0);
        options.config.c = true;
        let outcome = check(&program, &options).expect("supported");
        let found = outcome.outcome.verdict == Verdict::Unsafe;
        prop_assert_eq!(found, !kinds.is_empty(), "{:?}: {:?} {:?}\n{}", model, outcome.outcome.findings, kinds, text);
        if let Some(kind) = outcome.outcome.findings.first().map(|finding| finding.kind) {
            prop_assert!(kinds.contains(&format!("{kind:?}")), "{:?}: {:?} {:?}\n{}", model, kind, kinds, text);
        }
    }
}

/// An assumption that blocks, or the end of all threads, is no deadlock.
#[test]
fn what_is_no_deadlock() {
    for (text, verdict) in [
        ("shared m; process P { lock(m); assume(0); } process Q { lock(m); unlock(m); }", Verdict::Safe),
        ("shared m; process P { lock(m); unlock(m); } process Q { lock(m); unlock(m); }", Verdict::Safe),
        ("shared m; process P { lock(m); } process Q { lock(m); unlock(m); }", Verdict::Unsafe),
    ] {
        let mut options = Options::new(Model::Tso);
        options.config.c = true;
        let program = fencepost_lang::parse(text).expect("parses");
        assert_eq!(check(&program, &options).expect("supported").outcome.verdict, verdict, "{text}");
        options.config.c = false;
        assert_eq!(check(&program, &options).expect("supported").outcome.verdict, Verdict::Safe, "{text}");
    }
}
