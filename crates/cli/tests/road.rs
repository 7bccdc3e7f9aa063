//! The road from a file to an answer: what a file is, which engine takes it, which options count.

mod support;

use std::path::PathBuf;
use support::{fencepost, run};

/// A folder that is gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("fencepost-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Folder(folder)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn exit_code(arguments: &[&str]) -> Option<i32> {
    fencepost(arguments).output().expect("it runs").status.code()
}

/// A deadlock is one whatever the file is called, for every engine that looks for deadlocks.
#[test]
fn a_file_is_c_because_it_was_compiled_as_c() {
    let folder = Folder::new("language");
    let text = std::fs::read_to_string(
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../c/corpus/finding_deadlock.c"),
    )
    .expect("in the corpus")
    .replace("expect:", "found:");
    for name in ["deadlock.c", "deadlock.i", "deadlock.h", "deadlock"] {
        let file = folder.write(name, &text);
        for engine in ["states", "explore", "auto"] {
            assert_eq!(
                exit_code(&["check", "-j1", "-m", "tso", "--engine", engine, &file]),
                Some(1),
                "{name} {engine}"
            );
        }
    }
}

#[test]
fn files_of_other_languages_name_the_command() {
    for file in ["examples/sb.litmus", "crates/param/corpus/german.cub", "a.rs", "a.cpp", "a.ll", "a.cat"] {
        insta::assert_snapshot!(
            format!("other_{}", file.rsplit('.').next().unwrap_or("")),
            run(&["check", file])
        );
    }
}

#[test]
fn options_that_an_engine_does_not_honour_are_errors() {
    let file = "crates/c/corpus/litmus_sb_rlx.c";
    for (name, arguments) in [
        ("explore_rounds", &["--engine", "explore", "--rounds", "2"][..]),
        ("states_unroll", &["--engine", "states", "--unroll", "2"]),
        ("states_deps", &["--engine", "states", "--deps", "none"]),
        ("reduce_buffer", &["--engine", "reduce", "--buffer", "2"]),
        ("auto_both", &["--rounds", "2", "--unroll", "2"]),
        ("auto_rounds_rc11", &["--rounds", "2", "-m", "rc11"]),
    ] {
        let all = [&["check", "-j1", "-m", "tso", file][..], arguments].concat();
        let all =
            if arguments.contains(&"-m") { [&["check", "-j1", file][..], arguments].concat() } else { all };
        insta::assert_snapshot!(name, run(&all));
    }
}

#[test]
fn limits_are_numbers() {
    let file = "crates/c/corpus/litmus_corr.c";
    for bad in ["nan", "inf", "-inf", "-1", "", "1s", "-0.5"] {
        for command in [
            ["check", file],
            ["litmus", "examples/sb.litmus"],
            ["prove", "crates/param/corpus/litmus_sb.cub"],
        ] {
            let timeout = format!("--timeout={bad}");
            assert_eq!(exit_code(&[command[0], command[1], &timeout]), Some(3), "{command:?} {bad}");
        }
        let memory = format!("--max-memory={bad}");
        assert_eq!(exit_code(&["check", file, &memory]), Some(3), "{bad}");
    }
    for good in ["--timeout=1e300", "--timeout=60", "--max-memory=18446744073709551615", "-j0", "-j1000000"] {
        assert_eq!(exit_code(&["check", file, good]), Some(0), "{good}");
        assert_eq!(exit_code(&["check", "-m", "tso", "--engine", "states", file, good]), Some(0), "{good}");
    }
}

/// A reader that stops reading is no bug of ours, and the exit code stays that of the verdict.
#[test]
fn a_closed_pipe_is_no_bug() {
    for (arguments, code) in [
        (&["check", "-j1", "crates/c/corpus/finding_race.c"][..], 1),
        (&["check", "-j1", "--json", "crates/c/corpus/litmus_corr.c"], 0),
        (&["models", "show", "power"], 0),
        (&["explain"], 0),
        (&["litmus", "examples"], 0),
        (&["prove", "crates/param/corpus/litmus_sb.cub"], 1),
    ] {
        let mut child = fencepost(arguments)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("it runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
        assert!(!errors.contains("internal error"), "{arguments:?}: {errors}");
    }
}

#[test]
fn codes_are_explained() {
    insta::assert_snapshot!("explain_race", run(&["explain", "FP0201"]));
    insta::assert_snapshot!("explain_small_letters", run(&["explain", "fp0902"]));
    insta::assert_snapshot!("explain_unknown", run(&["explain", "FP9999"]));
    insta::assert_snapshot!("explain_all", run(&["explain"]));
}

/// The registry names twins, machines and systems that there are, and names all of them.
#[test]
fn the_registry_names_what_there_is() {
    use fencepost_models::registry::MODELS;
    let twins: Vec<&str> = MODELS.iter().filter_map(|model| model.twin).collect();
    let machines: Vec<&str> = MODELS.iter().filter_map(|model| model.machine).collect();
    let systems: Vec<&str> = MODELS.iter().filter(|model| model.systems).map(|model| model.name).collect();
    let known: Vec<&str> = fencepost_explore::ModelName::ALL.iter().map(|model| model.name()).collect();
    assert!(twins.iter().all(|twin| known.contains(twin)), "{twins:?}");
    assert!(known.iter().all(|name| twins.contains(name)), "{known:?}");
    let exists = |name: &&str| *name == "ps" || fencepost_machine::Model::from_name(name).is_some();
    assert!(machines.iter().all(exists), "{machines:?}");
    let all: Vec<&str> = fencepost_param::model::Model::ALL.iter().map(|model| model.name()).collect();
    assert_eq!(systems, all);
    for model in MODELS.iter().filter(|model| !model.cat.is_empty()) {
        assert!(fencepost_models::Model::builtin(model.name).is_some(), "{}", model.name);
    }
}

/// What an assertion says is the programmer's: no word of it decides the answer.
#[test]
fn an_assertion_may_say_what_it_likes() {
    let folder = Folder::new("words");
    for words in [
        "a thread that there is no room for",
        "the program starts more threads than the reduction has room for",
    ] {
        let program = r#"
            #include <assert.h>
            #include <pthread.h>
            #include <stdatomic.h>
            atomic_int x, y;
            int a, b;
            void *left(void *unused) {
                atomic_store_explicit(&x, 1, memory_order_relaxed);
                a = atomic_load_explicit(&y, memory_order_relaxed);
                return 0;
            }
            void *right(void *unused) {
                atomic_store_explicit(&y, 1, memory_order_relaxed);
                b = atomic_load_explicit(&x, memory_order_relaxed);
                return 0;
            }
            int main(void) {
                pthread_t s, t;
                pthread_create(&s, 0, left, 0);
                pthread_create(&t, 0, right, 0);
                pthread_join(s, 0);
                pthread_join(t, 0);
                assert((a || b) && "WORDS");
            }"#
        .replace("WORDS", words);
        let file = folder.write("words.c", &program);
        for backend in ["states", "bmc"] {
            let asked =
                ["check", "-m", "tso", "--engine", "reduce", "--age", "2", "--backend", backend, &file];
            assert_eq!(exit_code(&asked), Some(1), "{words} {backend}");
        }
    }
}

/// More threads than a reduction has room for are no finding, and the answer does not say otherwise.
#[test]
fn more_threads_than_the_reduction_has_room_for_are_unknown() {
    let folder = Folder::new("room");
    let program = "
        #include <assert.h>
        #include <pthread.h>
        int x;
        pthread_t t[12];
        void *one(void *unused) { return 0; }
        int main(void) {
            for (int i = 0; i < 12; i++) {
                pthread_create(&t[i], 0, one, 0);
                pthread_join(t[i], 0);
            }
            assert(x == 0);
        }";
    let file = folder.write("room.c", program);
    assert_eq!(exit_code(&["check", "-m", "tso", "--engine", "reduce", "--age", "2", &file]), Some(2));
}

/// The condition that is printed is the one of the test, whatever its comments say.
#[test]
fn the_condition_of_a_litmus_test_is_not_one_of_its_comments() {
    let folder = Folder::new("condition");
    let test = "X86 SB\n{ x=0; y=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\n\
                exists (0:EAX=0 (* forall *) /\\\n  1:EAX=0)\n(* no state exists under sc *)\n";
    let file = folder.write("sb.litmus", test);
    let text = run(&["litmus", "--format", "herd", &file]);
    let condition = text.lines().find(|line| line.starts_with("Condition"));
    assert_eq!(condition, Some("Condition exists (0:EAX=0 /\\ 1:EAX=0)"), "{text}");
}
