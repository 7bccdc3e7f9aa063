//! The explorer against the naive enumerator on the shared litmus tests, where they are present: the same executions, each
//! once, under every model that has a row of reference results.

mod support;

use fencepost_diag::SourceFile;
use fencepost_explore::{ModelName, Options, explore};
use fencepost_ir::{Program, Property, bound_loops};
use fencepost_models::Model;
use fencepost_naive::{Key, Limits, Stop, replay};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use support::compare::{difference, enumerated, explored};

/// File and model of every fifth row; of each with `FENCEPOST_FULL`.
fn rows(folder: &Path) -> Vec<(String, ModelName)> {
    let Ok(text) = std::fs::read_to_string(folder.join("expected.jsonl")) else { return Vec::new() };
    let row = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).expect("a row");
        let field = |name: &str| row[name].as_str().expect("a field").to_string();
        (field("file"), ModelName::from_name(&field("model")).expect("a model"))
    };
    let step = if std::env::var_os("FENCEPOST_FULL").is_some() { 1 } else { 5 };
    text.lines().step_by(step).map(row).collect()
}

enum Outcome {
    Same,
    Different(String),
    /// The enumerator takes more than a second.
    TooLarge,
}

fn compare(folder: &Path, file: &str, name: ModelName, model: &Model) -> Outcome {
    let text = std::fs::read(folder.join(file)).expect("a file");
    let source = SourceFile::new(file, String::from_utf8_lossy(&text));
    let test = fencepost_litmus::parse(&source).expect("a litmus test");
    let program = bound_loops(&test.program, 2);
    let limits = Limits { time: Some(Duration::from_secs(1)), ..Limits::default() };
    let expected = match enumerated(&program, model, &limits) {
        Ok(expected) => expected,
        Err(Stop::Unsupported { what, .. }) => panic!("{file}: {what}"),
        Err(Stop::Limit(_) | Stop::Time | Stop::Interrupted) => return Outcome::TooLarge,
    };
    if let Err(text) = witness_replays(&program, name, model) {
        return Outcome::Different(text);
    }
    difference(&explored(&program, name), &expected).map_or(Outcome::Same, Outcome::Different)
}

/// The witness of the explorer, rebuilt from rf and co alone, is consistent and satisfies the condition.
fn witness_replays(program: &Program, name: ModelName, model: &Model) -> Result<(), String> {
    let found = explore(program, &Options::new(name)).expect("supported");
    let Property::Final(condition) = &program.property else { return Ok(()) };
    let Some(witness) = found.witness else {
        return if found.stats.satisfying == 0 { Ok(()) } else { Err("there is no witness".into()) };
    };
    let rf = witness.rf.into_iter().map(|(r, w)| (Some(r), w)).collect();
    let co = witness.co.into_iter().map(|(l, list)| (l, list.into_iter().map(Some).collect())).collect();
    let key = Key { rf, co, choices: Vec::new() };
    let replayed = replay(program, &key, &Limits::default()).map_err(|stop| stop.to_string())?;
    let satisfies = |e: &fencepost_naive::NaiveExecution| {
        condition.proposition.holds(&e.state(condition)) && model.check(&e.execution).consistent
    };
    if replayed.iter().any(satisfies) { Ok(()) } else { Err(format!("the witness does not replay: {key:?}")) }
}

#[test]
fn shared_tests_have_the_same_executions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/litmus");
    let rows = rows(&folder);
    if rows.is_empty() {
        // Not `eprintln!`, which the harness shows only when a test fails.
        let _ = writeln!(std::io::stderr(), "absent: the shared litmus tests; nothing was compared");
        return;
    }
    let models = ModelName::ALL.map(|name| (name, Model::builtin(name.name()).expect("built in")));
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new((BTreeMap::<&str, usize>::new(), Vec::new(), 0));
    let work = || {
        while let Some((file, name)) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (_, model) = models.iter().find(|(n, _)| n == name).expect("all are there");
            let outcome = compare(&folder, file, *name, model);
            let mut outcomes = outcomes.lock().expect("not poisoned");
            match outcome {
                Outcome::Same => *outcomes.0.entry(name.name()).or_default() += 1,
                Outcome::Different(text) => outcomes.1.push(format!("{} {file}: {text}", name.name())),
                Outcome::TooLarge => outcomes.2 += 1,
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let (same, different, too_large) = outcomes.into_inner().expect("not poisoned");
    println!("the same executions: {same:?}; too large for the enumerator: {too_large}");
    assert!(different.is_empty(), "{} differences\n{}", different.len(), different.join("\n"));
    let total: usize = same.values().sum();
    assert!(total * 100 >= rows.len() * 99, "only {total} of {} rows were compared", rows.len());
}
