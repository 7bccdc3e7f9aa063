//! Mistakes on the command line: what each is told, as one snapshot. Those of `fencepost.toml` and of expectations are in
//! `batches.rs`.

mod support;

use support::run;

const SB: &str = "crates/c/corpus/litmus_sb_rlx.c";

const MISUSES: &[&[&str]] = &[
    &["check"],
    &["check", "no_such_file.c"],
    &["check", "crates/cli/tests/data/pairs"],
    &["check", SB, "-m", "tos"],
    &["check", SB, "-m", "sc,"],
    &["check", SB, "--engine", "explorer"],
    &["check", SB, "--engine", "states", "-m", "rc20"],
    &["check", SB, "--engine", "explore", "--contexts", "3"],
    &["check", SB, "--engine", "states", "-m", "tso", "--retries", "all"],
    &["check", SB, "--timeout", "soon"],
    &["check", SB, "--unroll", "-1"],
    &["check", SB, "--format", "xml"],
    &["check", SB, "--mapping", "fast", "-m", "armv8"],
    &["check", SB, "--target", "vax"],
    &["check", SB, "--baseline", "no_such_file.jsonl"],
    &["check", SB, "--config", "no_such_file.toml"],
    &["check", SB, "--compile-commands", "no_such_file.json"],
    &["check", SB, "--compile-commands", "examples/message.c"],
    &["check", SB, "--resume", "no_such_file"],
    &["check", SB, "--", "-m32"],
    &["check", SB, "--", "-D"],
    &["check", "examples/sb.litmus"],
    &["check", "crates/param/corpus/peterson.cub"],
    &["check", SB, "--suggets"],
    &["litmus", SB],
    &["litmus", "examples/sb.litmus", "-m", "no_such_file.cat"],
    &["litmus", "examples/sb.litmus", "--contexts", "3"],
    &["litmus", "examples/sb.litmus", "-m", "tso", "--engine", "states", "--contexts", "3"],
    &["prove", SB],
    &["prove", "crates/param/corpus/peterson.cub", "-m", "power"],
    &["prove", "crates/param/corpus/peterson.cub", "--brab", "9"],
    &["reduce", SB, "-m", "armv8"],
    &["explain", "FP9999"],
    &["chekc", SB],
];

#[test]
fn every_mistake_is_told_what_it_is() {
    let mut told = String::new();
    for misuse in MISUSES {
        told += &format!("$ fencepost {}\n{}\n", misuse.join(" "), run(misuse));
    }
    insta::assert_snapshot!(told);
}
