//! The stepper follows runs and refuses what is none: every way to tamper with a run of store buffering is noticed.

use fencepost_answer::FindingKind;
use fencepost_ir::{ObjectId, Program, Value};
use fencepost_machine::stepper::{Action, Turn, follow};
use fencepost_machine::{Config, Model};

/// Both threads read the old value, and the second one notices.
fn store_buffering() -> Program {
    let text = "shared x, y, seen; \
                process P { reg r; x := 1; r := y; seen := r + 1; } \
                process Q { reg r, s; y := 1; r := x; s := seen; assert(!(r == 0 && s == 1)); }";
    fencepost_lang::parse(text).expect("parses")
}

fn step(thread: usize) -> Turn {
    Turn { thread, action: Action::Step { choice: Value::ZERO, spurious: false } }
}

fn flush(thread: usize, object: u32, value: u64) -> Turn {
    Turn { thread, action: Action::Flush(Value::pointer(ObjectId(object), 0), Value(value)) }
}

/// The stores are buffered at once. P reads y and stores `seen`; both stores of P reach memory, after Q has read x.
fn run() -> Vec<Turn> {
    vec![step(0), step(1), flush(0, 0, 1), flush(0, 2, 1), step(1)]
}

fn under(model: Model, turns: &[Turn]) -> Result<FindingKind, String> {
    follow(&store_buffering(), &Config::new(model), turns).map(|wrong| wrong.kind)
}

#[test]
fn a_run_is_followed() {
    assert_eq!(under(Model::Tso, &run()), Ok(FindingKind::Assertion));
}

#[test]
fn what_is_no_run_is_refused() {
    let run = run();
    // Under SC there are no buffers that a store could come from.
    assert!(under(Model::Sc, &run).is_err());
    for left_out in 0..run.len() {
        let mut shorter = run.clone();
        shorter.remove(left_out);
        assert!(under(Model::Tso, &shorter).is_err(), "without step {left_out}");
    }
    // First in, first out; under PSO stores may overtake each other.
    let mut overtaking = run.clone();
    overtaking.swap(2, 3);
    assert_eq!(under(Model::Tso, &overtaking), Err("step 3: an older store comes first".into()));
    assert_eq!(under(Model::Pso, &overtaking), Ok(FindingKind::Assertion));
    let mut other_value = run.clone();
    other_value[2] = flush(0, 0, 2);
    assert_eq!(under(Model::Tso, &other_value), Err("step 3: the store has another value".into()));
    let mut other_thread = run.clone();
    other_thread[4] = step(0);
    assert!(under(Model::Tso, &other_thread).is_err());
    let mut nobody = run.clone();
    nobody[4] = step(2);
    assert_eq!(under(Model::Tso, &nobody), Err("step 5: there is no such thread".into()));
}

#[test]
fn bounds_are_kept() {
    let with = |change: fn(&mut Config)| {
        let mut config = Config::new(Model::Tso);
        change(&mut config);
        follow(&store_buffering(), &config, &run()).map(|wrong| wrong.kind)
    };
    assert_eq!(with(|config| config.rounds = Some(2)), Ok(FindingKind::Assertion));
    assert_eq!(with(|config| config.rounds = Some(1)), Err("step 3: the thread has no round left".into()));
}
