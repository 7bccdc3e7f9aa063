//! Litmus tests as C programs and counterexamples as litmus tests: what is written says the same as what it was written from.
//!
//! `FENCEPOST_FULL=1` takes 175 shared tests of each kind instead of eight. Without the shared files that test is absent.

mod support;

use fencepost::{Litmus, Outcome};
use insta::assert_snapshot;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use support::{fencepost, run, show};

/// A folder that goes when it is not needed any more.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("fencepost-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn file(&self, name: &str, text: &str) -> String {
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

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "litmus") {
            found.push(path);
        }
    }
}

fn answer(text: &str, model: &str) -> Option<Outcome> {
    let outcome = Litmus::new("test", text).model(model).timeout(Duration::from_secs(10)).run().ok()?;
    (outcome.stop_reason.is_none() && outcome.observed.is_some()).then_some(outcome)
}

/// A final state as what a condition asks about.
fn asked(state: &str) -> String {
    let parts: Vec<&str> = state.split(';').map(str::trim).filter(|part| !part.is_empty()).collect();
    match parts.is_empty() {
        true => "true".to_owned(),
        false => format!("({})", parts.join(" /\\ ")),
    }
}

fn check(arguments: &[&str]) -> Value {
    let output = fencepost(&[&["check", "--json", "-j1"][..], arguments].concat()).output().expect("it runs");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{arguments:?}: {}", show(&output)))
}

/// The program of a test with another condition: its verdict.
fn verdict_of_program(folder: &Folder, test: &str) -> Result<String, String> {
    let path = folder.file("test.litmus", test);
    let output = fencepost(&["litmus", "--as", "c", &path]).output().expect("it runs");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let program = String::from_utf8_lossy(&output.stdout).into_owned();
    let how = program
        .split_once("fencepost check ")
        .and_then(|(_, rest)| rest.split_once(" */"))
        .expect("a first line")
        .0;
    let path = folder.file("test.c", &program);
    let arguments: Vec<&str> = how.split(' ').chain([path.as_str()]).collect();
    let answer = check(&arguments);
    if answer["findings"][0]["code"] == "FP0201" {
        return Err("a race has no final states".to_owned());
    }
    Ok(answer["verdict"].as_str().expect("a verdict").to_owned())
}

/// A test has the states S if the program that asserts *one of S* is safe and each program that asserts *not s* is unsafe.
#[test]
fn a_test_as_a_program_has_the_same_states() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let mut all = Vec::new();
    files(&root.join("litmus"), &mut all);
    files(&root.join("litmus-more"), &mut all);
    if all.is_empty() {
        println!("absent: there are no shared litmus tests");
        return;
    }
    all.sort();
    let wanted = if std::env::var_os("FENCEPOST_FULL").is_some() { 175 } else { 8 };
    let folder = Folder::new("as-c");
    let models = [("PPC", "power"), ("X86", "tso"), ("X86_64", "tso"), ("AArch64", "armv8"), ("C", "rc11")];
    let mut refused = BTreeMap::<String, usize>::new();
    let mut same = 0;
    for (header, model) in models {
        let of_kind = |path: &&PathBuf| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            text.split_whitespace().next() == Some(header)
        };
        let kind: Vec<&PathBuf> = all.iter().filter(of_kind).collect();
        // Spread over the folders.
        let step = (kind.len() / (2 * wanted)).max(1);
        let mut done = 0;
        for path in kind.into_iter().step_by(step) {
            if done == wanted {
                break;
            }
            let text = std::fs::read_to_string(path).expect("it can be read");
            let Some(at) = ["\nforall", "\nexists", "\n~exists", "\n~ exists", "\nlocations"]
                .iter()
                .filter_map(|word| text.find(word))
                .min()
            else {
                continue;
            };
            let Some(observed) = answer(&text, model).and_then(|outcome| outcome.observed) else { continue };
            // Some tests show all registers: as many programs would take long.
            if observed.states.is_empty() || observed.states.len() > 24 {
                continue;
            }
            let states: Vec<String> = observed.states.iter().map(|state| asked(state)).collect();
            let within = format!("{}\nforall {}\n", &text[..at], states.join(" \\/ "));
            let shown = path.display();
            match verdict_of_program(&folder, &within) {
                Err(error) => {
                    let why = error.rsplit("written as C: ").next().unwrap_or_default().trim().to_owned();
                    *refused.entry(why).or_default() += 1;
                    continue;
                }
                Ok(verdict) => assert_eq!(verdict, "safe", "{shown}: the program has more states\n{within}"),
            }
            for state in &states {
                let without = format!("{}\n~exists {state}\n", &text[..at]);
                let verdict = verdict_of_program(&folder, &without).expect("it is written");
                assert_eq!(verdict, "unsafe", "{shown}: the program does not have {state}");
            }
            done += 1;
        }
        same += done;
    }
    println!("{same} tests have the same states as C programs; refused: {refused:?}");
    assert!(same >= 3 * wanted, "only {same} tests were written");
}

/// The models that the explorer knows.
fn models() -> Vec<&'static str> {
    fencepost_models::registry::names(|model| model.twin.is_some())
}

/// Programs that assert what is read, without plain data, each access of which is one of the test.
const PLAIN: [&str; 7] = [
    "litmus_2_2w_rlx",
    "litmus_iriw_relacq",
    "litmus_lb_rlx",
    "litmus_sb_rlx",
    "assertion_in_function",
    "assertion_of_two",
    "assertion_orders_nothing",
];

/// Programs whose counterexamples differ from model to model.
const LONGER: [&str; 3] = ["dekker_2_rlx", "peterson_2_rlx", "litmus_mp_rlx"];

#[test]
fn a_counterexample_as_a_test_has_the_same_verdict() {
    let folder = Folder::new("as-litmus");
    for program in PLAIN.iter().chain(&LONGER) {
        let source = format!("crates/c/corpus/{program}.c");
        let mut verdicts = Vec::new();
        let mut tests = Vec::new();
        for model in models() {
            let path = folder.0.join(format!("{program}-{model}.litmus"));
            let path = path.display().to_string();
            let verdict = check(&["-m", model, "--as-litmus", &path, &source])["verdict"].clone();
            let is_unsafe = verdict == "unsafe";
            verdicts.push(is_unsafe);
            match (is_unsafe, std::fs::read_to_string(&path)) {
                (true, Ok(text)) => tests.push((model, text)),
                (false, Err(_)) => {}
                (true, Err(_)) => panic!("{program} under {model}: no test was written"),
                (false, Ok(_)) => panic!("{program} under {model}: a test of nothing was written"),
            }
        }
        assert!(!tests.is_empty(), "{program} has no counterexample");
        for (made_under, text) in &tests {
            for (model, &is_unsafe) in models().iter().zip(&verdicts) {
                if !PLAIN.contains(program) && model != made_under {
                    continue;
                }
                let observed = answer(text, model).and_then(|outcome| outcome.observed).expect("an answer");
                let allowed = observed.satisfying > 0;
                assert_eq!(allowed, is_unsafe, "{program}, the test of {made_under} under {model}\n{text}");
            }
        }
    }
}

#[test]
fn what_cannot_be_written_is_said() {
    let folder = Folder::new("unwritten");
    let hidden = |said: String| said.replace(&folder.0.display().to_string(), "FOLDER");
    let kernel = "C kernel\n{}\nP0(int *x, int *y) { WRITE_ONCE(*x, 1); smp_mb(); int r0 = READ_ONCE(*y); }\nexists (0:r0=0)\n";
    let parts = "AArch64 parts\n{ 0:X1=x; 1:X1=x; uint32_t x; }\n P0 | P1 ;\n MOV W0,#1 | LDRB W2,[X1] ;\n STR \
        W0,[X1] | ;\nexists (1:X2=1)\n";
    let riscv = "RISCV other\n{ 0:x6=x; }\n P0 ;\n ori x5,x0,1 ;\n sw x5,0(x6) ;\nexists (x=1)\n";
    for (name, text) in [("kernel", kernel), ("parts", parts), ("riscv", riscv)] {
        let path = folder.file(&format!("{name}.litmus"), text);
        assert_snapshot!(format!("as_c_{name}"), hidden(run(&["litmus", "--as", "c", &path])));
    }
    let two = [folder.file("a.litmus", kernel), folder.file("b.litmus", kernel)];
    assert_snapshot!("as_c_two", hidden(run(&["litmus", "--as", "c", &two[0], &two[1]])));
    let test = folder.0.join("x.litmus").display().to_string();
    for (name, program, model) in [
        ("alone", "crates/c/corpus/finding_null.c", "rc11"),
        ("safe", "crates/c/corpus/litmus_mp_relacq.c", "rc11"),
        ("started_late", "crates/c/corpus/allocated_local.c", "rc11"),
    ] {
        let said = fencepost(&["check", "-q", "-m", model, "--as-litmus", &test, program])
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        assert_snapshot!(format!("as_litmus_{name}"), hidden(said));
    }
}

#[test]
fn cycles_that_are_none_are_errors() {
    let said: Vec<String> = [
        &["PodWR Rfe PodWR Fre", "--arch", "x86"][..],
        &["PodWR Fre PodWR", "--arch", "x86"],
        &["SyncdWR Fre PodWR Fre", "--arch", "x86"],
        &["Foo Fre PodWR Fre", "--arch", "x86"],
        &["", "--arch", "x86"],
        &["PodWR Fre PodWR Fre", "--arch", "z80"],
        &["PodWR Fri", "--arch", "ppc"],
        &["--tell", "tso", "rc11"],
        &["--tell", "tso", "nobody"],
        &["--relax", "PodWR Foo", "--arch", "x86"],
    ]
    .iter()
    .map(|arguments| {
        format!("$ litmus gen {}\n{}", arguments.join(" "), run(&[&["litmus", "gen"], *arguments].concat()))
    })
    .collect();
    assert_snapshot!(said.join("\n"));
}

/// Store buffering on this machine.
const BUFFERING: &str = "X86 SB\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\n\
    exists (0:EAX=0 /\\ 1:EAX=0)\n";

#[test]
fn tests_that_cannot_run_here_are_errors() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        println!("absent: the messages name another machine");
        return;
    }
    let folder = Folder::new("unrun");
    let hidden = |said: String| said.replace(&folder.0.display().to_string(), "FOLDER");
    let buffering = folder.file("buffering.litmus", BUFFERING);
    let power = folder.file("power.litmus", "PPC p\n{ 0:r1=x; }\n P0 ;\n lwz r2,0(r1) ;\nexists (0:r2=0)\n");
    let c = folder.file("c.litmus", "C c\n{ }\nP0(atomic_int *x) { atomic_store(x, 1); }\nexists (x=1)\n");
    let said: Vec<String> = [
        &["--cores", "0", &buffering][..],
        &[&power],
        &[&c],
        &["--cc", "no-such-compiler", &buffering],
        &["-m", "nobody", &buffering],
        &["missing.litmus"],
    ]
    .iter()
    .map(|arguments| {
        hidden(format!(
            "$ litmus run {}\n{}",
            arguments.join(" "),
            run(&[&["litmus", "run"], *arguments].concat())
        ))
    })
    .collect();
    assert_snapshot!(said.join("\n"));
}

/// Two cores of any x86 processor show the store buffer, and nothing that TSO forbids; a model that is wrong is reported.
#[test]
fn the_machine_shows_what_its_model_allows() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let has_compiler = std::process::Command::new("cc").arg("--version").output().is_ok();
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) || cores < 2 || !has_compiler {
        println!("absent: no x86-64 Linux with two cores and a C compiler");
        return;
    }
    let folder = Folder::new("run");
    let path = folder.file("buffering.litmus", BUFFERING);
    let rows = |model: &str| -> (Value, i32) {
        let arguments = ["litmus", "run", "--json", "--times", "200000", "--time", "20", "-m", model, &path];
        let output = fencepost(&arguments).output().expect("it runs");
        let row = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", show(&output)));
        (row, output.status.code().unwrap_or(-1))
    };
    let caught = |row: &Value, satisfying: bool| {
        let mut states = row["states"].as_array().expect("states").iter();
        states.any(|state| {
            state["count"] != 0 && (state["allowed"] == false || satisfying && state["satisfies"] == true)
        })
    };
    let (tso, code) = rows("tso");
    assert_eq!((code, &tso["contradicted"], caught(&tso, false)), (0, &Value::Bool(false), false), "{tso}");
    assert!(tso["runs"].as_u64().expect("a count") > 0, "{tso}");
    // A busy machine may never let both threads run at one time: then the broken model cannot be caught either.
    println!("weak outcome seen: {}", caught(&tso, true));
    let (sc, code) = rows("sc");
    assert_eq!(code == 1, caught(&sc, false), "{sc}");
    assert_eq!(caught(&sc, false), caught(&sc, true), "{sc}");
}
