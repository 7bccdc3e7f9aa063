//! From a program to an answer by the POWER machine.

use super::alone::Alone;
use super::code::PowerCode;
use super::machine::{Move, PowerMachine, Rule};
use super::plain::{Plain, State};
use crate::check::{Bound, Finding, Outcome, Verdict, allows, conclude, describe_stop};
use crate::code::Unsupported;
use crate::local::FaultKind;
use crate::machine::{Kind, Machine, Successors, Worker};
use crate::run::{Line, Run};
use crate::search::{self, Found};
use crate::store::StateId;
use fencepost_ir::flat::{self, Op, flatten};
use fencepost_ir::{FailKind, Observable, Program, Property, Span, Value};
use std::collections::BTreeSet;

/// How to check.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Most contexts; `None` is no bound.
    pub contexts: Option<u32>,
    /// How often a loop may go back.
    pub unroll: u32,
    /// Mutexes know their owners.
    pub owners: bool,
    /// Limits and habits of the search.
    pub search: search::Options<'a>,
}

impl Options<'_> {
    /// With these bounds, and one worker.
    pub fn new(contexts: Option<u32>, unroll: u32) -> Self {
        let search = search::Options { jobs: 1, ..Default::default() };
        Options { contexts, unroll, owners: false, search }
    }
}

/// Checks a program on the POWER machine. The program is as compiled for POWER.
pub fn check(program: &Program, options: &Options<'_>) -> Result<Outcome, Unsupported> {
    let unroll = flat::Options { owners: options.owners, ..flat::Options::new(options.unroll) };
    let flat = flatten(program, unroll).map_err(|e| Unsupported { what: e.what, span: e.span })?;
    let code = PowerCode::new(program, flat)?;
    let machine = PowerMachine::new(&code, options.contexts);
    let mut states = BTreeSet::new();
    let found = search::search(&machine, options.search, |mut worker| states.append(&mut worker.states));
    let mut bounds = Vec::new();
    if machine.was_cut() {
        bounds.push(Bound { name: "unroll", value: Some(options.unroll) });
    }
    if machine.was_switched() {
        bounds.push(Bound { name: "contexts", value: options.contexts });
    }
    let mut outcome = Outcome {
        verdict: Verdict::Unknown,
        bounds,
        stop: found.stop,
        reason: found.stop.map(|stop| describe_stop(stop).to_owned()),
        finding: None,
        run: None,
        final_states: admitted(program, states),
        states: found.states,
        transitions: found.transitions,
        blocked: found.blocked,
        bytes: found.bytes,
    };
    match found.stopped_at {
        Some((id, Kind::Bad)) => match replay(&code, &machine, &found, id) {
            Ok((finding, run)) => {
                outcome.verdict = Verdict::Unsafe;
                (outcome.stop, outcome.reason) = (None, None);
                (outcome.finding, outcome.run) = (Some(finding), Some(run));
            }
            Err(reason) => {
                outcome.reason = Some(format!("a run was found that does not replay: {reason}"));
            }
        },
        Some(_) => outcome.reason = Some(FaultKind::Library.describe().to_owned()),
        None if found.stop.is_some() => {}
        None => conclude(program, &mut outcome),
    }
    Ok(outcome)
}

fn admitted(program: &Program, states: BTreeSet<Vec<Value>>) -> Vec<Vec<Value>> {
    let Property::Final(condition) = &program.property else { return Vec::new() };
    let filter = condition.filter.as_ref();
    states.into_iter().filter(|state| filter.is_none_or(|filter| filter.holds(state))).collect()
}

/// The moves from the initial state to a stored one.
fn moves_to(machine: &PowerMachine<'_>, found: &Found, id: StateId) -> Option<Vec<Move>> {
    let mut path = vec![id];
    while let Some(parent) = found.store.parent(path[path.len() - 1]) {
        path.push(parent);
    }
    path.reverse();
    let rows: Vec<Vec<u32>> = path.into_iter().map(|id| found.store.row(id)).collect();
    let mut worker = machine.worker();
    worker.initial();
    let mut out = Successors::new(machine.width(), true);
    let mut moves = worker.first_moves();
    for pair in rows.windows(2) {
        out.clear();
        worker.expand(&pair[0], &mut out);
        let at = out.rows().position(|row| row == pair[1])?;
        moves.extend(&out.labels()[at]);
    }
    Some(moves)
}

fn replay(
    code: &PowerCode<'_>,
    machine: &PowerMachine<'_>,
    found: &Found,
    id: StateId,
) -> Result<(Finding, Run), &'static str> {
    let moves = moves_to(machine, found, id).ok_or("a step of the path is missing")?;
    let kept = machine.worker().kept(&found.store.row(id));
    replay_moves(code, &moves, &kept, None)
}

/// Replays a run on the plain machine and describes it; an error if it is none, or does not end in something bad.
///
/// Of each process only the first `kept` events count: what was fetched behind them had no effect on anybody. If `contexts` is given, the run
/// may have no more of them.
pub fn replay_moves(
    code: &PowerCode<'_>,
    moves: &[Move],
    kept: &[usize],
    contexts: Option<u32>,
) -> Result<(Finding, Run), &'static str> {
    let mut alone = Alone::new(code);
    let (mut rest, mut run) = (moves, Run::default());
    if code.has_main() {
        rest = run_alone(code, &mut alone, rest)?;
    }
    let plain = Plain::new(code, &alone.at);
    let mut state = plain.initial();
    let (mut last, mut count) = (None, 0);
    while let Some((&step, tail)) = rest.split_first() {
        let p = usize::from(step.process);
        let index = match step.rule {
            Rule::Alone(_) => break,
            Rule::Fetch(_) => state.events[p].len(),
            Rule::Stop => usize::MAX,
            Rule::Init(i) | Rule::Commit(i) | Rule::Propagate(i, _) => i as usize,
        };
        rest = tail;
        if index >= kept[p] {
            continue;
        }
        if last != Some(p) {
            (last, count) = (Some(p), count + 1);
        }
        plain.apply(&mut state, step)?;
        tell(code, &plain, &state, step, &mut run);
    }
    if contexts.is_some_and(|most| count > most) {
        return Err("the run has more contexts than it may have");
    }
    if !plain.is_complete(&state) {
        return Err("the run is not complete");
    }
    let n = state.events.len();
    let memory = plain.memory(&state, 0);
    run.memory = (0..).map(|cell| code.cell_name(cell)).zip(memory.iter().copied()).collect();
    if let Some(p) = (0..n).find(|&p| plain.fails(&state, p)) {
        let step = &code.flat.threads[p].code[state.pc[p] as usize];
        return Ok((finding(&step.op, step.span, p), run));
    }
    if !(0..n).all(|p| plain.has_ended(&state, p)) {
        return Err("nothing is wrong at its end");
    }
    if code.has_main() {
        return finish_alone(code, &plain, &state, rest, run);
    }
    match &code.program.property {
        Property::Final(condition) if !allows(condition, &observed(code, &plain, &state)) => {
            let message = "a final state violates the condition".into();
            Ok((Finding { message, span: Span::default(), thread: None, kind: None }, run))
        }
        _ => Err("nothing is wrong at its end"),
    }
}

/// `main` alone, with the choices of the run; what follows them is left.
fn run_alone<'m>(
    code: &PowerCode<'_>,
    alone: &mut Alone,
    mut moves: &'m [Move],
) -> Result<&'m [Move], &'static str> {
    use super::alone::Halt;
    loop {
        match alone.run(code) {
            Halt::Choice(first, last) => {
                while let Some((Move { rule: Rule::Alone(None), .. }, rest)) = moves.split_first() {
                    moves = rest;
                }
                let Some((Move { rule: Rule::Alone(Some(value)), .. }, rest)) = moves.split_first() else {
                    return Err("a choice of main is missing");
                };
                if !(first..=last).contains(&value.as_i64()) {
                    return Err("the choice is out of range");
                }
                alone.choose(code, *value);
                moves = rest;
            }
            _ => {
                while let Some((Move { rule: Rule::Alone(None), .. }, rest)) = moves.split_first() {
                    moves = rest;
                }
                return Ok(moves);
            }
        }
    }
}

fn finish_alone(
    code: &PowerCode<'_>,
    plain: &Plain<'_>,
    state: &State,
    moves: &[Move],
    run: Run,
) -> Result<(Finding, Run), &'static str> {
    use super::alone::Halt;
    let mut alone = plain.alone(state);
    run_alone(code, &mut alone, moves)?;
    match alone.run(code) {
        Halt::Wrong(_) => {
            let step = &code.flat.threads[0].code[alone.at.pc as usize];
            Ok((finding(&step.op, step.span, 0), run))
        }
        _ => Err("nothing is wrong at its end"),
    }
}

/// What a final condition observes.
pub fn observed(code: &PowerCode<'_>, plain: &Plain<'_>, state: &State) -> Vec<Value> {
    let Property::Final(condition) = &code.program.property else { return Vec::new() };
    let memory = plain.memory(state, 0);
    let value = |observable: &Observable| match *observable {
        Observable::Register { thread, reg } => plain.registers(state, thread.0 as usize)[reg.0 as usize],
        Observable::Memory { object, offset, width } => {
            let cell = code.cell(Value::pointer(object, offset), width);
            width.sign_extend(cell.and_then(|cell| memory[cell as usize]).unwrap_or_default())
        }
    };
    condition.observed.iter().map(value).collect()
}

fn finding(op: &Op, span: Span, thread: usize) -> Finding {
    let (kind, message) = match op {
        Op::Assert { kind: FailKind::Misuse, message, .. } => (FaultKind::Misuse, message.clone()),
        Op::Assert { message, .. } if message.is_empty() => {
            (FaultKind::Assertion, FaultKind::Assertion.describe().to_owned())
        }
        Op::Assert { message, .. } => {
            (FaultKind::Assertion, format!("{}: {message}", FaultKind::Assertion.describe()))
        }
        _ => (FaultKind::BadPointer, "an access to something that is no cell, or has no value".to_owned()),
    };
    Finding { message, span, thread: Some(thread as u32), kind: Some(kind) }
}

/// A line of the run for each rule that a person wants to see.
fn tell(code: &PowerCode<'_>, plain: &Plain<'_>, state: &State, step: Move, run: &mut Run) {
    let p = usize::from(step.process);
    let (index, text) = match step.rule {
        Rule::Init(i) => (i, plain.tell(state, p, i as usize, "init")),
        Rule::Commit(i) => (i, plain.tell(state, p, i as usize, "commit")),
        Rule::Propagate(i, to) => {
            let to = &code.flat.threads[usize::from(to)].name;
            (i, plain.tell(state, p, i as usize, &format!("reaches {to}:")))
        }
        _ => return,
    };
    let Some(text) = text else { return };
    let span = code.flat.threads[p].code[state.events[p][index as usize].step as usize].span;
    run.lines.push(Line { thread: p as u32, text, span, buffers: Vec::new() });
}
