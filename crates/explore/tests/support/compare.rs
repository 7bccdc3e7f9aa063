//! The executions of a program as the explorer and as the naive enumerator see them.

use fencepost_explore::{AccessId, Clause, FindingKind, ModelName, Options, Reduction, Trace, explore};
use fencepost_ir::{Location, Program};
use fencepost_models::Model;
use fencepost_naive::{Limits, Stop, enumerate};
use std::sync::Mutex;

/// What tells executions apart: rf and co. Choices are left out, since the two engines number them differently; it is
/// lists that are compared, not sets, so an execution that is visited twice is there once too often.
pub type Key = (Vec<(AccessId, Option<AccessId>)>, Vec<(Location, Vec<AccessId>)>);

/// All executions that the explorer visits, sorted.
pub fn explored(program: &Program, model: ModelName) -> Vec<Key> {
    explored_without(program, model, None)
}

/// The same with one clause of the model switched off.
pub fn explored_without(program: &Program, model: ModelName, without: Option<Clause>) -> Vec<Key> {
    let options = Options { without, ..Options::new(model) };
    let found = explored_with(program, &options);
    if matches!(model, ModelName::Power | ModelName::Armv8) {
        let out_of_order =
            Options { reductions: options.reductions.without(Reduction::ProgramOrder), ..options };
        let difference = difference(&found, &explored_with(program, &out_of_order));
        assert!(difference.is_none(), "in order and out of order: {}", difference.unwrap_or_default());
    }
    found
}

/// The same with these options.
pub fn explored_with(program: &Program, options: &Options<'_>) -> Vec<Key> {
    let found = Mutex::new(Vec::new());
    let visitor = |trace: Trace| found.lock().expect("not poisoned").push((trace.rf, trace.co));
    let restarted = || found.lock().expect("not poisoned").clear();
    let options = Options { visitor: Some(&visitor), restarted: Some(&restarted), ..*options };
    let exploration = explore(program, &options).expect("supported");
    let races_only = exploration.findings.iter().all(|f| f.kind == FindingKind::DataRace);
    assert!(races_only, "{:?}", exploration.findings);
    let mut found = found.into_inner().expect("not poisoned");
    found.sort();
    found
}

/// All executions that the naive enumerator finds, sorted.
pub fn enumerated(program: &Program, model: &Model, limits: &Limits) -> Result<Vec<Key>, Stop> {
    let found = enumerate(program, model, limits)?;
    let id = |access: fencepost_naive::AccessId| access.expect("an access of a thread");
    let key = |key: fencepost_naive::Key| {
        let rf = key.rf.into_iter().map(|(r, w)| (id(r), w)).collect();
        let co = key.co.into_iter().map(|(l, list)| (l, list.into_iter().map(id).collect())).collect();
        (rf, co)
    };
    let mut keys: Vec<Key> = found.executions.into_iter().map(|e| key(e.key)).collect();
    keys.sort();
    Ok(keys)
}

/// What the explorer has too little or too much of, if anything.
pub fn difference(found: &[Key], expected: &[Key]) -> Option<String> {
    if found == expected {
        return None;
    }
    let missing: Vec<_> = expected.iter().filter(|k| !found.contains(k)).collect();
    let extra: Vec<_> = found.iter().filter(|k| !expected.contains(k)).collect();
    let (found, expected) = (found.len(), expected.len());
    Some(format!("found {found}, expected {expected}; missing {missing:?}\nextra {extra:?}"))
}
