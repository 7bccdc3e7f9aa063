//! The explorer against the naive enumerator on random programs: the same executions, each once.

mod support;

use fencepost_explore::{AccessId, ModelName, Options, explore};
use fencepost_ir::{Location, Program};
use fencepost_models::Model;
use fencepost_naive::{Limits, enumerate};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::sync::Mutex;
use support::random;

type Key = (Vec<(AccessId, Option<AccessId>)>, Vec<(Location, Vec<AccessId>)>);

/// All executions that the explorer visits, sorted. They differ in rf, co or choices; the key leaves the choices out
/// (the two engines number them differently), so it is the lists that are compared, not the sets: an execution that is
/// visited twice is there once too often.
fn explored(program: &Program, model: ModelName) -> Vec<Key> {
    let found = Mutex::new(Vec::new());
    let visitor =
        |trace: fencepost_explore::Trace| found.lock().expect("not poisoned").push((trace.rf, trace.co));
    let exploration =
        explore(program, &Options { visitor: Some(&visitor), ..Options::new(model) }).expect("supported");

    let mut found = found.into_inner().expect("not poisoned");
    found.sort();
    found
}

/// All executions that the naive enumerator finds, sorted; `None` if there are too many candidates.
fn enumerated(program: &Program, model: &Model) -> Option<Vec<Key>> {
    let limits = Limits { candidates: 20_000, ..Limits::default() };
    let found = enumerate(program, model, &limits).ok()?;
    let id = |access: fencepost_naive::AccessId| access.expect("an access of a thread");
    let mut keys: Vec<Key> = found
        .executions
        .into_iter()
        .map(|e| {
            let rf = e.key.rf.into_iter().map(|(r, w)| (id(r), w)).collect();
            let co = e.key.co.into_iter().map(|(l, list)| (l, list.into_iter().map(id).collect())).collect();
            (rf, co)
        })
        .collect();
    keys.sort();
    Some(keys)
}

fn agree(name: ModelName, cases: u32, size: (usize, usize, usize)) {
    let model = Model::builtin(name.name()).expect("built in");
    let cases = std::env::var("FENCEPOST_CASES").ok().and_then(|c| c.parse().ok()).unwrap_or(cases);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let seed: u8 = std::env::var("FENCEPOST_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let (threads, length, cells) = size;
    let strategy = random::threads(name, 2..=threads, 1..=length, cells);
    let result = runner.run(&strategy, |threads| {
        let program = random::program(&threads, cells);
        let Some(expected) = enumerated(&program, &model) else { return Ok(()) };
        let found = explored(&program, name);
        if found != expected {
            let missing: Vec<_> = expected.iter().filter(|k| !found.contains(k)).collect();
            let extra: Vec<_> = found.iter().filter(|k| !expected.contains(k)).collect();
            let (found, expected) = (found.len(), expected.len());
            let message = format!("found {found}, expected {expected}; missing {missing:?}\nextra {extra:?}");
            return Err(TestCaseError::fail(message));
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{}: {error}", name.name());
    }
}

macro_rules! agreement {
    ($($name:ident: $model:ident;)*) => {
        $(#[test]
        fn $name() {
            agree(ModelName::$model, 1_500, (3, 4, 2));
            agree(ModelName::$model, 600, (2, 5, 2));
        })*
    };
}

agreement! {
    sc: Sc;
    tso: Tso;
    pso: Pso;
    ra: Ra;
    rc11: Rc11;
    power: Power;
    armv8: Armv8;
}
