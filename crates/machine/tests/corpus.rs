//! Mutual exclusion with unbounded waiting loops: the verdicts that each file of the corpus expects, as proofs.

use fencepost_machine::{Model, Options, Verdict, check};
use std::path::PathBuf;

fn corpus() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../lang/corpus");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("corpus").map(|entry| entry.expect("entry").path()).collect();
    files.sort();
    let read = |path: &PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        (name, std::fs::read_to_string(path).expect("readable"))
    };
    files.iter().map(read).collect()
}

/// `// expect: sc=safe tso=unsafe`
fn expected(text: &str, model: Model) -> Verdict {
    let line = text.lines().find_map(|line| line.strip_prefix("// expect: ")).expect("an expectation");
    let prefix = format!("{}=", model.name());
    match line.split(' ').find_map(|word| word.strip_prefix(prefix.as_str())) {
        Some("safe") => Verdict::Safe,
        Some("unsafe") => Verdict::Unsafe,
        other => panic!("{other:?} is no expectation"),
    }
}

#[test]
fn verdicts() {
    for (name, text) in corpus() {
        let program = fencepost_lang::parse(&text).expect("parses");
        for model in [Model::Sc, Model::Tso] {
            for jobs in [1, 2] {
                let mut options = Options::new(model);
                options.search.jobs = jobs;
                let outcome = check(&program, &options).expect("supported");
                assert_eq!(outcome.outcome.verdict, expected(&text, model), "{name} {model:?}");
                match outcome.outcome.verdict {
                    // No bound: a proof.
                    Verdict::Safe => assert!(outcome.outcome.bounds.is_empty(), "{name}"),
                    _ => assert!(!outcome.outcome.findings[0].run.is_empty(), "{name}"),
                }
            }
        }
    }
}

#[test]
fn tso_bugs_are_found_at_age_one_or_with_two_rounds() {
    for (name, text) in corpus().into_iter().filter(|(_, text)| expected(text, Model::Tso) == Verdict::Unsafe)
    {
        let program = fencepost_lang::parse(&text).expect("parses");
        let mut by_age = Options::new(Model::Tso);
        by_age.config.age = Some(1);
        let age = check(&program, &by_age).expect("supported").outcome.verdict;
        assert_eq!(age, Verdict::Unsafe, "{name}");
        let mut by_rounds = Options::new(Model::Tso);
        by_rounds.config.rounds = Some(2);
        let rounds = check(&program, &by_rounds).expect("supported").outcome.verdict;
        assert_eq!(rounds, Verdict::Unsafe, "{name}");
    }
}

/// One run in full, buffers shown: the store of the flag waits while the other thread's flag is read.
#[test]
fn a_run_shows_the_buffers() {
    let text = "shared x, y, bad; \
                process P { reg r; x := 1; r := y; atomic { bad := bad + (r == 0); } } \
                process Q { reg r, b; y := 1; r := x; b := bad; assert(!(r == 0 && b == 1)); }";
    let program = fencepost_lang::parse(text).expect("parses");
    let outcome = check(&program, &Options::new(Model::Tso)).expect("supported");
    assert_eq!(outcome.outcome.verdict, Verdict::Unsafe);
    let run = &outcome.outcome.findings[0].run;
    assert!(run.iter().any(|step| step.held.iter().any(|held| !held.is_empty())));
    assert_eq!(check(&program, &Options::new(Model::Sc)).expect("supported").outcome.verdict, Verdict::Safe);
}
