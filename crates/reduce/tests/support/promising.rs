//! Machine and reduction of the promising semantics at the same bound.

#[path = "promising_programs.rs"]
mod programs;

use fencepost_ir::Value;
use fencepost_machine::promising::{self, Bounds};
use fencepost_machine::{Model, Options, check};
use fencepost_reduce::promising::{Options as Reduction, reduce_promising, straighten};
#[allow(unused_imports)]
pub use programs::{family, random, text};

/// The final states of machine and reduction within K.
pub fn both(text: &str, bound: u16, promises: bool) -> (Vec<Vec<Value>>, Vec<Vec<Value>>) {
    let program = fencepost_lang::parse(text).expect("parses");
    let limit = if promises { None } else { Some(0) };
    let bounds = Bounds { total: Some(bound), promises: limit, ..Bounds::default() };
    let options = promising::Options { bounds, ..promising::Options::default() };
    let machine = promising::check(&program, &options).expect("supported").final_states;
    let reduced =
        reduce_promising(&program, &Reduction { bound: u32::from(bound), promises }).expect("supported");
    // What `reduce -o` writes is what is compared.
    let written = fencepost_lang::print(&reduced).expect("the language has words for it");
    let reduced = fencepost_lang::parse(&written).expect("what was written parses");
    let states = check(&reduced, &Options::new(Model::Sc)).expect("supported").final_states;
    // The small translation is solved as well.
    if !promises && bound <= 1 {
        let options = fencepost_bmc::Options { symbolic: Default::default(), progress: None };
        let (solved, cut) = fencepost_bmc::final_states(&reduced, &options).expect("supported");
        assert!(!cut && solved.iter().eq(states.iter()), "{text}: solved {solved:?}, not {states:?}");
    }
    (machine, states)
}

/// The same without promises, of a program with loops, which are unrolled for the reduction; a SAT solver runs it.
#[allow(dead_code)]
pub fn both_straightened(text: &str, bound: u16, unroll: u32) -> (Vec<Vec<Value>>, Vec<Vec<Value>>) {
    let program = fencepost_lang::parse(text).expect("parses");
    let bounds = Bounds { total: Some(bound), promises: Some(0), ..Bounds::default() };
    let options = promising::Options { bounds, ..promising::Options::default() };
    let machine = promising::check(&program, &options).expect("supported").final_states;
    let straight = straighten(&program, unroll).expect("supported");
    let reduction = Reduction { bound: u32::from(bound), promises: false };
    let reduced = reduce_promising(&straight, &reduction).expect("supported");
    let options = fencepost_bmc::Options { symbolic: Default::default(), progress: None };
    let (solved, _) = fencepost_bmc::final_states(&reduced, &options).expect("supported");
    (machine, solved.into_iter().collect())
}

/// An error if machine and reduction differ at a bound.
pub fn agrees(text: &str, most: u16) -> Result<(), String> {
    for bound in 0..=most {
        for promises in [false, true] {
            let (machine, reduced) = both(text, bound, promises);
            if machine != reduced {
                let missing: Vec<_> = machine.iter().filter(|state| !reduced.contains(state)).collect();
                let extra: Vec<_> = reduced.iter().filter(|state| !machine.contains(state)).collect();
                return Err(format!(
                    "{text}\nK = {bound}, promises {promises}: the reduction misses {missing:?}, and has too many {extra:?}"
                ));
            }
        }
    }
    Ok(())
}
