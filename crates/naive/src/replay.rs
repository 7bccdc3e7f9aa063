//! One execution from its reads-from and coherence: how a witness of any engine is rebuilt and re-validated.
//!
//! Each thread is run with the values of its loads as far as they are known, and only runs whose accesses are those of the
//! witness go on. What all runs of a thread store tells the loads that read it their value, and so on to a fixpoint. An
//! access may be known before an earlier load of its thread is, as in load buffering, so unknown values are no obstacle;
//! see `interpret`.

use crate::combine::{Whole, set_order, skeleton};
use crate::interpret::{Assertions, Interpreter, Memory, Rules, Step};
use crate::run::{End, Run, Trace};
use crate::world::World;
use crate::{Key, Limits, NaiveExecution, Stop};
use fencepost_ir::{EventKind, Fence, Location, Program, ThreadId, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A thread and the number of one of its accesses.
type Access = (u32, u32);

/// The executions that have this key; none, if the key is no execution's. If it has no choices, any will do: there may be
/// several executions then, with the same `rf` and `co`. No model is asked, so no flags are raised.
pub fn replay(program: &Program, key: &Key, limits: &Limits) -> Result<Vec<NaiveExecution>, Stop> {
    let Some(replayer) = Replayer::new(program, key, limits) else { return Ok(Vec::new()) };
    let threads = program.threads.len();
    let mut found = Vec::new();
    let pinned = match key.choices.len() == threads {
        true => key.choices.clone(),
        false => vec![Vec::new(); threads],
    };
    replayer.solve(vec![BTreeMap::new(); threads], pinned, &mut found)?;
    found.retain(|e| key.choices.is_empty() || e.key == *key);
    Ok(found)
}

/// The values of a thread's loads by number, as far as they are known.
type Values = BTreeMap<u32, Value>;

struct Replayer<'p> {
    world: World<'p>,
    limits: &'p Limits,
    rf: Vec<(Access, Option<Access>)>,
    co: &'p [(Location, Vec<Option<Access>>)],
    /// Per thread, what its accesses are; a location that is not known before the run is `None`.
    shape: Vec<Vec<(EventKind, Option<Location>)>>,
    /// Per thread, which loads read an initial value.
    from_init: Vec<BTreeSet<u32>>,
}

impl<'p> Replayer<'p> {
    /// `None` if the key mentions an access twice, or not, or one of no thread.
    fn new(program: &'p Program, key: &'p Key, limits: &'p Limits) -> Option<Replayer<'p>> {
        let mut written: BTreeMap<Access, Location> = BTreeMap::new();
        for (location, list) in &key.co {
            for &access in list {
                written.insert(access?, *location);
            }
        }
        let rf = key.rf.iter().map(|&(r, w)| Some((r?, w))).collect::<Option<Vec<_>>>()?;
        let mut accesses: BTreeMap<Access, (EventKind, Option<Location>)> =
            written.iter().map(|(&access, &location)| (access, (EventKind::Write, Some(location)))).collect();
        let mut from_init = vec![BTreeSet::new(); program.threads.len()];
        for &(read, source) in &rf {
            let location = match source {
                Some(source) => Some(*written.get(&source)?),
                None => {
                    from_init.get_mut(read.0 as usize)?.insert(read.1);
                    None
                }
            };
            if accesses.insert(read, (EventKind::Read, location)).is_some() {
                return None;
            }
        }
        let mut shape = vec![Vec::new(); program.threads.len()];
        for ((thread, number), access) in accesses {
            let list = shape.get_mut(thread as usize)?;
            if list.len() != number as usize {
                return None;
            }
            list.push(access);
        }
        Some(Replayer { world: World::new(program), limits, rf, co: &key.co, shape, from_init })
    }

    /// Runs threads until nothing more becomes known; where only a choice can go on, tries each.
    fn solve(
        &self,
        mut known: Vec<Values>,
        pinned: Vec<Vec<i64>>,
        found: &mut Vec<NaiveExecution>,
    ) -> Result<(), Stop> {
        loop {
            let runs: Vec<Vec<Trace>> =
                (0..known.len()).map(|t| self.runs(t, &known[t], &pinned[t])).collect::<Result<_, _>>()?;
            if runs.iter().any(Vec::is_empty) {
                return Ok(());
            }
            if self.learn(&runs, &mut known) {
                continue;
            }
            if runs.iter().flatten().all(is_complete) {
                self.combine(&runs, &mut Vec::new(), found);
                return Ok(());
            }
            // Values that depend on themselves have no explanation.
            let Some((t, choices)) = undecided(&runs) else { return Ok(()) };
            for choice in choices {
                let mut pinned = pinned.clone();
                pinned[t] = choice;
                self.solve(known.clone(), pinned, found)?;
            }
            return Ok(());
        }
    }

    /// The runs of a thread that have the accesses of the witness, as far as they get.
    fn runs(&self, thread: usize, values: &Values, pinned: &[i64]) -> Result<Vec<Trace>, Stop> {
        let memory = Memory::Known { values, from_init: &self.from_init[thread] };
        let rules = Rules { spins: None, assertions: Assertions::Note, thread_fence: Fence::Compiler };
        let (world, thread_id) = (&self.world, ThreadId(thread as u32));
        let interpreter = Interpreter { world, thread: thread_id, memory, rules };
        let Some(start) = interpreter.initial_start() else { return Ok(Vec::new()) };
        let mut todo = vec![interpreter.start(start)];
        let mut done = Vec::new();
        while let Some(mut run) = todo.pop() {
            run.count_step(self.limits)?;
            match interpreter.step(run)? {
                Step::Runs(runs) => {
                    todo.extend(runs.into_iter().rev().filter(|run| self.fits(thread, run, pinned)))
                }
                Step::Perhaps(run) => {
                    let mut stuck = run.clone();
                    stuck.choose_otherwise();
                    if self.fits(thread, &stuck, pinned) {
                        done.push(stuck.finish(End::Stuck));
                    }
                    todo.extend(Some(run).filter(|run| self.fits(thread, run, pinned)));
                }
                Step::End(run, end) => done.extend(self.ended(thread, run, end)),
                Step::Some(outcomes) => {
                    for (run, end) in outcomes.into_iter().rev() {
                        match end {
                            Some(end) => done.extend(self.ended(thread, run, end)),
                            None => todo.extend(Some(run).filter(|run| self.fits(thread, run, pinned))),
                        }
                    }
                }
            }
            if done.len() + todo.len() > self.limits.traces {
                return Err(Stop::Limit("traces of one thread"));
            }
        }
        Ok(done)
    }

    /// A run that is over, if it may be the witness's.
    fn ended(&self, thread: usize, run: Run, end: End) -> Option<Trace> {
        let fits = match end {
            End::Stuck => true,
            End::Done | End::Returned | End::Halted | End::Failed => {
                run.accesses().count() == self.shape[thread].len()
            }
            _ => false,
        };
        fits.then(|| run.finish(end))
    }

    fn fits(&self, thread: usize, run: &Run, pinned: &[i64]) -> bool {
        let shape = &self.shape[thread];
        let same = |(at, (kind, location)): (usize, (EventKind, Option<Location>))| {
            shape.get(at).is_some_and(|&(k, l)| k == kind && l.is_none_or(|l| Some(l) == location))
        };
        run.accesses().enumerate().all(same) && run.choices.iter().zip(pinned).all(|(a, b)| a == b)
    }

    /// A load whose source stores the same known value in all runs reads that value. Whether anything was new.
    fn learn(&self, runs: &[Vec<Trace>], known: &mut [Values]) -> bool {
        let mut learnt = false;
        for &(read, source) in &self.rf {
            let Some(source) = source.filter(|_| !known[read.0 as usize].contains_key(&read.1)) else {
                continue;
            };
            let mut values = runs[source.0 as usize].iter().map(|run| run.stored(source.1));
            let first = values.next().flatten();
            if let Some(value) = first.filter(|_| values.all(|value| value == first)) {
                known[read.0 as usize].insert(read.1, value);
                learnt = true;
            }
        }
        learnt
    }

    /// One run per thread, in all ways.
    fn combine<'t>(
        &self,
        runs: &'t [Vec<Trace>],
        chosen: &mut Vec<&'t Trace>,
        found: &mut Vec<NaiveExecution>,
    ) {
        let Some((first, rest)) = runs.split_first() else { return found.push(self.execution(chosen)) };
        for run in first {
            chosen.push(run);
            self.combine(rest, chosen, found);
            chosen.pop();
        }
    }

    fn execution(&self, chosen: &[&Trace]) -> NaiveExecution {
        let chosen: Vec<(ThreadId, &Trace)> = (0..).map(ThreadId).zip(chosen.iter().copied()).collect();
        let (mut execution, starts) = skeleton(&self.world, &chosen);
        let mut events: BTreeMap<Access, usize> = BTreeMap::new();
        let mut initial: BTreeMap<Location, usize> = BTreeMap::new();
        let mut counts = vec![0; chosen.len()];
        for (i, event) in execution.events.iter().enumerate() {
            match (event.thread, event.location) {
                (None, Some(location)) => {
                    initial.insert(location, i);
                }
                (Some(thread), Some(_)) => {
                    let count = &mut counts[thread.0 as usize];
                    events.insert((thread.0, *count), i);
                    *count += 1;
                }
                _ => {}
            }
        }
        for &(read, source) in &self.rf {
            let read = events[&read];
            let source = match (source, execution.events[read].location) {
                (Some(source), _) => events[&source],
                (None, location) => initial[&location.expect("a read has a location")],
            };
            execution.rf.insert(source, read);
        }
        for (location, list) in self.co {
            let writes = list.iter().flatten().map(|access| events[access]);
            let order: Vec<usize> = initial.get(location).copied().into_iter().chain(writes).collect();
            set_order(&mut execution, &order, true);
        }
        let whole = Whole { world: &self.world, chosen: &chosen, starts: &starts, execution: &execution };
        whole.execution()
    }
}

fn is_complete(run: &Trace) -> bool {
    (run.end.is_end() || run.end == End::Failed) && run.events.iter().all(|e| e.value.is_some())
}

/// The first thread whose runs differ in their choices, and these.
fn undecided(runs: &[Vec<Trace>]) -> Option<(usize, Vec<Vec<i64>>)> {
    runs.iter().enumerate().find_map(|(t, list)| {
        let choices: BTreeSet<Vec<i64>> = list.iter().map(|run| run.choices.clone()).collect();
        // A choice that is the beginning of another would be tried again for ever.
        let open = choices.iter().any(|a| choices.iter().any(|b| a != b && b.starts_with(a)));
        (choices.len() > 1 && !open).then(|| (t, choices.into_iter().collect()))
    })
}
