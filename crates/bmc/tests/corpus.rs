//! Programs with symbolic inputs: the verdict that each file expects, runs replayed on the machine; the corpora of the front
//! ends: never a verdict against theirs; limits; proofs.

use fencepost_answer::FindingKind;
use fencepost_bmc::{Limits, Options, Outcome, Run, StopReason, Verdict, check, prove};
use fencepost_diag::SourceFile;
use fencepost_ir::{Program, globalise_locals_of_main};
use fencepost_machine::buffers::{Action, Move, confirm_moves};
use fencepost_machine::code::Code;
use fencepost_machine::{Config, Model};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The files of a folder beside this crate: name, text and program; those that do not compile alone are left out.
fn programs(folder: &str) -> Vec<(String, String, Program)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("entry").path()).collect();
    files.sort();
    let mut out = Vec::new();
    for path in files {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("readable");
        if name.ends_with(".fp") {
            let program = fencepost_lang::parse(&text).expect("parses");
            out.push((name, text, program));
        } else if name.ends_with(".c") {
            let file = SourceFile::new(&name, &text);
            let Ok(compiled) = fencepost_c::compile(&file, &fencepost_c::Options::default()) else {
                continue;
            };
            let mut program = globalise_locals_of_main(&compiled.program);
            for instr in program.functions.iter_mut().flat_map(|f| &mut f.body) {
                if let fencepost_ir::Instr::CompareExchange { weak, .. } = instr {
                    *weak = false;
                }
            }
            out.push((name, text, program));
        }
    }
    out
}

fn options(name: &str, unroll: u32) -> Options<'static> {
    let mut options = Options::default();
    options.symbolic.unroll = unroll;
    options.symbolic.c = name.ends_with(".c");
    options
}

/// Does a run on the machine; the error says that the machine cannot.
fn replay(name: &str, program: &Program, outcome: &Outcome<Run>) -> Result<FindingKind, String> {
    let code = Code::for_replay(program).map_err(|unsupported| unsupported.what)?;
    let mut config = Config::new(Model::Sc);
    config.c = name.ends_with(".c");
    let run = outcome.run.as_ref().expect("a run");
    let moves: Vec<Move> = run
        .steps
        .iter()
        .map(|step| Move {
            thread: step.thread as u8,
            action: Action::Step { choice: step.choice, spurious: step.spurious },
        })
        .collect();
    match confirm_moves(&code, &config, &moves) {
        Ok(finding) => Ok(finding.kind),
        Err(why) => panic!("{name}: {:?} is not confirmed: {why}", outcome.finding),
    }
}

#[test]
fn symbolic_inputs() {
    let all = programs("corpus");
    assert!(all.len() >= 10);
    for (name, text, program) in all {
        let expected =
            text.lines().find_map(|line| line.strip_prefix(" * expect: ")).expect("an expectation");
        let start = Instant::now();
        let outcome = check(&program, &options(&name, 8)).expect("supported");
        println!(
            "{name}: {:?} {:.2} s, {:?}",
            outcome.verdict,
            start.elapsed().as_secs_f64(),
            outcome.statistics
        );
        match expected {
            "safe" => {
                assert_eq!(outcome.verdict, Verdict::Safe, "{name}: {:?} {:?}", outcome.finding, outcome.why)
            }
            "unsafe" => {
                assert_eq!(outcome.verdict, Verdict::Unsafe, "{name}: {:?}", outcome.why);
                replay(&name, &program, &outcome).expect("a machine");
            }
            other => panic!("{name}: {other} is no expectation"),
        }
        assert!(!outcome.cut, "{name}");
    }
}

/// `sc=safe` and `sc=unsafe` of the other corpora.
fn expects_safe(text: &str) -> Option<bool> {
    let words = text.lines().find_map(|line| line.split_once("expect: ")).map(|(_, words)| words)?;
    words.split(' ').find_map(|word| word.strip_prefix("sc=")).map(|word| word == "safe")
}

#[test]
fn verdicts_of_the_other_corpora() {
    let (mut answered, mut replayed, mut false_alarms) = (0, 0, Vec::new());
    for folder in ["../lang/corpus", "../c/corpus"] {
        for (name, text, program) in programs(folder) {
            let Some(safe) = expects_safe(&text) else { continue };
            let mut options = options(&name, 1);
            options.symbolic.limits.deadline = Some(Instant::now() + Duration::from_millis(300));
            let Ok(outcome) = check(&program, &options) else { continue };
            match outcome.verdict {
                Verdict::Safe if !outcome.cut => answered += 1,
                // Cells have one size here; `check` says unknown where another comes.
                Verdict::Unsafe if safe => {
                    assert!(replay(&name, &program, &outcome).is_err(), "{name}: {:?}", outcome.finding);
                    false_alarms.push(format!("{name}: {:?}", outcome.finding));
                }
                Verdict::Unsafe => {
                    answered += 1;
                    replayed += u32::from(replay(&name, &program, &outcome).is_ok());
                }
                _ => {}
            }
        }
    }
    println!("{answered} answered, {replayed} replayed");
    assert!(answered >= 60 && replayed >= 10, "{answered} answered, {replayed} replayed");
    let known = |name: &String| ["sizes_", "union_"].iter().any(|kind| name.starts_with(kind));
    assert!(false_alarms.iter().all(known), "false alarms that no replay confirms: {false_alarms:?}");
}

/// Mutual exclusion without fences, at unroll 2: safe under SC.
#[test]
fn mutual_exclusion() {
    for (name, text, program) in programs("../lang/corpus") {
        if expects_safe(&text) == Some(true) && !name.contains('3') {
            let outcome = check(&program, &options(&name, 2)).expect("supported");
            assert_eq!(outcome.verdict, Verdict::Safe, "{name}: {:?} {:?}", outcome.finding, outcome.why);
        }
    }
}

#[test]
fn limits_end_in_unknown() {
    let all = programs("../lang/corpus");
    let (name, _, program) = all.iter().find(|(name, ..)| name == "dijkstra3.fp").expect("there");
    let start = Instant::now();
    let mut options = options(name, 8);
    options.symbolic.limits =
        Limits { deadline: Some(start + Duration::from_secs(1)), max_bytes: None, ..Limits::default() };
    let outcome = check(program, &options).expect("supported");
    assert_eq!((outcome.verdict, outcome.stop()), (Verdict::Unknown, Some(StopReason::Timeout)));
    // Others may use the machine, too.
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    options.symbolic.limits = Limits { deadline: None, max_bytes: Some(1_000_000), ..Limits::default() };
    let outcome = check(program, &options).expect("supported");
    assert_eq!((outcome.verdict, outcome.stop()), (Verdict::Unknown, Some(StopReason::Memory)));
}

#[test]
fn proofs_are_written_and_checked() {
    let all = programs("../lang/corpus");
    for wanted in ["peterson.fp", "burns.fp", "bakery.fp"] {
        let (name, _, program) = all.iter().find(|(name, ..)| name == wanted).expect("there");
        let path = std::env::temp_dir().join(format!("fencepost-{}-{name}.lrat", std::process::id()));
        let note = prove(program, &options(name, 2), &path).expect("a proof");
        assert!(note.contains("and checked"), "{note}");
        std::fs::remove_file(path).expect("it was written");
    }
}
