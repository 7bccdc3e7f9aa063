//! Loop-free programs: the machines without bounds reach the final states that the axiomatic models allow.

mod support;

use fencepost_explore::{ModelName, Options as ExploreOptions, explore};
use fencepost_ir::{Program, Value};
use fencepost_machine::{Model, Options, Verdict, check};
use proptest::prelude::*;

const MODELS: [(Model, ModelName); 3] =
    [(Model::Sc, ModelName::Sc), (Model::Tso, ModelName::Tso), (Model::Pso, ModelName::Pso)];

fn machine_states(program: &Program, model: Model) -> Vec<Vec<Value>> {
    let outcome = check(program, &Options::new(model)).expect("supported");
    assert_eq!(outcome.outcome.verdict, Verdict::Safe);
    assert!(outcome.outcome.bounds.is_empty());
    outcome.final_states
}

fn axiomatic_states(program: &Program, model: ModelName) -> Vec<Vec<Value>> {
    let mut states = explore(program, &ExploreOptions::new(model)).expect("supported").states;
    states.sort();
    states
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, rng_seed: proptest::test_runner::RngSeed::Fixed(4),
        ..ProptestConfig::default() })]

    #[test]
    fn machines_agree_with_the_axioms(threads in support::threads(3, 4, 2)) {
        let program = support::program(&threads, 2);
        for (model, name) in MODELS {
            prop_assert_eq!(machine_states(&program, model), axiomatic_states(&program, name), "{:?}", model);
        }
    }
}

/// Store buffering: both loads read 0 under TSO and PSO, not under SC.
#[test]
fn store_buffering_tells_sc_from_tso() {
    use support::Stmt::{Load, Store};
    let program = support::program(&[vec![Store(0, 1), Load(1)], vec![Store(1, 1), Load(0)]], 2);
    let both_zero = [Value(1), Value(1), Value(0), Value(0)].to_vec();
    assert!(!machine_states(&program, Model::Sc).contains(&both_zero));
    assert!(machine_states(&program, Model::Tso).contains(&both_zero));
}

/// Message passing: the second load may read 0 only if stores overtake each other.
#[test]
fn message_passing_tells_tso_from_pso() {
    use support::Stmt::{Fence, Load, Store};
    let stale = [Value(1), Value(1), Value(1), Value(0)].to_vec();
    let program = support::program(&[vec![Store(0, 1), Store(1, 1)], vec![Load(1), Load(0)]], 2);
    assert!(!machine_states(&program, Model::Tso).contains(&stale));
    assert!(machine_states(&program, Model::Pso).contains(&stale));
    let barrier = support::program(&[vec![Store(0, 1), Fence(1), Store(1, 1)], vec![Load(1), Load(0)]], 2);
    assert!(!machine_states(&barrier, Model::Pso).contains(&stale));
}
