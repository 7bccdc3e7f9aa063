//! All findings of the corpus are confirmed; records that were tampered with are not.

use super::*;
use fencepost_answer::trace::{Action, Execution, Object};
use fencepost_answer::{Outcome, Verdict};
use fencepost_diag::SourceFile;
use fencepost_explore::{ModelName, Options, explore};
use fencepost_ir::Language;
use fencepost_ir::Value;
use fencepost_models::prepare::{self, Form, prepare};
use fencepost_models::registry;
use fencepost_naive::confirm;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn cat(model: ModelName) -> Option<Model> {
    Model::builtin(model.name())
}

/// The programs of the corpus, by name.
fn corpus() -> Vec<(String, Program)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../c/corpus");
    let files = std::fs::read_dir(folder).expect("the corpus is there");
    let mut paths: Vec<_> = files.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "c"));
    paths.sort();
    let program = |path: &std::path::PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().to_string();
        let text = std::fs::read_to_string(path).expect("readable");
        let compiled = fencepost_c::compile(&SourceFile::new(&name, text), &fencepost_c::Options::default());
        (name, compiled.unwrap_or_else(|failure| panic!("{}", failure.render())).program)
    };
    paths.iter().map(program).collect()
}

fn entry(model: ModelName) -> &'static Entry {
    registry::find(model.name()).expect("a row")
}

fn for_model(program: &Program, model: ModelName) -> Program {
    let options = prepare::Options { unroll: 2, ..Default::default() };
    prepare(program, Language::C, entry(model), Form::EXPLORE, &options).expect("nothing is refused").program
}

fn findings(program: &Program, model: ModelName) -> Vec<Finding> {
    let limits = fencepost_explore::Limits {
        max_executions: Some(300),
        max_nodes: Some(20_000),
        ..fencepost_explore::Limits::default()
    };
    let options = Options { limits, ..Options::new(model) };
    explore(program, &options).map_or_else(|_| Vec::new(), |found| found.findings)
}

#[test]
fn every_finding_of_the_corpus_is_confirmed() {
    let programs = corpus();
    let (next, count, wrong) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((name, program)) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            for model in ModelName::ALL {
                let program = for_model(program, model);
                for finding in findings(&program, model) {
                    count.fetch_add(1, Ordering::Relaxed);
                    let answer = confirmed(&program, cat(model).as_ref(), true, &finding, &Limits::default());
                    if let Err(refused) = answer {
                        let text =
                            format!("{name} {}: {}", model.name(), describe(&finding, &refused).reason);
                        wrong.lock().expect("not poisoned").push(text);
                    }
                }
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let (count, wrong) = (count.into_inner(), wrong.into_inner().expect("not poisoned"));
    println!("{count} findings");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 500, "{count} findings");
}

/// A record that owns its execution.
#[derive(Clone)]
struct Owned {
    kind: FindingKind,
    sites: Vec<(u32, (u32, u32))>,
    execution: Execution,
}

impl Owned {
    fn record(&self) -> Recorded<'_> {
        let (kind, sites, execution) = (self.kind, self.sites.clone(), &self.execution);
        Recorded { kind, sites, execution, dependencies: true }
    }
}

/// Records that differ from a good one in one place.
fn tampered(good: &Recorded<'_>) -> Vec<(String, Owned)> {
    let mut bad = Vec::new();
    let good = Owned { kind: good.kind, sites: good.sites.clone(), execution: good.execution.clone() };
    let mut add = |what: String, change: &mut dyn FnMut(&mut Owned)| {
        let mut record = good.clone();
        change(&mut record);
        bad.push((what, record));
    };
    let threads = &good.execution.threads;
    let writes: Vec<((u32, u32), Value)> = (0u32..)
        .zip(threads)
        .flat_map(|(t, steps)| (0u32..).zip(steps).map(move |(i, step)| ((t, i), step)))
        .filter_map(|(id, step)| match &step.action {
            Action::Write { made, .. } => Some((id, made.value.raw)),
            _ => None,
        })
        .collect();
    for (t, steps) in threads.iter().enumerate() {
        for (i, step) in steps.iter().enumerate() {
            let Action::Read { seen, .. } = &step.action else { continue };
            add(format!("the value of {t}.{i}"), &mut |record| {
                if let (Some(seen), _) = record.execution.threads[t][i].action.access_mut() {
                    seen.value.raw.0 ^= 1;
                }
            });
            let other = writes.iter().find(|(id, value)| Some(*id) != seen.from && *value != seen.value.raw);
            if let Some(&(id, _)) = other {
                add(format!("the source of {t}.{i}"), &mut |record| {
                    if let (Some(seen), _) = record.execution.threads[t][i].action.access_mut() {
                        seen.from = Some(id);
                    }
                });
            }
            // What only one thread reaches need not be in the record.
            if seen.from.is_some_and(|(other, _)| other as usize != t) {
                add(format!("the object of {t}.{i}"), &mut |record| {
                    if let Action::Read { cell, .. } = &mut record.execution.threads[t][i].action
                        && let Some(Object::Declared(name)) = &mut cell.name.object
                    {
                        name.push('_');
                    }
                });
            }
        }
    }
    for (t, steps) in threads.iter().enumerate() {
        for (i, step) in steps.iter().enumerate() {
            if matches!(step.action, Action::Write { .. }) {
                add(format!("the value written by {t}.{i}"), &mut |record| {
                    if let (_, Some(made)) = record.execution.threads[t][i].action.access_mut() {
                        made.value.raw.0 ^= 1;
                    }
                });
            }
        }
    }
    add("the place".into(), &mut |record| record.sites.iter_mut().for_each(|site| site.1.1 += 1000));
    let kind = if good.kind == FindingKind::Misuse { FindingKind::Assertion } else { FindingKind::Misuse };
    add("the kind".into(), &mut |record| record.kind = kind);
    bad
}

#[test]
fn a_record_that_was_tampered_with_is_refused() {
    let names = ["litmus_sb_rlx", "litmus_mp_race", "finding_use_after_free", "finding_deadlock", "dcl_rlx"];
    let programs = corpus();
    let mut count = 0;
    for name in names {
        let (_, program) = programs.iter().find(|(n, _)| n == name).expect("in the corpus");
        for model in ModelName::ALL {
            let program = for_model(program, model);
            let cat = Model::builtin(model.name()).expect("built in");
            for finding in findings(&program, model) {
                let Some(kind) = Some(finding.kind).filter(|kind| !kind.is_warning() && !kind.is_unknown())
                else {
                    continue;
                };
                let good = record(&finding, kind);
                assert_eq!(confirm(&program, &cat, &good), Ok(()), "{name}");
                for (what, bad) in tampered(&good) {
                    // Where threads wait follows from the execution, so the place of a deadlock says nothing new.
                    if what == "the place" && kind == FindingKind::Deadlock {
                        continue;
                    }
                    let answer = confirm(&program, &cat, &bad.record());
                    let refused = matches!(answer, Err(Refused::Wrong(_)));
                    assert!(refused, "{name} {}: {what}: {answer:?}", model.name());
                    count += 1;
                }
            }
        }
    }
    assert!(count > 100, "{count} records");
}

fn compile(text: &str) -> Program {
    let compiled = fencepost_c::compile(&SourceFile::new("t.c", text), &fencepost_c::Options::default());
    compiled.unwrap_or_else(|failure| panic!("{}", failure.render())).program
}

#[test]
fn a_finding_without_an_execution_is_looked_for() {
    let text = "#include <pthread.h>\nstatic void *(*f)(void *);\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); return 0; }\n";
    for model in ModelName::ALL {
        let program = for_model(&compile(text), model);
        let found = findings(&program, model);
        assert!(found.len() == 1 && found[0].kind == FindingKind::BadCall, "{found:?}");
        assert_eq!(
            confirmed(&program, cat(model).as_ref(), true, &found[0], &Limits::default()).map(|_| ()),
            Ok(())
        );
        let mut moved = found[0].clone();
        moved.places[0].at.1 += 1;
        assert!(confirmed(&program, cat(model).as_ref(), true, &moved, &Limits::default()).is_err());
    }
}

#[test]
fn coherence_must_be_allowed() {
    // x = 1; x = 2 by one thread, read as 1 afterwards: only with the two writes the other way round.
    let text = "#include <assert.h>\n#include <stdatomic.h>\natomic_int x;\n\
        int main(void) { x = 1; x = 2; assert(x == 1); return 0; }\n";
    let compiled = fencepost_c::compile(&SourceFile::new("t.c", text), &fencepost_c::Options::default()).ok();
    let program = for_model(&compiled.expect("compiles").program, ModelName::Sc);
    let cat = Model::builtin("sc").expect("built in");
    let finding = findings(&program, ModelName::Sc).into_iter().next().expect("the assertion fails");
    let good = record(&finding, FindingKind::Assertion);
    assert_eq!(confirm(&program, &cat, &good), Ok(()));
    let confirmed = |execution: &Execution| confirm(&program, &cat, &Recorded { execution, ..good.clone() });
    let mut swapped = good.execution.clone();
    swapped.coherence[0].swap(0, 1);
    let answer = confirmed(&swapped);
    assert_eq!(answer, Err(Refused::Wrong("sc forbids the execution by sc".into())));
    let mut missing = good.execution.clone();
    missing.coherence.clear();
    let answer = confirmed(&missing);
    assert_eq!(answer, Err(Refused::Wrong("a write has no place in coherence".into())));
}

#[test]
fn what_is_not_confirmed_is_unknown() {
    let (_, program) = corpus().into_iter().find(|(name, _)| name == "litmus_sb_rlx").expect("in the corpus");
    let program = for_model(&program, ModelName::Tso);
    let mut found = explore(&program, &Options::new(ModelName::Tso)).expect("supported");
    assert_eq!(
        drop_unconfirmed(&program, entry(ModelName::Tso), true, &mut found, &Limits::default())
            .unconfirmed
            .map(|u| u.reason),
        None
    );
    assert_eq!(found.findings.len(), 1);
    // The same execution under SC, which forbids it.
    let reason = drop_unconfirmed(&program, entry(ModelName::Sc), true, &mut found, &Limits::default())
        .unconfirmed
        .expect("forbidden");
    let expected = "internal error: counterexample not confirmed (assertion): sc forbids the execution by sc";
    assert_eq!((reason.reason.as_str(), reason.too_large), (expected, false));
    assert!(found.findings.is_empty());
    // A bug of ours, whatever else there is.
    let outcome = Outcome::new(Vec::new(), Some(reason.into()), Vec::new());
    assert_eq!(outcome.verdict, Verdict::Unknown);
    assert_eq!(fencepost_report::report::exit_code(&outcome), crate::exit::INTERNAL);
    // What was only too large is none.
    let large = Unconfirmed { reason: "1025 events".into(), too_large: true };
    let outcome = Outcome::new(Vec::new(), Some(large.into()), Vec::new());
    assert_eq!(fencepost_report::report::exit_code(&outcome), 2);
}

#[path = "../../tests/oracle/random.rs"]
#[allow(dead_code)]
mod random;

#[test]
fn findings_of_random_programs_are_confirmed() {
    let number = |variable: &str| std::env::var(variable).ok().and_then(|text| text.parse::<u64>().ok());
    let (cases, seed) = (number("FENCEPOST_CASES").unwrap_or(150), number("FENCEPOST_SEED").unwrap_or(7));
    let (mut count, mut wrong) = (0, Vec::new());
    for case in 0..cases {
        let sketch = random::Sketch::new(&mut random::Random::new(seed.wrapping_mul(1_000_003) + case));
        let program = compile(&sketch.text());
        for model in ModelName::ALL {
            let program = for_model(&program, model);
            for finding in findings(&program, model) {
                count += 1;
                if let Err(refused) =
                    confirmed(&program, cat(model).as_ref(), true, &finding, &Limits::default())
                {
                    let text = sketch.clone().text();
                    wrong.push(format!("{}: {}\n{text}", model.name(), describe(&finding, &refused).reason));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > cases, "{count} findings");
}
