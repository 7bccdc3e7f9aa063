//! Programs with symbolic inputs, which the explorer refuses, under every model; models and programs that are refused; lemmas.

mod support;

use fencepost_answer::Verdict;
use fencepost_axiom::{Options, is_supported};
use fencepost_diag::SourceFile;
use fencepost_models::Model;
use std::path::PathBuf;
use support::{answered, compiled, options};

const MODELS: [&str; 8] = ["sc", "tso", "pso", "ra", "rc11", "rc20", "power", "armv8"];

#[test]
fn symbolic_inputs() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../bmc/corpus");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "c"));
    files.sort();
    assert!(files.len() >= 10);
    for path in files {
        let text = std::fs::read_to_string(&path).expect("readable");
        let expected =
            text.lines().find_map(|line| line.strip_prefix(" * expect: ")).expect("an expectation");
        let expected = if expected == "safe" { Verdict::Safe } else { Verdict::Unsafe };
        let compiled = compiled(&text);
        for name in MODELS {
            let model = Model::builtin(name).expect("built in");
            let options = Options { unroll: 8, ..options(&model) };
            let outcome = answered(&compiled, name, &model, &options).expect("supported");
            assert_eq!(outcome.verdict, expected, "{} under {name}: {outcome:?}", path.display());
            assert!(!outcome.cut, "{} under {name}", path.display());
        }
    }
}

/// Counters by ten threads: with what counting says, and no matter what it says.
#[test]
fn lemmas_change_no_answer() {
    let program = |threads: u32, claimed: u32| {
        format!(
            "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\natomic_int c;\n\
             void *add(void *a) {{ atomic_fetch_add_explicit(&c, 2, memory_order_relaxed); return 0; }}\n\
             int main(void) {{\n    pthread_t t[{threads}];\n\
             for (int i = 0; i < {threads}; i++) pthread_create(&t[i], 0, add, 0);\n\
             for (int i = 0; i < {threads}; i++) pthread_join(t[i], 0);\n\
             assert(atomic_load_explicit(&c, memory_order_relaxed) == {claimed});\n    return 0;\n}}\n"
        )
    };
    for name in MODELS {
        let model = Model::builtin(name).expect("built in");
        let verdict = |threads: u32, claimed: u32, lemmas: bool| {
            let options = Options { unroll: 12, lemmas, ..options(&model) };
            let compiled = compiled(&program(threads, claimed));
            answered(&compiled, name, &model, &options).expect("supported").verdict
        };
        for lemmas in [true, false] {
            assert_eq!(verdict(4, 8, lemmas), Verdict::Safe, "{name}");
            assert_eq!(verdict(4, 6, lemmas), Verdict::Unsafe, "{name}");
        }
        assert_eq!(verdict(10, 20, true), Verdict::Safe, "{name}");
        assert_eq!(verdict(10, 19, true), Verdict::Unsafe, "{name}");
    }
}

/// What has no meaning as clauses is refused, with its place in the model.
#[test]
fn models_with_the_wrong_sign_are_refused() {
    let refused = |text: &str| {
        let file = SourceFile::new("mine.cat", text);
        let model = Model::from_file(&file, &|_| None).expect("a model");
        let unsupported = is_supported(&model, &[]).expect_err("refused");
        (unsupported.what.clone(), model.defined_at(unsupported.node).map(|(name, _)| name))
    };
    let (what, place) = refused("C \"mine\"\nlet hb = (po | rf)+\nlet odd = co \\ hb\nempty odd as odd\n");
    assert!(what.starts_with("a closure"), "{what}");
    assert_eq!(place.as_deref(), Some("hb"));
    let (what, _) = refused("C \"mine\"\nacyclic po | rf as a\n~empty rf & ext as there\n");
    assert!(what.contains("`there`"), "{what}");
    // Exact where it is no closure.
    let file =
        SourceFile::new("mine.cat", "C \"mine\"\nlet early = co \\ (rf; rmw)\nempty early & rmw as e\n");
    let model = Model::from_file(&file, &|_| None).expect("a model");
    assert!(is_supported(&model, &[]).is_ok());
}

/// A model in which nothing is ordered has all outcomes, and none that is incoherent is lost.
#[test]
fn models_without_coherence_have_their_executions() {
    let text = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\natomic_int x;\n\
                void *w(void *a) { atomic_store_explicit(&x, 1, memory_order_relaxed); return 0; }\n\
                int main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, w, 0);\n\
                int a = atomic_load_explicit(&x, memory_order_relaxed);\n\
                int b = atomic_load_explicit(&x, memory_order_relaxed);\n\
                assert(!(a == 1 && b == 0));\n    return 0;\n}\n";
    let compiled = compiled(text);
    let verdict = |cat: &str| {
        let file = SourceFile::new("mine.cat", cat);
        let model = Model::from_file(&file, &|_| None).expect("a model");
        let options = Options { private_memory: false, ..options(&model) };
        answered(&compiled, "sc", &model, &options).expect("supported").verdict
    };
    assert_eq!(verdict("C \"mine\"\nacyclic po | rf as a\n"), Verdict::Unsafe);
    assert_eq!(
        verdict("C \"mine\"\nacyclic po | rf as a\nacyclic po-loc | rf | co | fr as b\n"),
        Verdict::Safe
    );
}
