//! What was found in a part of the search, as data.
//!
//! A finding is its kind, its places and the position of the execution that shows it. The execution itself is not written:
//! whoever wants to show it goes there again. So results are small, and a result from elsewhere cannot make up a trace.

use crate::findings::collect::{Collector, Stats, Trace};
use crate::findings::judge::{Finding, FindingKind, Place};
use crate::work::cells::Cells;
use crate::work::codec::{DecodeError, Reader, Writer};
use crate::work::item::Position;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A finding, and where it was made.
#[derive(Clone, Debug)]
pub struct Located<T> {
    /// The execution that shows it.
    pub at: Position,
    /// What it is, unless it comes from elsewhere and nobody has gone there again.
    pub what: Option<T>,
}

/// What was found in a part of the search.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Counters.
    pub stats: Stats,
    /// Final states.
    pub states: BTreeSet<Vec<u64>>,
    /// What went wrong, each kind and place once.
    pub findings: BTreeMap<(FindingKind, Vec<Place>), Located<Finding>>,
    /// Where the unroll bound cut.
    pub cuts: BTreeSet<(u32, u32)>,
    /// An execution that satisfies the condition.
    pub witness: Option<Located<Trace>>,
    /// An error has ended the search, at its position.
    pub ended: Option<Position>,
    /// The cells that accesses have decided on, once all is known: what is shown must be found again with them.
    pub(crate) cells: Option<Arc<Cells>>,
}

impl Found {
    /// What a collector has found since its counters were `base`.
    pub(crate) fn of(collector: Collector<'_>, base: &Stats) -> Found {
        let mut stats = Stats::default();
        stats.add_since(&collector.stats, base);
        let (located, ended) = (collector.located, collector.ended);
        let findings = collector.findings.into_iter().map(|(key, finding)| {
            let at = located.get(&key).cloned().unwrap_or_default();
            (key, Located { at, what: Some(finding) })
        });
        Found {
            stats,
            findings: findings.collect(),
            states: collector.states.into_keys().map(|state| state.to_vec()).collect(),
            cuts: collector.cuts,
            witness: collector.witness.map(|trace| Located { at: collector.witness_at, what: Some(trace) }),
            ended,
            cells: None,
        }
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_nothing(&self) -> bool {
        self.stats == Stats::NONE && self.findings.is_empty() && self.ended.is_none()
    }

    /// Adds what comes after this in the order of the search.
    pub fn merge(&mut self, other: Found) {
        self.stats.add(&other.stats);
        self.states.extend(other.states);
        self.cuts.extend(other.cuts);
        for (key, finding) in other.findings {
            if let Entry::Vacant(place) = self.findings.entry(key) {
                place.insert(finding);
            }
        }
        self.witness = self.witness.take().or(other.witness);
        self.ended = self.ended.take().or(other.ended);
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        let Stats { nodes, executions, satisfying, blocked, cut, racy, symmetric, left_out, share } =
            self.stats;
        for number in [nodes, executions, satisfying, blocked, cut, racy, symmetric, left_out, share] {
            writer.number(number);
        }
        writer.number(self.states.len() as u64);
        for state in &self.states {
            writer.number(state.len() as u64);
            state.iter().for_each(|&value| writer.number(value));
        }
        writer.number(self.findings.len() as u64);
        for ((kind, places), finding) in &self.findings {
            let code = kind.code().trim_start_matches("FP");
            writer.number(code.parse().unwrap_or_default());
            writer.number(places.len() as u64);
            for place in places {
                for number in [place.thread, place.at.0, place.at.1] {
                    writer.number(number.into());
                }
            }
            writer.path(&finding.at);
        }
        writer.number(self.cuts.len() as u64);
        for cut in &self.cuts {
            for number in [cut.0, cut.1] {
                writer.number(number.into());
            }
        }
        for position in [self.witness.as_ref().map(|witness| &witness.at), self.ended.as_ref()] {
            writer.number(u64::from(position.is_some()));
            position.iter().for_each(|position| writer.path(position));
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Found, DecodeError> {
        let mut found = Found::default();
        let Stats { nodes, executions, satisfying, blocked, cut, racy, symmetric, left_out, share } =
            &mut found.stats;
        for number in [nodes, executions, satisfying, blocked, cut, racy, symmetric, left_out, share] {
            *number = reader.number()?;
        }
        for _ in 0..reader.count()? {
            let state: Result<Vec<u64>, _> = (0..reader.count()?).map(|_| reader.number()).collect();
            found.states.insert(state?);
        }
        for _ in 0..reader.count()? {
            let code = format!("FP{:04}", reader.number()?);
            let kind = FindingKind::from_code(&code).ok_or(DecodeError::Value)?;
            let mut places = Vec::new();
            for _ in 0..reader.count()? {
                places.push(Place { thread: reader.small()?, at: (reader.small()?, reader.small()?) });
            }
            found.findings.insert((kind, places), Located { at: reader.path()?, what: None });
        }
        for _ in 0..reader.count()? {
            found.cuts.insert((reader.small()?, reader.small()?));
        }
        let mut position = || match reader.number()? {
            0 => Ok(None),
            1 => reader.path().map(Some),
            _ => Err(DecodeError::Value),
        };
        found.witness = position()?.map(|at| Located { at, what: None });
        found.ended = position()?;
        Ok(found)
    }
}
