//! The explorer against the naive enumerator on C programs: the same number of complete executions, and the same kinds
//! of findings, under every model. The enumerator shares no code with the explorer and judges with the cat models.
//!
//! Programs that are too large for enumeration are skipped; how many pairs of program and model were compared is part
//! of the test. `FENCEPOST_CANDIDATES` makes room for more. Then random programs, as many as `FENCEPOST_CASES` says,
//! from the seed `FENCEPOST_SEED`.

mod compare;
mod directed;
mod random;

use compare::{Outcome, Room, compare, compare_without, compiled};
use fencepost_explore::{ModelName, Options};
use fencepost_naive::Limits;
use random::{Random, Sketch};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Programs with a parameter `N`, and values that are smaller than its default.
const PARAMETERS: &[(&str, &[&str])] = &[
    ("count_cas", &["2", "3"]),
    ("count_fetch_add", &["2"]),
    ("count_fib_join", &["1"]),
    ("count_peterson_rounds", &["1"]),
    ("count_readers", &["2", "3"]),
    ("count_ticket_lock", &["1", "2"]),
    ("count_treiber", &["1", "2"]),
];

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../c/corpus");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the corpus is there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .collect();
    files.sort();
    files
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

fn room() -> Room {
    let candidates = number("FENCEPOST_CANDIDATES").unwrap_or(800);
    Room { candidates, traces: 150, time: Duration::from_secs(10 + candidates / 1_000) }
}

#[test]
fn explorer_and_enumerator_agree_on_the_corpus() {
    let only = std::env::var("FENCEPOST_ONLY").unwrap_or_default();
    let all = !only.is_empty() || std::env::var_os("FENCEPOST_FULL").is_some_and(|value| value != "0");
    let (mut work, mut turn) = (Vec::new(), 0);
    for path in corpus() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().to_string();
        // The halves of what was written whole are pieces of it to the one, and cells to the other.
        let halves =
            ["sizes_of_two_halves", "sizes_words_assembly", "sizes_words_exchanged", "sizes_words_torn"];
        if !name.contains(&only) || halves.contains(&name.as_str()) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("readable");
        let parameters = PARAMETERS.iter().find(|(n, _)| *n == name).map_or(&[][..], |p| p.1);
        for n in std::iter::once(None).chain(parameters.iter().copied().map(Some)) {
            let defines: Vec<(&str, &str)> = n.iter().map(|n| ("N", *n)).collect();
            let program = compiled(&name, &text, &defines).expect("a program of the corpus compiles");
            let program = std::sync::Arc::new(program);
            let title = format!("{name} {}", n.unwrap_or(""));
            for model in ModelName::ALL {
                // Every third pair, so that each program and each model has its turn; all if asked for.
                turn += 1;
                if all || turn % 3 == 0 {
                    work.push((title.clone(), program.clone(), model));
                }
            }
        }
    }
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let run = || {
        while let Some((name, program, model)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
            let started = std::time::Instant::now();
            let outcome = compare(program, *model, room());
            let title = format!("{name} {}", model.name());
            if !only.is_empty() || std::env::var("FENCEPOST_VERBOSE").is_ok() {
                println!("{title}: {outcome:?} {:.2}", started.elapsed().as_secs_f64());
            }
            results.lock().expect("not poisoned").push((title, outcome));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(run);
        run();
    });
    let results = results.into_inner().expect("not poisoned");
    let (mut different, mut same, mut executions, mut skipped) = (Vec::new(), 0, 0, BTreeMap::new());
    for (title, outcome) in results {
        match outcome {
            Outcome::Same { executions: n } => {
                same += 1;
                executions += n;
            }
            Outcome::Different(text) => different.push(format!("{title}: {text}")),
            Outcome::Skipped(reason) => *skipped.entry(reason).or_insert(0) += 1,
        }
    }
    println!("{same} pairs with {executions} executions agree; skipped: {skipped:?}");
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(!only.is_empty() || same >= 250, "only {same} pairs were compared");
}

/// Litmus tests of AArch64 for pick dependencies and pairs of registers.
#[test]
fn explorer_and_enumerator_agree_on_litmus_tests() {
    let model = fencepost_models::Model::builtin("armv8").expect("built in");
    let mut compared = 0;
    for folder in ["picks", "pairs"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(folder);
        for entry in std::fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("an entry").path();
            let text = std::fs::read_to_string(&path).expect("readable");
            let file = fencepost_diag::SourceFile::new(path.display().to_string(), text);
            let program = fencepost_litmus::parse(&file).expect("parses").program;
            let explored = fencepost_explore::explore(&program, &Options::new(ModelName::Armv8));
            let found = fencepost_naive::enumerate(&program, &model, &Limits::default()).expect("small");
            let explored = explored.expect("supported").stats.executions;
            assert_eq!(explored, found.executions.len() as u64, "{}", path.display());
            compared += 1;
        }
    }
    assert!(compared >= 17, "{compared}");
}

#[test]
fn explorer_and_enumerator_agree_on_random_programs() {
    let cases = number("FENCEPOST_CASES").unwrap_or(60);
    let seed = number("FENCEPOST_SEED").unwrap_or(0);
    let room = Room { candidates: 1_500, traces: 200, time: Duration::from_secs(20) };
    let program = |sketch: &Sketch| {
        let text = sketch.text();
        compiled("random.c", &text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
    };
    let compare_one = |sketch: &Sketch, model: ModelName| compare(&program(sketch), model, room);
    let (next, compared) = (AtomicU64::new(0), AtomicU64::new(0));
    let different = Mutex::new(Vec::new());
    let run = || loop {
        let case = next.fetch_add(1, Ordering::Relaxed);
        if case >= cases {
            return;
        }
        let sketch = Sketch::new(&mut Random::new(seed.wrapping_mul(1_000_003).wrapping_add(case)));
        let program = program(&sketch);
        for model in ModelName::ALL {
            let outcome = compare(&program, model, room);
            compared.fetch_add(u64::from(matches!(outcome, Outcome::Same { .. })), Ordering::Relaxed);
            if let Outcome::Different(_) = outcome {
                let is_bad = |s: &Sketch| matches!(compare_one(s, model), Outcome::Different(_));
                let smallest = sketch.clone().shrink(&is_bad);
                let outcome = compare_one(&smallest, model);
                let report = format!("case {case} {}: {outcome:?}\n{}", model.name(), smallest.text());
                different.lock().expect("not poisoned").push(report);
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(run);
        run();
    });
    let (different, compared) = (different.into_inner().expect("not poisoned"), compared.into_inner());
    println!("{compared} pairs agree, {} differ, of {}", different.len(), 8 * cases);
    assert!(different.is_empty(), "{} differ\n{}", different.len(), different.join("\n"));
    assert!(compared > 4 * cases, "only {compared} pairs were compared");
}

#[test]
fn a_missing_clause_is_noticed() {
    use fencepost_explore::Clause;
    // With the first case in which it is noticed, so that nobody searches for it.
    let clauses = [
        (ModelName::Sc, Clause::Global, 0),
        (ModelName::Tso, Clause::FullFence, 252),
        (ModelName::Tso, Clause::WriteWrite, 122),
        (ModelName::Pso, Clause::Rfe, 64),
        (ModelName::Ra, Clause::ReleaseWrite, 46),
        (ModelName::Rc11, Clause::AcquireRead, 69),
        (ModelName::Rc11, Clause::PscBase, 252),
        (ModelName::Rc11, Clause::Coherence, 0),
        (ModelName::Power, Clause::FullFence, 64),
        (ModelName::Power, Clause::LightFence, 177),
        (ModelName::Armv8, Clause::AfterAcquire, 69),
        (ModelName::Armv8, Clause::BeforeRelease, 122),
    ];
    let room = Room { candidates: 1_500, traces: 200, time: Duration::from_secs(20) };
    for (model, clause, hint) in clauses {
        let noticed = |case: u64| {
            let text = Sketch::new(&mut Random::new(case)).text();
            let program = compiled("random.c", &text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
            matches!(compare_without(&program, model, room, Some(clause)), Outcome::Different(_))
        };
        let first = (hint..hint + 400).find(|&case| noticed(case));
        let first = first.unwrap_or_else(|| panic!("{} without {clause:?} is not noticed", model.name()));
        println!("{} without {clause:?}: case {first}", model.name());
    }
}

/// How the two differ on directed programs, of those that `wanted` says.
fn differences(wanted: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let mut different = Vec::new();
    for (name, text) in directed::PROGRAMS {
        let program = compiled(name, text, &[]).unwrap_or_else(|error| panic!("{error}"));
        for model in ModelName::ALL.into_iter().filter(|model| wanted(name, model.name())) {
            match compare(&program, model, room()) {
                Outcome::Same { .. } => {}
                outcome => different.push(format!("{name} {}: {outcome:?}", model.name())),
            }
        }
    }
    different
}

#[test]
fn explorer_and_enumerator_agree_on_directed_programs() {
    let different = differences(|_, _| true);
    assert!(different.is_empty(), "{}", different.join("\n"));
}
