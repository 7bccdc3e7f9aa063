//! `check --suggest`: which memory orders, or which fences, make an unsafe program safe, found by running it again.
//!
//! Every place that could be stronger is made as strong as it can be. If the program is then safe, the places are taken one
//! after the other and made as weak as the program stays safe with. A stronger program has fewer executions, so a place
//! that could not be weakened then cannot be weakened later either: at the end no single change can be left out or be
//! weaker. Those places come last that the counterexample visits, so that the others are given up first. In C one fence may then
//! do what several orders do (`fences.rs`). What is found is written into the text and checked once more as a program of its own.

mod edit;
mod fences;
pub mod litmus;

use crate::args::CheckArgs;
use crate::check;
use crate::input::{self, Trouble};
use fencepost_answer::{Change, Finding, Outcome, Remedy, Severity, Suggestion, Verdict};
use fencepost_diag::{Edit, SourceFile, SourceMap, Span};
use fencepost_ir::{Ann, Compiled, Fence, Instr, Language, Order, Program};
use fencepost_models::registry::{self, Entry};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Without a time limit of the user's, nobody waits longer than this for a suggestion.
const MOST_TIME: Duration = Duration::from_secs(60);

/// A place that could be stronger.
struct Place {
    span: Span,
    /// The first function that it is in.
    function: usize,
    /// What it is, from what it was to the strongest.
    strengths: Vec<Strength>,
    /// The strength in use.
    chosen: usize,
}

/// How strong a place is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Strength {
    /// An access or a fence of C with this order.
    Order(Order),
    /// No fence before an access.
    NoFence,
    /// A fence before it.
    Fence(Fence),
}

/// Looks for a suggestion; `None` if the program is not unsafe, or time is over.
pub fn suggest(
    name: &str,
    compiled: &Compiled,
    model: &'static Entry,
    options: &CheckArgs,
    found: &Outcome,
) -> Result<Option<Suggestion>, Trouble> {
    if found.verdict != Verdict::Unsafe {
        return Ok(None);
    }
    let limit = options.timeout.unwrap_or(MOST_TIME);
    let contexts = vec![Context::of(model, options)];
    let mut search = Search { name, compiled, contexts, options, end: Instant::now() + limit, runs: 0 };
    let mut places = places(compiled, found);
    for place in &mut places {
        place.chosen = place.strengths.len() - 1;
    }
    if places.is_empty() || search.check(&places)? != Some(Verdict::Safe) {
        let late = Instant::now() >= search.end;
        return Ok((!late).then(|| Suggestion { runs: search.runs, ..Suggestion::default() }));
    }
    // What holds under this model alone is a trap for whoever compiles it otherwise.
    let mut nowhere_in = Vec::new();
    for context in others(compiled.language, model, options) {
        match search.solve(&places, &context)?.map(|outcome| outcome.verdict) {
            Some(Verdict::Safe) => search.contexts.push(context),
            _ => nowhere_in.push(context.name()),
        }
    }
    // Sequential consistency is the most expensive strength: without it if that is enough.
    let strongest: Vec<usize> = places.iter().map(|place| place.chosen).collect();
    let dear = |strength: &Strength| *strength == Strength::Order(Order::SeqCst);
    for place in &mut places {
        place.chosen = place.strengths.iter().rposition(|strength| !dear(strength)).unwrap_or(0);
    }
    if search.check(&places)? != Some(Verdict::Safe) {
        places.iter_mut().zip(strongest).for_each(|(place, chosen)| place.chosen = chosen);
    }
    // All places that the counterexample does not visit at once, then each on its own.
    let strongest: Vec<usize> = places.iter().map(|place| place.chosen).collect();
    places.iter_mut().filter(|place| !place.is_visited(found)).for_each(|place| place.chosen = 0);
    if search.check(&places)? != Some(Verdict::Safe) {
        places.iter_mut().zip(strongest).for_each(|(place, chosen)| place.chosen = chosen);
    }
    if !search.weaken(&mut places)? {
        return Ok(None);
    }
    if compiled.language == Language::C && fences::instead_of_orders(&mut search, &mut places)? {
        let weakest = search.weaken(&mut places)?;
        debug_assert!(weakest || Instant::now() >= search.end || check::is_interrupted());
        if !weakest {
            return Ok(None);
        }
    }
    let also = search.contexts[1..].iter().map(Context::name).collect();
    let mut changes = changes_of(&places, compiled);
    search.write(&mut changes)?;
    Ok(Some(Suggestion { changes, runs: search.runs, also, nowhere_in }))
}

/// Writes the edits of a suggestion into their files: what was done, a line for each. Files that are no longer what was
/// checked are left alone.
pub fn apply(suggestion: &Suggestion, sources: &SourceMap) -> Result<String, Trouble> {
    let edits = suggestion.edits();
    if edits.is_empty() {
        return Ok("note: --apply changed nothing: there is no patch\n".into());
    }
    let changed = sources.edited(&edits);
    let mut told = String::new();
    for (old, _) in &changed {
        if input::read_text(&old.name).ok().as_ref() != Some(&old.text) {
            let name = &old.name;
            return Err(
                format!("error: --apply changed nothing: {name} is not the file that was checked").into()
            );
        }
    }
    for (old, new) in changed {
        std::fs::write(&old.name, new.text)
            .map_err(|error| format!("error: cannot write {}: {error}", old.name))?;
        told += &format!("note: {} is changed as suggested\n", old.name);
    }
    Ok(told)
}

/// A model, and how the program is compiled for it.
#[derive(Clone)]
struct Context {
    model: &'static Entry,
    mapping: String,
}

impl Context {
    fn of(model: &'static Entry, options: &CheckArgs) -> Context {
        Context { model, mapping: options.mapping.clone() }
    }

    fn name(&self) -> String {
        match self.mapping.as_str() {
            "" => self.model.name.to_string(),
            mapping => format!("{} --mapping {mapping}", self.model.name),
        }
    }
}

/// Where a change to a C program should hold as well, if it is asked for under a model of hardware: the language, and every other
/// way to
/// compile it.
fn others(language: Language, model: &'static Entry, options: &CheckArgs) -> Vec<Context> {
    let (Language::C, Some(target)) = (language, model.target) else { return Vec::new() };
    let given: Vec<&str> = options.mapping.split(',').map(str::trim).collect();
    let words = target.mappings().iter().map(|(word, _)| *word);
    // Without a word the first of each pair is taken.
    let defaults: Vec<&str> = target.mappings().chunks(2).filter_map(|pair| Some(pair.first()?.0)).collect();
    let used = |word: &&str| given.contains(word) || given == [""] && defaults.contains(word);
    let mappings = words.filter(|word| !used(word)).map(|word| Context { model, mapping: word.to_string() });
    let language = registry::find(LANGUAGE).map(|model| Context { model, mapping: String::new() });
    language.into_iter().chain(mappings).collect()
}

/// The model of the language: what is safe under it is safe as compiled, but for load buffering.
const LANGUAGE: &str = "rc20";

/// Runs that are made at most to find a change against one finding.
const MOST_RUNS: u64 = 60;

/// The weakest change at one place or at two that makes the first finding impossible, whatever else is wrong with the
/// program; `None` if there is none, or none was found in time. Only places that the counterexample visits are tried.
pub fn remedy(
    name: &str,
    compiled: &Compiled,
    model: &'static Entry,
    options: &CheckArgs,
    found: &Outcome,
) -> Result<Option<Remedy>, Trouble> {
    let wrong = found.findings.iter().find(|finding| finding.kind.severity() == Severity::Error);
    let (Verdict::Unsafe, Some(wrong)) = (found.verdict, wrong) else { return Ok(None) };
    let limit = options.timeout.unwrap_or(MOST_TIME);
    // All errors are looked for: that another one is found first says nothing about this one.
    let options = &CheckArgs { all: true, suggest: false, ..options.clone() };
    let here = Context::of(model, options);
    let mut search =
        Search { name, compiled, contexts: Vec::new(), options, end: Instant::now() + limit, runs: 0 };
    let mut places = places(compiled, found);
    places.retain(|place| place.is_visited(found));
    for changes in tries(&places) {
        if search.runs >= MOST_RUNS {
            break;
        }
        places.iter_mut().for_each(|place| place.chosen = 0);
        changes.iter().for_each(|&(place, chosen)| places[place].chosen = chosen);
        let Some(outcome) = search.solve(&places, &here)? else { return Ok(None) };
        let ended = outcome.stop_reason.is_none() && outcome.verdict != Verdict::Unknown;
        if ended && !outcome.findings.iter().any(|other| is_same(wrong, other)) {
            return Ok(Some(Remedy { changes: changes_of(&places, compiled), verdict: outcome.verdict }));
        }
    }
    Ok(None)
}

/// Changes at one place, then at two, the weakest first: places and the strengths there.
fn tries(places: &[Place]) -> Vec<Vec<(usize, usize)>> {
    let strengths = |i: usize| 1..places[i].strengths.len();
    let mut one: Vec<Vec<(usize, usize)>> =
        (0..places.len()).flat_map(|i| strengths(i).map(move |chosen| vec![(i, chosen)])).collect();
    let mut two = Vec::new();
    for first in &one {
        let later = one.iter().filter(|second| second[0].0 > first[0].0);
        two.extend(later.map(|second| vec![first[0], second[0]]));
    }
    let cost = |changes: &Vec<(usize, usize)>| changes.iter().map(|(_, chosen)| *chosen).sum::<usize>();
    one.sort_by_key(cost);
    two.sort_by_key(cost);
    one.extend(two);
    one
}

/// Whether two findings are the same fault: of one kind at the same places.
fn is_same(one: &Finding, other: &Finding) -> bool {
    let spans = |finding: &Finding| {
        let mut spans: Vec<Span> = finding.places.iter().map(|place| place.span).collect();
        spans.sort();
        spans.dedup();
        spans
    };
    one.kind == other.kind && spans(one) == spans(other)
}

fn changes_of(places: &[Place], compiled: &Compiled) -> Vec<Change> {
    let changed = places.iter().filter(|place| place.chosen > 0);
    let change = |place: &Place| {
        let (from, to) = (place.strengths[0], place.strengths[place.chosen]);
        let edits = match to {
            Strength::Order(order) => edit::order(&compiled.sources, place.span, order),
            Strength::Fence(fence) => {
                edit::before(&compiled.sources, place.span, &statement(fence)).into_iter().collect()
            }
            Strength::NoFence => Vec::new(),
        };
        Change { span: place.span, from: from.name(), to: to.name(), edits }
    };
    changed.map(change).collect()
}

impl Place {
    /// Whether a counterexample comes here.
    fn is_visited(&self, found: &Outcome) -> bool {
        let overlaps = |span: Span| span.start < self.span.end && self.span.start < span.end;
        found.findings.iter().flat_map(Finding::spans).any(overlaps)
    }
}

struct Search<'a> {
    name: &'a str,
    compiled: &'a Compiled,
    /// Where the program is to be safe.
    contexts: Vec<Context>,
    options: &'a CheckArgs,
    end: Instant,
    runs: u64,
}

impl Search<'_> {
    /// The verdict with these strengths, the worst of all contexts; `None` if time is over. Bounds count as they do for any
    /// *safe*.
    fn check(&mut self, places: &[Place]) -> Result<Option<Verdict>, Trouble> {
        for context in self.contexts.clone() {
            let verdict = self.solve(places, &context)?.map(|outcome| outcome.verdict);
            if verdict != Some(Verdict::Safe) {
                return Ok(verdict);
            }
        }
        Ok(Some(Verdict::Safe))
    }

    /// Makes each place as weak as the program stays safe with; false if time is over.
    fn weaken(&mut self, places: &mut [Place]) -> Result<bool, Trouble> {
        for index in 0..places.len() {
            let strongest = places[index].chosen;
            for chosen in 0..strongest {
                places[index].chosen = chosen;
                match self.check(places)? {
                    Some(Verdict::Safe) => break,
                    Some(_) => places[index].chosen = strongest,
                    None => return Ok(false),
                }
            }
        }
        Ok(true)
    }

    /// Checks the text with the edits of all changes, compiled anew: they stay only if it is safe in all contexts.
    fn write(&mut self, changes: &mut [Change]) -> Result<(), Trouble> {
        let edits: Vec<Edit> = changes.iter().flat_map(|change| change.edits.iter().cloned()).collect();
        let all = changes.iter().all(|change| !change.edits.is_empty());
        if !all || !self.is_safe_as_text(&edits)? {
            changes.iter_mut().for_each(|change| change.edits.clear());
        }
        Ok(())
    }

    fn is_safe_as_text(&mut self, edits: &[Edit]) -> Result<bool, Trouble> {
        let sources = &self.compiled.sources;
        let mut files: BTreeMap<String, String> =
            sources.files().map(|file| (file.name.clone(), file.text.clone())).collect();
        files.extend(sources.edited(edits).into_iter().map(|(_, file)| (file.name, file.text)));
        let Some(text) = files.get(self.name) else { return Ok(false) };
        let file = SourceFile::new(self.name, text.as_str());
        let options = CheckArgs { sealed: Some(Arc::new(files)), ..self.options.clone() };
        let [first, ..] = &self.contexts[..] else { return Ok(false) };
        let Ok(compiled) = input::compile(&file, first.model, &options) else { return Ok(false) };
        let mut search = Search { compiled: &compiled, contexts: self.contexts.clone(), ..*self };
        let verdict = search.check(&[])?;
        self.runs = search.runs;
        Ok(verdict == Some(Verdict::Safe))
    }

    /// The answer with these strengths in a context; `None` if time is over.
    fn solve(&mut self, places: &[Place], context: &Context) -> Result<Option<Outcome>, Trouble> {
        let now = Instant::now();
        if now >= self.end || check::is_interrupted() {
            return Ok(None);
        }
        self.runs += 1;
        let program = changed(&self.compiled.program, places);
        let compiled = Compiled { program, ..self.compiled.clone() };
        let options = CheckArgs { mapping: context.mapping.clone(), ..self.options.clone() };
        let (.., outcome) = check::solve(self.name, &compiled, context.model, &options, now)?;
        let late = outcome.verdict == Verdict::Unknown && Instant::now() >= self.end;
        Ok((!late).then_some(outcome))
    }
}

/// A fence as a statement.
fn statement(fence: Fence) -> String {
    match fence {
        Fence::C11(order) => {
            format!("atomic_thread_fence(memory_order_{});", Strength::Order(order).name())
        }
        _ => "fence;".into(),
    }
}

impl Strength {
    fn name(self) -> String {
        match self {
            Strength::NoFence => "no fence".into(),
            Strength::Fence(Fence::Sync) => "a fence before it".into(),
            Strength::Fence(fence) => format!("{} before it", statement(fence).trim_end_matches(';')),
            Strength::Order(order) => match order {
                Order::Relaxed => "relaxed",
                Order::Consume => "consume",
                Order::Acquire | Order::AcquirePc => "acquire",
                Order::Release => "release",
                Order::AcqRel => "acq_rel",
                Order::SeqCst => "seq_cst",
                Order::Plain => "plain",
            }
            .into(),
        }
    }
}

/// The places that could be stronger; those that the counterexample visits come last.
fn places(compiled: &Compiled, found: &Outcome) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for (number, function) in compiled.program.functions.iter().enumerate() {
        for (instr, span) in function.body.iter().zip(&function.spans) {
            let written =
                compiled.sources.position(span.start).is_some_and(|(file, ..)| !file.starts_with('<'));
            if !written || places.iter().any(|place| place.span == *span) {
                continue;
            }
            let strengths = strengths(instr, compiled.language);
            if strengths.len() > 1 {
                places.push(Place { span: *span, function: number, strengths, chosen: 0 });
            }
        }
    }
    places.sort_by_key(|place| place.is_visited(found));
    places
}

/// What an instruction is and how it could be stronger, weakest first.
fn strengths(instr: &Instr, language: Language) -> Vec<Strength> {
    use Order::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    if language != Language::C {
        return match instr {
            Instr::Load { .. } | Instr::Store { .. } => {
                vec![Strength::NoFence, Strength::Fence(Fence::Sync)]
            }
            _ => Vec::new(),
        };
    }
    let (now, possible): (Order, &[Order]) = match instr {
        Instr::Load { ann, .. } | Instr::Await { ann, .. } => (ann.order, &[Relaxed, Acquire, SeqCst]),
        Instr::Store { ann, .. } => (ann.order, &[Relaxed, Release, SeqCst]),
        Instr::Rmw { read, write, .. }
        | Instr::AwaitRmw { read, write, .. }
        | Instr::CompareExchange { read, write, .. } => {
            (joined(*read, *write), &[Relaxed, Acquire, Release, AcqRel, SeqCst])
        }
        Instr::Fence(Fence::C11(order)) => (*order, &[Relaxed, Acquire, Release, AcqRel, SeqCst]),
        _ => return Vec::new(),
    };
    if now == Order::Plain {
        return Vec::new();
    }
    let stronger = |order: &&Order| {
        **order != now
            && (!now.acquires() || order.acquires())
            && (!now.releases() || order.releases())
            && **order >= now
    };
    std::iter::once(&now)
        .chain(possible.iter().filter(stronger))
        .map(|order| Strength::Order(*order))
        .collect()
}

/// The one order of the two halves of a read-modify-write.
fn joined(read: Ann, write: Ann) -> Order {
    match (read.order, write.order) {
        (Order::SeqCst, _) | (_, Order::SeqCst) => Order::SeqCst,
        (read, write) if read.acquires() && write.releases() => Order::AcqRel,
        (read, _) if read.acquires() => Order::Acquire,
        (_, write) if write.releases() => Order::Release,
        (Order::Plain, Order::Plain) => Order::Plain,
        _ => Order::Relaxed,
    }
}

/// The program with the chosen strengths.
fn changed(program: &Program, places: &[Place]) -> Program {
    let mut program = program.clone();
    for function in &mut program.functions {
        let mut fences = Vec::new();
        for (pc, (instr, span)) in (0u32..).zip(function.body.iter_mut().zip(&function.spans)) {
            for place in places.iter().filter(|place| place.span == *span && place.chosen > 0) {
                match place.strengths[place.chosen] {
                    Strength::Order(order) => strengthen(instr, order),
                    Strength::Fence(fence) => fences.push((pc, fence)),
                    Strength::NoFence => {}
                }
            }
        }
        // From the last on, so that the numbers of those before them stay what they are.
        for (pc, fence) in fences.into_iter().rev() {
            *function = function.with_before(&[pc], &Instr::Fence(fence));
        }
    }
    program
}

fn strengthen(instr: &mut Instr, order: Order) {
    let read_part = match order {
        Order::AcqRel => Order::Acquire,
        Order::Release => Order::Relaxed,
        order => order,
    };
    let write_part = match order {
        Order::AcqRel => Order::Release,
        Order::Acquire => Order::Relaxed,
        order => order,
    };
    match instr {
        Instr::Load { ann, .. }
        | Instr::Store { ann, .. }
        | Instr::StoreExclusive { ann, .. }
        | Instr::Await { ann, .. } => ann.order = order,
        Instr::Rmw { read, write, .. } | Instr::AwaitRmw { read, write, .. } => {
            (read.order, write.order) = (read_part, write_part);
        }
        Instr::CompareExchange { read, write, failure, .. } => {
            (read.order, write.order) = (read_part, write_part);
            failure.order = failure.order.max(read_part);
        }
        Instr::Fence(Fence::C11(old)) => *old = order,
        _ => {}
    }
}
