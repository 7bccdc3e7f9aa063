//! One road from events to an answer: an [`Ordering`] makes clauses of them, a [`Query`] has these in a solver and asks with
//! growing bounds.

use crate::aig::{Graph, Lit, Values};
use crate::finals::Finals;
use crate::formula::Formula;
use crate::limits::{Limits, StopReason};
use crate::outcome::{Asked, Failed, Finding, Outcome, Progress, Statistics, Unsupported, Verdict, Why};
use crate::proof::checked_proof;
use crate::solver::{Answer, Solver};
use fencepost_diag::Span;
use fencepost_ir::Value;
use std::path::Path;

/// What orders the events of threads: sequential consistency, slots of promising messages, contexts of POWER, axioms.
///
/// Solutions of its clauses are runs, and all runs within the bounds are solutions: *safe* depends on the second, and the first
/// is checked by whoever replays what [`Ordering::explain`] gives.
pub trait Ordering {
    /// A run, as somebody else can replay it.
    type Run;

    /// The graph of gates.
    fn graph(&self) -> &Graph;
    /// The same, to ask for more.
    fn graph_mut(&mut self) -> &mut Graph;
    /// What a solution satisfies.
    fn clauses(&self) -> &Formula;
    /// How many events there are, and how often threads were unrolled until widths were known.
    fn events(&self) -> (usize, u32);
    /// What holds of a run within bounds. They are not larger than those of the formula.
    fn within(&mut self, asked: Asked) -> Vec<Lit>;
    /// A run is cut off by these bounds; nothing if the solver need not be asked.
    fn cut_off(&mut self, _: Asked) -> Option<Lit> {
        None
    }
    /// All threads come to their ends; nothing if nobody wants to know.
    fn all_end(&mut self) -> Option<Lit> {
        None
    }
    /// Something is wrong in a solution: what, and the run. The error says why that is no answer.
    fn explain(&self, values: &Values, asked: Asked) -> Result<(Finding, Self::Run), Why>;
    /// The run of a solution that ends in a state that is asked for.
    fn shown(&self, _: &Values, _: Asked) -> Option<Self::Run> {
        None
    }
    /// What a solution comes to that cannot be followed.
    fn met(&self, _: &Values) -> Option<(String, Span)> {
        None
    }
}

/// What to ask about an encoded program.
pub struct Goals {
    /// Something is wrong.
    pub bad: Lit,
    /// Something is met that cannot be followed.
    pub limit: Lit,
    /// What a final condition looks at.
    pub finals: Option<Finals>,
}

/// An encoded program in a solver.
pub struct Query<O> {
    /// The events and their order.
    pub order: O,
    /// What to ask.
    pub goals: Goals,
    solver: Solver,
}

impl<O: Ordering> Query<O> {
    /// Puts the clauses into a solver.
    pub fn new(order: O, goals: Goals, limits: Limits) -> Result<Query<O>, StopReason> {
        Query::with(order, goals, Solver::new(limits))
    }

    /// Puts the clauses into this solver.
    pub fn with(order: O, goals: Goals, mut solver: Solver) -> Result<Query<O>, StopReason> {
        solver.require_all(order.graph(), order.clauses())?;
        Ok(Query { order, goals, solver })
    }

    /// Figures so far.
    pub fn statistics(&self) -> Statistics {
        let (events, passes) = self.order.events();
        Statistics {
            events: events as u64,
            nodes: self.order.graph().len() as u64,
            variables: self.solver.variables(),
            clauses: self.solver.clauses(),
            conflicts: self.solver.conflicts(),
            passes: u64::from(passes),
        }
    }

    /// A solution in which all of these hold.
    pub fn ask(&mut self, assumed: &[Lit]) -> Result<Option<Values>, StopReason> {
        match self.solver.solve(self.order.graph(), assumed) {
            Answer::Sat(values) => Ok(Some(values)),
            Answer::Unsat => Ok(None),
            Answer::Stopped(reason) => Err(reason),
        }
    }

    /// A solution within bounds in which something holds.
    pub fn ask_within(&mut self, asked: Asked, goal: Lit) -> Result<Option<Values>, StopReason> {
        let mut assumed = self.order.within(asked);
        assumed.push(goal);
        self.ask(&assumed)
    }

    /// Demands one of these from now on.
    pub fn require(&mut self, lits: &[Lit]) {
        self.solver.require(self.order.graph(), lits);
    }

    /// A final state in which all of these hold, and its solution; no other solution with that state is found from now on.
    pub fn next_state(&mut self, assumed: &[Lit]) -> Result<Option<(Vec<Value>, Values)>, StopReason> {
        let Some(values) = self.ask(assumed)? else { return Ok(None) };
        let Some(finals) = &self.goals.finals else { return Ok(None) };
        let state: Vec<Value> = finals.observed.iter().map(|word| word.evaluate(&values)).collect();
        let graph = self.order.graph_mut();
        let differs: Vec<Lit> =
            finals.observed.iter().zip(&state).map(|(word, &value)| !word.is(graph, value)).collect();
        self.require(&differs);
        Ok(Some((state, values)))
    }

    /// Asks about growing bounds of this formula. True if the outcome is final, as it is after the `last` formula.
    pub fn deepen(
        &mut self,
        levels: &[Asked],
        last: bool,
        progress: Option<Progress<'_>>,
        outcome: &mut Outcome<O::Run>,
    ) -> bool {
        let done = self.climb(levels, last, progress, outcome);
        outcome.statistics = self.statistics();
        done.unwrap_or_else(|reason| {
            outcome.unknown(Why::Limit(reason));
            true
        })
    }

    fn climb(
        &mut self,
        levels: &[Asked],
        last: bool,
        progress: Option<Progress<'_>>,
        outcome: &mut Outcome<O::Run>,
    ) -> Result<bool, StopReason> {
        for (number, &asked) in levels.iter().enumerate() {
            if let Some(progress) = progress {
                progress(asked, self.statistics());
            }
            let cut_off = self.order.cut_off(asked);
            let sought = self.goals.finals.as_ref().is_some_and(|finals| finals.sought);
            // Nothing more is asked for: the solver may simplify with what is a clause, not with what is assumed.
            if number + 1 == levels.len() && cut_off.is_none() && self.goals.limit == Lit::FALSE && !sought {
                self.require(&[self.goals.bad]);
            }
            if let Some(values) = self.ask_within(asked, self.goals.bad)? {
                match self.order.explain(&values, asked) {
                    Ok((finding, run)) => outcome.wrong(asked, finding, Some(run)),
                    Err(why) => outcome.unknown(why),
                }
                return Ok(true);
            }
            outcome.completed = Some(asked);
            // Nothing is wrong so far; is there more to see beyond this bound?
            if let Some(cut_off) = cut_off {
                outcome.cut = self.ask(&[cut_off])?.is_some();
                if !outcome.cut {
                    self.conclude(asked, outcome)?;
                    return Ok(true);
                }
            }
        }
        if let (true, Some(&asked)) = (last, levels.last()) {
            self.conclude(asked, outcome)?;
        }
        Ok(last)
    }

    /// Nothing is wrong: safe, unless not everything was followed, or the program is asked for a final state that it does not
    /// have.
    fn conclude(&mut self, asked: Asked, outcome: &mut Outcome<O::Run>) -> Result<(), StopReason> {
        if let Some(values) = self.ask_within(asked, self.goals.limit)? {
            outcome.unknown(Why::Unfollowed(self.order.met(&values)));
            return Ok(());
        }
        outcome.verdict = Verdict::Safe;
        if let Some(ends) = self.order.all_end() {
            outcome.completes = self.ask(&[ends])?.is_some();
        }
        let Some(finals) = self.goals.finals.as_ref().filter(|finals| finals.sought) else { return Ok(()) };
        let state = finals.state();
        let mut assumed = self.order.within(asked);
        assumed.extend(state);
        match self.ask(&assumed)? {
            Some(values) => outcome.run = self.order.shown(&values, asked),
            None => outcome.no_state(),
        }
        Ok(())
    }

    /// Refutes that something goes wrong, in a solver that writes a proof to this file, and checks that. Returns what was
    /// checked, in words.
    pub fn refute(mut self, path: &Path) -> Result<String, String> {
        self.require(&[self.goals.bad]);
        match self.ask(&[]) {
            Err(reason) => Err(format!("no proof: {}", reason.describe())),
            Ok(Some(_)) => Err("no proof: something goes wrong".into()),
            Ok(None) => checked_proof(self.solver, path),
        }
    }
}

/// The bound of the first, small formula.
const FIRST_UNROLL: u32 = 2;

/// Asks with growing bounds on loops, in a small formula first: it finds what is wrong early, and tells whether loops are cut
/// at all. `query` encodes with a bound.
pub fn unroll_more<O: Ordering>(
    most: u32,
    progress: Option<Progress<'_>>,
    mut query: impl FnMut(u32) -> Result<Query<O>, Failed>,
) -> Result<Outcome<O::Run>, Unsupported> {
    let mut outcome = Outcome::default();
    let bounds = if most > FIRST_UNROLL { vec![FIRST_UNROLL, most] } else { vec![most] };
    for bound in bounds {
        let mut query = match query(bound) {
            Ok(query) => query,
            Err(Failed::Unsupported(unsupported)) => return Err(unsupported),
            Err(Failed::Stopped(reason)) => {
                outcome.unknown(Why::Limit(reason));
                return Ok(outcome);
            }
        };
        let mut levels = vec![outcome.completed.map_or(1, |done| done.unroll * 2).min(bound)];
        while levels[levels.len() - 1] < bound {
            levels.push((levels[levels.len() - 1] * 2).min(bound));
        }
        let levels: Vec<Asked> =
            levels.into_iter().map(|unroll| Asked { unroll, ..Asked::default() }).collect();
        if query.deepen(&levels, bound == most, progress, &mut outcome) {
            break;
        }
    }
    Ok(outcome)
}
