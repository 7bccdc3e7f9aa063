//! Every system of the corpus under every model: the verdict is the expected one, and the explicit machines of small
//! instances agree with it. A system without an expectation, or an expectation without a system, fails.
#![allow(missing_docs)]

mod common;

use common::{answer, crate_dir, explicit, load, systems};
use fencepost_param::model::Model;
use fencepost_param::{Options, Recheck, Verdict};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Expected {
    verdicts: Vec<String>,
    options: Options,
}

fn expectations() -> BTreeMap<String, Expected> {
    let text = std::fs::read_to_string(crate_dir().join("corpus/expected.txt")).expect("expected.txt");
    let mut result = BTreeMap::new();
    for line in text.lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut options =
            Options { timeout: Some(std::time::Duration::from_secs(600)), ..Options::default() };
        for word in &words[4..] {
            match word.split_once('=') {
                Some(("brab", n)) => options.brab = Some(n.parse().expect("a number")),
                Some(("max-nodes", n)) => options.max_nodes = Some(n.parse().expect("a number")),
                _ => panic!("unknown option {word}"),
            }
        }
        let verdicts = words[1..4].iter().map(|w| w.to_string()).collect();
        assert!(
            result.insert(words[0].to_string(), Expected { verdicts, options }).is_none(),
            "{} twice",
            words[0]
        );
    }
    result
}

fn check(name: &str, expected: &Expected, failures: &Mutex<Vec<String>>) {
    let source = load(&crate_dir().join(format!("corpus/{name}.cub")));
    let fail = |message: String| failures.lock().expect("no panic").push(format!("{name}: {message}"));
    // Without anything weak the models are one.
    let models = if source.text.contains("weak ") { 3 } else { 1 };
    for (model, wanted) in Model::ALL.into_iter().zip(&expected.verdicts).take(models) {
        let outcome = answer(&source, &Options { model, ..expected.options.clone() });
        if outcome.verdict.name() != wanted {
            fail(format!("{} under {}, expected {wanted}", outcome.verdict.name(), model.name()));
            continue;
        }
        match outcome.verdict {
            Verdict::Safe if outcome.recheck == Recheck::Skipped => fail("not re-checked".into()),
            Verdict::Unsafe if outcome.trace.len() < 2 => fail("no trace".into()),
            Verdict::Unknown if outcome.stop_reason.is_none() => fail("unknown without a reason".into()),
            _ => {}
        }
        let procs = outcome.system.number_procs.unwrap_or(2);
        if outcome.verdict == Verdict::Safe && explicit(&source.text, model, procs, 1_000) == Some(true) {
            fail(format!("the machine of {procs} processes reaches a bad state under {}", model.name()));
        }
    }
}

#[test]
fn every_system_has_its_verdict_under_every_model() {
    let expected = expectations();
    let names: Vec<String> = systems(&crate_dir().join("corpus"))
        .iter()
        .map(|f| f.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    assert!(names.len() >= 40, "the corpus has {} systems", names.len());
    let known: Vec<String> = expected.keys().cloned().collect();
    assert_eq!(names, known, "systems and expectations differ");
    let failures = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(name, &expected[name], &failures);
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A verdict may only get worse as the model gets weaker.
#[test]
fn weaker_models_have_more_behaviours() {
    let rank = |v: &str| ["safe", "unknown", "unsafe"].iter().position(|w| *w == v).expect("a verdict");
    for (name, expected) in expectations() {
        let ranks: Vec<usize> = expected.verdicts.iter().map(|v| rank(v)).collect();
        assert!(ranks.windows(2).all(|w| w[0] <= w[1]), "{name}: {:?}", expected.verdicts);
    }
}

/// Systems that are not part of the repository, where they are at hand; a run without them says so.
fn shared_systems(folder: &str) -> Vec<std::path::PathBuf> {
    let found = systems(&crate_dir().join("../../../shared/cub").join(folder));
    if found.is_empty() {
        // Not `eprintln!`, which the harness shows only when a test fails.
        let _ = writeln!(std::io::stderr(), "absent: the shared systems {folder}; nothing was compared");
    }
    found
}

/// Systems with the answer in a comment, `expect: sc=safe tso=safe pso=safe`, where they are at hand.
#[test]
fn systems_with_a_known_answer() {
    for path in shared_systems("answers") {
        let source = load(&path);
        let line = source.text.lines().find_map(|l| l.split_once("expect:")).expect("an expectation").1;
        for model in Model::ALL {
            let wanted = line.split_whitespace().find_map(|w| w.strip_prefix(&format!("{}=", model.name())));
            let outcome = answer(
                &source,
                &Options { model, timeout: Some(std::time::Duration::from_secs(600)), ..Options::default() },
            );
            assert_eq!(Some(outcome.verdict.name()), wanted, "{} under {}", source.name, model.name());
        }
    }
}

/// The benchmarks of the Cubicle-W paper, where they are at hand: Table 1 is for TSO; verdicts under SC are ours.
#[test]
fn table_1_of_the_paper() {
    let unsafe_under_tso = ["lamport_N_us", "mutex_N_us"];
    for path in shared_systems("") {
        let source = load(&path);
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let outcome = answer(&source, &Options::default());
        let wanted = if unsafe_under_tso.contains(&&*name) { Verdict::Unsafe } else { Verdict::Safe };
        assert_eq!(outcome.verdict, wanted, "{name} under TSO");
        let sc = answer(&source, &Options { model: Model::Sc, ..Options::default() });
        assert_eq!(sc.verdict, Verdict::Safe, "{name} under SC");
    }
}
