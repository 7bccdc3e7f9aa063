//! Puts the story of a finding into words: places in the user's files, calls of the library as one step, mutexes as
//! mutexes, and nothing that only one thread can see.

use super::headline::{self, headline};
use super::signals::{self, Done};
use super::{fold, words};
use crate::telling::cause::EdgeKind;
use crate::telling::story::{self, Note, StepId, Told};
use fencepost_answer::Line as Shown;
use fencepost_answer::picture::{self, Arrow, Kind, Picture};
use fencepost_answer::trace::{Action, At, Event, Name, Object, Seen};
use fencepost_diag::{SourceMap, Span};
use fencepost_explore::{Finding, FindingKind};
use fencepost_ir::{Instr, Program, Value, Width};
use std::collections::{BTreeMap, BTreeSet};

/// A program and the text that it was made of.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its text.
    pub sources: &'a SourceMap,
}

impl<'a> Source<'a> {
    /// Where an instruction comes from.
    pub fn span(&self, at: At) -> Span {
        let function = self.program.functions.get(at.0 as usize);
        function.and_then(|f| f.spans.get(at.1 as usize).or(f.spans.last())).copied().unwrap_or_default()
    }

    /// Its line.
    pub(crate) fn line(&self, at: At) -> usize {
        self.sources.position(self.span(at).start).map_or(0, |(_, line, _)| line)
    }

    /// Its text.
    fn text(&self, at: At) -> String {
        self.sources.expression(self.span(at))
    }

    fn instr(&self, at: At) -> Option<&'a Instr> {
        self.program.functions.get(at.0 as usize)?.body.get(at.1 as usize)
    }

    /// Whether an instruction belongs to the library that the front end brings along.
    fn is_library(&self, at: At) -> bool {
        self.sources.position(self.span(at).start).is_none_or(|(file, _, _)| file.starts_with('<'))
    }

    /// The innermost place that the user wrote.
    pub(crate) fn outside(&self, at: At, calls: &[At]) -> At {
        let all = std::iter::once(&at).chain(calls);
        all.copied().find(|&at| !self.is_library(at)).unwrap_or(at)
    }
}

/// A place of a finding in the user's files.
pub struct Spot {
    /// Whose.
    pub thread: u32,
    /// Where.
    pub at: At,
    /// What the thread does there.
    pub label: String,
    /// Whether it waits for another thread to end.
    pub joins: bool,
}

/// Tells a finding.
pub struct Teller<'a> {
    source: Source<'a>,
    finding: &'a Finding,
    /// What a person may call objects on the heap.
    names: BTreeMap<&'a Object, String>,
    /// What the threads are called.
    threads: Vec<String>,
    /// Nothing is left out.
    full: bool,
    /// Reads that nothing depends on.
    idle: BTreeSet<StepId>,
    /// The steps without which the point is lost, if it is known which.
    needed: Option<BTreeSet<StepId>>,
}

impl<'a> Teller<'a> {
    /// For a finding about a program.
    pub fn new(source: Source<'a>, finding: &'a Finding, full: bool) -> Teller<'a> {
        let mut names = BTreeMap::new();
        let mut used: BTreeMap<String, u32> = BTreeMap::new();
        for (object, maker) in &finding.made {
            let line = source.line(maker.at);
            let tag = source.program.names.tag(source.span(maker.at)).unwrap_or("heap");
            let wanted = format!("{tag}@{line}");
            let count = used.entry(wanted.clone()).or_default();
            *count += 1;
            names.insert(object, if *count == 1 { wanted } else { format!("{wanted}#{count}") });
        }
        let threads = thread_names(source.program, finding);
        Teller { source, finding, names, threads, full, idle: BTreeSet::new(), needed: None }
    }

    /// With reads that nothing depends on, which are only counted, unless all is told.
    pub fn without(mut self, idle: BTreeSet<StepId>) -> Teller<'a> {
        self.idle = if self.full { BTreeSet::new() } else { idle };
        self
    }

    /// With the cycle that is the point: what is neither on it nor at fault is minor, unless all is told.
    pub fn about(mut self, cycle: Option<&[(StepId, StepId, EdgeKind)]>) -> Teller<'a> {
        self.needed = cycle.filter(|_| !self.full).map(|cycle| {
            let mut needed: BTreeSet<StepId> = cycle.iter().flat_map(|&(from, to, _)| [from, to]).collect();
            for place in &self.finding.places {
                needed.extend(self.at_fault(place));
            }
            needed
        });
        self
    }

    /// The last step of a thread that goes wrong, and the write that it reads.
    fn at_fault(&self, place: &fencepost_explore::Place) -> Vec<StepId> {
        let thread = place.thread as usize;
        let steps = self.finding.execution.threads.get(thread).map_or(&[][..], Vec::as_slice);
        let last = steps.iter().rposition(|step| step.at == place.at).or(steps.len().checked_sub(1));
        let Some(last) = last else { return Vec::new() };
        // The write half of a read-modify-write stands behind its read.
        let reads = (0..=last).rev().take(2).find_map(|i| match &steps[i].action {
            Action::Read { seen, .. } => seen.from.map(|(t, i)| (t as usize, i as usize)),
            _ => None,
        });
        [(thread, last)].into_iter().chain(reads).collect()
    }

    /// The finding in one line, with objects on the heap as people may call them.
    pub fn message(&self) -> String {
        let named = |object: &Object| match self.finding.made.iter().find(|(made, _)| made == object) {
            Some((_, maker)) => format!("the allocation of line {}", self.source.line(maker.at)),
            None => headline::quoted(object),
        };
        headline(self.source.program, self.finding, &named)
    }

    /// An object as people may call it.
    pub fn object(&self, object: &Object) -> String {
        self.names.get(object).cloned().unwrap_or_else(|| object.to_string())
    }

    /// A cell or a value as people may call it.
    pub fn name(&self, name: &Name) -> String {
        name.show(&|object| self.object(object))
    }

    /// The places of the finding, with what happens there.
    pub fn places(&self) -> Vec<Spot> {
        let places = self.finding.places.iter().enumerate();
        let spots = places.map(|(i, place)| {
            let calls = self.finding.calls.get(i).map_or(&[][..], Vec::as_slice);
            let joins = matches!(self.source.instr(place.at), Some(Instr::Join { .. }));
            let steps = self.finding.execution.threads.get(place.thread as usize);
            let step = steps.and_then(|steps| steps.iter().rev().find(|step| step.at == place.at));
            let does = match (self.finding.kind, step.map(|step| &step.action)) {
                (FindingKind::Deadlock | FindingKind::LeftWaiting, _) if joins => {
                    "waits for a thread that does not end"
                }
                (FindingKind::Deadlock | FindingKind::LeftWaiting, _) => "waits here",
                (FindingKind::Leak, _) => "allocates it",
                (FindingKind::Assertion, _) => "fails here",
                (FindingKind::Misuse, _) => "does this",
                (_, Some(Action::Read { .. })) => "reads",
                (_, Some(Action::Write { .. })) => "writes",
                (_, Some(Action::Free { .. })) if self.finding.kind == FindingKind::UseAfterScope => {
                    "leaves the scope"
                }
                (_, Some(Action::Free { .. })) => "frees",
                _ => "does this",
            };
            let label = format!("{} {does}", self.thread(place.thread as usize));
            Spot { thread: place.thread, at: self.source.outside(place.at, calls), label, joins }
        });
        spots.collect()
    }

    /// The steps that are shown, in an order that explains them, up to what went wrong.
    pub(crate) fn story(&self) -> Vec<Told> {
        let last = self.life_and_use();
        let mut told =
            story::tell(&self.finding.execution.threads, last, &|one, next| self.goes_on(one, next));
        told.truncate(self.end(&told));
        let private = story::private_cells(&self.finding.execution.threads);
        let concerned: Vec<StepId> = told.iter().map(|t| t.step).filter(|&s| self.is_concerned(s)).collect();
        let is_shown = |told: &Told| match self.step(told.step).map(|step| &step.action) {
            Some(Action::Read { cell, .. } | Action::Write { cell, .. }) if is_ours(&cell.name) => false,
            Some(Action::Read { cell, .. } | Action::Write { cell, .. }) => {
                !private.contains(&cell.id) || concerned.iter().any(|&c| self.cell(c) == Some(cell.id))
            }
            _ => true,
        };
        told.into_iter().filter(is_shown).collect()
    }

    /// The execution in an order that explains it, up to what went wrong.
    pub fn trace(&self) -> Vec<Shown> {
        let shown = self.story();
        let mut lines: Vec<Shown> = Vec::new();
        let mut at = 0;
        while at < shown.len() {
            let (thread, idle) = (shown[at].step.0, self.idle_from(&shown[at..]));
            let (line, used) = match idle {
                0 => self.line(&shown[at..]),
                count => {
                    let reads = if count == 1 { "a read".into() } else { format!("{count} reads") };
                    let place =
                        self.step(shown[at].step).map(|step| self.source.outside(step.at, &step.calls));
                    let line = place.map(|place| {
                        self.shown(thread as u32, place, format!("({reads} that nothing depends on)"))
                    });
                    (line, count)
                }
            };
            let needed = |needed: &BTreeSet<StepId>| {
                shown[at..at + used].iter().any(|told| needed.contains(&told.step))
            };
            let minor = !self.needed.as_ref().is_none_or(needed);
            at += used;
            lines.extend(line.map(|line| Shown { minor, ..line }));
        }
        if matches!(self.finding.kind, FindingKind::Deadlock | FindingKind::LeftWaiting) {
            self.add_waiting(&mut lines);
        }
        if self.full { lines } else { fold::fold(lines) }
    }

    /// How many steps of one thread from here on are reads that nothing depends on.
    fn idle_from(&self, steps: &[Told]) -> usize {
        let thread = steps.first().map(|told| told.step.0);
        let is_idle = |told: &&Told| Some(told.step.0) == thread && self.idle.contains(&told.step);
        steps.iter().take_while(is_idle).count()
    }

    /// The end of a life, and the use that comes too late; told in this order as far as memory lets it.
    pub(crate) fn life_and_use(&self) -> Option<(StepId, StepId)> {
        use FindingKind::{DoubleFree, UseAfterFree, UseAfterScope};
        let (UseAfterFree | UseAfterScope | DoubleFree) = self.finding.kind else { return None };
        let [late, end] = self.finding.places.as_slice() else { return None };
        let find = |place: &fencepost_explore::Place| {
            let thread = place.thread as usize;
            let steps = self.finding.execution.threads.get(thread)?;
            let own = |&i: &usize| steps[i].at == place.at && self.is_about_object(&steps[i].action);
            let any = |&i: &usize| steps[i].at == place.at;
            let index = (0..steps.len()).rev().find(own).or((0..steps.len()).rev().find(any))?;
            Some((thread, index))
        };
        let (late, end) = (find(late)?, find(end)?);
        (late != end).then_some((end, late))
    }

    /// Whether a step is about the object of the finding.
    fn is_about_object(&self, action: &Action) -> bool {
        let Some(object) = &self.finding.object else { return true };
        match action {
            Action::Read { cell, .. } | Action::Write { cell, .. } => {
                cell.name.object.as_ref() == Some(object)
            }
            Action::Free(freed) => freed.as_ref() == Some(object),
            _ => true,
        }
    }

    /// What a thread is called.
    pub(crate) fn thread(&self, thread: usize) -> String {
        self.threads.get(thread).cloned().unwrap_or_else(|| format!("thread {thread}"))
    }

    /// What all of them are called.
    pub fn threads(&self) -> Vec<String> {
        self.threads.clone()
    }

    pub(crate) fn finding(&self) -> &'a Finding {
        self.finding
    }

    pub(crate) fn source(&self) -> Source<'a> {
        self.source
    }

    /// The same as a picture, with a cycle of steps in it, and dependencies between them.
    pub fn picture(
        &self,
        cycle: &[(StepId, StepId, EdgeKind)],
        dependencies: &[(StepId, StepId, Kind)],
    ) -> Picture {
        let story = self.story();
        let mut picture = Picture { title: self.title(), threads: self.threads(), ..Picture::default() };
        let mut boxes: BTreeMap<StepId, usize> = BTreeMap::new();
        for (number, told) in story.iter().enumerate() {
            let Some(step) = self.step(told.step) else { continue };
            if boxes.contains_key(&told.step) || self.idle.contains(&told.step) || self.is_attempt(told.step)
            {
                continue;
            }
            // The two halves of a read-modify-write are one box, and what stands between them is none.
            let mut later =
                story[number + 1..].iter().map(|next| next.step).filter(|&next| !self.is_attempt(next));
            let other = later.next().filter(|&next| self.is_update(told.step, next));
            if let Some(other) = other {
                boxes.insert(other, picture.boxes.len());
            }
            let event = self.event(step, other.and_then(|other| self.step(other)));
            let at = self.source.outside(step.at, &step.calls);
            let (line, text) = (self.source.line(at), self.source.text(at));
            boxes.insert(told.step, picture.boxes.len());
            let (thread, place) = (told.step.0 as u32, format!("{line}: {text}"));
            let (span, marked) = (self.source.span(at), self.is_concerned(told.step));
            picture.boxes.push(picture::Box { thread, event, place, span, marked });
        }
        // An assertion is no event: the last one before it is marked.
        if !picture.boxes.iter().any(|one| one.marked) {
            let failing = self.finding.places.first().map(|place| place.thread);
            let last = picture.boxes.iter_mut().rev().find(|one| Some(one.thread) == failing);
            last.into_iter().for_each(|last| last.marked = true);
        }
        let mut writes: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for (&step, &number) in &boxes {
            if let Some(Action::Write { cell, made, .. }) = self.step(step).map(|s| &s.action) {
                writes.insert((cell.id, made.place), number);
            }
        }
        let newer = |id: u32, place: u32| {
            writes.range((id, place + 1)..=(id, u32::MAX)).next().map(|(_, &number)| number)
        };
        let cycle: Vec<(usize, usize, Kind)> = cycle
            .iter()
            .filter_map(|(from, to, kind)| Some((*boxes.get(from)?, *boxes.get(to)?, kind.drawn())))
            .collect();
        for &(from, to, kind) in &cycle {
            picture.arrows.push(Arrow { from, to, kind, on_cycle: true });
        }
        let mut drawn: Vec<(usize, usize, Kind)> = cycle;
        let mut arrow = |from, to, kind| {
            if from != to && !drawn.contains(&(from, to, kind)) {
                drawn.push((from, to, kind));
                picture.arrows.push(Arrow { from, to, kind, on_cycle: false });
            }
        };
        for (from, to, kind) in dependencies {
            if let (Some(&from), Some(&to)) = (boxes.get(from), boxes.get(to)) {
                arrow(from, to, *kind);
            }
        }
        for (&step, &number) in &boxes {
            match self.step(step).map(|s| &s.action) {
                Some(Action::Read { cell, seen, .. }) => {
                    let source = seen.from.and_then(|(t, i)| boxes.get(&(t as usize, i as usize)));
                    source.inspect(|&&source| arrow(source, number, Kind::Rf));
                    newer(cell.id, seen.place).inspect(|&write| arrow(number, write, Kind::Fr));
                }
                Some(Action::Write { cell, made, .. }) => {
                    newer(cell.id, made.place).inspect(|&write| arrow(number, write, Kind::Co));
                }
                _ => {}
            }
        }
        picture
    }

    fn title(&self) -> String {
        format!("{}: {}", self.finding.kind.code(), self.message())
    }

    pub(crate) fn step(&self, (thread, index): StepId) -> Option<&'a Event> {
        self.finding.execution.threads.get(thread)?.get(index)
    }

    fn cell(&self, step: StepId) -> Option<u32> {
        self.step(step)?.action.cell().map(|cell| cell.id)
    }

    /// Whether the finding is about this step.
    pub(crate) fn is_concerned(&self, (thread, index): StepId) -> bool {
        if let Some((end, late)) = self.life_and_use() {
            return (thread, index) == end || (thread, index) == late;
        }
        let at = self.step((thread, index)).map(|step| step.at);
        self.finding.places.iter().any(|place| place.thread as usize == thread && Some(place.at) == at)
    }

    /// How many steps of the story lead to what went wrong; the rest is told only if something before it reads of it.
    fn end(&self, told: &[Told]) -> usize {
        if let Some((end, late)) = self.life_and_use() {
            let at = |step: StepId| told.iter().position(|t| t.step == step).unwrap_or(0);
            return 1 + at(end).max(at(late));
        }
        let mut end = 0;
        for place in &self.finding.places {
            let own = |t: &&(usize, &Told)| t.1.step.0 == place.thread as usize;
            let steps: Vec<(usize, &Told)> = told.iter().enumerate().filter(|t| own(&t)).collect();
            let at = steps.iter().rev().find(|(_, t)| self.step(t.step).is_some_and(|s| s.at == place.at));
            // An assertion is no step: what the thread does behind it is not told.
            let before = steps.iter().rev().find(|(_, t)| !self.is_behind(t.step, place.at));
            end = end.max(at.or(before).or(steps.last()).map_or(0, |(i, _)| i + 1));
        }
        for (i, later) in told.iter().enumerate().skip(end) {
            let reads_it = |t: &Told| match self.step(t.step).map(|s| &s.action) {
                Some(Action::Read { seen, .. }) => {
                    seen.from.is_some_and(|(t, i)| (t as usize, i as usize) == later.step)
                }
                _ => false,
            };
            if told[..end].iter().any(reads_it) {
                end = i + 1;
            }
        }
        end
    }

    /// Whether a step comes behind an instruction of a function that it, or a call that leads to it, stands in.
    fn is_behind(&self, step: StepId, (function, pc): At) -> bool {
        let Some(step) = self.step(step) else { return false };
        let mut all = std::iter::once(&step.at).chain(&step.calls);
        all.find(|at| at.0 == function).is_some_and(|at| at.1 > pc)
    }

    /// The next line, and how many steps it tells.
    fn line(&self, steps: &[Told]) -> (Option<Shown>, usize) {
        let Some((step, thread)) = steps.first().and_then(|t| Some((self.step(t.step)?, t.step.0))) else {
            return (None, 1);
        };
        let at = self.source.outside(step.at, &step.calls);
        let is_same = |other: &Told| {
            other.step.0 == thread
                && self.step(other.step).is_some_and(|s| self.source.outside(s.at, &s.calls) == at)
        };
        let (action, used) = if at != step.at {
            let inside = steps.iter().take_while(|&t| is_same(t)).count();
            (self.library_call(thread, &steps[..inside]), inside)
        } else {
            // Between the halves of a load-reserve and a store-conditional stands the choice to succeed.
            let chosen = usize::from(steps.get(1).is_some_and(|t| self.is_attempt(t.step)));
            let pair = steps.get(1 + chosen).filter(|t| self.is_update(steps[0].step, t.step));
            let write = pair.and_then(|t| self.step(t.step));
            let used = if pair.is_some() { 2 + chosen } else { 1 };
            (self.action(&steps[0], step, write, &self.source.text(at)), used)
        };
        (action.map(|action| self.shown(thread as u32, at, action)), used)
    }

    fn shown(&self, thread: u32, at: At, action: String) -> Shown {
        Shown { thread, span: self.source.span(at), action, ..Shown::default() }
    }

    /// Whether a step is the choice of a store-conditional to fail or to succeed.
    fn is_attempt(&self, step: StepId) -> bool {
        let step = self.step(step);
        let chooses = step.is_some_and(|step| matches!(step.action, Action::Choose(_)));
        let instr = step.and_then(|step| self.source.instr(step.at));
        chooses && matches!(instr, Some(Instr::StoreExclusive { .. }))
    }

    /// Whether two steps belong to one read-modify-write.
    fn goes_on(&self, one: StepId, next: StepId) -> bool {
        let span = |step| self.step(step).map(|step| self.source.span(step.at));
        let attempt = self.is_attempt(one) || self.is_attempt(next);
        self.is_update(one, next) || attempt && one.0 == next.0 && span(one) == span(next)
    }

    /// Whether two steps are the halves of one read-modify-write.
    fn is_update(&self, read: StepId, write: StepId) -> bool {
        let (Some(a), Some(b)) = (self.step(read), self.step(write)) else { return false };
        let halves = matches!((&a.action, &b.action), (Action::Read { .. }, Action::Write { .. }));
        let exclusive = matches!(self.source.instr(b.at), Some(Instr::StoreExclusive { .. }));
        read.0 == write.0
            && halves
            && self.cell(read) == self.cell(write)
            && (a.at == b.at || exclusive && self.source.span(a.at) == self.source.span(b.at))
    }

    /// What a call of the library does, seen from outside: whom it wakes, who woke it, whose work it builds on.
    fn library_call(&self, thread: usize, steps: &[Told]) -> Option<String> {
        let function = steps.first().and_then(|t| self.step(t.step)).map_or("", |s| self.callee(s));
        if (function.starts_with("pthread_cond_") || function.starts_with("cnd_"))
            && let Some(told) = self.condition(function, steps)
        {
            return Some(told);
        }
        let mut others: Vec<String> = Vec::new();
        for told in steps {
            if let Some((t, i)) = self.step(told.step)?.action.seen().and_then(|seen| seen.from)
                && t as usize != thread
            {
                let after = format!("after {}", self.who((t as usize, i as usize)));
                if !others.contains(&after) {
                    others.push(after);
                }
            }
        }
        Some(others.join(", "))
    }

    /// What a call on a condition variable does.
    fn condition(&self, function: &str, steps: &[Told]) -> Option<String> {
        let mut ids: Vec<StepId> = steps.iter().map(|told| told.step).collect();
        let state =
            |ids: &[StepId]| ids.iter().find_map(|&id| self.cell(id).filter(|&cell| self.is_state(cell)));
        if state(&ids).is_none() {
            // Nobody else uses it: its steps are not told.
            ids = self.whole_call(*ids.first()?);
        }
        let variable = state(&ids)?;
        let calls = signals::calls(self, variable);
        if let Some(call) = calls.iter().find(|call| ids.contains(&call.step)) {
            return Some(match call.done {
                Done::Waits(ticket) => {
                    let alone = match signals::leaves(self, &ids, variable, ticket) {
                        false => "",
                        true if function.contains("timed") || function.contains("clock") => {
                            ", and its time is up"
                        }
                        true => ", and wakes up without a signal",
                    };
                    format!("waits{}{alone}", self.unlocked(&ids, call.step))
                }
                Done::WakesNobody => "wakes nobody: no thread waits".into(),
                Done::Wakes { woken, .. } => {
                    let names = signals::sleepers(&calls, woken, call.place).into_iter();
                    format!("wakes {}", words::list(&names.map(|t| self.thread(t)).collect::<Vec<_>>()))
                }
            });
        }
        let first = function.ends_with("wait").then(|| ids.first()).flatten()?;
        let (_, ticket) = signals::last_wait(&signals::before(&calls, *first), first.0)?;
        let read = ids.iter().find(|&&step| self.cell(step) == Some(variable))?;
        let raw = self.step(*read)?.action.seen()?.value.raw.0;
        let waker = (raw >> 32 & ticket != 0).then(|| signals::waker(&calls, ticket)).flatten();
        // Otherwise it looks whether it was woken, and was not.
        Some(waker.map_or(String::new(), |by| format!("woken by {}", self.who(by))))
    }

    /// Whether a cell is the state of a condition variable, as far as its size tells: the other one is smaller.
    fn is_state(&self, cell: u32) -> bool {
        self.finding.execution.cells.get(cell as usize).is_some_and(|(_, width)| *width == Width::W64)
    }

    /// All steps of the call of the library that a step belongs to.
    fn whole_call(&self, (thread, index): StepId) -> Vec<StepId> {
        let steps = self.finding.execution.threads.get(thread).map_or(&[][..], Vec::as_slice);
        let mut at = 0;
        while at < steps.len() {
            let length = self.same_call(&steps[at..]).max(1);
            if (at..at + length).contains(&index) {
                return (at..at + length).map(|i| (thread, i)).collect();
            }
            at += length;
        }
        Vec::new()
    }

    /// Whether a read is one that the user wrote, and not one by which a call of the library does its work.
    pub(crate) fn is_users(&self, step: &Event) -> bool {
        let at = self.source.outside(step.at, &step.calls);
        let Action::Read { cell, .. } = &step.action else { return at == step.at };
        at == step.at && self.mutex(&self.source.text(at), &cell.name, None, true).is_none()
    }

    /// `, m unlocked`: what a wait writes behind its ticket is the mutex.
    fn unlocked(&self, steps: &[StepId], ticket: StepId) -> String {
        let mutex = steps.iter().filter(|&&id| id > ticket).find_map(|&id| match &self.step(id)?.action {
            Action::Write { cell, .. } => Some(self.name(&cell.name)),
            _ => None,
        });
        mutex.map_or(String::new(), |mutex| format!(", {mutex} unlocked"))
    }

    /// How many of these steps of a thread belong to the same call of the library; one that the user's own code makes is alone.
    pub(crate) fn same_call(&self, steps: &[Event]) -> usize {
        let Some(first) = steps.first() else { return 0 };
        let outside = |step: &Event| self.source.outside(step.at, &step.calls);
        if outside(first) == first.at {
            return 1;
        }
        steps.iter().take_while(|step| step.at != outside(step) && outside(step) == outside(first)).count()
    }

    /// The function of the library that the user calls.
    pub(crate) fn callee(&self, step: &Event) -> &'a str {
        let all: Vec<At> = std::iter::once(step.at).chain(step.calls.iter().copied()).collect();
        let Some(user) = all.iter().position(|&at| !self.source.is_library(at)) else { return "" };
        let inner = user.checked_sub(1).and_then(|inner| all.get(inner));
        let function = inner.and_then(|at| self.source.program.functions.get(at.0 as usize));
        function.map_or("", |function| function.name.as_str())
    }

    /// `writer at line 14`.
    pub(crate) fn who(&self, step: StepId) -> String {
        let at = self.step(step).map(|s| self.source.outside(s.at, &s.calls));
        let line = at.map_or(0, |at| self.source.line(at));
        format!("{} at line {line}", self.thread(step.0))
    }

    /// What a step does; `write` is the second half of a read-modify-write.
    fn action(&self, told: &Told, step: &Event, write: Option<&Event>, text: &str) -> Option<String> {
        Some(match &step.action {
            Action::Read { cell, seen, .. } => {
                let writer = seen.from.map(|(t, i)| self.who((t as usize, i as usize)));
                if let Some(locking) = self.mutex(text, &cell.name, writer.as_deref(), write.is_some()) {
                    return Some(locking);
                }
                let source = match &writer {
                    None => "the initial value".to_string(),
                    Some(writer) if told.note == Some(Note::Early) => format!("which {writer} writes later"),
                    Some(writer) => format!("written by {writer}"),
                };
                let exchanges = matches!(self.source.instr(step.at), Some(Instr::CompareExchange { .. }));
                let fails = if exchanges && write.is_none() { "; the exchange fails" } else { "" };
                let name = self.name(&cell.name);
                if self.finding.kind == FindingKind::Uninitialised
                    && seen.from.is_none()
                    && self.is_concerned(told.step)
                {
                    return Some(format!("R{} {name}, which was never written", words::dotted(seen.order)));
                }
                if seen.value.raw == Value::UNDEFINED && seen.from.is_none() {
                    return Some(format!("copies {name}, which was never written"));
                }
                format!("{}, {source}{fails}{}", self.event(step, write), self.note(told))
            }
            Action::Write { .. } => format!("{}{}", self.event(step, None), self.note(told)),
            Action::Choose(_) if !matches!(self.source.instr(step.at), Some(Instr::Nondet { .. })) => {
                return None;
            }
            Action::Choose(value) => format!("chooses {}", value.name),
            Action::Fence(_) => match self.source.instr(step.at) {
                Some(Instr::Fence(_) | Instr::StoreExclusive { .. }) => self.event(step, None),
                _ => return None,
            },
            Action::Spawn(thread) => format!("starts {}", self.thread(*thread as usize)),
            Action::Join(Some(thread)) => format!("{} has ended", self.thread(*thread as usize)),
            Action::Free(Some(object)) if self.finding.object.as_ref() == Some(object) => {
                format!("ends the life of {}", self.object(object))
            }
            // The ends of other objects' lives say nothing, unless the user frees.
            Action::Free(Some(object)) if self.names.contains_key(object) => {
                format!("frees {}", self.object(object))
            }
            _ => return None,
        })
    }

    /// What a step is: `W.rel q.cells[0].seq = 1`, `U.acq lock 0 -> 1`, `F.sc`.
    pub(crate) fn event(&self, step: &Event, write: Option<&Event>) -> String {
        let name = |name: &Name| self.name(name);
        match (&step.action, write.map(|write| &write.action)) {
            (Action::Read { cell, seen, .. }, Some(Action::Write { made, .. })) => words::update(
                &name(&cell.name),
                (seen, &name(&seen.value.name)),
                (made, &name(&made.value.name)),
            ),
            (Action::Read { cell, seen, .. }, _) => {
                words::read(&name(&cell.name), seen.order, &name(&seen.value.name))
            }
            (Action::Write { cell, made, .. }, _) => {
                words::write(&name(&cell.name), made.order, &name(&made.value.name))
            }
            (Action::Choose(value), _) => format!("choose {}", value.name),
            (Action::Fence(_), _) => match self.source.instr(step.at) {
                Some(Instr::Fence(fence)) => words::fence(*fence),
                Some(Instr::StoreExclusive { .. }) => "the store-conditional fails".into(),
                _ => "fence".into(),
            },
            (Action::Spawn(thread), _) => format!("start {}", self.thread(*thread as usize)),
            (Action::Join(Some(thread)), _) => format!("join {}", self.thread(*thread as usize)),
            (Action::Free(Some(object)), _) => format!("free {}", self.object(object)),
            (Action::Free(None), _) => "free what the thread has made".into(),
            _ => String::new(),
        }
    }

    /// Locking and unlocking, if that is what the call does.
    fn mutex(&self, text: &str, cell: &Name, writer: Option<&str>, took: bool) -> Option<String> {
        let function = text.split('(').next().unwrap_or("").rsplit([' ', '!', '=']).next().unwrap_or("");
        let name = self.name(cell);
        Some(match function {
            "pthread_mutex_lock" | "mtx_lock" | "pthread_mutex_trylock" | "mtx_trylock" => {
                match (took, writer) {
                    (true, None) => format!("locks {name}"),
                    (true, Some(writer)) => format!("locks {name}, unlocked by {writer}"),
                    (false, None) => format!("cannot lock {name}"),
                    (false, Some(writer)) if function.ends_with("trylock") => {
                        format!("finds {name} locked by {writer}")
                    }
                    (false, Some(writer)) => format!("waits for {name}, locked by {writer}"),
                }
            }
            "pthread_mutex_unlock" | "mtx_unlock" => match (took, writer) {
                (true, _) => format!("unlocks {name}"),
                (false, Some(writer)) => format!("cannot unlock {name}, locked by {writer}"),
                (false, None) => format!("cannot unlock {name}, which is not locked"),
            },
            _ => return None,
        })
    }

    /// What is strange about a step.
    fn note(&self, told: &Told) -> String {
        let written = |step: StepId| match self.step(step).map(|s| &s.action) {
            Some(Action::Write { cell, made, .. }) => {
                let (cell, value) = (self.name(&cell.name), self.name(&made.value.name));
                format!("{cell} = {value} of {}", self.who(step))
            }
            _ => self.who(step),
        };
        match told.note {
            None | Some(Note::Early) => String::new(),
            Some(Note::Stale { missed, more, seen }) => {
                let others = if more > 0 { format!(" and {more} newer") } else { String::new() };
                let although = seen.and_then(|read| match self.step(read)?.action {
                    Action::Read { seen: Seen { from: Some((t, i)), .. }, .. } => {
                        let line = self.line_of((t as usize, i as usize));
                        Some(format!(", although it has seen line {line}, which comes after that"))
                    }
                    _ => None,
                });
                format!("; does not see {}{others}{}", written(missed), although.unwrap_or_default())
            }
            Some(Note::Overtaken { by }) => format!("; older than {}", written(by)),
        }
    }

    pub(crate) fn line_of(&self, step: StepId) -> usize {
        let at = self.step(step).map(|s| self.source.outside(s.at, &s.calls));
        at.map_or(0, |at| self.source.line(at))
    }

    /// Whether the last step of a thread finds a mutex locked, which its line says.
    fn ends_locked_out(&self, thread: u32) -> bool {
        let last = self.finding.execution.threads.get(thread as usize).and_then(|steps| steps.last());
        last.is_some_and(|step| match &step.action {
            Action::Read { cell, .. } => {
                let text = self.source.text(self.source.outside(step.at, &step.calls));
                self.mutex(&text, &cell.name, None, false).is_some()
            }
            _ => false,
        })
    }

    /// Who waits, at the end.
    fn add_waiting(&self, lines: &mut Vec<Shown>) {
        for spot in self.places() {
            let span = self.source.span(spot.at);
            let what = if spot.joins { "waits for a thread that does not end" } else { "waits for ever" };
            let action = what.to_string();
            match lines.iter().rposition(|line| line.thread == spot.thread) {
                Some(i) if lines[i].span == span && lines[i].action.is_empty() => {
                    lines[i].action = action;
                }
                // The last step of the thread says already what it waits for.
                Some(i) if lines[i].span == span && self.ends_locked_out(spot.thread) => {}
                _ => lines.push(self.shown(spot.thread, spot.at, action)),
            }
        }
    }
}

/// Whether a cell belongs to a variable of the library that the front end brings along: such names are reserved for it.
pub(crate) fn is_ours(cell: &Name) -> bool {
    matches!(&cell.object, Some(Object::Declared(name)) if name.starts_with("__fp_"))
}

/// What threads are called: by the functions that they run, with their numbers where several run the same.
fn thread_names(program: &Program, finding: &Finding) -> Vec<String> {
    let entry = |steps: &Vec<Event>| {
        let step = steps.first()?;
        let (function, _) = step.calls.last().copied().unwrap_or(step.at);
        program.functions.get(function as usize).map(|f| f.name.clone())
    };
    let names = finding.execution.threads.iter().enumerate().map(|(t, steps)| match program.threads.get(t) {
        Some(thread) => Some(thread.name.clone()),
        None => entry(steps),
    });
    let names: Vec<Option<String>> = names.collect();
    let alone = |name: &String| names.iter().flatten().filter(|other| *other == name).count() == 1;
    let called = names.iter().enumerate().map(|(t, name)| match name {
        Some(name) if alone(name) => name.clone(),
        Some(name) => format!("{name}#{t}"),
        None => format!("thread {t}"),
    });
    called.collect()
}
