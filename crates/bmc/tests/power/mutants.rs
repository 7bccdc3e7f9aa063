//! Each rule of the encoding is left out once: some small program has other final states then, so that a rule that is lost would
//! be noticed by the comparisons with the machine. The rules of which that is not so are listed.

use super::support;
use fencepost_bmc::Limits;
use fencepost_bmc::power::{Options, Rule, states_up_to};
use fencepost_ir::Program;
use fencepost_ir::Value;
use proptest::collection::vec;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

fn states(program: &Program, without: Option<Rule>) -> Option<Vec<BTreeSet<Vec<Value>>>> {
    // Without some rules values are free, and there are more states than can be listed.
    let deadline = without.map(|_| Instant::now() + Duration::from_secs(5));
    let options = Options { without, limits: Limits { deadline, ..Limits::default() }, ..Options::new(2) };
    states_up_to(program, &options, 2..=4).ok()?.ok()
}

/// Rules that nobody notices here: others seem to imply them. They stay, because they are the machine's; a program that needs one
/// belongs into [`SHAPES`].
///
/// * When a read is committed matters to fences, which wait for all accesses anyway, and to what depends on it, which waits for
///   the branches and addresses before it itself.
/// * A store is initialised after its operands and arrives after its `eieio`s, so that its commitment may as well be early.
/// * A fence waits for all accesses, and these for the branches and fences before them.
/// * What is covered is closed under coherence, and arrives only behind what is there, so that a coherence order that is none has
///   no run.
/// * A read-modify-write has its reservation for its own cell; only a lone store-conditional has not.
const UNNOTICED: &[Rule] = &[
    Rule::ReadCommitAfterControl,
    Rule::ReadCommitAfterAddresses,
    Rule::ReadCommitAfterAddress,
    Rule::ReadCommitAfterSameCell,
    Rule::StoreAfterData,
    Rule::StoreAfterAddress,
    Rule::StoreAfterEieio,
    Rule::FenceAfterControl,
    Rule::FenceAfterFences,
    Rule::CoherenceKeepsProgramOrder,
    Rule::CoherenceIsTransitive,
    Rule::CoverKeepsProgramOrder,
    Rule::ReservedHere,
];

/// Programs in which certain rules matter.
const SHAPES: &[&str] = &[
    "process A { reg r; r := x; y := r; } process B { reg r; r := y; x := r + 1; }",
    "process A { reg r; r := x; if (r) { y := 1; } } process B { reg r; r := y; if (r) { x := 1; } else { x := 1; } }",
    "process A { reg r; r := x; y[r ^ r] := 1; } process B { reg r; r := y; x[r ^ r] := 1; }",
    "process A { reg r; r := x; y[r & 1] := 1; x[1] := 1; } process B { reg r; r := x[1]; x := r; }",
    "process A { reg r; r := x; fence sync; y := 1; } process B { reg r; r := y; fence sync; x := 1; }",
    "process A { reg r; r := x; fence lwsync; y := 1; } process B { reg r; r := y; fence lwsync; x := 1; }",
    "process A { x := 1; fence sync; y := 1; } process B { reg r, s; r := y; x[r & 1] := 5; s := x; }",
    "process A { x := 1; fence sync; y := 1; } process B { reg r, s, t; r := y; y[1] := r; s := y[1]; t := x[s ^ s]; }",
    "process A { x := 1; fence sync; y := 1; } process B { reg r, s, t; r := y; s := y[r & 1]; fence isync; t := x; }",
    "process A { x := 1; fence sync; y := 1; } process B { reg r, s; r := y; if (r) { skip; } fence isync; s := x; }",
    "process A { x := 1; fence lwsync; fence eieio; y := 1; } process B { reg r, s; r := y; if (r) { skip; } fence \
        lwsync; s := x; }",
    "process A { x := 1; x := 2; } process B { reg r, s; r := x; x := 3; s := x; } process C { reg r, s; r := x; s := x; }",
    "process A { x := 1; x := 2; } process B { x := 3; x := 4; }",
    "process A { x := 1; } process B { x := 2; } process C { x := 3; }",
    "process A { reg r; r := fetch_add(x[1], 1); x := 1; } process B { reg r, s; r := x; s := cas(x[1], 0, 1); }",
    "process A { reg r, s; r := x; if (r) { skip; } fence isync; s := y; } process B { y := 1; fence sync; x := 1; }",
    "process A { reg r, s; r := x; s := y[r ^ r]; } process B { y := 1; fence lwsync; x := 1; }",
    "process A { reg r, s; r := x; y[r ^ r] := 1; s := y; } process B { reg r; r := y; x := r; }",
    "process A { x := 1; fence eieio; y := 1; } process B { reg r, s; r := y; fence lwsync; s := x; }",
    "process A { x := 1; } process B { reg r; r := x; fence lwsync; y := 1; } process C { reg r, s; r := y; s := x[r ^ r]; }",
    "process A { x := 1; fence lwsync; y := 1; } process B { reg r; r := y; y[1] := r; } process C { reg r, s; r := \
        y[1]; s := x[r ^ r]; }",
    "process A { reg r; r := fetch_add(x, 1); } process B { reg r; r := fetch_add(x, 1); }",
    "process A { x := 1; } process B { x := 2; } process C { reg r, s; r := x; s := x; } ",
    "process A { reg r; y := 2; x := 1; fence sync; r := y; x := r; } process B { reg r; x := 1; y := 1; fence lwsync; r := y; }",
];

fn family() -> impl Iterator<Item = (String, Program)> {
    let observing = |text: &str| {
        let names = ["A", "B", "C"].into_iter().filter(|name| text.contains(&format!("process {name} ")));
        let has = |name: &str, reg: &str| {
            let body = text.split(&format!("process {name} ")).nth(1).unwrap_or_default();
            body.split("process ").next().unwrap_or_default().contains(reg)
        };
        let mut observed: Vec<String> = vec!["x[0]".into(), "x[1]".into(), "y[0]".into(), "y[1]".into()];
        for name in names {
            for reg in ["r", "s", "t"] {
                observed.extend(has(name, &format!("{reg} :=")).then(|| format!("{name}.{reg}")));
            }
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
fn rules_that_are_left_out_are_noticed() {
    let most: usize = std::env::var("FENCEPOST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(220);
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
    assert_eq!(unnoticed, UNNOTICED);
}
