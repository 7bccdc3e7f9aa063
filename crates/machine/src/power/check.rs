//! From a program to an answer by the POWER machine.

use super::accesses;
use super::alone::{Alone, Halt};
use super::code::PowerCode;
use super::faults::{self, Wrong};
use super::machine::{Move, PowerMachine, PowerWorker, Rule};
use super::plain::{Plain, State};
use crate::check::{Checkable, Checked, allows, check_machine};
use crate::code::Unsupported;
use crate::machine::Machine;
use crate::search;
use fencepost_answer::trace::{Action, Phase, Step};
use fencepost_answer::{Bound, BoundName, Finding, FindingKind};
use fencepost_ir::flat::{self, Op};
use fencepost_ir::{FailKind, Observable, Program, Property, Value};
use std::collections::{BTreeMap, BTreeSet};

/// How to check.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Most contexts; `None` is no bound.
    pub contexts: Option<u32>,
    /// How often a loop may go back.
    pub unroll: u32,
    /// Mutexes know their owners.
    pub owners: bool,
    /// Only runs in which all processes end are of interest: final states. What goes wrong before is not looked for.
    pub only_complete: bool,
    /// Limits and habits of the search.
    pub search: search::Options<'a>,
}

impl Options<'_> {
    /// With these bounds, and one worker.
    pub fn new(contexts: Option<u32>, unroll: u32) -> Self {
        let search = search::Options { jobs: 1, ..Default::default() };
        Options { contexts, unroll, owners: false, only_complete: false, search }
    }
}

/// The program as the machine runs it.
pub fn prepare(program: &Program, unroll: u32, owners: bool) -> Result<PowerCode<'_>, Unsupported> {
    let options = flat::Options { owners, ..flat::Options::new(unroll) };
    let flat = flat::prepare(program, options).map_err(|e| Unsupported { what: e.what, span: e.span })?;
    PowerCode::new(program, flat)
}

/// Checks a program on the POWER machine. The program is as compiled for POWER.
pub fn check(program: &Program, options: &Options<'_>) -> Result<Checked, Unsupported> {
    let code = prepare(program, options.unroll, options.owners)?;
    for step in code.flat.threads.iter().flat_map(|thread| &thread.code) {
        if let Op::Nondet { first, last, .. } = step.op
            && i128::from(last) - i128::from(first) >= 1 << 16
        {
            let what = "a choice among more than 65536 values".into();
            return Err(Unsupported { what, span: step.span });
        }
    }
    let make =
        || PowerMachine::new(&code, options.contexts, options.unroll).only_complete(options.only_complete);
    Ok(check_machine(program, &make, options.search))
}

impl Checkable for PowerMachine<'_> {
    fn bounds(&self) -> Vec<Bound> {
        let mut bounds = Vec::new();
        if self.was_cut() {
            bounds.push(Bound::new(BoundName::Unroll, self.unroll()));
        }
        if let Some(contexts) = self.contexts().filter(|_| self.was_switched()) {
            bounds.push(Bound::new(BoundName::Contexts, contexts));
        }
        bounds
    }

    fn final_states(worker: PowerWorker<'_>) -> BTreeSet<Vec<Value>> {
        worker.states
    }

    fn confirm(&self, run: &[Vec<Move>]) -> Result<Finding, String> {
        let mut moves = self.worker().first_moves();
        moves.extend(run.iter().flatten());
        confirm(self.code(), &moves, self.contexts()).map_err(str::to_owned)
    }

    fn gave_up(&self, _: &[Vec<Move>]) -> Option<String> {
        Some("the run needs something that the library model cannot represent".into())
    }
}

/// Finds what counts of a run, and replays it. What a process has fetched behind its last committed store, and behind what is
/// wrong with it, was noticed by nobody and is
/// left out.
fn confirm(code: &PowerCode<'_>, moves: &[Move], contexts: Option<u32>) -> Result<Finding, &'static str> {
    let all = vec![usize::MAX; code.flat.threads.len()];
    let mut result = Err("nothing is wrong at its end");
    let (stored, suspects) = suspects(code, moves)?;
    for (process, events) in suspects {
        let mut counts = stored.clone();
        counts[process] = counts[process].max(events);
        result = replay_moves(code, moves, &counts, contexts);
        if result.is_ok() {
            return result;
        }
    }
    replay_moves(code, moves, &all, contexts).or(result)
}

/// How many events each process has up to its last committed store; and processes, with how many events something may be wrong.
type Suspects = (Vec<usize>, Vec<(usize, usize)>);

/// How many events each process has up to its last committed store, and with which events of a process something may be wrong.
fn suspects(code: &PowerCode<'_>, moves: &[Move]) -> Result<Suspects, &'static str> {
    let mut alone = Alone::new(code);
    let mut rest = moves;
    if code.has_main() {
        rest = run_alone(code, &mut alone, rest)?;
    }
    let plain = Plain::new(code, &alone.at);
    let mut state = plain.initial();
    let mut suspects = Vec::new();
    for &step in rest.iter().take_while(|step| !matches!(step.rule, Rule::Alone(_))) {
        plain.apply(&mut state, step)?;
        if let Rule::Stop(kept) = step.rule {
            suspects.push((usize::from(step.process), kept as usize));
        }
    }
    suspects.extend(plain.all_faults(&state).iter().map(|fault| (fault.process, fault.events)));
    Ok(((0..state.events.len()).map(|p| plain.last_store(&state, p)).collect(), suspects))
}

/// How a complete run ends.
#[derive(Clone, PartialEq, Debug)]
pub enum Ending {
    /// Something is wrong.
    Wrong(Finding),
    /// All processes have ended, with what a final condition observes.
    Final(Vec<Value>, Vec<Step>),
    /// Some process stops before its end, and nothing is wrong.
    Early,
}

/// Replays a run on the plain machine and describes it; an error if it is none, or does not end in something bad.
pub fn replay_moves(
    code: &PowerCode<'_>,
    moves: &[Move],
    kept: &[usize],
    contexts: Option<u32>,
) -> Result<Finding, &'static str> {
    match ending(code, moves, kept, contexts)? {
        Ending::Wrong(finding) => Ok(finding),
        Ending::Final(state, trace) => final_state(code, &state, trace),
        Ending::Early => Err("nothing is wrong at its end"),
    }
}

/// Replays a run on the plain machine; an error if it is none.
///
/// Of each process only the first `kept` events count: what was fetched behind them had no effect on anybody. If `contexts` is
/// given, the run
/// may have no more of them.
pub fn ending(
    code: &PowerCode<'_>,
    moves: &[Move],
    kept: &[usize],
    contexts: Option<u32>,
) -> Result<Ending, &'static str> {
    let mut alone = Alone::new(code);
    let (mut rest, mut run) = (moves, Vec::new());
    if code.has_main() {
        rest = run_alone(code, &mut alone, rest)?;
        if let (Halt::Wrong(_), Some(wrong)) = (alone.run(code), alone.wrong(code)) {
            return Ok(Ending::Wrong(faults::finding(code, 0, alone.at.pc, wrong, run)));
        }
    }
    let plain = Plain::new(code, &alone.at);
    let mut state = plain.initial();
    let (mut last, mut count) = (None, 0);
    let mut told = BTreeMap::new();
    while let Some((&step, tail)) = rest.split_first() {
        let p = usize::from(step.process);
        let index = match step.rule {
            Rule::Alone(_) => break,
            Rule::Fetch(_) => state.events[p].len(),
            Rule::Stop(_) => usize::MAX,
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
        let before = run.len();
        tell(code, &plain, &state, step, &mut run);
        if run.len() > before && !matches!(step.rule, Rule::Propagate(..)) {
            // A read is told when it has its value, a store when it has one, too; both may be done again.
            if matches!(step.rule, Rule::Init(_)) || !told.contains_key(&(p, index)) {
                told.insert((p, index), before);
            }
        }
    }
    accesses::add(&plain, &state, &told, &mut run);
    if contexts.is_some_and(|most| count > most) {
        return Err("the run has more contexts than it may have");
    }
    if !plain.is_complete(&state) {
        return Err("the run is not complete");
    }
    let n = state.events.len();
    let wrong = plain.all_faults(&state);
    if wrong.iter().any(|fault| fault.wrong == Wrong::Assertion(FailKind::Unsupported)) {
        return Err("the run meets what cannot be followed");
    }
    if let Some(fault) = wrong.first() {
        return Ok(Ending::Wrong(faults::finding(code, fault.process, fault.step, fault.wrong, run)));
    }
    if !(0..n).all(|p| plain.has_ended(&state, p)) {
        return Ok(Ending::Early);
    }
    if code.has_main() {
        return finish_alone(code, &plain, &state, rest, run);
    }
    Ok(Ending::Final(observed(code, &plain, &state), run))
}

/// `main` alone, with the choices of the run; what follows them is left.
fn run_alone<'m>(
    code: &PowerCode<'_>,
    alone: &mut Alone,
    mut moves: &'m [Move],
) -> Result<&'m [Move], &'static str> {
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
    run: Vec<Step>,
) -> Result<Ending, &'static str> {
    let mut alone = plain.alone(state);
    run_alone(code, &mut alone, moves)?;
    match (alone.run(code), alone.wrong(code)) {
        (Halt::Wrong(FailKind::Unsupported), _) => Err("the run meets what cannot be followed"),
        (Halt::Wrong(_), Some(wrong)) => Ok(Ending::Wrong(faults::finding(code, 0, alone.at.pc, wrong, run))),
        (Halt::End, _) => Ok(Ending::Final(observed_alone(code, &alone), run)),
        _ => Ok(Ending::Early),
    }
}

/// The finding that a final state is, if it is one.
fn final_state(code: &PowerCode<'_>, state: &[Value], trace: Vec<Step>) -> Result<Finding, &'static str> {
    match &code.program.property {
        Property::Final(condition) if !allows(condition, state) => {
            let message = "a final state violates the condition";
            Ok(Finding { run: trace, ..Finding::new(FindingKind::Assertion, message, Vec::new()) })
        }
        _ => Err("nothing is wrong at its end"),
    }
}

/// What a final condition observes after `main` has ended alone.
pub(super) fn observed_alone(code: &PowerCode<'_>, alone: &Alone) -> Vec<Value> {
    let Property::Final(condition) = &code.program.property else { return Vec::new() };
    let value = |observable: &Observable| match *observable {
        Observable::Register { reg, .. } => alone.at.regs[reg.0 as usize],
        Observable::Memory { object, offset, width } => {
            let cell = code.cell(Value::pointer(object, offset), width);
            let value = cell.and_then(|cell| alone.at.memory[cell as usize]).unwrap_or_default();
            width.sign_extend(value)
        }
    };
    condition.observed.iter().map(value).collect()
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

/// A step of the run for each rule that a person wants to see.
fn tell(code: &PowerCode<'_>, plain: &Plain<'_>, state: &State, step: Move, run: &mut Vec<Step>) {
    let p = usize::from(step.process);
    let (index, phase) = match step.rule {
        Rule::Init(i) => (i, Phase::Init),
        Rule::Commit(i) => (i, Phase::Commit),
        Rule::Propagate(i, to) => (i, Phase::Reaches(code.flat.threads[usize::from(to)].name.clone())),
        _ => return,
    };
    let Some(subject) = plain.subject(state, p, index as usize) else { return };
    let span = code.flat.threads[p].code[state.events[p][index as usize].step as usize].span;
    run.push(Step::new(p as u32, span, Action::Phase { phase, subject, access: None }));
}
