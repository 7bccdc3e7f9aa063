//! Runs that another engine found, as a schedule: in which context each thing happens. They are done again here, rule by rule.
//!
//! Within a context the rules are applied as they become possible, in program order: what a process can see changes within its
//! own context only by its own commits,
//! and those are scheduled.

use super::alone::{Alone, Halt};
use super::check::{Ending, ending, replay_moves};
use super::code::PowerCode;
use super::machine::{Move, Rule};
use super::plain::{Plain, State, Status};
use fencepost_answer::Finding;
use fencepost_ir::Value;
use fencepost_ir::flat::Op;
use std::collections::BTreeMap;

/// A schedule. Processes and steps are those of the flat program, contexts count from 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule {
    /// Who is active in each context.
    pub active: Vec<usize>,
    /// When reads are initialised, by process and step.
    pub init: BTreeMap<(usize, u32), usize>,
    /// When accesses and fences are committed; what is not here is not fetched.
    pub commit: BTreeMap<(usize, u32), usize>,
    /// When stores and fences have reached another process.
    pub reach: BTreeMap<(usize, u32, usize), usize>,
    /// The ways of branches, and whether assumptions and assertions hold, of those that are fetched.
    pub ways: BTreeMap<(usize, u32), bool>,
    /// Values that are chosen.
    pub choices: BTreeMap<(usize, u32), Value>,
}

/// Does a scheduled run again, on at most as many contexts as it has, and says what goes wrong at its end.
pub fn replay(code: &PowerCode<'_>, schedule: &Schedule) -> Result<Finding, &'static str> {
    let moves = moves_of(code, schedule)?;
    let kept = vec![usize::MAX; code.flat.threads.len()];
    replay_moves(code, &moves, &kept, Some(schedule.active.len() as u32))
}

/// The same for a run in which nothing goes wrong: what a final condition observes at its end.
pub fn final_state(code: &PowerCode<'_>, schedule: &Schedule) -> Result<Vec<Value>, &'static str> {
    let moves = moves_of(code, schedule)?;
    let kept = vec![usize::MAX; code.flat.threads.len()];
    match ending(code, &moves, &kept, Some(schedule.active.len() as u32))? {
        Ending::Final(state, _) => Ok(state),
        Ending::Wrong(_) => Err("something is wrong in it"),
        Ending::Early => Err("it has no end"),
    }
}

/// The steps of the plain machine.
fn moves_of(code: &PowerCode<'_>, schedule: &Schedule) -> Result<Vec<Move>, &'static str> {
    let (mut moves, mut alone) = (Vec::new(), Alone::new(code));
    if code.has_main() {
        run_alone(code, schedule, &mut alone, &mut moves)?;
    }
    let plain = Plain::new(code, &alone.at);
    let mut state = plain.initial();
    for (context, &process) in schedule.active.iter().enumerate() {
        let turn = Turn { code, schedule, plain: &plain, context, process };
        while turn.progress(&mut state, &mut moves) {}
    }
    if code.has_main() && (0..state.events.len()).all(|p| plain.has_ended(&state, p)) {
        let mut after = plain.alone(&state);
        run_alone(code, schedule, &mut after, &mut moves)?;
    }
    Ok(moves)
}

/// Lets `main` run alone, with the choices of the schedule.
fn run_alone(
    code: &PowerCode<'_>,
    schedule: &Schedule,
    alone: &mut Alone,
    moves: &mut Vec<Move>,
) -> Result<(), &'static str> {
    moves.push(Move { process: 0, rule: Rule::Alone(None) });
    while let Halt::Choice(..) = alone.run(code) {
        let value = *schedule.choices.get(&(0, alone.at.pc)).ok_or("a choice of main is missing")?;
        moves.push(Move { process: 0, rule: Rule::Alone(Some(value)) });
        alone.choose(code, value);
    }
    Ok(())
}

/// One context.
struct Turn<'a> {
    code: &'a PowerCode<'a>,
    schedule: &'a Schedule,
    plain: &'a Plain<'a>,
    context: usize,
    process: usize,
}

impl Turn<'_> {
    /// Applies what is possible, once through; false if nothing was.
    fn progress(&self, state: &mut State, moves: &mut Vec<Move>) -> bool {
        let mut any = false;
        while let Some(rule) = self.next_fetch(state) {
            if !self.apply(state, rule, moves) {
                break;
            }
            any = true;
        }
        for index in 0..state.events[self.process].len() {
            for rule in self.wanted(state, index) {
                any |= self.apply(state, rule, moves);
            }
        }
        any
    }

    fn apply(&self, state: &mut State, rule: Rule, moves: &mut Vec<Move>) -> bool {
        let step = Move { process: self.process as u8, rule };
        let mut after = state.clone();
        let done = self.plain.apply(&mut after, step).is_ok() && after != *state;
        if done {
            *state = after;
            moves.push(step);
        }
        done
    }

    /// The next event, if it is part of the run.
    fn next_fetch(&self, state: &State) -> Option<Rule> {
        let at = (self.process, state.pc[self.process]);
        let step = self.code.flat.threads[at.0].code.get(at.1 as usize)?;
        let fetch = |value| Some(Rule::Fetch(value));
        match step.op {
            Op::Load { .. } | Op::Store { .. } => {
                self.schedule.commit.get(&at).and_then(|_| fetch(Value::ZERO))
            }
            Op::Fence(fence) => {
                let isync = fence == fencepost_ir::Fence::Isync;
                (isync || self.schedule.commit.contains_key(&at)).then_some(Rule::Fetch(Value::ZERO))
            }
            Op::Branch { .. } => fetch(Value(u64::from(*self.schedule.ways.get(&at)?))),
            Op::Assume(_) => {
                self.schedule.ways.get(&at).filter(|holds| **holds).and_then(|_| fetch(Value::ZERO))
            }
            Op::Assert { .. } => self.schedule.ways.get(&at).and_then(|_| fetch(Value::ZERO)),
            Op::Nondet { .. } => fetch(*self.schedule.choices.get(&at)?),
            _ => None,
        }
    }

    /// The rules that are due for an event.
    fn wanted(&self, state: &State, index: usize) -> Vec<Rule> {
        let event = &state.events[self.process][index];
        let (at, number) = ((self.process, event.step), index as u32);
        let due = |when: Option<&usize>| when.is_some_and(|context| *context <= self.context);
        let mut rules = Vec::new();
        let op = &self.code.flat.threads[at.0].code[at.1 as usize].op;
        if event.status == Status::Fetch {
            match op {
                Op::Load { .. } if due(self.schedule.init.get(&at)) => rules.push(Rule::Init(number)),
                Op::Store { .. } => rules.push(Rule::Init(number)),
                _ => {}
            }
        }
        if event.status != Status::Com {
            let scheduled = self.schedule.commit.get(&at);
            if scheduled.is_none() || due(scheduled) {
                rules.push(Rule::Commit(number));
            }
        }
        for to in (0..state.events.len()).filter(|to| *to != self.process) {
            // A store that arrives in another process's context is covered there by a store behind it, and does not arrive
            // itself.
            if self.schedule.reach.get(&(at.0, at.1, to)) == Some(&self.context) {
                rules.push(Rule::Propagate(number, to as u8));
            }
        }
        rules
    }
}
