//! Small programs for comparisons.
#![allow(dead_code)]

use fencepost_answer::StopReason;
use fencepost_bmc::power::{Options, PowerRun, check};
use fencepost_bmc::{Verdict, Why};
use fencepost_ir::Program;
use fencepost_machine::power;
use fencepost_machine::power::schedule::{Schedule, final_state, replay};
use proptest::prelude::*;
use proptest::sample::select;

pub fn parse(text: &str) -> Program {
    fencepost_lang::parse(text).unwrap_or_else(|error| panic!("{}\n{text}", error.message))
}

/// Variables as arrays: `x` becomes `x[0]`, so that `x[r ^ r]` is the same with a dependency.
pub fn indexed(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::new();
    for (i, c) in text.char_indices() {
        out.push(c);
        let name =
            |at: Option<&u8>| at.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'.');
        let alone = !name(i.checked_sub(1).and_then(|i| bytes.get(i))) && !name(bytes.get(i + 1));
        if "xyz".contains(c) && alone && bytes.get(i + 1) != Some(&b'[') {
            out += "[0]";
        }
    }
    out
}

/// A statement of the POWER language; `r` and `s` are registers.
pub fn power_statement() -> impl Strategy<Value = &'static str> {
    select(vec![
        "x := 1;",
        "x := 2;",
        "y := 1;",
        "y := 2;",
        "r := x;",
        "r := y;",
        "s := x;",
        "s := y;",
        "x := r + 1;",
        "y := r;",
        "s := x[r ^ r];",
        "y[r ^ r] := 3;",
        "if (r) { skip; }",
        "if (r) { x := 4; }",
        "if (r == 0) { s := y; }",
        "fence sync;",
        "fence lwsync;",
        "fence isync;",
        "fence eieio;",
        "r := fetch_add(x, 1);",
        "s := x[r & 1];",
        "x[r & 1] := 5;",
        "s := cas(y, 0, 1);",
    ])
}

/// Statements that may miss their cells, or begin with none.
pub fn wild_statement() -> impl Strategy<Value = &'static str> {
    select(vec![
        "s := x[r];",
        "y[r] := 1;",
        "x[r + s] := 2;",
        "r := y[s & 3];",
        "x[r & 2] := 3;",
        "if (r == 2) { s := x[r]; }",
    ])
}

/// A question about a random program: its threads, assertions with their places, and a final condition or nothing.
#[derive(Clone, Debug)]
pub struct Question {
    pub threads: Vec<Vec<&'static str>>,
    pub asserted: Vec<(usize, &'static str)>,
    pub condition: &'static str,
}

fn assertion() -> impl Strategy<Value = &'static str> {
    select(vec![
        "assert(r != 1);",
        "assert(s == r);",
        "assert(s < 2);",
        "assume(r);",
        "assert(r + s < 3);",
        "assert(r == 0);",
    ])
}

/// Conditions on registers of the first two processes and on memory.
pub const CONDITIONS: [&str; 9] = [
    "never P0.r == 1 && P1.s == 0;",
    "never P0.r == 1 && P1.r == 1;",
    "never x == 2 && y == 1;",
    "never x == 1 && P1.r == 1;",
    "forall x != 1 || y == 0;",
    "forall P0.s == 0 || P1.s == 0 || y != 1;",
    "exists P0.s == 2 && y == 1;",
    "exists x == 1 && y == 1 && P1.r == 0;",
    "exists x == 3 && P0.r == 2;",
];

/// Two or three threads; assertions, a final condition, or both.
pub fn question() -> impl Strategy<Value = Question> {
    let statement = prop_oneof![6 => power_statement().boxed(), 1 => wild_statement().boxed()];
    let two = proptest::collection::vec(proptest::collection::vec(statement.clone(), 1..=4), 2..=2);
    let three = proptest::collection::vec(proptest::collection::vec(statement, 1..=3), 3..=3);
    let asserted = proptest::collection::vec((0usize..9, assertion()), 0..=2);
    let condition = prop_oneof![2 => Just(""), 3 => select(CONDITIONS.to_vec())];
    let all = (prop_oneof![2 => two.boxed(), 1 => three.boxed()], asserted, condition);
    all.prop_map(|(threads, asserted, condition)| Question { threads, asserted, condition })
}

impl Question {
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (i, body) in self.threads.iter().enumerate() {
            let mut body: Vec<&str> = body.clone();
            for &(at, assertion) in self.asserted.iter().filter(|(at, _)| at % self.threads.len() == i) {
                body.insert((at / self.threads.len()).min(body.len()), assertion);
            }
            text += &format!("process P{i} {{ reg r, s; {} }} ", body.concat());
        }
        format!("shared x[2], y[2]; {}", indexed(&format!("{text}{}", self.condition)))
    }

    pub fn program(&self) -> Program {
        parse(&self.text())
    }
}

/// What an engine says about a question with a number of contexts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Said {
    /// Something goes wrong.
    Wrong,
    /// Nothing does, and a state that is asked for is there.
    Right,
    /// Nothing does, and a state that is asked for is not there.
    Missing,
}

/// How often loops go round.
const UNROLL: u32 = 2;

/// The encoding's answer, with its run replayed rule by rule; an error if that fails.
pub fn encoded(program: &Program, contexts: u32) -> Result<Said, String> {
    let options = Options::new(UNROLL);
    let found = check(program, &options, contexts..=contexts).map_err(|e| e.what)?;
    let missing =
        found.why == Some(Why::NoneWithinBounds) || found.verdict == Verdict::Unsafe && found.run.is_none();
    let said = match found.verdict {
        _ if missing => return Ok(Said::Missing),
        Verdict::Unsafe => Said::Wrong,
        Verdict::Safe => Said::Right,
        Verdict::Unknown => return Err(format!("no answer: {:?}", found.why)),
    };
    let Some(PowerRun { active, init, commit, reach, ways, choices }) = found.run else { return Ok(said) };
    let code = power::prepare(program, UNROLL, false).map_err(|e| e.what)?;
    let plan = Schedule { active, init, commit, reach, ways, choices };
    let replayed = match said {
        Said::Wrong => replay(&code, &plan).map(drop),
        _ => final_state(&code, &plan).map(drop),
    };
    replayed.map(|()| said).map_err(|why| format!("a run that cannot be replayed: {why}"))
}

/// The machine's answer; `None` if it has more states than these.
pub fn machine(program: &Program, contexts: u32, states: u64) -> Option<Said> {
    let mut options = power::Options::new(Some(contexts), 2);
    options.search.max_states = Some(states);
    let outcome = power::check(program, &options).expect("supported").outcome;
    let none = "no final state satisfies the condition";
    let missing = outcome.findings.iter().any(|finding| finding.message == none);
    match (outcome.verdict, outcome.stop_reason) {
        (_, Some(StopReason::NoneWithinBounds)) => Some(Said::Missing),
        (_, Some(StopReason::Limit { .. })) => None,
        (fencepost_answer::Verdict::Unsafe, _) if missing => Some(Said::Missing),
        (fencepost_answer::Verdict::Unsafe, _) => Some(Said::Wrong),
        (fencepost_answer::Verdict::Safe, _) => Some(Said::Right),
        (verdict, reason) => panic!("{verdict:?} {reason:?}"),
    }
}

/// A program of these statements that observes everything.
pub fn power_program(threads: &[Vec<&'static str>]) -> Program {
    let mut text = String::new();
    for (i, body) in threads.iter().enumerate() {
        text += &format!("process P{i} {{ reg r, s; {} }} ", body.concat());
    }
    let registers: Vec<String> = (0..threads.len()).map(|i| format!("P{i}.r, P{i}.s")).collect();
    parse(&format!(
        "shared x[2], y[2]; {} observe x[0], x[1], y[0], {}; exists x[1] == 0;",
        indexed(&text),
        registers.join(", ")
    ))
}

/// A program of these statements with assertions and nothing to observe.
pub fn asserting_program(threads: &[Vec<&'static str>], asserted: &[(usize, &'static str)]) -> Program {
    let mut text = String::new();
    for (i, body) in threads.iter().enumerate() {
        let mut body: Vec<&str> = body.clone();
        for &(at, assertion) in asserted.iter().filter(|(at, _)| at % threads.len() == i) {
            body.insert((at / threads.len()).min(body.len()), assertion);
        }
        text += &format!("process P{i} {{ reg r, s; {} }} ", body.concat());
    }
    parse(&format!("shared x[2], y[2]; {}", indexed(&text)))
}
