//! One program under one model, by the explorer and by the naive enumerator.

use fencepost_diag::SourceFile;
use fencepost_explore::{Clause, FindingKind, ModelName, Options, explore};
use fencepost_ir::{Instr, Language, Program};
use fencepost_models::Model;
use fencepost_models::prepare::{self, Form, prepare};
use fencepost_models::registry;
use fencepost_naive::{Limits, ProblemKind, Summary, summarise};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Back jumps of a loop; the default of the command line is larger, and too large for enumeration.
const UNROLL: u32 = 2;

/// A C program as `ir`, or what is wrong with it.
pub fn compiled(name: &str, text: &str, defines: &[(&str, &str)]) -> Result<Program, String> {
    let defines = defines.iter().map(|(n, v)| (n.to_string(), Some(v.to_string()))).collect();
    let options = fencepost_c::Options { defines, ..fencepost_c::Options::default() };
    let compiled = fencepost_c::compile(&SourceFile::new(name, text), &options);
    compiled.map(|compiled| compiled.program).map_err(|failure| failure.render())
}

/// The program as the model sees it, with bounded loops: as `fencepost check` does it.
pub fn for_model(program: &Program, model: ModelName) -> Program {
    let entry = registry::find(model.name()).expect("a row of the table");
    // The sketches have weak exchanges that may fail.
    let options = prepare::Options { unroll: UNROLL, spurious: true, ..Default::default() };
    prepare(program, Language::C, entry, Form::EXPLORE, &options).expect("nothing is refused").program
}

/// How a comparison ended.
#[derive(Debug)]
pub enum Outcome {
    /// Both say the same.
    Same {
        /// Complete executions.
        executions: u64,
    },
    /// One of them was too slow, or refused the program.
    Skipped(String),
    /// They differ.
    Different(String),
}

/// What may be enumerated.
#[derive(Clone, Copy)]
pub struct Room {
    /// Candidates, whole and in part.
    pub candidates: u64,
    /// Traces of one thread.
    pub traces: usize,
    /// Time for each of the two; the numbers above are reached first, so that what is compared does not depend on the
    /// machine.
    pub time: Duration,
}

/// Compares the number of complete executions and the kinds of findings.
pub fn compare(program: &Program, name: ModelName, room: Room) -> Outcome {
    compare_without(program, name, room, None)
}

/// The same with one clause of the explorer's model switched off.
pub fn compare_without(program: &Program, name: ModelName, room: Room, without: Option<Clause>) -> Outcome {
    let program = &for_model(program, name);
    let model = Model::builtin(name.name()).expect("built in");
    let limits = Limits {
        candidates: room.candidates,
        traces: room.traces,
        time: Some(room.time),
        ..Limits::default()
    };
    let mut options = Options { without, ..Options::new(name) };
    options.limits.deadline = Some(Instant::now() + 10 * room.time);
    // What the explorer takes many steps for is beyond enumeration, which finds that out much later.
    options.limits.max_nodes = Some(room.candidates);
    let found = match explore(program, &options) {
        Ok(found) => found,
        Err(unsupported) => return Outcome::Skipped(format!("{} cannot be explored", unsupported.what)),
    };
    if let Some(reason) = found.stopped {
        return Outcome::Skipped(format!("the explorer stopped: {reason:?}"));
    }
    // First with every local object as memory that anybody may reach, so that the analysis which says otherwise is checked
    // too; with its help where that is too large.
    let summary = summarise(&without_private_objects(program), &model, &limits);
    let expected = match summary.or_else(|_| summarise(program, &model, &limits)) {
        Ok(summary) => summary,
        Err(stop) => return Outcome::Skipped(stop.to_string()),
    };
    // Both stop at what they cannot represent, but not at the same point.
    if found.findings.iter().any(|f| f.kind == FindingKind::Unsupported || f.kind == FindingKind::LocalLoop) {
        return Outcome::Skipped("not representable".into());
    }
    if expected.claims.iter().any(|claim| claim.kind == ProblemKind::Unsupported) {
        return Outcome::Skipped("not representable to the enumerator".into());
    }
    let kinds: BTreeSet<&str> = found.findings.iter().map(|f| f.kind.name()).collect();
    match difference(found.stats.executions, &kinds, &expected) {
        None => Outcome::Same { executions: expected.executions },
        Some(text) => Outcome::Different(text),
    }
}

fn without_private_objects(program: &Program) -> Program {
    let mut program = program.clone();
    for instr in program.functions.iter_mut().flat_map(|f| &mut f.body) {
        if let Instr::Local { private, .. } = instr {
            *private = false;
        }
    }
    program
}

fn difference(executions: u64, kinds: &BTreeSet<&str>, expected: &Summary) -> Option<String> {
    let names = |disputed: bool| -> BTreeSet<&str> {
        let claims = expected.claims.iter().filter(|c| disputed || !c.disputed);
        // A leak is noted only in executions without other mistakes, so a disputed one decides about it too.
        let about = |kind: ProblemKind| disputed || kind != ProblemKind::Leak || !expected.is_disputed();
        claims.filter(|c| about(c.kind)).map(|c| c.kind.name()).collect()
    };
    let (mut sure, all) = (names(false), names(true));
    // Unordered accesses of different sizes are a race as well; the explorer says the former only.
    if kinds.contains("mixed sizes") {
        sure.remove("data race");
    }
    // The explorer ends a thread that misuses a private object; the enumerator goes on.
    let ends = all.contains("uninitialised read") || all.contains("use after scope");
    let fits = if ends { executions <= expected.executions } else { executions == expected.executions };
    if fits && sure.is_subset(kinds) && kinds.is_subset(&all) {
        return None;
    }
    Some(format!(
        "explorer: {executions} executions, {kinds:?}; enumerator: {} executions ({} blocked, {} cut), {all:?}",
        expected.executions, expected.blocked, expected.cut
    ))
}
