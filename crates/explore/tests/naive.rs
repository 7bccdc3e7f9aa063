//! The explorer against the naive enumerator on random programs: the same executions, each once.

mod support;

use fencepost_explore::ModelName;
use fencepost_models::Model;
use fencepost_naive::Limits;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use support::compare::{difference, enumerated, explored};
use support::random;

fn agree(name: ModelName, cases: u32, size: (usize, usize, usize)) {
    let model = Model::builtin(name.name()).expect("built in");
    let cases = std::env::var("FENCEPOST_CASES").ok().and_then(|c| c.parse().ok()).unwrap_or(cases);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let seed: u8 = std::env::var("FENCEPOST_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let (threads, length, cells) = size;
    let limits = Limits { candidates: 8_000, ..Limits::default() };
    let strategy = random::threads(name, 2..=threads, 1..=length, cells);
    let result = runner.run(&strategy, |threads| {
        let program = random::program(&threads, cells);
        // Programs with more candidates take too long.
        let Ok(expected) = enumerated(&program, &model, &limits) else { return Ok(()) };
        difference(&explored(&program, name), &expected).map_or(Ok(()), |text| Err(TestCaseError::fail(text)))
    });
    if let Err(error) = result {
        panic!("{}: {error}", name.name());
    }
}

macro_rules! agreement {
    ($($name:ident: $model:ident;)*) => {
        $(#[test]
        fn $name() {
            agree(ModelName::$model, 150, (3, 4, 2));
            agree(ModelName::$model, 60, (2, 5, 2));
        })*
    };
}

agreement! {
    sc: Sc;
    tso: Tso;
    pso: Pso;
    ra: Ra;
    rc11: Rc11;
    rc20: Rc20;
    power: Power;
    armv8: Armv8;
}
