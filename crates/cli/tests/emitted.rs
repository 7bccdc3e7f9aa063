//! The C that `fencepost reduce` writes says what the machine says: read again and checked by `bmc`, and by a real CBMC where one
//! is installed
//! (`cargo xtask cbmc FOLDER` unpacks one), on random small programs.
//!
//! `FENCEPOST_CASES` sets how many programs there are, `FENCEPOST_SEED` which ones.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fencepost(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fencepost")).args(arguments).output().expect("fencepost runs")
}

/// Whether something is wrong; that a state which is asked for was not found within the bounds counts as wrong.
fn is_wrong(arguments: &[&str]) -> bool {
    let output = fencepost(&[&["check", "--json", "--quiet", "-j1"], arguments].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    let answer: Option<serde_json::Value> = serde_json::from_str(text.lines().last().unwrap_or("")).ok();
    match answer {
        Some(answer) if answer["verdict"] == "safe" => false,
        Some(answer) if answer["verdict"] == "unsafe" || answer["stop"]["kind"] == "none within bounds" => {
            true
        }
        _ => panic!("{arguments:?}: {text}{}", String::from_utf8_lossy(&output.stderr)),
    }
}

fn has_cbmc() -> bool {
    let found = Command::new("cbmc").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        println!("no cbmc here: emitted programs are checked by `bmc` only");
    }
    found
}

/// Numbers from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Two threads of up to four statements over two cells, and a condition about how they end.
fn program(dice: &mut Dice, fence: &str, updates: bool) -> String {
    let mut text = String::from("shared x, y;\n");
    for name in ["P", "Q"] {
        text += &format!("process {name} {{ reg a, b;");
        for _ in 0..2 + dice.roll(3) {
            let cell = ["x", "y"][dice.roll(2) as usize];
            let register = ["a", "b"][dice.roll(2) as usize];
            text += &match dice.roll(if updates { 10 } else { 8 }) {
                0..3 => format!(" {cell} := {};", 1 + dice.roll(2)),
                3..6 => format!(" {register} := {cell};"),
                6 => format!(" {fence};"),
                7 => format!(" if ({register} == 1) {{ {cell} := 2; }}"),
                8 => format!(" {register} := fetch_add({cell}, 1);"),
                _ => format!(" {register} := cas({cell}, 0, 1);"),
            };
        }
        text += " }\n";
    }
    let value = |dice: &mut Dice| dice.roll(3);
    let atoms = [
        format!("P.a == {}", value(dice)),
        format!("Q.a == {}", value(dice)),
        format!("x == {}", value(dice)),
        format!("Q.b == {}", value(dice)),
    ];
    let quantifier = ["never", "never", "exists", "forall"][dice.roll(4) as usize];
    let condition = match quantifier {
        "forall" => format!("{} || {}", atoms[dice.roll(2) as usize], atoms[2 + dice.roll(2) as usize]),
        _ => format!("{} && {}", atoms[dice.roll(2) as usize], atoms[2 + dice.roll(2) as usize]),
    };
    text + &format!("observe P.a, P.b, Q.a, Q.b, x, y; {quantifier} {condition};\n")
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("fencepost-emitted-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Folder(folder)
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

/// What the emitted program says: an `exists` is asked the other way round.
fn read_again(file: &str, exists: bool) -> bool {
    is_wrong(&[file, "-m", "sc", "--engine", "bmc"]) != exists
}

fn compare(name: &str, fence: &str, model: &[&str], machine: &[&str], cases: u64) {
    let (folder, cbmc) = (Folder::new(name), has_cbmc());
    let mut dice = Dice(number("FENCEPOST_SEED", 11));
    let mut unsafe_ones = 0;
    let updates = model.contains(&"ps");
    for case in 0..number("FENCEPOST_CASES", cases) {
        let text = program(&mut dice, fence, updates);
        let source = folder.file("program.fp", &text);
        let expected = is_wrong(&[&[source.as_str(), "--engine", "states"], machine].concat());
        unsafe_ones += u64::from(expected);
        let emitted = folder.0.join("emitted.c").display().to_string();
        let output = fencepost(&[&["reduce", source.as_str(), "-o", emitted.as_str()], model].concat());
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        let compiles =
            Command::new("cc").args(["-std=c11", "-Wall", "-Werror", "-fsyntax-only", &emitted]).output();
        let compiles = compiles.expect("a C compiler is part of the requirements");
        assert!(compiles.status.success(), "{text}{}", String::from_utf8_lossy(&compiles.stderr));
        let found = read_again(&emitted, text.contains("exists"));
        assert_eq!(found, expected, "{name}, case {case}, emitted and read again:\n{text}");
        if cbmc {
            let found =
                is_wrong(&[&[source.as_str(), "--engine", "reduce", "--backend", "cbmc"], machine].concat());
            assert_eq!(found, expected, "{name}, case {case}, by CBMC:\n{text}");
        }
    }
    println!("{name}: something is wrong with {unsafe_ones} of the programs, no difference");
}

#[test]
fn tso_by_rounds() {
    for rounds in ["1", "2", "3"] {
        let bound = ["-m", "tso", "--rounds", rounds];
        compare(&format!("tso-rounds-{rounds}"), "fence", &bound, &bound, 8);
    }
}

#[test]
fn natural_programs_are_emitted() {
    let folder = Folder::new("natural");
    let file = folder.file(
        "counter.c",
        "#include <assert.h>\n#include <pthread.h>\n#include <stdint.h>\n\
         static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\nstatic int counter;\n\
         static void *add(void *by) { pthread_mutex_lock(&lock); counter += (int)(intptr_t)by; pthread_mutex_unlock(&lock);\n\
         return by; }\n\
         int main(void) { pthread_t a, b; void *first, *second;\n\
         pthread_create(&a, 0, add, (void *)1); pthread_create(&b, 0, add, (void *)2);\n\
         pthread_join(a, &first); pthread_join(b, &second);\n\
         assert(counter == (int)((intptr_t)first + (intptr_t)second)); return 0; }\n",
    );
    let emitted = folder.0.join("emitted.c").display().to_string();
    let output = fencepost(&["reduce", &file, "-m", "tso", "--rounds", "3", "-o", &emitted]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!read_again(&emitted, false));
    let text = std::fs::read_to_string(&emitted).expect("emitted");
    assert!(!text.contains("pthread"), "a sequential program has no threads");
    assert!(Path::new(&emitted).exists());
}
#[test]
fn power_by_contexts() {
    for contexts in ["2", "3"] {
        let bound = ["-m", "power", "--contexts", contexts];
        compare(&format!("power-{contexts}"), "fence", &bound, &bound, 3);
    }
}

/// With promises and without, read-modify-writes among the statements.
#[test]
fn promising_by_bound() {
    for (bound, promises) in [("2", "0"), ("2", "1"), ("3", "1"), ("3", "2")] {
        let bound = ["-m", "ps", "--bound", bound, "--promises", promises];
        compare(&format!("ps-{}-{promises}", bound[3]), "fence", &bound, &bound, 2);
    }
}

/// Load buffering needs a promise and two view switches, which CBMC finds.
#[test]
fn cbmc_finds_load_buffering() {
    if !has_cbmc() {
        return;
    }
    let folder = Folder::new("load-buffering");
    let file = folder.file(
        "lb.fp",
        "shared x, y; process P { reg a; a := x; y := 1; } process Q { reg b; b := y; x := b; } \
         observe P.a, Q.b; never P.a == 1 && Q.b == 1;",
    );
    for (bound, wrong) in [("2", false), ("3", true)] {
        let question =
            [file.as_str(), "-m", "ps", "--engine", "reduce", "--backend", "cbmc", "--bound", bound];
        assert_eq!(is_wrong(&question), wrong, "K = {bound}");
    }
}
