//! `-m ps --engine auto`: no engine is the best for all programs of the promising semantics, so the cheap ones are tried first.
//!
//! Trials are measured in work, visited graphs and states, and not in time: which engine answers does not depend on what else the
//! computer does.

use super::auto::{Picked, nobody};
use super::{Engine, Fit, Question, find, fit, ignored};
use super::{promising, promising_interleaved, promising_ordered};
use crate::input::Trouble;
use fencepost_answer::{Outcome, Verdict};

/// Graphs that the explorer visits: some tenths of a second.
const GRAPHS: u64 = 150_000;
/// States that the machine visits; with promises, each takes much longer to certify.
const STATES: u64 = 3_000;
const STATES_WITH_PROMISES: u64 = 1_000;

/// Options that bound runs, or what promises are.
const BOUNDS: [&str; 4] = ["bound", "views", "consistency", "domain"];

/// What was tried so far.
struct Trials<'q, 'a> {
    question: &'q Question<'a>,
    /// What to say if nobody answers.
    last: Option<Result<Picked, Trouble>>,
    /// Why an engine could not take the program.
    refused: Option<String>,
}

impl Trials<'_, '_> {
    fn find(&mut self, name: &str) -> Option<&'static dyn Engine> {
        let engine = find(name).filter(|engine| ignored(*engine, self.question.options).is_none())?;
        if let Fit::Refuses(why) = fit(engine, self.question) {
            self.refuse(why.into());
            return None;
        }
        Some(engine)
    }

    fn refuse(&mut self, trouble: Trouble) {
        let line = trouble.error.lines().next().unwrap_or_default();
        self.refused = Some(line.split_once(": ").map_or(line, |(_, rest)| rest).to_owned());
        self.last.get_or_insert(Err(trouble));
    }

    /// The answer of an engine, if it is one, or if the time is over.
    fn judge(
        &mut self,
        engine: &'static dyn Engine,
        why: String,
        answer: Result<Outcome, Trouble>,
    ) -> Option<Picked> {
        let question = self.question;
        let over = question.options.timeout.is_some_and(|time| question.start.elapsed() >= time);
        match answer {
            Ok(outcome) => {
                let surprising = engine.name() != "explore";
                let picked = Picked { engine, why, surprising, outcome };
                if picked.outcome.verdict != Verdict::Unknown || over {
                    return Some(picked);
                }
                self.last = Some(Ok(picked));
            }
            Err(trouble) => self.refuse(trouble),
        }
        None
    }

    /// Runs an engine, with that much work at most.
    fn run(&mut self, name: &str, work: Option<u64>, why: String) -> Option<Picked> {
        let engine = self.find(name)?;
        let answer = engine.run(&Question { work, ..*self.question });
        self.judge(engine, why, answer)
    }

    /// The explorer, where locks order every two accesses that conflict.
    fn ordered(&mut self) -> Option<Picked> {
        let mut options = self.question.options.clone();
        options.given.retain(|option| !BOUNDS.contains(&option.as_str()) && option != "promises");
        let engine = find("explore").filter(|engine| ignored(*engine, &options).is_none())?;
        let outcome = promising_ordered::answer(&Question { options: &options, ..*self.question }, GRAPHS)?;
        let why = "locks, starts and joins order all accesses, which then are as under sc".to_owned();
        Some(Picked { engine, why, surprising: false, outcome })
    }

    /// Where there are SC fences: runs in which one thread moves, or two. The encoding of those is small.
    fn few(&mut self) -> Option<Picked> {
        let fenced = promising::has_sc(&self.question.compiled.program);
        let engine = self.find("reduce").filter(|_| fenced)?;
        let outcome = engine.run(&Question { work: Some(0), ..*self.question }).ok()?;
        let why = "one thread or two are enough for it to go wrong".to_owned();
        let found = outcome.verdict == Verdict::Unsafe;
        found.then_some(Picked { engine, why, surprising: false, outcome })
    }

    /// Bounded model checking, for what goes wrong in an interleaving.
    fn interleaved(&mut self) -> Option<Picked> {
        let engine = self.find("reduce")?;
        let outcome = promising_interleaved::answer(self.question)?;
        let why = "an interleaving goes wrong, and each is a run without promises".to_owned();
        Some(Picked { engine, why, surprising: false, outcome })
    }

    /// The explorer. Without promises it may leave out the bounds on view switches: what is safe without them is safe within
    /// them.
    fn explore(&mut self, promises: bool) -> Option<Picked> {
        let why = match promises {
            true => "what goes wrong without promises is an execution of RC11",
            false => "without promises, runs are executions of RC11",
        };
        let bounded = |option: &String| BOUNDS.contains(&option.as_str());
        if promises || !self.question.options.given.iter().any(bounded) {
            return self.run("explore", Some(GRAPHS), why.into());
        }
        let mut options = self.question.options.clone();
        options.given.retain(|option| !bounded(option));
        let engine = find("explore").filter(|engine| ignored(*engine, &options).is_none())?;
        let question = Question { options: &options, work: Some(GRAPHS), ..*self.question };
        if matches!(fit(engine, &question), Fit::Refuses(_)) {
            return None;
        }
        let outcome = engine.run(&question).ok().filter(|outcome| outcome.verdict == Verdict::Safe)?;
        let why = format!("{why}, with any number of view switches");
        Some(Picked { engine, why, surprising: false, outcome })
    }
}

/// Answers a question about the promising semantics with the engine that suits it.
pub fn answer(question: &Question<'_>) -> Result<Picked, Trouble> {
    let promises = question.options.promises != Some(0) && question.options.bound != Some(0);
    let mut trials = Trials { question, last: None, refused: None };
    if promises && let Some(outcome) = trials.ordered() {
        return Ok(outcome);
    }
    if let Some(picked) = trials.explore(promises) {
        return Ok(picked);
    }
    if let Some(picked) = trials.few().or_else(|| trials.interleaved()) {
        return Ok(picked);
    }
    // If nobody else can go on, the machine need not be tried first.
    trials.refused = None;
    if trials.find("reduce").is_some() {
        let states = if promises { STATES_WITH_PROMISES } else { STATES };
        let few = "the promising machine has few states on it, and needs no bound".to_owned();
        let many = "it has many states: K promises and view switches on a SAT solver".to_owned();
        if let Some(picked) = trials.run("states", Some(states), few) {
            return Ok(picked);
        }
        if let Some(picked) = trials.run("reduce", None, many) {
            return Ok(picked);
        }
    }
    let why = match &trials.refused {
        Some(why) => format!("the encoding does not take it: {why}"),
        None => "the encoding gave no answer".into(),
    };
    // Without promises the explorer needs no memory; with them only the machine has an answer.
    if !promises && let Some(picked) = trials.run("explore", None, why.clone()) {
        return Ok(picked);
    }
    if let Some(picked) = trials.run("states", None, why) {
        return Ok(picked);
    }
    trials.last.unwrap_or_else(|| Err(nobody(question).into()))
}
