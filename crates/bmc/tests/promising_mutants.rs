//! Mutants of the promising encoding: each rule is left out once, and a program of the families must notice, that is, have other
//! final states than
//! the machine, or a run that the machine does not confirm.

#[path = "support/promising.rs"]
mod support;

use fencepost_bmc::Verdict;
use fencepost_bmc::promising::Rule;
use fencepost_ir::{Instr, Order, Program};
use fencepost_machine::promising::Bounds;
use support::Compared;

/// Programs by number, of the families, with orders of their own each second time; and the shapes that random programs rarely
/// have.
fn program(index: u64) -> Program {
    let text = match index {
        0 => SPLIT.into(),
        1 => SPLIT_BY_CAS.into(),
        5 => SWITCHES.into(),
        _ if index.is_multiple_of(2) => support::of_six(index.wrapping_mul(2_654_435_761) % support::SIX),
        _ => support::biased(index),
    };
    let program = fencepost_lang::parse(&text).expect("parses");
    if index / 2 % 2 == 1 { support::with_orders(program, index) } else { program }
}

/// A promise that is split, and one that is certified by being split.
const SPLIT: &str = "shared x, y; process P { reg r0, r1; r0 := y; x := 1; r1 := fetch_add(x, 1); } \
                     process Q { reg r0; r0 := x; y := r0; } observe x, y, P.r0, P.r1, Q.r0; exists true;";
const SPLIT_BY_CAS: &str = "shared x, y; process P { reg r0, r1; r0 := y; r1 := cas(x, 0, 1); assume(r1); x := 2; } \
                            process Q { reg r0; r0 := x; y := r0; } observe x, y, P.r0, P.r1, Q.r0; exists true;";

/// A certification that switches the view.
const SWITCHES: &str = "shared x, y; process P { reg r0, r1; r0 := y; r1 := y; if (r1 == 1) { x := 1; } } \
                        process Q { reg r0; y := 1; r0 := x; y := 2; } observe x, y, P.r0, P.r1, Q.r0; exists true;";

fn bounds(index: u64) -> Bounds {
    let (total, promises) = (2 + (index % 4) as u16, 1 + (index / 4 % 2) as u16);
    Bounds { total: Some(total), promises: Some(promises), views: None }
}

/// Programs that notice, by their numbers; `FENCEPOST_MUTANTS=N` tries the first N for each rule instead.
const NOTICED_BY: &[(Rule, u64)] = &[
    (Rule::Newer, 5),
    (Rule::SlotAfterTime, 0),
    (Rule::UpdateTouches, 12),
    (Rule::OwnTimestamp, 16),
    (Rule::SettledBeforeSwitch, 16),
    (Rule::PromiseAfterTime, 0),
    (Rule::PromiseInNextSlot, 21),
    (Rule::FulfilsValue, 1),
    (Rule::CertifiesPromise, 0),
    (Rule::CertifiesStep, 0),
    (Rule::CountsCertification, 21),
    (Rule::GhostReadsByTime, 12),
    (Rule::GhostReadsNewer, 97),
    (Rule::GhostWritesLast, 171),
    (Rule::GhostUpdatesByPromise, 12),
    (Rule::GhostTouchesOthers, 20),
    (Rule::GhostFulfilsValue, 0),
];

/// Whether a program notices that the rule is missing.
fn notices(program: &Program, rule: Rule, bounds: Bounds) -> bool {
    let Some(machine) = support::by_machine(program, bounds) else { return false };
    assert_eq!(support::by_encoding(program, bounds).as_ref(), Ok(&machine), "with all rules they agree");
    support::by_encoding_without(program, bounds, Some(rule)).map_or(true, |states| states != machine)
}

#[test]
fn rules_are_noticed_by_the_families() {
    for &(rule, number) in NOTICED_BY {
        let most = std::env::var("FENCEPOST_MUTANTS").ok().and_then(|text| text.parse::<u64>().ok());
        let mut tried = most.map_or(number..number + 1, |most| 0..most);
        let noticed = tried.find(|&index| notices(&program(index), rule, bounds(index)));
        println!("{rule:?}: noticed by {noticed:?}");
        assert!(noticed.is_some(), "nobody notices that {rule:?} is missing");
    }
}

/// All loads acquire and all stores release; read-modify-writes are relaxed.
fn synchronised(text: &str) -> Program {
    let mut program = fencepost_lang::parse(text).expect("parses");
    for instr in program.functions.iter_mut().flat_map(|function| &mut function.body) {
        match instr {
            Instr::Load { ann, .. } => ann.order = Order::Acquire,
            Instr::Store { ann, .. } => ann.order = Order::Release,
            _ => {}
        }
    }
    program
}

#[test]
fn orders_are_noticed() {
    let passing = "shared x, y; process P { x := 1; y := 1; } process Q { reg a, b; a := y; b := x; } \
                   observe Q.a, Q.b; exists true;";
    let sequence = "shared x, y; process P { x := 1; y := 1; } process R { reg c; c := fetch_add(y, 1); } \
                    process Q { reg a, b; a := y; b := x; } observe Q.a, Q.b, R.c; exists true;";
    let buffering = "shared x, y; process P { reg a; a := y; x := 1; } process Q { reg b; b := x; y := b; } \
                     observe P.a, Q.b; exists true;";
    for (rule, text, promises) in [
        (Rule::Acquires, passing, 0),
        (Rule::Releases, passing, 0),
        (Rule::PassesOn, sequence, 0),
        (Rule::ReleaseFulfilsNothing, buffering, 1),
    ] {
        let bounds = Bounds { total: Some(4), promises: Some(promises), views: None };
        assert!(notices(&synchronised(text), rule, bounds), "nobody notices that {rule:?} is missing");
    }
}

/// What a certification costs when its thread leaves in between: by final states, and where the thread stays behind for good.
#[test]
fn leaving_is_noticed() {
    let text = "shared v, w, x, y, z; process P { reg a, c, e; a := y; z := a; e := v; c := w; if (c == 1) { x := 1; } } \
                process Q { reg b, d; w := 1; b := x; y := b; d := z; v := d; } observe P.e, Q.d; exists true;";
    let program = fencepost_lang::parse(text).expect("parses");
    let bounds = Bounds { total: Some(7), promises: Some(1), views: None };
    assert!(notices(&program, Rule::ReadsByTime, bounds), "nobody notices that reads go by time");
    let stays = "shared w, x, y, z; process P { reg a, c; a := y; z := a; c := w; if (c == 1) { x := 1; } } \
                 process Q { reg b, d; w := 1; b := x; y := b; d := z; assert d == 0; }";
    assert_ne!(support::check_without(stays, 5, 1, Some(Rule::LeavesAtLast)).verdict, Verdict::Safe);
    assert_eq!(support::check_without(stays, 5, 1, None).verdict, Verdict::Safe);
    assert_eq!(support::check_without(stays, 6, 1, None).verdict, Verdict::Unsafe);
}

/// A promise behind a fence is not certified in front of it.
#[test]
fn fences_are_noticed() {
    let text = "shared x, y; process P { reg a; a := y; fence; x := 1; assert a == 0; } process Q { reg b; b := x; y := b; }";
    let text = text.replace("fence; x := 1; assert a == 0;", "assert a == 0; fence; x := 1;");
    assert_ne!(support::check_without(&text, 6, 1, Some(Rule::GhostStopsAtFence)).verdict, Verdict::Safe);
    assert_eq!(support::check_without(&text, 6, 1, None).verdict, Verdict::Safe);
}

/// Values of many bits: without the rule, what is wrong is not found.
#[test]
fn large_values_are_noticed() {
    let text = "shared x, y; process P { reg a; a := x; y := 300; assert a != 300; } process Q { reg b; b := y; x := b; }";
    assert_eq!(support::check_without(text, 5, 1, None).verdict, Verdict::Unsafe);
    assert_ne!(support::check_without(text, 5, 1, Some(Rule::LargeIsWrong)).verdict, Verdict::Unsafe);
}

/// By the standard notion: a compare-exchange that succeeds whatever is there, and one that does not.
#[test]
fn futures_are_noticed() {
    let program = |expected: &str| {
        format!(
            "shared x, y; process P {{ reg a, c; a := y; c := cas(x, {expected}); assume(c); y := 1; }} \
             process Q {{ reg b; b := y; x := b; y := b; }} observe P.a, Q.b, x, y; exists true;"
        )
    };
    let other = "shared w, x, y; process P { reg a, c; a := w; c := cas(x, 0, 1); assume(c); y := 1; } \
                 process Q { reg b; b := y; w := b; } observe P.a, Q.b; exists true;";
    let always = "shared x, y; process P { reg a, c; a := x; c := cas(x, a, a); assume(c); y := 1; } \
                  process Q { reg b; b := y; x := b; } observe P.a, Q.b; exists true;";
    assert_eq!(support::standard_has_all(&program("0, 2"), 4, 1, None).map(drop), Ok(()));
    assert_eq!(support::standard_has_all(always, 5, 2, None), Ok(Compared::Agree));
    assert!(support::standard_has_all(always, 5, 2, Some(Rule::ReadsFuture)).is_err());
    assert_eq!(support::standard_has_all(other, 5, 1, None), Ok(Compared::Agree));
    assert_eq!(support::standard_has_all(other, 5, 1, Some(Rule::EveryFuture)), Ok(Compared::TooMany));
}

/// Every rule is in one of these tests.
#[test]
fn no_rule_is_forgotten() {
    let elsewhere = [
        Rule::EveryFuture,
        Rule::ReadsFuture,
        Rule::Acquires,
        Rule::Releases,
        Rule::PassesOn,
        Rule::ReleaseFulfilsNothing,
        Rule::ReadsByTime,
        Rule::LeavesAtLast,
        Rule::GhostStopsAtFence,
        Rule::LargeIsWrong,
    ];
    for rule in Rule::ALL {
        assert!(
            elsewhere.contains(&rule) || NOTICED_BY.iter().any(|(noticed, _)| *noticed == rule),
            "{rule:?}"
        );
    }
}
