//! Random programs of two and three threads with fences, dependencies, assertions, final conditions and accesses that hit no
//! cell: the answers of the machine, of the encoding (its runs replayed rule by rule) and, for
//! every so manyth program, of the translation to SC, with each number of contexts.

use super::random::support::{self, Said};
use fencepost_ir::Program;
use fencepost_reduce::reduce_power;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Which programs, with how many contexts, and what is too much.
pub struct Campaign {
    /// The first program; they are the same each time.
    pub from: usize,
    /// How many.
    pub cases: usize,
    /// The most contexts.
    pub most: u32,
    /// States of the machine.
    pub states: u64,
    /// Every so manyth program is translated.
    pub every: usize,
    /// Seconds for a translated program.
    pub seconds: u64,
}

/// The translation's answer; `None` if it takes too long.
fn translated(program: &Program, contexts: u32, seconds: u64) -> Option<Said> {
    let options = fencepost_reduce::power::Options { contexts, unroll: 2, owners: false };
    let reduced = reduce_power(program, &options).expect("supported");
    let mut options = fencepost_bmc::Options::default();
    options.symbolic.limits.deadline = Some(Instant::now() + Duration::from_secs(seconds));
    let found = fencepost_bmc::check(&reduced, &options).expect("supported");
    let missing =
        |finding: &fencepost_bmc::Finding| finding.message == "no final state satisfies the condition";
    Some(match found.verdict {
        fencepost_bmc::Verdict::Safe => Said::Right,
        fencepost_bmc::Verdict::Unsafe if found.finding.as_ref().is_some_and(missing) => Said::Missing,
        fencepost_bmc::Verdict::Unsafe => Said::Wrong,
        fencepost_bmc::Verdict::Unknown => return None,
    })
}

/// Compares; prints differences, what was left out, and counts. Returns the number of differences.
pub fn run(campaign: &Campaign) -> usize {
    let start = Instant::now();
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(27), ..Config::default() });
    let strategy = support::question();
    let mut compared = vec![0usize; campaign.most as usize];
    let (mut left_out, mut differ, mut not_replayed, mut translations, mut late) = (0, 0, 0, 0, 0);
    let mut answers: BTreeMap<String, usize> = BTreeMap::new();
    for number in 0..campaign.from + campaign.cases {
        let Ok(tree) = strategy.new_tree(&mut runner) else { continue };
        if number < campaign.from {
            continue;
        }
        let question = tree.current();
        let program = question.program();
        for contexts in 1..=campaign.most {
            let Some(machine) = support::machine(&program, contexts, campaign.states) else {
                left_out += 1;
                break;
            };
            compared[contexts as usize - 1] += 1;
            *answers.entry(format!("{machine:?}")).or_default() += 1;
            let encoded = support::encoded(&program, contexts);
            if encoded != Ok(machine) {
                differ += 1;
                not_replayed += usize::from(encoded.as_ref().is_err_and(|why| why.contains("replayed")));
                println!(
                    "DIFFERENCE {number}: {contexts} contexts, machine {machine:?}, encoding {encoded:?}: {}",
                    question.text()
                );
            }
            if number % campaign.every == 0 {
                match translated(&program, contexts, campaign.seconds) {
                    None => late += 1,
                    Some(said) => {
                        translations += 1;
                        if said != machine {
                            differ += 1;
                            println!(
                                "DIFFERENCE {number}: {contexts} contexts, machine {machine:?}, translation {said:?}: {}",
                                question.text()
                            );
                        }
                    }
                }
            }
        }
        if (number + 1) % 500 == 0 {
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "{} programs, {differ} differences, {not_replayed} runs not replayed, {seconds:.0} s",
                number + 1 - campaign.from
            );
        }
    }
    println!(
        "{} programs; compared with 1 to {} contexts: {compared:?}; answers {answers:?}; left out (more than {} \
            states): {left_out}; translations {translations}, too late {late}; runs not replayed: {not_replayed}; {:.0} s",
        campaign.cases,
        campaign.most,
        campaign.states,
        start.elapsed().as_secs_f64()
    );
    differ
}
