//! What a formula has at once, nobody waits for: twelve threads that add to a counter have 479,001,600 executions.
#![cfg(feature = "sat")]

mod support;

use support::run;

#[test]
fn a_formula_answers_where_an_exploration_takes_long() {
    let text = run(&["check", "-j1", "-m", "rc20", "-D", "N=12", "crates/cli/tests/data/many_add.c"]);
    let safe = "safe (assertions, data races, memory faults, undefined arithmetic and the use of mutexes only) under rc20";
    assert!(text.contains(safe), "{text}");
    assert!(
        text.contains("engine axiom: explore, which looks for more, had not ended after ten seconds"),
        "{text}"
    );
}
