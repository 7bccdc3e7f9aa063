//! The explorer against the naive enumerator on directed families of programs, and mutants of the explorer's models:
//! each axiom and each clause is dropped once, and a program of the families must notice.

mod support;

use fencepost_explore::{ModelName, Options, Reduction, Reductions};
use fencepost_models::Model;
use fencepost_naive::{Key, Limits, enumerate, replay};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::compare::{difference, enumerated, explored, explored_with};
use support::{families, text};

/// Compares on all programs of the model's families; at least that many must be small enough to be enumerated.
fn agree(name: ModelName, at_least: usize) {
    let model = Model::builtin(name.name()).expect("built in");
    // Every eleventh one; `FENCEPOST_FULL=1` takes all.
    let step = if std::env::var_os("FENCEPOST_FULL").is_some() { 1 } else { 11 };
    let programs: Vec<_> = families::all(name).into_iter().step_by(step).collect();
    let at_least = at_least / step * 9 / 10;
    let limits = Limits { candidates: 50_000, ..Limits::default() };
    let (next, compared) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let differences = Mutex::new(Vec::new());
    let work = || {
        while let Some(line) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let program = text::program(line);
            let Ok(expected) = enumerated(&program, &model, &limits) else { continue };
            compared.fetch_add(1, Ordering::Relaxed);
            if let Some(text) = difference(&explored(&program, name), &expected) {
                differences.lock().expect("not poisoned").push(format!("{line}\n  {text}"));
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let (compared, differences) = (compared.into_inner(), differences.into_inner().expect("not poisoned"));
    println!("{}: {compared} of {} programs compared", name.name(), programs.len());
    assert!(
        differences.is_empty(),
        "{}: {} differences\n{}",
        name.name(),
        differences.len(),
        differences.join("\n")
    );
    assert!(compared >= at_least, "{}: only {compared} programs were compared", name.name());
}

macro_rules! agreement {
    ($($name:ident: $model:ident, $at_least:expr;)*) => {
        $(#[test]
        fn $name() {
            agree(ModelName::$model, $at_least);
        })*
    };
}

agreement! {
    sc: Sc, 500;
    tso: Tso, 600;
    pso: Pso, 850;
    ra: Ra, 1_900;
    rc11: Rc11, 3_000;
    rc20: Rc20, 3_000;
    power: Power, 3_000;
    armv8: Armv8, 4_000;
}

/// Every execution of the enumerator comes back from its key, whole.
#[test]
fn executions_replay() {
    let mut replayed = 0;
    for name in ModelName::ALL {
        let model = Model::builtin(name.name()).expect("built in");
        let limits = Limits { candidates: 5_000, ..Limits::default() };
        for line in families::all(name).iter().step_by(59) {
            let program = text::program(line);
            let Ok(found) = enumerate(&program, &model, &limits) else { continue };
            for expected in found.executions {
                let again = replay(&program, &expected.key, &limits).expect("small enough");
                let [again] = &again[..] else {
                    panic!("{line}: {} executions for {:?}", again.len(), expected.key)
                };
                assert_eq!(again.execution, expected.execution, "{line}");
                assert_eq!(
                    (&again.registers, &again.memory),
                    (&expected.registers, &expected.memory),
                    "{line}"
                );
                replayed += 1;
            }
        }
    }
    println!("{replayed} executions replayed");
    assert!(replayed > 1_500, "only {replayed} executions");
}

/// A key that is no execution's gives none.
#[test]
fn keys_of_no_execution_do_not_replay() {
    let program = text::program("Wx1 Ry | Wy1 Rx");
    let model = Model::builtin("sc").expect("built in");
    let found = enumerate(&program, &model, &Limits::default()).expect("small enough");
    let key = &found.executions[0].key;
    let none =
        |key: Key| assert!(replay(&program, &key, &Limits::default()).expect("small").is_empty(), "{key:?}");
    let mut fewer = key.clone();
    fewer.rf.pop();
    none(fewer);
    let mut other_thread = key.clone();
    other_thread.rf[0].0 = Some((7, 0));
    none(other_thread);
    let mut from_nowhere = key.clone();
    from_nowhere.rf[0].1 = Some((0, 5));
    none(from_nowhere);
    let mut from_elsewhere = key.clone();
    // The first thread's read of y from the write to x.
    from_elsewhere.rf[0].1 = Some((0, 0));
    none(from_elsewhere);
}

/// Programs that committing out of order got wrong, when what an event depends on was a matter of a choice or of a value that it
/// did not need.
#[test]
fn in_order_and_out_of_order() {
    let programs = [
        ("Wx1 | Ry | Cx01 Wx1<addr0 Wy1", ModelName::Power),
        ("Cx01 | Ly Xy1.rel Ax.acq", ModelName::Armv8),
        ("Ax Wy1 | Ry Ax<if0", ModelName::Armv8),
        ("Ax Wy1 | Ry Ax<if0", ModelName::Power),
        ("Cx02 Wy1 | Ry Cx02<if0", ModelName::Armv8),
        ("Sx1 Wy1 | Ry Cx02<if0 Rx", ModelName::Power),
    ];
    for (line, name) in programs {
        let model = Model::builtin(name.name()).expect("built in");
        let program = text::program(line);
        let expected = enumerated(&program, &model, &Limits::default()).expect("small");
        for reductions in [Reductions::ALL, Reductions::ALL.without(Reduction::ProgramOrder)] {
            let found = explored_with(&program, &Options { reductions, ..Options::new(name) });
            let difference = difference(&found, &expected);
            assert!(difference.is_none(), "{line} {reductions:?}: {}", difference.unwrap_or_default());
        }
    }
}
