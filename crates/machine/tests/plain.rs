//! The search with everything that makes it fast (interned rows, sections in one step and looked up, symmetry) against a
//! search over the plain machine that has none of it: same verdicts, same final states.

use fencepost_ir::{Property, Value};
use fencepost_machine::buffers::{Action, Move};
use fencepost_machine::code::Code;
use fencepost_machine::local::Status;
use fencepost_machine::plain::{Plain, State};
use fencepost_machine::{Model, Options, Verdict, check};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use std::collections::{BTreeSet, HashSet};

/// All moves that could be possible somewhere; the plain machine refuses the others.
fn candidates(threads: usize) -> Vec<Move> {
    let mut all = Vec::new();
    for thread in 0..threads as u8 {
        all.extend((0..6).map(|index| Move { thread, action: Action::Flush(index) }));
        for spurious in [false, true] {
            for choice in [Value(0), Value(1)] {
                all.push(Move { thread, action: Action::Step { choice, spurious } });
            }
        }
    }
    all
}

/// Whether a thread fails somewhere, and the final states; `None` if there are too many states.
fn by_hand(text: &str, options: &Options<'_>) -> Option<(bool, Vec<Vec<Value>>)> {
    let program = fencepost_lang::parse(text).unwrap_or_else(|e| panic!("{}\n{text}", e.message));
    let Property::Final(condition) = &program.property else { panic!("a final condition") };
    let code = Code::new(&program).expect("supported");
    let plain = Plain::new(&code, &options.config);
    let mut open: Vec<State> = vec![plain.initial()];
    let mut seen: HashSet<String> = HashSet::new();
    let (mut fails, mut finals) = (false, BTreeSet::new());
    while let Some(state) = open.pop() {
        if !seen.insert(format!("{state:?}")) {
            continue;
        }
        if seen.len() > 20_000 {
            return None;
        }
        fails |= state.threads.iter().any(|local| matches!(local.status, Status::Failed(_)));
        let ended = |local: &fencepost_machine::local::Local| {
            matches!(local.status, Status::Ended(_)) && local.buffer.is_empty()
        };
        if state.threads.iter().all(ended) {
            finals.insert(plain.observed(&state, condition));
        }
        for step in candidates(state.threads.len()) {
            let mut next = state.clone();
            if plain.apply(&mut next, step).is_ok() {
                open.push(next);
            }
        }
    }
    Some((fails, finals.into_iter().collect()))
}

fn statement() -> impl Strategy<Value = &'static str> {
    select(vec![
        "x := 1;",
        "y := r + 1;",
        "r := x;",
        "r := y;",
        "fence;",
        "fence sfence;",
        "r := cas(x, 0, 2);",
        "r := *;",
        "assume(r < 2);",
        "assert(r != 3, \"r\");",
        "atomic { r := x; x := r + 1; }",
        "atomic { r := *; if (r) { x := 2; } y := r; }",
        "atomic { r := *; assume(r == y); r := *; x := x + r; }",
        "atomic { r := x; assert(r != 2, \"x\"); }",
        "atomic { r := 0; while (x == 2 && r < 2) { r := *; y := r; } }",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, rng_seed: RngSeed::Fixed(8), ..ProptestConfig::default() })]

    #[test]
    fn fast_and_plain_agree(
        p in vec(statement(), 1..=3),
        q in vec(statement(), 1..=3),
        twice in any::<bool>(),
        model in select(vec![Model::Sc, Model::Tso, Model::Pso]),
        bounds in select(vec![(None, None), (None, None), (Some(2), None), (None, Some(1))]),
    ) {
        let start = if twice { "start f(), f(), g();" } else { "start f(), g();" };
        let text = format!(
            "shared x, y; procedure f() {{ reg r; {} }} procedure g() {{ reg r; {} }} {start} \
             observe x, y; exists true;",
            p.concat(), q.concat()
        );
        let mut options = Options::new(model);
        (options.config.rounds, options.config.age) = bounds;
        if let Some((fails, finals)) = by_hand(&text, &options) {
            let program = fencepost_lang::parse(&text).expect("parses");
            let outcome = check(&program, &options).expect("supported");
            let unsafe_ = outcome.outcome.verdict == Verdict::Unsafe && !outcome.outcome.findings[0].run.is_empty();
            prop_assert_eq!(unsafe_, fails, "{:?} {:?} {}", model, bounds, text);
            if !fails {
                prop_assert_eq!(outcome.final_states, finals, "{:?} {:?} {}", model, bounds, text);
            }
        }
    }
}
