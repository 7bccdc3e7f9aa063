//! A finding in one sentence, in the program's own names, and why the model allows it.
//!
//! What a weak model did is told from the cycle of [`crate::telling::cause`]: what the threads saw, and which two accesses of
//! which
//! thread were not kept in order. What needs no weak model is told as what it is.

use crate::telling::cause::{Cause, EdgeKind, cause};
use crate::telling::story::StepId;
use crate::telling::teller::{Teller, is_ours};
use crate::telling::waiting;
use crate::telling::weak::{Names, Weak};
use crate::telling::words::list;
use fencepost_answer::Explanation;
use fencepost_answer::trace::{Action, Made, Seen};
use fencepost_explore::FindingKind;
use fencepost_ir::{EventKind, Value};
use fencepost_models::Model;
use fencepost_models::registry::Entry;
use fencepost_naive::Rebuilt;
use std::collections::{BTreeMap, BTreeSet};

/// Explains a finding; `rebuilt` is its execution, if it could be rebuilt, and the model as a cat file; `under_sc` finds out
/// whether the fault happens under SC.
pub fn explain(
    teller: &Teller<'_>,
    model: &Entry,
    rebuilt: Option<(&Rebuilt, &Model)>,
    under_sc: &dyn Fn() -> Option<bool>,
) -> (Explanation, Option<Cycle>) {
    let told = rebuilt.and_then(|(rebuilt, cat)| Told::new(teller, (model, cat), rebuilt));
    let weak = told.as_ref().map(|(told, cause)| Weak { names: told, model: model.name, cause });
    let mut explanation = Explanation { threads: teller.threads(), ..Explanation::default() };
    let finding = teller.finding();
    explanation.sentence = match finding.kind {
        FindingKind::Deadlock => waiting::sentence(teller),
        FindingKind::LeftWaiting => {
            format!(
                "{}; `main` returns, and the process ends: join them to make this an error",
                waiting::sentence(teller)
            )
        }
        FindingKind::DataRace => race(teller),
        FindingKind::UseAfterFree | FindingKind::UseAfterScope | FindingKind::DoubleFree => late_use(teller),
        FindingKind::Uninitialised | FindingKind::NullPointer | FindingKind::BadPointer => bad_value(teller),
        FindingKind::UseBeforeAllocation => unallocated(teller),
        FindingKind::Leak | FindingKind::Unsupported | FindingKind::OutsideSection => String::new(),
        _ => weak.as_ref().map_or_else(|| values(teller), Weak::sentence),
    };
    let races = finding.kind == FindingKind::DataRace || finding.kind == FindingKind::UseBeforeAllocation;
    if races {
        explanation.why = synchronisation(teller, model);
    } else if let Some(weak) = &weak {
        explanation.why = weak.why();
    } else if rebuilt.is_some() && model.name != "sc" && tells_of_order(finding.kind) {
        // What threads saw is as under SC. That the end of an object comes before its use is another matter: it is no access.
        let happens = if is_about_lifetime(finding.kind) { under_sc() } else { Some(true) };
        explanation.why.extend(happens.map(|happens| match happens {
            true => NEEDS_NO_WEAK_MEMORY.into(),
            false => format!(
                "it does not happen under sc: there the use comes first; under {} nothing orders it before the end of the object",
                model.name
            ),
        }));
    }
    (explanation, told.as_ref().map(|(told, cause)| told.cycle(cause)))
}

/// The steps of a cycle, for a picture.
pub type Cycle = Vec<(StepId, StepId, EdgeKind)>;

/// Said only of what was seen to happen under SC, or follows from values that threads can see there.
pub const NEEDS_NO_WEAK_MEMORY: &str = "no weak memory is needed: it happens under sc as well";

/// Whether a fault is about an object that has ended before it is used.
pub fn is_about_lifetime(kind: FindingKind) -> bool {
    matches!(kind, FindingKind::UseAfterFree | FindingKind::UseAfterScope)
}

fn tells_of_order(kind: FindingKind) -> bool {
    !matches!(kind, FindingKind::Leak | FindingKind::Unsupported | FindingKind::OutsideSection)
}

/// The execution of a finding in the words of its teller.
struct Told<'t, 'a> {
    teller: &'t Teller<'a>,
    steps: BTreeMap<usize, StepId>,
    reads: BTreeSet<usize>,
}

impl Names for Told<'_, '_> {
    fn is_read(&self, event: usize) -> bool {
        self.reads.contains(&event)
    }

    fn thread(&self, event: usize) -> String {
        self.steps.get(&event).map_or(String::new(), |step| self.teller.thread(step.0))
    }

    fn line(&self, event: usize) -> usize {
        self.steps.get(&event).map_or(0, |step| self.teller.line_of(*step))
    }

    fn what(&self, event: usize) -> String {
        let step = self.steps.get(&event).and_then(|step| self.teller.step(*step));
        match step.map(|step| &step.action) {
            Some(Action::Read { cell, .. } | Action::Write { cell, .. }) if is_ours(&cell.name) => {
                "what the library keeps".into()
            }
            Some(Action::Read { cell, seen: Seen { value, .. }, .. })
            | Some(Action::Write { cell, made: Made { value, .. }, .. }) => {
                format!("`{}` = {}", self.teller.name(&cell.name), self.teller.name(&value.name))
            }
            _ => "it".into(),
        }
    }

    fn event(&self, event: usize) -> String {
        let step = self.steps.get(&event).and_then(|step| self.teller.step(*step));
        step.map_or(String::from("?"), |step| self.teller.event(step, None))
    }
}

impl<'t, 'a> Told<'t, 'a> {
    /// The execution, and why the model allows it, if it is not sequentially consistent.
    fn new(
        teller: &'t Teller<'a>,
        model: (&Entry, &Model),
        rebuilt: &Rebuilt,
    ) -> Option<(Told<'t, 'a>, Cause)> {
        let id = |&(t, i): &(u32, u32)| (t as usize, i as usize);
        let steps: BTreeMap<usize, StepId> = rebuilt.events.iter().map(|(step, &e)| (e, id(step))).collect();
        let preferred: Vec<usize> =
            steps.iter().filter(|(_, step)| teller.is_concerned(**step)).map(|(&e, _)| e).collect();
        let cause = cause(model, &rebuilt.execution, &preferred)?;
        let events = rebuilt.execution.events.iter().enumerate();
        let reads = events.filter(|(_, event)| event.kind == EventKind::Read).map(|(e, _)| e).collect();
        Some((Told { teller, steps, reads }, cause))
    }

    fn cycle(&self, cause: &Cause) -> Cycle {
        let step = |event: usize| self.steps.get(&event).copied();
        let edges = cause.cycle.iter().filter_map(|e| Some((step(e.from)?, step(e.to)?, e.kind)));
        edges.collect()
    }
}

/// `reads`, `writes`, ... of a place of the finding, and its line.
fn does(teller: &Teller<'_>, place: usize) -> Option<(String, &'static str, usize)> {
    let finding = teller.finding();
    let spot = finding.places.get(place)?;
    let steps = finding.execution.threads.get(spot.thread as usize)?;
    let step = steps.iter().rev().find(|step| step.at == spot.at);
    let verb = match step.map(|step| &step.action) {
        Some(Action::Read { .. }) => "reads",
        Some(Action::Write { .. }) => "writes",
        Some(Action::Free { .. }) if finding.kind == FindingKind::UseAfterScope => "leaves the scope of",
        Some(Action::Free { .. }) => "frees",
        _ => "uses",
    };
    let line = line_of_place(teller, place);
    Some((teller.thread(spot.thread as usize), verb, line))
}

fn line_of_place(teller: &Teller<'_>, place: usize) -> usize {
    let finding = teller.finding();
    let calls = finding.calls.get(place).map_or(&[][..], Vec::as_slice);
    let source = teller.source();
    finding.places.get(place).map_or(0, |spot| source.line(source.outside(spot.at, calls)))
}

/// The cell that is accessed at a place of the finding.
fn cell(teller: &Teller<'_>) -> Option<String> {
    let finding = teller.finding();
    finding.places.iter().find_map(|place| {
        let steps = finding.execution.threads.get(place.thread as usize)?;
        match &steps.iter().rev().find(|step| step.at == place.at)?.action {
            Action::Read { cell, .. } | Action::Write { cell, .. } => Some(teller.name(&cell.name)),
            _ => None,
        }
    })
}

fn race(teller: &Teller<'_>) -> String {
    let (Some(one), Some(other)) = (does(teller, 0), does(teller, 1)) else { return String::new() };
    let cell = cell(teller).unwrap_or_else(|| "it".into());
    format!(
        "{} {} `{cell}` (line {}) and {} {} it (line {}): neither comes before the other",
        one.0, one.1, one.2, other.0, other.1, other.2
    )
}

fn late_use(teller: &Teller<'_>) -> String {
    let Some((end, late)) = teller.life_and_use() else { return String::new() };
    let finding = teller.finding();
    let object = finding.object.as_ref().map_or("the object".into(), |object| teller.object(object));
    let name = |step: StepId| teller.thread(step.0);
    let done = match finding.kind {
        FindingKind::UseAfterScope => format!("{} has left its scope", name(end)),
        _ => format!("{} has freed it", name(end)),
    };
    let (verb, what) = match teller.step(late).map(|step| &step.action) {
        Some(Action::Read { cell, .. }) => ("reads", teller.name(&cell.name)),
        Some(Action::Write { cell, .. }) => ("writes", teller.name(&cell.name)),
        _ => ("frees", object),
    };
    let (first, second) = (teller.line_of(late), teller.line_of(end));
    let again = if verb == "frees" { " again" } else { "" };
    format!("{} {verb} `{what}`{again} (line {first}) when {done} (line {second})", name(late))
}

fn unallocated(teller: &Teller<'_>) -> String {
    let (Some(one), line) = (does(teller, 0), line_of_place(teller, 1)) else { return String::new() };
    let cell = cell(teller).unwrap_or_else(|| "it".into());
    let maker = teller.finding().places.get(1).map_or(String::new(), |place| {
        format!(", which {} allocates at line {line}", teller.thread(place.thread as usize))
    });
    format!(
        "{} {} `{cell}` (line {}){maker}: nothing says that this has happened before",
        one.0, one.1, one.2
    )
}

/// A thread uses a value that it should not have: where it got it from.
fn bad_value(teller: &Teller<'_>) -> String {
    let finding = teller.finding();
    let Some(place) = finding.places.first() else { return String::new() };
    let thread = place.thread as usize;
    let (name, line) = (teller.thread(thread), line_of_place(teller, 0));
    let steps = finding.execution.threads.get(thread).map_or(&[][..], Vec::as_slice);
    if finding.kind == FindingKind::Uninitialised {
        return match cell(teller) {
            Some(cell) => format!("{name} reads `{cell}` (line {line}), which nobody has written by then"),
            None => format!("{name} uses a value (line {line}) that nobody has written"),
        };
    }
    let null = finding.kind == FindingKind::NullPointer;
    let read = (0..steps.len()).rev().find(|&i| match &steps[i].action {
        Action::Read { seen, .. } => !null || seen.value.raw == Value::ZERO,
        _ => false,
    });
    let what = if null { "a null pointer" } else { "a value that is no pointer" };
    match read.map(|i| ((thread, i), &steps[i].action)) {
        Some((step, Action::Read { cell, seen, .. })) => {
            let source = match &seen.from {
                None => "the initial value".to_string(),
                Some((t, i)) => format!("written by {}", teller.who((*t as usize, *i as usize))),
            };
            let (cell, value) = (teller.name(&cell.name), teller.name(&seen.value.name));
            let at = teller.line_of(step);
            format!("{name} uses {what} (line {line}): it read `{cell}` = {value} at line {at}, {source}")
        }
        _ => format!("{name} uses {what} (line {line})"),
    }
}

/// What a thread had read at the place where it failed.
fn values(teller: &Teller<'_>) -> String {
    let finding = teller.finding();
    let Some(place) = finding.places.first() else { return String::new() };
    let thread = place.thread as usize;
    let steps = finding.execution.threads.get(thread).map_or(&[][..], Vec::as_slice);
    let (name, line) = (teller.thread(thread), line_of_place(teller, 0));
    let mut read: Vec<String> = Vec::new();
    for (i, step) in steps.iter().enumerate().rev().take(12) {
        if let Action::Read { cell, seen: Seen { value, from, .. }, .. } = &step.action
            && read.len() < 3
            && !is_ours(&cell.name)
            && teller.is_users(step)
        {
            let at = teller.line_of((thread, i));
            let source = from.filter(|(t, _)| *t as usize != thread);
            let source = source.map_or(String::new(), |(t, i)| {
                format!(", written by {}", teller.who((t as usize, i as usize)))
            });
            let (cell, value) = (teller.name(&cell.name), teller.name(&value.name));
            read.push(format!("`{cell}` = {value} (line {at}{source})"));
        }
    }
    read.reverse();
    match (read.is_empty(), finding.kind) {
        (true, FindingKind::Assertion) => format!("{name} fails at line {line}, whatever others do"),
        (true, _) => format!("{name} does this at line {line}"),
        (false, _) => format!("{name} had read {} when it came to line {line}", list(&read)),
    }
}

/// Why two accesses do not synchronise: the way from one to the other that lacks a release or an acquire.
fn synchronisation(teller: &Teller<'_>, model: &Entry) -> Vec<String> {
    let finding = teller.finding();
    let mut lines = Vec::new();
    for (a, b) in [(0, 1), (1, 0)] {
        let (Some(from), Some(to)) = (finding.places.get(a), finding.places.get(b)) else { continue };
        let (Some(first), Some(second)) = (
            finding
                .execution
                .threads
                .get(from.thread as usize)
                .and_then(|steps| steps.iter().position(|s| s.at == from.at)),
            finding
                .execution
                .threads
                .get(to.thread as usize)
                .and_then(|steps| steps.iter().rposition(|s| s.at == to.at)),
        ) else {
            continue;
        };
        for (i, step) in finding.execution.threads[to.thread as usize][..second].iter().enumerate() {
            let Action::Read { seen: Seen { from: Some((t, w)), order, .. }, cell, .. } = &step.action else {
                continue;
            };
            let writes = &finding.execution.threads[*t as usize];
            if *t != from.thread || (*w as usize) < first {
                continue;
            }
            let Action::Write { made: Made { order: written, .. }, .. } = writes[*w as usize].action else {
                continue;
            };
            let (read, write) = ((to.thread as usize, i), (*t as usize, *w as usize));
            let (r, w) = (teller.line_of(read), teller.line_of(write));
            let mut lacks = Vec::new();
            if !written.releases() {
                lacks.push(format!("line {w} is {} and not release", name_of(written)));
            }
            if !order.acquires() {
                lacks.push(format!("line {r} is {} and not acquire", name_of(*order)));
            }
            if !lacks.is_empty() {
                let cell = teller.name(&cell.name);
                lines.push(format!(
                    "line {r} reads `{cell}` from line {w}, but they do not synchronise: {}",
                    list(&lacks)
                ));
            }
        }
    }
    lines.dedup();
    if lines.is_empty() {
        lines.push(format!(
            "nothing orders the two under {}: no lock, no join, no release that an acquire reads from",
            model.name
        ));
    }
    lines
}

fn name_of(order: fencepost_ir::Order) -> &'static str {
    match order {
        fencepost_ir::Order::Plain => "not atomic",
        fencepost_ir::Order::Relaxed => "relaxed",
        fencepost_ir::Order::Acquire | fencepost_ir::Order::AcquirePc => "acquire",
        fencepost_ir::Order::Release => "release",
        fencepost_ir::Order::Consume => "consume",
        fencepost_ir::Order::AcqRel => "acq_rel",
        fencepost_ir::Order::SeqCst => "seq_cst",
    }
}
