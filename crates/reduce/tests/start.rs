//! Starting the threads of `main` at once changes no final state and no verdict; the machine on the program as it was is
//! the oracle.

use fencepost_ir::Value;
use fencepost_machine::{Model, Options, Verdict, check};
use fencepost_reduce::start_at_once;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

fn answer(program: &fencepost_ir::Program, model: Model) -> (Verdict, Vec<Vec<Value>>) {
    let outcome = check(program, &Options::new(model)).expect("supported");
    let states = if outcome.outcome.verdict == Verdict::Unsafe { Vec::new() } else { outcome.final_states };
    (outcome.outcome.verdict, states)
}

fn of_main() -> impl Strategy<Value = &'static str> {
    select(vec![
        "x := 1;",
        "y := r;",
        "r := x;",
        "own := r + 1;",
        "r := own;",
        "a[r & 1] := 2;",
        "fence;",
        "t := spawn w(1);",
        "t := spawn w(r);",
        "spawn w(own);",
        "p := &own; [p] := 3;",
        "q := &x;",
        "r := *;",
        "if (r) { x := 3; } else { spawn w(2); }",
        "join t;",
        "r := 0; while (r < 2) { spawn w(r); r := r + 1; }",
        "assert(y != 3);",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, rng_seed: RngSeed::Fixed(3), ..ProptestConfig::default() })]

    #[test]
    fn the_start_makes_no_difference(
        main in vec(of_main(), 1..=5),
        worker in select(vec!["x := v;", "y := x + v;", "r := y; x := r + 1;", "r := q; if (r) { [r] := 5; } x := v;", ""]),
    ) {
        let text = format!(
            "shared x, y, own, a[2], q: w64; procedure w(v) {{ reg r; {worker} }} \
             main M {{ reg r, t, p; {} }} observe x, y, own, a[0], a[1], M.r; exists true;",
            main.concat()
        );
        let program = fencepost_lang::parse(&text).unwrap_or_else(|e| panic!("{}\n{text}", e.message));
        let started = start_at_once(&program);
        for model in [Model::Sc, Model::Tso] {
            prop_assert_eq!(answer(&started, model), answer(&program, model), "{:?}\n{}", model, text);
        }
    }
}

#[test]
fn threads_in_an_array_run_from_the_start() {
    let text = "shared x; procedure w(v) { x := v; } \
                main M { reg i, t; i := 0; while (i < 2) { t := spawn w(i); i := i + 1; } join t; }";
    let started = start_at_once(&fencepost_lang::parse(text).expect("parses"));
    assert_eq!(started.threads.len(), 3);
    assert_eq!(started.threads[2].args, [Value(1)]);
    let spawns =
        |f: &fencepost_ir::Function| f.body.iter().any(|i| matches!(i, fencepost_ir::Instr::Spawn { .. }));
    assert!(!started.functions.iter().any(spawns));
}
