//! What somebody new tries in the first hour: C as it lies on a disk, words that are nearly right, and files for other commands.
//! The texts are snapshots.

mod support;

use support::{fencepost, run};

fn data(name: &str) -> String {
    format!("crates/cli/tests/data/{name}.c")
}

#[test]
fn words_of_c23_are_known() {
    let text = run(&["check", "-j1", &data("c23_words")]);
    assert!(
        text.contains("exit code 0") && text.contains("c23_words.c: safe under rc20 (1 execution"),
        "{text}"
    );
}

#[test]
fn misspelt_names_of_the_library_are_guessed() {
    let text = run(&["check", "-j1", &data("misspelt_atomic")]);
    assert!(text.contains("did you mean `atomic_store`?"), "{text}");
}

#[test]
fn functions_without_a_body_and_volatile_objects_are_taken_as_asked() {
    let file = data("without_a_body");
    assert!(run(&["check", "-j1", &file]).contains("the function `ready` has no body"));
    assert!(run(&["check", "-j1", &file, "--any-result"]).contains("data race on `flag`"));
    let text = run(&["check", "-j1", &file, "--any-result", "--volatile-atomic"]);
    let said = "functions without a body return any number and do nothing else, volatile accesses taken for relaxed atomic ones";
    assert!(text.contains("exit code 0") && text.contains(said), "{text}");
}

#[test]
fn statements_on_one_line_are_told_apart() {
    let text = run(&["check", "-j1", "-m", "armv8", &data("on_one_line")]);
    assert!(text.contains("the two loads of main, both at line 6, were done out of order"), "{text}");
    assert!(text.contains("between the two accesses of w at line 5"), "{text}");
}

#[test]
fn files_that_are_none_of_ours_are_named() {
    let text = run(&["litmus", &data("on_one_line")]);
    assert!(text.contains("on_one_line.c is a program, by its name\n  use `fencepost check`"), "{text}");
    let folder = std::env::temp_dir().join(format!("fencepost-binary-{}.c", std::process::id()));
    std::fs::write(&folder, [127, b'E', b'L', b'F', 0, 1]).expect("written");
    let text = run(&["check", &folder.display().to_string()]);
    let _ = std::fs::remove_file(&folder);
    assert!(text.contains("is no text: it has bytes that are zero"), "{text}");
}

/// A header that is not built in is found where the compiler of the machine has it, and flags of compilers are sorted out.
#[test]
fn headers_of_the_system_are_found() {
    if !std::path::Path::new("/usr/include/sys/queue.h").exists() {
        eprintln!("there are no headers of the system here: nothing was tested");
        return;
    }
    let file = data("system_header");
    let output = fencepost(&["check", &file, "-O2", "-Wall", "-std=gnu11", "-pthread", "-DVALUE=4"])
        .output()
        .expect("it runs");
    let (said, noted) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("safe under rc20"), "{said}{noted}");
    assert!(
        noted.contains("note: -O2 -Wall -std=gnu11 -pthread mean nothing here and are ignored"),
        "{noted}"
    );
}

/// A jump to a function that has returned is a use after scope, one to another thread's a misuse; `crates/c/tests/semantics`
/// compares what jumps do with the compiler of the machine.
#[test]
fn long_jumps_that_cannot_land_are_found() {
    let text = run(&["check", "-j1", &data("jump_returned")]);
    assert!(text.contains("FP0304") && text.contains("`the call that setjmp stands in`"), "{text}");
    let text = run(&["check", "-j1", &data("jump_elsewhere")]);
    assert!(
        text.contains("FP0402") && text.contains("longjmp to a function that another thread runs"),
        "{text}"
    );
}

/// The counter of a processor is any number that does not fall; two reads may give the same one.
#[test]
fn counters_of_processors_grow() {
    if cfg!(not(feature = "sat")) {
        eprintln!("without a SAT solver nobody answers programs with such inputs: nothing was tested");
        return;
    }
    for model in ["tso", "armv8", "power"] {
        let text = run(&["check", "-m", model, &data("ticks")]);
        assert!(text.contains("ticks.c: safe (") && text.contains("engine axiom"), "{model}: {text}");
        let text = run(&["check", "-m", model, &data("ticks"), "-DSTRICT"]);
        assert!(text.contains("assertion `second > first` fails"), "{model}: {text}");
    }
}

/// Atomic objects of 16 bytes are followed as far as their words fit, and shown by their members;
/// `crates/c/corpus/counted_stack.c` has them under all models.
#[test]
fn atomic_objects_of_sixteen_bytes_are_one_cell() {
    let text = run(&["check", "-j1", &data("wide_value")]);
    assert!(
        text.contains(
            "error[FP0901]: each half of an atomic object of 16 bytes is a number of at most 30 bits"
        ),
        "{text}"
    );
    let text = run(&["check", "-j1", &data("wide_halves")]);
    assert!(text.contains("shared {low = 0, high = 0} -> {low = 1, high = 0}"), "{text}");
    let text = run(&["check", "-j1", "crates/c/corpus/counted_stack_aba.c"]);
    assert!(text.contains("stack {first = NULL, count = 5} -> {first = &nodes, count = 5}"), "{text}");
}

/// Who waits by reading a word that others write byte by byte is told of the two sizes; the execution has both.
#[test]
fn a_word_that_is_written_byte_by_byte_is_told() {
    for model in ["sc", "rc20", "tso", "armv8", "power"] {
        let text = run(&["check", "-j1", "-m", model, &data("byte_lock")]);
        assert!(text.contains("error[FP0310]: accesses of different sizes overlap"), "{model}: {text}");
    }
}
