//! The answer about a program: verdict, how far it holds, and what was found.

use serde::Serialize;
use std::fmt::Write;

/// The verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing goes wrong, as far as the scope says.
    Safe,
    /// Something goes wrong; a finding shows it.
    Unsafe,
    /// A limit was hit.
    Unknown,
}

/// How far a verdict holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// For all executions.
    All,
    /// For those within the bounds, which cut something.
    Bounded,
}

/// The answer: one JSON object.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The file as given.
    pub file: String,
    /// The memory model.
    pub model: String,
    /// The engine that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<&'static str>,
    /// Why that engine, if the user did not choose it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picked: Option<String>,
    /// What was looked for, if not everything that a finding can be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<&'static str>,
    /// Whether the program is safe only because no execution ends: assumptions removed them all.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub vacuous: bool,
    /// What the answer assumes of the compiler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumes: Option<&'static str>,
    /// The verdict.
    pub verdict: Verdict,
    /// How far it holds.
    pub scope: Scope,
    /// The bounds that cut something, and where.
    pub bounds: Vec<Bound>,
    /// Why the search ended early: then there is no verdict, unless something was found before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Complete consistent executions.
    pub executions: u64,
    /// Stored states, if the engine stores states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub states: Option<u64>,
    /// Explorations that ended in an assumption, a wait or a spin.
    pub blocked: u64,
    /// Explorations that a bound cut.
    pub cut: u64,
    /// Partial executions that were visited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Time it took.
    pub seconds: f64,
    /// What was found.
    pub findings: Vec<Finding>,
}

/// A bound that the user chose and that cut something.
#[derive(Clone, Debug, Serialize)]
pub struct Bound {
    /// Its name, such as `unroll`.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
    /// What it cut, if that is known: loops.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Position>,
}

impl Bound {
    /// A bound that does not say what it cut.
    pub fn new(name: &'static str, value: u64) -> Bound {
        Bound { name, value, places: Vec::new() }
    }
}

/// A place in a source file, whoever is there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// The file.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
    /// The source text.
    pub text: String,
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Location {
    /// The file.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
    /// The thread that is there.
    pub thread: u32,
    /// The source text.
    pub text: String,
}

/// A finding.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Its stable code.
    pub code: &'static str,
    /// Its kind.
    pub kind: &'static str,
    /// `error` or `warning`.
    pub severity: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where; two places where two accesses are involved.
    pub locations: Vec<Location>,
    /// The execution that shows it, in an order that explains it.
    pub trace: Vec<TraceStep>,
    /// The message with a snippet of the source, for people.
    #[serde(skip)]
    pub rendered: String,
}

/// A step of the execution that shows a finding.
#[derive(Clone, Debug, Serialize)]
pub struct TraceStep {
    /// Whose.
    pub thread: u32,
    /// Where.
    pub location: Location,
    /// What happens, in words.
    pub action: String,
}

impl Outcome {
    /// The verdict in one line.
    pub fn headline(&self) -> String {
        let bounds: Vec<String> = self.bounds.iter().map(|b| format!("{} {}", b.name, b.value)).collect();
        let verdict = match (self.verdict, self.scope) {
            (Verdict::Safe, Scope::All) => "safe".to_string(),
            (Verdict::Safe, Scope::Bounded) => format!("safe up to {}", bounds.join(", ")),
            (Verdict::Unsafe, _) => "unsafe".to_string(),
            (Verdict::Unknown, _) => {
                format!("unknown: {}", self.stop_reason.as_deref().unwrap_or("a limit was hit"))
            }
        };
        let only = match (self.verdict, self.checks) {
            (Verdict::Safe, Some(checks)) => format!(" ({checks} only)"),
            _ => String::new(),
        };
        let assumes = match (self.verdict, self.assumes) {
            (Verdict::Safe, Some(assumes)) => format!(", {assumes}"),
            _ => String::new(),
        };
        let vacuous = if self.vacuous && self.verdict == Verdict::Safe { ", vacuously: assumptions removed every execution" } else { "" };
        let mut line = format!("{}: {verdict}{only} under {}{assumes}{vacuous}", self.file, self.model);
        let _ = match self.states {
            Some(states) => write!(line, " ({states} states"),
            None => write!(line, " ({} executions", self.executions),
        };
        if self.blocked > 0 {
            let _ = write!(line, ", {} blocked", self.blocked);
        }
        if self.cut > 0 {
            let _ = write!(line, ", {} cut", self.cut);
        }
        let _ = write!(line, ", {})", crate::litmus::show_seconds(self.seconds));
        line
    }

    /// The whole answer for people.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for finding in &self.findings {
            let _ = writeln!(out, "{}", finding.rendered);
            if !finding.trace.is_empty() {
                out.push_str(&show_trace(&finding.trace));
            }
            out.push('\n');
        }
        out += &self.headline();
        if let (Some(engine), Some(why)) = (self.engine, &self.picked) {
            let _ = write!(out, "\n  engine {engine}: {why}");
        }
        out.push('\n');
        for bound in &self.bounds {
            for place in &bound.places {
                let _ = writeln!(
                    out,
                    "  {} {} cut the loop at {}:{}: {}",
                    bound.name, bound.value, place.file, place.line, place.text
                );
            }
        }
        out
    }
}

/// The longest piece of source text in a trace.
const TEXT: usize = 48;

/// A block per run of steps of one thread, a line per step: line, source text, what happens.
fn show_trace(steps: &[TraceStep]) -> String {
    let mut out = String::from("  an execution that shows it:\n");
    let one_file = steps.iter().all(|step| step.location.file == steps[0].location.file);
    let place = |step: &TraceStep| match one_file {
        true => step.location.line.to_string(),
        false => format!("{}:{}", step.location.file, step.location.line),
    };
    let text = |step: &TraceStep| shortened(step.location.text.trim());
    let width = steps.iter().map(|s| place(s).len()).max().unwrap_or(0);
    let code = steps.iter().map(|s| text(s).chars().count()).max().unwrap_or(0);
    let mut thread = None;
    for step in steps {
        if thread != Some(step.thread) {
            thread = Some(step.thread);
            let _ = writeln!(out, "    thread {}", step.thread);
        }
        let line = format!("      {:>width$}  {:code$}  {}", place(step), text(step), step.action);
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

fn shortened(text: &str) -> String {
    let text = text.lines().next().unwrap_or("");
    if text.chars().count() <= TEXT {
        return text.to_string();
    }
    text.chars().take(TEXT - 3).collect::<String>() + "..."
}
