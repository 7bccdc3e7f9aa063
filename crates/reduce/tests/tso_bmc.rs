//! The reductions of TSO answered by bounded model checking: the final states of the TSO machine. Ways in different atomic
//! sections meet at every switch of rounds.

#[path = "support/mod.rs"]
mod support;

use fencepost_bmc::{Options, final_states};
use fencepost_ir::Value;
use fencepost_reduce::{Bound, reduce_tso};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::BTreeSet;

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, rng_seed: RngSeed::Fixed(5), failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn final_states_are_those_of_the_machine(a in support::sequence(), b in support::sequence()) {
        let text = support::small(&a, &b);
        let program = fencepost_lang::parse(&text).expect("a program");
        for (bound, rounds, age) in [(Bound::Rounds(1), Some(2), None), (Bound::Age(1), None, Some(1))] {
            let reduced = reduce_tso(&program, &fencepost_reduce::Options::new(bound)).expect("supported");
            let mut options = Options::default();
            options.symbolic.unroll = 4;
            let (states, cut) = final_states(&reduced, &options).expect("an answer");
            let machine: BTreeSet<Vec<Value>> = support::machine_states(&text, rounds, age).into_iter().collect();
            // More rounds than the unroll bound are never needed to reach a final state of these programs.
            prop_assert_eq!(&states, &machine, "{:?}, cut {}: {}", bound, cut, text);
        }
    }
}
