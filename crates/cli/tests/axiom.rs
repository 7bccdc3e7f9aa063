//! The axioms of models as clauses, from the command line: what `auto` leaves to the engine, models of one's own, what is
//! refused.

use std::path::{Path, PathBuf};
use std::process::Command;

fn path(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name).display().to_string()
}

fn fencepost(arguments: &[&str]) -> (String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_fencepost")).args(arguments).output().expect("fencepost runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn json(arguments: &[&str]) -> serde_json::Value {
    let mut all = vec!["check", "--json", "--timeout", "60"];
    all.extend(arguments);
    let (out, error) = fencepost(&all);
    serde_json::from_str(out.lines().last().unwrap_or(""))
        .unwrap_or_else(|_| panic!("{arguments:?}: {out}{error}"))
}

#[test]
fn inputs_without_a_range_have_an_answer_under_weak_models() {
    for (file, verdict) in [("ring.c", "safe"), ("ring_overrun.c", "unsafe")] {
        for model in ["tso", "rc20", "power", "armv8"] {
            let answer = json(&["-m", model, &path(&format!("crates/bmc/corpus/{file}"))]);
            assert_eq!(answer["verdict"], verdict, "{file} under {model}: {answer}");
            assert_eq!(answer["engine"], "axiom", "{file} under {model}: {answer}");
        }
    }
}

#[test]
fn what_is_found_is_told() {
    let file = path("crates/c/corpus/litmus_mp_rlx.c");
    let (out, _) = fencepost(&["check", "--engine", "axiom", "-m", "armv8", &file]);
    for part in ["error[FP0101]", "an execution that shows it", "the cycle", "unsafe under armv8"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let answer = json(&["--engine", "axiom", "-m", "sc", &file]);
    assert_eq!((&answer["verdict"], &answer["scope"]), (&"safe".into(), &"all".into()), "{answer}");
    assert!(answer["checks"].as_str().is_some_and(|checks| checks.contains("assertions")), "{answer}");
}

/// A file of a test, which is deleted with it.
struct Model(PathBuf);

impl Model {
    fn new(name: &str, text: &str) -> Model {
        let path = std::env::temp_dir().join(format!("fencepost-{}-{name}.cat", std::process::id()));
        std::fs::write(&path, text).expect("written");
        Model(path)
    }

    fn name(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_model_of_ones_own_is_a_file() {
    let program = path("crates/c/corpus/litmus_mp_rlx.c");
    let strong = Model::new("strong", "C \"strong\"\nacyclic po | rf | co | fr as sc\n");
    let weak = Model::new("weak", "C \"weak\"\nacyclic po-loc | rf | co | fr as coherence\n");
    let verdict = |model: &Model| json(&["-m", &model.name(), &program])["verdict"].clone();
    assert_eq!((verdict(&strong), verdict(&weak)), ("safe".into(), "unsafe".into()));
    let odd = Model::new("odd", "C \"odd\"\nlet hb = (po | rf)+\nempty co \\ hb as odd\n");
    let (_, error) = fencepost(&["check", "-m", &odd.name(), &program]);
    assert!(error.contains("has no meaning as clauses") && error.contains("definition of `hb`"), "{error}");
    let broken = Model::new("broken", "C \"broken\"\nacyclic po | rff as a\n");
    let (_, error) = fencepost(&["check", "-m", &broken.name(), &program]);
    assert!(error.contains("unknown name `rff`") && error.contains("did you mean `rf`"), "{error}");
}
