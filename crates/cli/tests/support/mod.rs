//! Runs the binary from the top of the repository and shows all that it says.

use std::path::Path;
use std::process::{Command, Output};

/// A command that runs at the top of the repository.
pub fn fencepost(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).args(arguments);
    command
}

/// Exit code, standard output and standard error, with times left out.
#[allow(dead_code)]
pub fn run(arguments: &[&str]) -> String {
    show(&fencepost(arguments).output().expect("it runs"))
}

/// The same for a finished process.
#[allow(dead_code)]
pub fn show(output: &Output) -> String {
    let text = |bytes: &[u8]| without_coverage(&without_times(&String::from_utf8_lossy(bytes)));
    let mut shown = format!("exit code {}\n", output.status.code().map_or("none".into(), |c| c.to_string()));
    for (name, stream) in [("output", &output.stdout), ("errors", &output.stderr)] {
        if !stream.is_empty() {
            shown += &format!("--- {name} ---\n{}", text(stream));
        }
    }
    shown
}

/// Leaves out what was reached: nobody knows it of an exploration that is kept or shared out, which is otherwise the same.
fn without_coverage(text: &str) -> String {
    let Some((before, rest)) = text.split_once("\"coverage\":{") else { return text.to_string() };
    let after = rest.split_once("]},").map_or(rest, |(_, after)| after);
    before.to_string() + &without_coverage(after)
}

/// Replaces what looks like a time: a number before a unit, or after `"seconds":`.
fn without_times(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = match line.split_once("\"seconds\":") {
            Some((before, after)) => {
                let end = after.find(|c: char| !"0123456789.e-".contains(c)).unwrap_or(after.len());
                format!("{before}\"seconds\":TIME{}", &after[end..])
            }
            None => line.to_string(),
        };
        let words: Vec<&str> = line.split(' ').collect();
        let is_time = |i: usize| {
            words
                .get(i + 1)
                .is_some_and(|unit| matches!(unit.trim_end_matches([';', ')']), "us" | "ms" | "s"))
                && words[i].trim_start_matches('(').parse::<f64>().is_ok()
        };
        let mut shown: Vec<&str> = Vec::new();
        let mut i = 0;
        while i < words.len() {
            if is_time(i) {
                // The column is padded to the width of the time.
                while shown.last() == Some(&"") {
                    shown.pop();
                }
                shown.push(match (words[i].chars().next(), words[i + 1].chars().last()) {
                    (_, Some(';')) => "TIME;",
                    (Some('('), Some(')')) => "(TIME)",
                    (_, Some(')')) => "TIME)",
                    _ => "TIME",
                });
                i += 2;
            } else {
                shown.push(words[i]);
                i += 1;
            }
        }
        shown.join(" ") + "\n"
    });
    lines.collect()
}
