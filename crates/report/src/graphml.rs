//! A counterexample under sequential consistency as a violation witness of the software verification competition: GraphML,
//! format 1.0, an automaton whose path is the order of the steps.

use crate::events::escape_markup;
use crate::report::{Report, position};
use fencepost_answer::{Finding, Severity};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Keys of the format: name, what it belongs to, type.
const KEYS: &[(&str, &str, &str)] = &[
    ("witness-type", "graph", "string"),
    ("sourcecodelang", "graph", "string"),
    ("producer", "graph", "string"),
    ("specification", "graph", "string"),
    ("programfile", "graph", "string"),
    ("programhash", "graph", "string"),
    ("architecture", "graph", "string"),
    ("entry", "node", "boolean"),
    ("violation", "node", "boolean"),
    ("threadId", "edge", "string"),
    ("createThread", "edge", "string"),
    ("startline", "edge", "int"),
    ("enterFunction", "edge", "string"),
];

/// The witness of the first finding; nothing if there is none, or if the model is not SC, whose runs the format is about.
pub fn witness(report: &Report<'_>) -> Option<String> {
    let wrong = |finding: &&Finding| finding.kind.severity() == Severity::Error;
    let finding = report.outcome.findings.iter().find(wrong).filter(|_| report.model == "sc")?;
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
    );
    for (name, of, kind) in KEYS {
        let _ =
            writeln!(out, "  <key id=\"{name}\" attr.name=\"{name}\" for=\"{of}\" attr.type=\"{kind}\"/>");
    }
    out.push_str("  <graph edgedefault=\"directed\">\n");
    let text = report.sources.files().next().map_or("", |file| file.text.as_str());
    let mut hash = String::new();
    for byte in Sha256::digest(text.as_bytes()) {
        let _ = write!(hash, "{byte:02x}");
    }
    let facts = [
        ("witness-type", "violation_witness"),
        ("sourcecodelang", "C"),
        ("producer", concat!("fencepost ", env!("CARGO_PKG_VERSION"))),
        ("specification", specification(finding)),
        ("programfile", report.file),
        ("programhash", &hash),
        ("architecture", "64bit"),
    ];
    for (key, value) in facts {
        let _ = writeln!(out, "    <data key=\"{key}\">{}</data>", escape_markup(value));
    }
    out.push_str("    <node id=\"N0\"><data key=\"entry\">true</data></node>\n");
    let steps: Vec<_> =
        finding.trace.iter().filter(|step| !position(report.sources, step.span).file.is_empty()).collect();
    for (number, step) in (1..).zip(&steps) {
        let last = number == steps.len();
        let violation = if last { "<data key=\"violation\">true</data>" } else { "" };
        let _ = writeln!(out, "    <node id=\"N{number}\">{violation}</node>");
        let at = position(report.sources, step.span);
        let _ = writeln!(
            out,
            "    <edge source=\"N{}\" target=\"N{number}\"><data key=\"threadId\">{}</data><data \
                key=\"startline\">{}</data></edge>",
            number - 1,
            step.thread,
            at.line
        );
    }
    out.push_str("  </graph>\n</graphml>\n");
    Some(out)
}

/// What is violated, in the language of the competition.
fn specification(finding: &Finding) -> &'static str {
    use fencepost_answer::FindingKind::{
        BadPointer, DataRace, Deadlock, DoubleFree, InvalidFree, NullPointer, OutOfBounds, UseAfterFree,
        UseAfterScope,
    };
    match finding.kind {
        DataRace => "CHECK( init(main()), LTL(G ! data-race) )",
        NullPointer | BadPointer | OutOfBounds | UseAfterFree | UseAfterScope => {
            "CHECK( init(main()), LTL(G valid-deref) )"
        }
        DoubleFree | InvalidFree => "CHECK( init(main()), LTL(G valid-free) )",
        Deadlock => "CHECK( init(main()), LTL(F end) )",
        _ => "CHECK( init(main()), LTL(G ! call(reach_error())) )",
    }
}
