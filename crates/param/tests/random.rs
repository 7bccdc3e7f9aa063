//! A slice of the comparison with the explicit machine on random systems; `examples/campaign.rs` runs all of it.
#![allow(missing_docs)]

mod common;

use common::differential::{Tally, fixed_system, parameterized_system, rich_system};

#[test]
fn fixed_processes_agree_with_the_machine() {
    let mut tally = Tally::default();
    (5000..5050).for_each(|seed| fixed_system(seed, &mut tally));
    assert!(tally.differences.is_empty(), "{}", tally.differences.join("\n\n"));
    assert_eq!(tally.unknown, 0, "{}", tally.summary());
    assert!(tally.safe > 35 && tally.unsafe_ > 6, "the generator is one-sided: {}", tally.summary());
}

#[test]
fn safe_for_any_number_means_safe_for_small_instances() {
    let mut tally = Tally::default();
    (7000..7009).for_each(|seed| parameterized_system(seed, &mut tally));
    assert!(tally.differences.is_empty(), "{}", tally.differences.join("\n\n"));
    assert!(tally.safe > 5 && tally.unsafe_ > 5, "the generator is one-sided: {}", tally.summary());
}

#[test]
fn universal_guards_arithmetic_and_open_values_agree_with_the_machine() {
    let mut tally = Tally::default();
    (0..50).for_each(|seed| rich_system(seed, &mut tally));
    assert!(tally.differences.is_empty(), "{}", tally.differences.join("\n\n"));
    assert!(tally.safe > 10 && tally.unsafe_ > 8, "the generator is one-sided: {}", tally.summary());
}
