//! Whoever asks: puts a run into the streams, and adds up what comes back.
//!
//! It holds nothing that is not in the streams: it may end at any time, and be started again, on any machine.

use crate::connect::Cluster;
use crate::spec::{Id, Spec, child, hex, root, unhex};
use crate::streams::Written;
use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::{Ordered, OrderedConfig};
use fencepost_explore::{
    BUILD, Broken, DecodeError, Found, Item, Ledger, Need, Others, Part, Pause, Report, Session, Stats,
    StopReason,
};
use futures_util::StreamExt;
use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long to wait for a result before looking around.
const TURN: Duration = Duration::from_millis(100);
/// How often to look whether the run is still there.
const LOOK: Duration = Duration::from_secs(2);
/// Without a result for so long, it is seen whether the queue has lost something.
const QUIET: Duration = Duration::from_secs(15);
/// A worker that was not heard of for so long is gone.
const GONE: Duration = Duration::from_secs(4);

/// What is asked.
pub struct Asked<'a> {
    /// The name of the run.
    pub name: &'a str,
    /// What workers make a session of.
    pub description: &'a str,
    /// How long to explore here before anything is given away.
    pub first: Duration,
    /// When to give up.
    pub deadline: Option<Instant>,
    /// Is told how far it is.
    pub told: &'a mut dyn FnMut(&Status),
}

/// How far a run is.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// What was found so far.
    pub stats: Stats,
    /// Workers that were heard of lately.
    pub workers: usize,
    /// Items that have a result, and that have none yet.
    pub items: (usize, usize),
    /// Bytes of all results.
    pub bytes: u64,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub enum Ended {
    /// All is explored.
    Complete,
    /// A limit was hit.
    Limit(StopReason),
    /// Somebody removed it.
    Cancelled,
    /// It cannot be explored, with a message.
    Failed(String),
}

/// One attempt at a run: with the room that there is.
struct Attempt {
    spec: Spec,
    /// The number under which the spec was written.
    written: u64,
    ledger: Ledger,
    /// Items without a result.
    open: BTreeMap<Id, Item>,
    results: usize,
    bytes: u64,
}

/// What follows from a result.
enum Next {
    GoOn,
    End(Ended),
    StartOver(Need),
}

impl Cluster {
    /// Explores on the cluster: what was found, and how it ended. The error is a whole message.
    pub fn coordinate(
        &self,
        session: &mut Session<'_>,
        asked: &mut Asked<'_>,
    ) -> Result<(Found, Ended, Status), String> {
        let mut over = None;
        loop {
            let mut attempt = match self.attach(session, asked, over.take())? {
                Ok(attempt) => attempt,
                // It was done before anything was given away.
                Err(part) => {
                    let mut ledger = Ledger::default();
                    ledger.add(&[Item::whole()], part);
                    return Ok((ledger.found(), Ended::Complete, Status::default()));
                }
            };
            let next = self.runtime.block_on(self.gather(session, asked, &mut attempt));
            let ended = match next {
                Next::StartOver(need) => {
                    over = Some((attempt, need));
                    continue;
                }
                Next::End(ended) => ended,
                Next::GoOn => Ended::Failed("the results end".into()),
            };
            // Who is interrupted leaves the run to itself.
            if !matches!(ended, Ended::Limit(StopReason::Interrupted)) {
                let streams = &self.streams;
                self.insist(|| streams.remove(asked.name));
            }
            let status = attempt.status(0);
            return Ok((attempt.ledger.found(), ended, status));
        }
    }

    /// Finds the run, or begins it; again with more room, if there was too little. `Err`: it was over at once.
    fn attach(
        &self,
        session: &mut Session<'_>,
        asked: &Asked<'_>,
        over: Option<(Attempt, Need)>,
    ) -> Result<Result<Attempt, Part>, String> {
        let name = asked.name;
        let lost = || "error: the server cannot be reached".to_string();
        let started_over = over.is_some();
        let (mut alone, mut generation, mut after) = (false, 0, 0);
        if let Some((attempt, need)) = over {
            (alone, generation, after) = (attempt.spec.alone, attempt.spec.generation + 1, attempt.written);
            match need {
                // Which need is met first is a matter of luck with several workers, and so would be where cells are.
                Need::Mixed { .. } if !alone => alone = true,
                need => session.meet(need).map_err(|unsupported| format!("error: {}", unsupported.what))?,
            }
        }
        loop {
            let found = self.insist(|| self.streams.spec(name)).ok_or_else(lost)?;
            if let Some((spec, written)) = found {
                if !started_over || spec.generation >= generation {
                    check(session, &spec, name)?;
                    return Ok(Ok(Attempt::new(spec, written, session)));
                }
                after = written;
            }
            let part = begin(session, asked, alone)?;
            if part.rests.is_empty() && part.stopped.is_none() {
                if started_over {
                    self.insist(|| self.streams.remove(name));
                }
                return Ok(Err(part));
            }
            let began = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
            let spec = Spec {
                build: BUILD.into(),
                binding: hex(session.run_binding()),
                generation,
                alone,
                needs: hex(&session.needs()),
                error: None,
                began,
                description: asked.description.into(),
            };
            let most = self.client.server_info().max_payload.saturating_sub(1024);
            if spec.description.len() + 2 * spec.needs.len() > most {
                return Err(format!(
                    "error: the program is larger than what the server takes in one message ({most} bytes)\n  raise \
                     `max_payload` in its configuration"
                ));
            }
            self.insist(|| self.streams.clear(name)).ok_or_else(lost)?;
            // If somebody else begins the run at this moment, this is his run.
            let written = self.insist(|| self.streams.set_spec(name, &spec, after)).ok_or_else(lost)?;
            if written == Written::Before {
                continue;
            }
            let (id, binding) = (root(session.binding()), session.binding());
            let report = Report::Part(part.clone()).encode(binding);
            let streams = &self.streams;
            self.insist(|| streams.set_result(name, generation, &id, report.clone())).ok_or_else(lost)?;
            self.insist(|| streams.put_rests(name, generation, &id, &part, binding)).ok_or_else(lost)?;
        }
    }

    /// Takes results until the run is complete, or ends otherwise.
    async fn gather(&self, session: &Session<'_>, asked: &mut Asked<'_>, attempt: &mut Attempt) -> Next {
        let status = format!("fencepost.status.{}", asked.name);
        let mut heard = self.client.subscribe(status).await.ok();
        let mut workers: BTreeMap<String, Instant> = BTreeMap::new();
        let (mut looked, mut last) = (Instant::now(), Instant::now());
        let mut results = None;
        loop {
            if results.is_none() {
                results = self.results_of(asked.name, attempt.spec.generation).await;
            }
            let next = match &mut results {
                Some(stream) => tokio::time::timeout(TURN, stream.next()).await,
                None => {
                    tokio::time::sleep(TURN).await;
                    Ok(None)
                }
            };
            match next {
                Ok(Some(Ok(message))) => {
                    let id = message.subject.as_str().rsplit('.').next().and_then(unhex);
                    let Some(id) = id.and_then(|id| Id::try_from(id).ok()) else { continue };
                    match attempt.take(session, id, &message.payload) {
                        Next::GoOn => last = Instant::now(),
                        other => return other,
                    }
                    self.note_error(asked.name, attempt).await;
                }
                // The server was away: all results are read again, and each counts once.
                Ok(Some(Err(_)) | None) => results = None,
                Err(_) => {}
            }
            if attempt.open.is_empty() {
                return Next::End(Ended::Complete);
            }
            while let Some(heard) = &mut heard
                && let Ok(Some(message)) = tokio::time::timeout(Duration::ZERO, heard.next()).await
            {
                let text = String::from_utf8_lossy(&message.payload);
                let who = text.split_once(' ').map(|(_, who)| who.to_string()).unwrap_or_default();
                if workers.len() < 100_000 {
                    workers.insert(who, Instant::now());
                }
            }
            workers.retain(|_, heard| heard.elapsed() < GONE);
            (asked.told)(&attempt.status(workers.len()));
            if self.is_interrupted() {
                return Next::End(Ended::Limit(StopReason::Interrupted));
            }
            if asked.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Next::End(Ended::Limit(StopReason::Timeout));
            }
            if looked.elapsed() > LOOK {
                looked = Instant::now();
                if let Ok(None) = self.streams.spec(asked.name).await {
                    return Next::End(Ended::Cancelled);
                }
                if last.elapsed() > QUIET && self.is_queue_empty().await {
                    last = Instant::now();
                    self.put_again(asked.name, session, attempt).await;
                }
            }
        }
    }

    async fn results_of(&self, name: &str, generation: u64) -> Option<Ordered> {
        let config = OrderedConfig {
            filter_subject: format!("fencepost.result.{name}.{generation}.*"),
            deliver_policy: DeliverPolicy::All,
            ..OrderedConfig::default()
        };
        self.streams.results.create_consumer(config).await.ok()?.messages().await.ok()
    }

    /// The first error ends the search behind it: workers are told.
    async fn note_error(&self, name: &str, attempt: &mut Attempt) {
        let error = attempt.ledger.error().cloned();
        if error.is_none() || error == attempt.spec.error {
            return;
        }
        let spec = Spec { error: error.clone(), ..attempt.spec.clone() };
        if let Ok(Some((_, written))) = self.streams.spec(name).await
            && let Ok(Written::Now) = self.streams.set_spec(name, &spec, written).await
        {
            attempt.spec = spec;
            if let Ok(Some((_, written))) = self.streams.spec(name).await {
                attempt.written = written;
            }
        }
    }

    /// Whether nothing waits and nobody works.
    async fn is_queue_empty(&self) -> bool {
        let Ok(mut queue) = self.streams.queue().await else { return false };
        queue.info().await.is_ok_and(|info| info.num_pending == 0 && info.num_ack_pending == 0)
    }

    /// Items that the server has lost.
    async fn put_again(&self, name: &str, session: &Session<'_>, attempt: &Attempt) {
        for (id, item) in &attempt.open {
            let bytes = item.encode(session.binding());
            let _ = self.streams.put_item(name, attempt.spec.generation, id, &bytes, true).await;
        }
    }
}

/// Whether a run that is there is the one that is asked for.
fn check(session: &mut Session<'_>, spec: &Spec, name: &str) -> Result<(), String> {
    if spec.build != BUILD {
        return Err(format!(
            "error: the run {name} is there, and is for the build {}; this is {BUILD}\n  cancel it, or give this one \
             another name with --run",
            spec.build
        ));
    }
    if spec.binding != hex(session.run_binding()) {
        return Err(format!(
            "error: the run {name} is there, and is about another program, model or options\n  cancel it, or give this \
             one another name with --run"
        ));
    }
    let needs = unhex(&spec.needs).ok_or(DecodeError::Value).and_then(|needs| session.set_needs(&needs));
    needs.map_err(|error| format!("error: the run {name} cannot be read: {error}"))
}

/// Explores for a moment: what needs room shows early, and what is small is done.
fn begin(session: &mut Session<'_>, asked: &Asked<'_>, alone: bool) -> Result<Part, String> {
    loop {
        let pause = Pause { at: Instant::now().checked_add(asked.first), nodes: None };
        match session.explore(&[Item::whole()], &Others::default(), pause) {
            Ok(mut part) => {
                if let [rest] = part.rests.as_slice()
                    && !alone
                    && let Ok((rest, parts)) = session.split(rest, 4)
                {
                    part.rests = [vec![rest], parts].concat();
                }
                return Ok(part);
            }
            Err(Broken::Need(need)) => {
                session.meet(need).map_err(|unsupported| format!("error: {}", unsupported.what))?;
            }
            Err(Broken::Lost) => return Err(format!("internal error: {}", Broken::Lost)),
        }
    }
}

impl Attempt {
    fn new(spec: Spec, written: u64, session: &Session<'_>) -> Attempt {
        let open = BTreeMap::from([(root(session.binding()), Item::whole())]);
        Attempt { spec, written, ledger: Ledger::default(), open, results: 0, bytes: 0 }
    }

    fn status(&self, workers: usize) -> Status {
        Status {
            stats: self.ledger.stats(),
            workers,
            items: (self.results, self.open.len()),
            bytes: self.bytes,
        }
    }

    /// A result comes in.
    fn take(&mut self, session: &Session<'_>, id: Id, bytes: &[u8]) -> Next {
        // Known already, or of an item that nobody named.
        let Some(item) = self.open.get(&id).cloned() else { return Next::GoOn };
        let fail = |why: String| Next::End(Ended::Failed(why));
        let report = match Report::decode(bytes, session.binding()) {
            Ok(report) => report,
            Err(error) => match Report::decode(bytes, &[0; 16]) {
                Ok(Report::Failed(why)) => return fail(why),
                _ => return fail(format!("a result cannot be read: {error}")),
            },
        };
        let part = match report {
            Report::Part(part) => part,
            Report::Need(need) => return Next::StartOver(need),
            Report::Failed(why) => return fail(why),
        };
        self.open.remove(&id);
        self.results += 1;
        self.bytes += bytes.len() as u64;
        if let Some(limit) = part.stopped {
            self.ledger.add(&[item], part);
            return Next::End(Ended::Limit(limit));
        }
        for (index, rest) in part.rests.iter().enumerate() {
            self.open.insert(child(&id, index), rest.clone());
        }
        self.ledger.add(&[item], part);
        if let Some(error) = self.ledger.error() {
            self.open.retain(|_, item| item.path() <= error.as_slice());
        }
        self.ledger.need().map_or(Next::GoOn, Next::StartOver)
    }
}
