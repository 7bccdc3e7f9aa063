//! Random programs against the SC machine: same verdict, same final states, and every run replays.
//!
//! `FENCEPOST_CASES` is the number of programs, `FENCEPOST_SEED` the first seed.

mod support;

use fencepost_answer::FindingKind;
use fencepost_bmc::{Options, Outcome, Run, Verdict, check, final_states};
use fencepost_ir::Program;
use fencepost_machine::buffers::{Action, Move};
use fencepost_machine::code::Code;
use fencepost_machine::local::{FaultKind, Status};
use fencepost_machine::plain::Plain;
use fencepost_machine::{Config, Model};
use support::{Size, program};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Does the run on the machine, which must fail at its end as the finding says.
fn replay(program: &Program, outcome: &Outcome<Run>, name: &str) {
    let code = Code::new(program).expect("supported");
    let config = Config::new(Model::Sc);
    let plain = Plain::new(&code, &config);
    let mut state = plain.initial();
    let run = outcome.run.as_ref().expect("a run");
    for (number, step) in run.steps.iter().enumerate() {
        let action = Action::Step { choice: step.choice, spurious: step.spurious };
        let step = Move { thread: step.thread as u8, action };
        if let Err(why) = plain.apply(&mut state, step) {
            panic!("{name}: step {number} of {run:?}: {why}\n{program:#?}");
        }
    }
    let finding = outcome.finding.as_ref().expect("a finding");
    let failed = state.threads[finding.thread.expect("a thread") as usize].status;
    let Status::Failed(kind) = failed else {
        panic!("{name}: {finding:?} but {failed:?}\n{run:?}\n{program:#?}")
    };
    let expected = match finding.kind {
        FindingKind::Assertion => FaultKind::Assertion,
        FindingKind::OutOfBounds => FaultKind::OutOfBounds,
        FindingKind::Uninitialised => FaultKind::Uninitialised,
        FindingKind::DivisionByZero => FaultKind::DivisionByZero,
        FindingKind::MixedSize => FaultKind::MixedSize,
        FindingKind::NullPointer => FaultKind::NullPointer,
        FindingKind::BadPointer => FaultKind::BadPointer,
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(kind, expected, "{name}");
}

/// True if the machine could answer, and there was something to compare.
fn compare(seed: u64, size: Size) -> Option<Verdict> {
    let program = program(seed, size);
    let name = &program.name;
    let mut by_machine = fencepost_machine::Options::new(Model::Sc);
    by_machine.search.max_states = Some(30_000);
    let machine = fencepost_machine::check(&program, &by_machine).expect("supported");
    if machine.outcome.verdict == fencepost_answer::Verdict::Unknown {
        return None;
    }
    let mut options = Options::default();
    options.symbolic.unroll = 4;
    let outcome = check(&program, &options).expect("supported");
    let (safe, is_safe) =
        (machine.outcome.verdict == fencepost_answer::Verdict::Safe, outcome.verdict == Verdict::Safe);
    assert!(outcome.verdict != Verdict::Unknown, "{name}: {:?}", outcome.why);
    if outcome.verdict == Verdict::Unsafe {
        replay(&program, &outcome, name);
    }
    // A bound that cut something may hide what the machine finds.
    assert!(
        is_safe == safe || outcome.cut,
        "{name}: {:?} {:?}\n{program:#?}",
        machine.outcome.findings,
        outcome.finding
    );
    if safe && machine.final_states.len() <= 200 {
        let (states, cut) = final_states(&program, &options).expect("supported");
        let machine_states: std::collections::BTreeSet<_> = machine.final_states.into_iter().collect();
        match cut {
            true => assert!(states.is_subset(&machine_states), "{name}\n{program:#?}"),
            false => assert_eq!(states, machine_states, "{name}\n{program:#?}"),
        }
    }
    Some(outcome.verdict)
}

#[test]
fn verdicts_and_final_states_are_those_of_the_machine() {
    let (cases, first) = (setting("FENCEPOST_CASES", 1500), setting("FENCEPOST_SEED", 1));
    let (mut safe, mut wrong) = (0, 0);
    for seed in first..first + cases {
        let size = match seed % 3 {
            0 => Size { threads: 3, statements: 3 },
            1 => Size { threads: 2, statements: 6 },
            _ => Size { threads: 2, statements: 4 },
        };
        match compare(seed, size) {
            Some(Verdict::Safe) => safe += 1,
            Some(_) => wrong += 1,
            None => {}
        }
    }
    println!("{safe} safe, {wrong} unsafe of {cases}");
    assert!(safe * 4 > cases && wrong * 20 > cases, "{safe} safe, {wrong} unsafe of {cases}");
}
