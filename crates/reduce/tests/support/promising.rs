//! Machine and reduction of the promising semantics at the same bound.

#[path = "promising_programs.rs"]
mod programs;

use fencepost_answer::StopReason;
use fencepost_ir::Value;
use fencepost_machine::promising::{self, Bounds};
use fencepost_machine::search::Options as Search;
use fencepost_machine::{Model, Options, check};
use fencepost_reduce::promising::{Options as Reduction, Rule, reduce_promising, straighten};
#[allow(unused_imports)]
pub use programs::{SIX, biased, family, of_six, random, text};
use std::time::{Duration, Instant};

/// Final states.
pub type States = Vec<Vec<Value>>;

/// How long each may search; where one does not end, there is nothing to compare.
const PATIENCE: Duration = Duration::from_secs(20);

fn search() -> Search<'static> {
    Search { deadline: Some(Instant::now() + PATIENCE), ..Search::default() }
}

fn ended(outcome: &fencepost_answer::Outcome) -> bool {
    matches!(outcome.stop_reason, None | Some(StopReason::NoneWithinBounds))
}

/// The final states of machine and reduction within K and that many promises; nothing if one of them takes too long.
pub fn both_soon(text: &str, bound: u16, promises: u16) -> Option<(States, States)> {
    both_without(text, bound, promises, None)
}

/// The same with a rule of the reduction left out.
pub fn both_without(
    text: &str,
    bound: u16,
    promises: u16,
    without: Option<Rule>,
) -> Option<(States, States)> {
    let program = fencepost_lang::parse(text).expect("parses");
    let bounds = Bounds { total: Some(bound), promises: Some(promises), ..Bounds::default() };
    let options = promising::Options { bounds, search: search(), ..promising::Options::default() };
    let machine = promising::check(&program, &options).expect("supported");
    let reduction = Reduction { bound: u32::from(bound), promises: u32::from(promises), without };
    let straight = straighten(&program, 1).expect("supported");
    let reduced = reduce_promising(&straight, &reduction).expect("supported");
    // What `reduce -o` writes is what is compared.
    let written = fencepost_lang::print(&reduced).expect("the language has words for it");
    let reduced = fencepost_lang::parse(&written).expect("what was written parses");
    let options = Options { search: search(), ..Options::new(Model::Sc) };
    let translated = check(&reduced, &options).expect("supported");
    if !ended(&machine.outcome) || !ended(&translated.outcome) {
        return None;
    }
    let states = translated.final_states;
    // The small translation is solved as well.
    if promises == 0 && bound <= 1 {
        let options = fencepost_bmc::Options { symbolic: Default::default(), progress: None };
        let (solved, cut) = fencepost_bmc::final_states(&reduced, &options).expect("supported");
        assert!(!cut && solved.iter().eq(states.iter()), "{text}: solved {solved:?}, not {states:?}");
    }
    Some((machine.final_states, states))
}

/// The same; both end soon.
#[allow(dead_code)]
pub fn both(text: &str, bound: u16, promises: u16) -> (States, States) {
    both_soon(text, bound, promises).expect("both end")
}

/// The same without promises, of a program with loops, which are unrolled for the reduction; a SAT solver runs it.
#[allow(dead_code)]
pub fn both_straightened(text: &str, bound: u16, unroll: u32) -> (States, States) {
    let program = fencepost_lang::parse(text).expect("parses");
    let bounds = Bounds { total: Some(bound), promises: Some(0), ..Bounds::default() };
    let options = promising::Options { bounds, ..promising::Options::default() };
    let machine = promising::check(&program, &options).expect("supported").final_states;
    let straight = straighten(&program, unroll).expect("supported");
    let reduction = Reduction { bound: u32::from(bound), promises: 0, without: None };
    let reduced = reduce_promising(&straight, &reduction).expect("supported");
    let options = fencepost_bmc::Options { symbolic: Default::default(), progress: None };
    let (solved, _) = fencepost_bmc::final_states(&reduced, &options).expect("supported");
    (machine, solved.into_iter().collect())
}

/// An error if machine and reduction differ at a bound; false if one of them takes too long.
pub fn agrees_soon(text: &str, bound: u16, promises: u16) -> Result<bool, String> {
    let Some((machine, reduced)) = both_soon(text, bound, promises) else { return Ok(false) };
    if machine == reduced {
        return Ok(true);
    }
    let missing: Vec<_> = machine.iter().filter(|state| !reduced.contains(state)).collect();
    let extra: Vec<_> = reduced.iter().filter(|state| !machine.contains(state)).collect();
    Err(format!(
        "{text}\nK = {bound}, {promises} promises: the reduction misses {missing:?}, and has too many {extra:?}"
    ))
}

/// An error if machine and reduction differ at a bound, or one of them takes too long.
#[allow(dead_code)]
pub fn agrees_at(text: &str, bound: u16, promises: u16) -> Result<(), String> {
    match agrees_soon(text, bound, promises)? {
        true => Ok(()),
        false => Err(format!("{text}\nK = {bound}, {promises} promises: takes too long")),
    }
}

/// An error if machine and reduction differ at one of the bounds.
#[allow(dead_code)]
pub fn agrees(text: &str, most: u16) -> Result<(), String> {
    (0..=most)
        .try_for_each(|bound| (0..=bound.min(2)).try_for_each(|promises| agrees_at(text, bound, promises)))
}
