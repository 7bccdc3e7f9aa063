//! The machine of the promising semantics and its encoding at the same bound.

#[path = "../../../reduce/tests/support/promising_programs.rs"]
mod programs;

use fencepost_answer::StopReason;
use fencepost_bmc::promising::{self as encoding, Ends, Run};
use fencepost_bmc::{Failed, Verdict, symbolic};
use fencepost_ir::{Ann, Fence, Instr, ObjectId, Order, Program, Value};
use fencepost_machine::promising::plan::{Planned, Replayer};
use fencepost_machine::promising::{self as machine, Bounds};
use fencepost_machine::search::Options as Search;
#[allow(unused_imports)]
pub use programs::{SIX, asserting, biased, family, of_six, random, text};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// A run of the encoding as a plan for the machine.
pub fn plan(run: &Run) -> Vec<Planned> {
    let convert = |planned: &encoding::Planned| match *planned {
        encoding::Planned::Step { thread, choice, spurious, reads, writes, fulfils } => {
            Planned::Step { thread, choice, spurious, reads, writes, fulfils }
        }
        encoding::Planned::Promise { thread, object, offset, width, value, from, to, passes_on } => {
            Planned::Promise {
                thread,
                cell: (Value::pointer(ObjectId(object), offset), width),
                value,
                from,
                to,
                passes_on,
            }
        }
    };
    run.moves.iter().map(convert).collect()
}

/// How long the machine may search; where it does not end, there is nothing to compare with.
const PATIENCE: Duration = Duration::from_secs(20);

fn machine_options(bounds: Bounds) -> machine::Options<'static> {
    let search = Search { deadline: Some(Instant::now() + PATIENCE), ..Search::default() };
    machine::Options { bounds, search, ..machine::Options::default() }
}

/// The final states of the machine within K; nothing if it does not end.
pub fn by_machine(program: &Program, bounds: Bounds) -> Option<BTreeSet<Vec<Value>>> {
    let checked = machine::check(program, &machine_options(bounds)).expect("supported");
    let ended = matches!(checked.outcome.stop_reason, None | Some(StopReason::NoneWithinBounds));
    ended.then(|| checked.final_states.into_iter().collect())
}

/// The final states of the encoding within K, or why the machine does not confirm one of its runs.
pub fn by_encoding(program: &Program, bounds: Bounds) -> Result<BTreeSet<Vec<Value>>, String> {
    by_encoding_without(program, bounds, None)
}

/// The same with a rule left out.
pub fn by_encoding_without(
    program: &Program,
    bounds: Bounds,
    without: Option<encoding::Rule>,
) -> Result<BTreeSet<Vec<Value>>, String> {
    let options = whole(bounds, without);
    let replayer = Replayer::new(program).expect("supported");
    let mut confirm = |run: &Run, _: Ends| ends_within(&replayer, run, bounds);
    encoding::final_states(program, &options, &mut confirm).expect("supported")
}

/// The whole formula for a bound.
fn whole(bounds: Bounds, without: Option<encoding::Rule>) -> encoding::Options<'static> {
    let total = usize::from(bounds.total.expect("a bound"));
    let promises = bounds.promises.map_or(total, usize::from);
    let (certify, views, narrow) = (encoding::Certify::Always, None, None);
    let bounds = encoding::Bounds { total, promises, views, certify, narrow, standard: None, without };
    encoding::Options { symbolic: symbolic::Options::default(), bounds, few: false, progress: None }
}

/// All threads end in a run of the machine, within the bound.
fn ends_within(replayer: &Replayer, run: &Run, bounds: Bounds) -> Result<(), String> {
    match replayer.replay(&plan(run), bounds) {
        Ok(replayed) if replayed.observed.is_some() => Ok(()),
        Ok(_) => Err("a thread has not ended".to_owned()),
        Err(why) => Err(format!("{why}\n{:#?}", plan(run))),
    }
}

/// An error if machine and encoding differ for any K up to `most`, with so many promises. One search of the machine and one
/// formula have all of them.
#[allow(dead_code)]
pub fn agrees_up_to(text: &str, most: u16, promises: u16) -> Result<Compared, String> {
    let program = fencepost_lang::parse(text).expect("parses");
    let bounds = Bounds { total: Some(most), promises: Some(promises), ..Bounds::default() };
    let options = machine::Options { costs: true, ..machine_options(bounds) };
    let checked = machine::check(&program, &options).expect("supported");
    if !matches!(checked.outcome.stop_reason, None | Some(StopReason::NoneWithinBounds)) {
        return Ok(Compared::Skipped);
    }
    let replayer = Replayer::new(&program).expect("supported");
    let mut confirm = |run: &Run, asked: fencepost_bmc::Asked| {
        ends_within(&replayer, run, Bounds { total: Some(asked.total as u16), ..bounds })
    };
    let totals: Vec<usize> = (0..=usize::from(most)).collect();
    let encoded = encoding::final_states_within(&program, &whole(bounds, None), &totals, &mut confirm)
        .expect("supported")
        .map_err(|why| format!("{text}\nK up to {most}, promises {promises}: {UNCONFIRMED}: {why}"))?;
    for (total, encoded) in totals.into_iter().zip(encoded) {
        let machine: BTreeSet<Vec<Value>> = checked
            .final_states
            .iter()
            .filter_map(|state| state.split_last_chunk::<2>())
            .filter(|(_, spent)| spent[0].0 + spent[1].0 <= total as u64)
            .map(|(state, _)| state.to_vec())
            .collect();
        let missing: Vec<_> = machine.difference(&encoded).collect();
        let extra: Vec<_> = encoded.difference(&machine).collect();
        if !missing.is_empty() || !extra.is_empty() {
            return Err(format!(
                "{text}\nK = {total}, promises {promises}: the encoding misses {missing:?}, and has too many {extra:?}"
            ));
        }
    }
    Ok(Compared::Agree)
}

/// By the standard notion: an error if a formula lacks a state that the machine reaches, for any K up to `most`. It may have
/// some too many, because not all future memories are looked at.
#[allow(dead_code)]
pub fn standard_has_all(
    text: &str,
    most: u16,
    promises: u16,
    without: Option<encoding::Rule>,
) -> Result<Compared, String> {
    let program = fencepost_lang::parse(text).expect("parses");
    let bounds = Bounds { total: Some(most), promises: Some(promises), ..Bounds::default() };
    let consistency = machine::Consistency::Standard;
    let options = machine::Options { costs: true, consistency, ..machine_options(bounds) };
    let checked = machine::check(&program, &options).expect("supported");
    if !matches!(checked.outcome.stop_reason, None | Some(StopReason::NoneWithinBounds)) {
        return Ok(Compared::Skipped);
    }
    let replayer = Replayer::new(&program).expect("supported").standard(None);
    let mut options = whole(bounds, without);
    options.bounds.standard = symbolic::Domain::new(replayer.domain());
    let totals: Vec<usize> = (0..=usize::from(most)).collect();
    let encoded = match encoding::final_states_within(&program, &options, &totals, &mut |_, _| Ok(())) {
        Ok(states) => states.expect("all are confirmed"),
        Err(Failed::Unsupported(refused)) if refused.what.contains("future") => {
            return Ok(Compared::Skipped);
        }
        Err(failed) => panic!("{failed:?}"),
    };
    let mut extra = false;
    for (total, encoded) in totals.into_iter().zip(encoded) {
        let within = |state: &&[Value]| {
            let spent = &state[state.len() - 2..];
            spent[0].0 + spent[1].0 <= total as u64
        };
        let all = checked.final_states.iter().map(Vec::as_slice).filter(within);
        let machine: BTreeSet<Vec<Value>> = all.map(|state| state[..state.len() - 2].to_vec()).collect();
        let missing: Vec<_> = machine.difference(&encoded).collect();
        if !missing.is_empty() {
            return Err(format!(
                "{text}\nstandard, K = {total}, promises {promises}: the encoding misses {missing:?}"
            ));
        }
        extra |= encoded.len() > machine.len();
    }
    Ok(if extra { Compared::TooMany } else { Compared::Agree })
}

/// What came of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compared {
    /// They agree.
    Agree,
    /// There is nothing to compare.
    Skipped,
    /// The formula has all, and more.
    TooMany,
}

fn compare_at(text: &str, program: &Program, bounds: Bounds) -> Result<Compared, String> {
    let Some(machine) = by_machine(program, bounds) else { return Ok(Compared::Skipped) };
    let (total, promises) = (bounds.total, bounds.promises);
    let at = format!("{text}\nK = {total:?}, promises {promises:?}");
    let encoded = by_encoding(program, bounds).map_err(|why| format!("{at}: {UNCONFIRMED}: {why}"))?;
    let missing: Vec<_> = machine.difference(&encoded).collect();
    let extra: Vec<_> = encoded.difference(&machine).collect();
    if !missing.is_empty() || !extra.is_empty() {
        return Err(format!("{at}: the encoding misses {missing:?}, and has too many {extra:?}"));
    }
    Ok(Compared::Agree)
}

/// An error if machine and encoding differ at a bound.
#[allow(dead_code)]
pub fn agrees(text: &str, most: u16, promises: &[Option<u16>]) -> Result<Compared, String> {
    let program = fencepost_lang::parse(text).expect("parses");
    for bound in 0..=most {
        for &promises in promises {
            let bounds = Bounds { total: Some(bound), promises, ..Bounds::default() };
            if compare_at(text, &program, bounds)? == Compared::Skipped {
                return Ok(Compared::Skipped);
            }
        }
    }
    Ok(Compared::Agree)
}

/// An error if machine and encoding differ at one bound.
#[allow(dead_code)]
pub fn agrees_at(text: &str, bound: u16, promises: u16) -> Result<Compared, String> {
    let program = fencepost_lang::parse(text).expect("parses");
    let bounds = Bounds { total: Some(bound), promises: Some(promises), ..Bounds::default() };
    compare_at(text, &program, bounds)
}

/// The program with release and acquire orders here and there, the same for the same seed.
#[allow(dead_code)]
pub fn with_orders(mut program: Program, seed: u64) -> Program {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut choose = |choices: [Order; 2]| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Ann::order(choices[(state >> 40) as usize % 2])
    };
    for instr in program.functions.iter_mut().flat_map(|function| &mut function.body) {
        match instr {
            Instr::Load { ann, .. } => *ann = choose([Order::Relaxed, Order::Acquire]),
            Instr::Store { ann, .. } => *ann = choose([Order::Relaxed, Order::Release]),
            Instr::Rmw { read, write, .. } => {
                (*read, *write) =
                    (choose([Order::Relaxed, Order::Acquire]), choose([Order::Relaxed, Order::Release]));
            }
            Instr::CompareExchange { read, write, failure, .. } => {
                (*read, *write) =
                    (choose([Order::Relaxed, Order::Acquire]), choose([Order::Relaxed, Order::Release]));
                *failure = choose([Order::Relaxed, Order::Acquire]);
            }
            Instr::Fence(fence) => {
                let weak = choose([Order::Release, Order::Acquire]).order;
                *fence = Fence::C11(choose([Order::SeqCst, weak]).order);
            }
            _ => {}
        }
    }
    program
}

/// An error if machine and encoding differ at one bound on the program with orders.
#[allow(dead_code)]
pub fn agrees_with_orders(text: &str, seed: u64, bound: u16, promises: u16) -> Result<Compared, String> {
    let program = with_orders(fencepost_lang::parse(text).expect("parses"), seed);
    let bounds = Bounds { total: Some(bound), promises: Some(promises), ..Bounds::default() };
    compare_at(&format!("{text} // orders {seed}"), &program, bounds)
}

/// How a difference reads that is a run that the machine does not confirm.
pub const UNCONFIRMED: &str = "a run is not confirmed";

/// What the encoding says, each run confirmed by the machine.
#[allow(dead_code)]
pub fn check(text: &str, total: u16, promises: u16) -> fencepost_bmc::Outcome<Run> {
    check_without(text, total, promises, None)
}

/// The same with a rule left out.
#[allow(dead_code)]
pub fn check_without(
    text: &str,
    total: u16,
    promises: u16,
    without: Option<encoding::Rule>,
) -> fencepost_bmc::Outcome<Run> {
    let program = fencepost_lang::parse(text).expect("parses");
    let options = encoding::Options {
        symbolic: symbolic::Options::default(),
        bounds: encoding::Bounds {
            total: total.into(),
            promises: promises.into(),
            views: None,
            certify: if without.is_some() { encoding::Certify::Always } else { encoding::Certify::Loosely },
            narrow: None,
            standard: None,
            without,
        },
        few: false,
        progress: None,
    };
    let replayer = Replayer::new(&program).expect("supported");
    let bounds = Bounds { total: Some(total), promises: Some(promises), views: None };
    let mut confirm = |run: &Run, ends: Ends| {
        let replayed = replayer.replay(&plan(run), bounds)?;
        match ends {
            Ends::Wrong => replayed.finding.map(drop).ok_or_else(|| "nothing is wrong at its end".to_owned()),
            Ends::Wanted => replayed.observed.map(drop).ok_or_else(|| "a thread has not ended".to_owned()),
        }
    };
    encoding::check(&program, &options, &mut confirm).expect("supported")
}

/// An error if the encoding says without promises that K bounds nothing, and the machine without K reaches other states.
#[allow(dead_code)]
pub fn needs_no_bound(text: &str, most: u16) -> Result<Compared, String> {
    let program = fencepost_lang::parse(text).expect("parses");
    for bound in 0..=most {
        let found = check(&text.replace("exists true", "forall true"), bound, 0);
        if found.verdict != Verdict::Safe || found.spent {
            continue;
        }
        let free = Bounds { promises: Some(0), ..Bounds::default() };
        let Some(machine) = by_machine(&program, free) else { return Ok(Compared::Skipped) };
        let encoded = by_encoding(&program, Bounds { total: Some(bound), ..free })?;
        if encoded != machine {
            return Err(format!(
                "{text}\nK = {bound} bounds nothing, says the encoding, with {encoded:?}; the machine reaches {machine:?}"
            ));
        }
        return Ok(Compared::Agree);
    }
    Ok(Compared::Skipped)
}

/// An error if machine and encoding differ at a bound on whether the assertions of a program hold.
#[allow(dead_code)]
pub fn same_verdicts(text: &str, most: u16, promises: &[u16]) -> Result<Compared, String> {
    let program = fencepost_lang::parse(text).expect("parses");
    for bound in 0..=most {
        for &promises in promises {
            let bounds = Bounds { total: Some(bound), promises: Some(promises), ..Bounds::default() };
            let machine = machine::check(&program, &machine_options(bounds)).expect("supported").outcome;
            let machine = machine.verdict;
            if machine == Verdict::Unknown {
                return Ok(Compared::Skipped);
            }
            let found = check(text, bound, promises);
            if found.verdict != machine {
                return Err(format!(
                    "{text}\nK = {bound}, {promises} promises: the machine says {machine:?}, the encoding {:?} {:?}",
                    found.verdict, found.why
                ));
            }
        }
    }
    Ok(Compared::Agree)
}
