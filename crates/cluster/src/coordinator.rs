//! Whoever asks: puts a run into the streams, and adds up what comes back.
//!
//! It holds nothing that is not in the streams: it may end at any time, and be started again, on any machine.

use crate::connect::Cluster;
use crate::news::{self, News};
use crate::spec::{Id, Spec, child, hex, root, unhex};
use crate::streams::Written;
use crate::worker::NO_BINDING;
use async_nats::Subscriber;
use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::{Ordered, OrderedConfig};
use fencepost_explore::{
    BUILD, Broken, DecodeError, Found, Item, Ledger, Others, Part, Pause, Report, Session, StartOver, Stats,
    StopReason,
};
use futures_util::StreamExt;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long to wait for a result before looking around.
const TURN: Duration = Duration::from_millis(100);
/// How often to look whether the run is still there.
const LOOK: Duration = Duration::from_secs(2);
/// Without a result for so long, it is seen whether the queue has lost something.
const QUIET: Duration = Duration::from_secs(15);
/// A worker that was not heard of for so long is gone.
const GONE: Duration = Duration::from_secs(4);

/// So often in a row workers may say that they lack the memory for what is left.
const MOST_LACKS: usize = 12;
/// Most different things that workers tell.
const MOST_NOTES: usize = 20;

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
    /// How often it has started over.
    pub restarts: u64,
    /// What workers say why they do not work on it.
    pub notes: BTreeSet<String>,
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
    /// No worker that is there can go on with it, with a message: it is left as it is.
    Stuck(String),
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

/// What workers have told.
#[derive(Default)]
struct Heard {
    news: Option<Subscriber>,
    workers: BTreeMap<String, Instant>,
    notes: BTreeSet<String>,
    /// How often some worker has said that it cannot go on, since the last result; and why, if not for its memory.
    lacks: usize,
    stuck: Option<String>,
}

impl Heard {
    async fn listen(&mut self) {
        while let Some(news) = &mut self.news
            && let Ok(Some(message)) = tokio::time::timeout(Duration::ZERO, news.next()).await
        {
            let note = match news::decode(&message.payload) {
                Some((who, News::Works)) if self.workers.len() < 100_000 => {
                    self.workers.insert(who, Instant::now());
                    continue;
                }
                Some((_, News::Refuses(build))) => {
                    format!("a worker refuses the run: it is of the build {build}, and this is {BUILD}")
                }
                Some((_, news @ (News::Cannot(_) | News::Lacks(_)))) => {
                    self.lacks += 1;
                    self.stuck = matches!(news, News::Cannot(_)).then(|| news.text().to_string());
                    format!("a worker leaves an item to others: {}", news.text())
                }
                _ => continue,
            };
            if self.notes.len() < MOST_NOTES {
                self.notes.insert(note);
            }
        }
        self.workers.retain(|_, heard| heard.elapsed() < GONE);
    }
}

/// What follows from a result.
enum Next {
    GoOn,
    End(Ended),
    StartOver(Over),
}

/// Why a run starts over.
enum Over {
    /// There was too little room.
    StartOver(StartOver),
    /// Workers have decided otherwise where cells are: one at a time does not.
    Alone,
}

impl Cluster {
    /// Explores on the cluster: what was found, and how it ended. The error is a whole message.
    pub fn coordinate(
        &self,
        session: &mut Session<'_>,
        asked: &mut Asked<'_>,
    ) -> Result<(Found, Ended, Status), String> {
        let mut over = None;
        // Workers may be faster than whoever asks.
        let mut heard = Heard { news: self.listen(asked.name), ..Heard::default() };
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
            let next = self.runtime.block_on(self.gather(session, asked, &mut attempt, &mut heard));
            let ended = match next {
                Next::StartOver(need) => {
                    over = Some((attempt, need));
                    continue;
                }
                Next::End(ended) => ended,
                Next::GoOn => Ended::Failed("the results end".into()),
            };
            // Who is interrupted leaves the run to itself, and others that can go on with it may yet come.
            let stays = matches!(
                ended,
                Ended::Limit(StopReason::Interrupted | StopReason::MaxMemory) | Ended::Stuck(_)
            );
            if !stays {
                let streams = &self.streams;
                self.insist(|| streams.remove(asked.name));
            }
            let status = attempt.status(&Heard::default());
            return Ok((attempt.ledger.found(), ended, status));
        }
    }

    /// Finds the run, or begins it; again with more room, if there was too little. `Err`: it was over at once.
    fn attach(
        &self,
        session: &mut Session<'_>,
        asked: &Asked<'_>,
        over: Option<(Attempt, Over)>,
    ) -> Result<Result<Attempt, Part>, String> {
        let name = asked.name;
        let lost = || "error: the server cannot be reached".to_string();
        let started_over = over.is_some();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (mut generation, mut restarts) = (now.as_nanos() as u64, 0);
        let (mut alone, mut after) = (false, 0);
        if let Some((attempt, need)) = over {
            (alone, after) = (attempt.spec.alone, attempt.written);
            (generation, restarts) = (attempt.spec.generation + 1, attempt.spec.restarts + 1);
            match need {
                // Which need is met first is a matter of luck with several workers, and so would be where cells are.
                Over::Alone | Over::StartOver(StartOver::Mixed { .. }) if !alone => alone = true,
                Over::Alone => return Err("internal error: one worker at a time contradicts itself".into()),
                Over::StartOver(need) => {
                    session.heed(need).map_err(|unsupported| format!("error: {}", unsupported.what))?
                }
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
            let spec = Spec {
                build: BUILD.into(),
                binding: hex(session.run_binding()),
                generation,
                restarts,
                alone,
                needs: hex(&session.reasons()),
                error: None,
                began: now.as_secs(),
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
            self.insist(|| streams.put_rests(name, generation, &id, &part, binding, alone))
                .ok_or_else(lost)?;
        }
    }

    /// Takes results until the run is complete, or ends otherwise.
    async fn gather(
        &self,
        session: &Session<'_>,
        asked: &mut Asked<'_>,
        attempt: &mut Attempt,
        heard: &mut Heard,
    ) -> Next {
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
                        Next::GoOn => (last, heard.lacks) = (Instant::now(), 0),
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
            heard.listen().await;
            (asked.told)(&attempt.status(heard));
            if heard.lacks >= MOST_LACKS && last.elapsed() > QUIET {
                let lacks = Ended::Limit(StopReason::MaxMemory);
                return Next::End(heard.stuck.take().map_or(lacks, Ended::Stuck));
            }
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

    fn listen(&self, name: &str) -> Option<Subscriber> {
        self.runtime.block_on(async {
            let news = self.client.subscribe(news::subject(name)).await.ok()?;
            self.client.flush().await.ok().map(|()| news)
        })
    }

    pub(crate) async fn results_of(&self, name: &str, generation: u64) -> Option<Ordered> {
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
            let bytes = attempt.ledger.hand(item, attempt.spec.alone).encode(session.binding());
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
    let needs = unhex(&spec.needs).ok_or(DecodeError::Value).and_then(|needs| session.set_reasons(&needs));
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
            Err(Broken::StartOver(need)) => {
                session.heed(need).map_err(|unsupported| format!("error: {}", unsupported.what))?;
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

    fn status(&self, heard: &Heard) -> Status {
        Status {
            stats: self.ledger.stats(),
            workers: heard.workers.len(),
            items: (self.results, self.open.len()),
            bytes: self.bytes,
            restarts: self.spec.restarts,
            notes: heard.notes.clone(),
        }
    }

    /// A result comes in.
    fn take(&mut self, session: &Session<'_>, id: Id, bytes: &[u8]) -> Next {
        // Known already, or of an item that nobody named.
        let Some(item) = self.open.get(&id).cloned() else { return Next::GoOn };
        let fail = |why: String| Next::End(Ended::Failed(why));
        let report = match Report::decode(bytes, session.binding()) {
            Ok(report) => report,
            Err(error) => match Report::decode(bytes, &NO_BINDING) {
                Ok(Report::Failed(why)) => return fail(why),
                _ => return fail(format!("a result cannot be read: {error}")),
            },
        };
        let part = match report {
            Report::Part(part) => part,
            Report::StartOver(need) => return Next::StartOver(Over::StartOver(need)),
            Report::Failed(why) => return fail(why),
            Report::Lost if self.spec.alone => return fail(Broken::Lost.to_string()),
            Report::Lost => return Next::StartOver(Over::Alone),
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
        if self.ledger.contradicts() {
            return Next::StartOver(Over::Alone);
        }
        self.ledger.need().map_or(Next::GoOn, |need| Next::StartOver(Over::StartOver(need)))
    }
}
