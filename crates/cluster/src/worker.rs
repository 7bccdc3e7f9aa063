//! A worker: takes items of any run, explores each for a while, and says what came of it.
//!
//! An item that runs long gives part of itself back when somebody waits for work, and not otherwise: the number of items grows
//! with
//! the work and the workers, not with the executions. What is not split is written down from time to time all the same, so that a
//! worker
//! that dies loses no more than that.

use crate::connect::{AGAIN, Cluster};
use crate::news::{self, News};
use crate::spec::{Id, Spec, hex, unhex};
use crate::streams::{SILENCE, Unreachable, Written};
use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::message::{AckKind, Acker};
use fencepost_explore::{
    BUILD, Binding, Broken, DecodeError, Handed, Limits, Options, Others, Part, Pause, Report, Session,
    StopReason,
};
use futures_util::StreamExt;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long a worker waits for an item before it looks around.
const PATIENCE: Duration = Duration::from_secs(1);
/// The first slice of an item; the next ones are longer.
const FIRST_SLICE: Duration = Duration::from_millis(40);
/// The longest.
const LONGEST_SLICE: Duration = Duration::from_millis(1000);
/// After so long what was found in an item is written down, and the rest is an item of its own.
const LONGEST_ITEM: Duration = Duration::from_secs(3);
/// An item that has not paused for so long is stuck in a computation of one thread.
const STUCK: Duration = Duration::from_secs(600);
/// Most parts that are taken off an item at once.
const MOST_PARTS: usize = 16;
/// An item that was delivered so often without a result kills its workers, or takes longer than they live.
const MOST_DELIVERIES: i64 = 12;
/// How old what is known of a run may be.
const STALE: Duration = Duration::from_secs(1);
/// Empty-handed looks before the program of a run is forgotten.
const LOOKS: u32 = 30;

/// After it could not go on with an item, a worker leaves the next ones to others for so long.
const REST: Duration = Duration::from_secs(1);

/// Why there is no session for a run.
#[derive(Clone, Debug)]
pub enum NoSession {
    /// Nobody can explore it.
    Run(String),
    /// This worker cannot: it is told to stop, or makes something else of it.
    Here(String),
    /// This worker cannot: its limit on memory is hit.
    Memory(String),
}

/// Makes sessions of what runs say about themselves, which may be anything.
pub trait Sessions: Sync {
    /// Calls `work` with a session for a run; an error says why there is none.
    fn with(&self, description: &str, work: &mut dyn FnMut(&mut Session<'_>)) -> Result<(), NoSession>;
}

/// What came of an item here.
enum Outcome {
    /// Something to write down.
    Report(Box<Report>),
    /// The run is no more.
    Over,
    /// Nothing: the limit on memory was hit before anything was found.
    NoMemory,
}

/// How a worker works.
pub struct Duty<'a> {
    /// Makes sessions.
    pub sessions: &'a dyn Sessions,
    /// Number of threads.
    pub jobs: usize,
    /// Is told what happens, for people.
    pub told: &'a (dyn Fn(&str) + Sync),
}

/// An item as it comes.
#[derive(Clone)]
struct Delivery {
    name: String,
    generation: u64,
    id: Id,
    item: Vec<u8>,
    times: i64,
    acker: Arc<Acker>,
}

impl Delivery {
    fn of(message: Message) -> Option<Delivery> {
        let times = message.info().ok()?.delivered;
        let (message, acker) = message.split();
        let mut tokens = message.subject.as_str().strip_prefix("fencepost.work.")?.split('.');
        let (_, name, generation) = (tokens.next()?, tokens.next()?, tokens.next()?);
        let (id, item) = message.payload.split_at_checked(16)?;
        Some(Delivery {
            name: name.into(),
            generation: generation.parse().ok()?,
            id: id.try_into().ok()?,
            item: item.to_vec(),
            times,
            acker: Arc::new(acker),
        })
    }
}

impl Cluster {
    /// Works until it is interrupted.
    pub fn work(&self, duty: &Duty<'_>) {
        std::thread::scope(|scope| {
            for number in 0..duty.jobs.max(1) {
                let thread = std::thread::Builder::new().name(format!("worker {number}"));
                let started = thread.spawn_scoped(scope, move || self.work_alone(duty, number == 0));
                if started.is_err() {
                    (duty.told)("there is no memory for another thread");
                }
            }
        });
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Asks the server until it answers; nothing if the process is to end.
    pub(crate) fn insist<T, F>(&self, ask: impl Fn() -> F) -> Option<T>
    where
        F: Future<Output = Result<T, Unreachable>>,
    {
        self.runtime.block_on(async {
            let mut tries = 0;
            loop {
                match ask().await {
                    Ok(answer) => return Some(answer),
                    // Whoever is interrupted still tries for a while to say what it has found.
                    Err(_) if self.is_interrupted() && tries > 10 => return None,
                    Err(_) => tokio::time::sleep(AGAIN).await,
                }
                tries += 1;
            }
        })
    }

    fn work_alone(&self, duty: &Duty<'_>, looks_around: bool) {
        let streams = &self.streams;
        let Some(mut queue) = self.insist(|| streams.queue()) else { return };
        let (mut next, mut refused) = (None, BTreeSet::new());
        while !self.is_interrupted() {
            let Some(delivery) = next.take().or_else(|| self.take(&mut queue)) else {
                if looks_around {
                    self.look_around(duty, &mut refused);
                }
                continue;
            };
            let Some(found) = self.insist(|| streams.spec(&delivery.name)) else { return };
            // A run that was cancelled, or that has started over.
            let Some((spec, _)) = found.filter(|(spec, _)| spec.generation == delivery.generation) else {
                self.done(&delivery);
                continue;
            };
            let mut first = Some(delivery);
            let mut failed = None;
            let made = without_panic(|| {
                duty.sessions.with(&spec.description, &mut |session| {
                    failed = prepare(session, &spec).err();
                    if failed.is_none()
                        && let Some(first) = &first
                    {
                        next = self.serve_run(session, spec.clone(), first, &mut queue, duty);
                    }
                    if failed.is_none() {
                        first = None;
                    }
                })
            });
            let Some(delivery) = first else { continue };
            match (made.err(), failed) {
                (Some(NoSession::Memory(why)), _) => self.leave_to_others(&delivery, News::Lacks(why), duty),
                (Some(NoSession::Here(why)), _) | (None, Some(NoSession::Here(why))) => {
                    self.leave_to_others(&delivery, News::Cannot(why), duty);
                }
                (Some(NoSession::Run(why)), _)
                | (None, Some(NoSession::Run(why) | NoSession::Memory(why))) => {
                    (duty.told)(&format!("{}: {why}", delivery.name));
                    self.report(&delivery, &Report::Failed(why), &NO_BINDING, true);
                }
                (None, None) => self.done(&delivery),
            }
        }
        // What was taken and not begun is for others, at once.
        if let Some(delivery) = next {
            let _ = self.runtime.block_on(delivery.acker.ack_with(AckKind::Nak(None)));
        }
    }

    /// This worker cannot go on with an item: somebody else may. It is put into the queue anew, so that it does not seem to kill
    /// its workers.
    fn leave_to_others(&self, delivery: &Delivery, why: News, duty: &Duty<'_>) {
        if self.is_interrupted() {
            let _ = self.runtime.block_on(delivery.acker.ack_with(AckKind::Nak(None)));
            return;
        }
        let Delivery { name, generation, id, item, .. } = delivery;
        (duty.told)(&format!("{name}: an item is left to others: {}", why.text()));
        self.publish(name, news::encode(&who(), &why));
        if self.insist(|| self.streams.put_item(name, *generation, id, item, true)).is_some() {
            self.done(delivery);
        }
        let start = Instant::now();
        while start.elapsed() < REST && !self.is_interrupted() {
            std::thread::sleep(AGAIN);
        }
    }

    /// Items of one run, until one of another comes, or none for a while.
    fn serve_run(
        &self,
        session: &mut Session<'_>,
        mut spec: Spec,
        first: &Delivery,
        queue: &mut PullConsumer,
        duty: &Duty<'_>,
    ) -> Option<Delivery> {
        let (name, generation) = (first.name.clone(), first.generation);
        let (mut next, mut looks) = (Some(first.clone()), 0);
        let mut known = Instant::now();
        while !self.is_interrupted() && looks < LOOKS {
            let Some(delivery) = next.take().or_else(|| self.take(queue)) else {
                looks += 1;
                continue;
            };
            looks = 0;
            if (delivery.name.as_str(), delivery.generation) != (&name, generation) {
                return Some(delivery);
            }
            if known.elapsed() > STALE && !self.refresh(&name, &mut spec, &mut known) {
                self.done(&delivery);
                return None;
            }
            self.serve(session, &mut spec, &mut known, &delivery, queue, duty);
        }
        next
    }

    /// What a run is now; false if it is none any more.
    fn refresh(&self, name: &str, spec: &mut Spec, known: &mut Instant) -> bool {
        let Some(Some((new, _))) = self.insist(|| self.streams.spec(name)) else { return false };
        let same = new.generation == spec.generation;
        (*spec, *known) = (new, Instant::now());
        same
    }

    /// One item.
    fn serve(
        &self,
        session: &mut Session<'_>,
        spec: &mut Spec,
        known: &mut Instant,
        delivery: &Delivery,
        queue: &mut PullConsumer,
        duty: &Duty<'_>,
    ) {
        if delivery.times > 1 {
            let streams = &self.streams;
            let asked = || streams.result(&delivery.name, delivery.generation, &delivery.id);
            match self.insist(asked) {
                Some(None) => {}
                Some(Some(report)) => return self.repeat(delivery, &report, session, spec.alone),
                None => return,
            }
        }
        let report = match Handed::decode(&delivery.item, session.binding()) {
            Err(error) => Report::Failed(format!("an item cannot be read: {error}")),
            Ok(_) if delivery.times > MOST_DELIVERIES => Report::Failed(format!(
                "an item was given to {MOST_DELIVERIES} workers, and none of them came back with a result"
            )),
            Ok(handed) => {
                let alive = self.keep_alive(delivery);
                let outcome =
                    without_panic(|| Ok(self.explore(session, spec, known, delivery, handed, queue)));
                alive.abort();
                match outcome {
                    Ok(Outcome::Report(report)) => *report,
                    Ok(Outcome::Over) => return self.done(delivery),
                    Ok(Outcome::NoMemory) => {
                        return self.leave_to_others(delivery, short_of_memory(session), duty);
                    }
                    Err(NoSession::Run(why) | NoSession::Here(why) | NoSession::Memory(why)) => {
                        Report::Failed(why)
                    }
                }
            }
        };
        if let Report::Failed(why) = &report {
            (duty.told)(&format!("{}: {why}", delivery.name));
        }
        self.report(delivery, &report, session.binding(), spec.alone);
    }

    /// Explores an item, slice by slice.
    fn explore(
        &self,
        session: &mut Session<'_>,
        spec: &mut Spec,
        known: &mut Instant,
        delivery: &Delivery,
        mut handed: Handed,
        queue: &mut PullConsumer,
    ) -> Outcome {
        let begun = Instant::now();
        let options = *session.options();
        let limits = Limits { deadline: begun.checked_add(STUCK), ..options.limits };
        session.set_limits(&Options { limits, ..options });
        let mut slice = FIRST_SLICE;
        let mut whole: Option<Part> = None;
        let mut items = vec![handed.item.clone()];
        loop {
            let others = Others::with_error(spec.error.clone()).with_cells_of(&handed);
            let pause = Pause { at: Instant::now().checked_add(slice), nodes: None };
            let part = match session.explore(&items, &others, pause) {
                Ok(part) => part,
                Err(Broken::StartOver(need)) => return Outcome::Report(Box::new(Report::StartOver(need))),
                Err(Broken::Lost) => return Outcome::Report(Box::new(Report::Lost)),
            };
            self.publish(&delivery.name, news::encode(&who(), &News::Works));
            let part = match whole.take() {
                None => part,
                Some(mut before) => {
                    before.add(part);
                    before
                }
            };
            let part = whole.insert(part);
            match part.stopped {
                // The worker is told to stop: what is left is for others.
                Some(StopReason::Interrupted) => {
                    part.stopped = None;
                    break;
                }
                // Others may have more memory, and this one may have more with the next item.
                Some(StopReason::MaxMemory) => {
                    if part.rests == items {
                        return Outcome::NoMemory;
                    }
                    part.stopped = None;
                    break;
                }
                _ => {}
            }
            if part.stopped.is_some() || part.rests.is_empty() || begun.elapsed() > LONGEST_ITEM {
                break;
            }
            let wanted = if spec.alone { 0 } else { self.wanted(queue) };
            if wanted > 0 && split(session, part, wanted) {
                break;
            }
            if known.elapsed() > STALE && !self.refresh(&delivery.name, spec, known) {
                return Outcome::Over;
            }
            slice = (slice * 2).min(LONGEST_SLICE);
            items.clone_from(&part.rests);
            handed = part.hand(&handed.item, spec.alone);
        }
        whole.map_or(Outcome::Over, |part| Outcome::Report(Box::new(Report::Part(part))))
    }

    /// How many workers wait for work that there is not.
    fn wanted(&self, queue: &mut PullConsumer) -> usize {
        let info = self.runtime.block_on(queue.info());
        let waiting = info.map(|info| (info.num_waiting as u64).saturating_sub(info.num_pending));
        waiting.map_or(0, |waiting| (waiting as usize).min(MOST_PARTS))
    }

    /// The next item, if one comes soon.
    fn take(&self, queue: &mut PullConsumer) -> Option<Delivery> {
        let fetched = self.runtime.block_on(async {
            let fetch = queue.fetch().max_messages(1).expires(PATIENCE);
            let mut batch = fetch.messages().await.ok()?;
            let waited = tokio::time::timeout(PATIENCE * 2, batch.next()).await.ok()??;
            waited.ok()
        });
        if fetched.is_none() && !self.is_connected() {
            std::thread::sleep(AGAIN);
        }
        let message = fetched?;
        let acker = |message: Message| message.split().1;
        match Delivery::of(message.clone()) {
            Some(delivery) => Some(delivery),
            None => {
                // It is no item at all, and nobody else will make one of it.
                let _ = self.runtime.block_on(acker(message).ack_with(AckKind::Term));
                None
            }
        }
    }

    fn is_connected(&self) -> bool {
        self.client.connection_state() == async_nats::connection::State::Connected
    }

    /// Says from time to time that the item is being worked on.
    fn keep_alive(&self, delivery: &Delivery) -> tokio::task::JoinHandle<()> {
        let acker = delivery.acker.clone();
        self.runtime.spawn(async move {
            loop {
                tokio::time::sleep(SILENCE / 4).await;
                let _ = acker.ack_with(AckKind::Progress).await;
            }
        })
    }

    /// Says what came of an item, puts what is left into the queue, and is done with it.
    fn report(&self, delivery: &Delivery, report: &Report, binding: &Binding, alone: bool) {
        let Delivery { name, generation, id, .. } = delivery;
        let mut bytes = report.encode(binding);
        let most = self.client.server_info().max_payload.saturating_sub(1024);
        if bytes.len() > most {
            let why = format!("what came of an item has {} bytes, and the server takes {most}", bytes.len());
            bytes = Report::Failed(why).encode(binding);
        }
        let streams = &self.streams;
        let written = self.insist(|| streams.set_result(name, *generation, id, bytes.clone()));
        let counted = match written {
            Some(Written::Now) => Some(bytes),
            // Somebody was faster, or the answer to an earlier try was lost: that result counts.
            Some(Written::Before) => self.insist(|| streams.result(name, *generation, id)).flatten(),
            None => return,
        };
        if let Some(counted) = counted {
            self.put_rests(delivery, &counted, binding, alone);
        }
        self.done(delivery);
    }

    /// An item that has a result already: what came of it may not be in the queue yet.
    fn repeat(&self, delivery: &Delivery, report: &[u8], session: &Session<'_>, alone: bool) {
        self.put_rests(delivery, report, session.binding(), alone);
        self.done(delivery);
    }

    fn put_rests(&self, delivery: &Delivery, report: &[u8], binding: &Binding, alone: bool) {
        let Delivery { name, generation, id, .. } = delivery;
        if let Ok(Report::Part(part)) = Report::decode(report, binding) {
            let streams = &self.streams;
            self.insist(|| streams.put_rests(name, *generation, id, &part, binding, alone));
        }
    }

    fn done(&self, delivery: &Delivery) {
        // If that is lost, the item comes again, and has a result.
        let _ = self.runtime.block_on(delivery.acker.ack());
    }

    /// Tells whoever watches the run something.
    fn publish(&self, name: &str, text: String) {
        let _ = self.runtime.block_on(self.client.publish(news::subject(name), text.into()));
    }

    /// Runs that are not for this worker.
    fn look_around(&self, duty: &Duty<'_>, refused: &mut BTreeSet<String>) {
        let Ok(listed) = self.runtime.block_on(self.streams.list()) else { return };
        for run in listed.iter().filter(|run| !run.is_ours()) {
            let (name, build) = (&run.name, &run.build);
            // Whoever asked may come later than the worker.
            self.publish(name, news::refusal(&who()));
            if refused.insert(name.clone()) {
                (duty.told)(&match run.is_unreadable() {
                    true => format!("{name}: refused: what it is cannot be read"),
                    false => format!("{name}: refused: it is for the build {build}, and this is {BUILD}"),
                });
            }
        }
    }

    /// All runs of the server. The error is a whole message.
    pub fn runs(&self) -> Result<Vec<crate::Listed>, String> {
        self.runtime.block_on(self.streams.list()).map_err(|error| format!("error: {error}"))
    }

    /// Removes a run; false if there is none of that name.
    pub fn cancel(&self, name: &str) -> Result<bool, String> {
        let removed = async {
            let there = self.streams.spec(name).await?.is_some();
            self.streams.remove(name).await.map(|()| there)
        };
        self.runtime.block_on(removed).map_err(|error| format!("error: {error}"))
    }
}

/// Takes parts off what is left for others; false if there is nothing to take.
fn split(session: &Session<'_>, part: &mut Part, wanted: usize) -> bool {
    let mut rests = Vec::new();
    let mut taken = false;
    for rest in &part.rests {
        match session.split(rest, wanted) {
            Ok((rest, parts)) => {
                taken |= !parts.is_empty();
                rests.push(rest);
                rests.extend(parts);
            }
            Err(_) => rests.push(rest.clone()),
        }
    }
    part.rests = rests;
    taken
}

/// Makes the session that of the run, or says why not.
fn prepare(session: &mut Session<'_>, spec: &Spec) -> Result<(), NoSession> {
    if hex(session.run_binding()) != spec.binding {
        // The explorer is the same: the front end is another one, or the run is not what it says.
        return Err(NoSession::Here("what is made of its sources here is another program".into()));
    }
    let unreadable =
        |error: DecodeError| NoSession::Run(format!("the needs of the run cannot be read: {error}"));
    let needs = unhex(&spec.needs).ok_or(DecodeError::Value).map_err(unreadable)?;
    session.set_reasons(&needs).map_err(unreadable)
}

/// What failures of a run are bound to, if there is no session.
pub(crate) const NO_BINDING: Binding = [0; 16];

/// This thread of this worker.
fn who() -> String {
    let thread: String =
        format!("{:?}", std::thread::current().id()).chars().filter(char::is_ascii_digit).collect();
    format!("{}-{thread}", std::process::id())
}

/// What its user can do about an item that does not fit.
fn short_of_memory(session: &Session<'_>) -> News {
    let bytes = session.options().limits.max_bytes.unwrap_or_default();
    News::Lacks(format!("it does not fit into --max-memory {}", bytes / 1_000_000))
}

/// A panic is a bug of ours, and the end of the run that shows it, but not of the worker, which has others.
fn without_panic<T>(work: impl FnOnce() -> Result<T, NoSession>) -> Result<T, NoSession> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(NoSession::Run(format!("internal error of a worker: {text}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        let caught = without_panic(|| -> Result<(), NoSession> { panic!("number {}", 7) });
        assert!(matches!(caught, Err(NoSession::Run(why)) if why == "internal error of a worker: number 7"));
    }
}
