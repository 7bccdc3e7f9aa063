//! The execution of a finding once more, to tell it with the places of the program.

use crate::rt::shared::Shared;
use crate::rt::{Here, Run};
use fencepost_explore::{Action, At, Do, Finding, Given, NativeStep, Past, Source};
use std::sync::Arc;

/// What was seen.
#[derive(Default)]
pub struct Replayed {
    /// The steps in an order in which they may have been.
    pub story: Vec<String>,
    /// Where threads wait.
    pub waiting: Vec<String>,
    steps: Vec<(usize, usize, Option<Here>)>,
}

impl Replayed {
    /// The places of a finding that is about steps.
    pub fn places(&self, _found: &Finding) -> Vec<String> {
        let last = self.steps.last().and_then(|(.., here)| here.map(|here| here.to_string()));
        last.into_iter().collect()
    }
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

/// A thread of the run: the step that it stands before, and how many of its actions are done.
struct Stand {
    step: NativeStep,
    done: usize,
}

/// Runs the program again along the execution of a finding.
pub fn replay(found: &Finding, program: &Arc<dyn Fn() + Sync + Send>, shared: &Arc<Shared>) -> Replayed {
    let mut run = Run::new(program.clone(), shared.clone());
    run.restart();
    let threads = found.steps.len();
    let mut stands: Vec<Option<Stand>> = (0..threads).map(|_| None).collect();
    let mut spawned = vec![0; threads];
    let mut replayed = Replayed::default();
    if threads == 0 {
        return replayed;
    }
    let step = run.start(&Ordered, 0, None);
    stands[0] = Some(Stand { step, done: 0 });
    loop {
        let mut moved = false;
        for in_order in [true, false] {
            for thread in 0..threads {
                while let Some(actions) = ready(found, &stands, thread, in_order, &run) {
                    moved = true;
                    go(found, &mut run, &mut stands, &mut spawned, thread, actions, &mut replayed);
                }
            }
            if moved {
                break;
            }
        }
        if !moved {
            break;
        }
    }
    for (thread, stand) in stands.iter().enumerate() {
        let Some(stand) = stand else { continue };
        let here = run.here(thread).map_or_else(String::new, |here| here.to_string());
        match stand.step.what {
            Do::End if run.has_ended(thread) => {}
            Do::Fail(..) => replayed.story.push(format!("thread {thread}: fails at {here}")),
            _ => {
                replayed.story.push(format!("thread {thread}: waits for ever at {here}"));
                replayed.waiting.push(here);
            }
        }
    }
    replayed
}

/// How many actions the next step of a thread has, if it was made, and what it needs is done.
fn ready(
    found: &Finding,
    stands: &[Option<Stand>],
    thread: usize,
    in_order: bool,
    run: &Run,
) -> Option<usize> {
    let stand = stands[thread].as_ref()?;
    let actions = &found.steps[thread][stand.done..];
    let mut count = actions.iter().take_while(|step| matches!(step.action, Action::Fence)).count();
    let is_done = |&(t, i): &(u32, u32)| stands[t as usize].as_ref().is_some_and(|s| s.done > i as usize);
    let reads = |count: usize| match actions.get(count).map(|step| &step.action) {
        Some(Action::Read { from, raw, .. }) => {
            let own = |&(t, _): &(u32, u32)| t as usize == thread;
            (from.as_ref().is_none_or(|from| own(from) || is_done(from))).then_some(*raw)
        }
        _ => None,
    };
    let writes = |count: usize| -> Option<()> {
        let me = (thread as u32, (stand.done + count) as u32);
        let is_write = matches!(actions.get(count).map(|step| &step.action), Some(Action::Write { .. }));
        let earlier = found.coherence.iter().find(|list| list.contains(&me));
        let mut before = earlier.into_iter().flatten().take_while(|&&w| w != me);
        (is_write && (!in_order || before.all(is_done))).then_some(())
    };
    match stand.step.what {
        Do::Load(_) | Do::Await(..) => {
            reads(count)?;
            count += 1;
        }
        Do::Store(_) => {
            writes(count)?;
            count += 1;
        }
        Do::Rmw(..) | Do::AwaitRmw(..) => {
            reads(count)?;
            writes(count + 1)?;
            count += 2;
        }
        Do::Exchange(_, _, weak) => {
            let mut spuriously = false;
            if weak {
                let Action::Choose { value } = actions.get(count)?.action else { return None };
                spuriously = value != 0;
                count += 1;
            }
            let there = reads(count)?;
            count += 1;
            if there == stand.step.expected && !spuriously {
                writes(count)?;
                count += 1;
            }
        }
        Do::Fence(_) => (count > 0).then_some(())?,
        Do::Choose => {
            matches!(actions.get(count)?.action, Action::Choose { .. }).then_some(())?;
            count += 1;
        }
        Do::Spawn => {
            matches!(actions.get(count)?.action, Action::Spawn { .. }).then_some(())?;
            count += 1;
        }
        Do::Join(other) => {
            matches!(actions.get(count)?.action, Action::Join { .. }).then_some(())?;
            run.has_ended(other).then_some(())?;
            count += 1;
        }
        Do::End | Do::Fail(..) | Do::Cut(_) | Do::StartOver => return None,
    }
    Some(count)
}

/// Makes a step whose outcome is known.
fn go(
    found: &Finding,
    run: &mut Run,
    stands: &mut [Option<Stand>],
    spawned: &mut [u32],
    thread: usize,
    actions: usize,
    replayed: &mut Replayed,
) {
    let Some(stand) = stands[thread].take() else { return };
    let done = stand.done + actions;
    let mut given = Given::default();
    let mut old = String::new();
    for step in &found.steps[thread][stand.done..done] {
        match &step.action {
            Action::Read { raw, from, .. } => {
                given.value = *raw;
                if let Some((t, _)) = from.filter(|(t, _)| *t as usize != thread) {
                    old = format!(", written by thread {t}");
                }
            }
            Action::Choose { value } => given.chosen = *value != 0,
            Action::Spawn { thread } => given.value = u64::from(*thread),
            _ => {}
        }
    }
    let here = run.here(thread);
    let place = here.map_or_else(String::new, |here| here.to_string());
    replayed.steps.push((thread, stand.done, here));
    replayed.story.push(format!("thread {thread}: {}{old}  at {place}", said(&stand.step, given)));
    if stand.step.what == Do::Spawn {
        let child = given.value as usize;
        let step = run.start(&Ordered, child, Some((thread, spawned[thread])));
        spawned[thread] += 1;
        stands[child] = Some(Stand { step, done: 0 });
    }
    let step = run.step(&Ordered, At { thread: thread as u16, index: done as u32 }, given);
    stands[thread] = Some(Stand { step, done });
}

/// A step in words.
fn said(step: &NativeStep, given: Given) -> String {
    let (value, operand) = (given.value, step.operand);
    match step.what {
        Do::Load(order) => format!("reads {value} ({order:?})"),
        Do::Store(order) => format!("writes {operand} ({order:?})"),
        Do::Rmw(order, op, width) => {
            let new = op.apply(width, fencepost_ir::Value(value), fencepost_ir::Value(operand)).0;
            format!("reads {value} and writes {new} ({order:?})")
        }
        Do::Exchange(order, ..) if value == step.expected && !given.chosen => {
            format!("exchanges {value} for {operand} ({order:?})")
        }
        Do::Exchange(_, order, _) => {
            format!("fails to exchange {}: reads {value} ({order:?})", step.expected)
        }
        Do::Await(order, _) => format!("waits, and reads {value} ({order:?})"),
        Do::AwaitRmw(order, _, op, width) => {
            let new = op.apply(width, fencepost_ir::Value(value), fencepost_ir::Value(operand)).0;
            format!("waits, reads {value} and writes {new} ({order:?})")
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
