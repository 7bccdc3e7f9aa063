//! The corpus of mutual exclusion algorithms, reduced: verdicts, and text as `.fp` and as C.

use fencepost_ir::{Program, Span};
use fencepost_machine::{Model, Options, Verdict, check};
use fencepost_reduce::{Bound, print_c, reduce_tso};
use std::path::PathBuf;

fn corpus() -> Vec<(String, Program)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../lang/corpus");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("corpus").map(|entry| entry.expect("entry").path()).collect();
    files.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("readable");
        let program = fencepost_lang::parse(&text).expect("parses");
        (program.name.clone(), program)
    };
    files.iter().map(read).collect()
}

fn reduced(program: &Program, bound: Bound) -> Program {
    reduce_tso(program, &fencepost_reduce::Options::new(bound)).expect("covered")
}

#[test]
fn bugs_are_found_at_age_one_and_fenced_versions_are_safe_there() {
    // Three threads at age 1 take a while; the machine's tests have them.
    for (name, program) in corpus().into_iter().filter(|(name, _)| !name.contains('3')) {
        let outcome = check(&reduced(&program, Bound::Age(1)), &Options::new(Model::Sc)).expect("supported");
        let expected = if name.ends_with("_fenced") { Verdict::Safe } else { Verdict::Unsafe };
        assert_eq!(outcome.outcome.verdict, expected, "{name}");
    }
}

fn without_spans(mut program: Program) -> Program {
    program.objects.iter_mut().for_each(|object| object.span = Span::default());
    for function in &mut program.functions {
        function.spans.iter_mut().for_each(|span| *span = Span::default());
    }
    program
}

#[test]
fn what_the_reductions_produce_round_trips_as_fp() {
    for (name, program) in corpus() {
        for bound in [Bound::Age(2), Bound::Rounds(1)] {
            let reduced = reduced(&program, bound);
            let text = fencepost_lang::print(&reduced).expect("printable");
            let again = fencepost_lang::parse(&text).unwrap_or_else(|e| panic!("{name}: {}", e.message));
            assert_eq!(without_spans(again), without_spans(reduced), "{name}");
        }
    }
}

/// The size grows with the program, not with the square of anything: doubling a body at most doubles the result.
#[test]
fn the_result_is_of_linear_size() {
    let size = |n: usize| {
        let body = "x := 1; r := y; fence; ".repeat(n);
        let text = format!("shared x, y; process P {{ reg r; {body} }}");
        let program = fencepost_lang::parse(&text).expect("parses");
        reduced(&program, Bound::Age(2)).functions.iter().map(|f| f.body.len()).sum::<usize>()
    };
    let (a, b, c) = (size(10), size(20), size(40));
    assert_eq!(c - b, 2 * (b - a));
}

#[test]
fn the_emitted_c_compiles_without_warnings() {
    let folder = std::env::temp_dir().join(format!("fencepost-reduce-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("folder");
    for (name, program) in corpus() {
        for (form, program) in [("sc", program.clone()), ("age", reduced(&program, Bound::Age(2)))] {
            let file = folder.join(format!("{name}_{form}.c"));
            std::fs::write(&file, print_c(&program).expect("printable")).expect("written");
            let output = std::process::Command::new("cc")
                .args(["-std=c11", "-Wall", "-Werror", "-fsyntax-only"])
                .arg(&file)
                .output()
                .expect("a C compiler is part of the requirements");
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}
