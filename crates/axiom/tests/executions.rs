//! Random executions with all kinds of events, fences and dependencies: the clauses of a model hold exactly if its interpreter
//! finds the execution consistent, and races are the same. Models with a clause left out are compared, too, and most are noticed.
//!
//! `FENCEPOST_CASES` says how many executions (300 for the models, 40 for those with a clause left out), `FENCEPOST_SEED`
//! which is the first.

mod support;

use fencepost_axiom::base::Base;
use fencepost_axiom::gates::encode;
use fencepost_axiom::is_supported;
use fencepost_bmc::Limits;
use fencepost_bmc::aig::Graph;
use fencepost_bmc::formula::Formula;
use fencepost_bmc::solver::{Answer, Solver};
use fencepost_ir::{
    Ann, Event, EventKind, Execution, Fence, Location, ObjectId, Order, Span, ThreadId, Value, Width,
};
use fencepost_models::{Model, registry};
use support::Dice;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// An execution with two or three threads over two cells. `po`, `rf` and `co` are what they have to be; the rest is random.
fn execution(seed: u64) -> Execution {
    let mut dice = Dice(seed);
    let cells = dice.pick(&[1, 2, 2, 2, 3]);
    let event = |thread: Option<u32>, kind: EventKind, cell: Option<u32>, ann: Ann, amo: bool| Event {
        thread: thread.map(ThreadId),
        kind,
        location: cell.map(|cell| Location { object: ObjectId(cell), offset: 0 }),
        width: Width::W32,
        value: Value::ZERO,
        ann,
        amo,
        span: Span::default(),
    };
    let mut events: Vec<Event> =
        (0..cells).map(|cell| event(None, EventKind::Write, Some(cell), Ann::PLAIN, false)).collect();
    let mut halves = Vec::new();
    for thread in 0..2 + dice.below(2) as u32 {
        for _ in 0..2 + dice.below(3) {
            let cell = Some(dice.below(u64::from(cells)) as u32);
            let ann = Ann::order(dice.pick(&Order::ALL));
            match dice.below(8) {
                0..=2 => events.push(event(Some(thread), EventKind::Read, cell, ann, dice.one_in(8))),
                3..=4 => events.push(event(Some(thread), EventKind::Write, cell, ann, false)),
                5 => {
                    let one = !dice.one_in(3);
                    let write = Ann::order(dice.pick(&Order::ALL));
                    let exclusive = |ann: Ann| Ann { exclusive: !one, ..ann };
                    halves.push((events.len(), one));
                    events.push(event(Some(thread), EventKind::Read, cell, exclusive(ann), one));
                    events.push(event(Some(thread), EventKind::Write, cell, exclusive(write), one));
                }
                _ => {
                    let fence = match dice.one_in(2) {
                        true => dice.pick(&Fence::all().collect::<Vec<_>>()),
                        false => Fence::C11(dice.pick(&[
                            Order::Acquire,
                            Order::Release,
                            Order::AcqRel,
                            Order::SeqCst,
                        ])),
                    };
                    events.push(event(Some(thread), EventKind::Fence(fence), None, Ann::PLAIN, false));
                }
            }
        }
    }
    let mut execution = Execution::new(events);
    let events = execution.events.clone();
    for &(read, one) in &halves {
        execution.rmw.insert(read, read + 1);
        if one {
            execution.amo.insert(read, read + 1);
        }
    }
    for a in 0..events.len() {
        for b in a + 1..events.len() {
            if events[a].thread.is_none() || events[a].thread != events[b].thread {
                continue;
            }
            execution.po.insert(a, b);
            if events[a].kind != EventKind::Read {
                continue;
            }
            let access = !matches!(events[b].kind, EventKind::Fence(_));
            let some = [
                (access, &mut execution.addr),
                (events[b].kind == EventKind::Write, &mut execution.data),
                (true, &mut execution.ctrl),
                (true, &mut execution.pick),
                (access, &mut execution.pick_addr),
            ];
            for (fits, relation) in some {
                if fits && dice.one_in(6) {
                    relation.insert(a, b);
                }
            }
        }
    }
    for cell in 0..cells {
        let at = |i: &usize| events[*i].location.is_some_and(|location| location.object == ObjectId(cell));
        let all: Vec<usize> = (0..events.len()).filter(at).collect();
        let (mut writes, reads): (Vec<usize>, Vec<usize>) =
            all.into_iter().partition(|&i| events[i].kind == EventKind::Write);
        for i in 1..writes.len() {
            // Mostly as in program order, so that some executions are consistent.
            if dice.one_in(6) {
                let j = 1 + dice.below(writes.len() as u64 - 1) as usize;
                writes.swap(i, j);
            }
        }
        for (i, &a) in writes.iter().enumerate() {
            writes[i + 1..].iter().for_each(|&b| execution.co.insert(a, b));
        }
        for read in reads {
            // Seldom from a later write of its own thread.
            let later = |w: &usize| execution.po.contains(read, *w);
            let earlier: Vec<usize> = writes.iter().copied().filter(|w| !later(w)).collect();
            let choice = if dice.one_in(10) { &writes } else { &earlier };
            let from = dice.pick(choice);
            execution.rf.insert(from, read);
        }
    }
    execution
}

/// Executions about which models disagree: so many, by their seeds.
fn disputed(first: u64, count: usize) -> Vec<u64> {
    let models = models();
    let differ = |seed: &u64| {
        let execution = execution(*seed);
        let mut verdicts = models.iter().map(|model| model.check(&execution).consistent);
        let one = verdicts.next();
        verdicts.any(|verdict| Some(verdict) != one)
    };
    (first..).filter(differ).take(count).collect()
}

/// Whether the clauses of a model hold of an execution, and the pairs that race.
fn by_clauses(model: &Model, execution: &Execution) -> (bool, Vec<(usize, usize)>) {
    let (mut graph, mut formula) = (Graph::new(), Formula::new());
    let base = Base::of_execution(execution, &mut graph, &mut formula);
    let limits = Limits::default();
    let encoded = encode(model, &[], &base, &mut graph, &mut formula, &limits).expect("no limits");
    let mut solver = Solver::new(limits);
    solver.require_all(&graph, &formula).expect("no limits");
    let mut holds = |lits: &[_]| matches!(solver.solve(&graph, lits), Answer::Sat(_));
    let consistent = holds(&[]);
    let races = encoded.races.iter().filter(|(.., lit)| consistent && holds(&[*lit]));
    (consistent, races.map(|&(a, b, _)| (a as usize, b as usize)).collect())
}

/// The same by the interpreter.
fn by_interpreter(model: &Model, execution: &Execution) -> (bool, Vec<(usize, usize)>) {
    let consistent = model.check(execution).consistent;
    let race = model.relation(execution, "race").filter(|_| consistent);
    (consistent, race.map_or(Vec::new(), |race| race.pairs().filter(|(a, b)| a < b).collect()))
}

fn models() -> Vec<Model> {
    let names = registry::names(|entry| !entry.cat.is_empty());
    let all = names.into_iter().filter_map(Model::builtin);
    let supported: Vec<Model> = all.filter(|model| is_supported(model, &[]).is_ok()).collect();
    assert!(supported.len() >= 11, "{}", supported.len());
    supported
}

#[test]
fn clauses_and_interpreter_agree() {
    let (cases, first) = (number("FENCEPOST_CASES", 300), number("FENCEPOST_SEED", 0));
    let seeds: Vec<u64> = (first..first + cases).chain(disputed(first, cases as usize)).collect();
    for model in models() {
        let (mut consistent, mut racing) = (0, 0);
        for &seed in &seeds {
            let execution = execution(seed);
            let (expected, found) = (by_interpreter(&model, &execution), by_clauses(&model, &execution));
            assert_eq!(found, expected, "{}: seed {seed}: {execution:#?}", model.name());
            consistent += u64::from(expected.0);
            racing += u64::from(!expected.1.is_empty());
        }
        println!("{}: {consistent} of {} consistent, {racing} with a race", model.name(), seeds.len());
        assert!(consistent > 0, "{}", model.name());
    }
}

/// A clause that is left out changes what the clauses say of some execution, as it does for the interpreter.
#[test]
fn clauses_that_are_left_out_are_left_out() {
    let (cases, first) = (number("FENCEPOST_CASES", 40), number("FENCEPOST_SEED", 0));
    let (mut noticed, mut all, mut missed) = (0, 0, Vec::new());
    let seeds: Vec<u64> = (first..first + cases).chain(disputed(first, cases as usize)).collect();
    for model in models() {
        let mut mutants: Vec<(String, Model)> = Vec::new();
        for clause in model.clauses() {
            if let Ok(mutant) = model.with_definition(&clause.definition, &clause.rest) {
                mutants.push((format!("{} without {}", clause.definition, clause.text), mutant));
            }
        }
        let axioms: Vec<String> = model.axioms().iter().map(|axiom| axiom.name.to_string()).collect();
        mutants.extend(axioms.iter().filter_map(|axiom| Some((axiom.clone(), model.without_axiom(axiom)?))));
        let mut seen = vec![false; mutants.len()];
        for &seed in &seeds {
            let execution = execution(seed);
            let original = by_clauses(&model, &execution);
            for ((what, mutant), seen) in mutants.iter().zip(&mut seen) {
                if is_supported(mutant, &[]).is_err() {
                    continue;
                }
                let found = by_clauses(mutant, &execution);
                let expected = by_interpreter(mutant, &execution);
                assert_eq!(found, expected, "{}: {what}: seed {seed}: {execution:#?}", model.name());
                *seen |= found != original;
            }
        }
        all += mutants.len();
        noticed += seen.iter().filter(|seen| **seen).count();
        let missing = mutants.iter().zip(&seen).filter(|(_, seen)| !**seen);
        missed.extend(missing.map(|((what, _), _)| format!("{}: {what}", model.name())));
    }
    println!("{noticed} of {all} noticed; not: {missed:#?}");
}
