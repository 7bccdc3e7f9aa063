//! `fencepost explain`: what a code means and what to do about it, from the table that findings come from.

use crate::args::ExplainArgs;
use crate::{exit, print};
use fencepost_answer::FindingKind;
use fencepost_answer::kind::{Entry, Severity, TABLE};

/// Runs the command.
pub fn run(options: &ExplainArgs) -> u8 {
    let Some(code) = &options.code else {
        let mut rows: Vec<&Entry> = TABLE.iter().collect();
        rows.sort_by_key(|entry| entry.code);
        print::out(
            &rows.iter().map(|e| format!("{}  {:18} {}\n", e.code, e.name, e.message)).collect::<String>(),
        );
        return exit::OK;
    };
    match FindingKind::from_code(code) {
        Some(kind) => {
            print::out(&text(kind.entry()));
            exit::OK
        }
        None => {
            print::err(&format!(
                "error: there is no finding with the code `{code}`\n  `fencepost explain` lists all of them\n"
            ));
            exit::BAD_INPUT
        }
    }
}

fn text(entry: &Entry) -> String {
    let verdict = match entry.severity {
        Severity::Error => "an error: the verdict is unsafe",
        Severity::Warning => "a warning: it changes neither verdict nor exit code",
        Severity::Unknown => "no mistake of the program: the verdict is unknown",
    };
    let mut text = format!(
        "{} {}: {}\n\n  means    {}\n  is       {verdict}\n  to do    {}\n",
        entry.code, entry.name, entry.message, entry.meaning, entry.advice
    );
    if !entry.examples.is_empty() {
        let path = |name: &&str| match name.contains('/') {
            true => name.to_string(),
            false => format!("crates/c/corpus/{name}"),
        };
        let examples: Vec<String> = entry.examples.iter().map(path).collect();
        text += &format!("  example  {}\n", examples.join(", "));
    }
    text
}
