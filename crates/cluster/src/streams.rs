//! The streams, and what is put into them and taken out.

use crate::spec::{Id, Listed, Spec, build_token, child, hex};
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::context::{Context, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, LastRawMessageErrorKind, RetentionPolicy, StorageType, Stream};
use fencepost_explore::{Binding, Part};
use futures_util::TryStreamExt;
use std::time::Duration;

/// How long a worker may be silent before its item is given to another.
pub(crate) const SILENCE: Duration = Duration::from_secs(6);

/// How long the server remembers names of items that were put into the queue.
const REMEMBERED: Duration = Duration::from_secs(600);

/// The streams of a server.
#[derive(Clone)]
pub(crate) struct Streams {
    pub context: Context,
    pub runs: Stream,
    pub work: Stream,
    pub results: Stream,
}

/// An error of the server, or on the way to it: it may help to try again.
pub(crate) type Unreachable = String;

fn unreachable(error: impl std::fmt::Display) -> Unreachable {
    error.to_string()
}

/// Opens the streams, and makes them if they are not there.
pub(crate) async fn open(context: Context) -> Result<Streams, Unreachable> {
    let common = Config { storage: StorageType::File, allow_direct: true, ..Config::default() };
    let runs = Config {
        name: "FENCEPOST_RUNS".into(),
        subjects: vec!["fencepost.run.*".into()],
        max_messages_per_subject: 1,
        ..common.clone()
    };
    let work = Config {
        name: "FENCEPOST_WORK".into(),
        subjects: vec!["fencepost.work.>".into()],
        retention: RetentionPolicy::WorkQueue,
        duplicate_window: REMEMBERED,
        ..common.clone()
    };
    let results =
        Config { name: "FENCEPOST_RESULTS".into(), subjects: vec!["fencepost.result.>".into()], ..common };
    let runs = context.get_or_create_stream(runs).await.map_err(unreachable)?;
    let work = context.get_or_create_stream(work).await.map_err(unreachable)?;
    let results = context.get_or_create_stream(results).await.map_err(unreachable)?;
    Ok(Streams { context, runs, work, results })
}

/// Whether something was written that may be written once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// It was.
    Now,
    /// Something was there.
    Before,
}

impl Streams {
    /// The queue for workers of this build.
    pub async fn queue(&self) -> Result<PullConsumer, Unreachable> {
        let name = format!("workers-{}", build_token());
        let config = pull::Config {
            durable_name: Some(name.clone()),
            filter_subject: format!("fencepost.work.{}.>", build_token()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: SILENCE,
            max_ack_pending: 100_000,
            max_waiting: 100_000,
            ..pull::Config::default()
        };
        self.work.get_or_create_consumer(&name, config).await.map_err(unreachable)
    }

    /// What a run is, and the number under which that was written; nothing if there is no such run.
    pub async fn spec(&self, name: &str) -> Result<Option<(Spec, u64)>, Unreachable> {
        let subject = format!("fencepost.run.{name}");
        match self.runs.get_last_raw_message_by_subject(&subject).await {
            Ok(message) => {
                // Asking again would not help.
                let spec = serde_json::from_slice(&message.payload).unwrap_or_else(|_| Spec::unreadable());
                Ok(Some((spec, message.sequence)))
            }
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(unreachable(error)),
        }
    }

    /// Says what a run is, if what was said last has that number (0: nothing was).
    pub async fn set_spec(&self, name: &str, spec: &Spec, after: u64) -> Result<Written, Unreachable> {
        let text = serde_json::to_vec(spec).map_err(unreachable)?;
        let message = PublishMessage::build().payload(text.into()).expected_last_subject_sequence(after);
        self.put(format!("fencepost.run.{name}"), message).await
    }

    async fn put(&self, subject: String, message: PublishMessage) -> Result<Written, Unreachable> {
        let sent = self.context.send_publish(subject, message).await;
        let stored = match sent {
            Ok(stored) => stored.await,
            Err(error) => Err(error),
        };
        match stored {
            Ok(_) => Ok(Written::Now),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => Ok(Written::Before),
            Err(error) => Err(unreachable(error)),
        }
    }

    fn result_subject(name: &str, generation: u64, id: &Id) -> String {
        format!("fencepost.result.{name}.{generation}.{}", hex(id))
    }

    /// What came of an item, if anything did.
    pub async fn result(&self, name: &str, generation: u64, id: &Id) -> Result<Option<Vec<u8>>, Unreachable> {
        let subject = Self::result_subject(name, generation, id);
        match self.results.get_last_raw_message_by_subject(&subject).await {
            Ok(message) => Ok(Some(message.payload.to_vec())),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(unreachable(error)),
        }
    }

    /// Says what came of an item, unless somebody has.
    pub async fn set_result(
        &self,
        name: &str,
        generation: u64,
        id: &Id,
        report: Vec<u8>,
    ) -> Result<Written, Unreachable> {
        let subject = Self::result_subject(name, generation, id);
        let message = PublishMessage::build().payload(report.into()).expected_last_subject_sequence(0);
        self.put(subject, message).await
    }

    /// Puts an item into the queue. Twice is once, as long as the server remembers.
    pub async fn put_item(
        &self,
        name: &str,
        generation: u64,
        id: &Id,
        item: &[u8],
        again: bool,
    ) -> Result<(), Unreachable> {
        let subject = format!("fencepost.work.{}.{name}.{generation}", build_token());
        let payload = [&id[..], item].concat();
        let mut message = PublishMessage::build().payload(payload.into());
        if !again {
            message = message.message_id(format!("{name}.{generation}.{}", hex(id)));
        }
        self.put(subject, message).await.map(|_| ())
    }

    /// Puts what is left of an item into the queue.
    pub async fn put_rests(
        &self,
        name: &str,
        generation: u64,
        parent: &Id,
        part: &Part,
        binding: &Binding,
        alone: bool,
    ) -> Result<(), Unreachable> {
        for (index, item) in part.rests.iter().enumerate() {
            let id = child(parent, index);
            let bytes = part.hand(item, alone).encode(binding);
            self.put_item(name, generation, &id, &bytes, false).await?;
        }
        Ok(())
    }

    /// Forgets the items and results of a run.
    pub async fn clear(&self, name: &str) -> Result<(), Unreachable> {
        let work = format!("fencepost.work.*.{name}.*");
        let results = format!("fencepost.result.{name}.>");
        self.work.purge().filter(work).await.map_err(unreachable)?;
        self.results.purge().filter(results).await.map_err(unreachable)?;
        Ok(())
    }

    /// Forgets a run.
    pub async fn remove(&self, name: &str) -> Result<(), Unreachable> {
        let run = format!("fencepost.run.{name}");
        self.runs.purge().filter(run).await.map_err(unreachable)?;
        self.clear(name).await
    }

    /// All runs.
    pub async fn list(&self) -> Result<Vec<Listed>, Unreachable> {
        let found = self.runs.info_with_subjects("fencepost.run.*").await.map_err(unreachable)?;
        let subjects: Vec<(String, usize)> = found.try_collect().await.map_err(unreachable)?;
        let mut listed = Vec::new();
        for (subject, _) in subjects {
            let Some(name) = subject.strip_prefix("fencepost.run.") else { continue };
            let Some((spec, _)) = self.spec(name).await? else { continue };
            let filter = format!("fencepost.result.{name}.>");
            let results = self.results.info_with_subjects(filter).await.map_err(unreachable)?;
            let results: Vec<(String, usize)> = results.try_collect().await.map_err(unreachable)?;
            listed.push(Listed {
                name: name.into(),
                build: spec.build,
                results: results.len() as u64,
                began: spec.began,
            });
        }
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(listed)
    }
}
