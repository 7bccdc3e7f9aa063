//! Each rule of the encoding is left out once: some small program has other final states then, so that a rule that is lost would be noticed by the comparisons with the machine.

mod support;

use fencepost_contexts::{Options, Rule, states_up_to};
use fencepost_ir::Program;
use fencepost_ir::Value;
use proptest::collection::vec;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::collections::BTreeSet;

fn states(program: &Program, without: Option<Rule>) -> Option<Vec<BTreeSet<Vec<Value>>>> {
    let options = Options { without, ..Options::new(2) };
    states_up_to(program, &options, 2..=4).ok()?.ok()
}

/// Rules that others imply in every program: leaving one out loses nothing, which was looked at by hand.
///
/// * A read without its own rule about control is committed early, but what comes after it waits for control itself.
const IMPLIED: &[Rule] = &[];

/// Programs in which certain rules matter.
const SHAPES: &[&str] = &[
    "process A { reg r, s; r := x; if (r) { skip; } fence isync; s := y; } process B { y := 1; fence sync; x := 1; }",
    "process A { reg r, s; r := x; s := y[r ^ r]; } process B { y := 1; fence lwsync; x := 1; }",
    "process A { reg r, s; r := x; y[r ^ r] := 1; s := y; } process B { reg r; r := y; x := r; }",
    "process A { x := 1; fence eieio; y := 1; } process B { reg r, s; r := y; fence lwsync; s := x; }",
    "process A { x := 1; } process B { reg r; r := x; fence lwsync; y := 1; } process C { reg r, s; r := y; s := x[r ^ r]; }",
    "process A { x := 1; fence lwsync; y := 1; } process B { reg r; r := y; y[1] := r; } process C { reg r, s; r := y[1]; s := x[r ^ r]; }",
    "process A { reg r; r := fetch_add(x, 1); } process B { reg r; r := fetch_add(x, 1); }",
    "process A { x := 1; } process B { x := 2; } process C { reg r, s; r := x; s := x; } ",
    "process A { reg r; y := 2; x := 1; fence sync; r := y; x := r; } process B { reg r; x := 1; y := 1; fence lwsync; r := y; }",
];

fn family() -> impl Iterator<Item = (String, Program)> {
    let observing = |text: &str| {
        let names = ["A", "B", "C"].into_iter().filter(|name| text.contains(&format!("process {name} ")));
        let has = |name: &str, reg: &str| {
            let body = text.split(&format!("process {name} ")).nth(1).unwrap_or_default();
            body.split('}').next().unwrap_or_default().contains(reg) && body.contains("reg")
        };
        let mut observed: Vec<String> = vec!["x[0]".into(), "x[1]".into(), "y[0]".into(), "y[1]".into()];
        for name in names {
            observed.extend(has(name, "r :=").then(|| format!("{name}.r")));
            observed.extend(has(name, "s :=").then(|| format!("{name}.s")));
        }
        let text = support::indexed(text);
        format!("shared x[2], y[2]; {text} observe {}; exists x[1] == 0;", observed.join(", "))
    };
    let shapes = SHAPES.iter().map(move |text| (text.to_string(), support::parse(&observing(text))));
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(5), ..Config::default() });
    let strategy = vec(vec(support::power_statement(), 1..=3), 2..=3);
    let random = std::iter::from_fn(move || {
        let threads = strategy.new_tree(&mut runner).ok()?.current();
        Some((format!("{threads:?}"), support::power_program(&threads)))
    });
    shapes.chain(random)
}

#[test]
fn every_rule_is_noticed() {
    let most: usize = std::env::var("FENCEPOST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
    let programs: Vec<(String, Program)> = family().take(most).collect();
    let whole: Vec<_> = programs.iter().map(|(_, program)| states(program, None)).collect();
    let mut unnoticed = Vec::new();
    for rule in Rule::ALL {
        let differs = |at: &usize| states(&programs[*at].1, Some(rule)) != whole[*at];
        match (0..programs.len()).find(differs) {
            Some(at) => println!("{rule:?}: program {at}"),
            None => unnoticed.push(rule),
        }
    }
    println!(
        "{} of {} rules are noticed; not: {unnoticed:?}",
        Rule::ALL.len() - unnoticed.len(),
        Rule::ALL.len()
    );
    assert_eq!(unnoticed, IMPLIED);
}
