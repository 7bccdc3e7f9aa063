//! What single things cost on a cluster, measured: `docs/CLUSTER.md` reckons with them.

use crate::connect::Cluster;
use crate::spec::{Id, child};
use crate::streams::Unreachable;
use fencepost_explore::{Found, Item, Ledger, Part};
use futures_util::StreamExt;
use std::time::{Duration, Instant};

/// A name that no run has: it is no name of one.
const NAME: &str = "~measured";

/// Bytes of an item and of a result, as explorations have them.
const BYTES: usize = 90;

/// Round trips that are measured.
const TRIPS: usize = 200;

/// Results that are read back.
const RESULTS: usize = 20_000;

/// Tasks that ask at the same time.
const ASKING: usize = 16;

/// Items that are open while results are added up.
const OPEN: u32 = 1_000;

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn id(number: usize) -> Id {
    child(&[0; 16], number)
}

impl Cluster {
    /// What is measured, and the figure. Nobody may work on the server meanwhile. The error is a whole message.
    pub fn measure(&self) -> Result<Vec<(String, String)>, String> {
        let measured = self.runtime.block_on(async {
            let trip = self.round_trip().await?;
            let (asked, rate) = self.asking().await?;
            let reading = self.reading().await?;
            self.streams.clear(NAME).await?;
            Ok::<_, Unreachable>((trip, asked, rate, reading))
        });
        let (trip, asked, rate, reading) = measured.map_err(|error| format!("error: {error}"))?;
        let shown = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
        Ok(vec![
            ("one item: put, taken, result, acknowledged (median)".into(), shown(trip)),
            ("to ask how many wait (median)".into(), shown(asked)),
            (format!("such questions, {ASKING} at a time"), format!("{rate:.0} per second")),
            (
                format!("{RESULTS} results of {BYTES} bytes, read back"),
                format!("{:.2} s", reading.as_secs_f64()),
            ),
            (format!("a result added up while {OPEN} items are open"), shown(adding_up())),
        ])
    }

    async fn round_trip(&self) -> Result<Duration, Unreachable> {
        let queue = self.streams.queue().await?;
        let mut times = Vec::new();
        for number in 0..TRIPS {
            let start = Instant::now();
            self.streams.put_item(NAME, 0, &id(number), &[7; BYTES], true).await?;
            let fetch = queue.fetch().max_messages(1).expires(Duration::from_secs(1));
            let mut batch = fetch.messages().await.map_err(|error| error.to_string())?;
            let message = batch.next().await.ok_or("an item is lost")?.map_err(|error| error.to_string())?;
            self.streams.set_result(NAME, 0, &id(number), vec![7; BYTES]).await?;
            message.ack().await.map_err(|error| error.to_string())?;
            times.push(start.elapsed());
        }
        Ok(median(times))
    }

    /// How long it takes to ask how many wait, and how often in a second the server answers that.
    async fn asking(&self) -> Result<(Duration, f64), Unreachable> {
        let mut queue = self.streams.queue().await?;
        let mut times = Vec::new();
        for _ in 0..TRIPS {
            let start = Instant::now();
            queue.info().await.map_err(|error| error.to_string())?;
            times.push(start.elapsed());
        }
        let start = Instant::now();
        let tasks: Vec<_> = (0..ASKING)
            .map(|_| {
                let mut queue = queue.clone();
                self.runtime.spawn(async move {
                    let mut answers = 0;
                    while start.elapsed() < Duration::from_secs(2) {
                        answers += usize::from(queue.info().await.is_ok());
                    }
                    answers
                })
            })
            .collect();
        let mut answers = 0;
        for task in tasks {
            answers += task.await.unwrap_or(0);
        }
        Ok((median(times), answers as f64 / start.elapsed().as_secs_f64()))
    }

    /// How long a coordinator that comes back reads.
    async fn reading(&self) -> Result<Duration, Unreachable> {
        for first in (0..RESULTS).step_by(100) {
            let written = (first..first + 100).map(|number| {
                let streams = self.streams.clone();
                async move { streams.set_result(NAME, 1, &id(number), vec![7; BYTES]).await }
            });
            for written in futures_util::future::join_all(written).await {
                written?;
            }
        }
        let start = Instant::now();
        let mut results = self.results_of(NAME, 1).await.ok_or("the results cannot be read")?;
        for _ in 0..RESULTS {
            results.next().await.ok_or("a result is lost")?.map_err(|error| error.to_string())?;
        }
        Ok(start.elapsed())
    }
}

/// How long it takes to add a result to what is known, while many items are open.
fn adding_up() -> Duration {
    let item = |first: u32, more: usize| {
        let path: Vec<u32> = [&[1; 20][..], &[first], &vec![1; more]].concat();
        Item::new(path.len(), path).unwrap_or_else(Item::whole)
    };
    let mut ledger = Ledger::default();
    let mut part = Part::default();
    part.rests = (1..=OPEN).map(|first| item(first, 0)).collect();
    ledger.add(&[Item::whole()], part);
    let mut times = Vec::new();
    for first in 1..=OPEN {
        let done = item(first, 0);
        let mut found = Found::default();
        found.stats.executions = 1;
        let mut part = Part::default();
        (part.found, part.rests) = (vec![(done.path().to_vec(), found)], vec![item(first, 3)]);
        let start = Instant::now();
        ledger.add(&[done], part);
        times.push(start.elapsed());
    }
    median(times)
}
