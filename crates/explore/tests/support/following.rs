//! Compares what is found where iterations and tries are left out with what is found where all are followed.

use crate::dice::Random;
use fencepost_explore::{FindingKind, Limits, ModelName, Options, Reductions, explore};
use fencepost_ir::{Program, Value, bound_loops};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How long one exploration may take.
const PATIENCE: Duration = Duration::from_millis(500);

/// Final states, kinds of findings but that of threads that spin for ever, executions; nothing if it takes too long.
type Found = (Vec<Vec<Value>>, BTreeSet<FindingKind>, u64);

fn found(program: &Program, model: ModelName, reductions: Reductions, nodes: u64) -> Option<Found> {
    // A thread that writes without end makes few executions, but long ones.
    let deadline = Some(Instant::now() + PATIENCE);
    let limits = Limits { max_nodes: Some(nodes), deadline, ..Limits::default() };
    let options = Options { reductions, limits, ..Options::new(model) };
    let exploration = explore(program, &options).expect("supported");
    if exploration.stopped.is_some() {
        return None;
    }
    let kinds = exploration.findings.iter().map(|f| f.kind).filter(|&kind| kind != FindingKind::Deadlock);
    Some((exploration.states, kinds.collect(), exploration.stats.executions))
}

/// A number of the environment.
pub fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Compares random programs with and without iterations that changed nothing, under these models; loops go back at most `bound`
/// times.
pub fn compare(cases: u64, models: &[ModelName], bound: u32, generate: fn(&mut Random) -> (Program, String)) {
    // A campaign that stopped goes on from where it was.
    let first = number("FENCEPOST_FIRST", 0);
    let mut random = Random(number("FENCEPOST_SEED", 1));
    let (mut compared, mut fewer, mut longer) = (0, 0, 0);
    for case in 0..cases {
        let (unbounded, text) = generate(&mut random);
        if case < first {
            continue;
        }
        let program = bound_loops(&unbounded, bound);
        for &model in models {
            let Some(mut expected) = found(&program, model, Reductions::ALL.following_all(), 6_000) else {
                continue;
            };
            // A loop on data that only one thread has touched is followed beyond the bound, which may take longer.
            let Some(plain) = found(&program, model, Reductions::ALL, 6_000) else {
                longer += 1;
                continue;
            };
            let name = model.name();
            if plain.0.len() > expected.0.len() || plain.1.len() > expected.1.len() {
                // So is one of a thread that runs alone: what it finds more, others find with a larger bound.
                let missing = expected.0.iter().any(|state| !plain.0.contains(state));
                assert!(!missing, "case {case} under {name}: states are missing: {text}");
                let larger = bound_loops(&unbounded, 5);
                let Some(more) = found(&larger, model, Reductions::ALL.following_all(), 200_000) else {
                    continue;
                };
                expected.0.extend(plain.0.iter().filter(|state| more.0.contains(state)).cloned());
                expected.0.sort();
                expected.0.dedup();
                expected.1.extend(plain.1.iter().filter(|kind| more.1.contains(kind)));
            }
            assert_eq!(plain.0, expected.0, "case {case} under {name}: other states: {text}");
            assert_eq!(plain.1, expected.1, "case {case} under {name}: other findings: {text}");
            compared += 1;
            fewer += u64::from(plain.2 < expected.2);
        }
    }
    println!("{compared} runs compared, {fewer} of them have fewer executions");
    let runs = (cases - first) * models.len() as u64;
    assert!(compared * 2 > runs && fewer * 16 > runs, "{compared} of {runs} compared, {fewer} fewer");
    assert!(longer * 32 < runs.max(32), "{longer} of {compared} runs take too long");
}
