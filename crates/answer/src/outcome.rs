//! The answer of an engine.

use crate::bound::Bound;
use crate::kind::{FindingKind, Severity};
use crate::picture::Picture;
use crate::stop::StopReason;
use crate::trace::Step;
use fencepost_diag::{Edit, Span};
use serde::Serialize;

/// The verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing goes wrong, as far as the bounds reach.
    Safe,
    /// Something goes wrong; a finding shows it.
    Unsafe,
    /// No answer; the stop reason says why.
    Unknown,
}

impl Verdict {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Safe => "safe",
            Verdict::Unsafe => "unsafe",
            Verdict::Unknown => "unknown",
        }
    }
}

/// How far a verdict holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// For all executions.
    All,
    /// For those within the bounds, which cut something.
    Bounded,
    /// For those that were looked at until the search ended: at a limit, or at the first error.
    Part,
}

/// A place in the program.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Place {
    /// The thread that is there, if one thread is to blame.
    pub thread: Option<u32>,
    /// Where in the source.
    pub span: Span,
    /// What is the matter there, in a few words; may be empty.
    pub label: String,
}

/// A step of an execution in words, as the narrator tells it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Line {
    /// Whose.
    pub thread: u32,
    /// Where; the empty span for what stands nowhere in the source, such as a store that reaches memory.
    pub span: Span,
    /// What happens.
    pub action: String,
    /// What belongs to the step: reads, writes, cells that changed.
    pub details: Vec<String>,
    /// The buffer of each thread afterwards, oldest store first, if the engine has buffers.
    pub buffers: Vec<String>,
    /// What went wrong can be seen without it.
    pub minor: bool,
}

/// Something that goes wrong, and the execution that shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What kind.
    pub kind: FindingKind,
    /// What is wrong, in one line.
    pub message: String,
    /// Where; two places where two accesses are involved.
    pub places: Vec<Place>,
    /// The run of a machine that shows it, as the engine replayed it.
    pub run: Vec<Step>,
    /// The execution in words, in an order that explains it; empty until somebody has told it.
    pub trace: Vec<Line>,
}

impl Finding {
    /// Without an execution.
    pub fn new(kind: FindingKind, message: impl Into<String>, places: Vec<Place>) -> Finding {
        Finding { kind, message: message.into(), places, run: Vec::new(), trace: Vec::new() }
    }

    /// Where the execution comes to.
    pub fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        self.run.iter().map(|step| step.span).chain(self.trace.iter().map(|line| line.span))
    }
}

/// A finding in the words of its program: what went wrong, why the model allows it, and what would forbid it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Explanation {
    /// What went wrong, in one sentence; may be empty.
    pub sentence: String,
    /// Why the model allows it: an edge that is missing, or the cycle, a line each.
    pub why: Vec<String>,
    /// What the threads are called, by their numbers; may be empty.
    pub threads: Vec<String>,
    /// How often the same was found at the same places by other threads or iterations.
    pub again: u64,
    /// The weakest change that makes this finding impossible, if one was found.
    pub remedy: Option<Remedy>,
}

/// A change that makes one finding impossible, found by running the program again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// All of them together.
    pub changes: Vec<Change>,
    /// Whether the whole program is safe then.
    pub verdict: Verdict,
}

/// What a proof for any number of processes has beyond the verdict.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Proof {
    /// What it is about: `any number of processes`.
    pub instances: String,
    /// Most processes of a cube, or of the run that was found.
    pub processes: u64,
    /// Depth of the search.
    pub depth: u64,
    /// Restarts of invariant inference.
    pub restarts: u64,
    /// Approximations in the final search.
    pub approximations: u64,
    /// Processes of the instance that clauses were inferred from, if any were.
    pub inference: Option<u64>,
    /// How the invariant was checked again, if it was.
    pub recheck: Option<String>,
    /// The clauses of the invariant.
    pub invariant: Vec<String>,
}

impl Proof {
    /// For people, in one line.
    pub fn summary(&self) -> String {
        let search =
            format!("depth {}, {} processes, {} restarts", self.depth, self.processes, self.restarts);
        let search = match self.inference {
            Some(n) if self.approximations > 0 => {
                format!("{search}; {} clauses inferred from {n} processes", self.approximations)
            }
            _ => search,
        };
        match (self.invariant.len(), self.recheck.as_deref()) {
            (0, _) => search,
            (n, Some(how)) => format!("invariant of {n} clauses (re-checked: {how}); {search}"),
            (n, None) => format!("invariant of {n} clauses (not re-checked); {search}"),
        }
    }
}

/// What would make an unsafe program safe, found by running it again.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Suggestion {
    /// All of them together do, and none of them can be left out or be weaker. Empty if even the strongest orders and
    /// fences at all places are not enough.
    pub changes: Vec<Change>,
    /// How often the program was run for it.
    pub runs: u64,
    /// Where else the program is safe with them: other models, and other mappings to the target.
    pub also: Vec<String>,
    /// Where it is not, whatever the orders and fences.
    pub nowhere_in: Vec<String>,
}

impl Suggestion {
    /// All edits of the text; none if not all changes can be written so.
    pub fn edits(&self) -> Vec<Edit> {
        match self.changes.iter().any(|change| change.edits.is_empty()) {
            true => Vec::new(),
            false => self.changes.iter().flat_map(|change| change.edits.iter().cloned()).collect(),
        }
    }
}

/// One change of a memory order, or one fence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where.
    pub span: Span,
    /// What is there.
    pub from: String,
    /// What should be.
    pub to: String,
    /// How that is written; nothing where the text does not say the order, as behind a macro.
    pub edits: Vec<Edit>,
}

/// What the executions of a program with a final condition end in.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Observed {
    /// The final states that the condition's filter admits, as people read them, sorted.
    pub states: Vec<String>,
    /// How many executions satisfy the proposition.
    pub satisfying: u64,
    /// The program means nothing, for example because it has a data race.
    pub undefined: bool,
    /// Flags that the model raised.
    pub flags: Vec<String>,
}

/// Lines of the program with an access, an assertion or a call.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Coverage {
    /// How many there are.
    pub lines: usize,
    /// Where on them that stands which no execution came to, a place per line.
    pub unreached: Vec<Span>,
}

/// Counts; those that an engine does not know are absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Complete consistent executions.
    pub executions: Option<u64>,
    /// About how many there are in all, if the search ended early.
    pub estimate: Option<u64>,
    /// Stored states.
    pub states: Option<u64>,
    /// Steps between stored states.
    pub transitions: Option<u64>,
    /// Explorations, or states, that ended in an assumption, a wait or a spin.
    pub blocked: u64,
    /// Iterations and tries that changed nothing, and reads that wait, that were not followed.
    pub left_out: u64,
    /// Executions are counted up to symmetry: one of those that differ only in which of several equal threads is which.
    pub symmetric: bool,
    /// Explorations that a bound cut.
    pub cut: u64,
    /// Partial executions that were visited, or nodes of a search.
    pub nodes: Option<u64>,
    /// Bytes that the engine kept at the end.
    pub bytes: Option<u64>,
}

/// The answer of an engine about a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// The bounds that cut something. An empty list with *safe* is a proof.
    pub bounds: Vec<Bound>,
    /// Why the search ended early: then there is no verdict, unless something was found before.
    pub stop_reason: Option<StopReason>,
    /// Everything within the bounds was looked at, which a search that stops at the first error does not do.
    pub ended: bool,
    /// Without a verdict: the last bounds within which everything was looked at, and nothing is wrong.
    pub so_far: Vec<Bound>,
    /// *Safe*, but only because no execution came to its end: assumptions and waits removed all of them.
    pub vacuous: bool,
    /// What was looked for, if not everything that a finding can be.
    pub checks: Option<&'static str>,
    /// What the answer assumes or leaves out, such as what a compiler does to dependencies.
    pub assumes: Vec<String>,
    /// Counts.
    pub statistics: Statistics,
    /// What was found, confirmed by other code than that which found it.
    pub findings: Vec<Finding>,
    /// What is told about the findings, in the same order; those behind its end have no explanation.
    pub explanations: Vec<Explanation>,
    /// The first counterexample as a picture, if the engine has executions to draw.
    pub picture: Option<Picture>,
    /// The first counterexample as the text of a litmus test, or why it cannot be one; nothing if nobody asked.
    pub test: Option<Result<String, String>>,
    /// The final states, if the question is about them and the engine collects them.
    pub observed: Option<Observed>,
    /// What would make it safe, if that was asked for and found in time.
    pub suggestion: Option<Suggestion>,
    /// Which lines some execution came to, if the engine knows and the search came to its end.
    pub coverage: Option<Coverage>,
    /// The proof, if the engine answers for any number of processes.
    pub proof: Option<Proof>,
}

impl Outcome {
    /// Nothing is known yet.
    pub fn unknown(reason: StopReason) -> Outcome {
        Outcome {
            verdict: Verdict::Unknown,
            bounds: Vec::new(),
            stop_reason: Some(reason),
            ended: false,
            so_far: Vec::new(),
            vacuous: false,
            checks: None,
            assumes: Vec::new(),
            statistics: Statistics::default(),
            findings: Vec::new(),
            explanations: Vec::new(),
            picture: None,
            test: None,
            observed: None,
            suggestion: None,
            coverage: None,
            proof: None,
        }
    }

    /// The answer that follows from what was found and why the search ended: a confirmed finding makes it unsafe,
    /// whatever else happened; *safe* needs a search that came to its end.
    pub fn new(findings: Vec<Finding>, stop_reason: Option<StopReason>, bounds: Vec<Bound>) -> Outcome {
        let wrong = findings.iter().any(|finding| finding.kind.severity() == Severity::Error);
        let verdict = match (wrong, &stop_reason) {
            (true, _) => Verdict::Unsafe,
            (false, Some(_)) => Verdict::Unknown,
            (false, None) => Verdict::Safe,
        };
        Outcome {
            verdict,
            bounds,
            stop_reason,
            ended: verdict == Verdict::Safe,
            so_far: Vec::new(),
            vacuous: false,
            checks: None,
            assumes: Vec::new(),
            statistics: Statistics::default(),
            findings,
            explanations: Vec::new(),
            picture: None,
            test: None,
            observed: None,
            suggestion: None,
            coverage: None,
            proof: None,
        }
    }

    /// How far the verdict holds.
    pub fn scope(&self) -> Scope {
        match (self.bounds.is_empty(), self.ended) {
            (false, _) => Scope::Bounded,
            (true, true) => Scope::All,
            (true, false) => Scope::Part,
        }
    }

    /// Whether the search came to its end without a complete execution: then *safe* within bounds that cut something
    /// says nothing, and *safe* without such bounds is vacuous. Called by engines that count executions.
    pub fn mind_emptiness(mut self) -> Outcome {
        let Statistics { executions, blocked, cut, .. } = self.statistics;
        if self.verdict == Verdict::Safe && executions == Some(0) {
            match cut > 0 {
                true => {
                    self.verdict = Verdict::Unknown;
                    self.stop_reason = Some(StopReason::CutEverything);
                }
                false => self.vacuous = blocked > 0,
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::BoundName;
    use crate::stop::Limit;

    fn finding(kind: FindingKind) -> Finding {
        Finding::new(kind, String::new(), Vec::new())
    }

    #[test]
    fn the_verdict_follows_from_findings_and_the_end_of_the_search() {
        let time = || Some(StopReason::limit(Limit::Timeout));
        let verdict = |findings, stop| Outcome::new(findings, stop, Vec::new()).verdict;
        assert_eq!(verdict(Vec::new(), None), Verdict::Safe);
        assert_eq!(verdict(Vec::new(), time()), Verdict::Unknown);
        assert_eq!(verdict(vec![finding(FindingKind::Leak)], None), Verdict::Safe);
        assert_eq!(verdict(vec![finding(FindingKind::DataRace)], time()), Verdict::Unsafe);
    }

    #[test]
    fn safe_needs_an_execution() {
        let safe = |executions, blocked, cut| {
            let statistics =
                Statistics { executions: Some(executions), blocked, cut, ..Statistics::default() };
            let bounds = if cut > 0 { vec![Bound::new(BoundName::Unroll, 2u32)] } else { Vec::new() };
            Outcome { statistics, ..Outcome::new(Vec::new(), None, bounds) }.mind_emptiness()
        };
        assert_eq!((safe(1, 4, 4).verdict, safe(1, 4, 4).vacuous), (Verdict::Safe, false));
        assert_eq!(safe(0, 4, 4).stop_reason, Some(StopReason::CutEverything));
        assert_eq!((safe(0, 4, 0).verdict, safe(0, 4, 0).vacuous), (Verdict::Safe, true));
    }
}
