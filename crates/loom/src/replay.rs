//! An execution once more: to tell it with the places of the program, and to look at it in a debugger.

use crate::rt::{Here, Run};
use fencepost_answer::Action;
use fencepost_explore::{At, Do, Finding, Given, NativeStep, Past, Source};
use std::collections::HashMap;

/// What an event of an execution does; values follow from the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    /// From which write, if not the initial one.
    Read(Option<(u32, u32)>),
    Write,
    Choose(bool),
    Spawn(u32),
    Join(u32),
    Fence,
}

/// An execution: the events of each thread, and the writes of each cell in coherence order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    threads: Vec<Vec<Act>>,
    coherence: Vec<Vec<(u32, u32)>>,
}

impl Trace {
    /// That of a finding.
    pub fn of(found: &Finding) -> Trace {
        let act = |action: &Action| match action {
            Action::Read { seen, .. } => Act::Read(seen.from),
            Action::Write { .. } => Act::Write,
            Action::Choose(value) => Act::Choose(value.raw.0 != 0),
            Action::Spawn(thread) => Act::Spawn(*thread),
            Action::Join(Some(thread)) => Act::Join(*thread),
            _ => Act::Fence,
        };
        let execution = &found.execution;
        let threads =
            execution.threads.iter().map(|events| events.iter().map(|event| act(&event.action)).collect());
        Trace { threads: threads.collect(), coherence: execution.coherence.clone() }
    }

    /// In one word, for `FENCEPOST_REPLAY`.
    pub fn to_text(&self) -> String {
        let id = |(t, i): (u32, u32)| format!("{t}.{i}");
        let act = |act: &Act| match *act {
            Act::Read(None) => "r".to_string(),
            Act::Read(Some(from)) => format!("r{}", id(from)),
            Act::Write => "w".to_string(),
            Act::Choose(second) => format!("c{}", u32::from(second)),
            Act::Spawn(thread) => format!("s{thread}"),
            Act::Join(thread) => format!("j{thread}"),
            Act::Fence => "f".to_string(),
        };
        let threads: Vec<String> =
            self.threads.iter().map(|acts| acts.iter().map(act).collect::<Vec<_>>().join(",")).collect();
        let cells: Vec<String> =
            self.coherence.iter().map(|w| w.iter().map(|&w| id(w)).collect::<Vec<_>>().join(",")).collect();
        format!("{}:{}", threads.join("/"), cells.join("/"))
    }

    /// From such a word.
    pub fn parse(text: &str) -> Option<Trace> {
        let id = |text: &str| {
            let (thread, index) = text.split_once('.')?;
            Some((thread.parse().ok()?, index.parse().ok()?))
        };
        let act = |text: &str| {
            let (kind, rest) = text.split_at_checked(1)?;
            Some(match (kind, rest) {
                ("r", "") => Act::Read(None),
                ("r", from) => Act::Read(Some(id(from)?)),
                ("w", "") => Act::Write,
                ("c", second) => Act::Choose(second == "1"),
                ("s", thread) => Act::Spawn(thread.parse().ok()?),
                ("j", thread) => Act::Join(thread.parse().ok()?),
                ("f", "") => Act::Fence,
                _ => return None,
            })
        };
        let words = |text: &str| -> Vec<String> {
            text.split(',').filter(|word| !word.is_empty()).map(String::from).collect()
        };
        let (threads, cells) = text.trim().split_once(':')?;
        let threads: Option<Vec<Vec<Act>>> =
            threads.split('/').map(|acts| words(acts).iter().map(|word| act(word)).collect()).collect();
        let coherence: Option<Vec<Vec<(u32, u32)>>> =
            cells.split('/').map(|cell| words(cell).iter().map(|word| id(word)).collect()).collect();
        let (threads, coherence) = (threads?, coherence?);
        // Threads and events that are named are there.
        let is_there =
            |&(t, i): &(u32, u32)| threads.get(t as usize).is_some_and(|acts| (i as usize) < acts.len());
        let names_some = |act: &Act| match act {
            Act::Read(Some(from)) => is_there(from),
            Act::Spawn(thread) | Act::Join(thread) => (*thread as usize) < threads.len(),
            _ => true,
        };
        let fits = threads.iter().flatten().all(names_some) && coherence.iter().flatten().all(is_there);
        fits.then_some(Trace { threads, coherence })
    }
}

/// What was seen.
#[derive(Default)]
pub struct Replayed {
    /// The steps in an order in which they may have been.
    pub story: Vec<String>,
    /// Where threads wait.
    pub waiting: Vec<String>,
    /// Where the last step was.
    pub last: Option<Here>,
}

/// Everything is ordered: what is wrong is known already.
struct Ordered;

impl Past for Ordered {
    fn is_ordered(&self, _earlier: At, _later: At) -> bool {
        true
    }

    fn is_over(&self, _access: At, _later: At) -> bool {
        true
    }
}

/// A thread of the run: the step that it stands before, and how many of its events are done.
struct Stand {
    step: NativeStep,
    done: usize,
}

/// What a step comes to: how many events it has, what it gives, and what it writes, by which event.
struct Outcome {
    events: usize,
    given: Given,
    written: Option<(usize, u64)>,
    from: Option<(u32, u32)>,
}

struct Replay<'a> {
    trace: &'a Trace,
    run: Run,
    stands: Vec<Option<Stand>>,
    spawned: Vec<u32>,
    values: HashMap<(u32, u32), u64>,
    seen: Replayed,
}

/// Runs the program again along an execution.
pub fn replay(trace: &Trace, mut run: Run) -> Replayed {
    let threads = trace.threads.len();
    if threads == 0 {
        return Replayed::default();
    }
    run.restart();
    let step = run.start(&Ordered, 0, None);
    let mut stands: Vec<Option<Stand>> = (0..threads).map(|_| None).collect();
    stands[0] = Some(Stand { step, done: 0 });
    let (spawned, values, seen) = (vec![0; threads], HashMap::new(), Replayed::default());
    let mut replay = Replay { trace, run, stands, spawned, values, seen };
    // In coherence order as far as that goes.
    while [true, false].into_iter().any(|in_order| {
        let made = (0..threads).find_map(|thread| Some((thread, replay.ready(thread, in_order)?)));
        made.is_some_and(|(thread, outcome)| {
            replay.go(thread, outcome);
            true
        })
    }) {}
    replay.end()
}

impl Replay<'_> {
    /// What the next step of a thread comes to, if it was made, and what it needs is done.
    fn ready(&self, thread: usize, in_order: bool) -> Option<Outcome> {
        let stand = self.stands[thread].as_ref()?;
        let (step, acts) = (&stand.step, &self.trace.threads[thread][stand.done..]);
        let mut at = acts.iter().take_while(|act| **act == Act::Fence).count();
        let is_done =
            |&(t, i): &(u32, u32)| self.stands[t as usize].as_ref().is_some_and(|s| s.done > i as usize);
        let read = |at: usize| match *acts.get(at)? {
            Act::Read(None) => Some((step.cell.init, None)),
            Act::Read(Some(from)) => Some((*self.values.get(&from)?, Some(from))),
            _ => None,
        };
        let may_write = |at: usize| {
            let me = (thread as u32, (stand.done + at) as u32);
            let list = self.trace.coherence.iter().find(|list| list.contains(&me));
            let mut before = list.into_iter().flatten().take_while(|&&w| w != me);
            (*acts.get(at)? == Act::Write && (!in_order || before.all(is_done))).then_some(())
        };
        let mut given = Given::default();
        let (mut written, mut from) = (None, None);
        match step.what {
            Do::Load(_) | Do::Await(..) => {
                (given.value, from) = read(at)?;
                at += 1;
            }
            Do::Store(_) => {
                may_write(at)?;
                written = Some((at, step.operand));
                at += 1;
            }
            Do::Rmw(_, op, width) | Do::AwaitRmw(_, _, op, width) => {
                (given.value, from) = read(at)?;
                may_write(at + 1)?;
                let (old, operand) = (fencepost_ir::Value(given.value), fencepost_ir::Value(step.operand));
                written = Some((at + 1, op.apply(width, old, operand).0));
                at += 2;
            }
            Do::Exchange(_, _, weak) => {
                if weak {
                    let Act::Choose(second) = *acts.get(at)? else { return None };
                    given.chosen = second;
                    at += 1;
                }
                (given.value, from) = read(at)?;
                at += 1;
                if given.value == step.expected && !given.chosen {
                    may_write(at)?;
                    written = Some((at, step.operand));
                    at += 1;
                }
            }
            Do::Fence(_) => (at > 0).then_some(())?,
            Do::Choose => {
                let Act::Choose(second) = *acts.get(at)? else { return None };
                given.chosen = second;
                at += 1;
            }
            Do::Spawn => {
                let Act::Spawn(child) = *acts.get(at)? else { return None };
                given.value = child.into();
                at += 1;
            }
            Do::Join(other) => {
                (*acts.get(at)? == Act::Join(other as u32) && self.run.has_ended(other)).then_some(())?;
                at += 1;
            }
            Do::End | Do::Fail(..) | Do::Cut(_) | Do::StartOver => return None,
        }
        Some(Outcome { events: at, given, written, from })
    }

    /// Makes a step whose outcome is known.
    fn go(&mut self, thread: usize, outcome: Outcome) {
        let Some(stand) = self.stands[thread].take() else { return };
        let Outcome { events, given, written, from } = outcome;
        if let Some((at, value)) = written {
            self.values.insert((thread as u32, (stand.done + at) as u32), value);
        }
        self.seen.last = self.run.here(thread);
        let place = self.seen.last.map_or_else(String::new, |here| here.to_string());
        let from = from.filter(|(t, _)| *t as usize != thread);
        let from = from.map_or_else(String::new, |(t, _)| format!(", written by thread {t}"));
        self.seen.story.push(format!("thread {thread}: {}{from}  at {place}", said(&stand.step, given)));
        if stand.step.what == Do::Spawn {
            let child = given.value as usize;
            let step = self.run.start(&Ordered, child, Some((thread, self.spawned[thread])));
            self.spawned[thread] += 1;
            self.stands[child] = Some(Stand { step, done: 0 });
        }
        let done = stand.done + events;
        let step = self.run.step(&Ordered, At { thread: thread as u16, index: done as u32 }, given);
        self.stands[thread] = Some(Stand { step, done });
    }

    /// Where the threads stand at the end.
    fn end(mut self) -> Replayed {
        for (thread, stand) in self.stands.iter().enumerate() {
            let Some(stand) = stand else { continue };
            let here = self.run.here(thread).map_or_else(String::new, |here| here.to_string());
            match stand.step.what {
                Do::End if self.run.has_ended(thread) => {}
                Do::Fail(..) => self.seen.story.push(format!("thread {thread}: fails behind {here}")),
                _ => {
                    self.seen.story.push(format!("thread {thread}: goes no further than {here}"));
                    self.seen.waiting.push(here);
                }
            }
        }
        self.seen
    }
}

/// A step in words.
fn said(step: &NativeStep, given: Given) -> String {
    let (value, operand) = (given.value, step.operand);
    let combined = |op: fencepost_ir::RmwOp, width| {
        op.apply(width, fencepost_ir::Value(value), fencepost_ir::Value(operand)).0
    };
    match step.what {
        Do::Load(order) => format!("reads {value} ({order:?})"),
        Do::Store(order) => format!("writes {operand} ({order:?})"),
        Do::Rmw(order, op, width) => format!("reads {value} and writes {} ({order:?})", combined(op, width)),
        Do::Exchange(order, ..) if value == step.expected && !given.chosen => {
            format!("exchanges {value} for {operand} ({order:?})")
        }
        Do::Exchange(_, order, _) => {
            format!("does not exchange {}: reads {value} ({order:?})", step.expected)
        }
        Do::Await(order, _) => format!("waits, and reads {value} ({order:?})"),
        Do::AwaitRmw(order, _, op, width) => {
            format!("waits, reads {value} and writes {} ({order:?})", combined(op, width))
        }
        Do::Fence(order) => format!("fence ({order:?})"),
        Do::Choose => format!("goes the {} way", if given.chosen { "second" } else { "first" }),
        Do::Spawn => format!("starts thread {value}"),
        Do::Join(other) => format!("joins thread {other}"),
        Do::End => "ends".into(),
        Do::Fail(..) => "fails".into(),
        Do::Cut(_) | Do::StartOver => "is not followed any further".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_what_its_text_says() {
        let threads = vec![
            vec![Act::Spawn(1), Act::Read(Some((1, 0))), Act::Choose(true), Act::Join(1)],
            vec![Act::Write, Act::Read(None), Act::Fence],
        ];
        let trace = Trace { threads, coherence: vec![vec![(1, 0)]] };
        assert_eq!(trace.to_text(), "s1,r1.0,c1,j1/w,r,f:1.0");
        assert_eq!(Trace::parse(&trace.to_text()), Some(trace));
        for wrong in ["", "x", "r:1.0", "r5.0:", "s7:", "w:0", "r1:", "é:"] {
            assert_eq!(Trace::parse(wrong), None, "{wrong}");
        }
    }
}
